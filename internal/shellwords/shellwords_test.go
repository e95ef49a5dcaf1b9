package shellwords

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"
	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// variables has variables for lines.
func variables(t testing.TB) {
	t.Setenv("X", "a  b")
	t.Setenv("SPACED", " c\n")
	t.Setenv("EMPTY", "")
	t.Setenv("HOME", "/home/me")
}

func TestSplit(t *testing.T) {
	variables(t)
	for line, want := range map[string][]string{
		"":                          nil,
		"  \t\n":                    nil,
		"game  --headless":          {"game", "--headless"},
		"a\nb\r\nc":                 {"a", "b", "c"},
		`'a b' "c 'd'" e\ f`:        {"a b", "c 'd'", "e f"},
		`a'b'"c"\d`:                 {"abcd"},
		`'' ""`:                     {"", ""},
		"\"a\\nb\\$\\\"\\\\\\\nc\"": {`a\nb$"\c`},
		"a\\\nb":                    {"ab"},
		`a\`:                        {`a\`},
		"a # b\nc#d":                {"a", "c#d"},
		`$X "$X" '$X' p${X}q`:       {"a", "b", "a  b", "$X", "pa", "bq"},
		`""$SPACED`:                 {"", "c"},
		`\\\` + "\na":               {`\a`},
		`x$SPACED$EMPTY y`:          {"x", "c", "y"},
		`$NOTHING "$NOTHING" $1`:    {""},
		`$ a$ "$"`:                  {"$", "a$", "$"},
		`~ ~/x a~ "~" \~ x=~/y`:     {"/home/me", "/home/me/x", "a~", "~", "~", "x=~/y"},
		`~nobody-has-this-name/x`:   {"~nobody-has-this-name/x"},
		`*.go {} {log} [x] a?`:      {"*.go", "{}", "{log}", "[x]", "a?"},
		`$'a\nb\x41\101é\'' $"x"`:   {"a\nbAAé'", "x"},
		`$'\u00e9\U0001f600\q\x'`:   {`é😀\q\x`},
		`if ! a=b -- %s`:            {"if", "!", "a=b", "--", "%s"},
	} {
		if got, err := Split(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v, expected %q", line, got, err, want)
		}
	}
}

func TestRefuse(t *testing.T) {
	for line, want := range map[string]string{
		"a | b":         "column 3: `|` is not a valid word",
		"a;b":           "column 2: `;` is not a valid word",
		"a 2>b":         "column 4: `>` is not a valid word",
		"x <(y)":        "column 3: `<` is not a valid word",
		"$(rm x)":       "column 1: unexpected command substitution",
		"\"a`rm x`\"":   "column 3: unexpected command substitution",
		"${X:-y}":       "column 1: expected ${NAME}",
		"${X":           "column 1: expected ${NAME}",
		"a 'b":          "column 3: reached the end without closing quote `'`",
		`a "b`:          "column 3: reached the end without closing quote `\"`",
		`a $'b\'`:       "column 3: reached the end without closing quote `'`",
		"ok '\n' a & b": "column 10: `&` is not a valid word",
	} {
		if got, err := Split(line); err == nil || err.Error() != want {
			t.Errorf("%q: %q, %v, expected %s", line, got, err, want)
		}
	}
}

// pieces make lines on which this package agrees with mvdan.cc/sh, which has brace expansion as well, takes only UTF-8, and loses
// an empty word before a variable that begins with a blank.
var pieces = []string{
	"a", "b1", "é", "-", "=", ",", "%", "!", "/", "*", "y[x]", "?", "{}", "^", "@", "+", ":",
	" ", " ", "\t", "\n", "'", "'", `"`, `"`, `\`, `\\`, "#", "~", "$X", "${X}", "$EMPTY", "$NONE", "$", "$1", "$'", `$"`, `\n`, `\'`, `\"`, `\x41`, "|", ";", "&", ">",
}

// TestSplitAsShells compares with mvdan.cc/sh.
func TestSplitAsShells(t *testing.T) {
	variables(t)
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "pieces"), "")
		if strings.Contains(line, "\\\n") && (strings.Contains(line, `\\`) || strings.Contains(line, "#")) {
			t.Skip("mvdan.cc/sh reads a line end after a quoted backslash, or after one in a comment, as no shell does")
		}
		want, wantErr := shell.Fields(line, nil)
		got, err := Split(line)
		if (err != nil) != (wantErr != nil) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%q: %q, %v, expected %q, %v", line, got, err, want, wantErr)
		}
	})
}

// texts are words of which some are hard to quote.
func texts() *rapid.Generator[string] {
	hard := rapid.SampledFrom(append([]string{"\x00", "\x01", "\xff", "\xc3", "\x1b", "\x7f", "\r", "\u202e", "\u00a0", "\ufffd", "😀", "x41", "7", "if", "]]", "(", "`"}, pieces...))
	return rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOfN(hard, 0, 8), func(list []string) string { return strings.Join(list, "") }))
}

// byShell is a word as mvdan.cc/sh quotes it, in single quotes where it would take double ones, in which ! has a meaning.
func byShell(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangBash)
	switch {
	case err != nil:
		return "''"
	case strings.HasPrefix(quoted, "$"):
		return quoted
	case quoted != word || strings.Contains(word, "!"):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return quoted
}

// TestQuote: a quoted text is read back, by this package and by mvdan.cc/sh, and is written as that does.
func TestQuote(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkQuote(t, texts().Draw(t, "word")) })
	for _, word := range strings.Fields(keywords) {
		checkQuote(t, word)
		checkQuote(t, word+"x")
	}
}

func checkQuote(t interface {
	Helper()
	Errorf(format string, args ...any)
}, word string) {
	t.Helper()
	line := Quote(word)
	if want := byShell(word); line != want {
		t.Errorf("%q is quoted as %s, expected %s", word, line, want)
	}
	if strings.Contains(word, "\x00") {
		return
	}
	for name, read := range map[string]func(string) ([]string, error){
		"Split": Split, "Literal": Literal, "mvdan.cc/sh": func(line string) ([]string, error) { return shell.Fields(line, nil) },
	} {
		if got, err := read("x " + line + " y"); err != nil || !slices.Equal(got, []string{"x", word, "y"}) {
			t.Errorf("%q is quoted as %s, which %s reads as %q, %v", word, line, name, got, err)
		}
	}
}

// FuzzSplit: any line gives words that are the same again when they are quoted, or an error of one line.
func FuzzSplit(f *testing.F) {
	for _, line := range append([]string{"game --x 'a b'", `$'a\x41\u00e9' "$HOME"/x`, "${X} ~/y # z"}, pieces...) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %v", line, err)
			}
			return
		}
		for _, word := range words {
			checkQuote(t, word)
		}
	})
}
