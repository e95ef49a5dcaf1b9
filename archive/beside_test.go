package archive_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
)

// TestBeside: what one tree has read of an archive, another one next to it does not inflate again, however large or
// small it is, until the first is closed.
func TestBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bundle.zip")
	list := []archivetest.Entry{
		{Name: "a.bin", Content: bytes.Repeat([]byte("one file "), 7)}, {Name: "b.bin", Content: bytes.Repeat([]byte("another file "), 30_000)},
		{Name: "c.bin", Content: []byte("never read by the first")},
	}
	packed := archivetest.Zip(t, zip.Deflate, list)
	archivetest.Write(t, path, packed)
	first, err := archive.Open([]string{path}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list[:2] {
		if got, err := content(first, filepath.Join(path, e.Name)); err != nil || !bytes.Equal(got, e.Content) {
			t.Fatalf("%s: %d bytes, %v", e.Name, len(got), err)
		}
	}
	beside, err := archive.Open([]string{path}, archive.Options{Beside: first})
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close()
	damage(t, path, packed)
	for i, e := range list {
		got, err := content(beside, filepath.Join(path, e.Name))
		if i == 2 {
			if err == nil {
				t.Errorf("%s was never in memory, and is read from a damaged file: %q", e.Name, got)
			}
			continue
		}
		if err != nil || !bytes.Equal(got, e.Content) {
			t.Errorf("%s: %d bytes, %v", e.Name, len(got), err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := content(beside, filepath.Join(path, "a.bin")); err == nil {
		t.Errorf("a.bin is read from a closed tree: %q", got)
	}
}

// content returns what is in a file.
func content(tree *archive.Tree, path string) ([]byte, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// damage overwrites what is in a zip archive, but for its list of entries.
func damage(t *testing.T, path string, packed []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, bytes.Index(packed, []byte("PK\x01\x02"))), 0); err != nil {
		t.Fatal(err)
	}
}
