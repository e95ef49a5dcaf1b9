package compare_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
)

// Peers of a real game diverged between state points 20 and 40 if their logs have equal full hashes at 20 and different
// ones at 40, even if they left states of different moments, or only of one after the split.
func TestHashesBesideStates(t *testing.T) {
	const real = "../../testdata/0ad/mp_late_damage"
	for _, c := range []struct {
		name         string
		host, client []string
		by           bisect.Source
	}{
		{"none", nil, nil, bisect.ByHashes},
		{"of one peer", []string{"oos_dump.txt.gz"}, nil, bisect.ByHashes},
		{"of two moments", []string{"oos_dump.txt.gz"}, []string{"oos_dump.txt.gz"}, bisect.ByHashes},
		{"of one moment", []string{"ooslog/00041.txt.gz"}, []string{"ooslog/00041.txt.gz"}, bisect.ByHashesAndSnapshots},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for peer, files := range map[string][]string{"host": c.host, "client": c.client} {
				to := filepath.Join(dir, peer)
				if err := os.Mkdir(to, 0o777); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, to)
				for _, name := range append(files, "commands.txt") {
					text, err := os.ReadFile(filepath.Join(real, peer, name))
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
			tree, err := archive.Open(paths, archive.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			s, err := bundle.Open(tree, paths)
			if err != nil {
				t.Fatal(err)
			}
			r, err := compare.Bisect(s, compare.Builds{}, compare.BisectOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if b := r.Bracket; b == nil || b.Good == nil || b.Good.Tick != 20 || b.Bad.Tick != 40 || b.By != c.by || len(r.Groups) != 2 || r.Kind != bisect.StateDiffers {
				t.Errorf("%+v by %v, %s, expected (20, 40] by %s", r.Bracket, r.Groups, r.Kind, c.by)
			}
			for _, text := range r.Lost {
				t.Errorf("lost: %s", text)
			}
		})
	}
}
