package states

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// valueField is the column of a row that is one scalar.
const (
	valueField = "value"
	rowsLabel  = "rows" // the label of a table without a name
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

// table is a table that grows while a state is read.
type table struct {
	label   string
	hint    *Table
	class   snapshot.Class
	parent  *table
	owners  []int32  // of each row, its row in parent
	keys    []uint64 // of each row
	flat    []uint64 // of each row, a key of one part, for the rows that belong to it
	columns []*column
	named   map[[2]string]*column // of them, by component and field
	current int
	byName  map[nameOf]int32 // the rows of maps with ids as names

	path   string // of its list or map, from the document
	key    string // the path from a row to its identity, empty if nothing in the row identifies it
	why    Why
	starts []int  // offsets of the rows, where the hints have the key
	set    []bool // of the same rows, whether they have their key
}

// nameOf is the name of a row within its owner.
type nameOf struct {
	owner int32
	key   uint64
}

// column is a column that grows.
type column struct {
	component, field string
	path             string // from the document, empty if it has none
	hint             *hint
	class            snapshot.Class
	data             []byte
	ends             []uint32
	rows             []int32   // of each value, nil while they are 0, 1, 2, …
	again            []*column // for the second and further values of a row
	last             int       // the largest number in their names, less one
}

// add appends a value of a row. A row may be given several: see apart.
func (c *column) add(row int, kind notation.Kind, text []byte) {
	c.begin(row)
	c.data = appendScalar(c.data, kind, text)
	c.ends = append(c.ends, uint32(len(c.data)))
}

// addRaw is add for a value as a snapshot.Scalar holds it.
func (c *column) addRaw(row int, raw []byte) {
	c.begin(row)
	c.data = append(c.data, raw...)
	c.ends = append(c.ends, uint32(len(c.data)))
}

// begin notes that the next value belongs to a row.
func (c *column) begin(row int) {
	if c.rows == nil && row != len(c.ends) {
		c.rows = make([]int32, len(c.ends), len(c.ends)+16)
		for i := range c.rows {
			c.rows[i] = int32(i)
		}
	}
	if c.rows != nil {
		c.rows = append(c.rows, int32(row))
	}
}

// appendScalar appends a value as a snapshot.Scalar holds it.
func appendScalar(dst []byte, kind notation.Kind, text []byte) []byte {
	switch kind {
	case notation.Null:
		return append(dst, "null"...)
	case notation.Bool:
		return append(dst, text...)
	case notation.Number:
		if out, ok := snapshot.AppendNumber(dst, text); ok {
			return out
		}
	case notation.Bytes:
		return append(append(dst, 'x'), text...)
	case notation.Bare:
		switch string(text) {
		case "true", "True", "TRUE":
			return append(dst, "true"...)
		case "false", "False", "FALSE":
			return append(dst, "false"...)
		}
		if number(text) {
			if out, ok := snapshot.AppendNumber(dst, text); ok {
				return out
			}
		}
	}
	return append(append(dst, '"'), text...)
}

// number reports whether a bare text is a number: one with leading zeros is not.
func number(text []byte) bool {
	digits := bytes.TrimPrefix(text, []byte("-"))
	return len(digits) > 0 && digits[0]-'0' <= 9 && (digits[0] != '0' || len(digits) == 1 || digits[1] == '.' || digits[1]|0x20 == 'e')
}

// builder is the Sink that makes tables.
type builder struct {
	schema *Schema
	shape  shape
	whole  bool // the file is one state, or a list of rows
	root   *spot
	tables []*table // in the order in which they were made
	labels map[string]*table
	head   snapshot.Head
	ticked bool // the state has a tick
	random []byte
	worlds []*snapshot.World
	cells  int // rows times columns of all worlds
	given  int // values of them
	found  Found
	at     int // the offset of the map or list that began last
	err    error

	stack []open
	next  *spot  // of the value that comes
	item  bool   // it is an element, in a notation without lists
	named []byte // its name, if that is the id of a row
	maps  int    // begun so far
	bare  bool   // a document is a value that is no map and no list
}

// open is an open map or list.
type open struct {
	spot  *spot
	list  bool
	rows  bool // its members or elements are rows
	row   bool // it is a row itself
	index int  // of the element that comes
	back  int  // the current row of home, when it ends
	id    int  // of a map
}

// newBuilder returns the builder of one file.
func newBuilder(s *Schema) *builder {
	b := &builder{schema: s, shape: s.shape(), labels: map[string]*table{}}
	b.whole = b.shape.table || b.shape.list == nil && !b.shape.each
	b.table(GlobalLabel, nil)
	if b.shape.table && b.shape.each { // as if the documents were elements of a list
		all := newNode("")
		all.lists, all.item = 1, s.root
		b.shape.state = all
		file := b.newSpot(nil, all, "", false)
		b.rowsOf(file)
		b.stack = append(b.stack, open{spot: file, list: true, rows: true})
		return b
	}
	b.root = b.newSpot(nil, s.root, "", false)
	return b
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
		s.identity = !element && parent.places && !parent.hint.keyed() && parent.node.identity(b.schema.documents, parent.named) == n
	}
	if s.identity {
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
	if label == "" {
		label = table
	}
	switch label {
	case "":
		return rowsLabel
	case GlobalLabel:
		return GlobalLabel + "." + rowsLabel
	}
	return bounded(label)
}

// table returns the table of a label, which is made the first time. Its rows belong to rows of another one, if that is not
// the one with the global values.
func (b *builder) table(label string, parent *table) *table {
	if t := b.labels[label]; t != nil {
		return t
	}
	t := &table{label: label, current: -1, why: ByPlace}
	if parent == nil {
		t.why = OnlyRow
		t.addRow(0)
	} else if parent != b.tables[0] {
		t.parent = parent
	}
	b.tables, b.labels[label] = append(b.tables, t), t
	return t
}

// forget leaves only the table of the global values.
func (b *builder) forget() {
	b.tables = b.tables[:1]
	b.labels = map[string]*table{GlobalLabel: b.tables[0]}
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

// begin returns the spot of a value that begins, and adds the row that it is.
func (b *builder) begin() (s *spot, row bool, back int) {
	if len(b.stack) == 0 {
		return b.root, false, 0
	}
	top := &b.stack[len(b.stack)-1]
	s = b.next
	b.next = nil
	switch {
	case s != nil && b.item && s.node != nil && s.node.repeated:
		if s.within != top.id {
			s.within, s.items = top.id, 0
		}
		if !s.list {
			b.rowsOf(s)
		}
		e := b.elementOf(s)
		s.items++
		if s.own == nil {
			return e, false, 0
		}
		back = e.home.current
		e.home.start(e.home.addRow(s.items-1), b.at)
		return e, true, back
	case s != nil:
		return s, false, 0
	case top.rows:
		s = b.elementOf(top.spot)
		back = s.home.current
		if top.list {
			s.home.start(s.home.addRow(top.index), b.at)
			top.index++
		} else {
			s.home.namedRow(b.named, b.at)
		}
		return s, true, back
	case top.spot.list:
		return b.elementOf(top.spot), false, 0
	}
	var name [8]byte // an element of a short list of numbers
	s = b.child(top.spot, strconv.AppendInt(name[:0], int64(top.index), 10))
	top.index++
	return s, false, 0
}

// push opens a map or list.
func (b *builder) push(list bool) {
	s, row, back := b.begin()
	kind := s.asMap
	if list {
		kind = s.asList
	}
	isRows := kind != inline && s.home != nil && !s.list
	if isRows {
		b.rowsOf(s)
	}
	b.maps++
	b.stack = append(b.stack, open{spot: s, list: list, rows: isRows, row: row, back: back, id: b.maps})
}

// rowsOf makes the table of the elements of a spot the first time.
func (b *builder) rowsOf(s *spot) {
	if s.own == nil && s.home != nil {
		s.own = b.table(s.label(cmp.Or(b.schema.Table, b.schema.Unnamed)), s.home)
		s.own.class, s.own.path = s.class, s.full
		if s.hint.isTable() {
			s.own.hint = s.hint.table
		}
	}
}

// BeginMap implements notation.Sink.
func (b *builder) BeginMap(at int) { b.at = at; b.push(false) }

// BeginList implements notation.Sink.
func (b *builder) BeginList(at int) { b.at = at; b.push(true) }

// End implements notation.Sink.
func (b *builder) End(int) {
	top := b.stack[len(b.stack)-1]
	b.stack = b.stack[:len(b.stack)-1]
	if top.row {
		top.spot.home.current = top.back
	}
	if top.spot.state && !b.whole {
		b.finish()
	}
}

// Name implements notation.Sink.
func (b *builder) Name(name []byte) {
	b.item = false
	top := &b.stack[len(b.stack)-1]
	switch {
	case top.rows && !top.list && !top.spot.node.apart(name):
		b.named = append(b.named[:0], name...)
		return
	case top.spot.list && top.spot.node.collapsed:
		b.next = b.elementOf(top.spot)
		return
	}
	b.next = b.child(top.spot, name)
}

// Item implements notation.Sink.
func (b *builder) Item(name []byte) {
	b.Name(name)
	b.item = true
}

// Scalar implements notation.Sink.
func (b *builder) Scalar(kind notation.Kind, text []byte) {
	if len(b.stack) == 0 {
		b.bare = b.bare || kind != notation.Null
		return
	}
	s, row, back := b.begin()
	b.take(s, kind, text)
	if row {
		s.home.current = back
	}
}

// take takes a scalar in the current row.
func (b *builder) take(s *spot, kind notation.Kind, text []byte) {
	switch {
	case s.home == nil || s.home.current < 0 || b.err != nil:
		return
	case s.tick:
		b.takeTick(kind, text)
		b.found.Tick = b.schema.inFile(s.full)
		return
	case s.peer && kind != notation.Null:
		b.head.Peer = peerName(text)
		b.found.Peer = b.schema.inFile(s.full)
		return
	case s.rng:
		b.random = append(append(b.random, s.path...), ' ')
		b.random = append(appendScalar(b.random, kind, text), '\n')
		return
	}
	t := s.home
	if n := s.node; n != nil && n.vectors > 0 && n.vectors == n.values && !s.identity && b.takeVector(s, vectorIn(text)) {
		return
	}
	if s.column == nil {
		s.column = t.newColumn(s.path)
		s.column.hint, s.column.class, s.column.path = s.hint, s.class, s.full
	}
	s.column.add(t.current, kind, text)
	if s.identity && kind != notation.Null {
		t.setKey(t.current, kind, text)
	}
}

// takeVector takes the numbers of a text as fields. It reports whether there were any.
func (b *builder) takeVector(s *spot, numbers [][]byte) bool {
	for i, number := range numbers {
		if i == len(s.vector) {
			c := s.home.newColumn(s.path + "." + strconv.Itoa(i))
			c.hint, c.class, c.path = s.hint, s.class, join(s.full, strconv.Itoa(i))
			s.vector = append(s.vector, c)
		}
		s.vector[i].add(s.home.current, notation.Bare, number)
	}
	return len(numbers) > 0
}

// peerName returns the name of a peer as a state may hold it.
func peerName(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), snapshot.MaxName)]), "\uFFFD")
}

// takeTick takes the tick of the state.
func (b *builder) takeTick(kind notation.Kind, text []byte) {
	if tick, ok := tickOf(kind, text); ok {
		b.head.Point = snapshot.Point{Tick: tick}
		b.ticked = true
	}
}

// tickOf returns a tick by its text.
func tickOf(kind notation.Kind, text []byte) (uint64, bool) {
	var raw [64]byte
	if kind == notation.Text {
		kind = notation.Bare
	}
	tick, err := strconv.ParseUint(string(appendScalar(raw[:0], kind, text)), 10, 63)
	return tick, err == nil
}
