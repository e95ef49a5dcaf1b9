package tracediff

import "slices"

// Set is what was compared of one session's traces.
type Set struct {
	// Results are those of each group of traces that can be compared, the one that
	// says most first.
	Results []*Result
	Missing []string // evidence that is lost or lacking
	Notes   []string
	Copies  []string // files left out, since others say the same
}

// Diverged reports whether anything in the traces is not as it must be on all peers.
func (s *Set) Diverged() bool { return slices.ContainsFunc(s.Results, (*Result).Wrong) }

// Incomplete reports whether evidence is lost or lacking.
func (s *Set) Incomplete() bool {
	return len(s.Missing) > 0 || slices.ContainsFunc(s.Results, (*Result).Incomplete)
}

// Wrong reports whether the traces differ, one of them contradicts itself, or what the
// peers started from is not the same.
func (r *Result) Wrong() bool { return r.Diverged() || r.FindingCount > 0 || len(r.Start) > 0 }

// Incomplete reports whether a trace breaks off, has a gap while its peer is not known to
// have been away, or could not be compared, or an engine claims what nothing bears out.
func (r *Result) Incomplete() bool {
	return len(r.Traces) < 2 || len(r.Uncompared) > 0 || r.Unsure > 0 || len(r.Claims) > 0 ||
		slices.ContainsFunc(r.Traces, func(t TraceInfo) bool { return t.Torn || t.Trouble != "" || t.Empty || t.Unknown() })
}

// Unknown reports whether the trace has a gap that is not brief while its peer is not known to have been away.
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

// Kind says what kind of file a trace is.
func (t *TraceInfo) Kind() string {
	if t.Dialect.File != "" {
		return t.Dialect.File
	}
	return t.Grammar.String()
}
