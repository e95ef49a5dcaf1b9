package archive_test

import (
	"bytes"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// bisectText returns what bisect prints about paths in a tree.
func bisectText(t testing.TB, tree *archive.Tree, paths ...string) string {
	t.Helper()
	found, err := bundle.Open(tree, paths)
	if err != nil {
		t.Fatalf("%v: %v", paths, err)
	}
	r, err := compare.Bisect(found, compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		t.Fatalf("%v: %v", paths, err)
	}
	var out strings.Builder
	if err := document.Bisect(r).Text(&out, document.NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLikeFolders: for evidence in archives of all kinds, one a peer or one with a folder for each, bisect has the same
// result as for the folders, except for their names.
func TestLikeFolders(t *testing.T) {
	effort.Whole(t)
	sessions := map[string][]string{ // of the peers' folders
		archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1): {"client", "host"},
		"../testdata/openttd/town_poke":                           {"client", "server"},
		"../testdata/spring/silent_health":                        {"Alice", "Bob", "Carol"},
	}
	for i, folder := range slices.Sorted(maps.Keys(sessions)) {
		peers := sessions[folder]
		for k, ext := range slices.Sorted(maps.Keys(archivetest.Packings)) {
			if effort.Of(k%len(sessions) != i, false) {
				continue // each packing with one of the sessions
			}
			packed := archivetest.Packings[ext]
			dir := t.TempDir()
			same := func(what, want string, tree *archive.Tree, paths ...string) {
				t.Helper()
				got := strings.ReplaceAll(strings.ReplaceAll(bisectText(t, tree, paths...), dir, folder), "session"+ext+"/", "")
				for _, p := range peers {
					got = strings.ReplaceAll(got, p+ext, p)
				}
				if got != want {
					t.Errorf("%s%s, %s:\n%s\nexpected\n%s", folder, ext, what, got, want)
				}
				if lost := tree.Lost().Texts(); len(lost) > 0 {
					t.Errorf("%s%s, %s: %q", folder, ext, what, lost)
				}
			}
			want := bisectText(t, archivetest.Open(t, folder), folder)
			for _, wrapped := range []string{"", "a folder/with all/"} {
				path := archivetest.Write(t, filepath.Join(dir, "session"+ext), packed(t, archivetest.Entries(t, folder, wrapped)))
				same("one archive", want, archivetest.Open(t, path), path)
			}
			var apart, onDisk []string
			var nested []archivetest.Entry
			for _, p := range peers {
				b := packed(t, archivetest.Entries(t, filepath.Join(folder, p), ""))
				apart = append(apart, archivetest.Write(t, filepath.Join(dir, p+ext), b))
				onDisk = append(onDisk, filepath.Join(folder, p))
				nested = append(nested, archivetest.Entry{Name: p + ext, Content: b})
			}
			if folder == "../testdata/spring/silent_health" {
				continue // the files about the whole session lie next to the peers
			}
			same("one a peer", bisectText(t, archivetest.Open(t, onDisk...), onDisk...), archivetest.Open(t, apart...), apart...)
			path := archivetest.Write(t, filepath.Join(dir, "session.zip"), archivetest.Packings[".zip"](t, nested))
			got := strings.ReplaceAll(bisectText(t, archivetest.Open(t, path), path), dir, folder)
			if !strings.HasPrefix(got, strings.SplitAfter(want, "\n")[0]) {
				t.Errorf("%s%s, nested:\n%s", folder, ext, got)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "session"+ext)); err != nil && ext != ".zip" {
				t.Fatal(err)
			}
			same("a folder of archives", want, archivetest.Open(t, dir), dir)
		}
	}
}

// TestInPlace: only the requested bytes are read; bytes at any offset equal the file's.
func TestInPlace(t *testing.T) {
	effort.Whole(t)
	content := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	for ext, packed := range archivetest.Packings {
		path := archivetest.Write(t, filepath.Join(t.TempDir(), "x"+ext), packed(t, []archivetest.Entry{{Name: "a/small", Content: []byte("hello")}, {Name: "b/large", Content: content}}))
		tree := archivetest.Open(t, path)
		f, err := tree.Open(path + "/b/large")
		if err != nil {
			t.Fatalf("%s: %v", ext, err)
		}
		buf := make([]byte, 1000)
		for _, at := range []int64{0, 70_000, 12, 3<<20 - 1000, 2 << 20} {
			if n, err := f.ReadAt(buf, at); n != len(buf) || err != nil || !bytes.Equal(buf, content[at:at+1000]) {
				t.Errorf("%s at %d: %d bytes, %v", ext, at, n, err)
			}
		}
		if n, err := f.ReadAt(buf, 3<<20-10); n != 10 || err != io.EOF {
			t.Errorf("%s at the end: %d bytes, %v", ext, n, err)
		}
		if all, err := io.ReadAll(f); err != nil || !bytes.Equal(all, content) {
			t.Errorf("%s: %d bytes, %v", ext, len(all), err)
		}
		for range effort.Of(3, 10) { // more than listing an archive may take
			again, err := tree.Open(path + "/b/large")
			if err != nil {
				t.Fatal(err)
			}
			if n, err := io.Copy(io.Discard, again); n != int64(len(content)) || err != nil {
				t.Errorf("%s: %d bytes, %v", ext, n, err)
			}
			again.Close()
		}
		if stat, err := f.Stat(); err != nil || stat.Size() != int64(len(content)) || !stat.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", ext, stat, err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		names, err := tree.Names(path)
		if slices.Sort(names); err != nil || !slices.Equal(names, []string{"a", "b"}) {
			t.Errorf("%s: %q, %v", ext, names, err)
		}
		if _, err := tree.Stat(path + "/b/none"); !os.IsNotExist(err) {
			t.Errorf("%s: %v", ext, err)
		}
	}
}
