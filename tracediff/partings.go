package tracediff

// Parting is a run of compared ticks in each of which traces differ.
type Parting struct {
	// Good is the last tick before it that was compared and is equal, if HasGood.
	Good    Tick
	HasGood bool

	First, Last Tick

	// FirstEnd and LastEnd are the first and the last of these ticks at whose end the traces
	// differ, if HasEnd: by the last checkpoint of the whole state, which has no scope, or
	// else by the last one of some scope. In other ticks they differ only for a while.
	FirstEnd, LastEnd Tick
	HasEnd            bool
	// Again is the first tick after Last that was compared, and is equal, if HasAgain.
	Again    Tick
	HasAgain bool

	// System and Scope are those of the first checkpoint that differs.
	System, Scope string
	// Groups are the traces that agree with each other in First, by their numbers.
	Groups [][]int
}

// partings follows the runs of ticks in which traces differ.
type partings struct {
	open   bool            // a run is
	kept   bool            // it is the last of Result.Partings
	scopes map[string]bool // that differ at the checkpoint at hand of the tick at hand
	first  key             // that differed in the tick at hand, if any does
}

// begin forgets the tick before.
func (s *partings) begin() { clear(s.scopes) }

// differs notes a checkpoint that differs.
func (s *partings) differs(k *keyInfo, already bool) {
	if !already {
		s.first = k.key
	}
	if s.scopes == nil {
		s.scopes = map[string]bool{}
	}
	s.scopes[k.scope] = true
}

// equal notes one that does not: the whole state, without a scope, has healed with all parts.
func (s *partings) equal(k *keyInfo) {
	if k.scope == "" {
		clear(s.scopes)
	} else {
		delete(s.scopes, k.scope)
	}
}

// closeParting takes the tick at hand, which is over, into the runs.
func (c *comparer) closeParting(compared bool) {
	s := &c.partings
	if c.differs && !s.open {
		s.open = true
		c.result.PartingCount++
		if s.kept = c.opts.Limit < 0 || len(c.result.Partings) < c.opts.Limit; s.kept {
			c.result.Partings = append(c.result.Partings, Parting{
				Good: c.prev, HasGood: c.hasPrev, First: c.tick, System: s.first.system, Scope: s.first.scope, Groups: c.groups(),
			})
		}
	}
	if !s.open || !c.differs && !compared {
		return
	}
	var last *Parting
	if s.kept {
		last = &c.result.Partings[len(c.result.Partings)-1]
	} else {
		last = &Parting{}
	}
	if c.differs {
		last.Last = c.tick
		if len(s.scopes) > 0 {
			last.ends(c.tick)
		}
	} else {
		last.Again, last.HasAgain, s.open = c.tick, true, false
	}
}

// ends notes a tick at whose end the traces differ.
func (p *Parting) ends(tick Tick) {
	if !p.HasEnd {
		p.FirstEnd, p.HasEnd = tick, true
	}
	p.LastEnd = tick
}

// addMissing adds the run of a first difference that is a checkpoint which a peer lacks: that
// it should have had it is known only later.
func (r *Result) addMissing() {
	d, b := r.First, r.Bracket
	if d == nil || b == nil || d.Kind != Missing || len(r.Partings) > 0 && !d.Tick.Before(r.Partings[0].First) {
		return
	}
	s := Parting{Good: b.Good, HasGood: b.HasGood, First: d.Tick, Last: d.Tick, System: d.System, Scope: d.Scope}
	s.ends(d.Tick)
	if len(r.Groups) > 0 {
		s.Groups = r.Groups[0].Groups
	}
	r.Partings = append([]Parting{s}, r.Partings...)
	r.PartingCount++
}
