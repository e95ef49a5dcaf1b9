package archive

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// TestWatch reads files in part, twice and in any order: the progress is never more than the total, and both are the
// same once all are closed.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	for _, path := range paths {
		if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 1000), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var done, total int64
	tree, err := Open(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	tree.Watch(func(d, n int64) {
		if done, total = d, n; d > n {
			t.Errorf("%d of %d", d, n)
		}
	})
	open := func(path string) files.File {
		f, err := tree.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	a, b := open(paths[0]), open(paths[1])
	if done != 0 || total != 2000 {
		t.Errorf("%d of %d, expected 0 of 2000", done, total)
	}
	for range 3 {
		if _, err := a.ReadAt(make([]byte, 400), 100); err != nil {
			t.Fatal(err)
		}
	}
	if done != 1000 {
		t.Errorf("%d of %d, expected 1000", done, total)
	}
	if _, err := io.ReadFull(b, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	a.Close()
	b.Close()
	if done != 1010 || total != 1010 {
		t.Errorf("%d of %d, expected 1010 of 1010", done, total)
	}
}
