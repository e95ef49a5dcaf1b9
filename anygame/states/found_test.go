package states

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/notation"
)

// foundIn tells what is found in the first of some files.
func foundIn(t *testing.T, s Schema, name string, texts ...string) string {
	t.Helper()
	n := notation.Of(name, []byte(texts[0]), true)
	for _, text := range texts {
		if err := s.Learn(n, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	_, found, err := s.Read(n, []byte(texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	fmt.Fprintf(&out, "tick %q peer %q rng %q\n", found.Tick, found.Peer, found.RNG)
	for _, table := range found.Tables {
		fmt.Fprintf(&out, "%s at %q by %q, %s:", table.Label, table.Path, table.Key, table.Why)
		for _, c := range table.Columns {
			fmt.Fprintf(&out, " %s.%s=%s", c.Component, c.Field, c.Path)
		}
		out.WriteByte('\n')
	}
	for _, m := range found.Misfits {
		fmt.Fprintf(&out, "%d: %s\n", m.Offset, m.Text)
	}
	return out.String()
}

func TestFound(t *testing.T) {
	key := func(path, key string) Schema { return Schema{Hints: &Hints{Tables: []Table{{Path: path, Key: key}}}} }
	for _, c := range []struct {
		name   string
		schema Schema
		file   string
		texts  []string
		want   string
	}{
		{"why rows are found again", Schema{}, "x.json", []string{
			`{"game": {"tick": 3, "wind": 2}, "rng": {"a": 1}, "by": {"who": "x"}, "units": [{"id": 4, "pos": {"x": 1}, "cargo": [5, 6, 7, 8, 9]}], "towns": [{"town": "Ayr", "n": 1}, {"town": "Bo", "n": 1}], "teams": {"t_1": {"s": 1}, "t_2": {"s": 2}}}`,
			`{"game": {"tick": 4, "wind": 2}, "rng": {"a": 2}, "by": {"who": "x"}, "units": [{"id": 4, "pos": {"x": 1}, "cargo": [5, 6, 7, 8]}], "towns": [{"town": "Bo", "n": 1}, {"town": "Ayr", "n": 2}], "teams": {"t_1": {"s": 1}, "t_2": {"s": 2}}}`,
		}, `
tick "game.tick" peer "" rng ["rng"]
state at "" by "", only row: game.wind=game.wind by.who=by.who
units at "units" by "id", id: units.id=units.id pos.x=units.pos.x
units.cargo at "units.cargo" by "", place: cargo.value=units.cargo
towns at "towns" by "town", stable: towns.town=towns.town towns.n=towns.n
teams at "teams" by "", name: teams.s=teams.s
`},
		{"a table in a file of its own", Schema{Table: "units"}, "x.csv", []string{"tick,peer,uid,hp\n5,a,1,2\n5,a,2,2\n6,a,1,2\n"}, `
tick "tick" peer "peer" rng []
units at "units" by "uid", id: units.uid=units.uid units.hp=units.hp
`},
		{"rows of kinds", Schema{}, "x.csv", []string{"tick,kind,id,name,value\n5,unit,1,a,2\n5,town,1,b,2\n5,town,1,c,3\n"}, `
tick "tick" peer "" rng []
unit at "" by "id", id: unit.id=id unit.name=name unit.value=value
town at "" by "name", id: town.id=id town.name=name town.value=value
`},
		{"fields of entities", Schema{}, "x.csv", []string{"tick,kind,id,field,value\n5,unit,1,hp,2\n5,unit,1,x,9\n"}, `
tick "tick" peer "" rng []
unit at "" by "id", id: unit.id= unit.hp= unit.x=
`},
		{"rows without the key, and with one again", key("units", "uid"), "x.json", []string{"{\"tick\": 1, \"units\": [{\"uid\": 1},\n{\"hp\": 2}, {\"uid\": 1}]}"}, `
tick "tick" peer "" rng []
units at "units" by "uid", described: units.uid=units.uid units.hp=units.hp
34: a row of units without uid, expected one in each row
45: a row of units with the uid of an earlier one, expected another
`},
		{"the same in a list of rows", key("", "uid"), "x.csv", []string{"tick,uid,hp\n5,1,2\n5,1,3\n6,1,2\n"}, `
tick "tick" peer "" rng []
rows at "" by "uid", described: rows.uid=uid rows.hp=hp rows.uid#2=uid rows.hp#2=hp
18: a row of rows with the uid of an earlier one, expected another
`},
	} {
		if got := foundIn(t, c.schema, c.file, c.texts...); got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nexpected\n%s", c.name, got, c.want)
		}
	}
}

// TestMerge: what several files have is there once, and a key that one file shows counts for all.
func TestMerge(t *testing.T) {
	a := &Found{Tables: []FoundTable{{Label: "u", Why: ByPlace, Columns: []FoundColumn{{"u", "x", "u.x"}}}}}
	b := &Found{Tick: "t", RNG: []string{"r"}, Tables: []FoundTable{{Label: "u", Key: "id", Why: ByID, Columns: []FoundColumn{{"u", "x", "u.x"}, {"u", "id", "u.id"}}}, {Label: "v"}}}
	all := &Found{}
	all.Merge(a)
	all.Merge(b)
	all.Merge(b)
	u := all.Tables[0]
	if len(all.Tables) != 2 || u.Key != "id" || u.Why != ByID || len(u.Columns) != 2 || all.Tick != "t" || !slices.Equal(all.RNG, b.RNG) || all.PathOf("u", "u", "id") != "u.id" {
		t.Errorf("%+v", all)
	}
}

// TestNamesFirst: a name that identifies rows comes before a number, which may be no more than a place.
func TestNamesFirst(t *testing.T) {
	text := func(tick, hp int) string {
		return fmt.Sprintf(`{"tick": %d, "ships": [{"idx": 1, "name": "Argo", "hp": %d}, {"idx": 2, "name": "Kent", "hp": 5}]}`, tick, hp)
	}
	got := foundIn(t, Schema{}, "x.json", text(1, 3), text(2, 4), text(3, 4))
	if !strings.Contains(got, `ships at "ships" by "name"`) {
		t.Error(got)
	}
}
