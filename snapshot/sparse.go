package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// ErrTwice reports that a row was given a second value for the same column.
var ErrTwice = errors.New("a field is given twice")

// Sparse collects the tables of a state with rows and columns that become known only while reading it. Rows come in any
// order, and have values only in columns that were set. The zero Sparse is empty.
type Sparse struct {
	tables  map[sparseName]*SparseTable
	columns int
}

type sparseName struct {
	class Class
	label string
}

// SparseTable is one table of a Sparse.
type SparseTable struct {
	of      *Sparse
	label   string
	class   Class
	parts   int
	keys    []Key
	rows    map[Key]int
	columns map[sparseColumn]*sparseCells
}

type sparseColumn struct {
	component, field string
	typ              Type
}

// sparseCells are the values of a column, in the order in which they were given.
type sparseCells struct {
	rows  map[int]bool
	cells []sparseCell
}

type sparseCell struct {
	row  int
	bits uint64 // for a fixed-width value
	text string // for any other value
}

// Table returns the table of that class and label. The first call creates it. parts is the number of parts in its keys,
// 1 or 2. It is an error if the table already exists with another number.
func (s *Sparse) Table(class Class, label string, parts int) (*SparseTable, error) {
	name := sparseName{class, label}
	t := s.tables[name]
	switch {
	case t == nil && limits.Archetypes.Over(int64(len(s.tables))+1):
		return nil, limits.Archetypes.Reached("", 0)
	case t == nil:
		if err := checkName(label); err != nil {
			return nil, err
		}
		if s.tables == nil {
			s.tables = map[sparseName]*SparseTable{}
		}
		t = &SparseTable{of: s, label: label, class: class, parts: parts, rows: map[Key]int{}, columns: map[sparseColumn]*sparseCells{}}
		s.tables[name] = t
	case t.parts != parts:
		return nil, fmt.Errorf("%s has keys of %d parts, and of %d", label, t.parts, parts)
	}
	return t, nil
}

// Row returns the row of a key and whether it is new. The first call for a key creates the row.
func (t *SparseTable) Row(a, b uint64) (row int, added bool) {
	k := Key{A: a}
	if t.parts == 2 {
		k = Key{A: a, B: b, Two: true}
	}
	row, ok := t.rows[k]
	if !ok {
		row = len(t.keys)
		t.keys = append(t.keys, k)
		t.rows[k] = row
	}
	return row, !ok
}

// SetBits sets a fixed-width value of a row by its low bits, like Column.AppendUint.
func (t *SparseTable) SetBits(row int, component, field string, typ Type, bits uint64) error {
	return t.set(component, field, typ, sparseCell{row: row, bits: bits})
}

// SetText sets a String value of a row.
func (t *SparseTable) SetText(row int, component, field, text string) error {
	return t.set(component, field, String, sparseCell{row: row, text: text})
}

// SetRaw sets a Bytes value of a row.
func (t *SparseTable) SetRaw(row int, component, field string, raw []byte) error {
	return t.set(component, field, Bytes, sparseCell{row: row, text: string(raw)})
}

func (t *SparseTable) set(component, field string, typ Type, c sparseCell) error {
	name := sparseColumn{component, field, typ}
	cells := t.columns[name]
	if cells == nil {
		if t.of.columns++; limits.Columns.Over(int64(t.of.columns)) {
			return limits.Columns.Reached("", 0)
		}
		if err := errors.Join(checkName(component), checkName(field)); err != nil {
			return err
		}
		cells = &sparseCells{rows: map[int]bool{}}
		t.columns[name] = cells
	}
	if cells.rows[c.row] {
		return ErrTwice
	}
	cells.rows[c.row] = true
	cells.cells = append(cells.cells, c)
	return nil
}

// Tables returns the tables in order. If columns have the same name and different types, all but the one with the
// lowest type number get " (TYPE)" after their names.
func (s *Sparse) Tables() ([]Table, error) {
	cells, given := 0, 0
	for _, t := range s.tables {
		cells += len(t.keys) * max(1, len(t.columns))
		given += len(t.keys)
		for _, c := range t.columns {
			given += len(c.cells)
		}
	}
	if err := limits.Filled(cells, given); err != nil {
		return nil, err
	}
	w := World{Tables: make([]Table, 0, len(s.tables))}
	for _, t := range s.tables {
		w.Tables = append(w.Tables, t.table())
	}
	w.Sort()
	return w.Tables, w.Validate()
}

// table returns the table with its rows sorted by key.
func (t *SparseTable) table() Table {
	order := make([]int, len(t.keys))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return t.keys[i].Compare(t.keys[j]) })
	out := Table{Label: t.label, Class: t.class, Keys: newKeys(t.parts, len(order))}
	place := make([]int, len(order)) // sorted position of each row
	for n, i := range order {
		place[i] = n
		out.Keys.add(t.keys[i])
	}
	names := slices.SortedFunc(maps.Keys(t.columns), func(a, b sparseColumn) int {
		return cmp.Or(cmp.Compare(a.component, b.component), cmp.Compare(a.field, b.field), cmp.Compare(a.typ, b.typ))
	})
	taken := map[sparseColumn]bool{}
	for _, name := range names {
		taken[sparseColumn{name.component, name.field, 0}] = true
	}
	for i, name := range names {
		field := name.field
		if i > 0 && names[i-1].component == name.component && names[i-1].field == field {
			field = fmt.Sprintf("%s (%s)", name.field, name.typ)
			for n := 2; taken[sparseColumn{name.component, field, 0}]; n++ {
				field = fmt.Sprintf("%s (%s)#%d", name.field, name.typ, n)
			}
			taken[sparseColumn{name.component, field, 0}] = true
		}
		out.Columns = append(out.Columns, t.columns[name].column(name.component, field, name.typ, place))
	}
	return out
}

// column returns the values as a column; place contains the position of each row.
func (c *sparseCells) column(component, field string, typ Type, place []int) Column {
	slices.SortFunc(c.cells, func(a, b sparseCell) int { return cmp.Compare(place[a.row], place[b.row]) })
	out := NewColumn(component, field, typ, 0)
	for _, cell := range c.cells {
		for out.Rows() < place[cell.row] {
			out.AppendAbsent()
		}
		if typ.Width() > 0 {
			out.AppendUint(cell.bits)
		} else {
			out.AppendString(cell.text)
		}
	}
	for out.Rows() < len(place) {
		out.AppendAbsent()
	}
	return out
}
