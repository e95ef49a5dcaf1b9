package states

import (
	"cmp"
	"slices"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/notation"
)

// role is what the maps or lists at one path become.
type role uint8

const (
	inline role = iota // their members are fields of the row that they are in
	rows               // each element is a row of a table
	values             // each element, a scalar, is a row of a table with the column "value"
)

const (
	longestVector = 4  // numbers of a list that is a few fields
	longestRow    = 16 // numbers of a list within a list that is a row
	fewestAlike   = 2  // maps that are rows if their names change
	fewestSame    = 3  // maps that are rows if they have the same members
	mostDeep      = 8  // maps in maps that may have the tick
)

// asMap returns what the maps at a path become.
func (n *node) asMap() role {
	switch {
	case n.collapsed && n.item.scalar():
		return values
	case n.collapsed:
		return rows
	case len(n.members) == 0:
		return inline
	}
	maps, lists, scalars := 0, 0, 0
	for _, m := range n.members {
		if m.repeated {
			return inline
		}
		switch {
		case m.maps > 0 && m.lists == 0:
			maps++
		case m.lists > 0 && len(m.members) == 0: // an empty one may be a map
			lists++
		}
		if m.scalar() {
			scalars++
		}
	}
	all := len(n.members)
	switch {
	case n.hint.isTable() && !n.repeated && scalars == all:
		return values
	case n.hint.isTable() && !n.repeated:
		return rows
	case n.ids && maps+lists == all:
		return rows
	case n.ids && scalars == all && n.counts() && n.numbers():
		return inline
	case n.ids && scalars == all:
		return values
	case maps < all || slices.ContainsFunc(n.members, func(m *node) bool { return m.asMap() != inline }): // a map of tables
	case all >= fewestAlike && n.changing() && n.alike(), all >= fewestSame && n.same():
		return rows
	}
	return inline
}

// columnar reports whether the maps at a path are tables by columns: their members are lists of one length, with an element
// for each row.
func (n *node) columnar() bool {
	if n.maps == 0 || n.lists > 0 || n.ragged || n.collapsed || len(n.members) < 2 {
		return false
	}
	longest := 0
	for _, m := range n.members {
		if m.lists < m.values || m.item != nil && m.item.maps > 0 {
			return false
		}
		longest = max(longest, m.longest)
	}
	return longest > longestVector || n.idColumn() != nil
}

// idColumn returns the member of a table by columns that identifies its rows, nil if their places do.
func (n *node) idColumn() *node {
	var best *node
	for _, m := range n.members {
		if m.item != nil && m.item.unique != nil && !m.item.unique.broken && m.item.scalar() && (best == nil || idRank(m.name) > idRank(best.name)) {
			best = m
		}
	}
	return best
}

// apart reports whether a member of a map of rows is a field of the row that the map is in, and no row.
func (n *node) apart(name []byte) bool {
	if n == nil || !n.collapsed {
		return false
	}
	_, ok := n.index[string(name)]
	return ok
}

// same reports whether all members, maps, always have the same members, two at least.
func (n *node) same() bool {
	first := n.members[0]
	return len(first.members) >= 2 && !slices.ContainsFunc(n.members, func(m *node) bool {
		return len(m.members) != len(first.members) || slices.ContainsFunc(m.members, func(x *node) bool {
			_, ok := first.index[x.name]
			return !ok
		})
	})
}

// counts reports whether the names of members are 1, 2, 3, … or 0, 1, 2, … in every map, so that the maps are written
// lists. They may be no more than places.
func (n *node) counts() bool { return n.maps > 0 && n.counting && (n.collapsed || len(n.members) > 0) }

// numbers reports whether the members are always the same few numbers.
func (n *node) numbers() bool {
	return len(n.members) <= longestVector && !slices.ContainsFunc(n.members, func(m *node) bool {
		return m.values < n.maps || m.scalars[notation.Text]+m.scalars[notation.Null]+m.scalars[notation.Bytes] > 0
	})
}

// changing reports whether the names of members are others from map to map.
func (n *node) changing() bool {
	return slices.ContainsFunc(n.members, func(m *node) bool { return m.values < n.maps })
}

// alike reports whether all members, maps, have mostly the same names.
func (n *node) alike() bool {
	first := n.members[0]
	for _, m := range n.members[1:] {
		shared := 0
		for name := range m.index {
			if _, ok := first.index[name]; ok {
				shared++
			}
		}
		if 2*shared < max(len(m.members), len(first.members)) {
			return false
		}
	}
	return len(first.members) > 0
}

// asList returns what the lists at a path become.
func (n *node) asList() role {
	e := n.item
	switch {
	case e == nil:
		return values
	case e.maps > 0 || e.lists > 0:
		return rows
	case n.vector(longestVector) && !n.hint.isTable():
		return inline
	}
	return values
}

// vector reports whether all lists have the same few numbers.
func (n *node) vector(most int) bool {
	return n.shortest == n.longest && n.longest > 0 && n.longest <= most && n.item.scalar() &&
		n.item.scalars[notation.Text]+n.item.scalars[notation.Null]+n.item.scalars[notation.Bytes] == 0
}

// identity returns the member that identifies the rows of this node, nil if their place does. If numbered is set, the
// rows are members of a map, under numbers that count: then only a member with the name of an id is better than the
// number.
func (n *node) identity(documents int, numbered bool) *node {
	var best *node
	score := 0
	for i, m := range n.members {
		if m.unique == nil || m.unique.broken || !m.scalar() || m.values < n.maps || m.scalars[notation.Null]+m.scalars[notation.Bool] > 0 {
			continue
		}
		s, share := 2*idRank(m.name), mostValues
		switch {
		case s > 0 && (rank(weakWords, m.name) == 0 || i == 0 && rank(numberWords, m.name) > 0): // a table begins with the numbers of its rows
			share = 0
		case s > 0:
			share = mostValues
			if rank(steadyWords, m.name) > 0 {
				share = manyValues
			}
		case m.scalars[notation.Number] == 0 && !numbered && len(m.unique.seen) > 1 && m.steady():
			s = 1
		}
		if !m.unique.recurs(documents, share) {
			continue
		}
		if s > score {
			best, score = m, s
		}
	}
	return best
}

// steady reports whether the values of a member may be texts that rows keep: its name is for no state of a row, which changes, and
// they are no numbers with commas.
func (n *node) steady() bool {
	parts := vocabulary.Parts(n.name)
	return n.commas < n.values && (len(parts) == 0 || rank(stanceWords, parts[len(parts)-1]) == 0)
}

// best returns the member with the name that comes first in a list of words, nil if there is none. If numbers is set,
// its values have to be numbers.
func (n *node) best(words []string, numbers bool) *node {
	var best *node
	score := 0
	for _, m := range n.members {
		if !m.scalar() || m.values == 0 || numbers && m.scalars[notation.Number]+m.scalars[notation.Text] == 0 {
			continue
		}
		if r := rank(words, m.name); r > score {
			best, score = m, r
		}
	}
	return best
}

// tick returns the path of the member that has the tick, within a state: its own member, or one of a map in it. If no name
// shows it, it is a number that grows evenly from state to state.
func (n *node) tick() []*node {
	if m := n.best(tickWords, true); m != nil {
		return []*node{m}
	}
	if m := n.paced(); m != nil {
		return []*node{m}
	}
	for _, m := range n.members {
		if m.maps > 0 && m.lists == 0 && !m.repeated && m.asMap() == inline {
			if t := m.best(tickWords, true); t != nil {
				return []*node{m, t}
			}
		}
	}
	return nil
}

// deepTick returns the path of the only whole number of a document, in maps in maps, whose name means the tick of the game: ticksGame,
// not lastTick or coolTicks. It is nil if there are several.
func (n *node) deepTick(deeper int) (path []*node, several bool) {
	for _, m := range n.members {
		var way []*node
		switch {
		case m.scalar() && m.scalars[notation.Number] == m.values && m.values == n.maps && namesTick(m.name):
			way = []*node{m}
		case m.maps > 0 && m.lists == 0 && !m.repeated && m.asMap() == inline && deeper > 0:
			if way, several = m.deepTick(deeper - 1); way != nil {
				way = append([]*node{m}, way...)
			}
		}
		if several || way != nil && path != nil {
			return nil, true
		}
		if way != nil {
			path = way
		}
	}
	return path, false
}

// namesTick reports whether the words of a name are one for a tick and others for the game as a whole.
func namesTick(name string) bool {
	ticks := false
	for _, part := range vocabulary.Parts(name) {
		switch {
		case vocabulary.Of(part) == vocabulary.Tick:
			ticks = true
		case rank(wholeWords, part) == 0:
			return false
		}
	}
	return ticks
}

// paced returns the first number that grows evenly from one map to the next, while the rows within the maps recur, or rows
// with an id do; nil if there is none. Numbers of entities and places grow so too, as far as their names do not show it.
func (n *node) paced() *node {
	for _, m := range n.members {
		if m.unique == nil || !m.scalar() || !m.unique.even() || idRank(m.name) > 0 || rank(placeWords, m.name) > 0 {
			continue
		}
		if meaning := vocabulary.Of(m.name); meaning != vocabulary.Other && meaning != vocabulary.Tick {
			continue
		}
		if !m.unique.broken && n.recurs() || m.unique.broken && slices.ContainsFunc(n.members, func(id *node) bool {
			return id.unique != nil && idRank(id.name) > 0 && id.unique.repeats >= id.unique.values/2
		}) {
			return m
		}
	}
	return nil
}

// recurs reports whether the lists within maps have rows that most others have too, as those of the next state have.
func (n *node) recurs() bool {
	return slices.ContainsFunc(n.members, func(m *node) bool {
		if m.columnar() {
			id := m.idColumn()
			return id != nil && len(id.item.unique.seen) > 1 && 5*id.item.unique.others >= 4*id.item.unique.values
		}
		e := m
		if m.lists > 0 {
			e = m.item
		}
		if e == nil {
			return false
		}
		if e != m || m.repeated {
			return slices.ContainsFunc(e.members, func(id *node) bool {
				u := id.unique
				return u != nil && !u.broken && len(u.seen) > 1 && rank(kindWords, id.name) == 0 && 5*u.others >= 4*u.values
			})
		}
		named := e.maps > 0 && !e.collapsed && e.asMap() == rows // under names in place of ids
		return named && !slices.ContainsFunc(e.members, func(row *node) bool { return 5*row.values < 4*e.maps }) || e.recurs()
	})
}

// shape is where in a file its states are.
type shape struct {
	state *node // its values are states: the documents, a value within each, or the elements of a list
	list  *node // that the states are the elements of, nil if there is none
	table bool  // a file is a list of rows, of as many states as there are ticks and peers in it
	each  bool  // each document is a state, or a row
	named bool  // the names of the members of list are the ticks
	tick  []*node
	peer  *node
}

// shape decides where the states are.
func (s *Schema) shape() shape {
	base := s.root
	if !s.several {
		base = unwrap(base)
	}
	e := cmp.Or(base.elements(), base)
	tick := s.tick(e)
	switch {
	case s.several || e != base:
		out := shape{state: e, tick: tick, peer: s.peer(e), each: e == base}
		if e != base {
			out.list = base
		}
		if e != base && base.longest == 1 && !base.hint.isTable() && e.identity(s.documents, false) == nil { // a table with the only row of global values
			return out
		}
		if tick == nil || e == base && e.headed(tick) || !once(tick) && (e.flat() || out.peer == nil || e.best(kindWords, false).varies()) {
			out.state, out.list, out.table = base, nil, true
		}
		return out
	case tick == nil:
		if out, ok := s.within(base); ok {
			return out
		}
		for _, m := range slices.Concat([]*node{base}, base.members) {
			if m.collapsed && m.byTick(!s.Dumps) && (m == base || !m.item.flat() || !slices.ContainsFunc(base.members, func(o *node) bool { return o != m && !o.scalar() })) {
				return shape{state: m.item, list: m, named: true, tick: s.tick(m.item), peer: s.peer(m.item)}
			}
		}
		for _, m := range base.members {
			e := cmp.Or(m.elements(), m)
			if t := s.tick(e); (e != m || m.repeated) && e.maps > 0 && t != nil && (once(t) && rank(stateWords, m.name) > 0 || !e.flat()) {
				return shape{state: e, list: m, tick: t, peer: s.peer(e)}
			}
		}
	}
	if tick == nil && s.Untimed {
		tick, _ = base.deepTick(mostDeep)
	}
	return shape{state: base, tick: tick, peer: s.peer(base)}
}

// headed reports whether only some of the maps have the tick, and the others are rows below it: all have a kind, World(turn=72),
// Unit(id=4), Unit(id=5), or they are no messages and have the same members. There are more of them than of ticks.
func (n *node) headed(tick []*node) bool {
	heads := tick[len(tick)-1]
	below := n.values - heads.values
	if below == 0 || below < heads.values || !once(tick) {
		return false
	}
	shared, message := 0, n.best(orderWords, false) != nil || n.best(messageWords, false) != nil
	for _, m := range n.members {
		switch {
		case rank(kindWords, m.name) > 0 && m.scalar() && m.values == n.values && m.varies():
			return true
		case m.values == below:
			shared++
		}
	}
	return shared >= 2 && below > heads.values && n.flat() && !message
}

// elements returns the elements of a list, or of a map that counts like one; nil if it is neither.
func (n *node) elements() *node {
	if n.maps == 0 && n.lists > 0 || n.lists == 0 && n.collapsed && n.counting {
		return n.item
	}
	return nil
}

// collapse makes lists of the maps that have states as members, under the names 1, 2, 3 and so on: the map of the file,
// and the maps directly in it.
func (s *Schema) collapse(nodes *int) {
	base := unwrap(s.root)
	for _, n := range slices.Concat([]*node{s.root, base}, base.members) {
		if n.lists == 0 && !n.collapsed && (n.counts() && s.tick(n.together()) != nil || n.byTick(!s.Dumps)) {
			n.collapse(nodes)
		}
	}
}

// byTick reports whether a map has states as members, under their ticks. Small ones without tables may be rows: their ticks
// grow evenly, and the name of the map or their steps show what they are.
func (n *node) byTick(small bool) bool {
	if n.lists > 0 || !n.growing || !n.collapsed && len(n.members) < fewestAlike {
		return false
	}
	e, named := n.item, rank(stateWords, n.name) > 0
	if !n.collapsed {
		if !named && !n.steps.even() {
			return false
		}
		e = n.together()
	}
	switch {
	case !e.flat():
		return named
	case !small || !n.steps.even() || rank(pastWords, n.name) == 0 && n.steps.step == 1 || e.maps < e.values || len(e.members) == 0:
		return false
	}
	return !slices.ContainsFunc(e.members, func(m *node) bool { return !m.scalar() || idRank(m.name) > 0 || rank(kindWords, m.name) > 0 })
}

// Several reports whether a file may have several states, as far as files were learned.
func (s *Schema) Several() bool {
	if s.root == nil {
		return false
	}
	at := s.shape()
	return at.list != nil || at.each || at.table && (len(at.tick) > 0 || at.peer != nil)
}

// once reports whether no tick comes twice in one list.
func once(tick []*node) bool {
	u := tick[len(tick)-1].unique
	return u != nil && !u.broken
}

// varies reports whether a member has several values, or so many that they were not noted.
func (n *node) varies() bool { return n != nil && (n.unique == nil || len(n.unique.seen) > 1) }

// flat reports whether a map has no tables.
func (n *node) flat() bool {
	return !slices.ContainsFunc(n.members, func(m *node) bool {
		return m.repeated || m.maps > 0 && (m.asMap() != inline || !m.flat()) || m.lists > 0 && m.asList() != inline
	})
}

// unwrap returns the value below maps that have nothing but one map or one list of maps with ticks.
func unwrap(n *node) *node {
	for n.maps > 0 && n.lists == 0 && len(n.members) == 1 && !n.collapsed {
		m := n.members[0]
		if m.repeated || m.maps == 0 || m.lists > 0 || n.asMap() != inline || m.asMap() != inline {
			break
		}
		n = m
	}
	return n
}

// Tabular reports whether the files are states and not a log of single values, such as checksums or inputs: they have
// tables, rows that are fields of entities, or rows with ids that recur.
func (s *Schema) Tabular() bool {
	if s.root == nil {
		return false
	}
	e := s.shape().state
	if e.lists > 0 && e.item != nil {
		e = e.item
	}
	if !e.flat() {
		return true
	}
	if e.best(fieldWords, false) != nil && e.best(valueWords, false) != nil && e.best(idWords, false) != nil {
		return true // each row is a field of an entity
	}
	if e.best(orderWords, false) != nil {
		return false
	}
	kinds := e.best(kindWords, false) != nil
	return slices.ContainsFunc(e.members, func(m *node) bool {
		named := rank(rowWords, m.name) > 0 || kinds && rank(idWords, m.name) > 0
		return m.unique != nil && named && max(m.unique.again, m.unique.repeats) >= len(m.unique.seen)
	})
}
