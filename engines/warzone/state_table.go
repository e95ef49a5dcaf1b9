package warzone

import (
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
	out := snapshot.Table{Label: t.label, Class: t.class, Keys: snapshot.Keys{A: t.keysA}, Columns: t.columns}
	if t.two {
		out.Keys.B = append([]uint64{}, t.keysB...)
	}
	for k := range t.columns {
		for c := &t.columns[k]; c.Rows() < len(t.keysA); {
			c.AppendAbsent()
		}
	}
	_ = out.SortRows() // it fails only where a key comes twice, which next and row prevent
	return out
}
