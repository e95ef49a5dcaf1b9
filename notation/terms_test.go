package notation

import (
	"strings"
	"testing"
)

func TestErlang(t *testing.T) {
	n := erlangNotation()
	parses(t, n, "%% of a node\n{started,{2024,2,11}}.\n{state,20,#{holds => #{1 => #{owner => ash,hex => {0,0}}},by => <0.12.0>,port => #Port<0.5>,ref => #Ref<0.1.2.3>}}.\n{chat,ash,<<\"hold it\">>}.\n"+
		"{state,40,\n       #{x => -1.5,\n         name => \"a\" \"b\"}}.\n",
		`{ "tick": number(20) "holds": { "1": { "owner": text(ash) "hex": [ number(0) number(0) end end end "by": null() "port": null() "ref": null() end { "tick": number(40) "x": number(-1.5) "name": text(ab) end`)
	// Lists of pairs, records, binaries, quoted atoms, tuples as names.
	parses(t, n, `[{hp,3},{'At x',{1.0e-5,2}},{"s",<<"té"/utf8>>},{raw,<<1,2>>},{units,[{unit,7,idle},{unit,8,{move,5}}]},{go,{move,{5,6}}},{{0,1},[2]}].`,
		`{ "hp": number(3) "At x": [ number(1.0e-5) number(2) end "s": text(té) "raw": text(<<1,2>>) "units": [ { "#type": text(unit) "1": number(7) "2": text(idle) end `+
			`{ "#type": text(unit) "1": number(8) "2#type": text(move) "2": number(5) end end "go#type": text(move) "go": [ number(5) number(6) end "{0,1}": [ number(2) end end`)
	parses(t, n, "{tick,20}.\n{units,[{7,#{hp => 3}},{8,#{hp => 4}}]}.\n{path,[{1,2},{3,4}]}.\n", // the members of one map
		`{@0 "tick": number(20) "units": {@18 "7": {@22 "hp": number(3) end@32 "8": {@37 "hp": number(4) end@47 end@49 "path": [@58 [@59 number(1) number(2) end@64 [@65 number(3) number(4) end@70 end@71 end@74`)
	parses(t, n, `#state{tick = 20,unit = #unit{id = 7,to = undefined}}`, `{ "#type": text(state) "tick": number(20) "unit": { "#type": text(unit) "id": number(7) "to": null() end end`)
	// Elixir
	parses(t, n, `{:state, 20, %{"a" => 1, b: %Game.Unit{id: 7, at: {1, 2}, how: :idle}, c: [hp: 3, on: true], set: MapSet.new([9, 3]), pid: #PID<0.1.0>, t: ~T[12:00:00], d: #Decimal<1.5>}}`,
		`{ "tick": number(20) "a": number(1) "b": { "#type": text(Game.Unit) "id": number(7) "at": [ number(1) number(2) end "how": text(idle) end "c": { "hp": number(3) "on": bool(true) end `+
			`"set": [ number(3) number(9) end "pid": null() "t": text(~T[12:00:00]) "d": text(#Decimal<1.5>) end`)
	parses(t, n, "{unit,7,#{hp => 3}}.\n{unit,8,#{hp => 4}}.", `{ "#type": text(unit) "1": number(7) "hp": number(3) end { "#type": text(unit) "1": number(8) "hp": number(4) end`) // no ticks
	fails(t, n, "{state,20,#{a => ", "at offset 17: the file ends inside a value")
	fails(t, n, "{state,20,#{a => b", "at offset 17: the file ends inside a value")
	fails(t, n, `#{a => <<"b`, "at offset 9: the file ends inside a text in quotes")
	fails(t, n, "#{a => 1,b}", `at offset 10: '}', expected a value`)
	fails(t, n, "#{a => 1 b => 2}", `at offset 9: "b => 2}", expected a comma or an end`)
	fails(t, n, "{state,(1)}.", `at offset 7: "(1)}.", expected a value`)
	fails(t, n, strings.Repeat("[", 300), "at offset 256: more than 256 maps and lists within each other")
	sniffs(t, n, true, "{state,20,#{a => 1}}.\n", "%{tick: 3, hp: 4}", "[{hp,3},{x,4},{y,5}].", "#{1 => #{hp => 3},2 => #{hp => 4}}", "%% x\n%% y\n{tick,3}.\n{hp,4}.\n{units,[[{id,7}]]}.\n")
	sniffs(t, n, false, "", "{tick: 3, hp: [{id: 4, x: 5}]}", "{'tick': 3, 'hp': [{'id': 4, 'x': 5}]}", "{:a=>1, :b=>2}", "{:a 1 :b 2}", "#{9 3}", "{1, 2}", "{a, b}", "[a, b].", "{state,20}.", "#include <a.h>\n", "%PDF-1.4\n", "{'a': 1}", "[1, 2, 3]",
		"-module(a).\n-export([b/1]).\n", "{a, b}. {c, d}. See below.\n", "body { a: b }", "# A title\n\n[a](b)\n")
}

func TestSexp(t *testing.T) {
	n := sexpNotation()
	parses(t, n, "((version 5) (day 45)\n (world ((fish 1.5) (at (2021-11-06 19:00:45.8+01:00))))\n (huts (((id 0) (team Otter)) ((id 1) (team \"He r\"))))\n (folk ((5 ((hut 3) (carrying ()))) (17 ((hut 4) (carrying (Eel))))))\n (way ((1 2) (3 4))))\n",
		`{ "version": number(5) "day": number(45) "world": { "fish": number(1.5) "at": text(2021-11-06 19:00:45.8+01:00) end "huts": [ { "id": number(0) "team": text(Otter) end { "id": number(1) "team": text(He r) end end `+
			`"folk": { "5": { "hut": number(3) "carrying": [ end end "17": { "hut": number(4) "carrying": [ text(Eel) end end end "way": [ [ number(1) number(2) end [ number(3) number(4) end end end`)
	// Lisp: association lists, property lists, structures, types in front of lists.
	parses(t, n, `((tick . 12) (units . ((7 . 3) (8 . 4))) (at 1 2) (on . #t) (by . nil) (of . #<UNIT {10}>))`,
		`{ "tick": number(12) "units": { "7": number(3) "8": number(4) end "at": [ number(1) number(2) end "on": bool(true) "by": null() "of": null() end`)
	parses(t, n, "; state\n(:tick 12 :units ((:id 7 :hp 3) (:id 8 :hp 4)) :to 'x :of #S(UNIT :ID 7 :AT #(1 2)))",
		`{ "tick": number(12) "units": [ { "id": number(7) "hp": number(3) end { "id": number(8) "hp": number(4) end end "to": text(x) "of": { "#type": text(UNIT) "ID": number(7) "AT": [ number(1) number(2) end end end`)
	parses(t, n, `(world (tick 5) #| no |# (unit 7 (hp 3) (at (x 1) (y 2))) (unit 8 (hp 4) (tags a b)))`,
		`{ "#type": text(world) "tick"+ number(5) "unit"+ { "1": number(7) "hp"+ number(3) "at"+ { "x"+ number(1) "y"+ number(2) end end `+
			`"unit"+ { "1": number(8) "hp"+ number(4) "tags"+ [ text(a) text(b) end end end`)
	parses(t, n, "(frame 20 (hp 3))\n(chat bob (gg))\n(frame 21 (hp 4))\n", `{ "frame": number(20) "hp"+ number(3) end { "frame": number(21) "hp"+ number(4) end`)
	parses(t, n, "(tick 20)\n(units ((7 ((hp 3))) (8 ((hp 4)))))\n", `{ "tick": number(20) "units": { "7": { "hp": number(3) end "8": { "hp": number(4) end end end`)
	parses(t, n, "((hp 3) (x \"a\\\n  b\nc\\065\"))\n", `{ "hp": number(3) "x": text(ab`+"\n"+`cA) end`)
	fails(t, n, "((hp 3) (x 4)\n", "at offset 14: the file ends inside a value") // though it ends with a parenthesis
	// Clojure
	parses(t, n, `{:tick 12, :units [{:id 7 :hp 3N} #game.Unit{:id 8, :at #inst "2021"}], :hot #{9 3}, 8 {:unit/hp ##Inf}}`,
		`{ "tick": number(12) "units": [ { "id": number(7) "hp": number(3) end { "#type": text(game.Unit) "id": number(8) "at": text(2021) end end "hot": [ number(3) number(9) end "8": { "unit.hp": number(inf) end end`)
	parses(t, n, `{:tick 5, :hot #{15 9 3}, :tags #{:b :a}, :units {8 {:hp 3} 9 {:hp 4}}, :n {1 10, 2 20}, :odd #{{:a 1} 15 [2]}}`,
		`{ "tick": number(5) "hot": [ number(3) number(9) number(15) end "tags": [ text(a) text(b) end "units": { "8": { "hp": number(3) end "9": { "hp": number(4) end end "n": { "1": number(10) "2": number(20) end "odd": [ { "a": number(1) end number(15) [ number(2) end end end`)
	fails(t, n, "((hp 3) (x ", "at offset 11: the file ends inside a value")
	fails(t, n, "((hp 3) (x 4)", "at offset 13: the file ends inside a value")
	fails(t, n, "((hp 3)) (x 4))", `at offset 14: ')', expected a value`)
	fails(t, n, "{:a 1 :b}", `at offset 8: '}', expected a value`)
	fails(t, n, "(a #| b", "at offset 3: the file ends inside a comment")
	sniffs(t, n, true, "((tick 5) (hp 3))\n", "((tick . 5) (hp . 3))", "(:tick 5 :hp 3)", "{:tick 5 :hp 3}", "(world (tick 5) (hp 3))", "; a\n((tick 5) (units ()))\n((tick 6) (units ()))\n", "[{:id 7 :hp 3} {:id 8 :hp 4}]")
	sniffs(t, n, false, "", "{a: 1, b: 2}", "{:a=>1, :b=>2}", "{:a => 1, :b => 2}", "(defun f (x) (+ x 1))\n", "(define (f x) (g (h 1) (i 2)))", "(a, b)", "(1 2)", "((1 2) (3 4))", "[note] (see below)", "(see page 3)", "f(1, 2)",
		"(lang dune 3.0)\n(name foo)\n", "{a 1 b 2}", "int main() { return 0; }", "(let ((a 1) (b 2)) a)")
}

// FuzzTerms gives a text to each notation with terms.
func FuzzTerms(f *testing.F) {
	for _, text := range []string{"{state,20,#{a => #{1 => {0,0}},b => <0.1.0>,c => [{d,1},{e,\"f\"}]}}.\n{chat,<<\"g\">>}.", "{a,1}.\n{b,[{c,d,{e,5}}]}.", `{:a, %B{c: [d: 1], e: #PID<0.1.0>, "f" => MapSet.new([2, 1])}}`, "#a{b = $c}",
		"((a 1) (b (((c 2) (d \"e\\nf\")) ((c 3)))) (g (7 . 8)))\n", "(a :b 1 (c d) #S(E :F #(1 2)) #<g> #| h |#)", "(a 7 (b 1 2) (b (c 3)))", "{:a #{2 1} :b/c #d{:e 1N} 5 [(2021-11-06 19:00:45)]}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, n := range []Notation{erlangNotation(), sexpNotation()} {
			robust(t, n, text)
		}
	})
}
