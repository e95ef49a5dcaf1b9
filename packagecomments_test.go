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

// TestPackageComments: each package that other programs may import has a comment that begins with its name.
func TestPackageComments(t *testing.T) {
	for _, dir := range []string{"snapshot", "snapshot/merkle", "snapshot/signatures", "orderlog", "tracediff", "bisect"} {
		files := token.NewFileSet()
		noTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
		packages, err := parser.ParseDir(files, filepath.FromSlash(dir), noTests, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil || len(packages) != 1 {
			t.Fatalf("%s: %d packages, %v", dir, len(packages), err)
		}
		for name, p := range packages {
			if text := doc.New(p, dir, 0).Doc; !strings.HasPrefix(text, "Package "+name+" ") {
				t.Errorf("%s: the comment is %.60q", dir, text)
			}
		}
	}
}
