package page

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/document"
)

// several returns n matches with the same findings.
func several(t *testing.T, n int) document.Each {
	t.Helper()
	const path = "../document/testdata/triage.json"
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := document.ReadReport(f, path)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(*document.Report, error) bool) {
		for i := range n {
			one := *r
			one.Match = &document.MatchDocument{Number: i + 1, Game: "G<1>", Name: fmt.Sprint("game ", i), Doubts: []string{"a file of either"}}
			if !yield(&one, nil) {
				return
			}
		}
	}
}

// TestMatches: the index leads to each match, each id is there once, each link has a target, and each match has all
// that it has on a page of its own.
func TestMatches(t *testing.T) {
	var out strings.Builder
	if err := WriteMatches(&out, several(t, 3)); err != nil {
		t.Fatal(err)
	}
	html := out.String()
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(`\sid="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]]++; ids[m[1]] > 1 {
			t.Errorf("id %s is there %d times", m[1], ids[m[1]])
		}
	}
	for _, m := range regexp.MustCompile(`(?:href="#|for="|data-copy="|labelledby=")([^"]*)"`).FindAllStringSubmatch(html, -1) {
		if ids[m[1]] == 0 {
			t.Errorf("%s leads nowhere", m[0])
		}
	}
	for _, text := range []string{`<a href="#match-3">Match 3: G&lt;1&gt;, game 2</a>`, ">3 diverged<", `id="match-2-locus"`, `id="match-2-filter"`, "a file of either"} {
		if !strings.Contains(html, text) {
			t.Errorf("%q is not in the page", text)
		}
	}
	if n := strings.Count(html, `<details class="match" id="match-1" open>`) + strings.Count(html, `" open><summary>Match`); n != 2 {
		t.Errorf("more or less than the first match is unfolded")
	}
	if n := strings.Count(html, "<style>") + strings.Count(html, "<script>"); n != 2 {
		t.Errorf("%d styles and scripts, expected 2", n)
	}
}

// TestMatchesRoom: matches for which there is no room are in the index and named.
func TestMatchesRoom(t *testing.T) {
	var out strings.Builder
	if err := writeMatches(&out, several(t, 3), 40_000); err != nil {
		t.Fatal(err)
	}
	html := out.String()
	if !strings.Contains(html, `<details class="match" id="match-1"`) || strings.Contains(html, `<details class="match" id="match-3"`) ||
		!strings.Contains(html, `<a href="#match-3">`) || !strings.Contains(html, `<p id="match-3">Match 3 is not in this page`) {
		t.Error("the last match has room, or is not named")
	}
}
