package snapshot

import (
	"cmp"
	"fmt"
	"slices"
)

// SortRows sorts rows by their keys, which must be distinct. Rows that are not in order are copied; the original slices
// of keys and columns stay unchanged.
func (t *Table) SortRows() error {
	if t.Keys.unordered() == 0 {
		return nil
	}
	order := t.Keys.order()
	keys := newKeys(t.Keys.Parts(), len(order))
	for n, i := range order {
		keys.add(t.Keys.At(i))
		if n > 0 && keys.At(n-1) == keys.At(n) {
			return fmt.Errorf("%s has %s twice", t.Label, t.Keys.At(i))
		}
	}
	t.Keys = keys
	size := 0
	for i := range t.Columns {
		size += len(t.Columns[i].Data)
	}
	var room []byte
	if size <= smallTable {
		room = make([]byte, size)
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		n := len(c.Data)
		if size > smallTable {
			room = make([]byte, n)
		}
		*c, room = c.moved(order, room[:0:n]), room[n:]
	}
	return nil
}

// smallTable is a number of bytes. A table with at most that many bytes of values gets one allocation for them when it
// is sorted.
const smallTable = 1 << 20

// order returns the indexes of rows in the order of their keys.
func (k Keys) order() []int {
	order := make([]int, len(k.A))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(k.At(i).Compare(k.At(j)), cmp.Compare(i, j)) })
	return order
}

// moved returns the column with its rows in another order. It appends the data to room.
func (c *Column) moved(order []int, room []byte) Column {
	to := Column{Schema: c.Schema, Data: room}
	if c.Ends != nil {
		to.Ends = make([]uint32, 0, len(c.Ends))
	}
	switch width := c.Type.Width(); {
	case c.Present != nil || width == 0:
		for _, i := range order {
			to.appendRow(c, i)
		}
	case width == 4:
		to.Data = to.Data[:width*len(order)]
		for n, i := range order {
			copy(to.Data[4*n:4*n+4], c.Data[4*i:4*i+4])
		}
	case width == 8:
		to.Data = to.Data[:width*len(order)]
		for n, i := range order {
			copy(to.Data[8*n:8*n+8], c.Data[8*i:8*i+8])
		}
	default:
		for _, i := range order {
			to.Data = append(to.Data, c.Data[i*width:(i+1)*width]...)
		}
	}
	return to
}
