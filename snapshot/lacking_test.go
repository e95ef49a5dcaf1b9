package snapshot

import (
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
