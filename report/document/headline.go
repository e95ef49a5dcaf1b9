package document

import (
	"fmt"
	"slices"
)

// Headline is the first part of a report: the status, when the peers diverged, in which system, and which peers are
// known to be wrong. Every rendering takes it from here.
type Headline struct {
	Status Status
	When   When
	System string   // "" if it is not known
	Wrong  []string // peers; none if it is not known who is wrong
}

// Headline returns the headline of a report.
func (r *Report) Headline() Headline {
	h := Headline{Status: r.Status.Known()}
	if d := r.FirstDivergence; h.Status == Diverged && d != nil {
		h.When, h.Wrong = d.When(), d.Wrong
		if !d.InitialState {
			h.System = d.System
		}
	}
	return h
}

// Text returns the headline in a few words: "diverged in tick 77 (6:12), in Combat". Names from
// files go through name, which makes them safe where the text goes.
func (h Headline) Text(name func(string) string) string {
	if h.Status == Failed {
		return "no verdict"
	}
	text := h.Status.Words()
	if when := h.When.Text(name); when != "" {
		text += " " + when
	}
	if h.System != "" {
		text += ", in " + name(h.System)
	}
	return text
}

// Words returns the status as people write it.
func (s Status) Words() string {
	switch s.Known() {
	case InSync:
		return "in sync"
	case Diverged:
		return "diverged"
	case Inconclusive:
		return "inconclusive"
	}
	return "error"
}

// WhenKind is how much is known of the moment at which the peers diverged.
type WhenKind int

// Kinds of moments.
const (
	WhenUnknown WhenKind = iota
	WhenStart            // the peers differ before the first tick
	WhenLoad             // a peer loaded another state at state point Bad
	WhenTick             // in step Tick
	WhenBetween          // between the state points Good and Bad
	WhenUntil            // at state point Bad or earlier; no earlier pair of states is known to be equal
	WhenNamed            // as WhenUntil, and the number of the state point is not known: it is called Native
)

// When is the moment at which the peers diverged.
type When struct {
	Kind      WhenKind
	Tick      uint64
	Good, Bad uint64 // state points
	Native    string // the engine's own name of Tick, or of both ends of it, of Bad for WhenNamed, "" if it has none
	Peer      string // the peer that loaded another state
}

// When returns when the peers diverged. The divergence may be nil.
func (d *FirstDivergence) When() When {
	if d == nil {
		return When{}
	}
	w := When{Peer: d.Loaded}
	if d.Bracket != nil {
		w.Bad = d.Bracket.Bad
	}
	switch {
	case d.InitialState:
		w.Kind = WhenStart
	case d.Loaded != "":
		w.Kind = WhenLoad
	case d.Tick != nil:
		w.Kind, w.Tick = WhenTick, *d.Tick
		if d.Native != nil {
			w.Native = d.Native.Step
		}
		if b := d.Bracket; w.Native != "" && b != nil && b.Native != nil && b.Native.Good == w.Native && spoken(w.Native) && b.Native.Bad != "" {
			w.Native += " to " + b.Native.Bad // a name of state points
		}
	case d.Bracket == nil:
	case !d.Bracket.known():
		w.Kind, w.Native = WhenNamed, PointName(said(d.Bracket.worst()))
	case d.Bracket.Good != nil:
		w.Kind, w.Good = WhenBetween, *d.Bracket.Good
	default:
		w.Kind = WhenUntil
	}
	return w
}

// Text returns the moment in words, "" if it is not known: "between state points 300 and 600". Names go
// through name.
func (w When) Text(name func(string) string) string {
	switch w.Kind {
	case WhenStart:
		return "from the start"
	case WhenLoad:
		return fmt.Sprintf("at state point %d, which %s loaded", w.Bad, name(w.Peer))
	case WhenTick:
		if w.Native != "" {
			return fmt.Sprintf("in tick %d (%s)", w.Tick, name(w.Native))
		}
		return fmt.Sprintf("in tick %d", w.Tick)
	case WhenBetween:
		return fmt.Sprintf("between state points %d and %d", w.Good, w.Bad)
	case WhenUntil:
		return fmt.Sprintf("at state point %d or earlier", w.Bad)
	case WhenNamed:
		return "at " + name(w.Native)
	}
	return ""
}

// Standing is how a peer compares with a replay of the orders.
type Standing int

// Standings.
const (
	StandingUnknown Standing = iota // it was not replayed, or the replay departs from every peer
	StandingRight
	StandingWrong
)

// Standing returns how a peer compares with the replay. Only a replay shows which peer is right: the largest group may
// be wrong.
func (r *Report) Standing(peer string) Standing {
	if d := r.FirstDivergence; d != nil && slices.Contains(d.Wrong, peer) {
		return StandingWrong
	}
	for i := range r.Peers {
		if p := &r.Peers[i]; p.Name == peer && p.MatchesReference != nil && *p.MatchesReference {
			return StandingRight
		}
	}
	return StandingUnknown
}
