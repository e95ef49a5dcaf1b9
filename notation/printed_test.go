package notation

import "testing"

// TestPrinted: one state, as its language prints it. The values are those of the language's documentation.
func TestPrinted(t *testing.T) {
	n := printedNotation()
	others := map[string]Notation{"Elixir": erlangNotation(), "Erlang": erlangNotation(), "Clojure": sexpNotation(), "Clojure, blanks": sexpNotation()}
	const want = `{ "tick": number(5) "on": bool(true) "to": null() "units": [ { "id": number(7) "kind": text(tank) "x": number(-1.5) end end "path": [ number(1) number(2) end end`
	for name, text := range map[string]string{
		"Ruby, before 3.4": `{:tick=>5, :on=>true, :to=>nil, :units=>[{:id=>7, "kind"=>:tank, :x=>-1.5}], :path=>[1, 2]}`,
		"Elixir":           `%{tick: 5, on: true, to: nil, units: [%{:id => 7, "kind" => :tank, x: -1.5}], path: {1, 2}}`,
		"Clojure":          `{:tick 5, :on true, :to nil, :units [{:id 7, :kind :tank, :x -1.5}], :path [1 2]}`,
		"Clojure, blanks":  "{:tick 5\n :on true :to nil :units [{:id 7 :kind \"tank\" :x -1.5}] :path [1 2]}",
		"Erlang":           `#{tick => 5,on => true,to => undefined,units => [#{id => 7,kind => <<"tank">>,x => -1.5}],path => [1,2]}`,
		"Go, %+v":          `{tick:5 on:true to:<nil> units:[{id:7 kind:tank x:-1.5}] path:[1 2]}`,
		"Go, %v of maps":   `map[tick:5 on:true to:<nil> units:[map[id:7 kind:tank x:-1.5]] path:[1 2]]`,
		"Go, spew": "(*sim.World)(0xc007b14650)({\n tick: (uint32) 5,\n on: (bool) true,\n to: (*sim.Unit)(<nil>),\n units: ([]*sim.Unit) (len=1 cap=4) {\n" +
			"  (*sim.Unit)(0xc0251e1b90->0xc000012018)({\n   id: (sim.ID) 7,\n   kind: (string) (len=4) \"tank\",\n   x: (float64) -1.5\n  })\n },\n path: ([2]int32) (len=2 cap=2) {\n  (int32) 1,\n  (int32) 2\n }\n})\n",
		"F#": "{ tick = 5; on = true; to = null; units = [{ id = 7; kind = \"tank\"; x = -1.5 }]; path = [1; 2] }",
		"PHP, var_dump": "array(5) {\n  [\"tick\"]=>\n  int(5)\n  [\"on\"]=>\n  bool(true)\n  [\"to\"]=>\n  NULL\n  [\"units\"]=>\n  [{[\"id\"]=>\n int(7)\n [\"kind\"]=>\n" +
			"  string(4) \"tank\"\n  [\"x\"]=>\n  float(-1.5)\n}]\n [\"path\"]=>\n [int(1) int(2)]\n}\n",
		"Perl": "$VAR1 = {\n  'tick' => 5,\n  'on' => true, 'to' => undef,\n  'units' => [\n    {\n 'id' => 7, 'kind' => 'tank', 'x' => -1.5 }\n  ],\n 'path' => [ 1, 2 ]\n};\n",
	} {
		t.Run(name, func(t *testing.T) {
			n, other := n, others[name]
			if other.Parse != nil {
				n = other
			}
			parses(t, n, text, want)
			sniffs(t, n, true, text)
		})
	}
	sniffs(t, n, true, "World { Tick = 0, Food = 898 }\n  Ant { Id = 1, Hp = 9 }\n  Ant { Id = 2, Hp = 8 }\nWorld { Tick = 15, Food = 899 }\n  Ant { Id = 1, Hp = 9 }\n")
	sniffs(t, n, false, "Ant { Tick = 0, Food = 898 }\nAnt { Tick = 1, Food = 899 }\n") // rows
	parses(t, n, `#<struct State tick=5, units=[#<Unit:0x00007f3a2b @id=7, @at=#<struct x=1.5>>, #<Unit>]>`,
		`{ "#type": text(State) "tick": number(5) "units": [ { "#type": text(Unit) "id": number(7) "at": { "x": number(1.5) end end { "#type": text(Unit) end end end`)
	parses(t, n, `State(tick: 5, units: [Unit(id: 7, name: "a b", to: Optional(3))])`,
		`{ "#type": text(State) "tick": number(5) "units": [ { "#type": text(Unit) "id": number(7) "name": text(a b) "to": number(3) end end end`)
	parses(t, n, `&main.State{Tick:5, Units:[]main.Unit{main.Unit{ID:7, To:(*main.Unit)(nil), Up:(*main.Unit)(0xc000012018)}}, M:map[string]int{"a":1}}`,
		`{ "#type": text(main.State) "Tick": number(5) "Units": [ { "#type": text(main.Unit) "ID": number(7) "To": null() "Up": null() end end "M": { "a": number(1) end end`)
	parses(t, n, "Array\n(\n    [tick] => 5\n    [name] => New York\n    [to] => \n    [units] => Array\n        (\n            [0] => Unit Object\n                (\n                    [hp:protected] => 40\n                )\n\n        )\n\n)\n",
		`{ "tick": number(5) "name": text(New York) "to": text() "units": { "0": { "#type": text(Unit) "hp": number(40) end end end`)
	parses(t, n, "array (\n  'tick' => 5,\n  'units' => \n  array (\n    0 => \n    array (\n      'hp' => 40,\n    ),\n  ),\n)\n",
		`{ "tick": number(5) "units": { "0": { "hp": number(40) end end end`)
	// Haskell: maps, constructors with values, negative numbers in parentheses.
	parses(t, n, `World {tick = 4, rng = Gen 70 17, units = fromList [(1,Unit {hp = 3, at = V2 (-0.5) 2.0, foe = Just 2}),(2,Unit {hp = 4, foe = Nothing})], hot = fromList [3,9], by = fromList [("a",V2 1.0 2.0)]}`,
		`{ "#type": text(World) "tick": number(4) "rng": text(Gen 70 17) "units": { "1": { "#type": text(Unit) "hp": number(3) "at": text(V2  -0.5  2.0) "foe": number(2) end `+
			`"2": { "#type": text(Unit) "hp": number(4) "foe": null() end end "hot": [ number(3) number(9) end "by": { "a": text(V2 1.0 2.0) end end`)
	// Comments of Haskell, which may name the peer.
	const told = "-- peer ann\nW {t = 4, u = [U {h = 3},U {h = 4}]}\n\n-- seen by the host -- {\nW {t = 4, u = [U {h = 3},U {h = 5}]}\n-- client: bob\r\n\n  W {t = 4, u = []}\n"
	parses(t, n, told, `{ "peer": text(ann) "#type": text(W) "t": number(4) "u": [ { "#type": text(U) "h": number(3) end { "#type": text(U) "h": number(4) end end end `+
		`{ "#type": text(W) "t": number(4) "u": [ { "#type": text(U) "h": number(3) end { "#type": text(U) "h": number(5) end end end `+
		`{ "peer": text(bob) "#type": text(W) "t": number(4) "u": [ end end`)
	sniffs(t, n, true, told)
	sniffs(t, n, false, "-- peer ann\nconnect(host=a/b, port=5) failed\n", "-- peer ann\nleft\n")
	parses(t, n, "Unit { Id = 1, Path = System.Collections.Generic.Dictionary`2[System.Int32,Vec2], Up = True }",
		`{ "#type": text(Unit) "Id": number(1) "Path": text(System.Collections.Generic.Dictionary_2_System.Int32_Vec2_) "Up": bool(true) end`)
	parses(t, n, "(main.W) {\n at: (time.Time) 2024-09-04 21:04:02.26 +0200 CEST m=+5.51,\n units: (map[main.ID]string) (len=1) {\n  (main.ID) 7: (string) (len=3) \"a\\\"(\"\n },\n"+
		" end: (time.Duration) 1m0s\n}\n", `{ "at": text(2024-09-04 21:04:02.26 +0200 CEST m=+5.51) "units": { "7": text(a"() end "end": text(1m0s) end`)
	// Records of Kotlin and Java, data of Lombok and AutoValue, records of C#: their texts have no quotes.
	const record = `{ "#type": text(Save) "turn": number(5) "zone": text(Europe/Oslo) "at": text(2024-03-01T10:00:07.5Z) "heroes": [ { "#type": text(Hero) "name": text(Ann, the Bold) "title": text() "hp": number(-3) "on": bool(true) ` +
		`"foe": null() end { "#type": text(Hero) "name": text(50% [off] (new)) "title": text(a: b) "hp": number(1.5) "on": bool(false) "foe": text(Ann) end end "tags": [ text(x/y) text(new game+) end "none": [ end end`
	parses(t, n, "Save(turn=5, zone=Europe/Oslo, at=2024-03-01T10:00:07.5Z, heroes=[Hero(name=Ann, the Bold, title=, hp=-3, on=true, foe=null), "+
		"Hero(name=50% [off] (new), title=a: b, hp=1.5, on=false, foe=Ann)], tags=[x/y, new game+], none=[])", record)
	parses(t, n, "Save[turn=5, zone=Europe/Oslo, at=2024-03-01T10:00:07.5Z, heroes=[Hero[name=Ann, the Bold, title=, hp=-3, on=true, foe=null], "+
		"Hero[name=50% [off] (new), title=a: b, hp=1.5, on=false, foe=Ann]], tags=[x/y, new game+], none=[]]", record)
	parses(t, n, "Unit { Id = 7, Name = Ann, the Bold, Zone = Europe/Oslo, Speed = 1,5, At = Vec2 { X = -3, Y = 4 }, To =  }",
		`{ "#type": text(Unit) "Id": number(7) "Name": text(Ann, the Bold) "Zone": text(Europe/Oslo) "Speed": text(1,5) "At": { "#type": text(Vec2) "X": number(-3) "Y": number(4) end "To": text() end`)
	parses(t, n, "Unit{id=7, name=Ann's, self=Unit@7f31c2, path=[I@1b2c3d, at={x=1, y=é/ü}}",
		`{ "#type": text(Unit) "id": number(7) "name": text(Ann's) "self": null() "path": null() "at": { "x": number(1) "y": text(é/ü) end end`)
	// The identity of an object is no part of a state.
	parses(t, n, "sim.World@1f[turn=5, heroes=[Hero@2a055e6d{name=Ann, the Bold, to=Hero@7f31c2}], tags=[]]",
		`{ "#type": text(sim.World) "turn": number(5) "heroes": [ { "#type": text(Hero) "name": text(Ann, the Bold) "to": null() end end "tags": [ end end`)
	sniffs(t, n, true, "World@1f[turn=5, heroes=[Hero@2b[hp=1]]]\nWorld@3c[turn=6, heroes=[Hero@4d[hp=1]]]\n")
	sniffs(t, n, true, "Save(turn=5, heroes=[Hero(name=Ann, zone=a/b)])\nSave(turn=6, heroes=[Hero(name=Ann, zone=a/b)])\n", "Save { Turn = 5, At = Vec { X = 1 } }\nSave { Turn = 6, At = Vec { X = 1 } }\n")
	sniffs(t, n, false, "Hero(id=5, at=(1, 2))\nHero(id=6, at=(1, 2))\n")
	sniffs(t, n, true, "Save(turn=5, zone=Europe/Oslo)", "Unit { Id = 7, Name = Ann, the Bold }")
	sniffs(t, n, false, "connect(host=a/b, port=5) failed\nretry(n=1)\n", "f(x=1) = y, z(w=2)\n")
	fails(t, n, "{:tick=>5, :hp=>", "at offset 16: the file ends inside a value")
	fails(t, n, "{Name:New York Hp:5}", `at offset 10: "York Hp:5}", expected that all members have names, or none`)
	sniffs(t, n, true, "W {t = 1, u = fromList [(1,U {h = 3, a = V {x = 1}}),(2,U {h = 4})]}\nW {t = 2, u = fromList [(1,U {h = 3, a = V {x = 2}}),(2,U {h = 4})]}\n")
	sniffs(t, n, true, `State(tick: 5, rule: fast)`, "{Tick:5 Hp:[1 2]}")
	sniffs(t, n, false, "", "{tick: 5}", "Player(name: Bob) left\nPlayer(name: Ann) left\n", "def f(a: int):\n  return {:a => 1}\n", "puts {:a=>1}\n",
		"[12:00:01] tick 5 => 7\n", "Note (see: below)\n", "if (a: b) {\n", "x => {y: 1}\n", "{:a=>1} and {:b=>2} differ\n", "func f() map[string]int {\n\treturn nil\n}\n",
		"module A\n(\n[a] => b\n", "$VAR is 5 = 7\n", "<div class=\"a\">(b: c)</div>\n")
}

// FuzzPrinted: the rewritten text is as long as the text was.
func FuzzPrinted(f *testing.F) {
	for _, text := range []string{"{:a=>1}", "#<struct A b=1>", "#<A:0x1 @b=#<C>>", "Array\n(\n [a:b] => c d\n [e] => Array\n (\n )\n)\n",
		"array(1) {\n [\"a\"]=>\n string(1) \"b\"\n}", "object(A)#1 (2) {\n}", "$VAR1 = {'a' => 1};", "A(b=c/d, e, f=[g h, i(j)], k=, l=[I@1f)", "A { B = c, d, E =  }", "&m.A{B:[]int{1}, C:(*m.D)(nil), D:map[a:1]}", "{A:<nil>}", "A {b = fromList [(1,C (-2) 3)], c = Just 2, d = List`1[E]}", "map[", "string(", "#<", "[]a{", "(*"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if out, _ := canonical(text); len(out) != len(text) {
			t.Errorf("%q is %q", text, out)
		}
		robust(t, printedNotation(), text)
	})
}
