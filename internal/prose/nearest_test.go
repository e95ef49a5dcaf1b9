package prose_test

import (
	"testing"

	"github.com/desynctool/desynctool/internal/prose"
)

func TestDidYouMean(t *testing.T) {
	list := []string{"format", "fail-on", "force", "all"}
	for word, want := range map[string]string{
		"formt": "format", "fromat": "format", "format": "format", "formatt": "format", "fail": "", "failon": "fail-on", "fforce": "force",
		"al": "all", "xyz": "", "": "", "färmat": "format", "match": "",
	} {
		if want != "" {
			want = "; did you mean " + want + "?"
		}
		if got := prose.DidYouMean(word, list); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
