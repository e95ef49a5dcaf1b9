package notation

import (
	"bytes"
	"strings"
	"testing"
)

func TestINI(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"; c\nseed = 5\n\n[units.17]\nhp: 1.50\r\nname = \"a b\"\n", `{@0 "seed": bare(5) "units": {@14 "17": {@14 "hp": bare(1.50) "name": text(a b) end@48 end@48 end@48`},
		{"\xef\xbb\xbf[unit 17]\n# c\nx=\n[b \"c d\"] ; c\ny==1\n", `{@0 "unit": {@0 "17": {@0 "x": bare() end@20 end@20 "b": {@20 "c d": {@20 "y": bare(=1) end@39 end@39 end@39`},
		{"[u]\na=1\n[v]\n[u]\na='it''s'\n", `{@0 "u"+ {@0 "a": bare(1) end@8 "v": {@8 end@12 "u"+ {@12 "a": bare('it''s') end@26 end@26`},
		{"", `{@0 end@0`},
		{"[a b o'c]\n[a:b_1]\n[/x/y z.w]", `{@0 "a": {@0 "b o'c": {@0 end@10 end@10 "a": {@10 "b_1": {@10 end@18 end@18 "x": {@18 "y z": {@18 "w": {@18 end@28 end@28 end@28 end@28`},
	} {
		parses(t, iniNotation(), c.text, c.want)
	}
	for text, want := range map[string]string{
		"a=1\nhello\n":                         `at offset 4: "hello", expected a section in square brackets, or a key and a value`,
		"[a] b\n":                              `at offset 0: "[a] b", expected a section in square brackets, or a key and a value`,
		"[" + strings.Repeat("a.", 300) + "a]": `at offset 0: more than 256 maps within each other`,
	} {
		fails(t, iniNotation(), text, want)
	}
}

// TestSectionNames checks how names of sections are split.
func TestSectionNames(t *testing.T) {
	for name, want := range map[string]string{
		"units.17":             "units|17",
		"unit 17":              "unit|17",
		`game object "a.b c"`:  "game object|a.b c",
		`game object "a b"`:    "game object|a b",
		"game object 17":       "game object|17",
		"pawn 9e3779b1-0001":   "pawn|9e3779b1-0001",
		"zorbel:Grit_18":       "zorbel|Grit_18",
		"unit:game:stone 2":    "unit|game:stone 2",
		"wagon Fjord o'Hollow": "wagon|Fjord o'Hollow",
		"unit 17 cargo 3":      "unit|17|cargo|3",
		"unit:17.position":     "unit|17|position",
		"/Script/Engine.Game":  "Script|Engine|Game",
		"world":                "world",
		"..":                   "..",
		" ":                    " ",
	} {
		if got := string(bytes.Join(iniPath([]byte(name)), []byte("|"))); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

func TestSniffINI(t *testing.T) {
	for text, want := range map[string]bool{
		"[a]\nx=1\n":                         true,
		"# c\na.b=1\nc=2\nd=\n":              true,
		"[Game Rules]\nSpeed: 5\n":           true,
		"a=1\n":                              false, // too little
		"a=1\nb=2\na=3\n":                    false,
		"tick=5 sum=7\nt=6 sum=8\nu=7 s=9\n": false,
		"frame 617: checksum 3\nframe 618: checksum 4\nframe 619: checksum 4\n": false,
		"[a]\nframe 617: checksum 3\n":                                          false,
		"[Frame]\nt=1 s=2\nt=2 s=3\n":                                           false,
		"[12:00:01] connected\n[12:00:02] a = b\n":                              false,
		"[Server/INFO]: a\n[Server/INFO]: b\n":                                  false,
		"local a = {\nb = 1,\nc = 2,\nd = 4,\n}\n":                              false,
		"if (a == b) {\n":                                                       false,
		"[a]\n":                                                                 false,
		"[a]\nx=\x00\n":                                                         false,
		"":                                                                      false,
	} {
		if got := sniffINI([]byte(text), true); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	if !sniffINI([]byte("[a]\nx=1\n[b"), false) || sniffINI([]byte("[a]\nx=1\n[b"), true) {
		t.Error("a line that is cut")
	}
}

func FuzzINI(f *testing.F) {
	f.Add([]byte("a=1\n[b.c]\nd: 2\n[unit 17]\n;\n[unit 17]\ne='1'"))
	f.Fuzz(func(t *testing.T, text []byte) {
		robust(t, iniNotation(), text)
	})
}
