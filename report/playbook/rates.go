package playbook

// rates say how often each rule was right in measured sessions; docs/accuracy.md says how.
var rates = map[SignKind]Rate{}

// enough reports whether a rule may be said: it was right in 49 of 50 sessions, of 20 at least.
func (r Rate) enough() bool { return r.Of >= 20 && r.Right*50 >= r.Of*49 }
