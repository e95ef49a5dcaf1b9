package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/snapshot"
)

// TestPairNoise: what is known of two files together also holds for the states in them that are opened. A file alone does
// not show that a column is noise.
func TestPairNoise(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, peer := range []string{"a", "b"} {
		text := ""
		for tick := 1; tick <= 4; tick++ {
			hp := 5
			if tick > 2 {
				hp += i
			}
			text += fmt.Sprintf("{\"tick\": %d, \"saved_at\": \"10:0%d:0%d\", \"units\": [{\"id\": 1, \"hp\": %d}, {\"id\": 2, \"hp\": 9}]}\n", tick, tick, i, hp)
		}
		paths = append(paths, filepath.Join(dir, peer+".jsonl"))
		if err := os.WriteFile(paths[i], []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, args := range [][2]string{{paths[0], paths[1]}, {paths[0] + "@3", paths[1] + "@3"}} {
		pair, err := OpenPair(tree, args[0], args[1])
		if err != nil {
			t.Fatal(err)
		}
		d, err := snapshot.Compare(pair.A, pair.B, snapshot.DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d.A.Point.Tick != 3 || len(d.Tables) != 1 || d.Tables[0].Label != "units" {
			t.Errorf("%s: %+v", args, d.Tables)
		}
		if err := pair.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
