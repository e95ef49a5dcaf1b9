package tracediff

import (
	"math/bits"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

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

	// Groups are the traces that agree with each other in First, by index. Met are the last ticks before it at whose
	// ends some traces were there and equal, the latest first.
	Groups [][]int
	Met    []Meeting
}

// Meeting are traces, by index, that are equal at the end of a tick.
type Meeting struct {
	Tick   Tick
	Traces []int
}

// partings tracks where traces differ at the ends of ticks.
type partings struct {
	open   bool            // a run is in progress
	kept   bool            // it is the last of Result.Partings
	whole  bool            // the whole state, without a scope, differs at this point of the current tick
	scopes map[string]bool // scopes that differ there

	met []met // at whose ends some were equal, ascending

	// apart contains, for each trace, the traces from which it differed at the end of the last tick that both have, as
	// far as that is known. A trace that is away has not rejoined the others.
	apart [maxPeers]uint64
}

// met is the last tick at whose end these traces, and no others, were there and equal.
type met struct {
	tick   Tick
	traces uint64
}

// most is how many ticks are kept of different traces that were equal.
const most = 256

// meets notes that some traces are equal at the end of a tick, which makes earlier ticks of the same traces superfluous.
func (s *partings) meets(tick Tick, traces uint64) {
	if n := len(s.met); n > 0 && s.met[n-1].traces&^traces == 0 {
		s.met = s.met[:n-1]
	}
	if len(s.met) > 0 {
		s.met = slices.DeleteFunc(s.met, func(m met) bool { return m.traces&^traces == 0 })
	}
	s.met = append(s.met[max(0, len(s.met)-most):], met{tick, traces})
}

// meetings returns what is known of equal traces, the latest first.
func (s *partings) meetings() (list []Meeting) {
	for _, m := range slices.Backward(s.met) {
		one := Meeting{Tick: m.tick}
		for rest := m.traces; rest != 0; rest &= rest - 1 {
			one.Traces = append(one.Traces, bits.TrailingZeros64(rest))
		}
		list = append(list, one)
	}
	return list
}

// good returns the last tick at whose end all of some groups of traces were equal, false if none is known.
func good(groups [][]int, list []Meeting) (Tick, bool) {
	i := lists.Joined(groups, lists.Map(list, func(m Meeting) []int { return m.Traces }))
	if i < 0 {
		return Tick{}, false
	}
	return list[i].Tick, true
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
func (s *partings) differs(k *keyInfo) {
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

// closeParting adds the current tick, which is over, to the runs. Nothing is known of the traces that are not there.
func (c *comparer) closeParting(there uint64) {
	s, compared := &c.partings, bits.OnesCount64(there) > 1
	atEnd := c.differs && (s.whole || len(s.scopes) > 0)
	switch {
	case atEnd:
		s.meet(there, &c.apart)
	case compared && s.open:
		s.meet(there, &[maxPeers]uint64{})
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
		s.meets(c.tick, there)
		return
	case s.open:
		if s.open = false; last != nil {
			last.Again, last.HasAgain = c.tick, true
		}
	case c.differs:
		c.part(true)
	}
	s.meets(c.tick, there)
}

// part starts a run, and reports whether it is kept.
func (c *comparer) part(passing bool) bool {
	c.result.PartingCount++
	if c.opts.Limit >= 0 && len(c.result.Partings) >= c.opts.Limit {
		return false
	}
	s := &c.partings
	p := Parting{First: c.tick, Last: c.tick, Passing: passing, Groups: c.groups(), Met: s.meetings()}
	p.Good, p.HasGood = good(p.Groups, p.Met)
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
