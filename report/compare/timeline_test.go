package compare_test

import (
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestTimelineEnds: a session ends with the last state point that has any evidence, however many ticks the timeline
// counts together.
func TestTimelineEnds(t *testing.T) {
	effort.Whole(t)
	const ticks = 901
	dir := t.TempDir()
	o := session.Options{Config: refsim.Config{Seed: 3, Entities: 100}, Ticks: ticks}
	if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
	tree, err := archive.Open([]string{dir}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	r, err := triageAll(tree, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if r.Timeline.Bin < 2 {
		t.Fatalf("bins of %d ticks say nothing", r.Timeline.Bin)
	}
	if r.Session.First != 0 || r.Session.Last != ticks || r.Timeline.To != ticks {
		t.Errorf("the session is from %d to %d, the timeline to %d, expected 0 to %d", r.Session.First, r.Session.Last, r.Timeline.To, ticks)
	}
	for _, p := range r.Timeline.Peers {
		if p.Trace == nil || p.Trace.Last != ticks-1 {
			t.Errorf("the trace of %s is %+v, expected the last tick %d", p.Name, p.Trace, ticks-1)
		}
		var orders uint64
		for _, n := range p.Orders {
			orders += n
		}
		if orders == 0 {
			t.Errorf("%s has no orders", p.Name)
		}
	}
}
