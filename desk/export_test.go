//go:build unix

package desk_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

func exported(t *testing.T, s *desk.Store, b blobs.Store) ([]byte, *desk.Exported) {
	t.Helper()
	var out bytes.Buffer
	done, err := desk.Export(t.Context(), s, b, &out)
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), done
}

// lived fills a store as people and time do: groups that were merged, closed and named, reports that were read again,
// bundles that came twice or are gone, names that are hard to write.
func lived(t *testing.T, k *kept) {
	t.Helper()
	hashes := fill(t, k)
	k.send(t, "content of c0", "again <b>\u2028\"\\.zip", 0)
	k.send(t, "two matches", "two.zip", 70, diverged("Move", "Move.x", "s1", "1.1.0", "windows"), diverged("Combat", "Combat.x", "s2", "1.10.0", "linux"))
	k.send(t, "two matches", "two.zip", 80, diverged("Move", "Move.x", "s1", "1.1.0", "windows"))
	k.send(t, "", "empty", 0)
	r := diverged("Möve", "Move.ü <x>", "s3", "", "plan9")
	r.Verdict = []string{"zwei & <drei>\u2028"}
	k.send(t, "other", "步兵.zip", 30, r)
	e := &desk.Editor{Store: k.Store, Who: "ada"}
	var codes []string
	rows, err := k.DB().Query("SELECT code FROM groups WHERE state = 'open' ORDER BY code")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var code string
		if err := rows.Scan(&code); err != nil {
			t.Fatal(err)
		}
		codes = append(codes, code)
	}
	rows.Close()
	if _, err := e.Merge(t.Context(), codes[0], codes[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Note(t.Context(), codes[1], "a note\nof <two> lines"); err != nil {
		t.Fatal(err)
	}
	k.prune(t, desk.Retention{AtMost: 9})
	if len(hashes) == 0 {
		t.Fatal("nothing was sent")
	}
}

// TestExport: imported data is exported as the same bytes, from either database into the other and back, and the store
// goes on working.
func TestExport(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		lived(t, k)
		first, done := exported(t, k.Store, k.blobs)
		if done.Reports != int64(k.count(t, "reports")) || done.Bundles != int64(k.count(t, "bundles")) || done.Blobs != int64(k.count(t, "bundles WHERE kept <> ''")) || len(done.Missing) > 0 {
			t.Errorf("%+v", done)
		}
		file := filepath.Join(t.TempDir(), "export")
		for _, to := range []func(t *testing.T, where string){
			func(t *testing.T, where string) {
				dir := filepath.Join(t.TempDir(), "blobs")
				if err := os.WriteFile(file, first, 0o600); err != nil {
					t.Fatal(err)
				}
				open := func() (blobs.Store, error) { return blobs.Open(dir) }
				imported, err := desk.Import(t.Context(), where, desk.Options{}, open, file)
				if err != nil {
					t.Fatal(err)
				}
				if imported.Reports != done.Reports || imported.Bundles != done.Bundles || imported.Blobs != done.Blobs || imported.Bytes != done.Bytes {
					t.Errorf("%+v, expected %+v", imported, done)
				}
				other := openKept(t, where)
				if other.blobs, err = open(); err != nil {
					t.Fatal(err)
				}
				second, _ := exported(t, other.Store, other.blobs)
				if !bytes.Equal(first, second) {
					t.Errorf("%d bytes, then %d others: %s", len(first), len(second), differ(t, first, second))
				}
				// New data gets new numbers.
				other.send(t, "new", "new.zip", 20, diverged("New", "New.x", "", "2.0.0", "linux"))
				if _, err := desk.Import(t.Context(), where, desk.Options{}, open, file); err == nil || !strings.Contains(err.Error(), "already") {
					t.Errorf("into a store that has something: %v", err)
				}
			},
		} {
			desktest.Each(t, to)
		}
	})
}

// entry is a file of an export.
type entry struct {
	name string
	text []byte
}

// unpacked returns the archive in an export.
func unpacked(export []byte) ([]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(export), zstd.WithDecoderMaxMemory(1<<28))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return io.ReadAll(z)
}

// entries takes an export apart, without the program's own reader.
func entries(t testing.TB, export []byte) (list []entry) {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	in := tar.NewReader(z)
	for {
		h, err := in.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, entry{h.Name, b})
	}
}

// put together again, with sums that fit if right is set.
func together(t testing.TB, list []entry, right bool) []byte {
	t.Helper()
	if right {
		var end struct {
			Entries []map[string]any `json:"entries"`
			Missing []string         `json:"missing"`
		}
		last := len(list) - 1
		if err := json.Unmarshal(list[last].text, &end); err != nil {
			t.Fatal(err)
		}
		end.Entries = nil
		for _, e := range list[:last] {
			sum := sha256.Sum256(e.text)
			end.Entries = append(end.Entries, map[string]any{"name": e.name, "bytes": len(e.text), "sha256": hex.EncodeToString(sum[:])})
		}
		text, err := json.Marshal(end)
		if err != nil {
			t.Fatal(err)
		}
		list = append(slices.Clone(list[:last]), entry{list[last].name, text})
	}
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range list {
		if err := w.WriteHeader(&tar.Header{Name: e.name, Size: int64(len(e.text)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func differ(t *testing.T, a, b []byte) string {
	x, y := entries(t, a), entries(t, b)
	for i := range min(len(x), len(y)) {
		if x[i].name != y[i].name || !bytes.Equal(x[i].text, y[i].text) {
			return fmt.Sprintf("%s: %.2000s\n%s: %.2000s", x[i].name, x[i].text, y[i].name, y[i].text)
		}
	}
	return fmt.Sprintf("%d and %d files", len(x), len(y))
}

// TestExportShowsAll: an export has each row of the store, as another program reads it.
func TestExportShowsAll(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		lived(t, k)
		export, _ := exported(t, k.Store, k.blobs)
		tables, contents := 0, 0
		for _, e := range entries(t, export) {
			if hash, ok := strings.CutPrefix(e.name, "blobs/"); ok {
				contents++
				if sum := sha256.Sum256(e.text); hex.EncodeToString(sum[:]) != hash {
					t.Errorf("%s has other content", e.name)
				}
			}
			name, ok := strings.CutPrefix(e.name, "tables/")
			if !ok {
				continue
			}
			tables++
			if want, got := k.count(t, strings.TrimSuffix(name, ".ndjson")), bytes.Count(e.text, []byte("\n")); got != want {
				t.Errorf("%s: %d lines, expected %d", name, got, want)
			}
			if name == "documents.ndjson" {
				for line := range bytes.Lines(e.text) {
					var row struct {
						Body document.Report `json:"body"`
					}
					if err := json.Unmarshal(line, &row); err != nil || row.Body.Status == "" {
						t.Errorf("%v in %.200s", err, line)
					}
				}
			}
		}
		var want int
		query := "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name <> 'desk_versions' AND name <> 'sqlite_sequence'"
		if k.Kind() == desk.Postgres {
			query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'desk_versions'"
		}
		if err := k.DB().QueryRow(query).Scan(&want); err != nil || tables != want || contents == 0 {
			t.Errorf("%d tables, %d contents, %v; the store has %d tables", tables, contents, err, want)
		}
	})
}

// TestImportRefuses: an export that was cut off or changed leaves nothing: no store that was not there, and no rows in
// one that was.
func TestImportRefuses(t *testing.T) {
	k := openKept(t, filepath.Join(t.TempDir(), "desk"))
	lived(t, k)
	whole, _ := exported(t, k.Store, k.blobs)
	list := entries(t, whole)
	find := func(prefix string) int {
		i := slices.IndexFunc(list, func(e entry) bool { return strings.HasPrefix(e.name, prefix) })
		if i < 0 {
			t.Fatalf("no %s", prefix)
		}
		return i
	}
	after := func(name string) int { // where a bundle belongs
		return slices.IndexFunc(list, func(e entry) bool {
			return strings.HasPrefix(e.name, "blobs/") && e.name > name || e.name == "sums.json"
		})
	}
	changed := func(i int, from, to string) []entry {
		l := slices.Clone(list)
		l[i].text = bytes.Replace(l[i].text, []byte(from), []byte(to), 1)
		if bytes.Equal(l[i].text, list[i].text) {
			t.Fatalf("%s has no %s", l[i].name, from)
		}
		return l
	}
	without := func(i int) []entry { return slices.Delete(slices.Clone(list), i, i+1) }
	blob, bundles, last := find("blobs/"), find("tables/bundles."), len(list)-1
	cases := map[string][]byte{
		"empty": {}, "another file": []byte("PK\x03\x04 and so on"), "not a tar": together(t, nil, false),
		"a value changed":           together(t, changed(bundles, `"read"`, `"aside"`), false),
		"a bundle changed":          together(t, changed(blob, "content", "Content"), true),
		"a table left out":          together(t, without(bundles), true),
		"a bundle left out":         together(t, without(blob), true),
		"sums left out":             together(t, without(last), false),
		"a file more":               together(t, append(slices.Clone(list), entry{"more", nil}), false),
		"a bundle more":             together(t, slices.Insert(slices.Clone(list), last, entry{"blobs/" + strings.Repeat("f", 64), []byte("x")}), true),
		"a bundle that nobody asks": together(t, slices.Insert(slices.Clone(list), after("blobs/"+hexOf("nobody")), entry{"blobs/" + hexOf("nobody"), []byte("nobody")}), true),
		"a path":                    together(t, slices.Insert(slices.Clone(list), last, entry{"../../etc/passwd", []byte("x")}), true),
		"another version":           together(t, changed(0, `"version":1`, `"version":7`), true),
		"a newer schema":            together(t, changed(0, `"schema":`, `"schema":9`), true),
		"a statement as a table":    together(t, changed(0, `"name":"games"`, `"name":"games; DROP TABLE bundles"`), true),
		"another column":            together(t, changed(0, `"name":"kept"`, `"name":"keep"`), true),
		"another type":              together(t, changed(0, `"name":"bytes","type":"integer"`, `"name":"bytes","type":"text"`), true),
		"a row twice":               together(t, changed(bundles, string(list[bundles].text[:bytes.IndexByte(list[bundles].text, '\n')+1]), strings.Repeat(string(list[bundles].text[:bytes.IndexByte(list[bundles].text, '\n')+1]), 2)), true),
		"a value that is missing":   together(t, changed(bundles, `"name":`, `"nome":`), true),
		"a value of another type":   together(t, changed(bundles, `"id":1,`, `"id":"1",`), true),
		"a line without an end":     together(t, changed(bundles, string(list[bundles].text), strings.TrimSuffix(string(list[bundles].text), "\n")), true),
		"a row that refers to none": together(t, changed(find("tables/receipts."), `"bundle_id":1,`, `"bundle_id":999,`), true),
	}
	plain, err := unpacked(whole)
	if err != nil {
		t.Fatal(err)
	}
	step := len(whole)/effort.Of(12, 200) + 1
	for at := 0; at < len(whole); at += step {
		cases[fmt.Sprintf("cut at %d", at)] = whole[:at]
		b := bytes.Clone(whole)
		b[at] ^= 4
		// A bit of the compression may lead to the same content in another way, such as where in a run of zeros to copy
		// from.
		if text, err := unpacked(b); err != nil || !bytes.Equal(text, plain) {
			cases[fmt.Sprintf("bit changed at %d", at)] = b
		}
	}
	cases["cut at its end"] = whole[:len(whole)-1]
	for name, content := range cases {
		dir := t.TempDir()
		file, where := filepath.Join(dir, "file"), filepath.Join(dir, "desk")
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := desk.Import(t.Context(), where, desk.Options{}, func() (blobs.Store, error) { return blobs.Open(filepath.Join(dir, "blobs")) }, file)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		if name != "a newer schema" && !errors.Is(err, desk.ErrExport) || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), file) {
			t.Errorf("%s: %q", name, err)
		}
		for left, err := range listOf(t, filepath.Join(dir, "blobs")) {
			t.Errorf("%s: content is left: %s, %v", name, left, err)
		}
		s, err := desk.Open(t.Context(), where, desk.Options{})
		var missing *desk.MissingError
		if errors.As(err, &missing) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"bundles", "reports", "games", "events"} {
			var n int
			if err := s.DB().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil || n != 0 {
				t.Errorf("%s: %d rows in %s, %v", name, n, table, err)
			}
		}
		s.Close()
	}
}

func hexOf(text string) string { sum := sha256.Sum256([]byte(text)); return hex.EncodeToString(sum[:]) }

// listOf returns the blobs in a folder, none if it is not there.
func listOf(t *testing.T, dir string) func(func(string, error) bool) {
	return func(yield func(string, error) bool) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return
		}
		b, err := blobs.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for info, err := range b.List(context.Background()) {
			if !yield(info.Hash, err) {
				return
			}
		}
	}
}

// TestExportMissing: content that is gone or damaged is said to be missing, and all else is exported.
func TestExportMissing(t *testing.T) {
	k := openKept(t, filepath.Join(t.TempDir(), "desk"))
	gone, hurt, fine := k.send(t, "gone", "gone.zip", 0), k.send(t, "hurt", "hurt.zip", 0), k.send(t, "fine", "fine.zip", 0)
	if err := k.blobs.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(k.dir, hurt[:2], hurt+".zst"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, done := exported(t, k.Store, k.blobs)
	want := []string{gone, hurt}
	slices.Sort(want)
	if !slices.Equal(done.Missing, want) || done.Blobs != 1 {
		t.Errorf("%+v, expected %q", done, want)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "export")
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	imported, err := desk.Import(t.Context(), filepath.Join(dir, "desk"), desk.Options{}, func() (blobs.Store, error) { return blobs.Open(filepath.Join(dir, "blobs")) }, file)
	if err != nil || !slices.Equal(imported.Missing, want) {
		t.Fatalf("%+v, %v", imported, err)
	}
	b, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := b.Open(t.Context(), fine); err != nil {
		t.Error(err)
	} else {
		r.Close()
	}
}

// FuzzImport: whatever a file is, it is brought in whole or not at all.
func FuzzImport(f *testing.F) {
	f.Add([]byte("x"), uint(0), byte(0))
	f.Add([]byte(`{"format":"desynctool desk","version":1,"schema":1,"tables":[]}`), uint(3), byte('{'))
	f.Fuzz(func(t *testing.T, text []byte, at uint, by byte) {
		dir := t.TempDir()
		file, where := filepath.Join(dir, "export"), filepath.Join(dir, "desk")
		list := []entry{{"manifest.json", text}, {"sums.json", []byte(`{"entries":[],"missing":[]}`)}}
		content := together(t, list, true)
		if by != 0 {
			content[at%uint(len(content))] = by
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := desk.Import(t.Context(), where, desk.Options{}, func() (blobs.Store, error) { return blobs.Open(filepath.Join(dir, "blobs")) }, file); !errors.Is(err, desk.ErrExport) {
			var newer *desk.NewerError
			if !errors.As(err, &newer) {
				t.Errorf("%v", err)
			}
		}
	})
}
