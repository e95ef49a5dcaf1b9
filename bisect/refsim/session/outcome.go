package session

// Diverged reports whether the peers' sync hashes showed a difference.
func (r *Recording) Diverged() bool { return r.Detected != nil }

// Incomplete is false: everything was recorded.
func (r *Recording) Incomplete() bool { return false }
