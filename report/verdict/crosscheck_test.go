package verdict

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// TestTraceEnds: a trace whose last sum is not the hash of the state contradicts it, unless no trace has such sums.
func TestTraceEnds(t *testing.T) {
	other := merkle.Short{9}
	for _, test := range []struct {
		name   string
		ends   map[string]bool // whether the sum is the hash of the state, by the path of the trace
		expect []string
	}{
		{"both agree", map[string]bool{"client": true, "host": true}, nil},
		{"one does not", map[string]bool{"client": true, "host": false}, []string{"host"}},
		{"one, without another trace", map[string]bool{"client": false}, []string{"client"}},
		{"sums of another kind", map[string]bool{"client": false, "host": false}, nil},
	} {
		e := differAt(partedIn(60, 61), 61)
		e.Parted.Paths = e.Parted.Names
		c := &Conclusion{within: &Within{Tick: 60, System: "Combat", Ends: map[string]merkle.Short{}}}
		for path, agrees := range test.ends {
			c.within.Ends[path] = other
			if agrees {
				c.within.Ends[path] = map[string]merkle.Hash{"client": e.Parted.Diff.A.Root, "host": e.Parted.Diff.B.Root}[path].Short()
			}
		}
		c.traceEnds(e)
		var got []string
		for _, k := range c.Contradictions {
			got = append(got, k.Peers[0])
		}
		if !slices.Equal(got, test.expect) {
			t.Errorf("%s: contradictions of %q, expected %q", test.name, got, test.expect)
		}
	}
}
