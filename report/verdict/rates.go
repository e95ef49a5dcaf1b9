package verdict

// rates are how often each rule was right in measured sessions, in the half on which the rules were written: go run
// ./tools/accuracy -games refsim,arena -sessions 440 -half odd -rules. A rule is not here if it is wrong more often
// than in 1 of 50, there or on the games that it was not written on, or if it was measured in fewer than five sessions:
// the report then does not name that likeness.
var rates = map[SignKind]Rate{
	FactDiffers: {5, 5},
}

// enough reports whether a rule may be said.
func (r Rate) enough() bool { return r.Of >= 5 && r.Right*50 >= r.Of*49 }
