package snapshot

// Incomplete reports whether data that might differ could not be read, or whether the states have tables of different
// classes.
func (d *Diff) Incomplete() bool { return len(d.Lost)+len(d.Classes) > 0 }
