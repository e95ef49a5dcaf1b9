package verdict

// rates say how often each rule was right in measured sessions, of the half on which the rules
// were written: go run ./tools/accuracy -games refsim,arena -sessions 440 -half odd -rules.
// Rules that are wrong more often than in 1 of 50, there or on the games that they were not
// written on, or were measured in fewer than five sessions, are not here: what they look like is
// not said. docs/accuracy.md has all of them.
var rates = map[SignKind]Rate{
	FactDiffers: {5, 5},
}

// enough reports whether a rule may be said.
func (r Rate) enough() bool { return r.Of >= 5 && r.Right*50 >= r.Of*49 }
