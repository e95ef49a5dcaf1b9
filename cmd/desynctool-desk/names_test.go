//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/triage"
)

// TestDeskNames: no player's name is in a store, whether the evidence came as an archive, as a folder or as a saved
// report: in no report, no bundle and no name of a file, in this process and in others, which write the same copies.
func TestDeskNames(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "wilhelmina-vs-Ottokar")
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 20, SnapshotEvery: 10, Peers: []string{"Wilhelmina", "Ottokar"}}
	if _, err := session.RecordTo(folder, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
	list, err := new(triage.Reader).Read(context.Background(), folder, "wilhelmina-vs-Ottokar")
	if err != nil || len(list) != 1 {
		t.Fatal(len(list), err)
	}
	var saved bytes.Buffer
	if err := document.WriteJSON(&saved, list[0]); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"OTTOKAR.json": saved.String(), "both.json": "[" + saved.String() + "]"} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o600); err != nil || !strings.Contains(text, "Ottokar") {
			t.Fatal(err, text)
		}
	}
	// Only the folders name these players: their files name roles.
	roles := filepath.Join(dir, "ZAPHODVICK_vs_trillianova")
	o.Config.Seed, o.Peers = 8, []string{"host", "client"}
	if _, err := session.RecordTo(roles, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
	for role, name := range map[string]string{"host": "Zaphodvick", "client": "Trillianova"} {
		if err := os.Rename(filepath.Join(roles, role), filepath.Join(roles, name)); err != nil {
			t.Fatal(err)
		}
	}
	key := pseudonyms.NewKey()
	var contents [2][]string
	for i, isolate := range []string{"", "--isolate"} {
		where := filepath.Join(dir, "desk"+isolate)
		if err := os.MkdirAll(where, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(where, "key"), []byte(key.Text()), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"add", folder, roles, filepath.Join(dir, "OTTOKAR.json"), filepath.Join(dir, "both.json"), "--store", where}
		if isolate != "" {
			args = append(args, isolate)
		}
		if got := runDesk(t, 0, args...); strings.Contains(got, "kept as it came") {
			t.Error(got)
		}
		other := filepath.Join(dir, "Ottokar_again.json")
		if err := os.WriteFile(other, saved.Bytes(), 0o600); err != nil { // the same content by another name
			t.Fatal(err)
		}
		runDesk(t, 0, "add", other, "--store", where)
		runDesk(t, 0, "again", "--store", where)

		file := filepath.Join(dir, "export"+isolate)
		runDesk(t, 0, "export", file, "--store", where)
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		all, err := io.ReadAll(r)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"wilhelmina", "ottokar", "zaphodvick", "trillianova"} {
			if at := bytes.Index(bytes.ToLower(all), []byte(name)); at >= 0 {
				t.Errorf("%q: %s is in the store: %.200q", isolate, name, all[max(0, at-80):])
			}
		}
		for _, want := range []string{key.Player("Ottokar") + ".json", key.Player("Wilhelmina") + "-vs-" + key.Player("Ottokar"), key.Player("Ottokar") + "_again.json"} {
			if !bytes.Contains(all, []byte(want)) {
				t.Errorf("%q: %s is not in the store", isolate, want)
			}
		}
		err = filepath.WalkDir(filepath.Join(where, "blobs"), func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				contents[i] = append(contents[i], filepath.Base(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(where, "desk.sqlite*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, path := range files {
			raw, err := os.ReadFile(path)
			if at := max(bytes.Index(raw, []byte("OTTOKAR")), bytes.Index(bytes.ToLower(raw), []byte("wilhelmina")), bytes.Index(bytes.ToLower(raw), []byte("zaphodvick"))); err != nil || at >= 0 {
				t.Errorf("%q: %s has a name: %.100q, %v", isolate, filepath.Base(path), raw[max(0, at-20):], err)
			}
		}
		s, err := desk.Open(context.Background(), where, desk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Bundles(context.Background(), desk.Read, 0, 10)
		if err = errors.Join(err, s.Close()); err != nil || len(list) != 4 {
			t.Errorf("%q: %d bundles, %v", isolate, len(list), err)
		}
		for _, b := range list {
			if b.Kept == "" || b.Kept == b.Hash {
				t.Errorf("%q: %s is kept as it came", isolate, b.Name)
			}
		}
	}
	if len(contents[0]) != 4 || !slices.Equal(contents[0], contents[1]) {
		t.Errorf("kept in this process %q, by others %q", contents[0], contents[1])
	}
}
