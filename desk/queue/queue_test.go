//go:build unix

package queue_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	"github.com/desynctool/desynctool/report/document"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(workVariable); where != "" {
		os.Exit(workHere(where))
	}
	os.Exit(desktest.Main(m))
}

// toy reads bundles of a line: "BUG BUILD OS", each the report of a bug. "hang" does not end, "die" ends the process.
type toy struct {
	read  atomic.Int64
	pause time.Duration
	fail  func(name string) error
}

func (r *toy) Read(ctx context.Context, path, name string) ([]*document.Report, error) {
	r.read.Add(1)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if r.fail != nil {
		if err := r.fail(name); err != nil {
			return nil, err
		}
	}
	switch string(text) {
	case "hang":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "die":
		os.Exit(9)
	}
	if r.pause > 0 {
		select {
		case <-time.After(r.pause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	f := strings.Fields(string(text))
	if len(f) < 3 {
		return []*document.Report{document.NoReport(document.Failed, name+": nothing in it is known")}, nil
	}
	return []*document.Report{bug(f[0], f[1], f[2])}, nil
}

// bug is the report of a bug.
func bug(name, build, os string) *document.Report {
	r := document.NoReport(document.Diverged, "host and client diverged")
	r.Error = ""
	r.Session = document.Session{Game: "arena", Build: build}
	r.Peers = []document.TriagedPeer{{Name: "host", Group: 1}, {Name: "client", Group: 2}}
	r.FirstDivergence = &document.FirstDivergence{Archetypes: []string{}}
	r.Fingerprint = "strict-" + name
	r.Fingerprints = []document.Fingerprint{
		{Level: document.LevelKind, Name: "arena state", Digest: "00000000000000aa"},
		{Level: document.LevelStep, Name: name, Digest: fmt.Sprintf("%016x", name)},
	}
	r.Stated = []document.Fact{{Name: "os", Values: map[string]string{"host": os}}}
	return r
}

// desk1 is a desk for a test.
type desk1 struct {
	*intake.Intake
	queue *queue.Queue
	toy   *toy
}

func open(t testing.TB, where, blobDir string, o desk.Options) *desk1 {
	t.Helper()
	o.Create, o.Unsynced = true, true
	ctx := context.Background()
	store, err := desk.Open(ctx, where, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	kept, err := blobs.Open(blobDir)
	if err != nil {
		t.Fatal(err)
	}
	q, err := queue.Open(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	reads := &toy{}
	return &desk1{&intake.Intake{Store: store, Blobs: kept, Reader: reads, Tool: "test", Source: "test"}, q, reads}
}

// send puts a bundle into the queue.
func (d *desk1) send(t testing.TB, name, text string) *desk.Bundle {
	t.Helper()
	ctx := context.Background()
	k, err := d.Keep(ctx, intake.Source{Name: name, Content: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	b, _, err := d.queue.Receive(ctx, k.Bundle, desk.Receipt{Name: name, Source: "test"}, queue.Usual)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (d *desk1) work(t testing.TB, o queue.Options) queue.Summary {
	t.Helper()
	o.UntilEmpty = true
	o.Look = 20 * time.Millisecond
	o.Jobs = max(2, o.Jobs)
	s, err := d.queue.Work(context.Background(), d.Intake, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (d *desk1) state(t testing.TB, id int64) desk.State {
	t.Helper()
	b, err := d.Store.BundleByID(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return b.State
}

func (d *desk1) number(t testing.TB, query string) (n int) {
	t.Helper()
	if err := d.Store.DB().QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// TestQueue: a received bundle is triaged once, however often it comes; a bundle that hangs is set aside and can be
// tried again.
func TestQueue(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		d := open(t, where, filepath.Join(t.TempDir(), "blobs"), desk.Options{})
		d.Wall = 200 * time.Millisecond
		for i := range 20 {
			for range 2 {
				d.send(t, "a.txt", fmt.Sprintf("bug%d 1.%d linux %d", i%3, i%2, i))
			}
		}
		hangs := d.send(t, "b.txt", "hang")
		if s := d.work(t, queue.Options{}); s.Done != 20 || s.Aside != 1 || s.Later != 0 {
			t.Errorf("%+v", s)
		}
		if n := d.toy.read.Load(); n != 21 {
			t.Errorf("%d triages, expected 21", n)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM bundles WHERE state = 'read'": 20, "SELECT count(*) FROM receipts": 41, "SELECT count(*) FROM reports": 20,
			"SELECT max(times) FROM reports": 1, "SELECT count(*) FROM groups": 3, "SELECT sum(reports) FROM groups": 20,
		} {
			if n := d.number(t, query); n != want {
				t.Errorf("%s: %d, expected %d", query, n, want)
			}
		}
		if s := d.state(t, hangs.ID); s != desk.Aside {
			t.Errorf("what hangs is %s", s)
		}
		d.send(t, "a.txt", "bug0 1.0 linux 0")
		d.send(t, "b.txt", "hang")
		if s := d.work(t, queue.Options{}); s.Done+s.Aside != 0 {
			t.Errorf("done again: %+v", s)
		}
		if n, err := d.queue.RetryAside(context.Background()); n != 1 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		if s := d.work(t, queue.Options{}); s.Aside != 1 {
			t.Errorf("%+v", s)
		}
		again, err := d.Store.BundlesIn(context.Background(), desk.Read, 0, 2)
		if err != nil || len(again) != 2 {
			t.Fatal(again, err)
		}
		if n, err := d.queue.Again(context.Background(), []int64{again[0].ID, again[1].ID, again[1].ID}); n != 2 || err != nil {
			t.Errorf("%d %v", n, err)
		}
		d.work(t, queue.Options{})
		if n := d.number(t, "SELECT count(*) FROM reports WHERE times = 2"); n != 2 {
			t.Errorf("%d triaged again", n)
		}
	})
}

// TestTriedAgain: a bundle that a machine cannot do is tried again, and a bundle without a job gets one.
func TestTriedAgain(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		d := open(t, where, filepath.Join(t.TempDir(), "blobs"), desk.Options{})
		var failed atomic.Bool
		d.toy.fail = func(string) error {
			if failed.CompareAndSwap(false, true) {
				return fmt.Errorf("no space left on this machine")
			}
			return nil
		}
		k, err := d.Keep(context.Background(), intake.Source{Name: "a.txt", Content: strings.NewReader("bug 1.0 linux")})
		if err != nil {
			t.Fatal(err)
		}
		var b *desk.Bundle
		err = d.Store.Write(context.Background(), func(tx *desk.Tx) (err error) { // as by a desk add on a machine that could not triage it
			b, _, err = tx.Receive(context.Background(), k.Bundle, desk.Receipt{Name: "a.txt"})
			return err
		})
		if err != nil || k.Close() != nil {
			t.Fatal(err)
		}
		var lines []string
		s := d.work(t, queue.Options{Log: func(line string) { lines = append(lines, line) }})
		if s.Done != 1 || s.Tried != 1 || d.state(t, b.ID) != desk.Read || len(lines) != 1 || !strings.Contains(lines[0], "no space left") {
			t.Errorf("%+v %q", s, lines)
		}
	})
}

// TestStop: a worker that is asked to end gives back the bundles that it does not finish.
func TestStop(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		d := open(t, where, filepath.Join(t.TempDir(), "blobs"), desk.Options{})
		d.toy.pause = time.Minute
		b := d.send(t, "a.txt", "bug 1.0 linux")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			for d.toy.read.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		s, err := d.queue.Work(ctx, d.Intake, queue.Options{Jobs: 1, Stop: 50 * time.Millisecond})
		if err != nil || s.Done != 0 || s.Tried != 0 {
			t.Fatalf("%+v %v", s, err)
		}
		c, err := d.queue.Counts(context.Background())
		if err != nil || c != (queue.Counts{Waiting: 1}) {
			t.Fatalf("%+v %v", c, err)
		}
		d.toy.pause = 0
		if s := d.work(t, queue.Options{}); s.Done != 1 || d.state(t, b.ID) != desk.Read {
			t.Errorf("%+v", s)
		}
	})
}

// TestPoisoned: a bundle that kills its worker is set aside when three have died, and the others are triaged.
func TestPoisoned(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		blobDir := filepath.Join(t.TempDir(), "blobs")
		d := open(t, where, blobDir, desk.Options{})
		die := d.send(t, "die.txt", "die")
		for i := range 6 {
			d.send(t, "a.txt", bundleText(i))
		}
		died := 0
		for d.state(t, die.ID) == desk.Waiting {
			if died++; died > 4 {
				t.Fatal("it is not set aside")
			}
			cmd := program(t, where, blobDir, "", 0)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			over := make(chan error, 1)
			go func() { over <- cmd.Wait() }()
			for aside := false; !aside; {
				select {
				case <-over:
					aside = true
				case <-time.After(20 * time.Millisecond):
					if aside = d.state(t, die.ID) == desk.Aside; aside {
						cmd.Process.Signal(syscall.SIGTERM)
						if err := <-over; err != nil {
							t.Error(err)
						}
					}
				}
			}
		}
		if died != 4 {
			t.Errorf("set aside by worker %d, expected the fourth", died)
		}
		d.work(t, queue.Options{})
		b, err := d.Store.BundleByID(context.Background(), die.ID)
		if err != nil || !strings.Contains(b.Why, "3 times") {
			t.Errorf("%+v %v", b, err)
		}
		if n := d.number(t, "SELECT count(*) FROM bundles WHERE state = 'read'"); n != 6 {
			t.Errorf("%d others, expected 6", n)
		}
	})
}

// TestClocks: workers with clocks hours ahead and behind, and with a clock that jumps between the two, take the same bundles, and write each once.
func TestClocks(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		blobDir := filepath.Join(t.TempDir(), "blobs")
		d := open(t, where, blobDir, desk.Options{})
		bundles := effort.Of(30, 60)
		for i := range bundles {
			d.send(t, "a.txt", bundleText(i))
		}
		var workers []*exec.Cmd
		for _, hours := range []int{5, -5, jumps} {
			cmd := program(t, where, blobDir, "", hours)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			workers = append(workers, cmd)
		}
		d.work(t, queue.Options{})
		for _, cmd := range workers {
			cmd.Process.Signal(syscall.SIGTERM)
			err := cmd.Wait()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGTERM {
				continue // the others were done before it listened for signals
			}
			if err != nil {
				t.Error(err)
			}
		}
		checkCounts(t, d, bundles)
	})
}
