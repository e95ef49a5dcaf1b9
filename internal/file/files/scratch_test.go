package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestScratch: a file in memory reads as one on the disk does, and is used where none can be made.
func TestScratch(t *testing.T) {
	content := bytes.Repeat(append(bytes.Repeat([]byte("desyn"), 800), 'c'), 1+smallScratch/4001)
	for _, onDisk := range []bool{true, false} {
		if !onDisk {
			t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nothing"))
			t.Setenv("TMP", filepath.Join(t.TempDir(), "nothing"))
		}
		f := Scratch()
		for part := range bytes.Lines(bytes.ReplaceAll(content, []byte("c"), []byte("\n"))) {
			if n, err := f.Write(bytes.ReplaceAll(part, []byte("\n"), []byte("c"))); err != nil || n != len(part) {
				t.Fatal(n, err)
			}
		}
		if _, disk := f.(*scratch).now.(*TemporaryFile); disk != onDisk {
			t.Errorf("more than %d bytes are in a %T", smallScratch, f.(*scratch).now)
		}
		stat, err := f.Stat()
		if err != nil || stat.Size() != int64(len(content)) || !stat.Mode().IsRegular() || stat.IsDir() {
			t.Errorf("%T: %v, %v", f, stat, err)
		}
		last := effort.Of(9000, len(content)) // it is read a byte at a time, too
		if err := iotest.TestReader(io.NewSectionReader(f, stat.Size()-int64(last), int64(last)), content[len(content)-last:]); err != nil {
			t.Errorf("%T: %v", f, err)
		}
		if got, err := io.ReadAll(io.NewSectionReader(f, 0, stat.Size())); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%T: %d bytes, %v", f, len(got), err)
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

// TestScratchSmall: a file stays in memory up to a size, and moves to the disk with the byte after it.
func TestScratchSmall(t *testing.T) {
	f := Scratch()
	defer f.Close()
	content := bytes.Repeat([]byte("desync"), smallScratch/6+1)
	for _, at := range []int{smallScratch, smallScratch + 1} {
		stat, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, iotest.OneByteReader(bytes.NewReader(content[stat.Size():at]))); err != nil {
			t.Fatal(err)
		}
		if _, memory := f.(*scratch).now.(*Memory); memory != (at == smallScratch) {
			t.Errorf("%d bytes are in a %T", at, f.(*scratch).now)
		}
		got := make([]byte, at)
		if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, content[:at]) {
			t.Errorf("%d bytes are not read as they were written: %v", at, err)
		}
	}
}
