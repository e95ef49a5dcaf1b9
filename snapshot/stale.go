package snapshot

import "slices"

// Bounds of MarkStale: how many rows of a column must differ at least, and how many rows a table has at most.
const (
	leastStale = 8
	mostStale  = 50_000
)

// MarkStale finds out in which columns one side of a diff of a and b has the values that the other side had one tick
// before, in all rows that differ. before are the states of both sides one tick before, nil for a state that is not
// known. A column needs 8 rows that differ; columns of booleans and tables of more than 50,000 rows are not examined.
func (d *Diff) MarkStale(a, b State, before [2]State) error {
	for i := range d.Tables {
		t := &d.Tables[i]
		if t.Class != Archetype || !t.InA || !t.InB || !slices.ContainsFunc(t.Columns, func(c ColumnDiff) bool { return c.Rows >= leastStale }) {
			continue
		}
		now := [2]*Table{}
		var err error
		for side, s := range []State{a, b} {
			if now[side], err = examined(s, t.Label); err != nil {
				return err
			}
		}
		if now[0] == nil || now[1] == nil {
			continue
		}
		for side := range now {
			if before[1-side] == nil {
				continue
			}
			earlier, err := examined(before[1-side], t.Label)
			if err != nil {
				return err
			}
			if earlier == nil {
				continue
			}
			for k := range t.Columns {
				if c := &t.Columns[k]; c.Rows >= leastStale && isStale(c, now[side], now[1-side], earlier) {
					c.stale |= 1 << side
				}
			}
		}
	}
	return nil
}

// examined loads an archetype, nil if there is none or if it is too large.
func examined(s State, label string) (*Table, error) {
	for i, t := range s.Info().Tables {
		if t.Class == Archetype && t.Label == label && t.Rows <= mostStale {
			return LoadTable(s, i)
		}
	}
	return nil, nil
}

// isStale reports whether the values of a column are those of an earlier state of the other side, in all rows that
// differ.
func isStale(c *ColumnDiff, own, other, earlier *Table) bool {
	columns := [3]*Column{}
	places := [2]map[Key]int{}
	for n, t := range []*Table{own, other, earlier} {
		i := slices.IndexFunc(t.Columns, func(x Column) bool { return x.Component == c.Component && x.Field == c.Field })
		if i < 0 || t.Columns[i].Type == Bool {
			return false
		}
		columns[n] = &t.Columns[i]
		if n == 0 {
			continue
		}
		places[n-1] = map[Key]int{}
		for row := range t.Keys.A {
			places[n-1][t.Keys.At(row)] = row
		}
	}
	var rows uint64
	for row := range own.Keys.A {
		key, v := own.Keys.At(row), columns[0].At(row)
		j, both := places[0][key]
		if !both || v.equal(columns[1].At(j)) {
			continue
		}
		if k, had := places[1][key]; !had || !v.equal(columns[2].At(k)) {
			return false
		}
		rows++
	}
	return rows == c.Rows
}
