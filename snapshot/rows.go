package snapshot

import "slices"

// appendRows appends all rows of src, a table with the same columns.
func (t *Table) appendRows(src *Table) { t.appendRange(src, 0, src.Rows()) }

// appendRange appends rows start to end of src, a table with the same columns.
func (t *Table) appendRange(src *Table, start, end int) {
	t.Keys.A = append(t.Keys.A, src.Keys.A[start:end]...)
	if t.Keys.B != nil {
		t.Keys.B = append(t.Keys.B, src.Keys.B[start:end]...)
	}
	for i := range t.Columns {
		t.Columns[i].appendRange(&src.Columns[i], start, end)
	}
}

// appendRange appends rows start to end of src, a column of the same type.
func (c *Column) appendRange(src *Column, start, end int) {
	if c.Present != nil || src.absentIn(start, end) {
		for i := start; i < end; i++ {
			c.appendRow(src, i)
		}
		return
	}
	have := uint32(len(c.Data))
	c.Data = append(c.Data, src.values(start, end)...)
	if c.Type.Width() > 0 {
		return
	}
	shift := have - src.valueStart(start)
	for _, e := range src.Ends[start:end] {
		c.Ends = append(c.Ends, e+shift)
	}
}

// appendRow appends row i of src, a column of the same type.
func (c *Column) appendRow(src *Column, i int) {
	switch {
	case !src.Has(i):
		c.AppendAbsent()
	case c.Type.Width() > 0:
		c.AppendUint(src.Uint(i))
	default:
		c.AppendBytes(src.Raw(i))
	}
}

// Clone returns a copy that shares no memory with c.
func (c *Column) Clone() Column {
	d := *c
	d.Data, d.Ends, d.Present = slices.Clone(c.Data), slices.Clone(c.Ends), slices.Clone(c.Present)
	return d
}
