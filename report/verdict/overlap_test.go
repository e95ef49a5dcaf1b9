package verdict

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/report/document"
)

// TestOverlapOfTwo: what two peers have in common is the longest there is, by a look at every pair.
func TestOverlapOfTwo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var peers []Covered
		for i := range rapid.IntRange(0, 6).Draw(t, "peers") {
			first := rapid.Uint64Range(0, 20).Draw(t, "first")
			peers = append(peers, Covered{Name: fmt.Sprint(i), Spans: []document.Coverage{{What: CoversOrders, First: first, Last: first + rapid.Uint64Range(0, 10).Draw(t, "length")}}})
		}
		can, longest := false, uint64(0)
		for i := range peers {
			for k := range i {
				x, y := peers[i].Spans[0], peers[k].Spans[0]
				if from, to := max(x.First, y.First), min(x.Last, y.Last); from <= to {
					can, longest = true, max(longest, to-from)
				}
			}
		}
		p := overlap(StepInputs, peers, CoversOrders)
		if p.Can != can || p.To-p.From != longest {
			t.Fatalf("%+v: %v, ticks %d to %d; want %v, %d", peers, p.Can, p.From, p.To, can, longest)
		}
		for _, tick := range []uint64{p.From, p.To} {
			n := 0
			for i := range peers {
				if s := peers[i].Spans[0]; s.First <= tick && tick <= s.Last {
					n++
				}
			}
			if can && n < 2 {
				t.Fatalf("%+v: tick %d is of %d peers", peers, tick, n)
			}
		}
	})
}
