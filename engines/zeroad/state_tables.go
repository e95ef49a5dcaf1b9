package zeroad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	// maxColumns is how many columns a table may have; what would need more is
	// kept as text.
	maxColumns = 4096
)

// tables are the tables of a dump, by class and label. Their known columns stay from one dump to the next, which mostly
// has the same; their content, and the set of tables, does not.
type tables struct {
	byName map[tableName]*table
	used   []*table // by this dump, in the order of their first rows
	dump   int      // counts the dumps
	made   int      // tables, columns, paths and fields

	record recorder
}

type tableName struct {
	class snapshot.Class
	label string
}

// table collects the rows of one table. The last row is the current one.
type table struct {
	all       *tables
	dump      int // that its content belongs to
	class     snapshot.Class
	label     string
	component string
	two       bool // keys have two parts
	keysA     []uint64
	keysB     []uint64

	fields []*field // of this dump
	native map[string]*nativeField
	first  *nativeField      // that began the last row
	lists  map[string]*table // tables of the component's lists
	paths  *path             // of the JSON that makes rows, nil in a table of native fields

	shape, rest *field // of a table with paths
	others      int    // how often keys began again: see row

	given, absent int // values
}

// field is the filled part of a column: the rows after it are absent.
type field struct {
	dump   int // that its content belongs to
	name   string
	column snapshot.Column
	rows   int // of it
}

func newTables() *tables { return &tables{byName: map[tableName]*table{}} }

// begin begins a dump.
func (ts *tables) begin() {
	ts.dump++
	clear(ts.used)
	ts.used = ts.used[:0]
}

func (ts *tables) get(class snapshot.Class, label, component string, two bool) *table {
	name := tableName{class, label}
	t := ts.byName[name]
	if t == nil {
		t = &table{all: ts, class: class, label: label, component: component, two: two, native: map[string]*nativeField{}}
		ts.byName[name] = t
		ts.made++
	}
	return t.open()
}

// open returns t as a table of this dump.
func (t *table) open() *table {
	if t.dump != t.all.dump {
		t.dump, t.others, t.given, t.absent = t.all.dump, 0, 0, 0
		t.keysA, t.keysB, t.fields = t.keysA[:0], t.keysB[:0], t.fields[:0]
		t.all.used = append(t.all.used, t)
	}
	return t
}

// find returns a table of this dump, nil if it has none of that name.
func (ts *tables) find(class snapshot.Class, label string) *table {
	if t := ts.byName[tableName{class, label}]; t != nil && t.dump == ts.dump {
		return t
	}
	return nil
}

func (t *table) add(a, b uint64) {
	t.keysA = append(t.keysA, a)
	if t.two {
		t.keysB = append(t.keysB, b)
	}
	t.all.record.row(t, b)
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
	t.all.made++
	return &field{name: name, column: snapshot.NewColumn(t.component, name, typ, scale)}
}

// has reports whether f is a column of this dump.
func (t *table) has(f *field) bool { return f != nil && f.dump == t.all.dump }

var errTwice = errors.New("a field is given twice")

// at returns the column, to which the value of the current row has to be appended.
func (t *table) at(f *field) (*snapshot.Column, error) {
	if f.dump != t.all.dump {
		f.dump, f.rows = t.all.dump, 0
		f.column.Field, f.column.Data, f.column.Present = f.name, f.column.Data[:0], nil
		if f.column.Ends != nil {
			f.column.Ends = f.column.Ends[:0]
		}
		if t.fields = append(t.fields, f); len(t.fields) == maxColumns {
			if err := t.all.record.full(); err != nil {
				return nil, err
			}
		}
	}
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

// setBits sets a column of numbers in the current row.
func (t *table) setBits(f *field, bits uint64) error {
	c, err := t.at(f)
	if err == nil {
		c.AppendUint(bits)
		t.all.record.bits(t, f, bits)
	}
	return err
}

// setBytes sets a column of texts in the current row.
func (t *table) setBytes(f *field, value []byte) error {
	c, err := t.at(f)
	if err == nil {
		c.AppendBytes(value)
		t.all.record.bytes(t, f, value)
	}
	return err
}

// text sets a column of texts in the current row, which is made if need be.
func (t *table) text(f **field, name string, value []byte) error {
	if *f == nil {
		*f = t.newField(name, snapshot.String)
	}
	return t.setBytes(*f, value)
}

// finish returns the tables in no order, their rows and columns sorted.
func (ts *tables) finish() ([]snapshot.Table, error) {
	cells, given := 0, 0
	for _, t := range ts.used {
		cells += len(t.keysA) * max(1, len(t.fields))
		given += len(t.keysA) + t.given
	}
	if err := limits.Filled(cells, given); err != nil {
		return nil, err
	}
	out := make([]snapshot.Table, 0, len(ts.used))
	for _, t := range ts.used {
		if t.paths != nil {
			t.paths.nameKinds()
		}
		st := snapshot.Table{Label: t.label, Class: t.class, Keys: snapshot.Keys{A: t.keysA}}
		if t.two {
			if st.Keys.B = t.keysB; st.Keys.B == nil {
				st.Keys.B = []uint64{}
			}
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
	settle(out)
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
