package snapshot

import (
	"testing"

	"pgregory.net/rapid"
)

// TestStale: a column is stale by one tick exactly if the definition, written down row by row, holds.
func TestStale(t *testing.T) {
	found := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 24).Draw(t, "rows")
		value := rapid.Uint64Range(0, 40)
		type state map[uint64]uint64
		host, before, client := state{}, state{}, state{}
		late := rapid.Bool().Draw(t, "late") // the client has not moved on
		spoiled := rapid.IntRange(-40, n-1).Draw(t, "spoiled")
		for i := range uint64(n) {
			before[i] = value.Draw(t, "before")
			host[i] = before[i]
			if rapid.IntRange(0, 3).Draw(t, "moves") > 0 {
				host[i] = value.Draw(t, "host")
			}
			client[i] = host[i]
			if late || rapid.IntRange(0, 9).Draw(t, "other") == 0 {
				client[i] = before[i]
			}
			if int(i) == spoiled {
				client[i] += 7
			}
		}
		if rapid.IntRange(0, 5).Draw(t, "unborn") == 0 {
			delete(before, rapid.Uint64Range(0, uint64(n)).Draw(t, "key"))
		}
		if rapid.IntRange(0, 5).Draw(t, "gone") == 0 {
			delete(client, rapid.Uint64Range(0, uint64(n)).Draw(t, "key"))
		}
		world := func(s state) State {
			tb := Table{Label: "Unit"}
			c := NewColumn("Health", "hp", U64, 0)
			for i := range uint64(n) {
				if v, has := s[i]; has {
					tb.Keys.A = append(tb.Keys.A, i)
					c.AppendUint(v)
				}
			}
			tb.Columns = []Column{c}
			held, err := Hold(&World{Tables: []Table{tb}})
			if err != nil {
				t.Fatal(err)
			}
			return held
		}
		a, b := world(host), world(client)
		d, err := Compare(a, b, DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := d.MarkStale(a, b, [2]State{world(before), nil}); err != nil {
			t.Fatal(err)
		}
		rows, all := 0, true
		for key, v := range client {
			h, both := host[key]
			if !both || v == h {
				continue
			}
			rows++
			old, had := before[key]
			all = all && had && old == v
		}
		want := all && rows >= 8
		got := false
		for i := range d.Tables {
			for _, c := range d.Tables[i].Columns {
				got = c.stale == 2
				if c.stale&1 != 0 {
					t.Fatal("the host is stale, but nothing is known of the client's tick before")
				}
			}
		}
		if got != want {
			t.Fatalf("stale: %v, expected %v; %d rows differ", got, want, rows)
		}
		found[want]++
	})
	if found[true] == 0 || found[false] == 0 {
		t.Errorf("cases: %v", found)
	}
}

// TestStaleOfAll: a field is stale if it is in all tables that are summed up, on one side.
func TestStaleOfAll(t *testing.T) {
	column := func(stale uint8) *Tally {
		tally := &Tally{}
		for i := range uint64(9) {
			tally.Add(valueOf(U64, 0, 10+i*i), valueOf(U64, 0, 10+i*i*i+1))
		}
		tally.stale = stale
		return tally
	}
	for _, test := range []struct {
		a, b uint8
		want bool
	}{{2, 2, true}, {1, 1, true}, {1, 2, false}, {2, 0, false}, {3, 2, true}, {3, 3, false}} {
		sum := Tally{}
		sum.Merge(column(test.a))
		sum.Merge(column(test.b))
		if p := sum.Pattern(); (p.Kind == PatternStale) != test.want || test.want && p.Side != int(test.b-1) {
			t.Errorf("%d and %d: %+v", test.a, test.b, p)
		}
	}
}
