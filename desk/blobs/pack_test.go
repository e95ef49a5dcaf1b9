package blobs

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

func pack(t *testing.T, path string) ([]byte, []string) {
	t.Helper()
	var out bytes.Buffer
	left, err := Pack(path, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), left
}

func write3(t *testing.T, dir string, order ...string) {
	t.Helper()
	for i, name := range order {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("content of "+name), os.FileMode(0o600|i*8))); err != nil {
			t.Fatal(err)
		}
	}
}

// Equal folders give equal bytes, whatever their times and modes are and in whatever order they were made.
func TestPackIsCanonical(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	names := []string{"host/x.snap", "client/x.snap", "host.log", "ünicode name", strings.Repeat("long/", 20) + "x", "host/empty"}
	write3(t, a, names...)
	old := time.Unix(1e9, 0)
	slices.Reverse(names)
	write3(t, b, names...)
	if err := errors.Join(os.Chtimes(filepath.Join(b, "host.log"), old, old), os.Mkdir(filepath.Join(b, "no files"), 0o700)); err != nil {
		t.Fatal(err)
	}
	one, left := pack(t, a)
	two, _ := pack(t, b)
	if !bytes.Equal(one, two) || len(left) > 0 {
		t.Errorf("%d and %d bytes differ; left out %q", len(one), len(two), left)
	}
	in := tar.NewReader(bytes.NewReader(one))
	var got []string
	for {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil || string(content) != "content of "+h.Name || h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" || h.ModTime.Unix() != 0 || h.Typeflag != tar.TypeReg {
			t.Errorf("%+v, %q, %v", h, content, err)
		}
		got = append(got, h.Name)
	}
	slices.Sort(names)
	slices.Sort(got)
	if !slices.Equal(got, names) {
		t.Errorf("%q, expected %q", got, names)
	}
	// Bytes that stay: a bundle that comes again next year must have the same name.
	small := t.TempDir()
	write3(t, small, "b/x", "a")
	three, _ := pack(t, small)
	if want := "2dad2a1db1a9e8c0c4d3c6d658e4f34eb7095f24d488cdcd52ef00d7d940366c"; sha(three) != want {
		t.Errorf("%s, expected %s", sha(three), want)
	}
}

func TestPackLeavesOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it has no such names")
	}
	dir, out := t.TempDir(), t.TempDir()
	write3(t, dir, "kept", `win\dows`, "c:x", strings.Repeat("d/", 31)+"kept", strings.Repeat("d/", 32)+"deep")
	write3(t, out, "secret")
	if err := errors.Join(os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, "link")), os.Symlink(out, filepath.Join(dir, "folder"))); err != nil {
		t.Fatal(err)
	}
	packed, left := pack(t, dir)
	for i, want := range []string{`"c:x": would have another name`, `"d/d/`, `"folder": is a link`, `"link": is a link`, `"win\\dows": would have another name`} {
		if len(left) != 5 || !strings.HasPrefix(left[i], want) {
			t.Fatalf("%q, expected %q", left, want)
		}
	}
	if bytes.Contains(packed, []byte("secret")) {
		t.Error("a link was followed")
	}
	tree := archivetest.Open(t, archivetest.Write(t, filepath.Join(t.TempDir(), "x.tar"), packed))
	if lost := append(tree.Lost().Texts(), tree.Warnings().Texts()...); len(lost) > 0 {
		t.Errorf("what was packed is not read: %q", lost)
	}
	var s limits.Settings
	if err := s.Assign("entries=1", "test"); err != nil {
		t.Fatal(err)
	}
	limits.Use(s)
	defer limits.Use(limits.Settings{})
	if _, err := Pack(dir, io.Discard); err == nil || !strings.Contains(err.Error(), "limit entries") {
		t.Error(err)
	}
}

func TestPackFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.zip")
	if err := os.WriteFile(file, []byte("as it is"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, left := pack(t, file); string(b) != "as it is" || len(left) > 0 {
		t.Errorf("%q, %q", b, left)
	}
	if _, err := Pack(filepath.Dir(file)+"/missing", io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if got := PackedName("a/b/report.zip", false) + " " + PackedName("a/session", true); got != "report.zip session.tar" {
		t.Error(got)
	}
}

// triaged is the JSON of the triage of a path, without where it lies.
func triaged(t *testing.T, path string) string {
	t.Helper()
	tree, err := archive.Open([]string{path}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	found, err := bundle.Open(tree, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Triage(found, compare.Builds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := r.Text(&out, document.NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), path, "SESSION")
}

// A folder that was packed, kept and taken out again is triaged as the folder itself is.
func TestTriagedAlike(t *testing.T) {
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1), "../../testdata/openttd/town_poke", "../../testdata/spring/silent_health"} {
		packed, _ := pack(t, folder)
		k := put(t, s, packed)
		file, cleanup, err := ToFile(t.Context(), s, k.Hash, PackedName(folder, true), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := triaged(t, file), triaged(t, folder); got != want {
			t.Errorf("%s:\n%s\nexpected\n%s", folder, got, want)
		}
		if err := cleanup(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
}

func TestToFile(t *testing.T) {
	each(t, func(t *testing.T, s Store, _ func(string, []byte, time.Duration)) {
		k := put(t, s, []byte("bundle"))
		dir := t.TempDir()
		for name, want := range map[string]string{
			"report.zip": "report.zip", "/var/up/../report.zip": "report.zip", `C:\Users\x\replay.rep`: "replay.rep", "": "bundle", "..": "bundle", ".hidden.zip": "hidden.zip",
			"-rf": "rf", "x\x00\n\x1b[31m.zip": "x___[31m.zip", "con?.zip ": "con_.zip", "Ünal 1.rep": "Ünal 1.rep", strings.Repeat("ü", 200) + ".warzone": strings.Repeat("ü", 60) + ".warzone", "a:b": "a_b",
		} {
			file, cleanup, err := ToFile(t.Context(), s, k.Hash, name, dir)
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			if b, err := os.ReadFile(file); err != nil || string(b) != "bundle" || filepath.Base(file) != want || filepath.Dir(filepath.Dir(file)) != dir {
				t.Errorf("%q: %q, %q, %v", name, file, b, err)
			}
			if err := cleanup(); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
		if _, _, err := ToFile(t.Context(), s, sha([]byte("other")), "x", dir); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
}

func FuzzSafeName(f *testing.F) {
	for _, name := range []string{"report.zip", "../../x", `C:\x`, "\xff\x00", ".", "a/..", strings.Repeat("é", 100)} {
		f.Add(name)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name string) {
		safe := safeName(name)
		if !filepath.IsLocal(safe) || filepath.Base(safe) != safe || len(safe) > longestFile || strings.ContainsAny(safe, "\x00\n\x1b/\\:") || strings.HasPrefix(safe, ".") || strings.HasPrefix(safe, "-") {
			t.Errorf("%q becomes %q", name, safe)
		}
		if safeName(safe) != safe {
			t.Errorf("%q becomes %q", safe, safeName(safe))
		}
		path := filepath.Join(dir, safe)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Remove(path)); err != nil {
			t.Error(err)
		}
	})
}

// FuzzOpen: whatever lies where a blob should be, a blob that can be read to its end is the content.
func FuzzOpen(f *testing.F) {
	content := bytes.Repeat([]byte("tick\n"), 300)
	var packed bytes.Buffer
	if _, err := pour(f.Context(), &packed, bytes.NewReader(content), 0); err != nil {
		f.Fatal(err)
	}
	f.Add(packed.Bytes())
	f.Add(packed.Bytes()[:20])
	f.Add([]byte{})
	f.Add(content)
	f.Fuzz(func(t *testing.T, stored []byte) {
		c, err := newContent("store", sha(content), io.NopCloser(bytes.NewReader(stored)))
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Error(err)
			}
			return
		}
		defer c.Close()
		got, err := io.ReadAll(io.LimitReader(c, 1<<20))
		if err == nil && len(got) < 1<<20 && !bytes.Equal(got, content) || err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}
