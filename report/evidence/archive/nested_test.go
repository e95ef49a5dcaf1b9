package archive_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/evidence/archive"
)

// An archive that is cut off behind an archive in it is not taken for that one, of which the list
// of entries is still there.
func TestCutBehindInnerArchive(t *testing.T) {
	packed := func(name string, content []byte) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for _, name := range []string{name, "second-" + name} {
			f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(content); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	whole := packed("level.zip", packed("level.dat", []byte("content")))
	path := filepath.Join(t.TempDir(), "report.zip")
	open := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		tree, err := archive.Open([]string{path}, archive.Options{})
		if err == nil {
			err = tree.Close()
		}
		return err
	}
	if err := open(whole); err != nil {
		t.Error(err)
	}
	for _, cut := range []int{len(whole) / 2, len(whole) * 2 / 3} {
		if err := open(whole[:cut]); err == nil || !strings.Contains(err.Error(), "the list is of an archive in it") {
			t.Errorf("cut to %d of %d bytes: %v", cut, len(whole), err)
		}
	}
}
