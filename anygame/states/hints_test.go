package states

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// classes is tell with the classes of tables that are no archetypes.
func classes(t *testing.T, worlds []*snapshot.World) string {
	t.Helper()
	var out strings.Builder
	for _, w := range worlds {
		for _, table := range w.Tables {
			one := &snapshot.World{Head: w.Head, Tables: []snapshot.Table{table}}
			for line := range strings.Lines(tell(t, []*snapshot.World{one})) {
				if !strings.HasPrefix(line, "state ") && table.Class != snapshot.Archetype {
					line = table.Class.String() + " " + line
				}
				if strings.HasPrefix(line, "state ") && strings.Contains(out.String(), line) {
					continue
				}
				out.WriteString(line)
			}
		}
	}
	return out.String()
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		hints            Hints
		table            string
		want             string
	}{
		{"the key, the label, noise and caches", "x.json",
			`{"world": {"frame": 7, "turn": 2, "grid": [[1, 2], [3, 4]], "units": [{"no": 1, "uid": "b", "meta": {"at": 5}, "cargo": [{"n": 1}]}, {"no": 2, "uid": "a", "meta": {"at": 6}}]}, "saved": 99}`,
			Hints{Tick: "world.frame", Noise: []string{"saved", "world.units.meta"}, Cache: []string{"world.grid"},
				Tables: []Table{{Path: "world.units", Key: "uid", Label: "units"}}}, "", `
state 7 peer "" rng ""
state[0].world.turn = 2
units[a].units.no = 2
units[a].units.uid = "a"
units[b].units.no = 1
units[b].units.uid = "b"
units.cargo[b:0].cargo.n = 1
cache world.grid[0].grid.0 = 1
cache world.grid[0].grid.1 = 2
cache world.grid[1].grid.0 = 3
cache world.grid[1].grid.1 = 4
noise state[0].state.saved = 99
noise units[a].meta.at = 6
noise units[b].meta.at = 5
`},
		{"a key below the row", "x.json", `{"tick": 1, "units": [{"id": 1, "m": {"k": 30}}, {"id": 2, "m": {"k": 20}}]}`,
			Hints{Tables: []Table{{Path: "units", Key: "m.k"}}}, "", `
state 1 peer "" rng ""
units[20].m.k = 20
units[20].units.id = 2
units[30].m.k = 30
units[30].units.id = 1
`},
		{"a map and a vector that are tables", "x.json", `{"tick": 1, "weather": {"wind": {"a": 1}, "rain": {"b": 2}}, "lanes": [7, 8]}`,
			Hints{Tables: []Table{{Path: "weather", Label: "w"}, {Path: "lanes"}}}, "", `
state 1 peer "" rng ""
lanes[0].lanes.value = 7
lanes[1].lanes.value = 8
w[wind].w.a = 1
w[rain].w.b = 2
`},
		{"a tick and a peer that are not called so", "x.json", `{"tick": 1, "h": {"when": 40, "who": "bob"}, "peer": "no", "r": {"s": [1, 2]}, "seed": 3}`,
			Hints{Tick: "h.when", Peer: "h.who", RNG: []string{"r.s"}}, "", `
state 40 peer "bob" rng "r.s.0 1\nr.s.1 2\n"
state[0].state.peer = "no"
state[0].state.seed = 3
state[0].state.tick = 1
`},
		{"states in a list far below", "x.json", `{"a": {"b": {"list": [{"h": {"at": 3}, "x": 1}, {"h": {"at": 4}, "x": 2}]}}, "v": 1}`,
			Hints{Tick: "a.b.list.h.at"}, "", `
state 3 peer "" rng ""
state[0].state.x = 1
state 4 peer "" rng ""
state[0].state.x = 2
`},
		{"a map of rows, and a list, where lists are members that come again", "x.txt", "tick: 1\nfleets:\n\t0:\n\t\tid: 7\n\t\tto: (1, 2, 3, 4, 5)\n\t\tx: 4\n\t1:\n\t\tid: 9\n\t\tto: (9, 8)\n\t\tx: 5\n",
			Hints{Tables: []Table{{Path: "fleets", Key: "id"}, {Path: "fleets.to"}}}, "", `
state 1 peer "" rng ""
fleets[7].fleets.id = 7
fleets[7].fleets.x = 4
fleets[9].fleets.id = 9
fleets[9].fleets.x = 5
fleets.to[7:0].to.value = 1
fleets.to[7:1].to.value = 2
fleets.to[7:2].to.value = 3
fleets.to[7:3].to.value = 4
fleets.to[7:4].to.value = 5
fleets.to[9:0].to.value = 9
fleets.to[9:1].to.value = 8
`},
		{"XML with one row", "x.xml", `<w><tick>5</tick><units><unit uid="4" hp="1"/></units></w>`,
			Hints{Tables: []Table{{Path: "w.units.unit", Key: "uid", Label: "u"}}}, "", `
state 5 peer "" rng ""
u[4].u.hp = 1
u[4].u.uid = 4
`},
		{"a list of rows", "x.csv", "when,who,uid,hp,clock\n3,a,7,1,90\n3,b,7,2,91\n4,a,7,3,92\n4,b,7,3,93\n",
			Hints{Tick: "when", Peer: "who", Noise: []string{"clock"}, Tables: []Table{{Path: "", Key: "uid", Label: "units"}}}, "", `
state 3 peer "a" rng ""
units[7].units.hp = 1
units[7].units.uid = 7
noise units[7].units.clock = 90
state 3 peer "b" rng ""
units[7].units.hp = 2
units[7].units.uid = 7
noise units[7].units.clock = 91
state 4 peer "a" rng ""
units[7].units.hp = 3
units[7].units.uid = 7
noise units[7].units.clock = 92
state 4 peer "b" rng ""
units[7].units.hp = 3
units[7].units.uid = 7
noise units[7].units.clock = 93
`},
		{"a file with one table", "x.csv", "serial,hp,clock\n8,1,5\n7,2,6\n",
			Hints{Noise: []string{"units.clock"}, Tables: []Table{{Path: "players", Key: "hp"}, {Path: "units", Key: "serial"}}}, "units", `
state an unknown state peer "" rng ""
units[7].units.hp = 2
units[7].units.serial = 7
units[8].units.hp = 1
units[8].units.serial = 8
noise units[7].units.clock = 6
noise units[8].units.clock = 5
`},
		{"paths that are not there", "x.json", `{"tick": 1, "x": 2}`, Hints{Tick: "a.b", Peer: "c", Tables: []Table{{Path: "d.e", Key: "f"}}}, "", `
state an unknown state peer "" rng ""
state[0].state.tick = 1
state[0].state.x = 2
`},
	} {
		s := Schema{Table: c.table, Hints: &c.hints}
		n := notation.Of(c.file, []byte(c.text), true)
		worlds, err := s.Decode(n, []byte(c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if got := classes(t, worlds); got != c.want[1:] {
			t.Errorf("%s:\n%s\nexpected\n%s", c.name, got, c.want)
		}
	}
}

// TestHas has a state with maps within each other under names that could be ids, and a path through all of them.
func TestHas(t *testing.T) {
	const deep = 200
	text := strings.Repeat(`{"1":`, deep) + "5" + strings.Repeat("}", deep)
	var s Schema
	if err := s.Learn(notation.Of("x.json", []byte(text), true), []byte(text)); err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSuffix(strings.Repeat("1.", deep), ".")
	if !s.Has(path) || s.Has(path+".1") || s.Has(path+".2") || s.Has("2") {
		t.Error("paths")
	}
}
