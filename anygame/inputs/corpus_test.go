package inputs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/inputs"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// accepted are the files of the repository that hold inputs.
var accepted = []string{
	"report/document/testdata/triage.json", // a report with orders
	"cmd/desynctool/testdata/script/either.txtar",
}

// TestOtherText: no file of the repository but those that hold inputs is taken for one.
func TestOtherText(t *testing.T) {
	found, seen := map[int]bool{}, 0
	err := filepath.WalkDir("../..", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && strings.HasPrefix(d.Name(), ".git") {
				return fs.SkipDir
			}
			return err
		}
		if strings.HasSuffix(at, "_test.go") || strings.Contains(filepath.ToSlash(at), "/anygame/") {
			return nil
		}
		file := filepath.ToSlash(strings.TrimPrefix(at, "../../"))
		i := slices.IndexFunc(accepted, func(pattern string) bool { ok, _ := path.Match(pattern, file); return ok })
		if seen++; filepath.Ext(at) == ".go" && seen%effort.Of(8, 1) != 0 {
			return nil
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		p := inputs.Learn(text[:min(len(text), 1<<18)], at)
		if p == nil {
			return nil
		}
		if i < 0 {
			got, err := readWith(p, at, string(text))
			t.Errorf("%s: %+v %v %.300s", file, p, err, got)
			return nil
		}
		found[i] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, pattern := range accepted {
		if !found[i] {
			t.Errorf("%s: not accepted", pattern)
		}
	}
}
