package desynctool_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPackageComments: each package that other programs may import has a comment that begins with its name.
func TestPackageComments(t *testing.T) {
	for _, dir := range []string{"snapshot", "snapshot/merkle", "snapshot/signatures", "orderlog", "tracediff", "bisect"} {
		paths, err := filepath.Glob(filepath.FromSlash(dir + "/*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: no files, %v", dir, err)
		}
		has := func(path string) bool {
			if strings.HasSuffix(path, "_test.go") {
				return false
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			return strings.HasPrefix(f.Doc.Text(), "Package "+f.Name.Name+" ")
		}
		if !slices.ContainsFunc(paths, has) {
			t.Errorf("%s: no comment of the package", dir)
		}
	}
}
