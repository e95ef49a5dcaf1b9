package notation

import (
	"strings"
	"testing"
)

func TestLua(t *testing.T) {
	n := luaNotation()
	parses(t, n, `return { units = { [17] = {hp=3, name='x'}, {1,2} } }`,
		`{@7 "units": {@17 "17": {@26 "hp": number(3) "name": text(x) end@42 "1": [@44 number(1) number(2) end@49 end@51 end@53`)
	parses(t, n, "-- saved\nState = {\n  tick = 0x1F; [\"a b\"] = nil, [true] = false, --[[ no\n ]] x = -.5, y = 1., z = 1e3 }\nn = 2\n",
		`{ "State": { "tick": number(31) "a b": null() "true": bool(false) "x": number(-0.5) "y": number(1.0) "z": number(1e3) end "n": number(2) end`)
	parses(t, n, `local M = {[[
a]b]], [==[]]]==], "\65\x42\u{e9}\z
	c\n", '"', math.huge, -1/0, 0/0, 5LL, {}, 0xFFFFFFFFFFFFFFFF, 0x1p-2} return M`,
		`{ "M": [ text(a]b) text(]]) text(ABéc`+"\n"+`) text(") number(inf) number(-inf) number(nan) number(5) { end number(18446744073709551615) number(0.25) end end`)
	parses(t, n, "{a={b={}}}\n{a=1}", `{@0 "a": {@3 "b": {@6 end@8 end@9 end@10 {@11 "a": number(1) end@16`)
	parses(t, n, "local D = { by = 'x' }\nD.snaps[25] = { hp = 3 }\nD.snaps[ 'b' ].c = 4 D[\"n\"] = 5\nD.fps = 2.5\nreturn D\n", // statements
		`{ "D": { "by": text(x) end "D": { "snaps": { "25": { "hp": number(3) end end end "D": { "snaps": { "b": { "c": number(4) end end end "D": { "n": number(5) end `+
			`"D": { "fps": number(2.5) end end`)
	fails(t, n, "a = {}\na[b] = {}", `at offset 9: "b", expected a value`)
	fails(t, n, "a = {}\na[1 = {}", `at offset 7: "a[1 = {}", expected a name in brackets`)
	fails(t, n, "return {a = 1", "at offset 12: the file ends inside a value")
	parses(t, n, "do local _={think=function() --[[..skipped..]] end --[[function: 0x75]],a=1};return _;end", `{ "_": { "think": null() "a": number(1) end end`)
	parses(t, n, "do local _={a=1,b={2} --[[table: 0x7f]]};return _;end", `{ "_": { "a": number(1) "b": [ number(2) end end end`) // of serpent
	fails(t, n, "return {a = 12", "at offset 12: the file ends inside a value")
	fails(t, n, "return {a = 'x", "at offset 12: the file ends inside a text in quotes")
	fails(t, n, "return {a = [[x]", "at offset 12: the file ends inside a text in brackets")
	fails(t, n, "return {a = --[[x", "at offset 12: the file ends inside a comment")
	fails(t, n, "return {a b}", `at offset 8: "a", expected a value`)
	fails(t, n, "return {1 2}", `at offset 10: '2', expected , or }`)
	fails(t, n, "return {[1 = 2}", `at offset 8: "[1 = 2}", expected a name in brackets, and =`)
	fails(t, n, "return {'\\q'}", `at offset 9: an unknown escape "\\q'}"`)
	fails(t, n, "x = f()", `at offset 4: "f", expected a value`)
	sniffs(t, n, true, "return {a=1,b=2}", "-- x\nA = {\n\ta = 1,\n b = {}, [2]={1} }", "{[1]={x=1.5},[2]={x=2}}")
	sniffs(t, n, false, "", "x = 5\ny = 6\n", "return 5", "{}", "local function f() end", "-- a comment\n", "# a\n", "{'a': 1, 'b': 2}", "a = {\n", "function a()\n return {a=1,b=2}\nend")
}

func TestPython(t *testing.T) {
	n := pythonNotation()
	parses(t, n, `{'tick': 5, 'units': [(1, 2.5), {3}, set(), (7,)], 'on': True, 'x': None, (1, 'a b'): b'\x00\'a', 2: -inf, None: nan}`,
		`{ "tick": number(5) "units": [ [ number(1) number(2.5) end [ number(3) end { "#type": text(set) end [ number(7) end end `+
			`"on": bool(true) "x": null() "(1,'a b')": bytes(`+"\x00"+`'a) "2": number(-inf) "None": number(nan) end`)
	parses(t, n, "Unit(id=1, pos=Vec(1.5, -2), q=deque([1]), n=Decimal('1.50'))\n[Vec(3)]",
		`{ "#type": text(Unit) "id": number(1) "pos#type": text(Vec) "pos": [ number(1.5) number(-2) end "q#type": text(deque) "q": [ number(1) end `+
			`"n#type": text(Decimal) "n": text(1.50) end [ { "#type": text(Vec) "0": number(3) end end`)
	parses(t, n, "{'p': array([1., -.5], dtype=float32), 'q': np.float64(2.5), 'b': b'a' b\"b\"}",
		`{ "p": { "#type": text(array) "0": [ number(1.0) number(-0.5) end "dtype": text(float32) end "q#type": text(np.float64) "q": number(2.5) "b": bytes(ab) end`)
	parses(t, n, "state = {'a': ('x'\n  \"y\\xe9\\u20ac\\U0001f600\\ud800\"), # b\n}", `{ "state": { "a": text(xyé€😀`+"\xed\xa0\x80"+`) end end`)
	parses(t, n, `{'s': {'b', 12, 3, 'a'}, 't': {(2, 1), 3}}`, `{ "s": [ number(3) text(a) text(b) number(12) end "t": [ [ number(2) number(1) end number(3) end end`) // no order
	fails(t, n, "{'a': 1, 2}", `at offset 9: "2}", expected that all members have names, or none`)
	fails(t, n, "{1, 'a': 2}", `at offset 9: "2}", expected that all members have names, or none`)
	parses(t, n, "{'kind': <Enum.A: 3>, 'of': <Unit object at 0x7f31c2>}", `{ "kind": text(<Enum.A: 3>) "of": null() end`)
	parses(t, n, `{ "tick": 5, "name": &"ann", 7: { "on": true, "pos": (1, -2.5) }, "in": ^"a/b", "by": <Node#12>, "to": <null> }`, // of Godot
		`{ "tick": number(5) "name": text(ann) "7": { "on": bool(true) "pos": [ number(1) number(-2.5) end end "in": text(a/b) "by": null() "to": null() end`)
	fails(t, n, "[<Enum.A\n>]", `at offset 1: "<Enum.A\n", expected a value`)
	fails(t, n, "{'a': Tr", `at offset 6: the file ends inside a value`)
	fails(t, n, "{'a\n': 1}", `at offset 3: the end of a line inside a text in quotes`)
	fails(t, n, "{'a': 'x\\", `at offset 6: the file ends inside a text in quotes`)
	fails(t, n, "5", `at offset 0: "5", expected a map or list`)
	fails(t, n, strings.Repeat("(", 300), "at offset 255: more than 256 maps and lists within each other")
	sniffs(t, n, true, "{'tick': 5, 'units': [1]}", "(1, 2.5)", "Unit(id=1, hp=2)", "[{'a': 1, 'b': None}]\n[]\n", "s = {1: 'a', 2: 'b'}")
	sniffs(t, n, false, "", "print(a)", "import os\n", "f(1, 2);", "[note] a", "(a, b)", "{'a', 'b'}", "['a', 'b']", "['it', 'is'] fine", "x = 1\ny = 2\n",
		"[Some(1), Some(2), Foo(a=1)]", "{a=1, b=2}", "# Title\n\nText (1, 2)\n", "{6}({6})", "(1)(2)")
}

func TestObjects(t *testing.T) {
	n := printedNotation()
	parses(t, n, "State[tick=5, units=[Unit{id=1, name='ann', at=Vec[x=1.5, y=-2], on=true}, Unit{id=2}], by=sim.Bus@7f31c2, to=null, of={7=Idle, 9=Walk}]",
		`{ "#type": text(State) "tick": number(5) "units": [ { "#type": text(Unit) "id": number(1) "name": text(ann) "at": { "#type": text(Vec) "x": number(1.5) "y": number(-2) end "on": bool(true) end `+
			`{ "#type": text(Unit) "id": number(2) end end "by": null() "to": null() "of": { "7": text(Idle) "9": text(Walk) end end`)
	parses(t, n, "State { Tick = 5, At = Vec { X = 1 } }", `{ "#type": text(State) "Tick": number(5) "At": { "#type": text(Vec) "X": number(1) end end`)
	parses(t, n, "State{ .tick = 5, .at = Vec{ .x = 1 } }", `{ "#type": text(State) "tick": number(5) "at": { "#type": text(Vec) "x": number(1) end end`)
	sniffs(t, n, true, "State {tick = 5, units = [Unit {uid = 1, pos = (1.0,2.0)}]}", "State[tick=5, units=[Unit{id=1, hp=2}]]", "State(tick=5, rule=FAST)\n", "State {\n  Tick = 5,\n  Rule = Fast }\n")
	sniffs(t, n, false, "", "f(1, 2)", "a = {b = 1, c = 2}", "Unit { Id = 1, Hp = 2 }\nUnit { Id = 2, Hp = 3 }\n", "[a=1, b=2]", "Unit { id: 1, hp: 2 }",
		"WARN peers[2] lost", "Options [-a=1] [-b=2]", "Note (x = 1, y = 2) is odd", "Foo{}", "int main() {\n  return 0;\n}\n")
}

func TestRustDebug(t *testing.T) {
	n := rustNotation()
	parses(t, n, `State { tick: 5, units: [Unit { id: 1, pos: Vec2 { x: 1.0 } }], name: Some("x\u{e9}\0"), other: None }`,
		`{@0 "#type": text(State) "tick": number(5) "units": [@24 {@25 "#type": text(Unit) "id": number(1) "pos": {@44 "#type": text(Vec2) "x": number(1.0) end@59 end@61 end@62 `+
			`"name": text(xé`+"\x00"+`) "other": null() end@102`)
	parses(t, n, "W {\n    m: {\n        Id(\n            3,\n        ): Some(\n            Id(\n                4,\n            ),\n        ),\n    },\n    c: 'a',\n    s: Idle,\n    o: Move(\n        1,\n        2.5,\n    ),\n    u: (),\n    e: 17v3, ..\n}",
		`{ "#type": text(W) "m": { "Id(3)#type": text(Id) "Id(3)": number(4) end "c": text(a) "s": text(Idle) "o#type": text(Move) "o": [ number(1) number(2.5) end `+
			`"u": [ end "e": text(17v3) end`)
	parses(t, n, `[Some(1), None, Attack(2), a::B { d: 1.5s, p: PhantomData<f32> }]`,
		`[@0 number(1) null() {@16 "#type": text(Attack) "0": number(2) end@25 {@27 "#type": text(a::B) "d": text(1.5s) "p": text(PhantomData<f32>) end@64 end@65`)
	parses(t, n, "A { b: {3, 1}, c: [3, 1] }", `{ "#type": text(A) "b": [ number(1) number(3) end "c": [ number(3) number(1) end end`) // a set has no order
	parses(t, n, "#![enable(implicit_some)]\n#![enable(unwrap_newtypes)]\n(a: 1, b: [2])", `{ "a": number(1) "b": [ number(2) end end`)
	fails(t, n, "#![enable(implicit_some)]", "at offset 0: the file ends inside an attribute")
	parses(t, n, "(\n    frame: 20, // RON\n    entities: {\n        7: (components: {\"a::Hp\": (3), \"a::At\": (x: 1.5, y: 2), \"a::Team\": Red}),\n    },\n    next: Some(Unit(id: 8)),\n)\n",
		`{ "frame": number(20) "entities": { "7": { "components": { "a::Hp": number(3) "a::At": { "x": number(1.5) "y": number(2) end "a::Team": text(Red) end end end `+
			`"next": { "#type": text(Unit) "id": number(8) end end`)
	fails(t, n, "A { b: 1", "at offset 7: the file ends inside a value")
	fails(t, n, "A { b: 1 c: 2 }", "at offset 9: 'c', expected , or }")
	fails(t, n, "A { b: 1, 2 }", `at offset 10: "2 }", expected that all members have names, or none`)
	sniffs(t, n, true, "State { tick: 5, a: [1] }", "State { tick: 5, a: [] }", "[Unit { id: 1, x: 2.0 }, Unit { id: 2, x: 3.0 }]", `{"a": Some(1), "b": None}`, "(frame: 20, units: {7: (hp: 3)})")
	sniffs(t, n, false, "", "(see: the notes, below)", "(a: b c)", "use std::io;\n", "fn main() { a: 1, b: 2 }", "body { color: red; a: b }", "units { id: 1, x: 2 }", "Foo(see below)", "Foo(bar)", "[Section]\na=1\n",
		"pub struct A { b: u32, c: u8 }", "Note: a (b) c", "class A { int b; }")
}

// TestRustPrinted checks that what rustc 1.95 printed with {:?} and with {:#?} is the same.
func TestRustPrinted(t *testing.T) {
	const line = `State { tick: 18446744073709551615, units: {Id(1): Unit { order: Move { to: Vec2 { x: NaN, y: inf } }, name: Some("a\"b\né\u{7}'"), c: '\'', d: 1.5s, t: (1,), u: (), b: RefCell { value: 3 }, m: Mutex { data: 2, poisoned: false, .. }, p: PhantomData<u8> }, Id(2): Unit { order: Pair(1, 1e-7), name: None, c: 'x', d: 1ms, t: (1,), u: (), b: RefCell { value: 3 }, m: Mutex { data: 2, poisoned: false, .. }, p: PhantomData<u8> }}, grid: {(-2, 3): Some(Id(4)), (0, 1): None}, f: [1e300, -0.0], unit: Empty }`
	const lines = `State {
    tick: 18446744073709551615,
    units: {
        Id(
            1,
        ): Unit {
            order: Move {
                to: Vec2 {
                    x: NaN,
                    y: inf,
                },
            },
            name: Some(
                "a\"b\né\u{7}'",
            ),
            c: '\'',
            d: 1.5s,
            t: (
                1,
            ),
            u: (),
            b: RefCell {
                value: 3,
            },
            m: Mutex {
                data: 2,
                poisoned: false,
                ..
            },
            p: PhantomData<u8>,
        },
        Id(
            2,
        ): Unit {
            order: Pair(
                1,
                1e-7,
            ),
            name: None,
            c: 'x',
            d: 1ms,
            t: (
                1,
            ),
            u: (),
            b: RefCell {
                value: 3,
            },
            m: Mutex {
                data: 2,
                poisoned: false,
                ..
            },
            p: PhantomData<u8>,
        },
    },
    grid: {
        (
            -2,
            3,
        ): Some(
            Id(
                4,
            ),
        ),
        (
            0,
            1,
        ): None,
    },
    f: [
        1e300,
        -0.0,
    ],
    unit: Empty,
}
`
	unit := `"t": [ number(1) end "u": [ end "b": { "#type": text(RefCell) "value": number(3) end "m": { "#type": text(Mutex) "data": number(2) "poisoned": bool(false) end "p": text(PhantomData<u8>) end `
	want := `{ "#type": text(State) "tick": number(18446744073709551615) "units": { "Id(1)": { "#type": text(Unit) ` +
		`"order": { "#type": text(Move) "to": { "#type": text(Vec2) "x": number(nan) "y": number(inf) end end ` +
		"\"name\": text(a\"b\né\a') \"c\": text(') \"d\": text(1.5s) " +
		unit +
		`"Id(2)": { "#type": text(Unit) "order#type": text(Pair) "order": [ number(1) number(1e-7) end "name": null() "c": text(x) "d": text(1ms) ` +
		unit +
		`end "grid": { "(-2,3)#type": text(Id) "(-2,3)": number(4) "(0,1)": null() end "f": [ number(1e300) number(-0.0) end "unit": text(Empty) end`
	parses(t, rustNotation(), line, want)
	parses(t, rustNotation(), lines, want)
}

func TestJavaScript(t *testing.T) {
	n := javascriptNotation()
	parses(t, n, "{\n  tick: 3n, // now\n  units: [ Unit { id: 1, 'a-b': null, on: true, x: -Infinity, n: undefined, s: 'it\\'s' } ],\n  \"m\": {}, 17: 0x1f\n}",
		`{ "tick": number(3) "units": [ { "#type": text(Unit) "id": number(1) "a-b": null() "on": bool(true) "x": number(-inf) "n": null() "s": text(it's) end end "m": { end "17": number(31) end`)
	fails(t, n, "{ a: [Object] }", `at offset 6: "Object", expected a value`)
	fails(t, n, "{ a: 1, b: [ 2,", `at offset 15: the file ends inside a value`)
	sniffs(t, n, true, "{ tick: 3, units: [ { id: 1 } ] }", "{ tick: 3, on: true }\n{ tick: 4, on: true }\n", "state = { tick: 3, hp: [] };\n")
	sniffs(t, n, false, "", "var x = 3;\n", "function f() { a: 1, b: 2 }", "body { color: red; top: 0 }", "{ a: b, c: d }", "x = 3\ny = 5\n", "const A = { a: f(1) }")
	sniffs(t, pythonNotation(), false, "{ tick: 3, units: [ { id: 1 } ] }")
}

// TestSNBT: what the wiki of Minecraft shows of SNBT.
func TestSNBT(t *testing.T) {
	n := snbtNotation()
	parses(t, n, "{id: \"minecraft:pig\", Pos: [1.5d, -64.0D, 2e3f], Air: 300s, OnGround: 1b, UUID: [I; 1, -2, 3], Seed: -5L, mask: [B; 1b,0b], longs: [L;], name: '{\"text\":\"[I;\"}', Tags: [a-b, x.y], ok: true, 'a b': {}}",
		`{ "id": text(minecraft:pig) "Pos": [ number(1.5) number(-64.0) number(2e3) end "Air": number(300) "OnGround": number(1) "UUID": [ number(1) number(-2) number(3) end "Seed": number(-5) "mask": [ number(1) number(0) end "longs": [ end `+
			`"name": text({"text":"[I;"}) "Tags": [ text(a-b) text(x.y) end "ok": bool(true) "a b": { end end`)
	fails(t, n, "{a: 1b, b: [I; 1, 2", "at offset 18: the file ends inside a value")
	fails(t, n, "{a: 1b, b: , c: 2}", "at offset 11: \", c: 2}\", expected a value")
	sniffs(t, n, true, "{a: 1b, b: 2}", "[{a: [I; 1, 2], b: 2}, {a: [I;3]}]")
	sniffs(t, n, false, "", "{a: 1, b: 2}", "Value {a: 1b}", "{a: 1b and more}", "say {a: 1b}\n")
}

// FuzzLiterals gives a text to each notation with literals.
func FuzzLiterals(f *testing.F) {
	for _, text := range []string{`return { units = { [17] = {hp=3, 'x'}, {1,2} } }`, "A = {[[x]], --[=[ ]=]\n0x1F}", `{'a': (1, 2.5), (1, 'x'): b'\x00', ((1,): 2): 3}`,
		`Unit(id=1, pos=Vec(1.5), q=[V(1), V(x=2)])`, `State { a: Some(Id(3)), b: {Id(1): None}, .. }`, `[Some(1), None, Attack(2)]`,
		`{a: [I; 1, 2b], 'b': "c", d: e}`, `units { id: 1 pos < x: 2.5 > }`, `list: [1, 2] name: "a" 'b'`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, n := range []Notation{luaNotation(), pythonNotation(), rustNotation(), javascriptNotation(), snbtNotation()} {
			robust(t, n, text)
		}
	})
}
