package document

import (
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// FirstCheckpoint returns the first checkpoint that differs between traces, with each peer's content there as a text;
// nil if none differs.
func FirstCheckpoint(r *tracediff.Result) (c *CheckpointDocument, values []string) {
	if r.First == nil {
		return nil, nil
	}
	doc := checkpoint(r, r.First)
	if names := onlyOn(r, r.First); names != "" {
		return &doc, []string{"exists only on " + names}
	}
	for i := range r.First.Values {
		if r.First.Values[i].Present {
			values = append(values, strings.TrimSpace(traceValue(r, r.First, i, false))+" on "+r.Traces[i].Name)
		}
	}
	return &doc, values
}

// onlyOn returns the peers on which the scope of a checkpoint exists, "" if that is not what differs.
func onlyOn(r *tracediff.Result, d *tracediff.Difference) string {
	var names []string
	for i := range d.Values {
		switch {
		case !d.Values[i].Present:
		case !exists(r, d, i):
			return ""
		case d.Values[i].Count == 1:
			names = append(names, r.Traces[i].Name)
		}
	}
	return strings.Join(names, ", ")
}
