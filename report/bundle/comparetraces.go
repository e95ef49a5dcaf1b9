package bundle

import (
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// Compare compares the traces of each group, and uses the order logs next to them to see where peers were away. The
// most precise result comes first: the earliest difference, and at the same tick a difference of values before one of
// checksums.
func (t *Traces) Compare(opts tracediff.Options) ([]*tracediff.Result, error) {
	opts.Claims = t.Claims
	groups := t.Groups
	if len(groups) == 0 {
		groups = [][]*tracediff.Trace{nil}
	}
	var out []*tracediff.Result
	for _, g := range groups {
		r, err := tracediff.Compare(g, opts)
		if err != nil {
			return nil, err
		}
		t.s.excuse(r)
		out = append(out, r)
	}
	return SortTraces(out), nil
}

// SortTraces sorts comparisons as [Traces.Compare] does.
func SortTraces(out []*tracediff.Result) []*tracediff.Result {
	lists.SortStable(out, func(a, b *tracediff.Result) int {
		switch {
		case a.First == nil && b.First == nil:
			return 0
		case a.First == nil:
			return 1
		case b.First == nil:
			return -1
		case a.First.Tick != b.First.Tick:
			if a.First.Tick.Before(b.First.Tick) {
				return -1
			}
			return 1
		case a.Traces[0].Dialect.Values && !b.Traces[0].Dialect.Values:
			return -1
		case b.Traces[0].Dialect.Values && !a.Traces[0].Dialect.Values:
			return 1
		}
		return 0
	})
	return out
}
