package web_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// changing is what differs from one run to the next, or with each change of the style: tokens of forms, and the
// addresses of style and script.
var changing = regexp.MustCompile(`(name="csrf" value="|/style-|/script-)[^".]*`)

// TestGolden compares pages of a small store with the pages in testdata, which were read.
func TestGolden(t *testing.T) {
	s := filled(t)
	list := codes(s.page("/"))
	s.post("/groups/"+list[1], "/groups/"+list[1]+"/note", map[string][]string{"note": {"seen with mods\nonly"}})
	for name, path := range map[string]string{
		"groups": "/?q=state:any", "group": "/groups/" + list[1] + "?done=2", "weak": "/groups/" + list[2], "compare": "/compare?a=5&b=18&only=differs", "top": "/top", "stats": "/stats", "bundles": "/bundles?state=aside",
	} {
		pinned.File(t, filepath.Join("testdata", name+".html"), []byte(changing.ReplaceAllString(s.page(path), "$1")))
	}
}
