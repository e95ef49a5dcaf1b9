package tracediff

import "slices"

// Set is the comparison of one session's traces.
type Set struct {
	// Results are the results for each group of traces that can be compared with each other, the most informative one
	// first.
	Results []*Result
	Missing []string // evidence that is lost or missing
	Notes   []string
	Copies  []string // files that were left out because others have the same content
}

// Diverged reports whether anything in the traces is wrong: a difference, a contradiction or different starts.
func (s *Set) Diverged() bool { return slices.ContainsFunc(s.Results, (*Result).Wrong) }

// Incomplete reports whether evidence is lost or missing.
func (s *Set) Incomplete() bool {
	return len(s.Missing) > 0 || slices.ContainsFunc(s.Results, (*Result).Incomplete)
}

// Wrong reports whether the traces differ, a trace contradicts itself, or the peers started with different data.
func (r *Result) Wrong() bool { return r.Diverged() || r.FindingCount > 0 || len(r.Start) > 0 }

// Incomplete reports whether evidence is missing or doubtful. A trace may break off, have a gap although its peer is
// not known to have been away, or be incomparable; or nothing else confirms an engine's claim.
func (r *Result) Incomplete() bool {
	return len(r.Traces) < 2 || r.Dialect().Partial && !r.Diverged() || len(r.Uncompared) > 0 || r.Unsure > 0 || len(r.Claims) > 0 ||
		slices.ContainsFunc(r.Traces, func(t TraceInfo) bool { return t.Torn || t.Trouble != "" || t.Empty || t.Unknown() })
}

// Unknown reports whether the trace has a gap that is not brief although its peer is not known to have been away.
func (t *TraceInfo) Unknown() bool {
	return slices.ContainsFunc(t.Gaps, func(g Gap) bool { return !g.Away && !g.Brief() })
}

// NativeName returns the engine's own name of a tick, empty if it has none.
func (r *Result) NativeName(t Tick) string {
	if name := r.TickName(t); name != t.String() {
		return name
	}
	return ""
}

// Kind describes the kind of file that contains the trace.
func (t *TraceInfo) Kind() string {
	if t.Dialect.File != "" {
		return t.Dialect.File
	}
	return t.Grammar.String()
}
