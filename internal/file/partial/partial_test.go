package partial

import "testing"

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		gaps []Gap
		cut  int64
		want string
	}{
		{nil, 0, ""},
		{[]Gap{{First: 3, Last: 3, Next: 4}}, 0, "line 3 is not in it"},
		{[]Gap{{First: 3, Last: 4, Next: 5}}, 0, "lines 3–4 are not in it"},
		{[]Gap{{First: 3}}, 0, "what follows line 2 is not in it"},
		{nil, 7, "what follows line 7 is not in it"},
		{[]Gap{{First: 1, Last: 2}, {First: 4, Last: 4}, {First: 9}}, 0, "lines 1–2 and 4 and what follows line 8 are not in it"},
		{[]Gap{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}}, 0, "lines 1–2, 4–5, 7–8 and the lines of 1 more gap are not in it"},
		{[]Gap{{}}, 0, "some lines with numbers that are not known are not in it"},
	} {
		var m Missing
		for _, g := range c.gaps {
			m.Add(g)
		}
		if c.cut > 0 {
			m.Cut(c.cut)
		}
		if m.String() != c.want || m.Any() != (c.want != "") {
			t.Errorf("%v: %q, want %q", c.gaps, m.String(), c.want)
		}
	}
}

func TestElided(t *testing.T) {
	for text, want := range map[string]bool{
		"...": true, "…": true, "  [...]": true, "<snip>": true, "(truncated)": true, "--- snip ---": true, ". . .": true, "[…]": true,
		"": false, ".": false, "..": false, "--": false, "snip": false, "[unit]": false, "}": false, "()": false, "a...": false, "===": false, "{}": false,
	} {
		if got := Elided([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("\x1dgap 1 2 3")
	f.Add("\x1dexcerpt openra x")
	f.Fuzz(func(t *testing.T, text string) {
		if g, ok := ParseGap([]byte(text)); ok {
			line := g.Line()
			if again, ok := ParseGap(line[:len(line)-1]); !ok || again != g {
				t.Fatalf("%q: %v, then %v", text, g, again)
			}
		}
		ParseHead([]byte(text))
	})
}
