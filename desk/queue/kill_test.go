//go:build unix

package queue_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// workVariable has this program be a worker, or a sender, of the store that it names; the others set where the blobs
// are, which bundles are sent (FIRST-LAST, empty for a worker), and how many hours its clock is ahead.
const (
	workVariable  = "DESYNCTOOL_QUEUE_TEST_WORK"
	blobsVariable = "DESYNCTOOL_QUEUE_TEST_BLOBS"
	sendVariable  = "DESYNCTOOL_QUEUE_TEST_SEND"
	clockVariable = "DESYNCTOOL_QUEUE_TEST_CLOCK"
)

// jumps has a clock jump between a day behind and a day ahead.
const jumps = 1000

func bundleText(i int) string { return fmt.Sprintf("bug%d 1.%d os%d %d", i%7, i%5, i%3, i) }

// workHere works, or sends, in this process.
func workHere(where string) int {
	ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer end()
	if err := workOrSend(ctx, where); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

func workOrSend(ctx context.Context, where string) error {
	o := desk.Options{Create: true}
	hours, _ := strconv.Atoi(os.Getenv(clockVariable))
	if hours != 0 {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(hours) * time.Hour) }
	}
	if hours == jumps {
		var calls atomic.Int64
		o.Now = func() time.Time { // hours ahead or behind, other ones every 20 times that somebody looks
			return time.Now().Add(time.Duration(calls.Add(1)/20*7919%49-24) * time.Hour)
		}
	}
	store, err := desk.Open(ctx, where, o)
	if err != nil {
		return err
	}
	defer store.Close()
	kept, err := blobs.Open(os.Getenv(blobsVariable))
	if err != nil {
		return err
	}
	q, err := queue.Open(ctx, store)
	if err != nil {
		return err
	}
	if hours != 0 {
		queue.SetClock(q, o.Now)
	}
	x := &intake.Intake{Store: store, Blobs: kept, Reader: &toy{pause: pause()}, Tool: "test", Source: "test"}
	var first, last int
	if n, _ := fmt.Sscanf(os.Getenv(sendVariable), "%d-%d", &first, &last); n < 2 {
		_, err := q.Work(ctx, x, queue.Options{Jobs: 2, Look: 50 * time.Millisecond})
		return err
	}
	for i := first; i < last; i++ {
		k, err := x.Keep(ctx, intake.Source{Name: fmt.Sprintf("%d.txt", i), Content: strings.NewReader(bundleText(i))})
		if err != nil {
			return err
		}
		_, _, err = q.Receive(ctx, k.Bundle, desk.Receipt{Name: k.Bundle.Name}, queue.Usual)
		if err != nil {
			return err
		}
		if err := k.Close(); err != nil {
			return err
		}
		fmt.Println(k.Bundle.Hash) // acknowledged
	}
	return nil
}

// program is this program as a worker or a sender.
func program(t testing.TB, where, blobDir, send string, clock int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), workVariable+"="+where, blobsVariable+"="+blobDir, sendVariable+"="+send, clockVariable+"="+strconv.Itoa(clock))
	return cmd
}

// TestKilled: senders, workers and the PostgreSQL server are killed at any time. Acknowledged bundles are there, every
// bundle is triaged once in effect, and the counts match the bundles.
func TestKilled(t *testing.T) {
	effort.Whole(t)
	kills := effort.Of(2, effort.Long(4, 200)) // ten bundles each
	if os.Getenv(kill.Variable) != "" {
		kills = kill.Times()
	}
	t.Run("sqlite", func(t *testing.T) { killed(t, filepath.Join(t.TempDir(), "desk"), kills, nil) })
	t.Run("postgres", func(t *testing.T) {
		server := desktest.Start(t)
		killed(t, server.Database(t), kills, server)
	})
}

func killed(t *testing.T, where string, kills int, server *desktest.Server) {
	blobDir := filepath.Join(t.TempDir(), "blobs")
	bundles := 10 * kills
	random := rand.New(rand.NewPCG(17, uint64(kills)))
	start := time.Now()

	// Half of the bundles are sent by a program that is killed again and again, and sends unacknowledged bundles again;
	// it makes the store as well.
	acknowledged := map[string]bool{}
	sent, senders := 0, 0
	for sent < bundles {
		cmd := program(t, where, blobDir, fmt.Sprintf("%d-%d", sent, bundles), 0)
		lines, ended, err := kill.After(cmd, time.Duration(20+random.IntN(500))*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range lines {
			acknowledged[hash] = true
		}
		if sent += len(lines); !ended {
			senders++
		}
		if senders >= kills/4 && sent < bundles { // the rest in peace
			out, err := program(t, where, blobDir, fmt.Sprintf("%d-%d", sent, bundles), 0).Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, hash := range strings.Fields(string(out)) {
				acknowledged[hash] = true
				sent++
			}
		}
	}

	// Two workers at once, which are started again when they are killed, or end because the server does not answer.
	list := []*supervised{supervise(t, where, blobDir), supervise(t, where, blobDir)}
	servers := 0
	var workers [2]int
	for i := 0; i < kills; {
		time.Sleep(time.Duration(10+random.IntN(200)) * time.Millisecond)
		if server != nil && i%8 == 3 {
			server.Kill()
			time.Sleep(time.Duration(random.IntN(200)) * time.Millisecond)
			if err := server.Run(); err != nil {
				t.Fatal(err)
			}
			servers++
			i++
			continue
		}
		if list[i%len(list)].kill() { // else it was between two lives
			workers[i%len(list)]++
			i++
		}
	}
	killing := time.Since(start)

	d := open(t, where, blobDir, desk.Options{})
	summary := d.work(t, queue.Options{})
	set := d.number(t, "SELECT count(*) FROM bundles WHERE state = 'aside'")
	for range set + 1 { // those that happened to be read each time that a worker was killed
		if n, err := d.queue.RetryAside(context.Background()); err != nil {
			t.Fatal(err)
		} else if n == 0 {
			break
		}
		d.work(t, queue.Options{})
	}
	for _, w := range list {
		if err := w.end(); err != nil {
			t.Errorf("a worker: %v", err)
		}
	}
	t.Logf("%d bundles, %d senders, %d and %d workers and %d servers killed in %v; %d set aside on the way; then %d done in %v",
		bundles, senders, workers[0], workers[1], servers, killing.Round(time.Millisecond), set, summary.Done, time.Since(start).Round(time.Millisecond))

	for hash := range acknowledged {
		if b, err := d.Store.Bundle(context.Background(), hash); err != nil || b.State != desk.Read {
			t.Errorf("%s was acknowledged: %+v %v", hash, b, err)
		}
	}
	if len(acknowledged) != bundles {
		t.Errorf("%d acknowledged, expected %d", len(acknowledged), bundles)
	}
	checkCounts(t, d, bundles)
}

// checkCounts compares a store's counts with the texts of its bundles.
func checkCounts(t *testing.T, d *desk1, bundles int) {
	t.Helper()
	for query, want := range map[string]int{
		"SELECT count(*) FROM bundles": bundles, "SELECT count(*) FROM reports": bundles, "SELECT max(times) FROM reports": 1,
		"SELECT count(*) FROM bundles WHERE state <> 'read'": 0, "SELECT count(*) FROM queue_suspects": 0, "SELECT sum(reports) FROM groups": bundles, "SELECT sum(peers) FROM groups": 2 * bundles,
		"SELECT count(*) FROM documents": bundles,
	} {
		if n := d.number(t, query); n != want {
			t.Errorf("%s: %d, expected %d", query, n, want)
		}
	}
	want := map[string]int{}
	for i := range bundles {
		f := strings.Fields(bundleText(i))
		want[f[0]+" "+f[1]]++
		want[f[0]+" "+f[2]]++
	}
	got := map[string]int{}
	for _, query := range []string{
		"SELECT v.title, b.name, sum(n.reports) FROM variants v JOIN variant_builds n ON n.variant_id = v.id JOIN builds b ON b.id = n.build_id GROUP BY v.title, b.name",
		"SELECT v.title, t.value, sum(n.reports) FROM variants v JOIN variant_traits n ON n.variant_id = v.id JOIN traits t ON t.id = n.trait_id WHERE t.value <> '' GROUP BY v.title, t.value",
	} {
		rows, err := d.Store.DB().Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var bug, of string
			var n int
			if err := rows.Scan(&bug, &of, &n); err != nil {
				t.Fatal(err)
			}
			got[bug[strings.LastIndexByte(bug, ' ')+1:]+" "+of] = n
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("counted %v, expected %v", got, want)
	}
	var blobsThere []string
	for info, err := range d.Blobs.List(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		blobsThere = append(blobsThere, info.Hash)
	}
	if slices.Sort(blobsThere); len(slices.Compact(blobsThere)) != bundles {
		t.Errorf("%d blobs, expected %d", len(blobsThere), bundles)
	}
}

// supervised is a worker in another process, which is started again when it ends.
type supervised struct {
	mu     sync.Mutex
	cmd    *exec.Cmd
	ending bool
	last   error         // how the last one ended
	ended  chan struct{} // closed when cmd has
	over   chan struct{}
}

func supervise(t *testing.T, where, blobDir string) *supervised {
	s := &supervised{over: make(chan struct{})}
	go func() {
		defer close(s.over)
		for {
			cmd := program(t, where, blobDir, "", 0)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			s.mu.Lock()
			if s.ending {
				s.mu.Unlock()
				return
			}
			s.cmd, s.last, s.ended = cmd, cmd.Start(), make(chan struct{})
			ended := s.ended
			s.mu.Unlock()
			if s.last == nil {
				err := cmd.Wait()
				if err != nil {
					err = fmt.Errorf("%w: %s", err, stderr.String())
				}
				s.last = err
				close(ended)
				if err != nil {
					time.Sleep(20 * time.Millisecond) // the server may not answer yet
				}
			}
		}
	}()
	return s
}

func (s *supervised) signal(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil && s.cmd.Process != nil {
		s.cmd.Process.Signal(signal)
	}
}

// kill ends the process that runs, and reports whether it was this that ended it.
func (s *supervised) kill() bool {
	s.mu.Lock()
	cmd, ended := s.cmd, s.ended
	s.mu.Unlock()
	if cmd == nil || cmd.Process == nil || cmd.Process.Kill() != nil {
		return false
	}
	<-ended
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == cmd { // told to end between two lives, it has ended well
		s.last = nil
	}
	return true
}

// end tells the worker to end, and returns how it did.
func (s *supervised) end() error {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	s.signal(syscall.SIGTERM)
	<-s.over
	return s.last
}
