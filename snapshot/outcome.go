package snapshot

// Incomplete reports whether something could not be read that might differ.
func (d *Diff) Incomplete() bool { return len(d.Lost) > 0 }
