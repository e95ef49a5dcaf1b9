package compare_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// walked is the session of paths in a tree.
func walked(t testing.TB, tree *archive.Tree, paths []string) *bundle.Session {
	t.Helper()
	s, err := bundle.Open(tree, paths)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// triageAll triages paths in a tree.
func triageAll(tree *archive.Tree, paths []string) (*document.Report, error) {
	s, err := bundle.Open(tree, paths)
	if err != nil {
		return nil, tree.Explain(err)
	}
	r, err := compare.Triage(s, compare.Builds{}, nil)
	return r, tree.Explain(err)
}

func checkupText(t testing.TB, c *document.Checkup) string {
	t.Helper()
	var out strings.Builder
	if err := document.Doctor(c).Text(&out, document.NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
