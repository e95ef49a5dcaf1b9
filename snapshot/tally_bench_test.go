package snapshot

import "testing"

// BenchmarkCompareDense compares two states in which every second value of a column differs.
func BenchmarkCompareDense(b *testing.B) {
	const rows = 1 << 20
	world := func(add uint64) State {
		t := Table{Label: "Unit"}
		c := NewColumn("Position", "x", U64, 0)
		for i := range rows {
			t.Keys.A = append(t.Keys.A, uint64(i))
			v := uint64(i) * 0x9e3779b97f4a7c15
			if i%2 == 0 {
				v += add * uint64(i%7)
			}
			c.AppendUint(v)
		}
		t.Columns = append(t.Columns, c)
		s, err := Hold(&World{Tables: []Table{t}})
		if err != nil {
			b.Fatal(err)
		}
		return s
	}
	x, y := world(0), world(3)
	b.SetBytes(8 * rows)
	for b.Loop() {
		if _, err := Compare(x, y, DiffOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
