package tracediff

import "testing"

// TestSetOutcome: one comparison that shows something wrong is enough, and one that lacks
// something.
func TestSetOutcome(t *testing.T) {
	two := func(change func(*Result)) *Result {
		r := &Result{Traces: make([]TraceInfo, 2)}
		change(r)
		return r
	}
	whole := two(func(*Result) {})
	for what, c := range map[string]struct {
		set                  Set
		diverged, incomplete bool
	}{
		"whole":        {Set{Results: []*Result{whole}}, false, false},
		"differs":      {Set{Results: []*Result{whole, two(func(r *Result) { r.First = &Difference{} })}}, true, false},
		"finding":      {Set{Results: []*Result{two(func(r *Result) { r.FindingCount = 1 })}}, true, false},
		"start":        {Set{Results: []*Result{two(func(r *Result) { r.Start = []Start{{}} })}}, true, false},
		"torn":         {Set{Results: []*Result{whole, two(func(r *Result) { r.Traces[1].Torn = true })}}, false, true},
		"empty":        {Set{Results: []*Result{two(func(r *Result) { r.Traces[0].Empty = true })}}, false, true},
		"unsure":       {Set{Results: []*Result{two(func(r *Result) { r.Unsure = 1 })}}, false, true},
		"one trace":    {Set{Results: []*Result{{Traces: make([]TraceInfo, 1)}}}, false, true},
		"missing file": {Set{Results: []*Result{whole}, Missing: []string{"client"}}, false, true},
	} {
		if c.set.Diverged() != c.diverged || c.set.Incomplete() != c.incomplete {
			t.Errorf("%s: diverged %v, incomplete %v", what, c.set.Diverged(), c.set.Incomplete())
		}
	}
}
