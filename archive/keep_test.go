package archive_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/file/files"
)

// TestKeptFiles reads a file by many readers, in any pieces and order, and compares with its
// bytes: it is opened once, and no byte is read twice.
func TestKeptFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	content := make([]byte, 300_001)
	source := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(source.Uint32())
	}
	archivetest.Write(t, path, content)
	rapid.Check(t, func(r *rapid.T) {
		tree, err := archive.Open([]string{path}, archive.Options{Count: true})
		if err != nil {
			r.Fatal(err)
		}
		defer tree.Close()
		var open []files.File
		offset := map[files.File]int{}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			if len(open) == 0 || rapid.Bool().Draw(r, "open") {
				f, err := tree.Open(path)
				if err != nil {
					r.Fatal(err)
				}
				open = append(open, f)
				continue
			}
			f := rapid.SampledFrom(open).Draw(r, "file")
			p := make([]byte, rapid.IntRange(1, 100_000).Draw(r, "length"))
			if rapid.Bool().Draw(r, "in order") {
				n, err := f.Read(p)
				if want := content[offset[f]:]; !bytes.Equal(p[:n], want[:n]) || n == 0 && len(want) > 0 || err != nil && (err != io.EOF || len(want) > 0) {
					r.Fatalf("read %d at %d: %v", n, offset[f], err)
				}
				offset[f] += n
				continue
			}
			at := rapid.IntRange(0, len(content)+10).Draw(r, "at")
			n, err := f.ReadAt(p, int64(at))
			want := content[min(at, len(content)):]
			want = want[:min(len(want), len(p))]
			if !bytes.Equal(p[:n], want) || (err == io.EOF) != (n < len(p)) || err != nil && err != io.EOF {
				r.Fatalf("read %d of %d at %d: %v", n, len(want), at, err)
			}
		}
		if u := tree.Usage([]string{path}); u.Read > int64(len(content)) || u.Opens > 1 {
			r.Fatalf("%s", u)
		}
	})
}

// TestKeptTogether lets many readers begin at the same time.
func TestKeptTogether(t *testing.T) {
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "x"), bytes.Repeat([]byte("0123456789"), 50_000))
	tree, err := archive.Open([]string{path}, archive.Options{Count: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	var wait sync.WaitGroup
	for range 16 {
		wait.Go(func() {
			f, err := tree.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if n, err := io.Copy(io.Discard, f); n != 500_000 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
	wait.Wait()
	if u := tree.Usage([]string{path}); u.Read != 500_000 {
		t.Errorf("%s", u)
	}
}

// TestKeptMany reads more small files than may stay open: each is opened once nevertheless.
func TestKeptMany(t *testing.T) {
	const count = 600
	dir := t.TempDir()
	for i := range count {
		archivetest.Write(t, filepath.Join(dir, fmt.Sprint(i)), fmt.Appendf(nil, "file %d", i))
	}
	tree, err := archive.Open([]string{dir}, archive.Options{Count: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for range 2 {
		for i := range count {
			f, err := tree.Open(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(f); err != nil || string(got) != fmt.Sprintf("file %d", i) {
				t.Fatalf("%d: %q, %v", i, got, err)
			}
			f.Close()
		}
	}
	if u := tree.Usage([]string{dir}); u.Opens != count || u.Read != u.Given {
		t.Errorf("%s", u)
	}
}

// TestListedOnce: a folder is read once, so all that use a tree see the same files. Each has its own list.
func TestListedOnce(t *testing.T) {
	dir := t.TempDir()
	archivetest.Write(t, filepath.Join(dir, "a"), []byte("a"))
	tree, err := archive.Open([]string{dir}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	for _, path := range []string{dir, dir + string(filepath.Separator)} {
		names, err := tree.Names(path)
		if err != nil || len(names) != 1 || names[0] != "a" {
			t.Fatalf("%q: %q, %v", path, names, err)
		}
		names[0] = "changed"
		archivetest.Write(t, filepath.Join(dir, "b"), []byte("b"))
	}
	if _, err := tree.Names(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist was listed")
	}
}
