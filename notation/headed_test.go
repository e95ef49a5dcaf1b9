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

// TestSniffHeaded: a report has several headings and a table, and hardly anything else.
func TestSniffHeaded(t *testing.T) {
	for text, want := range map[string]bool{
		headed:                     true,
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
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, headedNotation(), text) })
}
