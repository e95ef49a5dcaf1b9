package snapshot

import "hash/maphash"

// reordered reports whether a table has the same rows in both states in a different order. This is for rows without
// ids, which only their positions identify. Rows that belong to other rows stay with them.
func (c *comparer) reordered(p *pairing) (bool, error) {
	a, b := &c.diff.A.Tables[p.i], &c.diff.B.Tables[p.j]
	if !a.Placed || !b.Placed || a.Rows != b.Rows || len(p.td.Schema) > 0 {
		return false, nil
	}
	seed := maphash.MakeSeed()
	first, err := allRows(c.a, p.i, p.a, seed)
	if err != nil {
		return false, err
	}
	second, err := allRows(c.b, p.j, p.b, seed)
	return first == second, err
}

// allRows returns two sums of hashes of all rows of a table. The sums do not depend on the order of the rows.
func allRows(s State, table int, ix *Index, seed maphash.Seed) (sums [2]uint64, err error) {
	for block := range ix.Blocks {
		keys, err := s.LoadKeys(table, block)
		if err != nil {
			return sums, err
		}
		rows := make([]uint64, len(keys.A))
		if keys.B != nil {
			copy(rows, keys.A) // the owners
		}
		for k := range ix.Columns {
			column, err := s.LoadBlock(table, block, k)
			if err != nil {
				return sums, err
			}
			for r := range rows {
				value := uint64(0)
				if column.Has(r) {
					value = maphash.Bytes(seed, column.Raw(r)) | 1
				}
				rows[r] = maphash.Comparable(seed, [2]uint64{rows[r], value})
			}
		}
		for _, h := range rows {
			sums[0] += h
			sums[1] += h * h
		}
	}
	return sums, nil
}
