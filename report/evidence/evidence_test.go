package evidence_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/formats"
)

// entry is one file of an archive.
type entry struct {
	name    string
	content []byte
}

// entriesOf returns the files in a folder, their names with a prefix.
func entriesOf(t testing.TB, dir, prefix string) (list []entry) {
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
		list = append(list, entry{prefix + filepath.ToSlash(rel), b})
		return err
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(list), err)
	}
	return list
}

// packings are all kinds of archives, by how their names end.
var packings = map[string]func(testing.TB, []entry) []byte{
	".zip":     func(t testing.TB, list []entry) []byte { return zipOf(t, zip.Deflate, list) },
	".0.zip":   func(t testing.TB, list []entry) []byte { return zipOf(t, zip.Store, list) },
	".tar":     tarOf,
	".tar.gz":  func(t testing.TB, list []entry) []byte { return pack(t, ".gz", tarOf(t, list)) },
	".tar.zst": func(t testing.TB, list []entry) []byte { return pack(t, ".zst", tarOf(t, list)) },
	".tar.xz":  func(t testing.TB, list []entry) []byte { return pack(t, ".xz", tarOf(t, list)) },
}

func zipOf(t testing.TB, method uint16, list []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, e := range list {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: method})
		if err == nil {
			_, err = w.Write(e.content)
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

func tarOf(t testing.TB, list []entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range list {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func pack(t testing.TB, how string, b []byte) []byte {
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

func write(t testing.TB, path string, b []byte) string {
	t.Helper()
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// record plays a session with a fault and returns its folder.
func record(t testing.TB, dir string, seed uint64) string {
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

// bisectText returns what bisect prints about paths in a tree.
func bisectText(t testing.TB, tree files.Tree, paths ...string) string {
	t.Helper()
	r, err := formats.Bisect(tree, paths, nil, false)
	if err != nil {
		t.Fatalf("%v: %v", paths, err)
	}
	var out strings.Builder
	if err := report.Bisect(r).Text(&out, report.NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func open(t testing.TB, paths ...string) *evidence.Tree {
	t.Helper()
	tree, err := evidence.Open(paths, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	return tree
}

// TestLikeFolders: of evidence in archives of all kinds, one a peer or one with a
// folder for each, bisect says what it says of the folders, but for their names.
func TestLikeFolders(t *testing.T) {
	sessions := map[string][]string{ // of the peers' folders
		record(t, filepath.Join(t.TempDir(), "s"), 1): {"client", "host"},
		"../../testdata/openttd/town_poke":            {"client", "server"},
		"../../testdata/spring/silent_health":         {"Alice", "Bob", "Carol"},
	}
	for folder, peers := range sessions {
		for ext, packed := range packings {
			dir := t.TempDir()
			same := func(what, want string, tree *evidence.Tree, paths ...string) {
				t.Helper()
				got := strings.ReplaceAll(strings.ReplaceAll(bisectText(t, tree, paths...), dir, folder), "session"+ext+"/", "")
				for _, p := range peers {
					got = strings.ReplaceAll(got, p+ext, p)
				}
				if got != want {
					t.Errorf("%s%s, %s:\n%s\nexpected\n%s", folder, ext, what, got, want)
				}
				if lost := tree.Lost(); len(lost) > 0 {
					t.Errorf("%s%s, %s: %q", folder, ext, what, lost)
				}
			}
			want := bisectText(t, files.Disk, folder)
			for _, wrapped := range []string{"", "a folder/with all/"} {
				path := write(t, filepath.Join(dir, "session"+ext), packed(t, entriesOf(t, folder, wrapped)))
				same("one archive", want, open(t, path), path)
			}
			var apart, onDisk []string
			var nested []entry
			for _, p := range peers {
				b := packed(t, entriesOf(t, filepath.Join(folder, p), ""))
				apart = append(apart, write(t, filepath.Join(dir, p+ext), b))
				onDisk = append(onDisk, filepath.Join(folder, p))
				nested = append(nested, entry{p + ext, b})
			}
			if folder == "../../testdata/spring/silent_health" {
				continue // what is told of the whole session lies beside the peers
			}
			same("one a peer", bisectText(t, files.Disk, onDisk...), open(t, apart...), apart...)
			path := write(t, filepath.Join(dir, "session.zip"), packings[".zip"](t, nested))
			got := strings.ReplaceAll(bisectText(t, open(t, path), path), dir, folder)
			if !strings.HasPrefix(got, strings.SplitAfter(want, "\n")[0]) {
				t.Errorf("%s%s, nested:\n%s", folder, ext, got)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(dir, "session"+ext)); err != nil && ext != ".zip" {
				t.Fatal(err)
			}
			same("a folder of archives", want, open(t, dir), dir)
		}
	}
}

// TestInPlace: what is asked for is read and no more; bytes at any offset are those of
// the file.
func TestInPlace(t *testing.T) {
	content := make([]byte, 3<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(content)
	for ext, packed := range packings {
		path := write(t, filepath.Join(t.TempDir(), "x"+ext), packed(t, []entry{{"a/small", []byte("hello")}, {"b/large", content}}))
		tree := open(t, path)
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
		for range 10 { // more than listing an archive may take
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

// TestLooseFiles: files that lie beside each other, or are given one by one, belong to
// the peers that they name.
func TestLooseFiles(t *testing.T) {
	folder := record(t, filepath.Join(t.TempDir(), "s"), 1)
	dir := t.TempDir()
	var list []entry
	var paths []string
	for _, peer := range []string{"host", "client"} {
		for _, e := range entriesOf(t, filepath.Join(folder, peer), peer+"-") {
			list = append(list, e)
			path := write(t, filepath.Join(dir, e.name), e.content)
			if strings.HasSuffix(path, ".snap") || strings.HasSuffix(path, ".bin") {
				paths = append(paths, path)
			}
		}
	}
	slices.Reverse(paths)
	archive := write(t, filepath.Join(t.TempDir(), "x.zip"), packings[".zip"](t, list))
	want, err := formats.Bisect(files.Disk, []string{folder}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, given := range [][]string{paths, {dir}, {archive}} {
		r, err := formats.Bisect(open(t, given...), given, nil, false)
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		if !r.Exact || r.Tick != want.Tick || r.Snapshots != want.Snapshots || len(r.Peers) != 2 || len(r.Groups) != 2 || len(r.Lost) > 0 {
			t.Errorf("%s: %s", given, bisectText(t, open(t, given...), given...))
		}
		c, err := evidence.Examine(open(t, given...), given, nil)
		if err != nil || len(c.Peers) != 2 || c.Peers[0].Name != "client" || report.CheckupStatus(c) != report.InSync {
			t.Errorf("%s: %v\n%s", given, err, checkupText(t, c))
		}
	}
}
