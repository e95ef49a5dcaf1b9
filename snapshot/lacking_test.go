package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// lackingState has one table. Text "-" is a row without a value; no texts mean no column.
func lackingState(t *testing.T, single bool, keys []uint64, values ...string) State {
	t.Helper()
	x := NewColumn("unit", "x", Scalar, 0)
	stunned := NewColumn("unit", "stunned", Scalar, 0)
	for i := range keys {
		x.AppendBytes([]byte("7"))
		switch {
		case len(values) == 0:
		case values[i] == "-":
			stunned.AppendAbsent()
		default:
			stunned.AppendBytes([]byte(values[i]))
		}
	}
	columns := []Column{x}
	if len(values) > 0 {
		columns = []Column{stunned, x}
	}
	if single {
		columns = columns[:1]
	}
	s, err := Hold(&World{Tables: []Table{{Label: "unit", Single: single, Keys: Keys{A: keys}, Columns: columns}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestLackingColumn: a Scalar column that one state lacks differs in the rows with values, whichever state lacks it, and
// whether or not the states have the same rows.
func TestLackingColumn(t *testing.T) {
	keys := []uint64{1, 2, 3}
	empty, err := Hold(&World{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		with, without State
		want          string // of the state with the column against the one without it
		only          uint64
	}{
		"some rows":  {lackingState(t, false, keys, "-", "true", "-"), lackingState(t, false, keys), "[2 stunned true absent]", 0},
		"all rows":   {lackingState(t, false, keys, "1", "2", "3"), lackingState(t, false, keys), "[1 stunned 1 absent 2 stunned 2 absent 3 stunned 3 absent]", 0},
		"other rows": {lackingState(t, false, keys, "-", "true", "-"), lackingState(t, false, []uint64{1, 2}), "[2 stunned true absent]", 1},
		"the state":  {lackingState(t, true, []uint64{0}, `"B`), empty, `[0 stunned "B" absent]`, 0},
	} {
		for _, swapped := range []bool{false, true} {
			a, b := c.with, c.without
			if swapped {
				a, b = b, a
			}
			d, err := Compare(a, b, DiffOptions{})
			if err != nil || len(d.Tables) != 1 {
				t.Fatalf("%s: %+v, %v", name, d, err)
			}
			table, got := &d.Tables[0], []string{}
			for _, ch := range table.Changes {
				if swapped {
					ch.A, ch.B = ch.B, ch.A
				}
				got = append(got, fmt.Sprint(ch.Key.A, " ", ch.Field, " ", ch.A, " ", ch.B))
			}
			if slices.Sort(got); fmt.Sprint(got) != c.want || len(table.Schema) > 0 || table.OnlyACount+table.OnlyBCount != c.only {
				t.Errorf("%s, swapped %t: %v, %+v", name, swapped, got, table)
			}
			if p := table.Columns[0].Pattern(); p.Kind != PatternAbsent || (p.Side == 1) == swapped {
				t.Errorf("%s, swapped %t: pattern %+v", name, swapped, p)
			}
		}
	}
}

// TestLackingLast: values in a column that one state lacks come after all others, and take no room from them.
func TestLackingLast(t *testing.T) {
	const rows, differs = 3000, 2500
	states := make([]State, 2)
	for side := range states {
		hp, x := NewColumn("unit", "hp", Scalar, 0), NewColumn("unit", "x", Scalar, 0)
		table := Table{Label: "unit"}
		for i := range rows {
			table.Keys.A = append(table.Keys.A, uint64(i))
			hp.AppendBytes([]byte("7"))
			x.AppendBytes([]byte{'1' + byte(side*((i+1)/differs))})
		}
		if table.Columns = []Column{x}; side == 0 {
			table.Columns = []Column{hp, x}
		} else {
			table.Keys.A[0] = rows // so that blocks are compared row by row too
			slices.Sort(table.Keys.A)
		}
		s, err := Hold(&World{Tables: []Table{table}})
		if err != nil {
			t.Fatal(err)
		}
		states[side] = s
	}
	for _, limit := range []int{0, 10, 600, -1} {
		d, err := Compare(states[0], states[1], DiffOptions{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		table := &d.Tables[0]
		want := [2]int{rows - differs, rows - 1}
		if limit >= 0 {
			limit = cmp.Or(limit, DefaultLimit)
			want[0] = min(want[0], limit)
			want[1] = limit - want[0]
		}
		lone := slices.IndexFunc(table.Changes, func(c Change) bool { return c.Field == "hp" })
		if lone < 0 {
			lone = len(table.Changes)
		}
		if got := [2]int{lone, len(table.Changes) - lone}; got != want || slices.ContainsFunc(table.Changes[lone:], func(c Change) bool { return c.Field == "x" }) {
			t.Errorf("limit %d: %d values of x, then %d of hp, expected %d", limit, got[0], got[1], want)
		}
		if h, x := &table.Columns[0], &table.Columns[1]; !h.Lacking || x.Lacking || h.Rows != rows-1 || x.Rows != rows-differs {
			t.Errorf("limit %d: %d and %d rows, %t and %t", limit, h.Rows, x.Rows, h.Lacking, x.Lacking)
		}
	}
}
