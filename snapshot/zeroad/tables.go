package zeroad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/orderlog/limits"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	// maxColumns is how many columns a table may have; what would need more is
	// kept as text.
	maxColumns = 4096
)

// tables are those of one dump, by class and label.
type tables struct {
	byName map[tableName]*table
	memory *columnMemory
}

type tableName struct {
	class snapshot.Class
	label string
}

// table collects the rows of one table. The last row is the current one.
type table struct {
	memory    *columnMemory
	label     string
	component string
	two       bool // keys have two parts
	keysA     []uint64
	keysB     []uint64

	fields []*field
	native map[string]*nativeField
	first  *nativeField      // that began the last row
	lists  map[string]*table // tables of the component's lists
	paths  *path             // of the JSON that makes rows, nil in a table of native fields

	shape, rest *field // of a table with paths
	others      int    // how often keys began again: see follow

	given, absent int // values
}

// field is a column as far as it is filled: the rows after that are absent.
type field struct {
	column snapshot.Column
	rows   int // of it
}

func (ts tables) get(class snapshot.Class, label, component string, two bool) *table {
	name := tableName{class, label}
	t := ts.byName[name]
	if t == nil {
		t = &table{memory: ts.memory, label: label, component: component, two: two, native: map[string]*nativeField{}}
		ts.byName[name] = t
	}
	return t
}

func (t *table) add(a, b uint64) {
	t.keysA = append(t.keysA, a)
	if t.two {
		t.keysB = append(t.keysB, b)
	}
}

// follows reports whether (a, b) is greater than the last key.
func (t *table) follows(a, b uint64) bool {
	n := len(t.keysA)
	return n == 0 || t.keysA[n-1] < a || t.keysA[n-1] == a && t.two && t.keysB[n-1] < b
}

func (t *table) newField(name string, typ snapshot.Type) *field {
	scale := uint32(0)
	if typ == snapshot.Fixed {
		scale = fixedScale
	}
	f := &field{column: snapshot.NewColumn(t.component, name, typ, scale)}
	t.memory.lend(f)
	t.fields = append(t.fields, f)
	return f
}

var errTwice = errors.New("a field is given twice")

// at returns the column, to which the value of the current row has to be appended.
func (t *table) at(f *field) (*snapshot.Column, error) {
	row := len(t.keysA) - 1
	t.given++
	t.absent += max(0, row-f.rows)
	if err := limits.Filled(t.given+t.absent, t.given); err != nil {
		return nil, err
	}
	for ; f.rows < row; f.rows++ {
		f.column.AppendAbsent()
	}
	if f.rows > row {
		return nil, errTwice
	}
	f.rows++
	return &f.column, nil
}

// text appends a text to a column of the current row, which is made if need
// be.
func (t *table) text(f **field, name string, value []byte) error {
	if *f == nil {
		*f = t.newField(name, snapshot.String)
	}
	c, err := t.at(*f)
	if err == nil {
		c.AppendBytes(value)
	}
	return err
}

// finish returns the tables in no order, their rows and columns sorted.
func (ts tables) finish() ([]snapshot.Table, error) {
	cells, given := 0, 0
	for _, t := range ts.byName {
		cells += len(t.keysA) * max(1, len(t.fields))
		given += len(t.keysA) + t.given
	}
	if err := limits.Filled(cells, given); err != nil {
		return nil, err
	}
	out := make([]snapshot.Table, 0, len(ts.byName))
	for name, t := range ts.byName {
		if t.paths != nil {
			t.paths.nameKinds()
		}
		st := snapshot.Table{Label: t.label, Class: name.class, Keys: snapshot.Keys{A: t.keysA, B: t.keysB}}
		if t.two && t.keysB == nil {
			st.Keys.B = []uint64{}
		}
		t.distinctNames()
		st.Columns = slices.Grow(st.Columns, len(t.fields))
		for _, f := range t.fields {
			for ; f.rows < len(t.keysA); f.rows++ {
				f.column.AppendAbsent()
			}
			st.Columns = append(st.Columns, f.column)
		}
		out = append(out, st)
	}
	ts.memory.settle(out)
	for i := range out {
		if err := out[i].SortRows(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// distinctNames renames columns that have another's name, which happens only
// if native fields have a name that a script has.
func (t *table) distinctNames() {
	taken := make(map[string]bool, len(t.fields))
	for _, f := range t.fields {
		name := f.column.Field
		for n := 2; taken[f.column.Field]; n++ {
			f.column.Field = fmt.Sprintf("%s#%d", name, n)
		}
		taken[f.column.Field] = true
	}
}
