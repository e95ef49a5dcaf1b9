//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// comes reports whether a measurement of incoming data is selected.
func (of *deskOf) comes() bool {
	return of.bundles+of.isolated+of.uploads > 0 || of.queued > 0 && of.postgres != ""
}

// only selects one part of the measurements, or all.
func (of *deskOf) only(part string) error {
	all := *of
	*of = deskOf{groups: all.groups, copies: all.copies, postgres: all.postgres}
	switch part {
	case "all":
		*of = all
	case "add":
		of.bundles = all.bundles
	case "isolate":
		of.isolated = all.isolated
	case "uploads":
		of.uploads = all.uploads
	case "workers":
		if of.queued = all.queued; of.postgres == "" {
			return errors.New("-part workers needs -postgres")
		}
	case "queries":
		of.reports = all.reports
	default:
		return fmt.Errorf("-part is %q, expected all, add, isolate, uploads, workers or queries", part)
	}
	return nil
}

// deskComes measures incoming data, with the commands that receive it.
func (b *bench) deskComes(of deskOf) {
	if of.bundles+of.isolated+of.queued > 0 {
		w := newBundler(filepath.Join(b.dir, "record"))
		if of.bundles > 0 {
			b.deskAdd(w, of.bundles, 4, "in one process", "60")
		}
		if of.isolated > 0 {
			b.deskAdd(w, of.isolated, 1, "--isolate", "25", "--isolate")
		}
		if of.queued > 0 && of.postgres != "" {
			b.deskWorkers(w, of.postgres, of.queued)
		}
	}
	if of.uploads > 0 {
		b.deskUploads(of.uploads)
		return
	}
}

// spent is the resource usage of a process.
type spent struct {
	clock, cpu time.Duration // cpu includes the processes that it waited for
	rss        int64         // maximum of the largest of them, in bytes
}

// run runs a command of the tool to its end.
func (b *bench) run(args ...string) (spent, error) {
	cmd := exec.Command(b.tool, args...)
	cmd.Stdout, cmd.Stderr = drain{}, os.Stderr
	release()
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return spent{}, fmt.Errorf("desynctool %v: %w", args, err)
	}
	return spentBy(cmd, start), nil
}

func spentBy(cmd *exec.Cmd, start time.Time) spent {
	s := spent{clock: time.Since(start), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = usage.Maxrss * 1024
	}
	return s
}

// deskAdd measures desk add of n bundles, with the default of replaced names and stored copies. They are added in this
// many calls with equal numbers of bundles, so that growth is visible and not all are on the disk at once.
func (b *bench) deskAdd(w *bundler, n, parts int, what, goal string, flags ...string) {
	store, dir := filepath.Join(b.dir, "store"), filepath.Join(b.dir, "bundles")
	defer os.RemoveAll(store)
	defer os.RemoveAll(dir)
	var all, first spent
	for part := range parts {
		w.write(dir, part*n/parts, (part+1)*n/parts)
		s := try.Get(b.run(append([]string{"desk", "add", dir, "--each", "--store", store}, flags...)...))
		if part == 0 {
			first = s
		}
		all = spent{all.clock + s.clock, all.cpu + s.cpu, max(all.rss, s.rss)}
		try.Check(os.RemoveAll(dir))
	}
	fmt.Printf("| desk add of %d bundles, %s: stored, triaged, without names, grouped | **%.0f/s** by the clock, **%.1f ms** of processor time each | ≥ %s/s |\n",
		n, what, float64(n)/all.clock.Seconds(), ms(all.cpu)/float64(n), goal)
	fmt.Printf("| its peak memory, of the largest process | %d MiB | |\n", all.rss>>20)
	if parts > 1 {
		fmt.Printf("| growth of its processor time, from %d to %d | exponent **%.2f** | ≤ 1.05 |\n", n/parts, n, math.Log(all.cpu.Seconds()/first.cpu.Seconds())/math.Log(float64(parts)))
	}
}

// deskWorkers measures how long one worker with one job takes for n bundles on PostgreSQL, and how long two workers
// take for as many other bundles of the same kinds.
func (b *bench) deskWorkers(w *bundler, postgres string, n int) {
	dir, blobs, key := filepath.Join(b.dir, "bundles"), filepath.Join(b.dir, "blobs"), filepath.Join(b.dir, "key")
	defer os.RemoveAll(blobs)
	n -= n % len(w.cases) // so that both have the same work
	n = max(n, len(w.cases))
	where := []string{"--store", postgres, "--blobs", blobs, "--key", key}
	var clock, cpu [2]time.Duration
	for i := range clock {
		w.write(dir, i*n, (i+1)*n)
		_, err := b.run(append([]string{"desk", "add", dir, "--each", "--queue"}, where...)...)
		try.Check(errors.Join(err, os.RemoveAll(dir)))
		var wait sync.WaitGroup
		var used [2]spent
		var errs [2]error
		start := time.Now()
		for k := range i + 1 {
			wait.Go(func() {
				used[k], errs[k] = b.run(append([]string{"desk", "work", "--until-empty", "--jobs", "1"}, where...)...)
			})
		}
		wait.Wait()
		try.Check(errors.Join(errs[:]...))
		clock[i], cpu[i] = time.Since(start), used[0].cpu+used[1].cpu
	}
	fmt.Printf("| PostgreSQL: two workers against one, %d bundles each, one job a worker | **%.2f** times as fast by the clock; processor time of the workers a bundle %.1f ms and %.1f ms | ≥ 1.8 |\n",
		n, clock[0].Seconds()/clock[1].Seconds(), ms(cpu[0])/float64(n), ms(cpu[1])/float64(n))
}

// atOnce is the number of concurrent uploads, uploadBytes the size of each.
const (
	atOnce      = 100
	uploadBytes = 1_000_000
)

// deskUploads measures n uploads of random bytes to desk serve, acknowledged when they are on stable storage.
func (b *bench) deskUploads(n int) {
	store := filepath.Join(b.dir, "store")
	defer os.RemoveAll(store)
	free := try.Get(net.Listen("tcp", "127.0.0.1:0"))
	address := free.Addr().String()
	try.Check(free.Close())
	serve := exec.Command(b.tool, "desk", "serve", "--listen", address, "--store", store, "--rate-address", "1e9")
	serve.Stdout, serve.Stderr = drain{}, drain{}
	begun := time.Now()
	try.Check(serve.Start())
	took, err := upload("http://"+address, n)
	_ = serve.Process.Signal(syscall.SIGTERM)
	_ = serve.Wait() // it ends with the number of the signal
	try.Check(err)
	s := spentBy(serve, begun)
	fmt.Printf("| desk serve: %d uploads of 1 MB, %d at a time, by one machine | **%.0f MB/s** by the clock, %.1f ms of its processor time each | ≥ 40 MB/s |\n",
		n, atOnce, float64(n)*uploadBytes/1e6/took.Seconds(), ms(s.cpu)/float64(n))
	fmt.Printf("| its peak memory | **%d MiB** | ≤ 200 MiB |\n", s.rss>>20)
}

// upload uploads when a server answers, and returns how long that took.
func upload(base string, n int) (time.Duration, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}, Timeout: 5 * time.Minute}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		r, err := client.Get(base + "/")
		if err == nil {
			r.Body.Close()
			break
		}
		if time.Now().After(end) {
			return 0, err
		}
	}
	content := make([]byte, uploadBytes)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(content) // never fails
	errs := make(chan error, atOnce)
	next := make(chan int)
	start := time.Now()
	for range atOnce {
		go func() {
			var failed error
			for i := range next {
				if failed == nil {
					failed = uploadOne(client, base, i, content)
				}
			}
			errs <- failed
		}()
	}
	for i := range n {
		next <- i
	}
	close(next)
	var err error
	for range atOnce {
		err = errors.Join(err, <-errs)
	}
	return time.Since(start), err
}

// uploadOne uploads content preceded by a number, so that no two uploads are equal.
func uploadOne(client *http.Client, base string, i int, content []byte) error {
	number := []byte(fmt.Sprintf("%016d", i))
	body := io.MultiReader(bytes.NewReader(number), bytes.NewReader(content[len(number):]))
	q, err := http.NewRequest(http.MethodPost, fmt.Sprintf("%s/reports?name=report-%d.bin", base, i), body)
	if err != nil {
		return err
	}
	q.ContentLength = uploadBytes
	q.Header.Set("Content-Type", "application/octet-stream")
	r, err := client.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode/100 != 2 {
		err = fmt.Errorf("upload %d: %s: %.200s", i, r.Status, text)
	}
	return err
}
