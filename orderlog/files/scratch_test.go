package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// TestScratch: a file in memory reads as one on the disk does, and stands in where none can be made.
func TestScratch(t *testing.T) {
	content := bytes.Repeat([]byte("desync"), 1+3*memoryBlock/6)
	var kept []ScratchFile
	onDisk := Scratch()
	if _, memory := onDisk.(*Memory); memory {
		t.Error("the file is in memory though one can be made")
	}
	kept = append(kept, onDisk)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nothing"))
	t.Setenv("TMP", filepath.Join(t.TempDir(), "nothing"))
	inMemory := Scratch()
	if _, memory := inMemory.(*Memory); !memory {
		t.Errorf("a %T was made in a folder that is not there", inMemory)
	}
	for _, f := range append(kept, inMemory) {
		for part := range bytes.Lines(bytes.ReplaceAll(content, []byte("c"), []byte("\n"))) {
			if n, err := f.Write(bytes.ReplaceAll(part, []byte("\n"), []byte("c"))); err != nil || n != len(part) {
				t.Fatal(n, err)
			}
		}
		stat, err := f.Stat()
		if err != nil || stat.Size() != int64(len(content)) || !stat.Mode().IsRegular() || stat.IsDir() {
			t.Errorf("%T: %v, %v", f, stat, err)
		}
		if err := iotest.TestReader(io.NewSectionReader(f, 0, stat.Size()), content); err != nil {
			t.Errorf("%T: %v", f, err)
		}
		if n, err := f.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("%T: after what was written come %d bytes, %v", f, n, err)
		}
		if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
			t.Errorf("%T: read before its begin", f)
		}
		if err := f.Close(); err != nil {
			t.Errorf("%T: %v", f, err)
		}
		_, errRead := f.ReadAt(make([]byte, 1), 0)
		_, errWrite := f.Write([]byte("x"))
		for _, err := range []error{errRead, errWrite, f.Close()} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%T: closed: %v", f, err)
			}
		}
	}
}
