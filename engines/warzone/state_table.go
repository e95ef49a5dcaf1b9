package warzone

import (
	"cmp"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// usualRows is how many rows memory is first allocated for.
const usualRows = 32

// table collects the rows of one table in the order of the dump.
type table struct {
	label   string
	class   snapshot.Class
	two     bool // keys have two parts
	keysA   []uint64
	keysB   []uint64
	columns []snapshot.Column
	// keys counts the rows by the first part of their keys.
	keys map[uint64]uint64
}

func newTable(label string, columns ...snapshot.Column) *table {
	return &table{label: label, columns: columns, keys: map[uint64]uint64{}}
}

// row begins the row of a key that the table has not.
func (t *table) row(key uint64) {
	t.keys[key]++
	t.keysA = append(t.keysA, key)
}

// next begins the next row, with a key that begins with a number.
func (t *table) next(key uint64) {
	t.keysB = append(t.keysB, t.keys[key])
	t.row(key)
}

func (t *table) has(key uint64) bool { return t.keys[key] > 0 }

// to returns a column to which the value of the current row is to be appended:
// rows before it that have none are absent.
func (t *table) to(i int) *snapshot.Column {
	c := &t.columns[i]
	if c.Data == nil {
		c.Data = make([]byte, 0, usualRows*max(c.Type.Width(), 8))
	}
	for c.Rows() < len(t.keysA)-1 {
		c.AppendAbsent()
	}
	return c
}

// finish returns the table with rows and columns in order.
func (t *table) finish() snapshot.Table {
	out := snapshot.Table{Label: t.label, Class: t.class, Columns: t.columns}
	order := make([]int, len(t.keysA))
	for i := range order {
		order[i] = i
	}
	compare := func(i, j int) int {
		if c := cmp.Compare(t.keysA[i], t.keysA[j]); c != 0 || !t.two {
			return c
		}
		return cmp.Compare(t.keysB[i], t.keysB[j])
	}
	sorted := slices.IsSortedFunc(order, compare)
	if !sorted {
		slices.SortFunc(order, compare)
	}
	out.Keys.A = make([]uint64, len(order))
	if t.two {
		out.Keys.B = make([]uint64, len(order))
	}
	for n, i := range order {
		out.Keys.A[n] = t.keysA[i]
		if t.two {
			out.Keys.B[n] = t.keysB[i]
		}
	}
	for k := range t.columns {
		c := &t.columns[k]
		for c.Rows() < len(order) {
			c.AppendAbsent()
		}
		if !sorted {
			*c = moved(c, order)
		}
	}
	return out
}

// moved returns a column with the rows of c in another order.
func moved(c *snapshot.Column, order []int) snapshot.Column {
	out := snapshot.NewColumn(c.Component, c.Field, c.Type, c.Scale)
	out.Data = make([]byte, 0, len(c.Data))
	width := c.Type.Width()
	if width == 0 {
		out.Ends = make([]uint32, 0, len(order))
	}
	for _, i := range order {
		switch {
		case !c.Has(i):
			out.AppendAbsent()
		case width == 0:
			out.AppendBytes(c.Raw(i))
		case c.Present == nil:
			out.Data = append(out.Data, c.Raw(i)...)
		default:
			out.AppendUint(c.Uint(i))
		}
	}
	return out
}
