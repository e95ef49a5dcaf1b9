package archive_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
)

// TestSparse: a file that is mostly holes is not read; one of as many bytes as the disk holds is.
func TestSparse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system does not say what of a file is on the disk")
	}
	dir := t.TempDir()
	holes, whole := filepath.Join(dir, "holes.log"), filepath.Join(dir, "whole.log")
	for path, content := range map[string][]byte{holes: []byte("x"), whole: make([]byte, 2<<20)} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(holes, 1<<35); err != nil {
		t.Skip("no sparse files here")
	}
	tree, err := archive.Open([]string{dir}, archive.Options{Free: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if f, err := tree.Open(holes); err == nil || !strings.HasPrefix(err.Error(), holes+": 34359738368 bytes, and the disk holds ") || !strings.HasSuffix(err.Error(), " of them: a sparse file, which is not read") {
		t.Errorf("%v, %v", f, err)
	}
	f, err := tree.Open(whole)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}
