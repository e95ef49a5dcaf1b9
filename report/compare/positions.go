package compare

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
)

// Limits of a map: entities that it shows, and how many are read to find them.
const (
	maxEntities  = 2000
	maxPositions = 200_000
)

// positions finds where the entities of the kinds that differ are on both peers. There is no map
// if none of those that differ has a position.
func (g *gatherer) positions() error {
	p := g.e.Parted
	if p == nil {
		return nil
	}
	m := newMapping(p)
	for side, s := range p.States {
		if err := m.read(side, s); err != nil {
			return err
		}
	}
	g.e.Map = m.result()
	return nil
}

// mapping collects the positions of entities of two states.
type mapping struct {
	p      *verdict.Parted
	names  [2]snapshot.Naming
	ground *snapshot.Ground // nil where no format declares it
	differ map[snapshot.Entity]bool
	kinds  []string        // of those that differ, in the order of the diff
	known  map[string]bool // kinds
	part   bool            // more differ than are known by name

	at     map[snapshot.Entity]*spot
	axes   string // the columns without a declaration, by their names
	spread [3]extent
}

// spot is where an entity is on both sides; of three numbers the second or third may be a
// height.
type spot struct {
	archetype string
	at        [2]*[3]float64
}

type extent struct{ low, high float64 }

func (e *extent) add(v float64) { e.low, e.high = min(e.low, v), max(e.high, v) }

func newMapping(p *verdict.Parted) *mapping {
	m := &mapping{p: p, names: p.Naming, differ: map[snapshot.Entity]bool{}, known: map[string]bool{}, at: map[snapshot.Entity]*spot{}, ground: cmp.Or(p.Ground[0], p.Ground[1])}
	for i := range m.spread {
		m.spread[i] = extent{math.Inf(1), math.Inf(-1)}
	}
	for side, s := range p.States {
		if m.names[side] == nil {
			m.names[side] = snapshot.NewTableNaming(s)
		}
	}
	for i := range p.Diff.Tables {
		t := &p.Diff.Tables[i]
		if t.Class != snapshot.Archetype {
			continue
		}
		for k := range t.Changes {
			m.add(0, t.Label, t.Changes[k].Key)
		}
		for side, keys := range [2][]snapshot.Key{t.OnlyA, t.OnlyB} {
			for _, key := range keys {
				m.add(side, t.Label, key)
			}
		}
		m.part = m.part || uint64(len(t.Changes)) < t.Changed() || uint64(len(t.OnlyA)) < t.OnlyACount || uint64(len(t.OnlyB)) < t.OnlyBCount
	}
	return m
}

// add notes that a row differs which a side has.
func (m *mapping) add(side int, label string, key snapshot.Key) {
	e := m.names[side].Entity(label, key)
	if m.differ[e] = true; !m.known[e.Kind] {
		m.known[e.Kind] = true
		m.kinds = append(m.kinds, e.Kind)
	}
}

// read reads where the entities of a state are.
func (m *mapping) read(side int, s snapshot.State) error {
	tables := map[string]int{}
	for i, t := range s.Info().Tables {
		if t.Class == snapshot.Archetype {
			tables[t.Label] = i
		}
	}
	if m.ground == nil {
		for _, kind := range m.kinds {
			if i, ok := tables[kind]; ok {
				if err := m.byNames(side, s, i, kind); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for _, p := range m.ground.Positions {
		if !m.known[p.Kind] {
			continue
		}
		if p.Archetype == "" {
			m.byKeys(side, p)
			continue
		}
		if i, ok := tables[p.Archetype]; ok {
			if err := m.declared(side, s, i, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// put notes where an entity is, unless that is known.
func (m *mapping) put(side int, e snapshot.Entity, archetype string, at [3]float64) {
	if !finite(at[0]) {
		return
	}
	s := m.at[e]
	if s == nil {
		if len(m.at) >= maxPositions && !m.differ[e] {
			return
		}
		s = &spot{archetype: archetype}
		m.at[e] = s
	}
	if s.at[side] == nil {
		s.at[side] = &at
	}
}

// byKeys takes the numbers of the entities that differ as the numbers of their tiles.
func (m *mapping) byKeys(side int, p snapshot.Position) {
	for e := range m.differ {
		if e.Kind == p.Kind && m.names[side].Has(e) {
			m.put(side, e, p.Kind, onTiles(float64(e.Key.A), p.Tiles))
		}
	}
}

// onTiles returns where the tile of that number is.
func onTiles(tile float64, width uint64) [3]float64 {
	return [3]float64{math.Mod(tile, float64(width)), math.Floor(tile / float64(width))}
}

// declared reads the positions of one kind by the columns that the format declares.
func (m *mapping) declared(side int, s snapshot.State, table int, p snapshot.Position) error {
	unit := cmp.Or(p.Unit, 1)
	columns := []string{p.X}
	if p.Y != "" {
		columns = append(columns, p.Y)
	}
	return eachRow(s, table, columns, func(key snapshot.Key, of []snapshot.Column, row int) {
		e := m.entity(side, p, key)
		if e.Kind != p.Kind {
			return
		}
		at := [3]float64{}
		switch {
		case p.Tiles > 0:
			at = onTiles(number(&of[0], row), p.Tiles)
		case p.Y == "":
			text, ok := of[0].Raw(row), of[0].Type == snapshot.String
			if of[0].Type == snapshot.Scalar {
				text, ok = bytes.CutPrefix(text, []byte{'"'})
			}
			if !ok {
				return
			}
			if at[0], at[1], ok = twoNumbers(string(text)); !ok {
				return
			}
		default:
			at[0], at[1] = number(&of[0], row), number(&of[1], row)
		}
		m.put(side, e, p.Archetype, [3]float64{at[0] / unit, at[1] / unit})
	})
}

// entity returns the entity that a row of a position belongs to. A row of a table other than the table of the kind
// belongs to the entity with its number.
func (m *mapping) entity(side int, p snapshot.Position, key snapshot.Key) snapshot.Entity {
	if p.Kind != p.Archetype {
		if e := m.names[side].Entity(p.Archetype, key); e.Kind != p.Archetype {
			return e
		}
	}
	if e := (snapshot.Entity{Kind: p.Kind, Key: snapshot.Key{A: key.A}}); m.names[side].Has(e) {
		return e
	}
	return snapshot.Entity{}
}

// byNames reads the positions of an archetype by the names of its columns.
func (m *mapping) byNames(side int, s snapshot.State, table int, label string) error {
	index, err := s.Index(table)
	if err != nil {
		return err
	}
	names, columns := PlaceColumns(index.Columns)
	if names == "" || m.axes != "" && m.axes != names {
		return nil // of another space, as far as is known
	}
	m.axes = names
	return eachRow(s, table, columns, func(key snapshot.Key, of []snapshot.Column, row int) {
		var at [3]float64
		for i := range of {
			if at[i] = number(&of[i], row); finite(at[i]) {
				m.spread[i].add(at[i])
			}
		}
		m.put(side, snapshot.Entity{Kind: label, Key: key}, label, at)
	})
}

// result returns the map, those that differ first, then those that are nearest to the first of
// these; nil if none of those that differ has a position.
func (m *mapping) result() *document.PositionsMap {
	out := &document.PositionsMap{Peers: m.p.Names, Point: m.p.Diff.A.Point.Tick, Axes: document.AxesDeclared, AtLeast: m.part}
	second := 1
	switch {
	case m.ground != nil:
		out.X, out.Y = m.ground.X, m.ground.Y
	default:
		names := []byte(m.axes)
		if len(names) < 2 {
			return nil
		}
		out.Axes = document.AxesNamed
		if len(names) == 3 {
			out.Axes = document.AxesSpread
			if y, z := m.spread[1], m.spread[2]; y.high-y.low < z.high-z.low {
				second = 2
			}
		}
		out.X, out.Y = string(names[:1]), string(names[second:second+1])
	}
	var first *document.MapEntity // of those that differ
	for e, s := range m.at {
		one := document.MapEntity{Kind: e.Kind, Archetype: s.archetype, Key: e.Key.String(), Differs: m.differ[e] || s.at[0] == nil || s.at[1] == nil}
		for side, at := range s.at {
			if at != nil && finite(at[second]) {
				one.At[side] = &[2]float64{at[0], at[second]}
			}
		}
		if one.At[0] == nil && one.At[1] == nil {
			continue
		}
		if one.Differs && (first == nil || byName(&one, first) < 0) {
			kept := one
			first = &kept
		}
		out.Entities = append(out.Entities, one)
	}
	if first == nil {
		return nil
	}
	around(out, cmp.Or(first.At[0], first.At[1]))
	return out
}

// byName orders entities by their kinds and keys.
func byName(a, b *document.MapEntity) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
}

// around keeps the entities that differ, and of the others those that are nearest to a place.
func around(m *document.PositionsMap, centre *[2]float64) {
	type ranked struct {
		distance float64 // below zero if it differs
		of       *document.MapEntity
	}
	list := make([]ranked, len(m.Entities))
	for i := range m.Entities {
		e := &m.Entities[i]
		if list[i] = (ranked{-1, e}); !e.Differs {
			at := cmp.Or(e.At[0], e.At[1])
			list[i].distance = math.Hypot(at[0]-centre[0], at[1]-centre[1])
		}
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.distance, b.distance), byName(a.of, b.of)) })
	if n := len(list); n > maxEntities {
		list, m.Left = list[:maxEntities], uint64(n-maxEntities)
	}
	m.Entities = make([]document.MapEntity, len(list))
	for i, r := range list {
		m.Entities[i] = *r.of
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
