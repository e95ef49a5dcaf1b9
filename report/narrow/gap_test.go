package narrow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/narrow"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// TestTraceWithGap: where a trace has nothing of some ticks and nothing shows that its peer was
// away, triage, bisect and tracediff alike say that evidence may be lost.
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
		s, err := evidence.OpenPaths(paths...)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := narrow.Triage(s, narrow.Builds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := narrow.Bisect(s, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		const want = "client/checkpoints.trace: nothing of ticks 5 to 8; whether client was there is not known"
		if len(b.Lost) != 1 || !strings.HasSuffix(filepath.ToSlash(b.Lost[0]), want) {
			t.Errorf("bisect has lost %q, want %q", b.Lost, want)
		}
		if r.Status != report.Inconclusive || report.StatusOf(b) != r.Status {
			t.Errorf("states %v: triage says %s, bisect %s", states, r.Status, report.StatusOf(b))
		}
		traces, err := s.Traces(evidence.TraceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := traces.Compare(tracediff.Options{})
		if err != nil || list[0].Diverged() || !list[0].Incomplete() {
			t.Errorf("tracediff: diverged %v, incomplete %v, %v", list[0].Diverged(), list[0].Incomplete(), err)
		}
	}
}
