package notation

import (
	"strings"
	"testing"
)

func TestTextproto(t *testing.T) {
	n := textprotoNotation()
	parses(t, n, `units { id: 1 pos { x: 2.5 } } units < id: 2 >`,
		`{@0 "units"+ {@6 "id"+ number(1) "pos"+ {@18 "x"+ number(2.5) end@28 end@30 "units"+ {@37 "id"+ number(2) end@46 end@46`)
	parses(t, n, "# made\nname: \"a\\n\" 'b' list: [1, -0x1F, 017], e: RED; b: true f: 1.5f [a.b/c.D] { x: inf }\nempty: [] ms: [{a: 1}, {b: .5}] z: 0 raw: \"\\351\\xff\"\n",
		`{ "name"+ text(a`+"\n"+`b) "list"+ number(1) "list"+ number(-31) "list"+ number(15) "e"+ text(RED) "b"+ bool(true) "f"+ number(1.5) "a.b/c.D"+ { "x"+ number(inf) end `+
			`"ms"+ { "a"+ number(1) end "ms"+ { "b"+ number(0.5) end "z"+ number(0) "raw"+ text(`+"\xe9\xff"+`) end`)
	parses(t, n, "", `{@0 end@0`)
	fails(t, n, "a { b: 1", "at offset 7: the file ends inside a value")
	fails(t, n, "a { b: 1 ", "at offset 9: the file ends inside a message")
	fails(t, n, "a { b: 1 c: 2 } d", "at offset 16: the file ends inside a field")
	fails(t, n, "a { b: 1 ]", "at offset 9: ']', expected the name of a field")
	fails(t, n, "a: [1 2]", "at offset 6: '2', expected , or ]")
	fails(t, n, "a: [[1]]", `at offset 4: "[1]]", expected a value`)
	fails(t, n, "a = 1", "at offset 2: '=', expected :, { or < after the name of a field")
	fails(t, n, "a: }", `at offset 3: "}", expected a value`)
	fails(t, n, strings.Repeat("a{", 300), "at offset 511: more than 256 maps and lists within each other")
	sniffs(t, n, true, "units { id: 1 pos { x: 2.5 } }", "tick: 5\nunits <\n  id: 1\n>\n")
	sniffs(t, n, false, "", "a: 1\nb: 2\n", "body { color: red; margin: 0 auto; }", "server { listen 80; }", "message A { int32 a = 1; }", "Dear Ann: hello.", "{a: 1}",
		"[Section]\na: 1", "type A { a: ID b: X }", "Units { id: 1, hp: 2 }}", "a {\n b = 1\n}\n", "package main\n\nfunc main() {\n}\n", `{"a": 1}`)
}

func FuzzTextproto(f *testing.F) {
	f.Add([]byte("units { id: 1 pos < x: 2.5 > } a: [1, {b: 2}]; [x.y]: 017 # c\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, textprotoNotation(), text) })
}
