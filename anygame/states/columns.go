package states

import (
	"bytes"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

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
	like    map[[2]string]*snapshot.Column // of the table with this label in a state that was read before
	named   map[[2]string]*column          // of them, by component and field
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
	node             *node // nil if it was not learned
	class            snapshot.Class
	data             []byte
	ends             []uint32
	rows             []int32          // of each value, nil while they are 0, 1, 2, …
	like             *snapshot.Column // of a state read before, while all values are equal to its values; else nil
	scratch          []byte
	again            []*column // for the second and further values of a row
	last             int       // the largest number in their names, less one
}

// add appends a value of a row. A row may be given several: see apart.
func (c *column) add(row int, kind notation.Kind, text []byte) {
	c.begin(row)
	if c.like != nil && c.follow(kind, text) {
		return
	}
	c.data = appendScalar(c.data, kind, text)
	c.ends = append(c.ends, uint32(len(c.data)))
}

// follow adds a value that the like column has in the same place, and shares the memory of the like column. It reports
// false for any other value: the next append then copies the values before it.
func (c *column) follow(kind notation.Kind, text []byte) bool {
	c.scratch = appendScalar(c.scratch[:0], kind, text)
	n := len(c.ends)
	if c.rows != nil || n >= len(c.like.Ends) || !bytes.Equal(c.like.Raw(n), c.scratch) {
		c.like, c.scratch = nil, nil
		return false
	}
	end := c.like.Ends[n]
	c.data, c.ends = c.like.Data[:end:end], c.like.Ends[:n+1:n+1]
	return true
}

// addRaw is add for a value as a snapshot.Scalar holds it.
func (c *column) addRaw(row int, raw []byte) {
	c.begin(row)
	c.like, c.scratch = nil, nil
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

// table returns the table of a label, which is made the first time. Its rows belong to rows of another one, if that is not
// the one with the global values.
func (b *builder) table(label string, parent *table) *table {
	if t := b.labels[label]; t != nil {
		return t
	}
	t := &table{label: label, current: -1, why: ByPlace, like: b.like[label]}
	if parent == nil {
		t.why = OnlyRow
		t.addRow(0)
	} else if parent != b.tables[0] {
		t.parent = parent
	}
	b.tables, b.labels[label] = append(b.tables, t), t
	return t
}
