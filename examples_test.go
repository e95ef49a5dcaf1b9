package desynctool_test

import (
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples: every library package shows how it is used, in an example that runs.
func TestExamples(t *testing.T) {
	library, shown := map[string]bool{}, map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != "." || file == "cmd" || file == "docs" || file == "tools") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		if !strings.HasSuffix(file, "_test.go") {
			library[dir] = true
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, e := range doc.Examples(parsed) {
			shown[dir] = shown[dir] || e.Output != ""
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(library) < 30 {
		t.Errorf("only %d packages found: %v", len(library), library)
	}
	for dir := range library {
		if strings.HasSuffix(strings.SplitAfter(dir+"/", "test/")[0], "test/") { // what tests share
			continue
		}
		if !shown[dir] {
			t.Errorf("%s has no example with an output", dir)
		}
	}
}
