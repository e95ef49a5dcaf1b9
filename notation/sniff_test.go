package notation

import (
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSniffChance: bytes by chance are in no notation.
func TestSniffChance(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 5000 {
		head := make([]byte, 64+random.Intn(2000))
		random.Read(head)
		for _, whole := range []bool{true, false} {
			if n := Of("", head, whole); n != nil {
				t.Errorf("%x of %d bytes: %s", head[:min(len(head), 40)], len(head), n.Name)
			}
		}
	}
}

// TestSniffOthers: files that are known otherwise are in no notation, unless they are written in it.
func TestSniffOthers(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join("..", "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		head := content[:min(len(content), 1<<16)]
		if filepath.Base(filepath.Dir(filepath.Dir(path))) == "zeroad-test" {
			return nil // dumps of the state, which are YAML
		}
		if n := Of(path, head, len(head) == len(content)); n != nil && !slices.Contains(n.Extensions, filepath.Ext(path)) {
			t.Errorf("%s: %s", path, n.Name)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}
