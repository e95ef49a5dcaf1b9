package notation

import (
	"strings"
	"testing"
)

func TestDebugger(t *testing.T) {
	n := debuggerNotation()
	// As the manual of gdb shows structures, arrays, characters, pointers and what is repeated.
	parses(t, n, "Reading symbols from ./game...\n(gdb) p *world\n$1 = {tick = 617, name = \"Ann\\000\\000\", '\\000' <repeats 12 times>, grade = 97 'a', kind = KIND_HERO, "+
		"flags = (FLAG_A | FLAG_B), on = true, x = -1.5e-05, bad = -nan(0x8000000000000), next = 0x0, arena = 0x7ffff7a5c010, text = 0x5555555592a0 \"hi, \\\"you\\\"\", "+
		"call = 0x5555555551a9 <World::step(Unit<int>*)+4>, hash = 0xdeadbeef, gone = <optimized out>, units = {{hp = 3}, {hp = 4} <repeats 2 times>}, grid = {0 <repeats 3 times>, 7}, "+
		"line = \"ab\", 'c' <repeats 20 times>, \"d\", none = '\\000' <repeats 15 times>}\n(gdb) p world->hash\n$2 = 5\n(gdb) q\n",
		`{ "tick": number(617) "name": text(Ann) "grade": number(97) "kind": text(KIND_HERO) "flags": text(FLAG_A | FLAG_B) "on": bool(true) "x": number(-1.5e-05) "bad": number(nan) "next": text(0x0) "arena": null() `+
			`"text": text(hi, "you") "call": text(World::step(Unit<int>*)+4) "hash": text(0xdeadbeef) "gone": null() "units": [ { "hp": number(3) end { "hp": number(4) end { "hp": number(4) end end `+
			`"grid": [ number(0) number(0) number(0) number(7) end "line": text(ab', 'c' <repeats 20 times>, 'd) "none": text() end`)
	// C++: pretty printers, base classes, virtual tables, several values.
	parses(t, n, "(gdb) set print pretty on\n(gdb) p g\n$1 = {\n  <Entity> = {\n    _vptr.Entity = 0x555555557d48 <vtable for Game+16>,\n    id = 7\n  }, \n  static count = 2,\n"+
		"  units = std::vector of length 2, capacity 4 = {{\n      hp = 3\n    }, {\n      hp = 4\n    }},\n  none = std::vector of length 0, capacity 0,\n"+
		"  by = std::map with 2 elements = {\n    [7] = {\n      x = 1\n    },\n    [\"nine\"] = {\n      x = 2\n    }\n  }\n}\n$2 = {{id = 1, a = 2}, {id = 3, a = 4}}\n",
		`{ "Entity": { "_vptr.Entity": text(vtable for Game+16) "id": number(7) end "count": number(2) "units": [ { "hp": number(3) end { "hp": number(4) end end "none": { end `+
			`"by": { "7": { "x": number(1) end "nine": { "x": number(2) end end end [ { "id": number(1) "a": number(2) end { "id": number(3) "a": number(4) end end`)
	parses(t, n, "(lldb) p *state\n(State) $0 = {\n  frame = 617\n  pos = (x = 1.5, y = -2)\n  name = \"Ann\"\n  units = size=2 {\n    [0] = {\n      hp = 3\n      foe = 0x0000600000c04010\n    }\n    [1] = {\n      hp = 4\n      foe = 0x0000000000000000\n    }\n  }\n}\n(lldb) c\n",
		`{ "frame": number(617) "pos": { "x": number(1.5) "y": number(-2) end "name": text(Ann) "units": { "0": { "hp": number(3) "foe": null() end "1": { "hp": number(4) "foe": null() end end end`)
	fails(t, n, "$1 = {a = 1, b = {1, 2...}, c = 3}\n", "at offset 22: elements that the debugger left out, expected all (set print elements 0)")
	fails(t, n, "$1 = {a = 1, b = {1, 2", "at offset 5: the file ends inside a value")
	fails(t, n, "$1 = {a = 1, b = {1 <repeats 99999999 times>}}\n", "at offset 18: more than 4 times as much data with what is repeated")
	sniffs(t, n, true, "$1 = {a = 1, b = {c = 2}}\n", "(lldb) v\n(State) s = {\n  a = 1\n  b = 2\n}\n")
	sniffs(t, n, false, "", "$1 = 5\n", "$1 = {\n", "x = {a = 1}\n", "$1 = {a = 1, b = 2...}\n", "(void) f = {\n}\n")
	if !n.Sniff([]byte("$1 = {a = 1, b = {c = 2, d = 3, e = 4"), false) {
		t.Error("a value that is cut")
	}
	if _, err := undebug([]byte(strings.Repeat("(x = ", 100) + ")))\"\\")); err != nil {
		t.Error(err)
	}
}

func FuzzDebugger(f *testing.F) {
	for _, text := range []string{`$1 = {a = "b\000", '\000' <repeats 9 times>, c = 97 'a', d = 0x7fff12345678 <e+1>, f = {1 <repeats 3 times>}, g = (H | I), j = <optimized out>}`,
		"$1 = {<A> = {b = 1}, c = std::vector of length 1, capacity 1 = {2}, d = std::map with 0 elements, e = -nan(0x1), f = @0x1: {g = 1}}", "(S) $0 = {\n a = (b = 1)\n c = size=1 {\n [0] = 2\n }\n}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if out, err := undebug(text); err == nil && len(out) != len(text) {
			t.Errorf("%q is %q", text, out)
		}
		robust(t, debuggerNotation(), text)
	})
}
