package extsim

// Diverged reports whether the target does anything wrong.
func (c *Conformance) Diverged() bool { return !c.Passed() }

// Incomplete is false: what a target does not announce is not tested.
func (c *Conformance) Incomplete() bool { return false }
