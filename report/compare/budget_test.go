package compare_test

import (
	"sync/atomic"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/snapshot"
)

// counted is a simulator that counts the instances that play a tick.
type counted struct {
	full
	tick uint64
	n    *atomic.Int64
}

func (c *counted) count() {
	if c.Point() == c.tick {
		c.n.Add(1)
	}
}

func (c *counted) Step(orders []orderlog.Order) error {
	c.count()
	return c.full.Step(orders)
}

func (c *counted) Begin(orders []orderlog.Order) error {
	c.count()
	return c.full.Begin(orders)
}

// counting returns a simulator with instances that count how often they play a tick.
func counting(whole *bisect.Sim, tick uint64, n *atomic.Int64) *bisect.Sim {
	sim := *whole
	wrap := func(s bisect.Simulator, err error) (bisect.Simulator, error) {
		if err != nil {
			return nil, err
		}
		return &counted{s.(full), tick, n}, nil
	}
	sim.Start = func(h *orderlog.Header) (bisect.Simulator, error) { return wrap(whole.Start(h)) }
	sim.Resume = func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) { return wrap(whole.Resume(w, h)) }
	return &sim
}

// TestReplays counts the replays that experiments make in the peer's build: never more than are allowed, except a
// second look at a plain replay that departs, and all that are reported.
func TestReplays(t *testing.T) {
	const tick = 70
	faults := []string{"bit-flip/Movement@70", "data-mismatch/Movement@70"}
	for _, fault := range faults[:effort.Of(1, len(faults))] {
		dir, whole := playedWith(t, fault+":client"), refsim.Simulator()
		if fault[0] == 'd' {
			var err error
			if whole, err = refsim.ParseSimulator("builtin:fault=" + fault); err != nil {
				t.Fatal(err)
			}
		}
		ended := 0
		for allowed := 1; ended == 0 && allowed < 100; allowed += effort.Of(24, 1) {
			var n atomic.Int64
			s, err := bundle.OpenPaths(dir)
			if err != nil {
				t.Fatal(err)
			}
			r, err := compare.Triage(s, compare.Builds{Sim: refsim.Simulator(), Own: counting(whole, tick, &n), Replays: allowed}, nil)
			s.Close()
			if err != nil {
				t.Fatal(err)
			}
			if *r.FirstDivergence.Tick != tick {
				t.Fatalf("%s: the peers diverged in tick %d", fault, *r.FirstDivergence.Tick)
			}
			looks, left := 0, 0
			for _, x := range r.Experiments {
				if x.Mode == string(bisect.Plain) && x.Result == "agrees" {
					looks++
				}
				if x.Result == "not-made" {
					left++
				}
			}
			if made := int(n.Load()) - looks; made > allowed || made == 0 {
				t.Errorf("%s: %d replays were made, %d allowed: %+v", fault, made, allowed, r.Experiments)
			}
			if left == 0 {
				ended = allowed
			}
			if (left > 0) && len(r.Causes) > 0 {
				t.Errorf("%s: of %d replays some are left out, and the cause is said to be %+v", fault, allowed, r.Causes)
			}
		}
		if ended < 2 {
			t.Errorf("%s: %d replays are said to be all", fault, ended)
		}
		t.Logf("%s: %d replays", fault, ended)
	}
}

// TestTicks: experiments are begun until they have played as many ticks as are allowed, however long that takes.
func TestTicks(t *testing.T) {
	dir := playedWith(t, "bit-flip/Movement@70:client")
	made := func(ticks uint64) (made, left int) {
		for _, x := range judged(t, compare.Builds{Sim: refsim.Simulator(), Own: refsim.Simulator(), Ticks: ticks}, dir).Experiments {
			if x.Result == "not-made" {
				left++
			} else {
				made++
			}
		}
		return made, left
	}
	all, none := made(0)
	if few, left := made(1); few != 1 || left == 0 || all < 4 || none != 0 {
		t.Errorf("%d experiments and %d left out after one tick; of all %d and %d", few, left, all, none)
	}
	if some, left := made(500); some <= 1 || some >= all || left == 0 {
		t.Errorf("%d experiments and %d left out after 500 ticks, of %d", some, left, all)
	}
}
