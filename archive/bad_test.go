package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// small are limits that small archives exceed.
var small = archive.Options{Total: 4 << 20, Ratio: 100, Free: 64 << 10, Entries: 1000}

// all returns the paths of all files below path, and reads them.
func all(t testing.TB, tree files.Tree, path string) (paths []string, bad map[string]error) {
	t.Helper()
	bad = map[string]error{}
	stat, err := tree.Stat(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if !stat.IsDir() {
		f, err := tree.Open(path)
		if err == nil {
			_, err = io.Copy(io.Discard, f)
			f.Close()
		}
		if err != nil {
			bad[path] = err
		}
		return []string{path}, bad
	}
	names, err := tree.Names(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	slices.Sort(names)
	for _, name := range names {
		below, worse := all(t, tree, filepath.Join(path, name))
		paths = append(paths, below...)
		for k, v := range worse {
			bad[k] = v
		}
	}
	return paths, bad
}

// openBad opens an archive with limits; its content must be as expected, and what was lost, and odd, must be reported
// in these words.
func openBad(t *testing.T, limits archive.Options, path string, want []string, said ...string) *archive.Tree {
	t.Helper()
	tree, err := archive.Open([]string{path}, limits)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	t.Cleanup(func() { tree.Close() })
	got, bad := all(t, tree, path)
	for i := range got {
		got[i] = strings.TrimPrefix(strings.TrimPrefix(got[i], path), "/")
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q, expected %q", filepath.Base(path), got, want)
	}
	for file, err := range bad {
		t.Errorf("%s: %v", file, err)
	}
	text := strings.Join(append(tree.Lost().Texts(), tree.Warnings().Texts()...), "\n")
	for _, words := range said {
		if !strings.Contains(text, words) {
			t.Errorf("%s: reported %q, expected %q", filepath.Base(path), text, words)
		}
	}
	if len(said) == 0 && text != "" {
		t.Errorf("%s: reported %q", filepath.Base(path), text)
	}
	return tree
}

func TestNames(t *testing.T) {
	long := strings.Repeat("long", 300)
	deep := strings.Repeat("d/", 40) + "x"
	list := []archivetest.Entry{
		{Name: "../../evil", Content: []byte("1")}, {Name: "/abs/x", Content: []byte("2")}, {Name: `C:\win\y`, Content: []byte("3")}, {Name: "a/../../b", Content: []byte("4")},
		{Name: "./dot//z", Content: []byte("5")}, {Name: long, Content: []byte("6")}, {Name: deep, Content: []byte("7")}, {Name: "__MACOSX/._z", Content: []byte("8")}, {Name: "twice", Content: []byte("first")}, {Name: "twice", Content: []byte("last")},
		{Name: "twice/below", Content: []byte("9")},
	}
	for ext, packed := range archivetest.Packings {
		path := archivetest.Write(t, filepath.Join(t.TempDir(), "x"+ext), packed(t, list))
		tree := openBad(t, archive.Options{}, path, []string{"abs/x", "dot/z", "twice", "win/y"},
			"../../evil was left out: its name leads out of the archive (and 1 more)", "has an absolute name; it is taken for one inside the archive (and 1 more)",
			"its name is too long (and 1 more)", "twice is there twice; the last one was used", "twice/below was left out: a file and a folder have the same name")
		f, err := tree.Open(path + "/twice")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(f); string(b) != "last" || err != nil {
			t.Errorf("%s: %q, %v", ext, b, err)
		}
		f.Close()
	}
}

func TestLinksAndDevices(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range []*tar.Header{
		{Name: "passwd", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "passwd"},
		{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3},
		{Name: "pipe", Typeflag: tar.TypeFifo},
		{Name: "plain", Typeflag: tar.TypeReg},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	dir := t.TempDir()
	openBad(t, small, archivetest.Write(t, filepath.Join(dir, "x.tar"), out.Bytes()), []string{"plain"}, "passwd is a link, which is not followed (and 1 more)", "null is neither a file nor a folder (and 1 more)")
	openBad(t, small, archivetest.Write(t, filepath.Join(dir, "x.tar.gz"), archivetest.Pack(t, ".gz", out.Bytes())), []string{"plain"}, "is a link", "is neither a file")

	out.Reset()
	z := zip.NewWriter(&out)
	link := &zip.FileHeader{Name: "passwd"}
	link.SetMode(fs.ModeSymlink | 0o777)
	f, err := z.CreateHeader(link)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, "/etc/passwd")
	z.Close()
	openBad(t, small, archivetest.Write(t, filepath.Join(dir, "x.zip"), out.Bytes()), nil, "passwd is a link")
}

func TestEncrypted(t *testing.T) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, err := z.CreateRaw(&zip.FileHeader{Name: "host/order-log.bin", Flags: 1, Method: zip.Deflate, CompressedSize64: 5, UncompressedSize64: 9})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(w, "xxxxx")
	z.Close()
	openBad(t, small, archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), out.Bytes()), nil, "host/order-log.bin is encrypted; ask for it without a password")
}

func TestBombs(t *testing.T) {
	zeros := make([]byte, 64<<20)
	dir := t.TempDir()
	for ext, packed := range archivetest.Packings {
		if effort.Of(strings.Contains(ext, "xz"), false) {
			continue // which take long to make
		}
		path := archivetest.Write(t, filepath.Join(dir, "bomb"+ext), packed(t, []archivetest.Entry{{Name: "small", Content: []byte("x")}, {Name: "zeros", Content: zeros}}))
		grown := archivetest.Heap(func() {
			switch ext {
			case ".tar", ".0.zip": // as large as stated, and read in place
				openBad(t, small, path, []string{"small", "zeros"})
			case ".zip":
				openBad(t, small, path, []string{"small"}, "zeros was not read: limit ratio is reached")
			default:
				openBad(t, small, path, []string{"small"}, "zeros was not read: limit archive is reached", "the rest of the archive was not read: limit ratio is reached")
			}
		})
		if grown > 48<<20 {
			t.Errorf("%s takes %d bytes of memory", ext, grown)
		}
	}
	// Many files that are small each.
	var many []archivetest.Entry
	for i := range 200 {
		many = append(many, archivetest.Entry{Name: fmt.Sprint(i), Content: zeros[:60<<10]})
	}
	path := archivetest.Write(t, filepath.Join(dir, "many.tar.gz"), archivetest.Packings[".tar.gz"](t, many))
	tree, err := archive.Open([]string{path}, small)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if lost := strings.Join(tree.Lost().Texts(), "; "); !strings.Contains(lost, "the rest of the archive was not read: limit ratio is reached") {
		t.Errorf("reported %q", lost)
	}
}

// TestLyingSizes: a zip archive with entries that are larger than stated, or claim the same bytes.
func TestLyingSizes(t *testing.T) {
	dir := t.TempDir()
	b := archivetest.Zip(t, zip.Deflate, []archivetest.Entry{{Name: "x", Content: bytes.Repeat([]byte("desync"), 10_000)}})
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	lying := slices.Clone(b)
	binary.LittleEndian.PutUint32(lying[at+24:], 100) // uncompressed size
	tree, err := archive.Open([]string{archivetest.Write(t, filepath.Join(dir, "lying.zip"), lying)}, small)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	f, err := tree.Open(filepath.Join(dir, "lying.zip", "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(make([]byte, 100), 0); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("longer than it says: %v", err)
	}
	damaged := slices.Clone(b)
	binary.LittleEndian.PutUint32(damaged[at+16:], 7) // checksum
	path := archivetest.Write(t, filepath.Join(dir, "sum.zip"), damaged)
	sum := archivetest.Open(t, path)
	if _, bad := all(t, sum, path); len(bad) != 1 {
		t.Errorf("a wrong checksum: %v", bad)
	}

	// The record of the one entry ten times: they overlap.
	record, end := b[at:len(b)-22], slices.Clone(b[len(b)-22:])
	overlapping := append(slices.Clone(b[:at]), bytes.Repeat(record, 10)...)
	binary.LittleEndian.PutUint16(end[8:], 10)
	binary.LittleEndian.PutUint16(end[10:], 10)
	binary.LittleEndian.PutUint32(end[12:], uint32(10*len(record)))
	path = archivetest.Write(t, filepath.Join(dir, "overlap.zip"), append(overlapping, end...))
	if _, err := archive.Open([]string{path}, small); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("overlapping entries: %v", err)
	}
}

func TestManyEntries(t *testing.T) {
	effort.Whole(t)
	list := make([]archivetest.Entry, 100_001)
	for i := range list {
		list[i].Name = fmt.Sprintf("host/%06d.snap", i)
	}
	dir := t.TempDir()
	for _, ext := range []string{".zip", ".tar"} {
		path := archivetest.Write(t, filepath.Join(dir, "x"+ext), archivetest.Packings[ext](t, list))
		tree, err := archive.Open([]string{path}, archive.Options{})
		switch {
		case ext == ".zip":
			if err == nil || !strings.Contains(err.Error(), "limit entries is reached: 100001, at most 100000") {
				t.Errorf("%s: %v", ext, err)
			}
		case err != nil:
			t.Error(err)
		default:
			names, err := tree.Names(path)
			if lost := strings.Join(tree.Lost().Texts(), "; "); err != nil || len(names) != 100_000 || !strings.Contains(lost, "limit entries is reached: at most 100000") {
				t.Errorf("%s: %d names, %v, reported %q", ext, len(names), err, lost)
			}
			tree.Close()
		}
	}
}

// TestDensity: the entries of all archives together are bounded by the size of the archives on the disk. Small entries
// compress well, and each costs much more than its bytes.
func TestDensity(t *testing.T) {
	const entries = limits.FreeEntries + 2000
	list := make([]archivetest.Entry, entries)
	for i := range list {
		list[i].Name = fmt.Sprint("host/", i)
	}
	third := archivetest.Zip(t, zip.Deflate, list[:entries/3])
	for name, content := range map[string][]byte{
		"one.tar.gz":    archivetest.Pack(t, ".gz", archivetest.Tar(t, list)),
		"nested.tar.gz": archivetest.Pack(t, ".gz", archivetest.Tar(t, []archivetest.Entry{{Name: "a.zip", Content: third}, {Name: "b.zip", Content: third}, {Name: "c.zip", Content: third}})),
	} {
		path := archivetest.Write(t, filepath.Join(t.TempDir(), name), content)
		for _, each := range []int{1, 1 << 10} {
			use(t, fmt.Sprint("density=", each))
			tree, err := archive.Open([]string{path}, archive.Options{})
			if err != nil {
				t.Fatal(err)
			}
			paths, _ := all(t, tree, path)
			most := limits.FreeEntries + each*len(content)/1024
			reached := strings.Contains(strings.Join(tree.Lost().Texts(), "; "), "limit density is reached: at most 1 (")
			if over := each == 1; len(paths) > most || over != reached || !over && len(paths) < entries-3 {
				t.Errorf("%s with density %d: %d files, expected at most %d; reported %v", name, each, len(paths), most, tree.Lost().Texts())
			}
			tree.Close()
		}
	}
}

// use sets a limit for the rest of a test.
func use(t *testing.T, setting string) {
	t.Helper()
	var s limits.Settings
	if err := s.Assign(setting, "test"); err != nil {
		t.Fatal(err)
	}
	limits.Use(s)
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
}

// TestNoLoop: archives in archives are read to a depth that is reported.
func TestNoLoop(t *testing.T) {
	b := []byte("evidence")
	for depth, name := 0, "x.txt"; depth < 4; depth, name = depth+1, fmt.Sprintf("%d.zip", depth) {
		b = archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: name, Content: b}, {Name: "beside", Content: nil}})
	}
	openBad(t, small, archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), b), []string{"2.zip/1.zip", "2.zip/beside", "beside"}, "1.zip is an archive, 3 deep, and was not looked into")
}

// TestCutOff: an archive that ends too early is an error, or what precedes is used and
// the rest reported.
func TestCutOff(t *testing.T) {
	list := archivetest.Entries(t, archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 3), "")
	for ext, packed := range archivetest.Packings {
		whole := packed(t, list)
		for _, n := range []int{0, 1, 511, 513, len(whole) / 2, len(whole) - 30, len(whole) - 1} {
			path := archivetest.Write(t, filepath.Join(t.TempDir(), "x"+ext), whole[:n])
			tree, err := archive.Open([]string{path}, archive.Options{})
			if err != nil {
				if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "cut off") {
					t.Errorf("%s cut to %d: %v", ext, n, err)
				}
				continue
			}
			if stat, err := tree.Stat(path); err == nil && stat.IsDir() {
				if _, bad := all(t, tree, path); len(bad) > 0 {
					t.Errorf("%s cut to %d: %v", ext, n, bad)
				}
				if lost := tree.Lost(); len(lost) == 0 && n < len(whole)-1024 {
					t.Errorf("%s cut to %d of %d: nothing is reported", ext, n, len(whole))
				}
			}
			tree.Close()
		}
	}
}

// TestEscapes: names that would command a terminal are shown and do not.
func TestEscapes(t *testing.T) {
	var list []archivetest.Entry
	for _, e := range archivetest.Entries(t, archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1), "") {
		list = append(list, archivetest.Entry{Name: "\x1b[2J\u202e" + e.Name, Content: e.Content})
	}
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, append(list, archivetest.Entry{Name: "\x1b[31m/../..", Content: nil})))
	tree := archivetest.Open(t, path)
	text := bisectText(t, tree, path)
	if strings.ContainsAny(text, "\x1b\u202e") || !strings.HasPrefix(text, "DIVERGED") {
		t.Errorf("%q", text)
	}
	for _, lost := range tree.Lost().Texts() {
		if !strings.Contains(document.Safe(lost), `left out`) || strings.ContainsAny(document.Safe(lost), "\x1b") {
			t.Errorf("%q", lost)
		}
	}
}

func TestOtherArchives(t *testing.T) {
	unnamed := archivetest.Write(t, filepath.Join(t.TempDir(), "upload"), archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: "a/x", Content: nil}, {Name: "b/y", Content: nil}}))
	for _, path := range []string{unnamed, unnamed + "@100", unnamed + "/a/x", unnamed + "/a@7"} {
		if got := archivetest.Open(t, path).Archives(); !slices.Equal(got, []string{unnamed}) {
			t.Errorf("%s: archives %q", path, got)
		}
	}
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), []byte("7z\xbc\xaf\x27\x1c and more"))
	if _, err := archive.Open([]string{path}, small); err == nil || !strings.Contains(err.Error(), "7z archive, which is not read; unpack it") {
		t.Errorf("7z: %v", err)
	}
	same := archivetest.Write(t, filepath.Join(t.TempDir(), "y.zip"), archivetest.Zip(t, zip.Store, nil))
	if _, err := archive.Open([]string{same, same}, small); err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Errorf("twice: %v", err)
	}
	if _, err := os.Stat(same + "/x"); err == nil {
		t.Error("something was unpacked")
	}
}

// FuzzOpen: whatever an archive holds, opening it and reading all of it ends, within
// its limits.
func FuzzOpen(f *testing.F) {
	list := []archivetest.Entry{{Name: "host/order-log.bin", Content: []byte("x")}, {Name: "../up", Content: []byte("y")}, {Name: "host/a.snap", Content: bytes.Repeat([]byte("z"), 300)}}
	for _, packed := range archivetest.Packings {
		b := packed(f, list)
		f.Add(b)
		f.Add(archivetest.Zip(f, zip.Store, []archivetest.Entry{{Name: "in.zip", Content: b}, {Name: "in.tar", Content: b}}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		path := archivetest.Write(t, filepath.Join(t.TempDir(), "x"), b)
		tree, err := archive.Open([]string{path}, small)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Fatalf("an error without its file: %v", err)
			}
			return
		}
		defer tree.Close()
		paths, _ := all(t, tree, path)
		if len(paths) > small.Entries*small.Entries {
			t.Fatalf("%d files", len(paths))
		}
		for _, p := range paths {
			if !strings.HasPrefix(p, path) || strings.Contains(p, "..") && strings.Contains(p, "/../") {
				t.Fatalf("%q", p)
			}
			if f, err := tree.Open(p); err == nil {
				stat, _ := f.Stat()
				n, _ := f.ReadAt(make([]byte, 64), max(0, stat.Size()-32))
				if int64(n) > stat.Size() {
					t.Fatalf("%s: %d of %d bytes", p, n, stat.Size())
				}
				f.Close()
			}
		}
	})
}

// TestSalvage: in a zip archive without its list all entries that are whole are read, whether their sizes come before
// them or after.
func TestSalvage(t *testing.T) {
	folder := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	list := archivetest.Entries(t, folder, "")
	list = slices.DeleteFunc(list, func(e archivetest.Entry) bool { return !strings.Contains(e.Name, "/") })
	var before bytes.Buffer // sizes before the data, as most programs write them
	z := zip.NewWriter(&before)
	for i, e := range list {
		h := &zip.FileHeader{Name: e.Name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(e.Content), CompressedSize64: uint64(len(e.Content)), UncompressedSize64: uint64(len(e.Content))}
		raw := e.Content
		if i%2 == 0 {
			var deflated bytes.Buffer
			w, _ := flate.NewWriter(&deflated, -1)
			_, err := w.Write(e.Content)
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
			raw = deflated.Bytes()
			h.Method, h.CompressedSize64 = zip.Deflate, uint64(len(raw))
		}
		w, err := z.CreateRaw(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(raw); err != nil {
			t.Fatal(err)
		}
	}
	z.Close()
	want := bisectText(t, archivetest.Open(t, folder), folder)
	for _, b := range [][]byte{before.Bytes(), archivetest.Packings[".zip"](t, list)} {
		path := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), b[:bytes.Index(b, []byte("PK\x01\x02"))+20])
		tree := archivetest.Open(t, path)
		for _, e := range list {
			f, err := tree.Open(filepath.Join(path, filepath.FromSlash(e.Name)))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(e.Content))
			if _, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, e.Content) {
				t.Errorf("%s: %v", e.Name, err)
			}
			f.Close()
		}
		lost := strings.Join(tree.Lost().Texts(), "; ")
		got := strings.ReplaceAll(strings.ReplaceAll(bisectText(t, tree, path), "  lost     "+lost+"\n", ""), path, folder)
		if got != want {
			t.Errorf("%s\nexpected\n%s", got, want)
		}
		if !strings.Contains(lost, fmt.Sprintf("after %d entries the archive is cut off", len(list))) {
			t.Errorf("reported %q", lost)
		}
	}
}
