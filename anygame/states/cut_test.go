package states

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/notation"
)

// texts are a state in each notation.
var texts = map[string]string{
	"json":       "{\"tick\": 300, \"units\": [{\"id\": 7, \"hp\": 10}, {\"id\": 8, \"hp\": 12}], \"rain\": true}\n",
	"xml":        "<state tick=\"300\"><unit id=\"7\" hp=\"10\"/><unit id=\"8\" hp=\"12\"/></state>\n",
	"yaml":       "tick: 300\nrain: true\nunits:\n  - id: 7\n    hp: 10\n  - id: 8\n    hp: 12\n",
	"toml":       "tick = 300\nrain = true\n[[units]]\nid = 7\nhp = 10\n[[units]]\nid = 8\nhp = 12\n",
	"ini":        "[world]\ntick=300\nrain=a lot\n[unit_7]\nhp=10\n[unit_8]\nhp=12\n",
	"csv":        "tick,id,hp\n300,7,10\n300,8,12\n300,9,125\n",
	"lua":        "return {\n  tick = 300,\n  units = {\n    { id = 7, hp = 10 },\n    { id = 8, hp = 12 },\n  },\n}\n",
	"python":     "{'tick': 300, 'units': [{'id': 7, 'hp': 10}, {'id': 8, 'hp': 12}], 'rain': True}\n",
	"textproto":  "tick: 300\nunits {\n  id: 7\n  hp: 10\n}\nunits {\n  id: 8\n  hp: 12\n}\n",
	"t3d":        "Begin Level\n   Begin Actor Class=/Script/A.World Name=World_0\n      Tick=300\n   End Actor\n   Begin Actor Class=/Script/A.Unit Name=Unit_7\n      Hp=10\n      At=(X=1,Y=2)\n   End Actor\nEnd Level\n",
	"snbt":       "{tick: 300L, units: [{id: 7s, hp: 10b, at: [1.5d, 2.5d]}, {id: 8s, hp: 12b, at: [1.5d, 2.5d]}]}\n",
	"namelist":   "&WORLD TICK=300, HOT=T /\n&UNIT ID=7, HP=10, AT=1.5, 2.5 /\n&UNIT ID=8, HP=12, AT=1.5, 2.5 /\n",
	"debugger":   "(gdb) p w\n$1 = {tick = 300, units = {{id = 7, hp = 10, up = 0x7ffff7a5c010}, {id = 8, hp = 12, up = 0x0}}}\n",
	"tree":       "v World\n  - tick: 300\n  v Units (2)\n    v Unit #7\n      - hp: 10\n    v Unit #8\n      - hp: 12\n",
	"paths":      "tick = 300\nunits[0].id = 7\nunits[0].hp = 10\nunits[0].x = 5\nunits[1].id = 8\nunits[1].hp = 12\n",
	"columns":    "world 0 tick 300\nunit 7 hp 10\nunit 7 x 1.5\nunit 8 hp 12\nunit 8 x 2.5\n",
	"indented":   "tick: 5\nunit #7\n  hp = 3\n  x = 2.5\nunit #8\n  hp = 3\n  x = 7.5\n",
	"msgpack":    "\x82\xa4tick\xcd\x01\x2c\xa5units\x92\x82\xa2id\x07\xa2hp\x0a\x82\xa2id\x08\xa2hp\x0c",
	"cbor":       "\xa2\x64tick\x19\x01\x2c\x65units\x82\xa2\x62id\x07\x62hp\x0a\xa2\x62id\x08\x62hp\x0c",
	"javascript": "{\n  tick: 300,\n  units: [\n    { id: 7, hp: 10 },\n    { id: 8, hp: 12 },\n  ],\n}\n",
}

// TestCut: a file that is cut is an error, in any notation, and is not taken for one in another notation. Only a file of
// lines that is cut between two of them does not show it.
func TestCut(t *testing.T) {
	for name, text := range texts {
		n := notation.Of("x", []byte(text), true)
		if n == nil || n.Name != name {
			t.Errorf("%s: %v", name, n)
			continue
		}
		var s Schema
		if err := s.Learn(n, []byte(text)); err != nil {
			t.Fatal(err)
		}
		all, err := s.Decode(n, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		whole := tell(t, all)
		for i := 1; i < len(text); i++ {
			cut := text[:i]
			if strings.HasSuffix(cut, "\n") {
				continue
			}
			if worlds, err := s.Decode(n, []byte(cut)); err == nil && tell(t, worlds) != whole {
				t.Errorf("%s: %q is read as\n%s", name, cut, tell(t, worlds))
			}
			if other := notation.Of("x", []byte(cut), true); 4*i > 3*len(text) && other != nil && other.Name != name {
				t.Errorf("%q is taken for %s", cut, other.Title)
			}
		}
	}
}

// TestCutRow: a row in which a list of rows is cut belongs to no state, and does not hide that each row has a tick.
func TestCutRow(t *testing.T) {
	text := `{"tick": 1, "id": 5, "hp": 1}
{"tick": 1, "id": 6, "hp": 1}
{"tick": 2, "id": 5, "hp": 1}
{"tick": 2, "id": 6, "hp": 1}
{"id": 7, "ti`
	var s Schema
	n := notation.Of("x.jsonl", []byte(text), false)
	_ = s.Learn(n, []byte(text))
	worlds, err := s.Decode(n, []byte(text))
	if got := tell(t, worlds); err == nil || len(worlds) != 2 || strings.Contains(got, "7") {
		t.Errorf("%v\n%s", err, got)
	}
}

// FuzzDecode decodes any text as a state of a session with another one. Nothing is read twice as another state.
func FuzzDecode(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text), []byte(text))
	}
	f.Fuzz(func(t *testing.T, one, other []byte) {
		n := notation.Of("x", one, true)
		if n == nil || len(one)+len(other) > 1<<16 {
			return
		}
		var s Schema
		_ = s.Learn(n, one)
		_ = s.Learn(n, other)
		s.Tabular()
		for _, text := range [][]byte{one, other} {
			worlds, err := s.Decode(n, text)
			again, errAgain := s.Decode(n, text)
			if (err == nil) != (errAgain == nil) || tell(t, worlds) != tell(t, again) {
				t.Fatalf("%v, then %v", err, errAgain)
			}
			for _, w := range worlds {
				if errInvalid := w.Validate(); err == nil && errInvalid != nil {
					t.Fatal(errInvalid)
				}
			}
		}
	})
}
