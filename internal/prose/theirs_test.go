package prose_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/prose"
)

func TestName(t *testing.T) {
	long := strings.Repeat("a", 100)
	for name, want := range map[string]string{
		"": "", "host": "host", "client#2": "client#2", "client 1": "client 1", "Player 12": "Player 12", "CmdAct": "CmdAct", "Health.hp": "Health.hp",
		"0x3b CMD_PLACE_SIGN": "0x3b CMD_PLACE_SIGN", "units/athen/infantry": "units/athen/infantry", "std::map": "std::map", "Müller": "Müller", "步兵": "步兵", "first run": "first run",
		"client diverged in tick 4: x.y. Wrong: host": "“client diverged in tick 4: x.y. Wrong: host”",
		"two words": "“two words”", "Co.": "“Co.”", "Note:": "“Note:”", "-x": "“-x”", " a": "“ a”", "a ": "“a ”", "a  1": "“a  1”", "DIVERGED": "“DIVERGED”", "wrong": "“wrong”", "IN SYNC": "“IN SYNC”",
		"::error::x": "“::error::x”", "a. 4": "“a. 4”", "4 5": "4 5", "say “yes”": "“say \"yes\"”", "“yes”": "“yes”", "“yes” or “no”": "“\"yes\" or \"no\"”",
		"a\x1b[31mb": `“a\x1b[31mb”`, "a\u202eb": `“a\u202eb”`, "a\u200bb": `“a\u200bb”`, "a\xffb": `“a\xffb”`, "a\\\n": `“a\\\n”`, "host\ufe0f": `“host\ufe0f”`, "\u3164": `“\u3164”`,
		long: "“" + long[:57] + "…28165978”",
	} {
		if got := prose.Name(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if a, b := prose.Name(long+"a"), prose.Name(long+"b"); a == b {
		t.Errorf("two long names are both %s", a)
	}
}

func TestMoment(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "turn 12": "turn 12", "161431 ms": "161431 ms", "000adef0;0c": "000adef0;0c", "net frame 600": "net frame 600",
		"host is wrong 5": "“host is wrong 5”", "tick": "tick", "net frame": "net frame", "4. Wrong: host": "“4. Wrong: host”",
	} {
		if got := prose.Moment(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// TestTheirs: whatever a name is, it is shown as one plain word, or between quotation marks that it does not end, is
// not long, and contains nothing invisible.
func TestTheirs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab1 .:-“”„\"\\\u200b\ufe0f\x1b\n…"))), rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		})).Draw(t, "name")
		for _, f := range []func(string) string{prose.Name, prose.Path, prose.Moment, prose.Quote} {
			got := f(s)
			text, begins := strings.CutPrefix(got, "“")
			text, ends := strings.CutSuffix(text, "”")
			if begins != ends || strings.ContainsAny(text, "“”„‟") {
				t.Fatalf("%q: %s", s, got)
			}
			if again := prose.Name(got); begins && again != got {
				t.Fatalf("%q: %s becomes %s", s, got, again)
			}
			if !begins && strings.Count(got, " ") > 2 {
				t.Fatalf("%q: %s is a sentence", s, got)
			}
			if prose.Columns(text) > 200 || len(text) > 1000 {
				t.Fatalf("%q: %d columns", s, prose.Columns(text))
			}
			if !utf8.ValidString(got) || strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
				t.Fatalf("%q: %q", s, got)
			}
		}
	})
}
