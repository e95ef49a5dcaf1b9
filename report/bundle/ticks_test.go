package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/bundle"
)

// TestTickFolders: folders of ticks, above the peers, below them, and with files of all peers.
func TestTickFolders(t *testing.T) {
	for _, form := range []string{"dumps/tick_%03d/%s/units.json", "%[2]s/t%[1]d/units.json", "frame %d/%s.json", "out/%[2]s/turn-%[1]d/state/units.json"} {
		dir := t.TempDir()
		for _, tick := range []int{40, 80, 120} {
			for i, peer := range []string{"ann", "bob"} {
				path := filepath.Join(dir, filepath.FromSlash(fmt.Sprintf(form, tick, peer)))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				text := fmt.Sprintf(`{"units": [{"id": 7, "hp": %d}, {"id": 9, "hp": 5}], "seed": 3}`, 10+i*(tick/120))
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		}
		m, err := bundle.OpenMatches(archivetest.Open(t, dir), []string{dir})
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		s, err := m.Whole()
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		got := ""
		for _, p := range s.Peers() {
			got += fmt.Sprintf("%d states; ", len(p.States.Entries))
		}
		if want := "3 states; 3 states; "; got != want {
			t.Errorf("%s: %s, expected %s", form, got, want)
		}
	}
}
