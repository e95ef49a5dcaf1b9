package page

import (
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/verdict"
)

// TestClassTexts: the page has of every class what it looks like, how to confirm it and how it is
// fixed, without links, which lead nowhere on a page that loads nothing.
func TestClassTexts(t *testing.T) {
	for _, class := range verdict.Classes() {
		text := classOf(class)
		if text == nil || len(text.Line) == 0 || len(text.Parts) != len(classParts) {
			t.Errorf("%s: %+v", class, text)
			continue
		}
		for i, part := range text.Parts {
			var all strings.Builder
			for _, r := range part.Text {
				if all.WriteString(r.Text); r.Kind != "code" && strings.ContainsAny(r.Text, "`*") {
					t.Errorf("%s: marks are left in %q", class, r.Text)
				}
			}
			if part.Name != classParts[i] || len(all.String()) < 60 || strings.Contains(all.String(), "http") {
				t.Errorf("%s: %s: %q", class, part.Name, all.String())
			}
		}
	}
	if classOf("no-such-class") != nil {
		t.Error("a class that there is not has a text")
	}
}

// TestTextRuns: the pieces are the text, and options of commands are separate pieces.
func TestTextRuns(t *testing.T) {
	for text, want := range map[string]string{
		"needs a replay (--sim), or --own BUILD":  "--sim --own",
		"desynctool replay s --runs=10 -o x":      "--runs -o",
		"a well-known mis-match - or 5-6, e-mail": "",
		"--": "",
	} {
		var whole strings.Builder
		var options []string
		for _, r := range textRuns(text) {
			if whole.WriteString(r.Text); r.Kind == "option" {
				options = append(options, r.Text)
			}
		}
		if got := strings.Join(options, " "); got != want || whole.String() != text {
			t.Errorf("%q: options %q, expected %q; all is %q", text, got, want, whole.String())
		}
	}
}

// TestIDs: ids are safe, each there once, and the same again.
func TestIDs(t *testing.T) {
	one, two := newIDs(""), newIDs("")
	seen := map[string]bool{}
	plain := regexp.MustCompile(`^[a-z][a-z0-9-]{0,90}$`)
	for _, parts := range [][]string{
		{"peer", "Alice"}, {"peer", "alice"}, {"peer", "Alice 2"}, {"peer", "alice-2"}, {"peer", "Alice"}, {"peer", "\"><script>"}, {"peer", "日本"}, {"peer", "日"}, {"peer", ""},
		{"differs", strings.Repeat("long ", 100)}, {"differs", strings.Repeat("long ", 100)}, {"map"}, {"content"},
	} {
		id := one.unique(parts...)
		if seen[id] || !plain.MatchString(id) || id == "map" || id == "content" {
			t.Errorf("%q: %q", parts, id)
		}
		if seen[id] = true; two.unique(parts...) != id {
			t.Errorf("%q: another id the second time", parts)
		}
	}
}

func TestBytesText(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"walk"}`: `{"type":"walk"}`, "two\nlines": "two\nlines", "größe": "größe",
		"ab": "", "\x00abc": "", "abc\xff": "", "abc\u202e": "", "": "",
	} {
		digits := hex.EncodeToString([]byte(text))
		if got := bytesText(digits); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
		if got := bytesText(digits + "7"); got != want { // the last digit is half a byte
			t.Errorf("%q and half a byte: %q, expected %q", text, got, want)
		}
	}
	if got := bytesText("no digits"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestStepOf(t *testing.T) {
	for line, want := range map[string]step{
		"desynctool orders s --all  # lists every order": {"desynctool orders s --all", "lists every order"},
		"desynctool verify s/host":                       {"desynctool verify s/host", ""},
		"desynctool triage PATH… --sim builtin replays":  {"", "desynctool triage PATH… --sim builtin replays"},
		"the relay's own log":                            {"", "the relay's own log"},
	} {
		if got := stepOf(line); got != want {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// TestPlacesLine: what only one side has is at one place.
func TestPlacesLine(t *testing.T) {
	for _, c := range []struct {
		differ, moved, alone int
		want                 string
	}{
		{1, 0, 1, " Only one side has it."},
		{4, 0, 4, " Each is on one side only."},
		{1, 0, 0, " It is at the same place on both."},
		{3, 0, 0, " None is at another place."},
		{1, 1, 0, " Its two places are 2.5 apart."},
		{2, 2, 0, " Their two places are up to 2.5 apart."},
		{5, 2, 0, " 2 of them have two places, up to 2.5 apart."},
		{5, 2, 3, " Their two places are up to 2.5 apart. 3 are on one side only."},
	} {
		if got := placesLine(c.differ, c.moved, c.alone, 2.5); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
