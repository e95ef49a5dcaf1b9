package document

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
)

// TestCompleteness: the parts are the parts of the table, by hand, and their sum is 100.
func TestCompleteness(t *testing.T) {
	good := uint64(10)
	peers := func(n int) (list []TriagedPeer) {
		for range n {
			list = append(list, TriagedPeer{Snapshots: 2, OrderLog: true, Trace: true})
		}
		return list
	}
	rungs := func(state RungState, steps ...string) (list []Rung) {
		for _, step := range steps {
			list = append(list, Rung{Step: step, State: state})
		}
		return list
	}
	all := []string{"system", "archetype", "component", "field", "peers", "cause", "bracket", "claims"}
	for _, c := range []struct {
		name string
		r    *Report
		want int
		why  []string // nil for not looked at
	}{
		{"nothing", NoReport(Failed, "damaged"), 0, []string{}},
		{"all", &Report{
			Head: Head{Status: Diverged}, FirstDivergence: &FirstDivergence{Exact: true}, Peers: peers(3), Ladder: rungs(RungFound, all...), Locus: []LocusField{{}},
			Session: Session{Seed: "1", Build: "2"},
		}, 100, nil},
		{"open rungs", &Report{
			Head: Head{Status: Diverged}, FirstDivergence: &FirstDivergence{Bracket: &BracketDocument{Good: &good}}, Ladder: rungs(RungOpen, all...),
		}, 7 + 10, []string{"tick within a bracket", "a divergence that was compared"}},
		{"no good end", &Report{Head: Head{Status: Diverged}, FirstDivergence: &FirstDivergence{Bracket: &BracketDocument{}}}, 10, nil},
		{"messages", &Report{Head: Head{Status: Diverged}, Kind: bisect.Claimed, FirstDivergence: &FirstDivergence{Bracket: &BracketDocument{Bad: 361}}}, 3, []string{"messages of the game of a divergence"}},
		{"one peer", &Report{Head: Head{Status: Inconclusive}, Peers: peers(1)}, 4 + 3 + 3, []string{"states of 1 peer", "order logs of 1 peer", "traces of 1 peer"}},
		{"build by a log", &Report{Stated: []Fact{{Name: "version", Values: map[string]string{"host": "1.4"}}}}, 4, []string{"build"}},
	} {
		got, why := c.r.Completeness()
		if got != c.want || c.why != nil && !slices.Equal(why, c.why) {
			t.Errorf("%s: %d %q, expected %d %q", c.name, got, why, c.want, c.why)
		}
	}
}
