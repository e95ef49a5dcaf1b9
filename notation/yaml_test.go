package notation

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestYAML(t *testing.T) {
	n := yamlNotation()
	parses(t, n, "tick: 5\nunits:\n  - id: 7\n    hp: 1.50\n  - {id: 0x8, hp: .5}\n",
		`{@0 "tick": number(5) "units": [@17 {@19 "id": number(7) "hp": number(1.50) end@37 {@42 "id": number(8) "hp": number(0.5) end@59 end@59 end@59`)
	// Scalars as the core schema of YAML 1.2 has them, section 10.3.
	parses(t, n, "- null\n- ~\n-\n- True\n- false\n- 0\n- -0.0\n- 0o14\n- 0xC\n- -2E+05\n- 12e03\n- .inf\n- -.Inf\n- .NAN\n- no\n- 2001-12-14\n- 007\n- 1_000\n- 12:30\n",
		"[@0 null() null() null() bool(true) bool(false) number(0) number(-0.0) number(12) number(12) number(-2E+05) text(12e03) number(inf) number(-inf) "+
			"number(nan) text(no) text(2001-12-14) text(007) text(1_000) text(12:30) end@130")
	parses(t, n, "- '5'\n- \"\\u00e9\\n\"\n- !!str 5\n- !!binary R0lG\n- !!int 5\n- !Vector {x: 1}\n- |\n  a\n  b\n- >-\n  a\n  b\n- a\n  b\n",
		"[@0 text(5) text(é\n) text(5) bytes(GIF) number(5) {@65 \"x\": number(1) end@71 text(a\nb\n) text(a b) text(a b) end@104")
	// Example 2.10: a node that is repeated. Example 2.28: several documents.
	parses(t, n, "hr:\n- &SS Sosa\nrbi:\n- *SS\n- Griffey\n", `{@0 "hr": [@4 text(Sosa) end@14 "rbi": [@20 text(Sosa) text(Griffey) end@35 end@35`)
	parses(t, n, "%YAML 1.2\n---\na: 1\n...\n---\n# c\n- b\n---\n", "{@14 \"a\": number(1) end@18 [@31 text(b) end@34 null()")
	parses(t, n, "5: a\ntrue: b\nc d: e\n", `{@0 "5": text(a) "true": text(b) "c d": text(e) end@19`)

	// Where the library differs from YAML 1.2, or reads less.
	parses(t, n, `- "\/\e\N\_\L\P\ z"`+"\n- [a:1, b::c, :d, ?e]\n- !u!x 5\n", "[ text(/\x1b\u0085\u00a0\u2028\u2029 z) [ text(a:1) text(b::c) text(:d) text(?e) end number(5) end")
	parses(t, n, "- !!int \"5\"\n- !!bool 'true'\n- !!null 'null'\n- !!float |-\n  .inf\n- !!int \"x\"\n", "[ number(5) bool(true) null() number(inf) text(x) end")
	parses(t, n, "...\n--- !u!1 &1\na: 1\n--- !u!2 &2\nb: 2\n", `{ "#id": number(1) "a": number(1) end { "#id": number(2) "b": number(2) end`)
	parses(t, n, "- &a7 {hp: 3}\n- &a9\n  hp: 4\n- &n 5\n", `[ { "#id": text(a7) "hp": number(3) end { "#id": text(a9) "hp": number(4) end number(5) end`)
	// Objects of Unity: each document has a class and an identity.
	parses(t, n, "%YAML 1.1\n--- !u!114 &42\nHero:\n  hp: 3\n  at: {x: 1}\n--- !u!20 &-7\nCamera:\n  fov: 60\n--- !u!114 &43\nHero:\n  hp: 5\n",
		`{ "Hero"+ { "#id": number(42) "hp": number(3) "at": { "x": number(1) end end "Camera"+ { "#id": number(-7) "fov": number(60) end "Hero"+ { "#id": number(43) "hp": number(5) end end`)
	fails(t, n, "--- !u!1 &1\nA:\n  b: 1\n--- !u!1 &2\nA:\n  b: 1\n...\n- 5\n- A:\n", "at offset 48: a document without a name, expected an object")
	parses(t, n, "a: &x 5\nb: &y\n- *x\n- &z {c: *x}\nd: *y\ne: [*z, *x]\n*x : f\n", `{ "a": number(5) "b": [ number(5) { "c": number(5) end end "d": [ number(5) { "c": number(5) end end `+
		`"e": [ { "c": number(5) end number(5) end "5": text(f) end`)

	fails(t, n, "a: 1\n? b\n: c\n", "at offset 5: a key after a question mark, expected a key in one line")
	fails(t, n, "a: &x 1\n---\nb: *x\nc: 1\n", `at offset 15: the alias "x", but no anchor before it`)
	fails(t, n, "a: &x [1]\n*x : 5\nb: 1\n", "at offset 14: a map or list as the name of a member")
	fails(t, n, "a:\n  b: 1\n c: 2\nd: 3\n", "at offset 11: an indentation by 1, expected 0")
	fails(t, n, "a:\n\tb: 1\nc: 2\n", "at offset 3: a tab in an indentation, expected blanks")
	fails(t, n, "a: 1\nb\nc: 2\n", `at offset 5: "b\nc: 2\n", expected a key with a colon and a blank`)
	fails(t, n, "a: 'b' c\nd: 1\n", `at offset 7: "c\nd: 1\n", expected the end of the line`)
	fails(t, n, "a: \"\\q\"\nb: 1\n", `at offset 4: an escape "\\q\"\nb:" that YAML does not have`)
	fails(t, n, "a: b\x01\nc: 1\n", `at offset 4: a control character '\x01'`)
	fails(t, n, "a: \"b\n---\nc\"\nd: 1\n", `at offset 6: "---\nc\"\nd", expected the end of the text in quotes`)
	fails(t, n, "a: @b\nc: 1\n", `at offset 3: "@b\nc: 1\n", expected a value`)
	fails(t, n, "a: 1\nb: 2\nc", `at offset 10: the file ends inside a value: "c", expected a key with a colon and a blank`)
	fails(t, n, "a: 1\nb: [1, 2\nc: 3\nd: 4\n", `at offset 15: ": 3\nd: 4", expected a name and its colon in one line`)
	fails(t, n, "a: 1\nb: c: 2\nd: 3\n", "at offset 9: a key inside a value, expected the end of the line")
	fails(t, n, "a: 1\nb: [1, 2", "at offset 13: the file ends inside a map or list")
	fails(t, n, "a: 1\nb: 'c\nd\n", "at offset 8: the file ends inside a text in quotes")
	fails(t, n, "a: &x [1]\nb: *y\nc: 5\n", "at offset 13: the alias \"y\", but no anchor before it")
	fails(t, n, "[a]: 5\n", "at offset 0: a map or list as the name of a member")
	fails(t, n, "a: &x\n  - *x\n", "at offset 10: the alias \"x\", but no anchor before it")
	if err := n.Parse([]byte("a: &x {b: 1}\n"+strings.Repeat("c: *x\n", 500)), discard{}); err != nil {
		t.Error(err)
	}
	fails(t, n, strings.Repeat("[", 300)+strings.Repeat("]", 300), "at offset 256: more than 256 maps and lists within each other")
	laughs := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		laughs += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 9) + "x]\n"
	}
	fails(t, n, laughs, "at offset 191: more than 4 times as much data with what aliases repeat")

	sniffs(t, n, true, "tick: 5\nseed: 7\nhash: ab12\n", "# c\n---\nunits:\n  - id: 1\n    hp: 5\n", "- id: 1\n  hp: 2\n- id: 2\n  hp: 3\n",
		"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!114 &11400000\nMonoBehaviour:\n  m_Name: a\n  m_Enabled: 1\n",
		"- &a\n  id: 1\n  pos: 1.5 2 3\n- !U\n  id: 2\n  pos: 2 2 3\n",
		"world:\n  Player 1:\n    hp: 5\n    name: the red team\n    x: 7\n")
	sniffs(t, n, false, "", "tick: 5\nseed: 7\n", `{"a": 1,`+"\n"+`"b": 2, "c": 3}`, "Frame 617: checksum 3\nFrame 618: checksum 4\nFrame 619: checksum 5\n",
		"INFO: connected\nWARN: slow\nERROR: desync at frame 5\n", "12:00: a\n12:01: b\n12:02: c\n", "617: ab\n618: cd\n619: ef\n",
		"tick: 5\nsum: 7\ntick: 6\nsum: 8\n", "Dear Ann,\nnote: a\nnote: b\nnote: c\n", "- Fix: the sum of all units\n- Fix: the order of all units\n- Fix: a\n",
		"Desync report:\n  Player 1: ab\n  Player 2: cd\n", "- a\n- b\n- c\n", "[a]\nb: 1\nc: 2\nd: 3\n", "if a:\n    b()\nelse:\n    c()\nwhile x:\n    d()\n",
		"a: b: c\na: c: d\nb: c: e\n")
	for _, begin := range []string{"a: 1\nb: 2\nc:\n  - d: 1\n    e:", "a: 1\nb: 2\nc: 3\nd: [1,\n  2,\n  3", "a: 1\nb: 2\nc: 3\nd"} {
		if !n.Sniff([]byte(begin), false) {
			t.Errorf("%q", begin)
		}
	}
}

// TestYAMLTime reads texts that cost more than their size in a simple parser.
func TestYAMLTime(t *testing.T) {
	for _, part := range []string{"#\n", "- ", "? ", "a: {b: [", "{", "'", "a:\n ", "&a ", "!a ", "- a\n#b\n\n", "\t\n", "\n", "a: 1\n", "---\n", "x "} {
		text := []byte(strings.Repeat(part, (100<<10)/len(part)))
		begin := time.Now()
		_ = parseYAML(text, discard{})
		sniffYAML(text, true)
		if took := time.Since(begin); took > time.Second {
			t.Errorf("%q: %v", part, took)
		}
	}
}

func FuzzYAML(f *testing.F) {
	f.Add([]byte("a: &x [1, .5]\nb: *x\nc:\n- d: !!binary R0lG\n  'e': \"\\n\"\n---\n- |\n f\n"))
	f.Add([]byte("? a\n: b\n# c\n--- !t\n{a: 1, b}"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, yamlNotation(), text) })
}

func BenchmarkYAML(b *testing.B) {
	benchmark(b, yamlNotation(), units(func(out *bytes.Buffer, id int) {
		fmt.Fprintf(out, "- id: %d\n  owner: %d\n  hp: %g\n  name: \"Scout %d\"\n  pos: {x: %d, y: 7}\n  kind: a plain text\n", id, id%8, float64(id)/3, id, id*7)
	}))
}
