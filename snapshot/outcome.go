package snapshot

// Incomplete reports whether something could not be read that might differ, or the states do not
// mean the same by their tables.
func (d *Diff) Incomplete() bool { return len(d.Lost)+len(d.Classes) > 0 }
