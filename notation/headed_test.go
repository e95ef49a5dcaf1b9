package notation

import "testing"

const headed = "BOG state   build 2.7\nwritten 22:10\n\n[GLOBALS]\ntick = 152\nseed = 0xF2D1\n\n[UNITS]\n eid  class    hp   tgt\n----------------------\n" +
	" 0400 knight  856  044D\n 0407 ram       3     -\n\n[SHOTS]\n from   to  eta\n\n== Client ==\ncamera: 46.4 23.5\nwood\n; end\n"

// TestHeaded: pairs are members of their block, the rows of a table are a list, and a table without rows is nothing.
func TestHeaded(t *testing.T) {
	parses(t, headedNotation(), headed, `{@0 "GLOBALS"+ {@47 "tick": bare(152) "seed": bare(0xF2D1) end@73 `+
		`"UNITS"+ {@128 "eid": bare(0400) "class": bare(knight) "hp": bare(856) "tgt": bare(044D) end@128 `+
		`"UNITS"+ {@152 "eid": bare(0407) "class": bare(ram) "hp": bare(3) "tgt": bare(-) end@152 `+
		`"Client"+ {@215 "camera": bare(46.4 23.5) end@244 end@244`)
	parses(t, headedNotation(), "### Towns\nname | gold\n-----+-----\nAsh | 3\n\nid wood\n7 4\n", `{ "Towns"+ { "name": bare(Ash) "gold": bare(3) end "Towns"+ { "id": bare(7) "wood": bare(4) end end`)
}

// printf is a state as a program prints it with format strings.
const printf = "=== STATE === build 7\nday.......: 12\n\n-- MULES (2) -------\n[ 0] \"Old Tom\"  at=( 12,-40) load= 94/100  pack: salt*3\n[ 1] \"Bet\"  at=(  2,  7) load=  0/100  pack: none\n\n" +
	"-- STORES ------\n              salt    tin\nUpper Camp      40  -3\nFord             1   2.5\n\n-- PRICES --\nsalt @ 4\ntin @ 9\n=== END ===\n"

// placed is a state below a banner, with rows by their places.
const placed = "==== OUT OF SYNC ==== build 1.07 (Mar  3)\nFrame        : 237\nMap : canyon.mpk  crc=71A0\n\n-- HOUSES --\nHouse[0]: credits=5474   power=100/150\n\n" +
	"-- UNITS (2) --\n[00] TANK  id=0040 at=(18769,   -9) hp=  3  target=005B\n[01] HARV  id=0043 at=( 3620,    6) hp= 12  target=NONE\n\n-- END OF DUMP --\n"

// TestHeadedPrintf: rows may have names in quotes or their places, and names of values, and a table no name for the names of its rows.
func TestHeadedPrintf(t *testing.T) {
	parses(t, headedNotation(), printf, `{ "day": bare(12) `+
		`"MULES"+ { "index": bare(0) "name": text(Old Tom) "at": bare(12) "at#2": bare(-40) "load": bare(94) "load#2": bare(100) "salt": bare(3) end `+
		`"MULES"+ { "index": bare(1) "name": text(Bet) "at": bare(2) "at#2": bare(7) "load": bare(0) "load#2": bare(100) "text": text(none) end `+
		`"STORES"+ { "name": bare(Upper Camp) "salt": bare(40) "tin": bare(-3) end "STORES"+ { "name": bare(Ford) "salt": bare(1) "tin": bare(2.5) end `+
		`"PRICES"+ { "salt": bare(4) "tin": bare(9) end end`)
	parses(t, headedNotation(), placed, `{ "Frame": bare(237) "Map": bare(canyon.mpk  crc=71A0) `+
		`"HOUSES"+ { "index": bare(0) "credits": bare(5474) "power": bare(100) "power#2": bare(150) end `+
		`"UNITS"+ { "kind": text(TANK) "id": bare(0040) "index": bare(00) "at": bare(18769) "at#2": bare(-9) "hp": bare(3) "target": bare(005B) end `+
		`"UNITS"+ { "kind": text(HARV) "id": bare(0043) "index": bare(01) "at": bare(3620) "at#2": bare(6) "hp": bare(12) "target": bare(NONE) end end`)
	parses(t, headedNotation(), "[A]\n  id hp\nx 3\nBig Tom 7\n", `{ "A"+ { "id": bare(x) "hp": bare(3) end end`) // the names are all there
}

// dumped is two states with the tick in their headings.
const dumped = "mine build 7, pid 71\n==== STATE tick 10 (2.3 ms) ====\n[globals]\ncart ore   :    14\n[rng]\n0000: 90 7d 8f 0c\n[miners] count=2\n  id    x  bag\n   1   22    1\n   2    7    0\n" +
	"[map]\n##..#\n.....\n==== END ====\n==== STATE tick 20 crc=71A0 ====\n[globals]\ncart ore   :     9\n[miners] count=1\n  id    x  bag\n   1   21    3\n[map]\n##..#\n#....\n==== END ====\n"

// TestHeadedStates: a heading with the tick begins another state. Blocks may be bytes in hexadecimal, and maps.
func TestHeadedStates(t *testing.T) {
	parses(t, headedNotation(), dumped, `{ "tick": bare(10) "globals"+ { "cart ore": bare(14) end "rng"+ { "0000": text(90 7d 8f 0c) end "miners count": bare(2) `+
		`"miners"+ { "id": bare(1) "x": bare(22) "bag": bare(1) end "miners"+ { "id": bare(2) "x": bare(7) "bag": bare(0) end "map"+ { "row": text(##..#) end "map"+ { "row": text(.....) end end `+
		`{ "tick": bare(20) "crc": bare(71A0) "globals"+ { "cart ore": bare(9) end "miners count": bare(1) "miners"+ { "id": bare(1) "x": bare(21) "bag": bare(3) end "map"+ { "row": text(##..#) end "map"+ { "row": text(#....) end end`)
	parses(t, headedNotation(), "[A]\nid hp\nx 3\n-- TURN 7 --\nday = 3\n", `{ "A"+ { "id": bare(x) "hp": bare(3) end "TURN 7"+ { "day": bare(3) end end`) // a block
}

// TestSniffHeaded: a report has several headings and a table, and hardly anything else.
func TestSniffHeaded(t *testing.T) {
	for text, want := range map[string]bool{
		headed: true,
		printf: true,
		placed: true,
		dumped: true,
		"-- A --\n  salt  tin\nUpper Camp 40 -3\nFord 1\nMill 2\n-- B --\nx = 1\n": false, // rows lack values
		"[a]\nx = 1\n[b]\ny = 2\n": false, // INI
		"[a]\nid hp\n7 3\n":        false, // one block
		"[a]\nid hp\n7 3\n[b]\nSome prose is here, and more.\nIt has no values at all.\n":                                    false,
		"12:00 [net] a b\n12:01 [net] 1 2\n":                                                                                 false,
		"-- sim_tick 4 --\ncart Ash\ncart Elm\n-- sim_tick 5 --\ncart Ash\ncart Elm\n-- sim_tick 6 --\ncart Ash\ncart Elm\n": false, // a log
		"# Title\nhello\n\n## More\n\nWe saw a desync.\n":                                                                    false,
	} {
		n := Of("", []byte(text), true)
		if got := n != nil && n.Name == "headed"; got != want {
			t.Errorf("%q: %v", text, n)
		}
	}
}

func FuzzHeaded(f *testing.F) {
	f.Add([]byte(headed))
	f.Add([]byte(printf))
	f.Add([]byte(placed))
	f.Add([]byte(dumped))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, headedNotation(), text) })
}
