package notation

import "testing"

func TestIndented(t *testing.T) {
	n := indentedNotation()
	parses(t, n, "GameState object.\n  bounds: 8,8 x 2.\n  num_ships: 2.\n  ship 0 position:  320.0, -64.50\n  ship 0 radius:  15\n  ship 1 bullet 0: a -> b.\n",
		`{@0 "GameState object"+ {@0 "bounds"+ bare(8,8 x 2.) "num_ships"+ bare(2) "ship": {@53 "0": {@53 "position"+ [@53 bare(320.0) bare(-64.50) end@53 "radius"+ bare(15) end@108 `+
			`"1": {@108 "bullet": {@108 "0"+ bare(a -> b.) end@135 end@135 end@135 end@135 end@135`)
	parses(t, n, "frame = 7\r\nPlayer 0:\r\n\thp: 80\r\n\tbuffs {\r\n\t\thaste: 4\r\n\t}\r\n\tname = \"a b\"\r\n\r\nqueue empty\r\n",
		`{ "frame": bare(7) "Player": { "0": { "hp"+ bare(80) "buffs"+ { "haste"+ bare(4) end "name"+ text(a b) end end "queue empty"+ { end end`)
	parses(t, n, "units:\n  unit:\n    id: 1\n  unit:\n    id: 2\nitem[3].pos = (1, 2, 3)\nitem #4: [1 2]\nlevel: 5\n  x: 1\n",
		`{ "units"+ { "unit"+ { "id"+ bare(1) end "unit"+ { "id"+ bare(2) end end "item": { "3": { "pos"+ [ bare(1) bare(2) bare(3) end end "4"+ [ bare(1) bare(2) end end "level"+ { "#value": bare(5) "x"+ bare(1) end end`)
	parses(t, n, "--- Frame 1 ---\n  a: 1\n  b: 2\n--- Frame 2 ---\n  a: 1\n", `{ "Frame": bare(1) "a"+ bare(1) "b"+ bare(2) end { "Frame": bare(2) "a"+ bare(1) end`)
	parses(t, n, "Frame 5\n  unit 1: hp=3 x=4.5\n  unit 2 hp=4, pos=1,2 name=\"a\"\n  map: size=7\n",
		`{ "Frame": bare(5) "unit": { "1": { "hp"+ bare(3) "x"+ bare(4.5) end "2": { "hp"+ bare(4) "pos"+ [ bare(1) bare(2) end "name"+ text(a) end end "map"+ { "size"+ bare(7) end end`)
	parses(t, n, "Frame 5\nfood 0,28 amount=4\nfood 1,41 amount=1\n", `{ "Frame": bare(5) "food": { "0,28": { "amount"+ bare(4) end "1,41": { "amount"+ bare(1) end end end`)
	fails(t, n, "a: 1\nwhat? is this!\n", `at offset 5: "what? is this!", expected a name and a value`)
	fails(t, n, "a: 1\n(b", `at offset 5: the file ends inside a line`)
	sniffs(t, n, true, "State\n  a: 1\n  b: 2\n  c: 3\n", "ship 0 x: 1\nship 0 y: 1\nship 1 x: 2\n", "tick: 5\nunit #1\n  hp = 3\n  x = 2.5\n",
		"unit 1: hp=3 x=4\nunit 2: hp=3 x=4\nunit 3: hp=3 x=4\nplayer 0: gold=3\n")
	sniffs(t, n, false, "", "a: 1\nb: 2\nc: 3\n", "Host: example.org\nContent-Length: 5\nAccept: */*\nX-Retry: 3\n",
		"From: a@b.c\nTo: d@e.f\nSubject: numbers 1 2 3\n\nHello,\n  this is it.\n", "body {\n  margin: 0;\n  padding: 0;\n  top: 0;\n}\n",
		"12:00:01 hp: 3\n12:00:02 hp: 4\n12:00:03 hp: 5\n", "[12:00:01] a: 3\n[12:00:02] a: 4\n[12:00:03] a: 5\n",
		"# Title\n\nSome text: 5\n\n- a: 1\n- b: 2\n", "if x {\n\ty := 1\n\tz := 2\n\ta := 3\n}\n", "class A:\n    def f(self):\n        x = g(1)\n        y = h(2)\n        return x\n",
		"tick 5: 77\ntick 6: 78\ntick 7: 79\n", "checksum 5: 77\nchecksum 6: 78\nchecksum 7: 79\n", "tick 5: hash=7 rng=3\ntick 6: hash=8 rng=3\ntick 7: hash=8 rng=3\n",
		"level=info tick=5 hash=3\nlevel=info tick=6 hash=3\nlevel=info tick=7 hash=3\n", "Usage:\n  -a: one\n  -b: two\n  -c: three\n")
}

func FuzzIndented(f *testing.F) {
	f.Add([]byte("GameState object.\n  num_ships: 2.\n  ship 0 position:  320.0, -64.50\n a {\n\tb[1].c = \"x\\n\"\n}\nFrame 3:\nlevel: 5\n  x: 1"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, indentedNotation(), text) })
}
