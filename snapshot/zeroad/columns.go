package zeroad

import "github.com/desynctool/desynctool/snapshot"

// columnMemory is what the columns of a dump grow in. Once all is known they are copied to where they need no more than
// they hold, and those of the next dump, which mostly are the same in the same order, grow in it.
type columnMemory struct {
	fields []*field // in the order in which they were made
	spare  []growth // of the dump before
}

// growth is what one column has grown in.
type growth struct {
	data []byte
	ends []uint32
}

// maxColumnMemory is how many bytes are kept for the next dump.
const maxColumnMemory = 8 << 20

// lend has the column of a new field grow in the memory that the one in its place needed.
func (m *columnMemory) lend(f *field) {
	if n := len(m.fields); n < len(m.spare) {
		f.column.Data = m.spare[n].data
		if f.column.Type.Width() == 0 {
			f.column.Ends = m.spare[n].ends
		}
	}
	m.fields = append(m.fields, f)
}

// settle copies what the columns of tables hold to where they stay.
func (m *columnMemory) settle(tables []snapshot.Table) {
	bytes, ends := 0, 0
	for i := range tables {
		for k := range tables[i].Columns {
			bytes += len(tables[i].Columns[k].Data)
			ends += len(tables[i].Columns[k].Ends)
		}
	}
	allBytes, allEnds := make([]byte, 0, bytes), make([]uint32, 0, ends)
	for i := range tables {
		for k := range tables[i].Columns {
			c := &tables[i].Columns[k]
			allBytes, c.Data = moved(allBytes, c.Data)
			allEnds, c.Ends = moved(allEnds, c.Ends)
		}
	}
}

// moved appends what from holds to all, and returns both as they are there.
func moved[T any](all, from []T) (after, there []T) {
	if len(from) == 0 {
		return all, nil
	}
	at := len(all)
	all = append(all, from...)
	return all, all[at:len(all):len(all)]
}

// free keeps the memory for the columns of the next dump.
func (m *columnMemory) free() {
	size := 0
	for i, f := range m.fields {
		g := growth{f.column.Data[:0], f.column.Ends[:0]}
		if g.ends == nil && i < len(m.spare) {
			g.ends = m.spare[i].ends
		}
		if size += cap(g.data) + 4*cap(g.ends); size > maxColumnMemory {
			break
		}
		if i < len(m.spare) {
			m.spare[i] = g
		} else {
			m.spare = append(m.spare, g)
		}
	}
	if size > maxColumnMemory {
		m.spare = nil
	}
	clear(m.fields)
	m.fields = m.fields[:0]
}
