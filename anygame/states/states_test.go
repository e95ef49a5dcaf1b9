package states

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// tell writes states one variable a line.
func tell(t *testing.T, worlds []*snapshot.World) string {
	t.Helper()
	var out strings.Builder
	for _, w := range worlds {
		fmt.Fprintf(&out, "state %s peer %q rng %q\n", w.Point, w.Peer, w.RNG)
		for _, table := range w.Tables {
			for row := range table.Rows() {
				for _, c := range table.Columns {
					if c.Has(row) {
						fmt.Fprintf(&out, "%s[%s].%s = %s\n", table.Label, table.Keys.At(row), c.Name(), c.At(row))
					}
				}
			}
		}
	}
	return out.String()
}

func decode(t *testing.T, texts ...string) string {
	t.Helper()
	var s Schema
	n := notation.Of("x.json", []byte(texts[0]), true)
	for _, text := range texts {
		if err := s.Learn(n, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	worlds, err := s.Decode(n, []byte(texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	return tell(t, worlds)
}

// TestVectors: some numbers in a text are fields, however each peer writes them.
func TestVectors(t *testing.T) {
	for _, text := range []string{
		`<s tick="1"><unit id="3,4" pos="1,2.5" note="1 or 2"/><unit id="3,5" pos="3,4" note="7 8"/></s>`,
		`<s tick="1"><unit id="3,4" pos="1.0 2.50" note="1 or 2"/><unit id="3,5" pos="(3, 4.0)" note="7 8"/></s>`,
	} {
		got := decode(t, text)
		want := `state 1 peer "" rng ""
unit[3,4].pos.0 = 1
unit[3,4].pos.1 = 2.5
unit[3,4].unit.id = "3,4"
unit[3,4].unit.note = "1 or 2"
unit[3,5].pos.0 = 3
unit[3,5].pos.1 = 4
unit[3,5].unit.id = "3,5"
unit[3,5].unit.note = "7 8"
`
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want)
		}
	}
}

func TestTables(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"rows with ids", []string{`{"tick": 300, "rng": 99, "units": [{"id": 9, "pos": {"x": 1.50, "y": 2}, "cargo": [4, 4, 9, 1, 7]}, {"id": 7, "pos": {"x": 3, "y": 4}, "cargo": []}]}`}, `
state 300 peer "" rng "rng 99\n"
units[7].pos.x = 3
units[7].pos.y = 4
units[7].units.id = 7
units[9].pos.x = 1.5
units[9].pos.y = 2
units[9].units.id = 9
units.cargo[9:0].cargo.value = 4
units.cargo[9:1].cargo.value = 4
units.cargo[9:2].cargo.value = 9
units.cargo[9:3].cargo.value = 1
units.cargo[9:4].cargo.value = 7
`},
		{"tables by columns", []string{`[{"frame": 3, "units": {"x": [1.5, 2], "at": [[1, 2], [3, 4]], "id": [9, 7]}}, {"frame": 4, "units": {"x": [], "at": [], "id": []}}]`}, `
state 3 peer "" rng ""
units[7].at.0 = 3
units[7].at.1 = 4
units[7].units.id = 7
units[7].units.x = 2
units[9].at.0 = 1
units[9].at.1 = 2
units[9].units.id = 9
units[9].units.x = 1.5
state 4 peer "" rng ""
`},
		{"lists of other lengths are no columns", []string{`{"frame": 3, "units": {"id": [9, 7], "hp": [1]}}`}, `
state 3 peer "" rng ""
state[0].units.hp.0 = 1
state[0].units.id.0 = 9
state[0].units.id.1 = 7
`},
		{"states by their ticks", []string{`{"by": "x", "snaps": {"300": {"gold": 1, "units": [{"id": 9, "hp": 2}]}, "325": {"gold": 2, "units": [{"id": 9, "hp": 1}]}}}`}, `
state 300 peer "" rng ""
state[0].state.gold = 1
units[9].units.hp = 2
units[9].units.id = 9
state 325 peer "" rng ""
state[0].state.gold = 2
units[9].units.hp = 1
units[9].units.id = 9
`},
		{"rows by place, vectors, globals", []string{`{"frame": "12", "weather": "rain", "wind": [1, 2.5], "units": [{"hp": 1, "v": [1, 2, 3]}, {"hp": 2, "v": [4, 5, 6]}]}`}, `
state 12 peer "" rng ""
state[0].state.weather = "rain"
state[0].wind.0 = 1
state[0].wind.1 = 2.5
units[0].units.hp = 1
units[0].v.0 = 1
units[0].v.1 = 2
units[0].v.2 = 3
units[1].units.hp = 2
units[1].v.0 = 4
units[1].v.1 = 5
units[1].v.2 = 6
`},
		{"maps whose names are ids", []string{`{"tick": 1, "units": {"17": {"hp": 3, "items": [{"n": 1}]}, "4": {"hp": 5, "items": []}}, "score": {"0": 5, "1": 9, "7": 2}, "at": {"1": 4, "2": 5.5}}`}, `
state 1 peer "" rng ""
score[0].score.value = 5
score[1].score.value = 9
score[7].score.value = 2
state[0].at.1 = 4
state[0].at.2 = 5.5
units[4].units.hp = 5
units[17].units.hp = 3
units.items[17:0].items.n = 1
`},
		{"a list of states", []string{`[{"turn": 1, "units": [{"id": 1, "hp": 3}]}, {"turn": 2, "units": [{"id": 1, "hp": 2}]}]`}, `
state 1 peer "" rng ""
units[1].units.hp = 3
units[1].units.id = 1
state 2 peer "" rng ""
units[1].units.hp = 2
units[1].units.id = 1
`},
		{"a list of states that is a map", []string{`{"1": {"turn": 5, "units": {"1": {"id": 8, "hp": 3}, "2": {"id": 7, "hp": 4}}}, "2": {"turn": 6, "units": {"1": {"id": 7, "hp": 2}}}}`}, `
state 5 peer "" rng ""
units[7].units.hp = 4
units[7].units.id = 7
units[8].units.hp = 3
units[8].units.id = 8
state 6 peer "" rng ""
units[7].units.hp = 2
units[7].units.id = 7
`},
		{"rows with names come and go, and have texts of their own", []string{
			`{"tick": 1, "units": [{"name": "a", "note": "x", "slot": 4}, {"name": "b", "note": "y", "slot": 3}]}`, `{"tick": 2, "units": [{"name": "a", "note": "x", "slot": 5}, {"name": "b", "note": "z", "slot": 6}, {"name": "c", "note": "y", "slot": 2}]}`,
			`{"tick": 3, "units": [{"name": "b", "note": "x", "slot": 7}, {"name": "c", "note": "y", "slot": 8}, {"name": "d", "note": "v", "slot": 9}]}`, `{"tick": 4, "units": [{"name": "d", "note": "x", "slot": 10}, {"name": "c", "note": "u", "slot": 11}]}`}, `
state 1 peer "" rng ""
units[a].units.name = "a"
units[a].units.note = "x"
units[a].units.slot = 4
units[b].units.name = "b"
units[b].units.note = "y"
units[b].units.slot = 3
`},
		{"a map for each component, one of lists", []string{`{"tick": 1, "components": {"hp": {"7": 3, "8": 4}, "cargo": {"7": [4, 5, 6, 7, 8], "8": []}, "size": {"7": [1, 2], "8": [3, 4]}}}`}, `
state 1 peer "" rng ""
components.cargo.item[7:0].item.value = 4
components.cargo.item[7:1].item.value = 5
components.cargo.item[7:2].item.value = 6
components.cargo.item[7:3].item.value = 7
components.cargo.item[7:4].item.value = 8
components.hp[7].hp.value = 3
components.hp[8].hp.value = 4
components.size[7].size.0 = 1
components.size[7].size.1 = 2
components.size[8].size.0 = 3
components.size[8].size.1 = 4
`},
		{"documents, one a state", []string{"{\"tick\": 1, \"peer\": \"host\", \"a\": {\"x\": 1}}\n{\"tick\": 2, \"peer\": \"host\", \"a\": {\"x\": 2}}\n"}, `
state 1 peer "host" rng ""
state[0].a.x = 1
state 2 peer "host" rng ""
state[0].a.x = 2
`},
		{"a list of rows", []string{`[{"id": 5, "hp": 1}, {"id": 3, "hp": 2}]`}, `
state an unknown state peer "" rng ""
rows[3].rows.hp = 2
rows[3].rows.id = 3
rows[5].rows.hp = 1
rows[5].rows.id = 5
`},
		{"within a map", []string{`{"game": {"tick": 7, "units": [{"name": "a", "hp": 1}]}}`, `{"game": {"tick": 8, "units": [{"name": "a", "hp": 2}]}}`}, `
state 7 peer "" rng ""
units[a].units.hp = 1
units[a].units.name = "a"
`},
		{"a text that changes identifies nothing", []string{`{"tick": 7, "units": [{"name": "a", "hp": 1.5}]}`, `{"tick": 8, "units": [{"name": "b", "hp": 2.5}]}`}, `
state 7 peer "" rng ""
units[0].units.hp = 1.5
units[0].units.name = "a"
`},
		{"a list of states in a map", []string{`{"game": "x", "states": [{"tick": 1, "hp": 5}, {"tick": 2, "hp": 6}]}`}, `
state 1 peer "" rng ""
state[0].state.hp = 5
state 2 peer "" rng ""
state[0].state.hp = 6
`},
		{"tick in a header", []string{`{"header": {"tick": 7, "map": "m"}, "players": [{"gold": 1}]}`}, `
state 7 peer "" rng ""
players[0].players.gold = 1
state[0].header.map = "m"
`},
		{"rows with ticks and peers", []string{`[{"tick": 1, "peer": "a", "id": 5, "hp": 1}, {"tick": 1, "peer": "b", "id": 5, "hp": 2}, {"tick": 2, "peer": "a", "id": 5, "hp": 3}]`}, `
state 1 peer "a" rng ""
rows[5].rows.hp = 1
rows[5].rows.id = 5
state 1 peer "b" rng ""
rows[5].rows.hp = 2
rows[5].rows.id = 5
state 2 peer "a" rng ""
rows[5].rows.hp = 3
rows[5].rows.id = 5
`},
		{"a name that comes again", []string{`{"tick": 1, "u": [{"id": 5, "hp": 1, "hp#2": 7, "hp": 2, "hp": 3}, {"id": 6, "hp": 4}]}`}, `
state 1 peer "" rng ""
u[5].u.hp = 1
u[5].u.hp#2 = 7
u[5].u.hp#3 = 2
u[5].u.hp#4 = 3
u[5].u.id = 5
u[6].u.hp = 4
u[6].u.id = 6
`},
		{"a name of a row that comes again", []string{`{"tick": 1, "u": {"5": {"hp": 1}, "6": {"mp": 2}, "7": {"mp": 4}, "6": {"mp": 3}}}`}, `
state 1 peer "" rng ""
u[5].u.hp = 1
u[6].u.mp = 2
u[6].u.mp#2 = 3
u[7].u.mp = 4
`},
		{"a handle that never comes again identifies no row", []string{`[{"tick": 1, "index": 5, "handle": 71}, {"tick": 1, "index": 6, "handle": 70}, {"tick": 2, "index": 5, "handle": 72}]`}, `
state 1 peer "" rng ""
rows[5].rows.handle = 71
rows[5].rows.index = 5
rows[6].rows.handle = 70
rows[6].rows.index = 6
state 2 peer "" rng ""
rows[5].rows.handle = 72
rows[5].rows.index = 5
`},
		{"a state has no id", []string{`[{"tick": 1, "id": 71, "hp": 5}, {"tick": 2, "id": 72, "hp": 6}]`}, `
state 1 peer "" rng ""
state[0].state.hp = 5
state[0].state.id = 71
state 2 peer "" rng ""
state[0].state.hp = 6
state[0].state.id = 72
`},
		{"a row for each field", []string{`[{"tick": 1, "kind": "unit", "entity": 5, "field": "pos.x", "value": 1}, {"tick": 1, "kind": "unit", "entity": 5, "field": "hp", "value": 2}, {"tick": 1, "kind": "tree", "entity": 5, "field": "hp", "value": 3}]`}, `
state 1 peer "" rng ""
tree[5].tree.entity = 5
tree[5].tree.hp = 3
unit[5].pos.x = 1
unit[5].unit.entity = 5
unit[5].unit.hp = 2
`},
		{"names that change are ids", []string{`{"tick": 1, "units": {"bob": {"hp": 3, "x": 1}, "eve": {"hp": 5, "x": 2}}}`, `{"tick": 2, "units": {"bob": {"hp": 3, "x": 1}, "dan": {"hp": 5, "x": 2}}}`}, `
state 1 peer "" rng ""
units[eve].units.hp = 5
units[eve].units.x = 2
units[bob].units.hp = 3
units[bob].units.x = 1
`},
	} {
		got := decode(t, c.texts...)
		if got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant%s", c.name, got, c.want)
		}
	}
}

// TestManySections: a map of many members with names that do not count is the state, and not a list of states, though
// one of its members has a tick.
func TestManySections(t *testing.T) {
	for _, n := range []int{mostMembers - 2, mostMembers, 5 * mostMembers} {
		var text strings.Builder
		text.WriteString(`{"world": {"tick": 100}`)
		for i := range n {
			fmt.Fprintf(&text, `, "s%d": {"hp": %d}`, i, i)
		}
		text.WriteString("}")
		got := decode(t, text.String(), strings.ReplaceAll(text.String(), "100", "200"))
		if strings.Count("\n"+got, "\nstate ") != 1 || strings.Count(got, "hp = ") != n {
			t.Errorf("%d members:\n%.300s", n, got)
		}
	}
}

// TestRowsOfSeveralFiles: where each line is a row, a text that is in every file identifies it.
func TestRowsOfSeveralFiles(t *testing.T) {
	got := decode(t,
		"{\"wallet\": \"b7\", \"coins\": 5}\n{\"wallet\": \"a1\", \"coins\": 7}\n{\"wallet\": \"c3\", \"coins\": 7}\n",
		"{\"wallet\": \"c3\", \"coins\": 7}\n{\"wallet\": \"b7\", \"coins\": 5}\n{\"wallet\": \"a1\", \"coins\": 8}\n")
	for _, row := range []string{"rows[a1].rows.coins = 7", "rows[b7].rows.coins = 5", "rows[c3].rows.coins = 7"} {
		if !strings.Contains(got, row) {
			t.Errorf("no %s in\n%s", row, got)
		}
	}
}

// TestIdentities: rows with other neighbours in the next file are found by the number that they begin with, in several languages.
// The state of a row identifies nothing, though all rows are in other states.
func TestIdentities(t *testing.T) {
	for _, c := range []struct{ first, second, row string }{
		{"Nr;Leben\n7;40\n9;5\n", "Nr;Leben\n9;5\n12;8\n", "rows[9]."},
		{"numero;vida\n7;40\n9;5\n", "numero;vida\n9;5\n12;8\n", "rows[9]."},
		{"hp;nr\n7;40\n9;5\n", "hp;nr\n9;9\n12;8\n", "rows[1]."},
		{"bezeichnung;hp\nUte;40\nIda;5\n", "bezeichnung;hp\nIda;4\nUte;40\n", "rows[Ida]."},
		{"hp;ai_state\n40;jump\n5;walk\n", "hp;ai_state\n40;jump\n4;walk\n", "rows[1]."},
		{"hp;weapon\n40;bow\n5;axe\n", "hp;weapon\n40;bow\n4;axe\n", "rows[axe]."},
	} {
		if got := decode(t, c.first, c.second); !strings.Contains(got, c.row) {
			t.Errorf("no %s in\n%s", c.row, got)
		}
	}
}

// TestDeepTicks: the only number deep in a document that is called like a tick of the game is the tick, if the names of the files
// have none.
func TestDeepTicks(t *testing.T) {
	const units = `"units": [{"id": 1, "cool": {"ticks": 4}}]`
	for _, c := range []struct {
		text, want string
		timed      bool
	}{
		{`{"save": {"game": {"tickManager": {"ticksGame": 300, "speed": "x"}, ` + units + `}}, "v": 2}`, "state 300 ", false},
		{`{"save": {"game": {"tickManager": {"ticksGame": 300, "speed": "x"}, ` + units + `}}, "v": 2}`, "state an unknown", true},
		{`{"save": {"game": {"clock": {"ticksGame": 300}, "net": {"sim_tick": 301}, ` + units + `}}, "v": 2}`, "state an unknown", false},
		{`{"save": {"game": {"clock": {"last_spawn_tick": 300}, ` + units + `}}, "v": 2}`, "state an unknown", false},
		{`{"save": {"game": {"clock": {"ticksGame": 300.5}, ` + units + `}}, "v": 2}`, "state an unknown", false},
		{strings.Repeat(`{"a": `, 40) + `{"ticksGame": 300}` + strings.Repeat(`, "v": 2}`, 40), "state an unknown", false},
	} {
		schema := Schema{Untimed: !c.timed}
		worlds, err := schema.Decode(notation.Of("x.json", []byte(c.text), true), []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := tell(t, worlds); !strings.HasPrefix(got, c.want) {
			t.Errorf("%.60s: expected %s\n%s", c.text, c.want, got)
		}
	}
}

// TestNamesInTicks: where a file has the rows of many ticks, a text that is unique in each tick and the same in most of them
// identifies a row, even in a file of one tick. Texts that change, or that two rows have, do not.
func TestNamesInTicks(t *testing.T) {
	long := ""
	for i := range 5 {
		long += fmt.Sprintf("%d,Keep,%s,%d,stone\n%d,Mill,%s,7,wood\n", i*5, []string{"calm", "raid"}[i%2], i*i, i*5, []string{"fire", "calm", "rain"}[i%3])
	}
	for _, c := range []struct{ header, text, row string }{
		{"turn,tower,mood,hp,made\n", "20,Mill,calm,7,wood\n20,Keep,rain,16,wood\n", "rows[Keep].rows.hp = 16"},
		{"turn,mood,hp,made\n", "20,rain,7,wood\n20,calm,16,wood\n", "rows[1].rows.hp = 16"},
	} {
		all := long
		if !strings.Contains(c.header, "tower") {
			all = strings.NewReplacer(",Keep", "", ",Mill", "").Replace(long)
		}
		n := notation.Of("a.csv", []byte(c.header+all), true)
		var s Schema
		for _, text := range []string{all, c.text} {
			if err := s.Learn(n, []byte(c.header+text)); err != nil {
				t.Fatal(err)
			}
		}
		worlds, err := s.Decode(n, []byte(c.header+c.text))
		if got := tell(t, worlds); err != nil || !strings.Contains(got, c.row) {
			t.Errorf("no %s in\n%s%v", c.row, got, err)
		}
	}
}

// TestSmallStates: maps of small records are states under their ticks, and rows where they may be those.
func TestSmallStates(t *testing.T) {
	records := func(step int, format string) string {
		var list []string
		for i := range 12 {
			list = append(list, fmt.Sprintf(format, step*i, i%3))
		}
		return "{" + strings.Join(list, ", ") + "}"
	}
	const plain = `"%d": {"x": %d, "hp": 9}`
	for _, c := range []struct {
		text   string
		dumps  bool
		states int
	}{
		{text: records(5, plain), states: 12},
		{text: records(5, `"frame_%d": {"x": %d, "hp": 9}`), states: 12},
		{text: `{"player": "ann", "log": ` + records(10, plain) + `}`, states: 12},
		{text: `{"history": ` + records(1, plain) + `}`, states: 12},
		{text: records(1, plain), states: 1},
		{text: records(5, plain), dumps: true, states: 1},
		{text: `{"states": ` + records(1, plain) + `}`, states: 1}, // of a country
		{text: records(5, `"%d": {"id": %d, "hp": 9}`), states: 1},
		{text: records(5, `"%d": {"kind": %d, "hp": 9}`), states: 1},
		{text: records(5, `"%d": {"pos": [%d, 1, 2, 3, 4, 5], "hp": 9}`), states: 1},
		{text: `{"units": ` + records(5, plain) + `, "players": [{"id": 1, "gold": 5}]}`, states: 1},
		{text: strings.Replace(records(5, plain), `"25"`, `"27"`, 1), states: 1},
	} {
		s := Schema{Dumps: c.dumps}
		n := notation.Of("x.json", []byte(c.text), true)
		if err := s.Learn(n, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		worlds, err := s.Decode(n, []byte(c.text))
		if err != nil || len(worlds) != c.states {
			t.Errorf("%.80s: %d states, %v, want %d", c.text, len(worlds), err, c.states)
		}
	}
}

// TestPeersOfOneType: documents of one tick with the names of their peers are the peers' states, also if all name one type.
func TestPeersOfOneType(t *testing.T) {
	text := "-- peer ann\nTown {turnNo = 4, houses = [House {owner = \"Ash\", rent = 3}], pile = [4,9,1,7,2]}\n\n-- peer bob\nTown {turnNo = 4, houses = [House {owner = \"Ash\", rent = 5}], pile = []}\n"
	n := notation.Of("4.show", []byte(text), true)
	var s Schema
	worlds, err := s.Decode(n, []byte(text))
	if err != nil || len(worlds) != 2 || worlds[0].Peer != "ann" || worlds[1].Peer != "bob" || worlds[1].Point.Tick != 4 {
		t.Errorf("%s%v", tell(t, worlds), err)
	}
}

// TestTicksWithoutName: a number that grows evenly is the tick if the rows within its states recur, and else it is not.
func TestTicksWithoutName(t *testing.T) {
	repeat := func(line string, step int) string {
		var out strings.Builder
		for i := 1; i <= 12; i++ {
			out.WriteString(strings.NewReplacer("@", fmt.Sprint(i*step), "%", fmt.Sprint(i*i%7), "&", fmt.Sprint(100*i)).Replace(line))
		}
		return out.String()
	}
	for _, c := range []struct {
		file, text string
		states     int
	}{
		{"a.json", repeat(`{"k":@,"u":[{"id":1,"hp":%},{"id":2,"hp":5}]}`+"\n", 1), 12},
		{"a.json", repeat(`{"k":@,"u":{"7":{"hp":%},"8":{"hp":4}}}`+"\n", 3), 12},
		{"a.json", `{"me":"ann"}` + "\n" + repeat(`{"k":@,"u":[{"id":1,"hp":%},{"id":2,"hp":5}]}`+"\n", 1), 13}, // the header too
		{"a.csv", "k;nr;hp\n" + repeat("@;1;%\n@;2;5\n", 2), 12},
		{"a.json", repeat(`{"province":@,"armies":[{"id":&,"size":%},{"id":7&,"size":5}]}`+"\n", 1), 1}, // other rows in each
		{"a.json", repeat(`{"province":@,"made":[{"type":"iron","n":%},{"type":"coal","n":5}]}`+"\n", 1), 1},
		{"a.json", repeat(`{"id":@,"u":[{"id":1,"hp":%},{"id":2,"hp":5}]}`+"\n", 1), 1},
		{"a.json", repeat(`{"k":%,"u":[{"id":1,"hp":@},{"id":2,"hp":5}]}`+"\n", 1), 1},
		{"a.csv", "k;hp;x\n" + repeat("@;%;4\n", 1), 1},
		{"a.csv", "row;col;tile\n" + repeat("@;1;%\n@;2;5\n", 1), 1},
	} {
		n := notation.Of(c.file, []byte(c.text), true)
		var s Schema
		if err := s.Learn(n, []byte(c.text)); err != nil {
			t.Fatal(err)
		}
		worlds, err := s.Decode(n, []byte(c.text))
		if err != nil || len(worlds) != c.states || worlds[len(worlds)-1].Point.Known() != (c.states > 1) {
			t.Errorf("%.60q: %d states, want %d; %v", c.text, len(worlds), c.states, err)
		}
	}
}
