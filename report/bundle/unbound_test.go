package bundle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
)

// TestUnbound has logs without any sign of their match: logs that have a tick in common belong to one match, the others
// may belong to several.
func TestUnbound(t *testing.T) {
	line := func(beat, own, other, name string) string {
		return "warning: Checksum for beat " + beat + " mismatched: " + strings.Repeat(own, 32) + " (sim) != " + strings.Repeat(other, 32) + " (" + name + ").\n"
	}
	first, answer := line("650", "1", "a", "Birch"), line("650", "a", "1", "Alder")
	later, apart := line("700", "1", "b", "Birch"), line("900", "2", "c", "Birch")
	for name, test := range map[string]struct {
		logs  []string
		doubt bool
	}{
		"one":                     {[]string{first}, false},
		"they accuse each other":  {[]string{first, answer}, false},
		"another tick":            {[]string{first, later}, true},
		"bound by a third":        {[]string{first, apart, first + apart}, false},
		"nothing in common":       {[]string{first, apart}, true},
		"a pair, and one by them": {[]string{first, answer, apart}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, text := range test.logs {
				sub := filepath.Join(dir, string(rune('a'+i)))
				if err := os.Mkdir(sub, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(sub, "game.log"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tree, err := archive.Open([]string{dir}, archive.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			m, err := bundle.OpenMatches(tree, []string{dir})
			if err != nil {
				t.Fatal(err)
			}
			if len(m.List) != 1 || (len(m.List[0].Doubts) > 0) != test.doubt {
				t.Errorf("%d matches, doubts %q", len(m.List), m.List[0].Doubts)
			}
		})
	}
}
