package notation

import "testing"

func TestRows(t *testing.T) {
	n := rowsNotation()
	parses(t, n, "=== frame 512 ===\nrng 0x88\nUnit 7: hp=41 pos=(-10, 2.5) state=Idle\n[8] Unit (hp 12, pos 1/2) Move\n",
		`{ "frame": bare(512) "rng"+ bare(0x88) "Unit"+ { "id": bare(7) "hp": bare(41) "pos": bare(-10) "pos#2": bare(2.5) "state": bare(Idle) end `+
			`"Unit"+ { "id": bare(8) "hp": bare(12) "pos": bare(1) "pos#2": bare(2) "text": text(Move) end end`)
	parses(t, n, "player 0 \"Bob B\" gold 500\n  unit 7 hp 4 owner Bob\n  unit 8 hp 5\nhp=3 x=4\n",
		`{ "player"+ { "id": bare(0) "name": text(Bob B) "gold": bare(500) "unit"+ { "id": bare(7) "hp": bare(4) "text": text(owner Bob) end `+
			`"unit"+ { "id": bare(8) "hp": bare(5) end end "line"+ { "hp": bare(3) "x": bare(4) end end`)
	parses(t, n, "tick 1\ngold 5\ntick 2\ngold 6\n", `{ "tick": bare(1) "gold"+ bare(5) end { "tick": bare(2) "gold"+ bare(6) end`)
	parses(t, n, "Turn 5\n  id  hp     x\n   7  64  1.50\n   8   9  \"a\"\nname words only\n",
		`{ "Turn": bare(5) "row"+ { "id": bare(7) "hp": bare(64) "x": bare(1.50) end "row"+ { "id": bare(8) "hp": bare(9) "x": text(a) end "name"+ { "text": text(words only) end end`)
	parses(t, n, "World tick=5\n|- Unit 7\n|  |- hp: 64\n|  `- x: -1.5\n`- Unit 8\n   \u2514\u2500 hp 4\n",
		`{ "World"+ { "tick": bare(5) "Unit"+ { "id": bare(7) "hp"+ bare(64) "x"+ bare(-1.5) end "Unit"+ { "id": bare(8) "hp"+ bare(4) end end end`)
	parses(t, n, "tick 5\n[00] Tank  id=0040 hp= 3\n[01] Tank  id=0043 hp=12\n", `{ "tick": bare(5) "Tank"+ { "id": bare(0040) "index": bare(00) "hp": bare(3) end `+
		`"Tank"+ { "id": bare(0043) "index": bare(01) "hp": bare(12) end end`)
	// Info strings of Quake's engines.
	parses(t, n, "tick 5\nps 0 \"\\n\\Ann\\origin\\-5 7 24\\health\\100\"\nunit 7 path \\a\\b\n", `{ "tick": bare(5) "ps"+ { "id": bare(0) "n": bare(Ann) "origin": [ bare(-5) bare(7) bare(24) end "health": bare(100) end `+
		`"unit"+ { "id": bare(7) "text": text(path a b) end end`)
	// Values without names.
	parses(t, n, "TICK 5\norc #0  98/100  (12, -7)\nelf #1  97/100  (9, 7)\n", `{ "TICK": bare(5) "orc"+ { "id": bare(0) "value": bare(98) "value#2": bare(100) "value#3": bare(12) "value#4": bare(-7) end `+
		`"elf"+ { "id": bare(1) "value": bare(97) "value#2": bare(100) "value#3": bare(9) "value#4": bare(7) end end`)
	parses(t, n, "tick=5\n(3, 'elf', 77, Vec2(1, 2)),\n(4, 'orc, old', 76, None),\n", `{ "tick": bare(5) "row"+ { "id": bare(3) "value": text(elf) "value#2": bare(77) "value#3": bare(Vec2(1, 2)) end `+
		`"row"+ { "id": bare(4) "value": text(orc, old) "value#2": bare(76) "value#3": bare(None) end end`)
	parses(t, n, "tick 5\nelf|3|77|Idle\nelf|4|76|Idle\n", `{ "tick": bare(5) "elf"+ { "id": bare(3) "value": bare(77) "value#2": bare(Idle) end "elf"+ { "id": bare(4) "value": bare(76) "value#2": bare(Idle) end end`)
	parses(t, n, "ash 77 12\nbob 76 13\n", `{ "ash"+ { "value": bare(77) "value#2": bare(12) end "bob"+ { "value": bare(76) "value#2": bare(13) end end`) // a value is no id
	parses(t, n, "tick 5\n3 elf 77  12\n4 -> hp 76, x 2\n# gold 5\n# written by hand\n#..o#\n", `{ "tick": bare(5) "row"+ { "id": bare(3) "value": bare(elf) "value#2": bare(77) "value#3": bare(12) end `+
		`"line"+ { "id": bare(4) "hp": bare(76) "x": bare(2) end "gold"+ bare(5) "line"+ { "text": bare(#..o#) end end`)
	sniffs(t, n, true, "TICK 5\nGOLD 4\norc #0  98/100  (12, 7)\nelf #1  97/100  (9, 7)\norc #2  96/100  (9, 7)\n", "0\torc\t100\t12\n1\telf\t99\t13\n",
		"tick 5\nash 77 12 is Idle\nbob 76 13 is Away\nbee 75 13 is Away\n", "tick 5\n0000\n#..@#\n#...#\n#...#\n")
	sniffs(t, n, true, "Game state dump\nTick: 512\n\nUnits:\n  #5 Archer hp=3 pos=(1.5, 2)\n  #6 Archer hp=4 pos=(1.5, 3)\n  #7 Archer hp=3 pos=(1.5, 4)\n  #8 Archer hp=3 pos=(2.5, 2)\n",
		"World tick=5\n|- Unit 7\n|  |- hp: 64\n|  `- x: -1.5\n`- Unit 8\n   `- hp: 4\n", "Turn 5\n  id  hp     x\n   7  64  1.50\n   8   9  2.50\n",
		"Unit 7: hp=41 pos=(1033, 220) state=Idle\nUnit 8: hp=12 pos=(1000, 210) state=Move\nBase 1: gold=500\n",
		"==== OUT OF SYNC ==== build 2\nFrame : 237\nHOUSES:\nHouse[0]: credits=5474 power=100/150 iq=3\nHouse[1]: credits=5 power=0/150 iq=3\n[00] TANK id=0040 own=0 hp=3\n[01] TANK id=0043 own=1 hp=5\n[02] HARV id=0046 own=0 hp=5\n",
		"[7] Unit (hp 41, pos 1033/220) Idle\n[8] Unit (hp 12, pos 1000/210) Move\n[1] Base (gold 500)\n",
		"=== frame 512 ===\nrng 0x88121f\nplayer 0 \"Bob\" gold 500 wood 20\n  unit 7 hp 41 at 1033,220 owner Bob\n  unit 8 hp 12 at 1000,210 owner Bob\n")
	sniffs(t, n, false, "tick 5\n[104] send id=77 len=7 seq=9\n[110] send id=78 len=7 seq=10\n[117] send id=79 len=7 seq=11\n[119] recv id=3 len=4 seq=8\n",
		"", "gold 5\nwood 6\n", "In 2019 we had 5 players on 3 maps.\nThat was 4 more than 2018.\n",
		"12:00:01 unit 7 hp 41 x 3\n12:00:02 unit 7 hp 41 x 3\n", "2026-01-02 unit 7 hp 41 x 3\n2026-01-02 unit 7 hp 41 x 3\n",
		"Unit 7 attacks unit 8 for 5 damage and moves on\nUnit 8 dies and leaves 3 gold behind\n", "@@ -1,2 +1,2 @@\n-unit 7 hp 4 x 1\n+unit 7 hp 5 x 1\n",
		"for i := 0; i < 10; i++ {\n\tx[i] = 3\n}\n", "100 unit 7 hp 4\n100 unit 8 hp 5\n", "unit 7 hp 4 x 3\n\x00\n",
		"ash 77 12 is Idle\nbob 76 13 is Away\n", "orc 5 98/100\n", "tick 5\nai 1.7 ms 3 calls\nui 1.8 ms 4 calls\nnet 1.9 ms 4 calls\n", "tick 5\norc #0 98/100\norc #1 97/100\nsaved at 12:34:56\n", "see tick 5\nAsh, Bob, 3 orcs\nWe met at 5.\n", "a, b, c\nd, e, f\n")
}

func FuzzRows(f *testing.F) {
	f.Add([]byte("=== frame 512 ===\nrng 0x88\nUnit 7: hp=41 pos=(-10, 2.5) state=Idle\n  [8] Unit (hp 12, pos 1/2) \"a b\" Move\n\nhp=3 x='4'\n5 6\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, rowsNotation(), text) })
}
