package snapshot

import (
	"cmp"
	"fmt"
	"slices"
)

// SortRows puts rows in the order of their keys, which must be distinct.
func (t *Table) SortRows() error {
	compare := func(i, j int) int { return t.Keys.At(i).Compare(t.Keys.At(j)) }
	order := make([]int, t.Rows())
	sorted := true
	for i := range order {
		order[i] = i
		sorted = sorted && (i == 0 || compare(i-1, i) < 0)
	}
	if sorted {
		return nil
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) })
	keys := Keys{A: make([]uint64, 0, len(order))}
	if t.Keys.B != nil {
		keys.B = make([]uint64, 0, len(order))
	}
	for n, i := range order {
		if n > 0 && compare(order[n-1], i) == 0 {
			return fmt.Errorf("%s has %s twice", t.Label, t.Keys.At(i))
		}
		keys.A = append(keys.A, t.Keys.A[i])
		if t.Keys.B != nil {
			keys.B = append(keys.B, t.Keys.B[i])
		}
	}
	for k := range t.Columns {
		c := &t.Columns[k]
		moved := NewColumn(c.Component, c.Field, c.Type, c.Scale)
		moved.Data = make([]byte, 0, len(c.Data))
		if c.Ends != nil {
			moved.Ends = make([]uint32, 0, len(c.Ends))
		}
		for _, i := range order {
			switch {
			case !c.Has(i):
				moved.AppendAbsent()
			case c.Type.Width() == 0:
				moved.AppendBytes(c.Raw(i))
			default:
				moved.AppendUint(c.Uint(i))
			}
		}
		*c = moved
	}
	t.Keys = keys
	return nil
}
