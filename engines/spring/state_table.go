package spring

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	stateMaxFields = 4096 // of a table
	maxVector      = 16   // numbers in angle brackets
)

// table collects the rows of one table. The last row is the current one. The table of one state is used again for other
// states: its slots and columns are useful for them.
type table struct {
	label string
	class snapshot.Class
	two   bool // keys have two parts
	keysA []uint64
	keysB []uint64

	state   int       // number of the one that is being read
	columns []*column // that it has
	all     []*column // that any state had
	named   map[name]*use
	slots   map[name]*slot
	slotted int    // about how many bytes slots take
	start   slot   // before the first line of a row
	last    *slot  // of the line before
	row     int    // number of the current row among the rows of all states
	hint    int    // rows to make room for
	cells   *cells // of all tables
}

// column is a column with the number of its rows.
type column struct {
	snapshot.Column
	rows  int
	state int // that had it last
	use   *use
}

// use is the state that last had a column of a name. There may be several columns of one name, but not in
// one state.
type use struct{ state int }

// name is the name of the value in a line.
type name struct{ component, key string }

// slot is where the values after a key go, by their shape.
type slot struct {
	name
	class   class
	columns [shapes]*column
	axes    []*column
	next    *slot // what followed it in the row before
	again   *slot // the same key another time in a row
	row     int   // in which it was last met
}

// shape is the shape of a value. Each has a separate column.
type shape int

const (
	integer shape = iota
	decimal
	hash // of a vector
	stateText
	present // a line without a value
	shapes
)

// shapeOf has, for each shape, the type of its column, and the suffix of a key that distinguishes the column from
// columns with other shapes of the key's class.
var shapeOf = [shapes]struct {
	typ    snapshot.Type
	suffix string
	bare   [classes]bool // nothing is added to a key of the class
}{
	integer:   {typ: snapshot.I64, suffix: "#int", bare: [classes]bool{plain: true}},
	decimal:   {typ: snapshot.F32, suffix: "#number", bare: [classes]bool{float: true, parameter: true}},
	hash:      {typ: snapshot.U32, suffix: ".hash"},
	stateText: {typ: snapshot.String, suffix: "#text", bare: [classes]bool{word: true}},
	present:   {typ: snapshot.Bool},
}

// reset makes the table ready for another state.
func (t *table) reset(state int, two bool, cells *cells) {
	t.state, t.two, t.cells = state, two, cells
	t.class, t.last, t.hint = snapshot.Archetype, nil, 0
	t.keysA, t.keysB, t.columns = t.keysA[:0], t.keysB[:0], t.columns[:0]
}

// size returns about how many bytes the table takes.
func (t *table) size() int {
	n := t.slotted + 8*(cap(t.keysA)+cap(t.keysB))
	for _, c := range t.all {
		n += columnSize + len(c.Field) + cap(c.Data) + 4*cap(c.Ends)
	}
	return n
}

// About how many bytes a slot and a column take.
const (
	slotSize   = 384
	columnSize = 384
)

// begin begins a row.
func (t *table) begin(a, b uint64) {
	t.row++
	t.keysA = append(t.keysA, a)
	if t.two {
		t.keysB = append(t.keysB, b)
	}
	t.last = &t.start
}

// at returns the slot of a key in the current row. Rows repeat each other's lines,
// so that what followed the slot before is tried first.
func (t *table) at(component string, key []byte) *slot {
	s := t.last.next
	if s == nil || s.key != string(key) || s.component != component {
		if s = t.slots[name{component, string(key)}]; s == nil {
			s = &slot{name: name{component, string(key)}}
			s.class = classOf(s.key)
			t.slots[s.name] = s
			t.slotted += slotSize + len(key)
		}
		t.last.next = s
	}
	t.last = s
	for n := 2; s.row == t.row; n++ {
		if s.again == nil {
			t.slotted += slotSize + len(key)
			s.again = &slot{name: name{component, fmt.Sprintf("%s#%d", key, n)}, class: s.class}
		}
		s = s.again
	}
	s.row = t.row
	return s
}

// column returns c, ready to take the value of the current row. It makes it if it
// is nil.
func (t *table) column(c *column, component, field string, typ snapshot.Type) (*column, error) {
	if c == nil || c.state != t.state {
		var err error
		if c, err = t.enter(c, component, field, typ); err != nil {
			return nil, err
		}
	}
	absent := len(t.keysA) - 1 - c.rows
	if err := t.cells.add(absent, 1); err != nil {
		return nil, err
	}
	for range absent {
		c.AppendAbsent()
	}
	c.rows = len(t.keysA)
	return c, nil
}

// enter adds c to the columns of the state. It makes it if it is nil.
func (t *table) enter(c *column, component, field string, typ snapshot.Type) (*column, error) {
	if len(t.columns) == stateMaxFields {
		return nil, fmt.Errorf("%s has more than %d fields", t.label, stateMaxFields)
	}
	if c == nil {
		switch {
		case component == "" || field == "" || len(component) > snapshot.MaxName || len(field) > snapshot.MaxName:
			return nil, fmt.Errorf("key of %d bytes, expected 1 to %d", len(field), snapshot.MaxName)
		case !utf8.ValidString(component) || !utf8.ValidString(field):
			return nil, fmt.Errorf("key %.40q is not UTF-8", field)
		}
		n := name{component, field}
		u := t.named[n]
		if u == nil {
			u = new(use)
			t.named[n] = u
		}
		c = &column{Column: snapshot.NewColumn(component, field, typ, 0), use: u}
		t.all = append(t.all, c)
	}
	if c.use.state == t.state {
		return nil, fmt.Errorf("%.40q is the name of two fields of %s", c.Field, t.label)
	}
	c.state, c.use.state, c.rows = t.state, t.state, 0
	c.Ends, c.Present = c.Ends[:0], nil
	if c.Data = c.Data[:0]; cap(c.Data) == 0 {
		c.Data = make([]byte, 0, t.hint*c.Type.Width())
	}
	t.columns = append(t.columns, c)
	return c, nil
}

// appendBits appends the value of a row that column has made ready.
func (c *column) appendBits(bits uint64) {
	switch {
	case c.Present != nil || c.Type == snapshot.Bool:
		c.AppendUint(bits)
	case c.Type == snapshot.I64:
		c.Data = binary.LittleEndian.AppendUint64(c.Data, bits)
	default:
		c.Data = binary.LittleEndian.AppendUint32(c.Data, uint32(bits))
	}
}

// shaped returns the column of a slot for values of a shape, ready for one.
func (t *table) shaped(s *slot, shape shape) (*column, error) {
	if c := s.columns[shape]; c != nil {
		return t.column(c, "", "", 0)
	}
	of, field := &shapeOf[shape], s.key
	if !of.bare[s.class] {
		field += of.suffix
	}
	c, err := t.column(nil, s.component, field, of.typ)
	s.columns[shape] = c
	return c, err
}

// putBits appends a number.
func (t *table) putBits(s *slot, shape shape, bits uint64) error {
	c, err := t.shaped(s, shape)
	if err == nil {
		c.appendBits(bits)
	}
	return err
}

// putText appends text, which is kept byte by byte.
func (t *table) putText(s *slot, value []byte) error {
	c, err := t.shaped(s, stateText)
	if err == nil {
		c.AppendBytes(value)
	}
	return err
}

// mark records a line without a value. It returns the key.
func (t *table) mark(component string, key []byte) (string, error) {
	s := t.at(component, key)
	return s.key, t.putBits(s, present, 1)
}

// add appends the value of a key.
func (t *table) add(component string, key, value []byte) error {
	return t.putValue(t.at(component, key), value)
}

// putValue appends a value by its shape. A value of unknown shape is
// text, so that nothing is lost.
func (t *table) putValue(s *slot, value []byte) error {
	if s.class == word || len(value) == 0 {
		return t.putText(s, value)
	}
	if value[0] == '<' {
		return t.bracketed(s, value)
	}
	if n, ok := engine.ParseInt(value); ok && s.class != parameter {
		switch bits := n >= 0 && n <= math.MaxUint32; {
		case bits && s.class == float:
			return t.putBits(s, decimal, uint64(n))
		case bits && s.class == vector:
			return t.putBits(s, hash, uint64(n))
		}
		return t.putBits(s, integer, uint64(n))
	}
	if bits, ok := parseFloat(value); ok {
		return t.putBits(s, decimal, uint64(bits))
	}
	if n, inner, ok := cutBoth(value); ok {
		if bytes.IndexByte(inner, ',') >= 0 {
			return t.both(s, n, inner, value)
		}
		if bits, ok := parseFloat(inner); ok && (bits == n || isNaN(bits) && isNaN(n)) {
			return t.putBits(s, decimal, uint64(n))
		}
	}
	return t.putText(s, value)
}

func isNaN(bits uint32) bool { return bits&0x7fffffff > 0x7f800000 }

// bracketed takes "<1.0, 2.0, 3.0>", and a projectile's "<123456", which is never
// closed, and "<123456 <1,2,3>".
func (t *table) bracketed(s *slot, value []byte) error {
	inner := value[1:]
	if n, values, ok := cutBoth(inner); ok {
		return t.both(s, n, values, value)
	}
	if n, ok := engine.ParseInt(inner); ok && n >= 0 && n <= math.MaxUint32 {
		return t.putBits(s, hash, uint64(n))
	}
	if last := len(inner) - 1; last > 0 && inner[last] == '>' {
		return t.vector(s, inner[:last], value)
	}
	return t.putText(s, value)
}

// cutBoth cuts "123456 <1,2,3>" into a hash, or the bits of a float, and values.
func cutBoth(value []byte) (n uint32, inner []byte, ok bool) {
	i := bytes.IndexByte(value, ' ')
	if i < 0 || i+2 >= len(value) || value[i+1] != '<' || value[len(value)-1] != '>' {
		return 0, nil, false
	}
	v, ok := engine.ParseInt(value[:i])
	return uint32(v), value[i+2 : len(value)-1], ok && v >= 0 && v <= math.MaxUint32
}

// both takes a hash and the values that it covers.
func (t *table) both(s *slot, n uint32, values, whole []byte) error {
	if err := t.putBits(s, hash, uint64(n)); err != nil {
		return err
	}
	return t.vector(s, values, whole)
}

// vector takes "1.0, 2.0, 3.0", the whole text between the brackets.
func (t *table) vector(s *slot, values, whole []byte) error {
	var all [maxVector]uint32
	n := 0
	for more := true; more; n++ {
		part := values
		if i := bytes.IndexByte(values, ','); i >= 0 {
			part, values = values[:i], values[i+1:]
			if len(values) > 0 && values[0] == ' ' {
				values = values[1:]
			}
		} else {
			more = false
		}
		bits, ok := parseFloat(part)
		if !ok || n == maxVector {
			return t.putText(s, whole)
		}
		all[n] = bits
	}
	for i, bits := range all[:n] {
		if i == len(s.axes) {
			s.axes = append(s.axes, nil)
		}
		c := s.axes[i]
		field := ""
		if c == nil {
			field = s.key + axis(i)
		}
		c, err := t.column(c, s.component, field, snapshot.F32)
		if err != nil {
			return err
		}
		s.axes[i] = c
		c.appendBits(uint64(bits))
	}
	return nil
}

// axis returns what is added to a key to name number i of a vector.
func axis(i int) string {
	if i < 4 {
		return "." + "xyzw"[i:i+1]
	}
	return "." + strconv.Itoa(i)
}

// lacks reports whether the last row lacks something that the row before has.
func (t *table) lacks() bool {
	last := len(t.keysA) - 1
	return slices.ContainsFunc(t.columns, func(c *column) bool { return last > 0 && c.rows == last && c.Has(last-1) })
}

// cells counts the cells of tables.
type cells struct{ all, given int }

// add counts cells without and with a value.
func (c *cells) add(absent, given int) error {
	c.all += absent + given
	c.given += given
	return limits.Filled(c.all, c.given)
}

// finish returns the table, its rows and columns sorted. Its working memory may be used again.
func (t *table) finish() (snapshot.Table, error) {
	out := snapshot.Table{Label: t.label, Class: t.class, Keys: snapshot.Keys{A: t.keysA, B: t.keysB}}
	for _, c := range t.columns {
		absent := len(t.keysA) - c.rows
		if err := t.cells.add(absent, 0); err != nil {
			return out, err
		}
		for range absent {
			c.AppendAbsent()
		}
	}
	slices.SortFunc(t.columns, func(a, b *column) int {
		return cmp.Or(strings.Compare(a.Component, b.Component), strings.Compare(a.Field, b.Field))
	})
	if len(t.columns) > 0 {
		out.Columns = make([]snapshot.Column, len(t.columns))
	}
	for i, c := range t.columns {
		out.Columns[i] = c.Column
	}
	if !t.two {
		out.Keys.B = nil
	}
	if err := out.SortRows(); err != nil {
		return out, err
	}
	if n := len(t.keysA); n == 0 || &out.Keys.A[0] == &t.keysA[0] {
		t.own(&out)
	}
	return out, nil
}

// maxCopied is how many collected values are copied, so that their memory is used again. Longer lists become part of a
// table without a copy.
const maxCopied = 64 << 10

// own gives out its own memory.
func (t *table) own(out *snapshot.Table) {
	out.Keys = snapshot.Keys{A: copied(&t.keysA)}
	if t.two {
		out.Keys.B = copied(&t.keysB)
		if out.Keys.B == nil {
			out.Keys.B = []uint64{}
		}
	}
	size := 0
	for _, c := range t.columns {
		if len(c.Data) <= maxCopied {
			size += len(c.Data)
		}
	}
	room := make([]byte, 0, size)
	for i, c := range t.columns {
		to := &out.Columns[i]
		to.Ends = copied(&c.Ends)
		if len(c.Data) > maxCopied {
			to.Data = copied(&c.Data)
			continue
		}
		room = append(room[len(room):], c.Data...)
		to.Data = room[:len(room):len(room)]
	}
}

// copied returns what was collected, or a copy of it.
func copied[T any](collected *[]T) []T {
	all := *collected
	switch {
	case len(all) == 0:
		return nil
	case len(all) > maxCopied:
		*collected = nil
		return all[:len(all):len(all)]
	}
	return append(make([]T, 0, len(all)), all...)
}
