package ci

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/report/document"
)

// TestNamesOfMatches: the name of a match's test has no number of the match and no path, and no two are alike.
func TestNamesOfMatches(t *testing.T) {
	names := func(matches ...string) (out []string) {
		var b bytes.Buffer
		err := JUnitOfMatches(&b, func(yield func(*document.Report, error) bool) {
			for i, name := range matches {
				r := &document.Report{Match: &document.MatchDocument{Number: i + 1, Name: name}}
				r.Status, r.Session.Game = document.InSync, "rts"
				if !yield(r, nil) {
					return
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`<testcase name="(.*?)" classname="desynctool.triage"`).FindAllStringSubmatch(b.String(), -1) {
			out = append(out, m[1])
		}
		return out
	}
	want := []string{"rts, 7", "rts, seed 0000000000000007 in july", "rts, seed 0000000000000007 in july (2)", "rts, a.log"}
	if got := names("7", "seed 0000000000000007 in /ci/job-1/july", "seed 0000000000000007 in /ci/job-2/july", "logs/a.log"); !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := names("logs/a.log"); !slices.Equal(got, want[3:]) {
		t.Errorf("without the others %q, expected %q", got, want[3:])
	}
}
