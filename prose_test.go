package desynctool_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// turns are turns of phrase that make technical English hard to read, each with what to write instead. The comments and
// pages of restic, pebble and delve have 4.7 of them in 10,000 words.
var turns = []struct{ pattern, instead string }{
	{`\b(that|those) of\b`, "the noun again"},
	{`\b(is|are|was|were) of (a|an|the|one|two|another|all|its|their|each|no|both|that|whom|it)\b`, "belongs to, comes from"},
	{`\bof (which|whom)\b`, "two sentences"},
	{`(^|[.;:,(] )what (is|of|was|has|have|an?|the|they|it|this|comes|came|differs|cannot|no|nothing|reads|one|follows)\b`, "a noun: the files that"},
	{`\bsays?\b`, "shows, reports, contains, prints"},
	{`\b(stands|stand|stood|standing)\b`, "is"},
	{`\bparted\b`, "diverged"},
	{`\b(held|holds?|holding) (\w+ ){0,6}against\b`, "compared with"},
	{`\b(somebody|whoever|whom|whose)\b`, "the name"},
	{`\bof (ours|theirs|yours|its own|our own|their own)\b`, "our, its"},
	{`\bbesides?\b`, "next to, in addition"},
	{`\b(anew|once more|likewise|thereof|whereof|thereby|wherein|hence|whence|therein)\b`, "again, also"},
	{`\b(is|are|be|was|were|cannot be|can be) told\b`, "is reported"},
	{`\b(bears?|borne|bear) (it |that |this |them |nothing )?out\b`, "confirmed"},
}

// mostTurns is how many such turns 10,000 words may have: twice as many as other projects have.
const mostTurns = 9.4

// TestPlainEnglish counts the turns in pages, comments and strings.
func TestPlainEnglish(t *testing.T) {
	patterns := make([]*regexp.Regexp, len(turns))
	for i := range turns {
		patterns[i] = regexp.MustCompile("(?i)" + turns[i].pattern)
	}
	words, found := map[string]int{}, map[string][]string{}
	count := func(kind, where, text string) {
		words[kind] += len(strings.Fields(text))
		for i, p := range patterns {
			for range p.FindAllString(text, -1) {
				found[kind] = append(found[kind], fmt.Sprintf("%s: %s (%s)", where, strings.TrimSpace(text[:min(len(text), 160)]), turns[i].instead))
			}
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path == "docs/vectors" || d.Name() != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || d.Name() == "CHANGELOG.md" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".md":
			for i, line := range strings.Split(string(text), "\n") {
				count("pages", fmt.Sprintf("%s:%d", path, i+1), line)
			}
		case ".go":
			proseOfGo(path, text, count)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for kind, lines := range found {
		if rate := float64(len(lines)) * 1e4 / float64(words[kind]); rate > mostTurns {
			t.Errorf("%s have %.1f such turns in 10,000 words, at most %.1f:\n%s", kind, rate, mostTurns, strings.Join(lines, "\n"))
		}
	}
	for _, kind := range []string{"pages", "comments", "strings"} {
		if words[kind] < 10_000 {
			t.Errorf("%d words of %s were read", words[kind], kind)
		}
	}
}

// proseOfGo calls count for the lines of comments in Go code, and for strings that are sentences.
func proseOfGo(path string, text []byte, count func(kind, where, text string)) {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile(path, -1, len(text))
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, kind, literal := s.Scan()
		name := "strings"
		switch kind {
		case token.EOF:
			return
		case token.COMMENT:
			name = "comments"
		case token.STRING:
			if strings.Count(literal, " ") < 2 {
				continue
			}
		default:
			continue
		}
		at := file.Line(pos)
		for i, line := range strings.Split(literal, "\n") {
			count(name, fmt.Sprintf("%s:%d", path, at+i), strings.Trim(line, "/`\""))
		}
	}
}
