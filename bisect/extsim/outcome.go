package extsim

// Diverged reports whether the target does anything wrong.
func (c *Conformance) Diverged() bool { return !c.Passed() }

// Incomplete is false: capabilities that a target does not announce are not tested.
func (c *Conformance) Incomplete() bool { return false }
