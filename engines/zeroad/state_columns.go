package zeroad

import "github.com/desynctool/desynctool/snapshot"

// settle copies the content of tables from the memory in which they grew, which the next dump uses again, to its final
// place.
func settle(tables []snapshot.Table) {
	bytes, ends, keys := 0, 0, 0
	for i := range tables {
		t := &tables[i]
		keys += len(t.Keys.A) + len(t.Keys.B)
		for k := range t.Columns {
			bytes += len(t.Columns[k].Data)
			ends += len(t.Columns[k].Ends)
		}
	}
	allBytes, allEnds, allKeys := make([]byte, 0, bytes), make([]uint32, 0, ends), make([]uint64, 0, keys)
	for i := range tables {
		t := &tables[i]
		allKeys, t.Keys.A = moved(allKeys, t.Keys.A)
		if t.Keys.B != nil {
			if allKeys, t.Keys.B = moved(allKeys, t.Keys.B); t.Keys.B == nil {
				t.Keys.B = []uint64{}
			}
		}
		for k := range t.Columns {
			c := &t.Columns[k]
			allBytes, c.Data = moved(allBytes, c.Data)
			allEnds, c.Ends = moved(allEnds, c.Ends)
		}
	}
}

// moved appends the content of from to all, and returns both.
func moved[T any](all, from []T) (after, there []T) {
	if len(from) == 0 {
		return all, nil
	}
	at := len(all)
	all = append(all, from...)
	return all, all[at:len(all):len(all)]
}
