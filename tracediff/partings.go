package tracediff

import "math/bits"

// Parting is a run of compared ticks with different traces at the end of each tick. If Passing is set, it is a single
// tick in which the traces differ inside the tick but not at its end. The end of a tick is its last checkpoint of the
// whole state, which has no scope, or else the last checkpoint of each scope.
type Parting struct {
	// Good is the last compared tick before it with equal traces at its end, if HasGood.
	Good    Tick
	HasGood bool

	First, Last Tick
	Passing     bool
	// Again is the first tick after Last at whose end all traces that had diverged from each other are equal, if
	// HasAgain.
	Again    Tick
	HasAgain bool

	// Groups are the traces that agree with each other in First, by index.
	Groups [][]int
}

// partings tracks where traces differ at the ends of ticks.
type partings struct {
	open   bool            // a run is in progress
	kept   bool            // it is the last of Result.Partings
	whole  bool            // the whole state, without a scope, differs at this point of the current tick
	scopes map[string]bool // scopes that differ there
	first  key             // the first that differs in the current tick, if any does

	good    Tick // the last tick at whose end they were equal
	hasGood bool

	// apart contains, for each trace, the traces from which it differed at the end of the last tick that both have, as
	// far as that is known. A trace that is away has not rejoined the others.
	apart [maxPeers]uint64
}

// meet updates apart at the end of a tick, for the traces that are there.
func (s *partings) meet(there uint64, differ *[maxPeers]uint64) {
	for rest := there; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros64(rest)
		s.apart[i] = s.apart[i]&^there | differ[i]
	}
}

// away reports whether traces that had diverged have had no common tick since.
func (s *partings) away() bool {
	return s.apart != [maxPeers]uint64{}
}

// begin discards the tick before.
func (s *partings) begin() { s.agree() }

// agree notes that the whole state is equal.
func (s *partings) agree() {
	if s.whole = false; len(s.scopes) > 0 {
		clear(s.scopes)
	}
}

// differs notes a checkpoint that differs.
func (s *partings) differs(k *keyInfo, already bool) {
	if !already {
		s.first = k.key
	}
	switch {
	case k.scope == "":
		s.whole = true
		return
	case s.scopes == nil:
		s.scopes = map[string]bool{}
	}
	s.scopes[k.scope] = true
}

// equal notes a checkpoint that does not differ. If the whole state, without a scope, is equal again, all parts are.
func (s *partings) equal(k *keyInfo) {
	if k.scope == "" {
		s.agree()
	} else {
		delete(s.scopes, k.scope)
	}
}

// closeParting adds the current tick, which is over, to the runs.
func (c *comparer) closeParting(compared bool) {
	s := &c.partings
	atEnd := c.differs && (s.whole || len(s.scopes) > 0)
	switch {
	case atEnd:
		s.meet(c.inTick, &c.apart)
	case compared && s.open:
		s.meet(c.inTick, &[maxPeers]uint64{})
	}
	var last *Parting
	if s.open && s.kept {
		last = &c.result.Partings[len(c.result.Partings)-1]
	}
	switch {
	case atEnd && s.open:
		if last != nil {
			last.Last = c.tick
		}
		return
	case atEnd:
		s.open = true
		s.kept = c.part(false)
		return
	case !compared:
		return
	case s.open && s.away():
		return
	case s.open:
		if s.open = false; last != nil {
			last.Again, last.HasAgain = c.tick, true
		}
	case c.differs:
		c.part(true)
	}
	s.good, s.hasGood = c.tick, true
}

// part starts a run, and reports whether it is kept.
func (c *comparer) part(passing bool) bool {
	c.result.PartingCount++
	if c.opts.Limit >= 0 && len(c.result.Partings) >= c.opts.Limit {
		return false
	}
	s := &c.partings
	p := Parting{Good: s.good, HasGood: s.hasGood, First: c.tick, Last: c.tick, Passing: passing, Groups: c.groups()}
	if c.hasPrev && (!p.HasGood || p.Good.Before(c.prev)) { // it was skipped because it is equal byte by byte
		p.Good, p.HasGood = c.prev, true
	}
	c.result.Partings = append(c.result.Partings, p)
	return true
}

// addMissing adds a run if the first difference is a checkpoint that a peer lacks. It becomes known only later that the
// peer should have had it.
func (r *Result) addMissing() {
	d, b := r.First, r.Bracket
	if d == nil || b == nil || d.Kind != Missing || len(r.Partings) > 0 && !d.Tick.Before(r.Partings[0].First) {
		return
	}
	p := Parting{Good: b.Good, HasGood: b.HasGood, First: d.Tick, Last: d.Tick}
	if len(r.Groups) > 0 {
		p.Groups = r.Groups[0].Groups
	}
	r.Partings = append([]Parting{p}, r.Partings...)
	r.PartingCount++
}
