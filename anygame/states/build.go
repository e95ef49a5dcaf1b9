package states

import (
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

// builder is the Sink that makes tables.
type builder struct {
	schema *Schema
	shape  shape
	whole  bool // the file is one state, or a list of rows
	root   *spot
	tables []*table // in the order in which they were made
	labels map[string]*table
	like   map[string]map[[2]string]*snapshot.Column // by label, component and field
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
	times int    // how often a row may recur
	bare  bool   // a document is a value that is no map and no list
}

// open is an open map or list.
type open struct {
	spot  *spot
	list  bool
	rows  bool // its members or elements are rows
	row   bool // it is a row itself
	base  int  // the first row of a table by columns
	index int  // of the element that comes
	back  int  // the current row of home, when it ends
	id    int  // of a map
}

// newBuilder returns the builder of one file.
func newBuilder(s *Schema) *builder {
	b := &builder{schema: s, shape: s.shape(), labels: map[string]*table{}, like: s.before.columns(), times: s.documents}
	b.whole = b.shape.table || b.shape.list == nil && !b.shape.each
	b.table(GlobalLabel, nil)
	if b.shape.table && b.shape.each { // as if the documents were elements of a list
		all := newNode("")
		all.lists, all.item, b.times = 1, s.root, s.files
		b.shape.state = all
		file := b.newSpot(nil, all, "", false)
		b.rowsOf(file)
		b.stack = append(b.stack, open{spot: file, list: true, rows: true})
		return b
	}
	b.root = b.newSpot(nil, s.root, "", false)
	return b
}

// forget leaves only the table of the global values.
func (b *builder) forget() {
	b.tables = b.tables[:1]
	b.labels = map[string]*table{GlobalLabel: b.tables[0]}
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
	case top.spot.inTable && top.list:
		s = b.elementOf(top.spot)
		back = s.home.current
		if s.home.current = top.base + top.index; s.home.current == len(s.home.keys) {
			s.home.addRow(top.index)
		}
		top.index++
		return s, true, back
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
	base := 0
	if s.columnar && !list && s.home != nil {
		b.rowsOf(s)
		base = len(s.own.keys)
	} else if s.inTable && list {
		base = b.stack[len(b.stack)-1].base
	}
	b.maps++
	b.stack = append(b.stack, open{spot: s, list: list, rows: isRows, row: row, base: base, back: back, id: b.maps})
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
		if tick, ok := tickName(name); ok && b.shape.named {
			b.head.Point, b.ticked = snapshot.Point{Tick: tick}, true
		}
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
	switch n := s.node; {
	case n != nil && n.commas > 0 && n.hasDecimals():
		if with := decimal(text); with != nil {
			kind, text = notation.Number, with
		}
	case n != nil && n.vectors > 0 && n.vectors == n.values && !s.identity && b.takeVector(s, vectorIn(text)):
		return
	}
	if s.column == nil {
		s.column = t.newColumn(s.path)
		s.column.hint, s.column.node, s.column.class, s.column.path = s.hint, s.node, s.class, s.full
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
