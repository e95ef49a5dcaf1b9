package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Absence is a time in which a peer is absent: it plays no tick, records nothing, and its players give no orders. Then
// it loads the state of the first peer and continues.
type Absence struct {
	Peer string
	// From is the first tick that the peer does not play, Until the first one that it
	// plays again. A peer that joins late is away from 0 on.
	From, Until uint64
}

// late reports whether the peer comes in for the first time.
func (a *Absence) late() bool { return a.From == 0 }

// ParseRejoin parses PEER@TICK+LENGTH: a peer that is away for LENGTH ticks from TICK on.
func ParseRejoin(s string) (Absence, error) {
	peer, span, ok := strings.Cut(s, "@")
	from, length, ok2 := strings.Cut(span, "+")
	if !ok || !ok2 || peer == "" {
		return Absence{}, fmt.Errorf("%q, expected PEER@TICK+LENGTH", s)
	}
	begin, err := positive(s, "tick", from)
	if err != nil {
		return Absence{}, err
	}
	n, err := positive(s, "length", length)
	return Absence{Peer: peer, From: begin, Until: begin + n}, err
}

// ParseJoin parses PEER@TICK: a peer that is present from TICK on.
func ParseJoin(s string) (Absence, error) {
	peer, tick, ok := strings.Cut(s, "@")
	if !ok || peer == "" {
		return Absence{}, fmt.Errorf("%q, expected PEER@TICK", s)
	}
	until, err := positive(s, "tick", tick)
	return Absence{Peer: peer, Until: until}, err
}

// positive parses a number in an absence.
func positive(absence, what, text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%q: %s is %q, expected a number of at least 1", absence, what, text)
	}
	return n, nil
}

// checkAbsences reports absences that cannot be.
func (o *Options) checkAbsences() error {
	for i, a := range o.Absences {
		what := fmt.Sprintf("%s away in ticks %d to %d", a.Peer, a.From, a.Until-1)
		switch {
		case !slices.Contains(o.Peers, a.Peer):
			return fmt.Errorf("%s: there is no such peer, only %s", what, strings.Join(o.Peers, ", "))
		case a.Peer == o.Peers[0]:
			return fmt.Errorf("%s: the first peer is always there, the others load its state", what)
		case a.Until <= a.From:
			return fmt.Errorf("%s: that is no time", what)
		case a.Until >= o.Ticks:
			return fmt.Errorf("%s: the session has %d ticks", what, o.Ticks)
		}
		for _, b := range o.Absences[:i] {
			if a.Peer == b.Peer && a.From <= b.Until && b.From <= a.Until {
				return fmt.Errorf("%s: it is away in ticks %d to %d already", what, b.From, b.Until-1)
			}
		}
	}
	return nil
}

// absence returns the absence of a peer that accept accepts, nil if there is none.
func (o *Options) absence(peer int, accept func(a *Absence) bool) *Absence {
	for i := range o.Absences {
		if a := &o.Absences[i]; a.Peer == o.Peers[peer] && accept(a) {
			return a
		}
	}
	return nil
}

// away reports whether a peer does not play a tick.
func (o *Options) away(peer int, tick uint64) bool {
	return o.absence(peer, func(a *Absence) bool { return a.From <= tick && tick < a.Until }) != nil
}

// comings lets the peers that return at the current point load the first peer's state. It reports whether there are
// any.
func (s *session) comings() (any bool, err error) {
	point := s.sims[0].Point()
	for i := range s.sims {
		a := s.absence(i, func(a *Absence) bool { return a.Until == point })
		if a == nil {
			continue
		}
		if !any {
			s.markers = append(s.markers, orderlog.Marker{Kind: orderlog.Save, Point: point})
		}
		any = true
		kind := orderlog.Reconnect
		if a.late() {
			kind = orderlog.Join
		}
		s.markers = append(s.markers, orderlog.Marker{Kind: kind, Player: uint32(i), Peer: uint32(i), Point: point})
		if err := s.load(i); err != nil {
			return any, fmt.Errorf("%s: %w", s.Peers[i], err)
		}
		s.truth.loaded(i, a)
	}
	return any, nil
}

// load gives a peer the first peer's state as a save contains it: without caches, and without the data that the peer's
// mistakes lose on the way. The first peer's history, which includes the loaded point, becomes its own.
func (s *session) load(peer int) error {
	w := s.sims[0].World()
	w.Tables = slices.DeleteFunc(w.Tables, func(t snapshot.Table) bool { return t.Class == snapshot.Cache })
	sim, err := refsim.Load(w, s.mistakes(s.Peers[peer])...)
	if err != nil {
		return err
	}
	l := &s.logs[peer]
	s.sims[peer], l.state, l.history = sim, sim.StateHash(), s.logs[0].history
	l.epoch++
	l.load = &orderlog.Marker{Kind: orderlog.Load, Peer: uint32(peer), Point: sim.Point(), NewEpoch: true, History: l.history}
	if l.begun || s.sink.Header == nil {
		return nil
	}
	l.begun = true
	return s.sink.Header(peer, s.header(peer))
}

// goings notes the peers that no longer play the current tick. They record the hashes of the point where they stopped.
func (s *session) goings() error {
	tick := s.sims[0].Point()
	for i := range s.sims {
		if s.absence(i, func(a *Absence) bool { return a.From == tick && !a.late() }) == nil {
			continue
		}
		s.markers = append(s.markers, orderlog.Marker{Kind: orderlog.Leave, Player: uint32(i), Peer: uint32(i), Point: tick})
		if err := s.stop(i); err != nil {
			return fmt.Errorf("%s: %w", s.Peers[i], err)
		}
	}
	return nil
}

// present returns the orders of the players with machines that are present.
func (s *session) present(orders []orderlog.Order) []orderlog.Order {
	tick := s.sims[0].Point()
	return slices.DeleteFunc(orders, func(o orderlog.Order) bool { return s.away(int(o.Player)%len(s.sims), tick) })
}

// marked returns the markers of the current tick in a peer's log: the markers that all peers see, and the peer's own
// load.
func (s *session) marked(peer int) []orderlog.Marker {
	list := slices.DeleteFunc(slices.Clone(s.markers), func(m orderlog.Marker) bool { return m.Kind == orderlog.Save && peer != 0 })
	if l := &s.logs[peer]; l.load != nil {
		list = append(list, *l.load)
		l.load = nil
	}
	if len(list) == 0 {
		return nil
	}
	return list
}
