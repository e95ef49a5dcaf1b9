package openttd

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

// The types of fields in a chunk's description: the kind in the low four bits,
// and a bit for "a gamma count comes first", which strings and structs always
// have.
const (
	kindMask   = 0x0f
	kindString = 10
	kindStruct = 11
	listBit    = 0x10
)

// kindTypes are the types of columns by kind of field. A boolean is an i8 to
// the save, a string id a u16, a reference to another record a u32.
var kindTypes = [...]snapshot.Type{
	1: snapshot.I8, 2: snapshot.U8, 3: snapshot.I16, 4: snapshot.U16, 5: snapshot.I32, 6: snapshot.U32,
	7: snapshot.I64, 8: snapshot.U64, 9: snapshot.U16, kindString: snapshot.String,
}

// packBase is the base in which the indices of nested lists are packed into
// one number.
const packBase = 1_000_000

// layout describes the records of one table, or the elements of one list, and
// collects their rows.
type layout struct {
	label   string
	depth   int // 0 for records, 1 for lists in them, and so on
	fields  []stateField
	columns []snapshot.Column

	// minSize is the size of the smallest element, 0 only for a struct without
	// fields.
	minSize uint64

	keysA []uint64
	keysB []uint64 // nil at depth 0
	rest  []rest
}

// field is a field of each record: a value, which goes to a column, or a list, which goes to a separate table.
type stateField struct {
	column int
	width  int     // of a value, 0 for a string
	sub    *layout // of a list
}

// rest is what a record has after the fields that its chunk describes.
type rest struct {
	row  int
	data []byte
}

func newLayout(label string, depth int) *layout {
	l := &layout{label: label, depth: depth}
	if depth > 0 {
		l.keysB = []uint64{}
	}
	return l
}

func (l *layout) addRow(a, b uint64) {
	l.keysA = append(l.keysA, a)
	if l.depth > 0 {
		l.keysB = append(l.keysB, b)
	}
}

// addColumn adds a column for values of a kind.
func (l *layout) addColumn(component, name string, kind byte) {
	column := snapshot.NewColumn(component, name, kindTypes[kind], 0)
	width := column.Type.Width()
	l.fields = append(l.fields, stateField{column: len(l.columns), width: width})
	l.columns = append(l.columns, column)
	l.minSize += uint64(max(width, 1))
}

// finish puts the columns into their order when all fields are known.
func (l *layout) finish() {
	order := make([]int, len(l.columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(l.columns[i].Field, l.columns[j].Field) })
	columns, places := make([]snapshot.Column, len(order)), make([]int, len(order))
	for to, from := range order {
		columns[to], places[from] = l.columns[from], to
	}
	l.columns = columns
	for i := range l.fields {
		if f := &l.fields[i]; f.sub == nil {
			f.column = places[f.column]
		}
	}
}

// deepest returns the depth of the deepest struct.
func (l *layout) deepest() int {
	n := l.depth
	for i := range l.fields {
		if sub := l.fields[i].sub; sub != nil {
			n = max(n, sub.deepest())
		}
	}
	return n
}

// reset forgets the rows of l and of the layouts inside it.
func (l *layout) reset() {
	l.keysA, l.keysB = l.keysA[:0], l.keysB[:0]
	clear(l.rest)
	l.rest = l.rest[:0]
	for i := range l.columns {
		c := &l.columns[i]
		c.Data, c.Ends = c.Data[:0], c.Ends[:0]
	}
	for i := range l.fields {
		if sub := l.fields[i].sub; sub != nil {
			sub.reset()
		}
	}
}

// size returns about how many bytes l and the layouts inside it take.
func (l *layout) size() int {
	n := layoutSize + len(l.label) + cap(l.columns)*columnSize + cap(l.rest)*restSize + 8*(cap(l.keysA)+cap(l.keysB))
	for i := range l.columns {
		c := &l.columns[i]
		n += len(c.Field) + cap(c.Data) + 4*cap(c.Ends)
	}
	for i := range l.fields {
		if sub := l.fields[i].sub; sub != nil {
			n += sub.size()
		}
	}
	return n
}

// collected is how much of each list in the layouts is copied.
type collected struct{ columns, keys, ends, data int }

func (n *collected) add(l *layout) {
	n.columns += len(l.columns)
	n.keys += copied(l.keysA) + copied(l.keysB)
	for i := range l.columns {
		n.data += copied(l.columns[i].Data)
		n.ends += copied(l.columns[i].Ends)
	}
	for i := range l.fields {
		if sub := l.fields[i].sub; sub != nil {
			n.add(sub)
		}
	}
}

// table returns the table of the collected values, without the layouts inside it.
func (l *layout) table(from *exact) snapshot.Table {
	t := snapshot.Table{Label: l.label}
	if n := len(l.columns); n > 0 {
		t.Columns, from.columns = from.columns[:n:n], from.columns[n:]
	}
	for i := range l.columns {
		c, to := &l.columns[i], &t.Columns[i]
		*to = snapshot.NewColumn(c.Component, c.Field, c.Type, 0)
		to.Data, to.Ends = take(&from.data, &c.Data), take(&from.ends, &c.Ends)
	}
	if len(l.rest) > 0 {
		c := l.restColumn()
		at, _ := slices.BinarySearchFunc(t.Columns, c.Field, func(c snapshot.Column, field string) int { return strings.Compare(c.Field, field) })
		t.Columns = slices.Insert(t.Columns, at, c)
	}
	t.Keys.A, t.Keys.B = take(&from.keys, &l.keysA), take(&from.keys, &l.keysB)
	if l.depth > 0 && t.Keys.B == nil {
		t.Keys.B = []uint64{}
	}
	return t
}

// restColumn returns the column of the bytes that records have after their fields.
func (l *layout) restColumn() snapshot.Column {
	c := snapshot.NewColumn(l.label, "rest", snapshot.Bytes, 0)
	for _, r := range l.rest {
		for c.Rows() < r.row {
			c.AppendAbsent()
		}
		c.AppendBytes(r.data)
	}
	for c.Rows() < len(l.keysA) {
		c.AppendAbsent()
	}
	return c
}

// readTables reads a chunk that describes itself. The error is an unflattened
// if the chunk must be kept as bytes.
func (d *decoder) readTables(typ byte) error {
	var l *layout
	err := d.eachRecord(typ, func(header bool) error {
		if header {
			var err error
			l, err = d.description()
			return err
		}
		if err := d.element(l, d.index, 0); err != nil {
			return err
		}
		if d.pos < d.end {
			l.rest = append(l.rest, rest{len(l.keysA) - 1, d.body[d.pos:d.end]})
			d.pos = d.end
		}
		return nil
	})
	if err != nil {
		return err
	}
	if slices.ContainsFunc(l.columns, func(c snapshot.Column) bool { return len(l.rest) > 0 && c.Field == "rest" }) {
		return unflattened(`a field is called "rest" and bytes follow it`)
	}
	d.addTables(l)
	return nil
}

// description reads the description that a chunk begins with. It is mostly the same as in the save before.
func (d *decoder) description() (*layout, error) {
	k, text := d.known, d.body[d.pos:d.end]
	if k.layout != nil && string(k.description) == string(text) && k.names <= d.namesLeft && !limits.Depth.Over(int64(k.depth)) {
		d.namesLeft -= k.names
		d.pos = d.end
		k.layout.reset()
		return k.layout, nil
	}
	names := d.namesLeft
	l, err := d.describe(d.chunk, d.chunk, 0, make(map[string]bool))
	if err != nil {
		return nil, err
	}
	if d.pos != d.end {
		return nil, d.errorf("%d bytes after the description", d.end-d.pos)
	}
	k.description, k.names, k.depth, k.layout = append(k.description[:0], text...), names-d.namesLeft, l.deepest(), l
	return l, nil
}

// describe reads the description of a table: a type and a name for each field until a type of 0, then the descriptions
// of the structs among them. Labels are the chunk's labels so far.
func (d *decoder) describe(label, component string, depth int, labels map[string]bool) (*layout, error) {
	if limits.Depth.Over(int64(depth)) {
		return nil, d.errorf("structs: %w", limits.Depth.Reached("", int64(depth)))
	}
	if len(label) > snapshot.MaxName {
		return nil, unflattened("label " + label[:64] + "… is too long")
	}
	if labels[label] {
		return nil, unflattened("two lists are called " + label)
	}
	labels[label] = true
	l := newLayout(label, depth)
	type structField struct {
		index int
		name  string
	}
	var structs []structField
	seen := make(map[string]bool)
	for {
		start := d.pos
		p, err := d.take(1, "a field's type")
		if err != nil {
			return nil, err
		}
		typ := p[0]
		if typ == 0 {
			break
		}
		kind, list := typ&kindMask, typ&listBit != 0
		if kind == 0 || kind > kindStruct || typ&^(kindMask|listBit) != 0 || kind == kindStruct && !list {
			return nil, d.errorAt(start, "unknown field type %#02x", typ)
		}
		name, err := d.fieldName()
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, unflattened("two fields of " + label + " are called " + name)
		}
		seen[name] = true
		if err := d.spendName(); err != nil {
			return nil, err
		}
		switch {
		case kind == kindStruct:
			structs = append(structs, structField{len(l.fields), name})
			l.fields = append(l.fields, stateField{})
			l.minSize++
		case list && kind != kindString:
			sub := newLayout(label+"."+name, depth+1)
			if len(sub.label) > snapshot.MaxName {
				return nil, unflattened("label of " + name + " is too long")
			}
			if labels[sub.label] {
				return nil, unflattened("two lists are called " + sub.label)
			}
			labels[sub.label] = true
			sub.addColumn(name, "value", kind)
			l.fields = append(l.fields, stateField{sub: sub})
			l.minSize++
		default:
			l.addColumn(component, name, kind)
		}
	}
	for _, s := range structs {
		sub, err := d.describe(label+"."+s.name, s.name, depth+1, labels)
		if err != nil {
			return nil, err
		}
		l.fields[s.index].sub = sub
	}
	l.finish()
	return l, nil
}

func (d *decoder) fieldName() (string, error) {
	n, err := d.gamma("the length of a field's name")
	if err != nil {
		return "", err
	}
	if n == 0 || n > snapshot.MaxName {
		return "", d.errorf("field name of %d bytes, expected 1 to %d", n, snapshot.MaxName)
	}
	start := d.pos
	p, err := d.take(n, "a field's name")
	if err != nil {
		return "", err
	}
	if !utf8.Valid(p) {
		return "", d.errorAt(start, "field name %q is not UTF-8", p)
	}
	return string(p), nil
}

// element reads one record, or one element of a list, into the row with the
// key (a, b).
func (d *decoder) element(l *layout, a, b uint64) error {
	if err := d.spendRows(1); err != nil {
		return err
	}
	l.addRow(a, b)
	for i := range l.fields {
		f := &l.fields[i]
		switch {
		case f.sub != nil:
			if err := d.list(f.sub, a, b); err != nil {
				return err
			}
		case f.width == 0:
			n, err := d.gamma("a string's length")
			if err != nil {
				return err
			}
			c := &l.columns[f.column]
			if n > uint64(d.end-d.pos) {
				_, err := d.take(n, c.Name())
				return err
			}
			c.AppendBytes(d.body[d.pos : d.pos+int(n)])
			d.pos += int(n)
		default:
			if f.width > d.end-d.pos {
				return d.errorf("expected %d bytes of %s, %d are left: %w",
					f.width, l.columns[f.column].Name(), d.end-d.pos, io.ErrUnexpectedEOF)
			}
			appendValue(&l.columns[f.column], d.body[d.pos:d.pos+f.width])
			d.pos += f.width
		}
	}
	return nil
}

// appendValue appends a big-endian value.
func appendValue(c *snapshot.Column, p []byte) {
	switch len(p) {
	case 1:
		c.Data = append(c.Data, p[0])
	case 2:
		c.Data = append(c.Data, p[1], p[0])
	case 4:
		c.Data = binary.LittleEndian.AppendUint32(c.Data, binary.BigEndian.Uint32(p))
	default:
		c.Data = binary.LittleEndian.AppendUint64(c.Data, binary.BigEndian.Uint64(p))
	}
}

// list reads a list of the element (a, b).
func (d *decoder) list(l *layout, a, b uint64) error {
	start := d.pos
	n, err := d.gamma("the length of a list")
	if err != nil {
		return err
	}
	first := uint64(0)
	if l.depth > 1 {
		if n > packBase {
			return unflattened(fmt.Sprintf("%s has %d elements in one list, more than a key can hold", l.label, n))
		}
		if n > 0 && b > math.MaxUint64/packBase-1 {
			return unflattened(l.label + " is nested too deep for a key")
		}
		first = b * packBase
	}
	switch left := uint64(d.end - d.pos); {
	case l.minSize == 0 && n > 1:
		return unflattened(fmt.Sprintf("%s has %d elements without fields", l.label, n))
	case n*l.minSize > left:
		return d.errorAt(start, "list %s of %d elements, %d bytes are left: %w", l.label, n, left, io.ErrUnexpectedEOF)
	}
	if n > uint64(d.rowsLeft) {
		return d.spendRows(int(n))
	}
	l.keysA = slices.Grow(l.keysA, int(n))
	l.keysB = slices.Grow(l.keysB, int(n))
	if len(l.fields) == 1 && l.fields[0].width > 0 {
		return d.values(l, a, first, int(n))
	}
	for i := range n {
		if err := d.element(l, a, first+i); err != nil {
			return err
		}
	}
	return nil
}

// values reads n elements that are one number each.
func (d *decoder) values(l *layout, a, first uint64, n int) error {
	if err := d.spendRows(n); err != nil {
		return err
	}
	width := l.fields[0].width
	column := &l.columns[0]
	column.Data = slices.Grow(column.Data, n*width)
	for i := range n {
		l.addRow(a, first+uint64(i))
		appendValue(column, d.body[d.pos:d.pos+width])
		d.pos += width
	}
	return nil
}
