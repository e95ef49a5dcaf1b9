package notation

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestPaths(t *testing.T) {
	n := pathsNotation()
	parses(t, n, "tick: 300\nunits[17].pos.x: 3\nunits[17].pos.y: 4.50\nunits[17].hp: 5\nunits[18].hp: \"a\\tb\"\n",
		`{@0 "tick": bare(300) "units": {@10 "17": {@10 "pos": {@10 "x": bare(3) "y": bare(4.50) end@51 "hp": bare(5) end@67 "18": {@67 "hp": text(a	b) end@88 end@88 end@88`)
	parses(t, n, "/units/17/hp 3\n/units/17/pos.x -1e5\n# c\n\n/a/on true", `{ "units": { "17": { "hp": bare(3) "pos.x": bare(-1e5) end end "a": { "on": bare(true) end end`)
	parses(t, n, "=== Tick 1 ===\r\na.b=1\r\na[\"x.y\"][2].c = (1, 2.5)\r\n=== Tick 2 ===\r\na.b =\r\na.c = two words\r\n",
		`{@0 "Tick": bare(1) "a": {@16 "b": bare(1) "x.y": {@23 "2": {@23 "c": [@23 bare(1) bare(2.5) end@23 end@49 end@49 end@49 end@49 `+
			`{@49 "Tick": bare(2) "a": {@65 "b": null() "c": bare(two words) end@89 end@89`)
	// A heading with the tick may have further values.
	measured := "-- frame 4 cpu=0.4 mem=218\ngold=0\nu[2].x=0x00a1.8\nu[2].y=3\nu[2].z=3\n-- frame 8 cpu=0.5 mem=217\ngold=1\nu[2].x=0x00a2.8\nu[2].y=3\nu[2].z=3\n"
	parses(t, n, measured, `{ "frame": bare(4) "cpu": bare(0.4) "mem": bare(218) "gold": bare(0) "u": { "2": { "x": bare(0x00a1.8) "y": bare(3) "z": bare(3) end end end `+
		`{ "frame": bare(8) "cpu": bare(0.5) "mem": bare(217) "gold": bare(1) "u": { "2": { "x": bare(0x00a2.8) "y": bare(3) "z": bare(3) end end end`)
	sniffs(t, n, true, measured)
	lines := strings.Repeat("a.b = 1\n", 3)
	fails(t, n, lines+"what is this\n", `at offset 24: "what is this", expected a path and a value`)
	fails(t, n, lines+"a.b", `at offset 24: the file ends inside a line`)
	fails(t, n, lines+"a..b = 3\n", `at offset 24: "a..b = 3", expected a path and a value`)
	sniffs(t, n, true, "a.b = 1\na.c = 2\na.d = 3\n", "/u/1/hp 3\n/u/2/hp 4\n/u/3/hp 4\n", "tick 5\nu[1].x: 1\nu[2].x: 2\nu[3].x: 2\ntick 6\nu[1].x: 1\n",
		"units.17.hp=3\nunits.17.name=\"x\"\nunits.17.on=true\n", "Tick 5\n  u.a.x: 1\n  u.a.y: 2\n  u.a.z: 3\n", "u[1].x = 1;\nu[1].y = 2.5;\nu[1].z = 3;\n")
	sniffs(t, n, false, "", "a.b = 1\na.c = 2\n", "a = 1\nb = 2\nc = 3\n", "main.go:12:3: undefined: x\nmain.go:13:3: undefined: y\nmain.go:14:3: undefined: z\n",
		"a.b = x\na.c = y\na.d = z\n", "net.ping: 5\nnet.ping: 6\nnet.ping: 7\n", "github.com/a/b v1.2.3 h1:abc=\ngithub.com/a/c v1.2.3 h1:abc=\ngithub.com/a/d v1.2.3 h1:abc=\n",
		"x.y = f(1);\nx.z = f(2);\nx.a = 3;\n", "tick[5]: 7\ntick[6]: 8\ntick[7]: 9\n", "hash[5]: 7\nhash[6]: 8\nhash[7]: 9\n",
		"unit.1:\n  pos.x: 3\n  pos.y: 4\n  pos.z: 4\n",
		"12.30: 5\n12.31: 6\n12.32: 7\n", "go 1.2\nrequire a.b/c v1.2\n", "Hello world.\nThis is it.\nBye now.\n")
}

func TestColumns(t *testing.T) {
	n := columnsNotation()
	parses(t, n, "tick 5\nunits 17 hp 3\nunits 17 name \"big tank\"\nunits 18 hp 4\nmap 0 seed 9\ntick 6\nunits 17 hp 4\n",
		`{@0 "tick": bare(5) "units": {@7 "17": {@7 "hp": bare(3) "name": text(big tank) end@46 "18": {@46 "hp": bare(4) end@60 end@60 "map": {@60 "0": {@60 "seed": bare(9) end@73 end@73 end@73 `+
			`{@73 "tick": bare(6) "units": {@80 "17": {@80 "hp": bare(4) end@94 end@94 end@94`)
	parses(t, n, "30 unit 7 hp 3\n30 unit 7 name big tank\n# note\n60 unit 7 hp 4\n60 map - seed 9\n60 map - wind 9\n", `{ "tick": bare(30) "unit": { "7": { "hp": bare(3) "name": bare(big tank) end end end `+
		`{ "tick": bare(60) "unit": { "7": { "hp": bare(4) end end "map": { "-": { "seed": bare(9) "wind": bare(9) end end end`)
	parses(t, n, "physics\tball\tx = 1.5\nphysics\tball\ty = 2\n", `{ "physics": { "ball": { "x": bare(1.5) "y": bare(2) end end end`)
	fails(t, n, "u 1 hp 3\nu 2 hp 3\nu 3 hp\n", `at offset 18: "u 3 hp", expected a path and a value`)
	sniffs(t, n, true, "units 17 hp 3\nunits 17 x 2.5\nunits 18 hp 4\nunits 18 x 4\n", "tick: 5\nunits tank hp 3\nunits tank x 2\nunits car x 2\nunits car hp 2\n")
	sniffs(t, n, true, "0 world - seed 3\n0 unit a hp 3\n0 unit a x 2\n0 unit b hp 4\n30 world - seed 3\n30 unit a hp 4\n30 unit a x 2\n30 unit b hp 4\n",
		"unit a hp 3\nunit a name big tank\nunit b hp 4\nunit b name tiny\nunit c hp 4\nunit c x 5\n")
	sniffs(t, n, false, "30 unit a hp 3\n10 unit a hp 3\n20 unit a hp 4\n40 unit a hp 4\n", "1 unit a hp 3\n2 unit a x 3\n3 unit b hp 4\n4 unit b x 4\n", // ticks fall, numbers of lines
		"The unit has 5\nThe unit was seen at 7 or so\nThe game is 5\nIt was by the big tank at 9\nIt is big 4\nand it was there at about 5 times 6\n")
	sniffs(t, n, false, "", "tick 5 hash 77\ntick 6 hash 78\ntick 7 hash 79\ntick 8 hash 79\n", "INFO net ping 30\nINFO net ping 31\nINFO net ping 32\nINFO net ping 33\n",
		"v 1.0 2.0 3.0\nv 2.0 3.0 1.0\nv 1.0 1.0 1.0\nf 1 2 3\n", "This is a text\nthat has four words\nin each line here\nas it is 5\n",
		"unit hp x y\n1 2 3 4\n2 3 4 5\n3 4 5 6\n", "a.b = 1\na.c = 2\na.d = 3\na.e = 3\n",
		"package a\n\nconst A = 1\nconst B = 2\nconst C = 3\nconst D = 4\n", "int a = 1;\nint b = 2;\nfloat a = 1;\nfloat c = 1;\n")
}

func FuzzPaths(f *testing.F) {
	f.Add([]byte("tick: 300\nunits[17].pos.x: 3\n/u/1/hp \"a\\x\"\n=== Tick 301 ===\na.b = (1, 2)\n"))
	f.Add([]byte("tick 5\nunits 17 hp 3\nunits 17 name \"big tank\"\ntick 6\nunits 18 hp [1 2]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		robust(t, pathsNotation(), text)
		robust(t, columnsNotation(), text)
	})
}

func BenchmarkPaths(b *testing.B) {
	var text bytes.Buffer
	for i := range 10000 {
		fmt.Fprintf(&text, "units[%d].pos.x = %d.25\nunits[%d].pos.y = %d.5\nunits[%d].hp = 100\n", i, i*7%1000, i, i*13%1000, i)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if err := pathsNotation().Parse(text.Bytes(), discard{}); err != nil {
			b.Fatal(err)
		}
	}
}
