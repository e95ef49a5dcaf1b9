package snapshot

import "testing"

// TestReordered: of rows without ids the same ones in another order are said to be so, and nothing else is.
func TestReordered(t *testing.T) {
	state := func(placed bool, owners []uint64, values ...string) State {
		c := NewColumn("queue", "what", String, 0)
		for _, v := range values {
			c.AppendBytes([]byte(v))
		}
		keys := Keys{A: []uint64{0, 1, 2}}
		if owners != nil {
			keys = Keys{A: owners, B: []uint64{0, 1, 2}}
		}
		s, err := Hold(&World{Tables: []Table{{Label: "queue", Placed: placed, Keys: keys, Columns: []Column{c}}}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, c := range []struct {
		name   string
		placed bool
		owners []uint64
		a, b   []string
		want   bool
	}{
		{"another order", true, nil, []string{"x", "y", "x"}, []string{"x", "x", "y"}, true},
		{"another row", true, nil, []string{"x", "y", "x"}, []string{"x", "y", "y"}, false},
		{"rows with ids", false, nil, []string{"x", "y", "x"}, []string{"x", "x", "y"}, false},
		{"within an owner", true, []uint64{7, 7, 8}, []string{"x", "y", "z"}, []string{"y", "x", "z"}, true},
		{"from one owner to another", true, []uint64{7, 7, 8}, []string{"x", "y", "z"}, []string{"x", "z", "y"}, false},
	} {
		d, err := Compare(state(c.placed, c.owners, c.a...), state(c.placed, c.owners, c.b...), DiffOptions{})
		if err != nil || len(d.Tables) != 1 || d.Tables[0].Reordered != c.want {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
	}
}
