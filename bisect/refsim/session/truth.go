package session

import (
	"slices"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Truth is the content of truth.json: the first mistake, as it was made and as a comparison of the states shows it.
// Bracket and the fields after it are nil if no mistake ever showed.
type Truth struct {
	Fault string `json:"fault"` // name of the mistake, empty if there is none
	Place string `json:"place"` // by the name that the game has for it
	Peer  string `json:"peer"`  // that makes it
	From  uint64 `json:"from_tick"`

	// Bracket is one tick wide, unless a peer diverged by loading: then Good is the last state point before at which it
	// was present, nil if there is none.
	Bracket      *Bracket `json:"bracket"`
	InitialState *bool    `json:"initial_state"`

	// LoadedAt is the state point at which the peer diverged by loading a state, nil if it diverged otherwise. There is
	// no System then.
	LoadedAt *uint64 `json:"loaded_at,omitempty"`

	// System is the first one after which something differed that still differs at the end of the tick; nil for an
	// initial state. Archetype, Component and Entities are the first that differ, the RNG before the archetypes.
	System    *string  `json:"system"`
	Archetype *string  `json:"archetype"` // empty for the RNG
	Component *string  `json:"component"` // "RNG" for the RNG
	Entities  []string `json:"entities"`  // keys, ascending; empty for the RNG

	// HealedAt is the first state point after the bracket at which all peers
	// are the same again.
	HealedAt *uint64 `json:"healed_at"`

	// Checksum is set if the peers' recorded hashes do not show when their states differ.
	Checksum *Checksum `json:"checksum,omitempty"`
}

// Checksum is how the recorded sync hashes of the peers are wrong.
type Checksum struct {
	Kind string `json:"kind"` // checksum-only or blind-checksum
	// DiffersAt is the first state point at which the hashes differ, nil if they
	// never do.
	DiffersAt *uint64 `json:"differs_at"`
}

// Bracket is the tick in which the peers diverged, by its state points.
type Bracket struct {
	Good *uint64 `json:"good"` // nil for an initial state
	Bad  uint64  `json:"bad"`
}

// observer finds the truth while a session is played.
type observer struct {
	truth  Truth
	sims   []*refsim.Sim
	there  []bool // which peers are at the state point, or play the tick
	names  []string
	faults []Fault

	parted        string  // the peer that diverged from the first one
	recordedApart *uint64 // the first point at which recorded hashes differ

	// seen are this tick's differences of each peer to the first one, by the
	// systems after which there were any.
	seen [][]difference
}

// difference is what two peers differ in after a system.
type difference struct {
	order  int // of the system in the step
	system string
	list   []refsim.Difference
}

func newObserver(sims []*refsim.Sim, o *Options) *observer {
	b := &observer{sims: sims, there: make([]bool, len(sims)), names: o.Peers, faults: slices.Clone(o.Faults), seen: make([][]difference, len(sims))}
	for i := range b.faults {
		b.faults[i].Place = sims[0].PlaceName(b.faults[i].Place)
	}
	if len(o.Faults) > 0 {
		b.truth.blame(b.faults[0])
	}
	return b
}

func (t *Truth) blame(f Fault) { t.Fault, t.Place, t.Peer, t.From = f.Name, f.Place, f.Peer, f.From }

// initial looks at state point 0.
func (b *observer) initial() {
	for i := 1; i < len(b.sims); i++ {
		if b.equal(i) {
			continue
		}
		b.found(i, "", refsim.Differences(b.sims[0], b.sims[i])[0])
		b.truth.Bracket = &Bracket{Bad: 0}
		return
	}
}

// afterSystem looks at the peers after each of them ran the same system.
func (b *observer) afterSystem(order int, system string) {
	if b.truth.Bracket != nil {
		return
	}
	for i := 1; i < len(b.sims); i++ {
		if !b.equal(i) {
			b.seen[i] = append(b.seen[i], difference{order, system, refsim.Differences(b.sims[0], b.sims[i])})
		}
	}
}

// afterTick looks at the state point after a tick.
func (b *observer) afterTick() {
	point := b.sims[0].Point()
	if b.truth.Bracket != nil {
		if b.truth.HealedAt == nil && b.there[slices.Index(b.names, b.parted)] && b.same() {
			b.truth.HealedAt = &point
		}
		return
	}
	// The first system counts, and of peers that part in the same one the
	// first peer.
	peer, lasting := 0, difference{order: len(refsim.Systems())}
	for i, seen := range b.seen {
		if d, ok := firstLasting(seen); ok && d.order < lasting.order {
			peer, lasting = i, d
		}
		b.seen[i] = seen[:0]
	}
	if peer == 0 {
		return
	}
	b.found(peer, lasting.system, lasting.list[0])
	good := point - 1
	b.truth.Bracket = &Bracket{Good: &good, Bad: point}
}

// recorded looks at the sync hashes that the peers recorded of a state point.
func (b *observer) recorded(point uint64, hashes []merkle.Short) {
	if b.recordedApart != nil || !slices.ContainsFunc(hashes, func(h merkle.Short) bool { return h != hashes[0] }) {
		return
	}
	b.recordedApart = &point
	if b.same() {
		b.truth.Checksum = &Checksum{Kind: "checksum-only", DiffersAt: &point}
	}
}

// finish looks at what the recorded hashes showed in all.
func (b *observer) finish() {
	if b.truth.Bracket != nil && b.recordedApart == nil {
		b.truth.Checksum = &Checksum{Kind: "blind-checksum"}
	}
}

// firstLasting returns the first of a tick's differences that is still there
// after its last one, reduced to what is.
func firstLasting(seen []difference) (difference, bool) {
	if len(seen) == 0 || seen[len(seen)-1].order != len(refsim.Systems())-1 {
		return difference{}, false
	}
	last := seen[len(seen)-1].list
	for _, d := range seen {
		for _, x := range d.list {
			if both, ok := intersect(x, last); ok {
				d.list = []refsim.Difference{both}
				return d, true
			}
		}
	}
	return difference{}, false
}

// intersect returns the part of x that list also has.
func intersect(x refsim.Difference, list []refsim.Difference) (refsim.Difference, bool) {
	for _, y := range list {
		if y.Archetype != x.Archetype || y.Component != x.Component {
			continue
		}
		if x.Keys == nil {
			return x, true
		}
		var keys []snapshot.Key
		for _, k := range x.Keys {
			if _, ok := slices.BinarySearchFunc(y.Keys, k, snapshot.Key.Compare); ok {
				keys = append(keys, k)
			}
		}
		x.Keys = keys
		return x, keys != nil
	}
	return refsim.Difference{}, false
}

func (b *observer) same() bool {
	for i := range b.sims {
		if !b.equal(i) {
			return false
		}
	}
	return true
}

// equal reports whether a peer is the same as the first one, or not there.
func (b *observer) equal(peer int) bool {
	return peer == 0 || !b.there[peer] || refsim.Equal(b.sims[0], b.sims[peer])
}

// loaded examines a peer that has just loaded the first peer's state. It is then equal to the first one again,
// independent of its earlier state.
func (b *observer) loaded(peer int, a *Absence) {
	b.there[peer] = true
	point := b.sims[0].Point()
	t := &b.truth
	switch {
	case t.Bracket != nil:
		if t.HealedAt == nil && b.names[peer] == b.parted && b.same() {
			t.HealedAt = &point
		}
	case !b.equal(peer):
		b.found(peer, "", refsim.Differences(b.sims[0], b.sims[peer])[0])
		t.Bracket, t.LoadedAt, *t.InitialState = &Bracket{Bad: point}, &point, false
		if !a.late() {
			t.Bracket.Good = &a.From
		}
	}
}

// found notes what differs first, and which peer is at fault: the peer that diverged from the first one, or the first
// one if the other makes no mistakes.
func (b *observer) found(peer int, system string, d refsim.Difference) {
	initial := system == ""
	b.parted = b.names[peer]
	t := &b.truth
	t.InitialState = &initial
	if !initial {
		t.System = &system
	}
	t.Archetype, t.Component = &d.Archetype, &d.Component
	t.Entities = []string{}
	for _, k := range d.Keys {
		t.Entities = append(t.Entities, k.String())
	}
	for _, name := range []string{b.names[peer], b.names[0]} {
		if f, ok := b.faultOf(name, system, b.sims[0].Point()); ok {
			t.blame(f)
			return
		}
	}
}

// faultOf returns the mistake of a peer that showed in a system: the one that
// is made there, else the first that had begun.
func (b *observer) faultOf(peer, system string, point uint64) (f Fault, ok bool) {
	initial, loading := system == "" && point == 0, system == "" && point > 0
	for _, g := range b.faults {
		begun := initial || g.From < point || loading && g.From == point
		if g.Peer != peer || initial != (g.Name == "initial-state") || !begun {
			continue
		}
		if g.Place == system || loading && g.Name == "save-omits-field" {
			return g, true
		}
		if !ok || g.From < f.From {
			f, ok = g, true
		}
	}
	return f, ok
}
