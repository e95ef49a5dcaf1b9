package bundle_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
)

// The files that a game needs to play a log again lie next to it, including saves, which are states.
func TestRecordings(t *testing.T) {
	paths := []string{"../../testdata/openttd/dropped_sign"}
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := bundle.Open(tree, paths)
	if err != nil {
		t.Fatal(err)
	}
	list := s.Recordings(func(format string) bool { return format == "openttd-log" })
	if len(list) != 2 {
		t.Fatalf("%d recordings", len(list))
	}
	for _, r := range list {
		var names []string
		for _, f := range r.Beside {
			if filepath.Dir(f.Path) != filepath.Dir(r.File.Path) || f.Size == 0 {
				t.Errorf("%s lies beside %s", f.Path, r.File.Path)
			}
			names = append(names, filepath.Base(f.Path))
		}
		if !slices.Contains(names, "dmp_cmds_00000309_000ade40.sav") || slices.Contains(names, "commands-out.log") {
			t.Errorf("beside %s lie %v", r.File.Path, names)
		}
	}
}
