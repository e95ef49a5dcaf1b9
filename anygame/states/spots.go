package states

import (
	"cmp"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// spot is where in the tables of a state the values at one path belong. Spots mirror nodes; a path that was not learned
// has a spot too.
type spot struct {
	node     *node
	hint     *hint
	name     string
	children map[string]*spot
	element  *spot // the elements, or the members if their names are ids
	last     *spot // of the members, the one that came last
	after    *spot // the member that came after this one the last time

	home   *table // the table of the row that its fields belong to, nil outside the states
	path   string // from the row, with dots; empty for the row itself
	full   string // from the document
	column *column
	vector []*column // of a text that consists of numbers
	own    *table    // of its elements or members, if these are rows
	asMap  role
	asList role
	items  int // elements that came in the current map, in a notation without lists
	within int // that map

	columnar bool // it is a table by columns
	inTable  bool // it is a column of one
	ids      bool // which identifies the rows

	class    snapshot.Class
	places   bool // it is a row that its place in a list identifies, if nothing else does
	named    bool // it is a row, and its name is a number
	list     bool // its elements are the states
	state    bool // it is a state
	tick     bool // its value is the tick
	peer     bool // its value is the peer
	rng      bool // its values are the state of the random number generator
	identity bool // its value identifies the row
}

// newSpot returns the spot of a member or element of another one.
func (b *builder) newSpot(parent *spot, n *node, name string, element bool) *spot {
	s := &spot{node: n, name: name, asList: values, full: b.schema.Table}
	if parent != nil && element {
		s.full = parent.full
	} else if parent != nil {
		s.full = bounded(join(parent.full, name))
	}
	s.know(b.schema.root.hint, parent, element)
	if n != nil {
		s.asMap, s.asList = n.asMap(), n.asList()
		if s.columnar = n.columnar() && s.hint == nil; s.columnar {
			s.asMap = inline
		}
		if n.repeated && !element {
			s.asMap, s.asList = rows, rows
			if n.scalar() {
				s.asList = values
			}
		}
	}
	s.list = n != nil && n == b.shape.list && !element
	s.state = n != nil && n == b.shape.state && !s.list
	switch {
	case s.state:
		s.home = b.tables[0]
	case parent == nil:
	case parent.columnar && parent.own != nil:
		s.home, s.path, s.inTable, s.asList = parent.own, name, true, inline
		s.ids = n != nil && parent.node.idColumn() == n
	case element && parent.inTable:
		s.home, s.path = parent.home, parent.path
	case element && parent.own != nil:
		s.home = parent.own
	default:
		s.home, s.path = parent.home, name
		if parent.path != "" {
			s.path = bounded(parent.path + "." + name)
		}
	}
	if s.home == nil {
		return s
	}
	if n != nil && parent != nil {
		s.tick = !b.shape.table && len(b.shape.tick) > 0 && n == b.shape.tick[len(b.shape.tick)-1]
		s.peer = !b.shape.table && n == b.shape.peer
		s.identity = !element && parent.places && !parent.hint.keyed() && parent.node.identity(b.times, parent.named) == n
	}
	if element && parent.ids {
		s.identity = true
		s.home.identify(s.path, whyOf(parent.node))
	} else if s.identity {
		s.home.identify(s.path, whyOf(n))
	}
	if s.hint != nil && s.hint.key != nil && s.hint.key == s.home.hint {
		s.identity = true
		s.home.identify(s.path, Described)
	}
	s.named = element && parent.node != nil && parent.node.maps > 0 && !parent.node.repeated
	s.places = element && !s.state && n != nil && s.path == "" && (!s.named || parent.node.counts())
	s.rng = parent != nil && parent.rng || s.home == b.tables[0] && rank(rngWords, name) > 0
	if hints := b.schema.Hints; hints != nil && len(hints.RNG) > 0 {
		s.rng = parent != nil && parent.rng || s.hint != nil && s.hint.rng
	}
	if s.rng && parent != nil && !parent.rng {
		b.found.RNG = append(b.found.RNG, s.full)
	}
	return s
}

// know finds what is known of a spot beforehand.
func (s *spot) know(root *hint, parent *spot, element bool) {
	switch {
	case parent == nil:
		s.hint = root
	case element:
		s.hint, s.class = parent.hint.element(), parent.class
	default:
		s.hint, s.class = parent.hint.at(s.name), parent.class
	}
	if s.hint != nil && s.hint.class != snapshot.Archetype {
		s.class = s.hint.class
	}
}

// label returns the label of the table of the elements of a spot.
func (s *spot) label(table string) string {
	if s.hint.isTable() && s.hint.table.Label != "" {
		return s.hint.table.Label
	}
	label := s.path
	if s.home.label != GlobalLabel {
		label = strings.TrimSuffix(s.home.label+"."+s.path, ".")
		if s.path == "" {
			label += ".item"
		}
	}
	if label == "" {
		label = s.name
		if s.node != nil && s.node.name != "" {
			label = s.node.name
		}
	}
	label = cmp.Or(label, table)
	switch label {
	case "":
		return rowsLabel
	case GlobalLabel:
		return GlobalLabel + "." + rowsLabel
	}
	return bounded(label)
}

// child returns the spot of a member.
func (b *builder) child(s *spot, name []byte) *spot {
	if p := s.last; p != nil && p.after != nil && p.after.name == string(name) {
		s.last = p.after
		return p.after
	}
	c := s.children[string(name)]
	if c == nil {
		var n *node
		if s.node != nil {
			if i, ok := s.node.index[string(name)]; ok {
				n = s.node.members[i]
			}
		}
		c = b.newSpot(s, n, string(name), false)
		if s.children == nil {
			s.children = map[string]*spot{}
		}
		s.children[string(name)] = c
	}
	if s.last != nil {
		s.last.after = c
	}
	s.last = c
	return c
}

// elementOf returns the spot of the elements of a list, or of a map of rows.
func (b *builder) elementOf(s *spot) *spot {
	if s.element == nil {
		n := s.node
		switch {
		case n == nil || n.repeated:
		case n.item != nil:
			n = n.item
		default:
			n = n.together()
		}
		s.element = b.newSpot(s, n, s.name, true)
	}
	return s.element
}

// together returns one node for all members of a map with ids as names.
func (n *node) together() *node {
	all, nodes := newNode(""), 0
	for _, m := range n.members {
		all.merge(m, &nodes)
	}
	return all
}
