package document

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/shellwords"
)

// TestFold pins where lines end.
func TestFold(t *testing.T) {
	bold, faint := "\x1b[1m", "\x1b[2m"
	for _, test := range []struct {
		line  string
		width int
		hang  int
		want  string
	}{
		{"one two three", 0, 2, "one two three"},
		{"one two three", 13, 2, "one two three"},
		{"one two three", 12, 2, "one two\n  three"},
		{"  one   two", 8, 4, "  one\n    two"},
		{"a " + whole("b c d") + " e", 6, 0, "a\nb c d\ne"},
		{"name  /a/very/long/path x", 12, 6, "name  /a/very/long/path\n      x"}, // the path would not fit below either
		{"步兵 步兵 步兵", 9, 0, "步兵 步兵\n步兵"},
		{"a " + bold + "b c" + "\x1b[0;22m" + " d", 3, 1, "a " + bold + "b" + "\x1b[0m\n " + bold + "c" + "\x1b[0;22m\n d"},
		{faint + "a b" + "\x1b[22m", 1, 0, faint + "a" + "\x1b[0m\n" + faint + "b" + "\x1b[22m"},
	} {
		if got := fold(test.line, test.width, test.hang); got != test.want {
			t.Errorf("fold(%q, %d, %d) = %q, want %q", test.line, test.width, test.hang, got, test.want)
		}
	}
}

// TestFoldKeepsWords checks that folding a line adds or loses nothing but spaces, cuts no word, and makes a line wider
// than allowed only for a single word.
func TestFoldKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab步é(/")), 1, 30, -1), 1, 12).Draw(t, "words")
		hang := rapid.IntRange(0, 20).Draw(t, "hang")
		width := rapid.IntRange(hang+1, 60).Draw(t, "width")
		got := fold(strings.Join(words, " "), width, hang)
		if strings.Join(strings.Fields(got), " ") != strings.Join(words, " ") {
			t.Fatalf("%q has other words than %q", got, words)
		}
		for i, line := range strings.Split(got, "\n") {
			if i > 0 && !strings.HasPrefix(line, strings.Repeat(" ", hang)) {
				t.Fatalf("line %d of %q is not indented by %d", i, got, hang)
			}
			if alone := len(strings.Fields(line)) == 1 || strings.IndexByte(line, ' ') >= 0 && prose.Columns(line[:strings.LastIndexByte(line, ' ')]) <= hang; prose.Columns(line) > width && !alone {
				t.Fatalf("line %d of %q is wider than %d", i, got, width)
			}
		}
	})
}

// TestTextFits checks that the text of a report is a screenful at every width, that no line is
// cut within a name, and that all of it is longer.
func TestTextFits(t *testing.T) {
	r := sampleReport(t)
	r.Peers[0].Name = "a name of many words that no line may cut"
	r.Verdict = []string{strings.Repeat("some words and ", 3) + r.Peers[0].Name + strings.Repeat(" and more", 9)}
	for _, width := range []int{20, 60, 61, 80, 99, 100, 120, 200, 400} {
		var short, all bytes.Buffer
		if err := r.Text(&short, NewStyle(false).Wide(width), false); err != nil {
			t.Fatal(err)
		}
		if err := r.Text(&all, NewStyle(false).Wide(width), true); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(short.String(), "\n"); n > screenful {
			t.Errorf("%d columns: %d lines are more than a screen", width, n)
		}
		if strings.Count(all.String(), "\n") <= strings.Count(short.String(), "\n") {
			t.Errorf("%d columns: all of it is not longer", width)
		}
		for _, line := range strings.Split(short.String(), "\n") {
			if prose.Columns(line) > max(minWidth, min(width, maxWidth)) {
				t.Errorf("%d columns: %q is wider", width, line)
			}
		}
		if !strings.Contains(short.String(), r.Peers[0].Name) {
			t.Errorf("%d columns: the name is cut in\n%s", width, &short)
		}
	}
}

// TestStepLine is about words that shells take for something else. The tests of the commands have shells
// take them apart.
func TestStepLine(t *testing.T) {
	for word, want := range map[string]string{
		"plain/path@12": "plain/path@12", "": "''", "a; touch pwned #": "'a; touch pwned #'", "it's": `'it'\''s'`, "$(x)`y`": "'$(x)`y`'",
		"a!b": "'a!b'", "a\nb": `$'a\nb'`, "\x1b[31m": `$'\x1b[31m'`, "\u202e": `$'\u202e'`, "\xff": `$'\xff'`, "~": "'~'", "if": "'if'",
	} {
		if got := shellwords.Quote(word); got != want {
			t.Errorf("Quote(%q) = %s, want %s", word, got, want)
		}
		if got := Safe(shellwords.Quote(word)); got != shellwords.Quote(word) {
			t.Errorf("%s is changed for a terminal to %s", shellwords.Quote(word), got)
		}
	}
	step := Step{Command: []string{"diff", "a  # b", "c"}, About: "what\nis  # new"}
	command, about := CutStep(step.String())
	if command != "desynctool diff 'a  # b' c" || strings.ContainsAny(step.String(), "\n") || !strings.HasPrefix(about, `what\nis # new`) {
		t.Errorf("%q is cut to %q and %q", step.String(), command, about)
	}
}
