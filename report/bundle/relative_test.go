package bundle_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/bundle"
)

// TestRelativeNames: local and host are others in each player's archive.
func TestRelativeNames(t *testing.T) {
	zip, err := os.ReadFile(filepath.Join("..", "..", "testdata", "rimworld", "Desync-01.zip"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ files, want []string }{
		{[]string{"A.zip"}, []string{"host", "local"}},
		{[]string{"A.zip", "B.zip"}, []string{"A.zip host", "A.zip local", "B.zip host", "B.zip local"}},
	} {
		dir := t.TempDir()
		for _, name := range test.files {
			if err := os.WriteFile(filepath.Join(dir, name), zip, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s, err := bundle.Open(archivetest.Open(t, dir), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		traces, err := s.Traces(bundle.TraceOptions{})
		if err != nil || len(traces.Groups) != 1 {
			t.Fatal(traces, err)
		}
		var names []string
		for _, one := range traces.Groups[0] {
			names = append(names, one.Name)
		}
		slices.Sort(names)
		if !slices.Equal(names, test.want) {
			t.Errorf("%q, expected %q", names, test.want)
		}
	}
}
