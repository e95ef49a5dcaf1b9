package minimize

// Diverged reports whether the search was completed, with a session that diverges.
func (r *Result) Diverged() bool { return r.Stopped != Interrupted }

// Incomplete reports whether the search was interrupted: the best session so far diverges, and a smaller one may also
// diverge.
func (r *Result) Incomplete() bool { return r.Stopped == Interrupted }
