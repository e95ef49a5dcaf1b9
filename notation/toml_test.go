package notation

import (
	"strings"
	"testing"
)

func TestTOML(t *testing.T) {
	n := tomlNotation()
	// The examples come from TOML 1.0, except for the offsets.
	parses(t, n, "# This is a TOML document\ntitle = \"TOML Example\"\n[owner]\nname = \"Tom\"\ndob = 1979-05-27T07:32:00-08:00\n"+
		"[database]\nenabled = true\nports = [ 8000, 8001 ]\ntemp_targets = { cpu = 79.50, case = 72.0 }\n[servers]\n[servers.alpha]\nip = '10.0.0.1'\n",
		`{@0 "title": text(TOML Example) "owner": {@50 "name": text(Tom) "dob": text(1979-05-27T07:32:00-08:00) end@76 `+
			`"database": {@103 "enabled": bool(true) "ports": [@128 number(8000) number(8001) end@144 `+
			`"temp_targets": {@166 "cpu": number(79.50) "case": number(72.0) end@188 end@188 `+
			`"servers": {@196 "alpha": {@214 "ip": text(10.0.0.1) end@226 end@226 end@226`)
	parses(t, n, "[[fruits]]\nname = \"apple\"\n[fruits.physical]\ncolor = \"red\"\n[[fruits.varieties]]\nname = \"a\"\n[[fruits.varieties]]\nname = \"b\"\n[other]\n[[fruits]]\n",
		`{@0 "fruits": [@2 {@2 "name": text(apple) "physical": {@34 "color": text(red) end@52 "varieties": [@67 {@67 "name": text(a) end@86 `+
			`{@99 "name": text(b) end@118 end@118 end@118 {@132 end@132 end@132 "other": {@123 end@132 end@132`)
	parses(t, n, "i = [+99, -17, 1_000, 0xDEAD_beef, 0o755, 0b1101_0110]\nf = [+1.0, -0.01, 5e+22, 1e06, 224_617.445_991_228, +inf, -inf, -nan]\n",
		`{@0 "i": [@0 number(99) number(-17) number(1000) number(3735928559) number(493) number(214) end@42 "f": [@55 number(1.0) number(-0.01) `+
			`number(5e+22) number(1e06) number(224617.445991228) number(inf) number(-inf) number(nan) end@119 end@119`)
	parses(t, n, "a.b.\"c d\" = 1\na.e = \"\\u00e9\\n\"\n[x.y]\n[x]\nz = '''\nq'''\n",
		"{@0 \"a\": {@0 \"b\": {@2 \"c d\": number(1) end@12 \"e\": text(é\n) end@20 \"x\": {@32 \"y\": {@34 end@34 \"z\": text(q) end@45 end@45")

	fails(t, n, "a = 1\na = 2\n", `at offset 6: the name "a" a second time`)
	fails(t, n, "[a]\n[a]\n", `at offset 5: the name "a" a second time`)
	fails(t, n, "a = {b = 1}\n[a.c]\n", `at offset 13: the name "a" a second time`)
	fails(t, n, "a = [1]\n[[a]]\n", `at offset 10: the name "a" a second time`)
	fails(t, n, "a.b = 1\na.b.c = 2\n", `at offset 10: the name "b" a second time`)
	fails(t, n, "a = x\nb = 2\n", "at offset 4: unexpected character U+0078 'x' at start of value")
	fails(t, n, "a = 1\nb = [1, ", "at offset 13: the file ends inside a value: array is incomplete")
	fails(t, n, strings.Repeat("a.", 300)+"b = 1\n", "at offset 510: more than 256 maps and lists within each other")
	if err := n.Parse([]byte("a = "+strings.Repeat("[", 1<<20)), discard{}); err == nil {
		t.Error("brackets")
	}

	sniffs(t, n, true, "a = 1\nb = 'x'\n", "[units.17]\nhp = 5\n", "\xef\xbb\xbfa = 1\r\n[b]\r\n")
	sniffs(t, n, false, "", "a = 1\n", "[a]\n[b]\n", "a = x\nb = 1\n", "[12:00] a\n", "a: 1\nb: 2\n", "tick = 5\nsum = 7\ntick = 6\nsum = 8\n", "{\"a\": 1}", "local x = 5\n")
	for _, begin := range []string{"a = 1\nb = 2\nc = 'x", "[a]\nb = 1\nc = [\n  1,\n  2,\n  3", "[a]\nb = 1\n[c"} {
		if !n.Sniff([]byte(begin), false) {
			t.Errorf("%q", begin)
		}
	}
}

func FuzzTOML(f *testing.F) {
	f.Add([]byte("a.b = [1, {c = 'x'}]\n[[d]]\n[d.e]\nf = 0x1_0\n\"g\" = \"\"\"\n\\u00e9\"\"\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, tomlNotation(), text) })
}
