package snapshot_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/engines/openra"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

// counting counts how often files are opened.
type counting struct {
	files.Tree
	opened int
}

func (c *counting) Open(path string) (files.File, error) {
	c.opened++
	return c.Tree.Open(path)
}

// TestKept reads a folder of reports, which have to be read whole: in a folder of few they are not read again.
func TestKept(t *testing.T) {
	report, err := os.ReadFile("../testdata/openra/syncreport-2023-11-05T181502Z-0.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ count, again int }{{1, 0}, {17, 17}} {
		dir := t.TempDir()
		for i := range c.count {
			text := bytes.Replace(report, []byte("net frame 1204 "), fmt.Appendf(nil, "net frame %d ", 1000+i), 1)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("syncreport-2023-11-05T1815%02dZ-0.log", i)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tree := &counting{Tree: files.Disk}
		sets, err := snapshot.Find(tree, dir, []snapshot.Format{openra.Format()})
		if err != nil {
			t.Fatal(err)
		}
		before, n := tree.opened, 0
		for _, set := range sets {
			for _, e := range set.Entries {
				s, err := e.Open()
				if err != nil {
					t.Fatal(err)
				}
				if root := s.Info().Root; root.IsZero() {
					t.Error("no root")
				}
				s.Close()
				n++
			}
		}
		if n != c.count || tree.opened-before != c.again {
			t.Errorf("%d reports: %d files opened again for %d states, want %d", c.count, tree.opened-before, n, c.again)
		}
	}
}
