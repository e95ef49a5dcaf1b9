package warzone

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/snapshot"
)

// marks are the phases of an update, in order.
const stateMarks = "<M>"

// objects is the table of one kind of objects. Its columns are update.after and
// update.phase, and then each field three times: the state, before and middle.
type stateObjects struct {
	object   Object
	label    string
	function string // lines of this function make rows
	fields   int
	rows     []objectRow
	keys     map[uint64]struct{}
	after    []byte  // of all rows
	numbers  []int64 // of all rows, phases and fields
}

// objectRow is an object with all its lines read.
type objectRow struct {
	key    uint64
	place  int   // among the rows as they came
	after  int   // end of its text in objects.after
	phases uint8 // bit i is set if the line with marks[i] has been read
}

// last returns the phase of the row's last line.
func (r *objectRow) last() int {
	for phase := len(stateMarks) - 1; ; phase-- {
		if r.phases>>phase&1 != 0 {
			return phase
		}
	}
}

func newObjects(o Object, label, function string) *stateObjects {
	return &stateObjects{object: o, label: label, function: function, fields: len(o.Fields()), keys: map[uint64]struct{}{}}
}

func (t *stateObjects) has(key uint64) bool {
	_, ok := t.keys[key]
	return ok
}

// begin begins the row of an object, which comes after another row.
func (t *stateObjects) begin(key uint64, after []byte) {
	t.keys[key] = struct{}{}
	t.after = append(t.after, after...)
	t.rows = append(t.rows, objectRow{key: key, place: len(t.rows), after: len(t.after)})
	size := len(t.numbers) + len(stateMarks)*t.fields
	t.numbers = slices.Grow(t.numbers, size-len(t.numbers))[:size]
}

// line takes one line of the current row. It reports false if a line of that
// phase or of a later one has been read.
func (t *stateObjects) line(e *Entry) bool {
	phase := strings.IndexByte(stateMarks, e.Mark)
	row := &t.rows[len(t.rows)-1]
	if phase < 0 || row.phases>>phase != 0 {
		return false
	}
	row.phases |= 1 << phase
	numbers := t.of(row, phase)
	for i := range e.Values {
		numbers[i] = e.Values[i].Number
	}
	return true
}

// of returns the numbers of a row's line.
func (t *stateObjects) of(row *objectRow, phase int) []int64 {
	first := (row.place*len(stateMarks) + phase) * t.fields
	return t.numbers[first : first+t.fields]
}

// finish returns the table, its rows by key.
func (t *stateObjects) finish() snapshot.Table {
	out := snapshot.Table{Label: t.label, Columns: slices.Clone(objectColumns()[t.object])}
	ends := make([]int, len(t.rows))
	for i := range t.rows {
		ends[i] = t.rows[i].after
	}
	slices.SortFunc(t.rows, func(a, b objectRow) int { return cmp.Compare(a.key, b.key) })
	out.Keys.A = make([]uint64, len(t.rows))
	after, phase := &out.Columns[0], &out.Columns[1]
	for i := range t.rows {
		row := &t.rows[i]
		out.Keys.A[i] = row.key
		begin := 0
		if row.place > 0 {
			begin = ends[row.place-1]
		}
		after.AppendBytes(t.after[begin:row.after])
		phase.AppendString(stateMarks[row.last() : row.last()+1])
	}
	for part := range parts {
		for field := range t.fields {
			t.column(&out.Columns[2+part*t.fields+field], part, field)
		}
	}
	return out
}

// Parts of the columns: the last line, and those before it.
const (
	statePart  = 0
	beforePart = 1
	middlePart = 2
	parts      = 3
)

// phase returns which line of a row a part is of, or -1.
func (r *objectRow) phase(part int) int {
	last := r.last()
	switch phase := part - beforePart; {
	case part == statePart:
		return last
	case phase < last && r.phases>>phase&1 != 0:
		return phase
	}
	return -1
}

// column fills the column of a field.
func (t *stateObjects) column(c *snapshot.Column, part, field int) {
	letter := [1]byte{}
	if c.Type != snapshot.String {
		c.Data = make([]byte, 4*len(t.rows))
	}
	for i := range t.rows {
		row := &t.rows[i]
		phase := row.phase(part)
		var v int64
		if phase >= 0 {
			v = t.of(row, phase)[field]
		}
		if c.Type != snapshot.String {
			binary.LittleEndian.PutUint32(c.Data[4*i:], uint32(v))
			if phase < 0 {
				absent(c, i, len(t.rows))
			}
			continue
		}
		if phase < 0 || v == ' ' {
			c.AppendAbsent()
			continue
		}
		letter[0] = byte(v)
		c.AppendBytes(letter[:])
	}
}

// absent marks a row of a column that has rows.
func absent(c *snapshot.Column, row, rows int) {
	if c.Present == nil {
		c.Present = make([]byte, (rows+7)/8)
		for i := range rows {
			c.Present[i/8] |= 1 << (i % 8)
		}
	}
	c.Present[row/8] &^= 1 << (row % 8)
}

// objectColumns are the columns of each object's table, without rows.
var objectColumns = sync.OnceValue(func() (list [5][]snapshot.Column) {
	for o := Droid; o <= Projectile; o++ {
		columns := []snapshot.Column{column("update", "after", snapshot.String), column("update", "phase", snapshot.String)}
		for _, part := range [parts]string{beforePart: "before", middlePart: "middle"} {
			for _, f := range o.Fields() {
				typ := snapshot.I32
				switch {
				case f.Letter:
					typ = snapshot.String
				case f.Unsigned:
					typ = snapshot.U32
				}
				component, name := part, f.Name
				if part == "" {
					group, rest, grouped := strings.Cut(f.Name, ".")
					component = o.String()
					if grouped {
						component, name = group, rest
					}
				}
				columns = append(columns, column(component, name, typ))
			}
		}
		list[o] = columns
	}
	return list
})
