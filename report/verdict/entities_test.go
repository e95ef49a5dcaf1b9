package verdict

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// fakeNaming assigns every row to the entity with the last digit of its key's first part, and knows which entities are
// there.
type fakeNaming map[uint64]bool

func (fakeNaming) Entity(label string, key snapshot.Key) snapshot.Entity {
	if label == "T3" {
		return snapshot.Entity{Kind: label, Key: key} // a separate table
	}
	return snapshot.Entity{Kind: "unit", Key: snapshot.Key{A: key.A % 10}}
}

func (n fakeNaming) Has(e snapshot.Entity) bool { return n[e.Key.A] }

func (fakeNaming) Describe(e snapshot.Entity) (name, place string) {
	return fmt.Sprintf("name %d", e.Key.A), ""
}

// TestEntitiesCountAll compares the entities of a report with a separate count of every row and value: each belongs to
// one entity, or to the others, and to no second one.
func TestEntitiesCountAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		info := func() *snapshot.Info { return &snapshot.Info{} }
		d := &snapshot.Diff{A: info(), B: info()}
		peers := [2]string{"host", "client"}
		naming := [2]fakeNaming{{}, {}}
		type entity struct {
			snapshot.Entity
			cache bool
		}
		values, rows := map[entity]uint64{}, map[entity][2]uint64{}
		var allValues, allRows, keptValues uint64
		for n := range rapid.IntRange(0, 5).Draw(t, "tables") {
			table := snapshot.TableDiff{Label: fmt.Sprintf("T%d", n), InA: true, InB: true, Class: snapshot.Archetype}
			if n == 4 {
				table.Class = snapshot.Cache
			}
			of := func(side int, key snapshot.Key) entity {
				if table.Class == snapshot.Cache {
					return entity{snapshot.Entity{Kind: table.Label, Key: key}, true}
				}
				return entity{naming[side].Entity(table.Label, key), false}
			}
			wide := rapid.SampledFrom([]int{20, 300}).Draw(t, "keys")
			for a := range rapid.IntRange(0, wide).Draw(t, "rows") {
				key := snapshot.Key{A: uint64(a)}
				switch rapid.IntRange(0, 3).Draw(t, "row") {
				case 0:
					table.OnlyA, table.OnlyACount, allRows = append(table.OnlyA, key), table.OnlyACount+1, allRows+1
					count := rows[of(0, key)]
					count[0]++
					rows[of(0, key)] = count
					naming[0][of(0, key).Key.A] = true
				case 1:
					table.OnlyB, table.OnlyBCount, allRows = append(table.OnlyB, key), table.OnlyBCount+1, allRows+1
					count := rows[of(1, key)]
					count[1]++
					rows[of(1, key)] = count
					naming[1][of(1, key).Key.A] = true
				case 2:
					for field := range rapid.IntRange(1, 3).Draw(t, "fields") {
						table.Changes = append(table.Changes, drawnChange(key, field))
						values[of(0, key)]++
						allValues++
						keptValues++
					}
					naming[0][of(0, key).Key.A], naming[1][of(0, key).Key.A] = true, true
				}
			}
			// Rows that a diff counted and did not keep belong to no entity.
			left := rapid.Uint64Range(0, 50).Draw(t, "left out")
			if len(table.Changes) > 0 {
				table.Columns = []snapshot.ColumnDiff{{Component: "C", Field: "f", Tally: snapshot.Tally{Rows: uint64(len(table.Changes)) + left}}}
				allValues += left
			}
			only := rapid.Uint64Range(0, 9).Draw(t, "rows left out")
			table.OnlyACount, allRows = table.OnlyACount+only, allRows+only
			d.Tables = append(d.Tables, table)
		}
		c := &Conclusion{}
		c.locus(&Parted{Names: peers, Naming: [2]snapshot.Naming{naming[0], naming[1]}, Diff: d})
		k := c.Compared
		if k.Values != allValues {
			t.Fatalf("%d values, expected %d", k.Values, allValues)
		}
		var gotValues, gotRows uint64
		seen := map[entity]bool{}
		for i := range k.Entities {
			e := &k.Entities[i]
			key, err := snapshot.ParseKey(e.Key)
			if err != nil {
				t.Fatal(err)
			}
			id := entity{snapshot.Entity{Kind: e.Kind, Key: key}, e.Cache}
			if seen[id] {
				t.Fatalf("%s twice", e.Title())
			}
			seen[id] = true
			var count [2]uint64
			for _, r := range e.Rows {
				count[map[string]int{"host": 0, "client": 1}[r.Peer]] += r.Count
			}
			if e.Values != values[id] || count != rows[id] {
				t.Fatalf("%s: %d values and rows %v, expected %d and %v", e.Title(), e.Values, count, values[id], rows[id])
			}
			gotValues += e.Values
			gotRows += count[0] + count[1]
			// It is one peer's alone if the other is known to lack it.
			only := ""
			switch {
			case e.Values > 0:
			case e.Cache && count[1] == 0 || !e.Cache && !naming[1][key.A]:
				only = "host"
			case e.Cache && count[0] == 0 || !e.Cache && !naming[0][key.A]:
				only = "client"
			}
			if e.OnlyOn != only {
				t.Fatalf("%s is only on %q, expected %q", e.Title(), e.OnlyOn, only)
			}
		}
		var others document.Others
		if k.Others != nil {
			others = *k.Others
		}
		if gotValues+others.Values != allValues || gotRows+others.Rows != allRows {
			t.Fatalf("%d values and %d rows with the others, expected %d and %d", gotValues+others.Values, gotRows+others.Rows, allValues, allRows)
		}
		for i := range c.Locus {
			f := &c.Locus[i]
			key, _ := snapshot.ParseKey(f.Key)
			e := k.Entities[*f.Entity]
			want := entity{snapshot.Entity{Kind: f.Archetype, Key: key}, true}
			if !f.Cache {
				want = entity{naming[0].Entity(f.Archetype, key), false}
			}
			if e.Kind != want.Kind || e.Key != want.Key.String() || e.Cache != want.cache {
				t.Fatalf("%s %s is of %s", f.Archetype, f.Key, e.Title())
			}
		}
		// And the parts of texts have each listed value and each row again.
		g := (&document.Report{Compared: k, Locus: c.Locus}).Gather()
		shown, folded := 0, others.Values
		var gathered uint64
		for i := range g.Entities {
			for _, line := range g.Entities[i].Lines {
				shown += 1 + len(line.Same)
			}
			folded += g.Entities[i].Left
			for _, r := range g.Entities[i].Rows {
				gathered += r.Count
			}
		}
		for i := range g.Absent {
			gathered += g.Absent[i].Rows
		}
		if shown != len(c.Locus) || uint64(shown)+folded != allValues || gathered+others.Rows != allRows {
			t.Fatalf("%d of %d values are shown, %d folded of %d; %d rows of %d", shown, len(c.Locus), folded, allValues, gathered, allRows)
		}
	})
}

func drawnChange(key snapshot.Key, n int) snapshot.Change {
	return snapshot.Change{
		Key: key, Component: "C", Field: fmt.Sprintf("f%d", n), Kind: snapshot.KindInteger,
		A: snapshot.Value{Type: snapshot.U8, Raw: []byte{byte(n)}}, B: snapshot.Value{Type: snapshot.U8, Raw: []byte{byte(key.A)}},
	}
}
