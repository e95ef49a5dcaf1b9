package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// TestTraceWithGap: where a trace has nothing of some ticks and nothing shows that its peer was away, triage, bisect
// and tracediff all report that evidence may be lost.
func TestTraceWithGap(t *testing.T) {
	for _, states := range []bool{false, true} {
		dir := t.TempDir()
		var paths []string
		for _, peer := range []string{"host", "client"} {
			path := filepath.Join(dir, peer)
			if err := os.Mkdir(path, 0o777); err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			fmt.Fprintf(&text, "%%desynctool trace 1\n%%seed 5\n%%peer %q\n", peer)
			for tick := range 20 {
				if peer == "host" || tick < 5 || tick > 8 {
					fmt.Fprintf(&text, "tick=%d system=End sum=0x%02x\n", tick, tick)
				}
			}
			text.WriteString("%end\n")
			if err := os.WriteFile(filepath.Join(path, "checkpoints.trace"), []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			if states {
				w := (&game{parted: make([]bool, 21), stale: make([]bool, 21)}).world(peer == "client", 20)
				w.Peer = peer
				if err := snapshot.WriteFile(filepath.Join(path, snapshot.Name(5, 20)), w, snapshot.WriteOptions{Plain: true}); err != nil {
					t.Fatal(err)
				}
			}
			paths = append(paths, path)
		}
		s, err := bundle.OpenPaths(paths...)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := compare.Triage(s, compare.Builds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := compare.Bisect(s, compare.Builds{}, compare.BisectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		const want = "client/checkpoints.trace: nothing of tick 5 to 8; whether client was there is not known"
		if len(b.Lost) != 1 || !strings.HasSuffix(filepath.ToSlash(b.Lost[0]), want) {
			t.Errorf("bisect has lost %q, want %q", b.Lost, want)
		}
		if r.Status != document.Inconclusive || document.StatusOf(b) != r.Status {
			t.Errorf("states %v: triage says %s, bisect %s", states, r.Status, document.StatusOf(b))
		}
		traces, err := s.Traces(bundle.TraceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := traces.Compare(tracediff.Options{})
		if err != nil || list[0].Diverged() || !list[0].Incomplete() {
			t.Errorf("tracediff: diverged %v, incomplete %v, %v", list[0].Diverged(), list[0].Incomplete(), err)
		}
	}
}

// TestTracesNotNeeded: where hashes of every tick show all splits, bisect does not read traces, not
// even damaged ones; triage does, to see how the divergence spreads.
func TestTracesNotNeeded(t *testing.T) {
	fault, err := session.ParseFault("rng-leak/Movement@20:client")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "s")
	o := session.Options{Config: refsim.Config{Seed: 9, Entities: 100}, Ticks: 60, SnapshotEvery: 30, Peers: []string{"host", "client"}, Faults: []session.Fault{fault}}
	if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "client", session.TraceName)
	if err := os.Truncate(damaged, 4000); err != nil {
		t.Fatal(err)
	}
	s, err := bundle.OpenPaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := compare.Bisect(s, compare.Builds{}, compare.BisectOptions{})
	if err != nil || !b.Diverged() || len(b.Lost) > 0 {
		t.Errorf("bisect: %+v, %v", b, err)
	}
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil || r.Status != document.Diverged || len(r.Missing) == 0 {
		t.Errorf("triage says nothing of a trace that breaks off: %q, %v", r.Missing, err)
	}
}
