package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "write the pages in testdata anew")

// changing is what differs from one run to the next, or with each change of the style: tokens of forms, and the
// addresses of style and script.
var changing = regexp.MustCompile(`(name="csrf" value="|/style-|/script-)[^".]*`)

// TestGolden holds pages of a small store against those in testdata, which were read.
func TestGolden(t *testing.T) {
	s := filled(t)
	list := codes(s.page("/"))
	s.post("/groups/"+list[1], "/groups/"+list[1]+"/note", map[string][]string{"note": {"seen with mods\nonly"}})
	for name, path := range map[string]string{
		"groups": "/?q=state:any", "group": "/groups/" + list[1] + "?done=2", "weak": "/groups/" + list[2], "compare": "/compare?a=5&b=18&only=differs", "top": "/top", "stats": "/stats", "bundles": "/bundles?state=aside",
	} {
		got := changing.ReplaceAllString(s.page(path), "$1")
		file := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.MkdirAll("testdata", 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is not the page in %s; -update writes it anew:\n%s", path, file, got)
		}
	}
}
