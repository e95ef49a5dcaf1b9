package states

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// Hints are what is known of states before one is read. A path consists of names with dots between them. Lists add
// nothing to it, and neither do maps with ids as names. It begins at the document, or with the name of the table in
// files that have only one.
type Hints struct {
	Tick, Peer string // where these are, empty if that is not known
	// RNG is the state of the random number generator. Noise differs between peers in sync. Cache is computed from the
	// rest. Each includes everything below its path.
	RNG, Noise, Cache []string
	Tables            []Table
}

// Table is what is known of a table.
type Table struct {
	Path  string // of its list or map; empty for a file that is a list of rows
	Key   string // the path from a row to its identity, empty if that is not known
	Label string // empty for the usual one
	// Position are the paths from a row to both coordinates of its place on the ground, or to a text with both.
	Position []string
}

// hint is what is known of one path. The zero hint applies to most paths.
type hint struct {
	members map[string]*hint
	item    *hint // the elements, or the members if their names are ids

	table           *Table // its elements or members are the rows
	row             *Table // it is a row
	key             *Table // it identifies the rows
	tick, peer, rng bool
	class           snapshot.Class
}

// newHint returns the hint of a path at which nothing is known.
func newHint() *hint {
	h := &hint{members: map[string]*hint{}}
	h.item = &hint{members: h.members}
	return h
}

// at returns the hint of a member, nil if nothing is known of it and of the paths below it.
func (h *hint) at(name string) *hint {
	if h == nil {
		return nil
	}
	m := h.members[name]
	if m == nil && strings.Contains(name, ".") {
		for m = h; m != nil && name != ""; {
			var first string
			first, name, _ = strings.Cut(name, ".")
			m = m.members[first]
		}
	}
	return m
}

// element returns the hint of the elements of a list.
func (h *hint) element() *hint {
	if h == nil {
		return nil
	}
	return h.item
}

// isTable reports whether a list or map is known to be a table.
func (h *hint) isTable() bool { return h != nil && h.table != nil }

// keyed reports whether it is known what identifies the row at a path.
func (h *hint) keyed() bool { return h != nil && h.row != nil && h.row.Key != "" }

// add returns the hint of a path, which is made the first time.
func (h *hint) add(path string) *hint {
	for name := range strings.SplitSeq(path, ".") {
		if path == "" {
			break
		}
		m := h.members[name]
		if m == nil {
			m = newHint()
			h.members[name] = m
		}
		h = m
	}
	return h
}

// tree returns the hints of the files with one table, or of those with all.
func (hs *Hints) tree(table string) *hint {
	root := newHint()
	each := func(path string, set func(*hint)) {
		if path == "" {
			return
		}
		set(root.add(path))
		if below, ok := strings.CutPrefix(path, table+"."); ok && table != "" {
			set(root.add(below))
		}
	}
	for i := range hs.Tables {
		t := &hs.Tables[i]
		path := t.Path
		if table != "" {
			if path == table {
				path = ""
			} else if below, ok := strings.CutPrefix(path, table+"."); ok {
				path = below
			}
		}
		h := root.add(path)
		h.table, h.item.row = t, t
		if t.Key != "" {
			h.add(t.Key).key = t
		}
	}
	each(hs.Tick, func(h *hint) { h.tick = true })
	each(hs.Peer, func(h *hint) { h.peer = true })
	for _, path := range hs.RNG {
		each(path, func(h *hint) { h.rng = true })
	}
	for _, path := range hs.Noise {
		each(path, func(h *hint) { h.class = snapshot.Noise })
	}
	for _, path := range hs.Cache {
		each(path, func(h *hint) { h.class = snapshot.Cache })
	}
	return root
}

// begin makes the root of the learned nodes.
func (s *Schema) begin() {
	s.before = new(lately)
	s.root = newNode("")
	if s.Hints != nil {
		s.root.hint = s.Hints.tree(s.Table)
	}
}

// tick returns the path of the member that has the tick, within a state.
func (s *Schema) tick(n *node) []*node {
	if s.Hints != nil && s.Hints.Tick != "" {
		if way := n.way(func(h *hint) bool { return h.tick }); !slices.ContainsFunc(way, (*node).holds) {
			return way
		}
		return nil
	}
	return n.tick()
}

// peer returns the member that has the peer, within a state.
func (s *Schema) peer(n *node) *node {
	if s.Hints == nil || s.Hints.Peer == "" {
		return n.best(peerWords, false)
	}
	way := n.way(func(h *hint) bool { return h.peer })
	if len(way) == 0 || slices.ContainsFunc(way, (*node).holds) {
		return nil
	}
	return way[len(way)-1]
}

// holds reports whether the value at a path is a list, or repeated.
func (n *node) holds() bool { return n.lists > 0 || n.repeated }

// way returns the nodes below one on the way to a path that is known, that at the path included; nil if no value was
// there. Lists and their elements are two nodes.
func (n *node) way(to func(*hint) bool) []*node {
	if n.lists > 0 && n.item != nil {
		if way := n.item.way(to); way != nil {
			return append([]*node{n.item}, way...)
		}
	}
	for _, m := range n.members {
		if m.hint == nil {
			continue
		}
		if to(m.hint) && m.values > 0 {
			return []*node{m}
		}
		if way := m.way(to); way != nil {
			return append([]*node{m}, way...)
		}
	}
	return nil
}

// within returns the shape of files in which the states are elements of the last list on the way to the known tick. It
// returns false if there is no such list.
func (s *Schema) within(base *node) (shape, bool) {
	if s.Hints == nil || s.Hints.Tick == "" {
		return shape{}, false
	}
	way := base.way(func(h *hint) bool { return h.tick })
	for i := len(way) - 2; i >= 0; i-- {
		if !way[i].holds() {
			continue
		}
		list, state, tick := way[i], way[i], way[i+1:]
		if list.lists > 0 {
			state, tick = way[i+1], way[i+2:]
		}
		if once(tick) || !state.flat() {
			return shape{state: state, list: list, tick: tick, peer: s.peer(state)}, true
		}
		break
	}
	return shape{}, false
}

// Paths returns all paths of the hints.
func (hs *Hints) Paths() (out []string) {
	for _, t := range hs.Tables {
		out = append(out, t.Path)
		for _, below := range append([]string{t.Key}, t.Position...) {
			if below != "" {
				out = append(out, strings.TrimPrefix(t.Path+"."+below, "."))
			}
		}
	}
	out = slices.Concat(out, []string{hs.Tick, hs.Peer}, hs.RNG, hs.Noise, hs.Cache)
	return slices.DeleteFunc(out, func(path string) bool { return path == "" })
}

// Has reports whether what was learned has a value at a path of the hints.
func (s *Schema) Has(path string) bool {
	if s.root == nil {
		return false
	}
	if below, ok := strings.CutPrefix(path, s.Table+"."); ok && s.Table != "" && s.root.has(below) {
		return true
	}
	return path == s.Table || s.root.has(path)
}

// has reports whether there is a value at a path from a node on.
func (n *node) has(path string) bool {
	if path == "" {
		return n.values > 0
	}
	if n.item != nil && n.item.has(path) {
		return true
	}
	ids := n.asMap() != inline
	return slices.ContainsFunc(n.members, func(m *node) bool {
		if below, ok := strings.CutPrefix(path+".", m.name+"."); ok {
			return m.has(strings.TrimSuffix(below, "."))
		}
		return ids && m.has(path)
	})
}
