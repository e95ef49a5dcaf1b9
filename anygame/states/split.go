package states

import (
	"bytes"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// list is a file that is one list of rows, with the columns that have a known role by their names; nil for the roles
// that it lacks.
type list struct {
	rows   int
	source *table
	cells  []cells

	tick, peer, kind, field, value *cells
	ids                            map[string]*cells // by kind
	heads                          []int             // of each row, the one before or at it that has the tick; nil if all rows have one
}

// cells are a column in which values are found by their rows.
type cells struct {
	column *column
	at     []int32 // of each row, the number of its value and 1
	given  int     // rows with a value
}

// get returns the value of a row, nil if it has none.
func (c *cells) get(row int) []byte {
	if c == nil || c.at[row] == 0 {
		return nil
	}
	return c.column.value(int(c.at[row]) - 1)
}

// fractions reports whether a value is a number that is not whole.
func (c *cells) fractions() bool {
	return slices.ContainsFunc(c.at, func(i int32) bool { return i > 0 && fraction(c.column.value(int(i)-1)) })
}

// why returns why a column identifies rows.
func (c *cells) why() Why {
	if c.column.hint != nil && c.column.hint.key != nil {
		return Described
	}
	if idRank(c.column.field) == 0 {
		return ByStable
	}
	return ByID
}

// full reports whether every row has a value.
func (c *cells) full() bool { return c != nil && c.given == len(c.at) }

// split makes states of a list of rows: one for each tick and peer.
func (b *builder) split() {
	if !b.settle() {
		return
	}
	b.cells, b.given = 0, 0 // they are counted again in the states
	var t *table
	for _, other := range b.tables[1:] {
		if other.parent == nil && len(other.keys) > 0 {
			t = other
			break
		}
	}
	if t == nil || len(b.tables[0].columns) > 0 {
		b.finish()
		return
	}
	rows := len(t.keys)
	if slices.ContainsFunc(b.stack, func(o open) bool { return o.row && o.spot.home == t }) {
		rows-- // the text is cut in the last one
	}
	l := newList(t, rows, b.schema.Hints)
	if l.tick == nil && len(b.shape.tick) == 1 {
		l.paced(b.shape.tick[0].name)
	}
	if l.tick == nil && l.peer == nil && l.kind == nil && l.field == nil {
		b.finish()
		return
	}
	if l.tick != nil {
		b.found.Tick = b.schema.inFile(l.tick.column.path)
	}
	if l.peer != nil {
		b.found.Peer = b.schema.inFile(l.peer.column.path)
	}
	owned := map[*table][]*table{}
	for _, c := range b.tables {
		owned[c.parent] = append(owned[c.parent], c)
	}
	below := belowOf(t, owned, b.schema.Hints)
	b.forget()
	for _, group := range l.groups() {
		if raw := l.tickOf(group[0]); raw != nil {
			tick, _ := tickOf(notation.Bare, raw)
			b.head.Point, b.ticked = snapshot.Point{Tick: tick}, true
		}
		b.head.Peer = peerName(bytes.TrimPrefix(l.peer.get(group[0]), []byte(`"`)))
		b.fill(l, group, below)
		b.finish()
		b.forget()
	}
}

// newList finds the columns that show what the first rows of a table belong to.
func newList(t *table, rows int, hints *Hints) *list {
	l := &list{rows: rows, source: t}
	for _, c := range t.columns {
		x := cells{column: c, at: make([]int32, rows)}
		for i := range c.ends {
			if row := c.row(i); row < rows {
				x.at[row] = int32(i) + 1
				x.given++
			}
		}
		l.cells = append(l.cells, x)
	}
	l.peer, l.kind = l.named(peerWords), l.named(kindWords)
	if l.tick = l.named(tickWords); l.tick == nil && l.kind != nil {
		l.tick = l.best(tickWords, l.ofKinds)
	} else if l.tick == nil {
		l.tick = l.best(tickWords, func(c *cells) bool { return l.headsIn(c) != nil })
	}
	if hints != nil && hints.Tick != "" {
		l.tick = l.hinted(func(h *hint) bool { return h.tick })
	}
	if hints != nil && hints.Peer != "" {
		l.peer = l.hinted(func(h *hint) bool { return h.peer })
	}
	if l.tick != nil && !l.tick.ticks() {
		l.tick = nil
	}
	l.heads = l.headsIn(l.tick)
	l.field, l.value = l.named(fieldWords), l.named(valueWords)
	if l.field == nil || l.value == nil {
		l.field, l.value = nil, nil
	}
	l.identify()
	return l
}

// paced takes the column of a name for the tick, if each of its ticks has rows with ids.
func (l *list) paced(name string) {
	i := slices.IndexFunc(l.cells, func(c cells) bool { return c.column.path == name || strings.HasSuffix(c.column.path, "."+name) })
	if i < 0 || !l.cells[i].full() || !l.cells[i].ticks() {
		return
	}
	l.tick = &l.cells[i]
	if l.identify(); !l.identified() {
		l.tick = nil
		l.identify()
	}
}

// recurs reports whether a value recurs: an id does so in the next state, a pointer does not.
func (c *cells) recurs() bool {
	seen := map[string]bool{}
	return slices.ContainsFunc(c.at, func(i int32) bool {
		if i == 0 {
			return false
		}
		value := string(c.column.value(int(i) - 1))
		again := seen[value]
		seen[value] = true
		return again
	})
}

// steady reports whether a column has the same whole numbers in most of many states, as ids have.
func (c *cells) steady(states int) bool {
	seen := map[string]bool{}
	for row := range c.at {
		raw := c.get(row)
		if raw == nil {
			continue
		}
		if _, ok := tickOf(notation.Bare, raw); !ok {
			return false
		}
		if seen[string(raw)] = true; 2*len(seen)*states > 3*c.given {
			return false
		}
	}
	return states >= fewestSteps && len(seen) > 1
}

// recurring reports whether a column has the same texts in most states of the session, as names of rows have: few texts, of
// which a state of this file has most.
func (c *cells) recurring(states int) bool {
	n := c.column.node
	if n == nil || n.unique == nil || n.scalars[notation.Text] < n.values {
		return false
	}
	texts := len(n.unique.seen)
	return texts > 1 && fewestSame*texts <= n.unique.values && 2*texts*states <= 3*c.given
}

// ticks reports whether all values are ticks.
func (c *cells) ticks() bool {
	for row := range c.at {
		if _, ok := tickOf(notation.Bare, c.get(row)); !ok && c.at[row] > 0 {
			return false
		}
	}
	return true
}

// ofKinds reports whether all rows of some kinds have a value and no row of the others, as tables of a database do.
func (l *list) ofKinds(c *cells) bool {
	has := map[string]bool{}
	for row := range c.at {
		kind, is := string(l.kindOf(row)), c.at[row] > 0
		if before, ok := has[kind]; ok && before != is {
			return false
		}
		has[kind] = is
	}
	return true
}

// named returns the column that has a value in every row and a name that comes first in a list of words.
func (l *list) named(words []string) *cells { return l.best(words, (*cells).full) }

// best returns the column that fits and has a name that comes first in a list of words.
func (l *list) best(words []string, fits func(*cells) bool) (best *cells) {
	score := 0
	for i := range l.cells {
		c := &l.cells[i]
		if r := rank(words, c.column.field); r > score && fits(c) {
			best, score = c, r
		}
	}
	return best
}

// hinted returns the column that is known beforehand and has a value in every row.
func (l *list) hinted(is func(*hint) bool) *cells {
	for i := range l.cells {
		if c := &l.cells[i]; c.column.hint != nil && is(c.column.hint) && c.full() {
			return c
		}
	}
	return nil
}

// identify finds the columns that identify the rows of each kind: those that are called id or the like, and unique in a
// state, or else have the same values in most states. Where a row is one field of an entity, they need not be unique.
func (l *list) identify() {
	l.ids = map[string]*cells{}
	known := l.hinted(func(h *hint) bool { return h.key != nil })
	for row := range l.rows {
		l.ids[string(l.kindOf(row))] = known
	}
	if known != nil {
		return
	}
	groups := len(l.groups())
	several := groups > 1
	score := map[string]int{} // by kind
	for i := range l.cells {
		c := &l.cells[i]
		r := 2 * idRank(c.column.field)
		if r == 0 && (c.steady(groups) || c.recurring(groups)) {
			r = 1
		}
		if r == 0 || c == l.tick || c == l.peer || c == l.kind || c == l.field || c == l.value || c.fractions() || several && !c.recurs() {
			continue
		}
		broken := l.broken(c)
		for kind := range l.ids {
			if r > score[kind] && !broken[kind] {
				l.ids[kind], score[kind] = c, r
			}
		}
	}
}

// broken returns the kinds for which a column does not identify rows: a row has no value, or two rows of one state have
// the same value.
func (l *list) broken(c *cells) map[string]bool {
	out, seen := map[string]bool{}, map[string]bool{}
	var key []byte
	for row := range l.rows {
		kind, raw := l.kindOf(row), c.get(row)
		key = append(append(l.group(key[:0], row), kind...), 0)
		key = append(key, raw...)
		if raw == nil || l.field == nil && seen[string(key)] {
			out[string(kind)] = true
		}
		seen[string(key)] = true
	}
	return out
}

// headsIn finds the rows with ticks that other rows follow, World(turn=72), Unit(id=4), Unit(id=5): each tick is in one row, and
// some rows of the tick come after it. Where there is one tick, all rows belong to it.
func (l *list) headsIn(ticks *cells) []int {
	if ticks == nil || ticks.given == 0 || ticks.full() {
		return nil
	}
	out, seen, last := make([]int, l.rows), map[string]bool{}, -1
	for row := range l.rows {
		if tick := string(ticks.get(row)); tick != "" {
			if seen[tick] || last == row-1 && row > 0 {
				return nil
			}
			seen[tick], last = true, row
		}
		out[row] = max(last, 0)
	}
	if len(seen) == 1 {
		for row := range out {
			out[row] = last
		}
	}
	return out
}

// headKind is the kind of the rows that have the tick of the rows below them, if no column has kinds.
const headKind = "head"

// kindOf returns the kind of a row, nil if it has none.
func (l *list) kindOf(row int) []byte {
	if l.kind == nil && l.heads != nil && l.heads[row] == row {
		return []byte(headKind)
	}
	return l.kind.get(row)
}

// tickOf returns the tick of a row, nil if it has none.
func (l *list) tickOf(row int) []byte {
	if l.heads != nil {
		row = l.heads[row]
	}
	return l.tick.get(row)
}

// group appends what the state of a row has apart from others.
func (l *list) group(dst []byte, row int) []byte {
	dst = append(append(dst, l.peer.get(row)...), 0)
	return append(append(dst, l.tickOf(row)...), 0)
}

// groups returns the rows of each state, in the order in which the states begin.
func (l *list) groups() (out [][]int) {
	number := map[string]int{}
	var key []byte
	for row := range l.rows {
		key = l.group(key[:0], row)
		i, ok := number[string(key)]
		if !ok {
			i = len(out)
			number[string(key)] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], row)
	}
	return out
}

// lower is a table with rows that belong to the rows of another table.
type lower struct {
	label string        // follows the label of the table above
	of    map[int][]int // the rows that belong to a row
	list  *list
	keys  []uint64
	below []lower
}

// belowOf returns the tables with rows that belong to the rows of a table. Owned contains such tables by the table that
// they belong to.
func belowOf(t *table, owned map[*table][]*table, hints *Hints) (out []lower) {
	for _, c := range owned[t] {
		x := lower{label: strings.TrimPrefix(c.label, t.label), of: map[int][]int{}, list: newList(c, len(c.keys), hints), keys: c.keys, below: belowOf(c, owned, hints)}
		for row, owner := range c.owners {
			x.of[int(owner)] = append(x.of[int(owner)], row)
		}
		out = append(out, x)
	}
	return out
}

// fillBelow adds the rows that belong to a row.
func (b *builder) fillBelow(t *table, to, from int, below []lower) {
	for i := range below {
		x := &below[i]
		for _, row := range x.of[from] {
			c := b.table(clip(t.label+x.label), t)
			c.path, c.key, c.why = x.list.source.path, x.list.source.key, x.list.source.why
			t.current = to
			at := c.addRow(0)
			c.keys[at] = x.keys[row]
			for k := range x.list.cells {
				cell := &x.list.cells[k]
				if raw := cell.get(row); raw != nil {
					to := c.columnOf(cell.column.component, cell.column.field)
					to.class, to.path = cell.column.class, cell.column.path
					to.addRaw(at, raw)
				}
			}
			b.fillBelow(c, at, row, x.below)
		}
	}
}

// fill puts rows into the tables of a state.
func (b *builder) fill(l *list, group []int, below []lower) {
	byKey := map[rowKey]int{}
	byPlace := l.field == nil && !l.identified() // no two rows have one key
	for _, row := range group {
		label := l.source.label
		if kind := l.kindOf(row); kind != nil {
			label = clip(string(bytes.TrimPrefix(kind, []byte(`"`))))
		}
		t := b.table(label, b.tables[0])
		at := rowKey{t, uint64(len(t.keys))}
		identity := l.ids[string(l.kindOf(row))]
		id := identity.get(row)
		if l.field != nil {
			at.key = 0
		}
		if id != nil {
			at.key = keyOf(notation.Bare, bytes.TrimPrefix(id, []byte(`"`)))
			t.identify(strings.TrimPrefix(strings.TrimPrefix(identity.column.path, l.source.path), "."), identity.why())
		} else if l.field != nil {
			t.why = OnlyRow
		}
		t.path = l.source.path
		to, ok := 0, false
		if !byPlace {
			to, ok = byKey[at]
		}
		if row < len(l.source.starts) {
			b.fit(l.source, row, id != nil, ok && l.field == nil)
		}
		if !ok {
			to = t.addRow(0)
			t.keys[to] = at.key
			if !byPlace {
				byKey[at] = to
			}
		}
		if l.field != nil {
			if id != nil && !ok {
				t.columnOf(clip(label), identity.column.field).addRaw(to, id)
			}
			name := string(bytes.TrimPrefix(l.field.get(row), []byte(`"`)))
			t.newColumn(name).addRaw(to, l.value.get(row))
			continue
		}
		for i := range l.cells {
			c := &l.cells[i]
			if raw := c.get(row); raw != nil && c != l.tick && c != l.peer && c != l.kind {
				column := t.columnOf(c.component(l, label), c.column.field)
				column.class, column.path = c.column.class, c.column.path
				column.addRaw(to, raw)
			}
		}
		b.fillBelow(t, to, row, below)
	}
}

// identified reports whether a column identifies rows.
func (l *list) identified() bool {
	for _, c := range l.ids {
		if c != nil {
			return true
		}
	}
	return false
}

// component returns the component of a column in the table of that label.
func (c *cells) component(l *list, label string) string {
	if c.column.component == l.source.label {
		return clip(label)
	}
	return c.column.component
}

// rowKey is the key of a row in a table.
type rowKey struct {
	table *table
	key   uint64
}
