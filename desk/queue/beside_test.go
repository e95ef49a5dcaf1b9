//go:build unix

package queue_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// gate is a Reader that finishes reading only when it is let go.
type gate struct {
	intake.Reader
	begun, letGo chan struct{}
}

func newGate(r intake.Reader) *gate { return &gate{r, make(chan struct{}), make(chan struct{})} }

func (g *gate) Read(ctx context.Context, path, name string) ([]*document.Report, error) {
	list, err := g.Reader.Read(ctx, path, name)
	close(g.begun)
	<-g.letGo
	return list, err
}

// again triages bundles in this process, and returns what became of the only one.
func again(t *testing.T, x *intake.Intake, ids []int64) (r intake.Retriaged) {
	t.Helper()
	if err := x.Again(context.Background(), ids, 2, false, func(one intake.Retriaged) error { r = one; return nil }); err != nil {
		t.Error(err)
	}
	return r
}

// TestAgainBeside: of a worker and of a desk again that read a bundle at once, the first that is done writes.
func TestAgainBeside(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		d := open(t, where, filepath.Join(t.TempDir(), "blobs"), desk.Options{})
		b := d.send(t, "a.txt", bundleText(0))
		d.work(t, queue.Options{})
		ids := []int64{b.ID}
		times := func() int { return d.number(t, "SELECT times FROM reports") }

		here := *d.Intake // desk again begins first, and the worker is faster
		slow := newGate(d.toy)
		here.Reader = slow
		result := make(chan intake.Retriaged)
		go func() { result <- again(t, &here, ids) }()
		<-slow.begun
		if n, err := d.queue.Again(context.Background(), ids); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		d.work(t, queue.Options{})
		close(slow.letGo)
		if r := <-result; r.Meanwhile == "" || r.Skipped != "" || len(r.Matches) != 0 || times() != 2 {
			t.Errorf("%+v, triaged %d times", r, times())
		}

		slow = newGate(d.toy) // the worker begins first, and desk again is faster
		d.Intake.Reader = slow
		if n, err := d.queue.Again(context.Background(), ids); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		var lines []string
		done := make(chan queue.Summary)
		go func() { done <- d.work(t, queue.Options{Log: func(line string) { lines = append(lines, line) }}) }()
		<-slow.begun
		here.Reader = d.toy
		r := again(t, &here, ids)
		close(slow.letGo)
		if s := <-done; r.Meanwhile != "" || len(r.Matches) != 1 || times() != 3 || s.Tried != 0 || len(lines) != 0 {
			t.Errorf("%+v, %+v, triaged %d times, %q", r, s, times(), lines)
		}
	})
}

// TestAgainCounts: whichever processes triage at once, the counts match the reports.
func TestAgainCounts(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		d := open(t, where, filepath.Join(t.TempDir(), "blobs"), desk.Options{})
		const bundles = 12
		var ids []int64
		for i := range bundles {
			ids = append(ids, d.send(t, "a.txt", bundleText(i)).ID)
		}
		d.work(t, queue.Options{})
		for range effort.Of(1, 3) {
			if _, err := d.queue.Again(context.Background(), ids); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() { again(t, d.Intake, ids) })
			}
			d.work(t, queue.Options{})
			all.Wait()
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM reports": bundles, "SELECT sum(reports) FROM groups": bundles, "SELECT sum(peers) FROM groups": 2 * bundles,
			"SELECT sum(reports) FROM variant_builds": bundles, "SELECT sum(reports) FROM variants": bundles,
		} {
			if n := d.number(t, query); n != want {
				t.Errorf("%s: %d, expected %d", query, n, want)
			}
		}
	})
}

// TestDeletedMeanwhile: a bundle is forgotten while it waits to be read again, or is read. Nothing of it is written
// again, its job ends without a word, and no other bundle ever has its number.
func TestDeletedMeanwhile(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		d := open(t, where, filepath.Join(t.TempDir(), "blobs"), desk.Options{})
		forget := func() {
			t.Helper()
			if f, err := desk.Forget(ctx, d.Store, d.Blobs, []string{"host"}, "test", false); err != nil || f.Rows != 1 {
				t.Fatalf("%+v %v", f, err)
			}
		}
		var seen []int64
		for _, reading := range []bool{false, true} {
			b := d.send(t, "a.txt", bundleText(len(seen)))
			seen = append(seen, b.ID)
			d.Intake.Reader = d.toy
			d.work(t, queue.Options{})
			if n, err := d.queue.Again(ctx, []int64{b.ID}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			var lines []string
			o := queue.Options{Log: func(line string) { lines = append(lines, line) }}
			var s queue.Summary
			if reading {
				slow := newGate(d.toy)
				d.Intake.Reader = slow
				done := make(chan queue.Summary)
				go func() { done <- d.work(t, o) }()
				<-slow.begun
				forget()
				close(slow.letGo)
				s = <-done
			} else {
				forget()
				s = d.work(t, o)
			}
			if s.Tried+s.Aside+s.Later != 0 || len(lines) != 0 {
				t.Errorf("reading %v: %+v %q", reading, s, lines)
			}
			if n := d.number(t, "SELECT count(*) FROM reports") + d.number(t, "SELECT count(*) FROM bundles") + d.number(t, "SELECT coalesce(sum(reports), 0) FROM groups"); n != 0 {
				t.Errorf("reading %v: something is left of it", reading)
			}
		}
		d.Intake.Reader = d.toy
		if seen[0] == seen[1] {
			t.Errorf("two bundles have the number %d", seen[0])
		}

		// In place: a bundle that is gone when its turn comes, and one that goes while it is read.
		b := d.send(t, "b.txt", bundleText(9))
		d.work(t, queue.Options{})
		here := *d.Intake
		slow := newGate(d.toy)
		here.Reader = slow
		result := make(chan intake.Retriaged)
		go func() { result <- again(t, &here, []int64{b.ID}) }()
		<-slow.begun
		forget()
		close(slow.letGo)
		if r := <-result; !strings.Contains(r.Meanwhile, "deleted") || r.Skipped != "" {
			t.Errorf("%+v", r)
		}
		if r := again(t, d.Intake, []int64{b.ID}); !strings.Contains(r.Meanwhile, "deleted") || r.Skipped != "" {
			t.Errorf("%+v", r)
		}
	})
}
