//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/report/document"
)

// fillDesk makes a store of four bundles that came 100 days ago and later, a day apart, and returns their hashes.
func fillDesk(t *testing.T, where string) (hashes []string, first time.Time) {
	t.Helper()
	ctx := context.Background()
	first = time.Now().UTC().Add(-100 * 24 * time.Hour)
	now := first
	s, err := desk.Open(ctx, where, desk.Options{Create: true, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, err := blobs.Open(filepath.Join(where, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		k, err := b.Put(ctx, strings.NewReader(fmt.Sprintf("bundle %d", i)), 0)
		if err != nil {
			t.Fatal(err)
		}
		r := document.NoReport(document.InSync, "Nothing diverged.")
		r.Peers = []document.TriagedPeer{{Name: []string{"alice", "bob"}[i%2], Group: 1}, {Name: "carol", Group: 1}}
		err = s.Write(ctx, func(tx *desk.Tx) error {
			bundle, _, err := tx.Receive(ctx, desk.Bundle{Hash: k.Hash, Name: "x.zip", Bytes: k.Bytes, Kept: k.Hash, KeptBytes: k.Stored}, desk.Receipt{Name: "x.zip", Source: "desk add"})
			if err == nil {
				_, err = tx.Put(ctx, bundle.ID, "test", []desk.Reading{{Report: r, Complete: 50}})
			}
			return err
		})
		path := filepath.Join(where, "blobs", k.Hash[:2], k.Hash+".zst")
		if err := errors.Join(err, os.Chtimes(path, now, now)); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, k.Hash)
		now = now.Add(24 * time.Hour)
	}
	return hashes, first
}

// TestDeskPruneUnfinished: unfinished uploads are listed, and dropped by sender.
func TestDeskPruneUnfinished(t *testing.T) {
	where := filepath.Join(t.TempDir(), "desk")
	s, err := desk.Open(t.Context(), where, desk.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	until := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, u := range []desk.Upload{{Who: "ci", Name: "a.zip"}, {Who: "players", Place: "198.51.100.7", Name: "b.zip"}, {Who: "players", Place: "2001:db8::/64", Name: "c.zip"}} {
		u.Length, u.Until = 100, until.Add(time.Duration(i)*time.Hour)
		secret, err := s.NewUpload(t.Context(), u)
		if err == nil {
			err = s.UploadSynced(t.Context(), secret, int64(10*i), u.Until)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	const (
		first  = "ci                    this machine      a.zip: 0 of 100 bytes, until 2100-01-02T03:04:05Z\n"
		second = "players               198.51.100.7      b.zip: 10 of 100 bytes, until 2100-01-02T04:04:05Z\n"
		third  = "players               2001:db8::/64     c.zip: 20 of 100 bytes, until 2100-01-02T05:04:05Z\n"
	)
	prune := func(status int, want string, args ...string) {
		t.Helper()
		if got := runDesk(t, status, append([]string{"prune", "--store", where}, args...)...); got != want {
			t.Errorf("%v: %s\nexpected\n%s", args, got, want)
		}
	}
	prune(0, first+second+third+"3 uploads would be dropped, of 30 bytes.\n", "--unfinished", "--dry-run")
	prune(0, second+"1 upload dropped, of 10 bytes.\n", "--unfinished", "--from", "198.51.100.7", "--as", "ada")
	prune(0, first+"1 upload dropped, of 0 bytes.\n", "--unfinished", "--from", "ci", "--as", "ada")
	prune(0, third+"1 upload would be dropped, of 20 bytes.\n", "--unfinished", "--dry-run")
	prune(2, "desynctool: --from selects unfinished uploads; it needs --unfinished\n", "--from", "ci")
	if audit := runDesk(t, 0, "audit", "--store", where); !strings.Contains(audit, "  ada               uploads dropped   ci\n") {
		t.Error(audit)
	}
}

// The output and effects of the commands that delete data of a store.
func TestDeskKeeps(t *testing.T) {
	where := filepath.Join(t.TempDir(), "desk")
	hashes, first := fillDesk(t, where)
	line := fmt.Sprintf("%s  %s  no group  older than is kept  21 bytes\n", hashes[0][:12], first.Format(time.DateOnly))
	if got, want := runDesk(t, 0, "prune", "--store", where, "--keep-for", "2388h", "--dry-run"), line+"1 bundle would be deleted, of 21 bytes. 3 bundles stay with 63 bytes.\n"; got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
	if got, want := runDesk(t, 0, "prune", "--store", where, "--keep-for", "2388h"), line+"1 bundle deleted, of 21 bytes. 3 bundles stay with 63 bytes.\n"; got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
	if _, err := os.Stat(filepath.Join(where, "blobs", hashes[0][:2], hashes[0]+".zst")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: the content is still there", err)
	}
	var pruned struct {
		Schema  string `json:"schema"`
		Bundles []struct {
			Hash, Reason, Class string
		} `json:"bundles"`
	}
	if err := json.Unmarshal([]byte(runDesk(t, 0, "prune", "--store", where, "--at-most", "2", "--dry-run", "--format", "json")), &pruned); err != nil ||
		pruned.Schema != "desynctool.desk-prune/1" || len(pruned.Bundles) != 1 || pruned.Bundles[0].Hash != hashes[1] || pruned.Bundles[0].Reason != "count" || pruned.Bundles[0].Class != "no group" {
		t.Errorf("%+v, %v", pruned, err)
	}
	const forgotten = "2 reports with their documents, the content of 2 bundles, 0 names of files, 0 stated facts.\n" +
		"Not known: whether the name is in the content of the other 2 bundles.\nBackups and exports have what they had.\n"
	for _, c := range []struct{ flag, want string }{{"--dry-run", "Would be deleted: " + forgotten}, {"--as=ada", "Deleted: " + forgotten}, {"--as=ada", strings.Replace(strings.Replace("Deleted: "+forgotten, "2 reports", "0 reports", 1), "content of 2", "content of 0", 1)}} {
		if got := runDesk(t, 0, "forget", "--store", where, "--player", "alice", c.flag); got != c.want {
			t.Errorf("%s\nexpected\n%s", got, c.want)
		}
	}
	open := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(open, make([]byte, 32), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"prune", "--keep-for", "soon"}, "expected a time, such as 90d"},
		{[]string{"prune", "--bytes", "many"}, "expected bytes, such as 500MiB"},
		{[]string{"prune", "--at-most=-1"}, "0 or more"},
		{[]string{"forget"}, "--player NAME is needed"},
		{[]string{"forget", "--player", "host"}, "a role and not a player"},
		{[]string{"forget", "--player", "alice", "--key", open}, "expected mode 0600"},
		{[]string{"forget", "--player", "alice", "--key", where + "2"}, "no such file"},
		{[]string{"export", "x", "--store", where + "2"}, "there is no desk yet"},
		{[]string{"export", "x", "--store", "postgres://desk@127.0.0.1:1/desk?connect_timeout=1"}, "127.0.0.1"},
		{[]string{"import", where}, "is a directory"},
	} {
		if got := runDesk(t, 2, append([]string{"--store", where}, c.args...)...); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, expected %q", c.args, got, c.want)
		}
	}
}

// A store goes through a file and is the same.
func TestDeskExport(t *testing.T) {
	dir := t.TempDir()
	where, file, again := filepath.Join(dir, "desk"), filepath.Join(dir, "one.tar.zst"), filepath.Join(dir, "two.tar.zst")
	hashes, _ := fillDesk(t, where)
	if got, want := runDesk(t, 0, "export", file, "--store", where), "Exported: 4 reports, 4 bundles, the content of 4, 32 bytes.\n"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got, want := runDesk(t, 0, "import", file, "--store", where+"2"), "Imported: 4 reports, 4 bundles, the content of 4, 32 bytes.\n"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	runDesk(t, 0, "export", again, "--store", where+"2")
	one, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := os.ReadFile(again); err != nil || string(one) != string(two) {
		t.Errorf("%d bytes, then %d others, %v", len(one), len(two), err)
	}
	if got := runDesk(t, 2, "import", file, "--store", where); !strings.Contains(got, "already") {
		t.Error(got)
	}
	if err := os.WriteFile(file, one[:len(one)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runDesk(t, 2, "import", file, "--store", where+"3"); !strings.Contains(got, "not a whole export") {
		t.Error(got)
	}
	if _, err := os.Stat(where + "3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: a store was made of half an export", err)
	}
	if err := os.Remove(filepath.Join(where, "blobs", hashes[1][:2], hashes[1]+".zst")); err != nil {
		t.Fatal(err)
	}
	if got, want := runDesk(t, 3, "export", file, "--store", where), fmt.Sprintf("Exported: 4 reports, 4 bundles, the content of 3, 24 bytes.\nMissing: the content of bundle %s, which is gone or damaged.\n", hashes[1][:12]); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// A player with a name that is not in the store is found by the pseudonym.
func TestDeskForgetsPseudonyms(t *testing.T) {
	dir := t.TempDir()
	where := filepath.Join(dir, "desk")
	fillDesk(t, where)
	key, err := pseudonyms.EnsureKey(filepath.Join(where, "key"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := desk.Open(context.Background(), where, desk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.DB().Exec("UPDATE report_peers SET name = $1 WHERE name = 'alice'", key.Player("alice")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ player, want string }{{"alice", "Would be deleted: 2 reports"}, {key.Player("alice"), "Would be deleted: 2 reports"}, {"Alice", "Would be deleted: 0 reports"}, {"bob", "Would be deleted: 2 reports"}} {
		if got := runDesk(t, 0, "forget", "--store", where, "--player", c.player, "--dry-run"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, expected %s", c.player, got, c.want)
		}
	}
}

// The doctor of a desk reports the damage, and what to do.
func TestDeskDoctor(t *testing.T) {
	dir := t.TempDir()
	where := filepath.Join(dir, "desk")
	hashes, _ := fillDesk(t, where)
	if got, want := runDesk(t, 0, "doctor", "--store", where), "Sound. Read: 21 rows, 4 documents, 4 bundles, the content of 4, 32 bytes.\n"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	for i, hash := range hashes[1:3] {
		path := filepath.Join(where, "blobs", hash[:2], hash+".zst")
		if err := []func() error{func() error { return os.Remove(path) }, func() error { return os.WriteFile(path, []byte("x"), 0o600) }}[i](); err != nil {
			t.Fatal(err)
		}
	}
	want := "content   bundle " + hashes[1] + ": its content is not there\ncontent   bundle " + hashes[2] + ": its content is damaged\n" +
		"DAMAGED, 2 faults. Read: 21 rows, 4 documents, 4 bundles, the content of 2, 16 bytes.\n" +
		"Content of bundles: desk add of the same bundle writes it again, or put the files that are called by these hashes back from a backup.\n"
	if got := runDesk(t, 3, "doctor", "--store", where); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	var doc struct {
		Schema, Status string
		Found          int
		Faults         []struct{ Kind, Where, Why string }
	}
	if err := json.Unmarshal([]byte(runDesk(t, 3, "doctor", "--store", where, "--most", "1", "--format", "json")), &doc); err != nil ||
		doc.Schema != "desynctool.desk-doctor/1" || doc.Status != "inconclusive" || doc.Found != 2 || len(doc.Faults) != 1 || doc.Faults[0].Kind != "content" {
		t.Errorf("%+v, %v", doc, err)
	}
	file := filepath.Join(where, desk.DatabaseName)
	if err := os.WriteFile(file, []byte("no database at all, and longer than a header of SQLite has to be, which is a hundred bytes in all of its versions"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := runDesk(t, 3, "doctor", "--store", where); !strings.HasPrefix(got, "database  the database: it cannot be opened: file is not a database (26)\nDAMAGED, 1 fault.") || !strings.Contains(got, "desk import") {
		t.Error(got)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--most", "0"}, "--most is 0, expected 1 or more"},
		{[]string{"--store", where + "2"}, "there is no desk yet"},
		{[]string{"--store", "postgres://desk@127.0.0.1:1/desk?connect_timeout=1", "--blobs", where}, "127.0.0.1"},
	} {
		if got := runDesk(t, 2, append([]string{"doctor"}, c.args...)...); !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, expected %q", c.args, got, c.want)
		}
	}
}
