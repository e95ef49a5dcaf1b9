package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// statements takes what engines wrote themselves, into traces first, then into order logs, and compares each statement
// with all evidence of its tick.
func (c *Conclusion) statements(e Evidence) {
	c.Detected = detected(e)
	c.ofTraces(e)
	if e.Orders != nil {
		for i := range e.Orders.Claims {
			c.ofLogs(e, &e.Orders.Claims[i])
		}
	}
	for i := range c.Statements {
		s := &c.Statements[i]
		s.Cleared = c.cleared(s.Peers)
	}
}

// ofTraces takes the claims that come with traces. Each comparison of traces has judged all of them by its own
// checksums; the word of one that has the tick counts.
func (c *Conclusion) ofTraces(e Evidence) {
	first := len(c.Statements)
	at := map[string][]int{} // statements by their texts
	for _, t := range e.Bisect.Traces {
		for _, doc := range document.Claims(t) {
			i := slices.IndexFunc(at[doc.Text], func(i int) bool { return sameClaim(&c.Statements[i].ClaimDocument, &doc) })
			if i < 0 {
				at[doc.Text] = append(at[doc.Text], len(c.Statements))
				c.Statements = append(c.Statements, Statement{ClaimDocument: doc})
			} else if s := &c.Statements[at[doc.Text][i]]; s.Standing == tracediff.Unchecked && doc.Standing != tracediff.Unchecked {
				s.ClaimDocument = doc
			}
		}
	}
	for i := range c.Statements[first:] {
		c.hold(e, &c.Statements[first+i])
	}
}

func sameClaim(a, b *document.ClaimDocument) bool {
	return a.Text == b.Text && slices.Equal(a.Values, b.Values) && slices.Equal(a.Files, b.Files)
}

// ofLogs takes a claim in an order log.
func (c *Conclusion) ofLogs(e Evidence, said *orderlog.PeerClaim) {
	s := Statement{ClaimDocument: document.ClaimDocument{
		Text: said.Peer + ": " + said.Text, Files: []string{}, Line: said.Line, Native: said.NativeAfter, Peers: append([]string{}, said.Peers...), By: said.Peer,
		Values: []tracediff.ClaimedValue{}, Standing: tracediff.Unchecked, Contradictions: []string{},
	}}
	if said.After > 0 || said.NativeAfter != "" {
		s.Tick = &said.After
	}
	if said.Kind == orderlog.ClaimDesync {
		c.hold(e, &s)
	}
	c.Statements = append(c.Statements, s)
}

// hold judges a statement about a tick for which its file has no checksum: by checksums elsewhere, by hashes in order
// logs, by the states.
func (c *Conclusion) hold(e Evidence, s *Statement) {
	if s.Tick == nil || s.Standing != tracediff.Unchecked {
		return
	}
	var around []apartBy
	for _, t := range slices.Concat(e.Bisect.Traces, e.Traces) {
		if a, ok := byTrace(t); ok {
			around = append(around, a)
		}
	}
	if o := e.Orders; o != nil {
		a := apartBy{good: o.State.Good}
		if o.State.First != nil {
			a.bad = &o.State.First.Point
		}
		around = append(around, a)
	}
	if b := c.Bracket; b != nil {
		a := apartBy{bad: &b.Bad.Tick}
		if b.Good != nil {
			equal := MomentOf(*b.Good)
			a.good, a.state = &b.Good.Tick, &equal
		}
		around = append(around, a)
	} else if e.Bisect.Equal != nil {
		equal := Moment{Number: *e.Bisect.Equal}
		around = append(around, apartBy{good: e.Bisect.Equal, state: &equal})
	}
	for _, a := range around {
		standing := a.holds(*s.Tick)
		if strength[standing] <= strength[s.Standing] {
			continue
		}
		s.Standing, s.Equal = standing, nil
		if standing == tracediff.Contradicted {
			if s.Equal = a.state; s.Equal == nil {
				s.Equal = &Moment{Number: *a.good}
			}
		}
	}
}

// strength orders standings by how much they show. Once anything shows that the peers had diverged before a tick, the
// claim is true whatever else agrees then: a checksum may not cover all.
var strength = map[tracediff.Standing]int{
	tracediff.Unchecked: 0, tracediff.Fits: 1, tracediff.Contradicted: 2, tracediff.Borne: 3, tracediff.Late: 4,
}

// apartBy is where the peers diverge by one kind of evidence: the last state point at which they are equal and the
// first at which they differ, nil where it has none; state is a state that is equal there.
type apartBy struct {
	good, bad *uint64
	state     *Moment
}

// byTrace returns where traces diverge, false if they were not compared.
func byTrace(t *tracediff.Result) (a apartBy, ok bool) {
	if len(t.Traces) < 2 || len(t.Uncompared) == len(t.Traces) {
		return a, false
	}
	after := uint64(1)
	if t.Dialect().AtPoint {
		after = 0
	}
	if t.First == nil {
		good := t.LastCompared.Number + after
		return apartBy{good: &good}, true
	}
	if t.First.Tick.Epoch > 0 {
		return a, false
	}
	bad := t.First.Tick.Number + after
	a.bad = &bad
	if t.Bracket != nil && t.Bracket.HasGood {
		good := t.Bracket.Good.Number + after
		a.good = &good
	}
	return a, true
}

// holds judges a claim that the peers diverged in a tick at the latest. The state point after that tick shows it.
func (a apartBy) holds(tick uint64) tracediff.Standing {
	switch point := tick + 1; {
	case a.good != nil && *a.good >= point && (a.bad == nil || *a.bad > point):
		return tracediff.Contradicted
	case a.bad == nil:
		return tracediff.Unchecked
	case *a.bad < point:
		return tracediff.Late
	case *a.bad == point && a.good != nil && *a.good == tick:
		return tracediff.Borne
	}
	return tracediff.Fits
}

// Borne reports whether the evidence confirms the statement.
func (s *Statement) Borne() bool { return s.Standing == tracediff.Borne }

// Late reports whether the peers had diverged before the tick that the statement names.
func (s *Statement) Late() bool { return s.Standing == tracediff.Late }

// Contradicted reports whether the evidence contradicts the statement.
func (s *Statement) Contradicted() bool { return s.Standing == tracediff.Contradicted }

// Fits reports whether the evidence neither confirms the statement nor contradicts it, and the peers diverged around
// its tick.
func (s *Statement) Fits() bool { return s.Standing == tracediff.Fits }

// Wrong reports whether the evidence contradicts any of the statement. That it comes late, or
// leaves something out, does not make it wrong.
func (s *Statement) Wrong() bool {
	return s.Contradicted() || len(s.Contradictions) > 0 || s.Equal != nil || len(s.Cleared) > 0
}

// FirstStatement returns the statement that shows most: one that is wrong, else the first that names a tick, else the
// first; nil if there is none. Wrong counts the statements that are contradicted in part at least.
func (c *Conclusion) FirstStatement() (first *Statement, wrong int) {
	for i := range c.Statements {
		s := &c.Statements[i]
		switch {
		case first == nil, s.Wrong() && !first.Wrong(), s.Tick != nil && first.Tick == nil && !first.Wrong(),
			s.Tick != nil && first.Tick != nil && *s.Tick < *first.Tick && s.Wrong() == first.Wrong():
			first = s
		}
		wrong += btoi(s.Wrong())
	}
	return first, wrong
}
