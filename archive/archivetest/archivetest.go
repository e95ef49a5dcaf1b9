// Package archivetest has helpers for tests of evidence: archives of all kinds, recorded sessions.
package archivetest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
)

// Entry is one file of an archive.
type Entry struct {
	Name    string // with slashes
	Content []byte
}

// Entries returns the files in a folder, their names with a prefix.
func Entries(t testing.TB, dir, prefix string) (list []Entry) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		list = append(list, Entry{prefix + filepath.ToSlash(rel), b})
		return err
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(list), err)
	}
	return list
}

// Packings make an archive of each kind, by the end of its name.
var Packings = map[string]func(testing.TB, []Entry) []byte{
	".zip":     func(t testing.TB, list []Entry) []byte { return Zip(t, zip.Deflate, list) },
	".0.zip":   func(t testing.TB, list []Entry) []byte { return Zip(t, zip.Store, list) },
	".tar":     Tar,
	".tar.gz":  func(t testing.TB, list []Entry) []byte { return Pack(t, ".gz", Tar(t, list)) },
	".tar.zst": func(t testing.TB, list []Entry) []byte { return Pack(t, ".zst", Tar(t, list)) },
	".tar.xz":  func(t testing.TB, list []Entry) []byte { return Pack(t, ".xz", Tar(t, list)) },
}

// Zip returns a zip archive with entries that are compressed by a method of package zip.
func Zip(t testing.TB, method uint16, list []Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range list {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.Name, Method: method})
		if err == nil {
			_, err = w.Write(e.Content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Tar returns a tar archive that is not compressed.
func Tar(t testing.TB, list []Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range list {
		if err := w.WriteHeader(&tar.Header{Name: e.Name, Mode: 0o644, Size: int64(len(e.Content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Pack compresses bytes: .gz, .zst or .xz.
func Pack(t testing.TB, how string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch how {
	case ".gz":
		w = gzip.NewWriter(&out)
	case ".zst":
		w, err = zstd.NewWriter(&out)
	case ".xz":
		w, err = xz.NewWriter(&out)
	}
	if err == nil {
		_, err = w.Write(b)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Heap runs f and returns by how many bytes the heap grew at most.
func Heap(f func()) int64 {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	done, most := make(chan bool), make(chan uint64)
	go func() {
		top := uint64(0)
		for {
			select {
			case <-done:
				most <- top
				return
			case <-time.After(2 * time.Millisecond):
				runtime.ReadMemStats(&now)
				top = max(top, now.HeapInuse)
			}
		}
	}()
	f()
	close(done)
	return int64(<-most) - int64(before.HeapInuse)
}

// Write writes a file and returns its path.
func Write(t testing.TB, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Record plays a session of two peers with a mistake in tick 60 into a folder, and returns it.
func Record(t testing.TB, dir string, seed uint64) string {
	t.Helper()
	fault, err := session.ParseFault("map-order/Combat@60")
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.RecordTo(dir, session.Options{
		Config: refsim.Config{Seed: seed, Entities: 200}, Ticks: 120, SnapshotEvery: 30, Faults: []session.Fault{fault},
	}, session.TraceSystem)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Open opens the tree of some paths until the test ends.
func Open(t testing.TB, paths ...string) *archive.Tree {
	t.Helper()
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}
