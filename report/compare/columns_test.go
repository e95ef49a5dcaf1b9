package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// TestOtherColumns: two dumps of an engine, one of which has texts where the other has hashes, do not show a divergence
// if no other value differs. A value that differs does, and so do checksums of the game.
func TestOtherColumns(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("..", "..", "testdata", "spring", "recoil", "ClientGameState-1804289383-[600-602].txt"))
	if err != nil {
		t.Fatal(err)
	}
	speed := regexp.MustCompile(`(\n\s*speed: )\d+`)
	health := regexp.MustCompile(`(\n\s*health: )\d+`)
	for name, c := range map[string]struct {
		change func(string) string
		sums   bool
		want   document.Status
	}{
		"the same":      {func(s string) string { return s }, false, document.InSync},
		"other columns": {func(s string) string { return speed.ReplaceAllString(s, "${1}x") }, false, document.Inconclusive},
		"a value too":   {func(s string) string { return health.ReplaceAllString(speed.ReplaceAllString(s, "${1}x"), "${1}0") }, false, document.Diverged},
		"checksums too": {func(s string) string { return speed.ReplaceAllString(s, "${1}x") }, true, document.Diverged},
	} {
		dir := t.TempDir()
		for i, text := range []string{string(whole), c.change(string(whole))} {
			own := filepath.Join(dir, fmt.Sprint("peer", i))
			files := map[string]string{"ClientGameState-180428938" + strconv.Itoa(i) + "-[600-602].txt": text}
			if c.sums {
				files["x.trace"] = fmt.Sprintf("%%desynctool trace 1\n%%peer %q\ntick=600 system=End sum=0x11\ntick=601 system=End sum=0x2%d\n%%end\n", fmt.Sprint("peer", i), i)
			}
			if err := os.MkdirAll(own, 0o777); err != nil {
				t.Fatal(err)
			}
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(own, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		r := judged(t, compare.Builds{}, dir)
		all := strings.Join(r.Missing, "\n")
		if r.Status != c.want || len(r.Missing) > 1 || strings.Contains(all, "only the first has Feature.speed.hash; Unit.speed.hash, only the second has Feature.speed#text; Unit.speed#text") != (name != "the same" && name != "a value too") {
			t.Errorf("%s: %s, expected %s: %q, %s", name, r.Status, c.want, r.Verdict, all)
		}
	}
}
