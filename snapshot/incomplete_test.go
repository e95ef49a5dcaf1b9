package snapshot

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCommon compares a state with a part of it and of another one: the differences match a comparison of all values
// that both have, one by one.
func TestCommon(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string, partial bool) (*World, map[[2]uint64]int64) {
			table := Table{Label: "T"}
			values := map[[2]uint64]int64{}
			columns := []Column{NewColumn("c", "a", I64, 0), NewColumn("c", "b", I64, 0)}
			for key := range uint64(6) {
				if partial && rapid.Bool().Draw(r, name+" lacks a row") {
					continue
				}
				table.Keys.A = append(table.Keys.A, key)
				for i := range columns {
					if partial && rapid.Bool().Draw(r, name+" lacks a value") {
						columns[i].AppendAbsent()
						continue
					}
					v := rapid.Int64Range(0, 1).Draw(r, name)
					columns[i].AppendInt(v)
					values[[2]uint64{key, uint64(i)}] = v
				}
			}
			table.Columns = columns
			w := &World{Tables: []Table{table}}
			if partial {
				w.SetIncomplete("lines are not in it", "")
			}
			return w, values
		}
		wa, a := draw("a", rapid.Bool().Draw(r, "a is partial"))
		wb, b := draw("b", true)
		want := uint64(0)
		for at, v := range a {
			if other, ok := b[at]; ok && other != v {
				want++
			}
		}
		sa, err := Hold(wa)
		if err != nil {
			r.Fatal(err)
		}
		sb, err := Hold(wb)
		if err != nil {
			r.Fatal(err)
		}
		d, err := Compare(sa, sb, DiffOptions{})
		if err != nil {
			r.Fatal(err)
		}
		got := uint64(0)
		for i := range d.Tables {
			got += d.Tables[i].Changed() + d.Tables[i].OnlyACount + d.Tables[i].OnlyBCount
		}
		if got != want || d.RootsDiffer() != (want > 0) {
			r.Fatalf("%d differences, want %d; roots differ: %v", got, want, d.RootsDiffer())
		}
	})
}
