//go:build unix

package desk_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// examine examines a store, and returns what it found, a line for each fault.
func (k *kept) examine(t *testing.T) (*desk.Examined, []string) {
	t.Helper()
	return examine(t, k.where, k.blobs, k.now)
}

func examine(t *testing.T, where string, b blobs.Store, now time.Time) (*desk.Examined, []string) {
	t.Helper()
	x, err := desk.Examine(t.Context(), where, desk.Options{Now: func() time.Time { return now }}, func() (blobs.Store, error) { return b, nil }, desk.Examination{})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range x.Faults {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", f.Kind, f.Where, f.Why))
		if strings.Contains(f.Why, "\n") || f.Why == "" {
			t.Errorf("%+v", f)
		}
	}
	return x, lines
}

// TestExamineSound: a store that people and time have used has no faults, and all of it is read.
func TestExamineSound(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		if x, faults := k.examine(t); len(faults) != 0 || x.Rows != 0 {
			t.Errorf("of an empty store: %q, %+v", faults, x)
		}
		lived(t, k)
		e := &desk.Editor{Store: k.Store, Who: "ada"}
		for _, undo := range []bool{true, false} {
			done, err := e.Move(t.Context(), []int64{int64(k.count(t, "reports WHERE id = 1"))}, "")
			if err == nil && undo {
				_, err = e.Undo(t.Context(), done.Event)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		x, faults := k.examine(t)
		if len(faults) != 0 {
			t.Errorf("%q", faults)
		}
		contents := k.count(t, "bundles WHERE kept <> ''")
		if x.Found != 0 || x.Documents != int64(k.count(t, "documents")) || x.Bundles != int64(k.count(t, "bundles")) || x.Contents != int64(contents) || x.Left != 0 {
			t.Errorf("%+v", x)
		}
		if _, err := desk.Forget(t.Context(), k.Store, k.blobs, []string{"host"}, "ada", false); err != nil {
			t.Fatal(err)
		}
		if x, faults := k.examine(t); len(faults) != 0 || x.Documents != 0 && x.Documents == int64(contents) {
			t.Errorf("of a store that has forgotten: %q, %+v", faults, x)
		}
	})
}

// unchecked runs a statement without checks of references.
func (k *kept) unchecked(t *testing.T, statement string) {
	t.Helper()
	if err := k.try(t, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func (k *kept) try(t *testing.T, statement string) error {
	t.Helper()
	return k.unguarded(t, func(c *sql.Conn) error {
		_, err := c.ExecContext(t.Context(), statement)
		return err
	})
}

// audited writes so many entries of the audit.
func (k *kept) audited(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if err := k.Write(t.Context(), func(tx *desk.Tx) error { return tx.Audit(t.Context(), "ann", "token added", fmt.Sprint("ci", i)) }); err != nil {
			t.Fatal(err)
		}
	}
}

// value returns the only value of a query, as a text.
func (k *kept) value(t *testing.T, query string) (text string) {
	t.Helper()
	if err := k.unguarded(t, func(c *sql.Conn) error { return c.QueryRowContext(t.Context(), query).Scan(&text) }); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

// unguarded runs f next to the store, without checks of references.
func (k *kept) unguarded(t *testing.T, f func(c *sql.Conn) error) error {
	t.Helper()
	driver, address, off := "pgx", desktest.Plain(k.where), "SET session_replication_role = replica"
	if k.Kind() == desk.SQLite {
		driver, address, off = "sqlite", filepath.Join(k.where, desk.DatabaseName), "PRAGMA foreign_keys = 0"
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ExecContext(t.Context(), off); err != nil {
		t.Fatal(err)
	}
	return f(c)
}

// TestExaminePlanted: data that is taken from a store, or changed in it, is found, and named.
func TestExaminePlanted(t *testing.T) {
	of := func(k *kept, hash string) string { return filepath.Join(k.dir, hash[:2], hash+".zst") }
	flipped := func(t *testing.T, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-3] ^= 4
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	faults := map[string]struct {
		plant func(t *testing.T, k *kept, hash string)
		sql   string
		want  []string // the beginnings of the findings, with HASH for the bundle's hash
	}{
		"a blob": {plant: func(t *testing.T, k *kept, hash string) {
			if err := os.Remove(of(k, hash)); err != nil {
				t.Fatal(err)
			}
		}, want: []string{"content: bundle HASH: its content is not there"}},
		"a bit of a blob":  {plant: func(t *testing.T, k *kept, hash string) { flipped(t, of(k, hash)) }, want: []string{"content: bundle HASH: its content is damaged"}},
		"half of a blob":   {plant: func(t *testing.T, k *kept, hash string) { _ = os.Truncate(of(k, hash), 12) }, want: []string{"content: bundle HASH: its content is damaged"}},
		"another blob":     {sql: "UPDATE bundles SET kept = '" + hexOf("none") + "' WHERE id = 1", want: []string{"content: bundle HASH: its content, " + hexOf("none") + ", is not there"}},
		"what is no blob":  {sql: "UPDATE bundles SET kept = 'none' WHERE id = 1", want: []string{"content: bundle HASH: its content, none, is not called by a SHA-256"}},
		"a length":         {sql: "UPDATE bundles SET bytes = 7 WHERE id = 1", want: []string{"row: bundle HASH: its row has 7 bytes, and it is"}},
		"a bundle":         {sql: "DELETE FROM bundles WHERE id = 1", want: []string{"row: table receipts: bundle_id 1 is not in bundles (1 row)", "row: table reports: bundle_id 1 is not in bundles (1 row)"}},
		"a receipt":        {sql: "DELETE FROM receipts WHERE bundle_id = 1", want: []string{"count: bundle HASH: it counts 0 receipts, expected 1"}},
		"a document":       {sql: "DELETE FROM documents WHERE report_id = 1", want: []string{"row: report 1: it has no document"}},
		"part of one":      {sql: "UPDATE documents SET body = substr(body, 1, 40) WHERE report_id = 1", want: []string{"document: report 1: a document is damaged"}},
		"no document":      {sql: "UPDATE documents SET body = substr(body, 1, 0) WHERE report_id = 1", want: []string{"document: report 1: a document is damaged"}},
		"another document": {sql: "UPDATE documents SET body = (SELECT body FROM documents WHERE report_id = 2) WHERE report_id = 1", want: []string{"document: report 1: the fingerprint of its variant is \"combat\", its document has \"move\""}},
		"a variant of it":  {sql: "UPDATE reports SET variant_id = 0 WHERE id = 1", want: []string{"count: game 1, build 1: it counts 1 reports, expected 0", "count: game 1, day ", "count: game 1, trait ", "count: game 1, trait ", "count: game 1: it counts 2 reports, expected 1", "count: variant 1 in build 1: it counts 1 reports, expected 0", "count: variant 1 on day ", "count: variant 1 with trait ", "count: variant 1 with trait ", "count: variant 1: it counts 1 reports, expected 0", "count: variant 1: it counts 2 peers, expected 0", "document: report 1: its variant is 0, and its document belongs to a bug"}},
		"a status":         {sql: "UPDATE reports SET status = 'in-sync' WHERE id = 1", want: []string{"document: report 1: its status is in-sync, its document has diverged"}},
		"a seed":           {sql: "UPDATE reports SET seed = '8' WHERE id = 1", want: []string{"document: report 1: its game, build and seed"}},
		"a tick":           {sql: "UPDATE reports SET tick = 8 WHERE id = 1", want: []string{"document: report 1: its day, tick and number of peers are \"2026-02-03\", 8 and 2,"}},
		"a peer":           {sql: "DELETE FROM report_peers WHERE report_id = 1 AND name = 'host'", want: []string{"document: report 1: the rows have 1 of its 2 peers"}},
		"another peer":     {sql: "UPDATE report_peers SET name = 'x' WHERE report_id = 1 AND name = 'host'", want: []string{"document: report 1: the rows have 2 of its 2 peers"}},
		"a report":         {sql: "DELETE FROM reports WHERE id = 3", want: []string{"row: bundle LAST: it was read, and has no report", "row: table documents: report_id 3 is not in reports (1 row)"}},
		"a variant":        {sql: "DELETE FROM variants WHERE id = 1", want: []string{"count: group 1", "count: group 1", "count: group 1", "count: group 1", "document: report 1: the fingerprint of its variant is \"\"", "row: table reports: variant_id 1 is not in variants (1 row)", "row: table variant_builds", "row: table variant_days", "row: table variant_prints", "row: table variant_traits"}},
		"a group":          {sql: "DELETE FROM groups WHERE id = 1", want: []string{"row: table group_keys", "row: table news", "row: table variants: group_id 1 is not in groups (1 row)"}},
		"a build":          {sql: "DELETE FROM builds WHERE id = 1", want: []string{"document: report 1: its game, build", "row: table groups: first_build 1 is not in builds (1 row)", "row: table groups: last_build 1 is not in builds (1 row)", "row: table reports: build_id 1 is not in builds (1 row)", "row: table variant_builds: build_id 1 is not in builds (1 row)"}},
		"a trait of it":    {sql: "DELETE FROM set_traits WHERE set_id = 1 AND trait_id = (SELECT max(trait_id) FROM set_traits WHERE set_id = 1)", want: []string{"count: game 1, trait", "count: set of traits 1: it counts 2 traits, expected 1", "count: variant 1 with trait"}},
		"a count":          {sql: "UPDATE groups SET reports = 5 WHERE id = 1", want: []string{"count: group 1: it counts 5 reports, expected 1"}},
		"a day":            {sql: "UPDATE groups SET last_day = 5 WHERE id = 1", want: []string{"count: group 1: its last day is \"1970-01-06\", expected \"2026-02-03\""}},
		"a day's count":    {sql: "DELETE FROM variant_days WHERE variant_id = 1", want: []string{"count: group 1: its first day is \"2026-02-03\", expected \"\"", "count: group 1: its last day", "count: variant 1 on day"}},
		"a game's count":   {sql: "UPDATE game_counts SET reports = 9 WHERE name = 'reports'", want: []string{"count: game 1: it counts 9 reports, expected 2"}},
		"a path as a hash": {sql: "UPDATE bundles SET hash = '../../../../etc/passwd' WHERE id = 3", want: []string{"content: bundle ../../../../etc/passwd: ", "row: table bundles: hash is \"../../../../etc/passwd\", expected a SHA-256"}},
		"a state":          {sql: "UPDATE groups SET state = 'zzz' WHERE id = 1", want: []string{"row: table groups: state is \"zzz\", expected one of open, closed, ignored, merged"}},
		"fewer than none":  {sql: "UPDATE bundles SET kept_bytes = -5", want: []string{"row: table bundles: kept_bytes is \"-5\", expected no negative number (3 rows)"}},
		"an entry":         {sql: "UPDATE audit SET who = 'eve' WHERE id = 2", want: []string{"row: audit 2: its link is "}},
		"a missing entry":  {sql: "DELETE FROM audit WHERE id = 2", want: []string{"row: audit 3: its link is "}},
		"a link":           {sql: "UPDATE audit SET link = '' WHERE id = 2", want: []string{"row: audit 2: its link is \"\"", "row: audit 3: its link is "}},
		"a table":          {sql: "DROP TABLE shares", want: []string{"database: table shares: "}},
	}
	for i, name := range slices.Sorted(maps.Keys(faults)) {
		c, each := faults[name], desktest.Each
		if i%effort.Of(12, 1) != 0 {
			each = desktest.Each
		}
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, where string) {
				k := openKept(t, where)
				hash := k.send(t, strings.Repeat("first ", 30), "first.zip", 40, diverged("Combat", "Combat.x", "combat", "1.0.0", "linux"))
				k.send(t, "second", "second.zip", 40, diverged("Move", "Move.x", "move", "1.1.0", "windows"))
				last := k.send(t, "third", "third.zip", 40, nothing())
				k.audited(t, 3)
				if c.plant != nil {
					c.plant(t, k, hash)
				} else {
					k.unchecked(t, c.sql)
				}
				x, faults := k.examine(t)
				for i := range faults { // codes are hashes
					if rest, ok := strings.CutPrefix(faults[i], "count: group "); ok {
						_, rest, _ = strings.Cut(rest, ": ")
						faults[i] = "count: group 1: " + rest
					}
				}
				slices.Sort(faults)
				if int(x.Found) != len(faults) || len(faults) != len(c.want) {
					t.Fatalf("%d found:\n%s", x.Found, strings.Join(faults, "\n"))
				}
				for i, want := range c.want {
					if want = strings.NewReplacer("HASH", hash, "LAST", last).Replace(want); !strings.HasPrefix(faults[i], want) {
						t.Errorf("%s\nexpected %s", faults[i], want)
					}
				}
			})
		})
	}
}

// TestExamineColumns: a value of the wrong type, a negative number and a text that no rule allows are found in every column
// that has a rule.
func TestExamineColumns(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		k.send(t, "first", "first.zip", 40, diverged("Combat", "Combat.x", "combat", "1.0.0", "linux"))
		for _, statement := range []string{
			"INSERT INTO tokens (public, hash, name, scope, made_at) VALUES ('0123456789abcdef', '" + hexOf("secret") + "', 'ci', 'upload', 1)",
			"INSERT INTO shares (hash, bundle, match_no, who, made_at) VALUES ('" + hexOf("link") + "', '" + hexOf("first") + "', 1, 'command', 1)",
			"INSERT INTO webhooks (address, secret, private, made_at) VALUES ('https://example.org/hook', '0123456789abcdef', FALSE, 1)",
			"INSERT INTO sessions (hash, token_id, until) VALUES ('" + hexOf("cookie") + "', 1, 1)",
			"INSERT INTO uploads (secret, who, name, build, length, synced, until) VALUES ('" + hexOf("upload") + "', 'ci', 'a.zip', '', 5, 0, 1)",
			"INSERT INTO deliveries (webhook_id, news_id, next_at) VALUES (1, 1, 1)",
		} {
			k.unchecked(t, statement)
		}
		k.audited(t, 1)
		if _, faults := k.examine(t); len(faults) > 0 {
			t.Fatalf("sound rows are faults: %v", faults)
		}
		for _, column := range []string{
			"bundles.bytes", "bundles.received_at", "bundles.times", "receipts.id", "receipts.at", "groups.reports", "groups.peers", "groups.first_day", "variants.reports", "variant_days.reports", "variant_days.day",
			"game_counts.reports", "reports.tick", "reports.match_no", "reports.day", "reports.peers", "reports.times", "reports.complete", "tokens.made_at", "tokens.revoked_at", "sessions.until", "audit.at",
			"uploads.length", "uploads.synced", "uploads.until", "shares.match_no", "shares.made_at", "news.at", "webhooks.made_at", "deliveries.tries", "deliveries.next_at",
			"bundles.hash", "bundles.state", "groups.code", "groups.state", "trait_sets.list", "reports.status", "tokens.public", "tokens.hash", "tokens.scope", "sessions.hash", "uploads.secret", "uploads.bundle",
			"shares.hash", "shares.bundle", "news.what", "webhooks.address", "deliveries.state",
			"audit.id", "news.report_id", "webhooks.id", "webhooks.secret",
		} {
			table, name, _ := strings.Cut(column, ".")
			for _, value := range []string{"-5", "'zz'"}[:effort.Of(1, 2)] {
				had := k.value(t, "SELECT min("+name+") FROM "+table)
				err := k.try(t, "UPDATE "+table+" SET "+name+" = "+value+" WHERE CAST("+name+" AS TEXT) = '"+had+"'")
				if err != nil { // a database that keeps no text in a column of numbers
					continue
				}
				_, faults := k.examine(t)
				if !slices.ContainsFunc(faults, func(f string) bool {
					return strings.Contains(f, "row: table "+table+": "+name+" is \""+strings.Trim(value, "'")+"\"")
				}) {
					t.Errorf("%s = %s: %q", column, value, faults)
				}
				if err := k.try(t, "UPDATE "+table+" SET "+name+" = '"+had+"' WHERE CAST("+name+" AS TEXT) = '"+strings.Trim(value, "'")+"'"); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestAuditChain: the links match the definition in docs/formats/desk-export.md, also where several write at once.
func TestAuditChain(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { k.audited(t, 5) })
		}
		all.Wait()
		if n := k.count(t, "audit"); n != 20 {
			t.Fatal(n)
		}
		last := ""
		for i := 1; i <= 20; i++ {
			row := func(column string) string {
				return k.value(t, fmt.Sprintf("SELECT CAST(%s AS TEXT) FROM audit WHERE id = %d", column, i))
			}
			var text string
			for _, part := range []string{last, row("at"), row("who"), row("what"), row("about")} {
				text += fmt.Sprintf("%d:%s", len(part), part)
			}
			if last = row("link"); last != hexOf(text) {
				t.Fatalf("entry %d has the link %s, expected that of %s", i, last, text)
			}
		}
		if x, faults := k.examine(t); len(faults) > 0 || x.Audit != last {
			t.Errorf("%v, %q, expected %q", faults, x.Audit, last)
		}
	})
}

// TestPrivate: only its owner reads a desk, whatever its files allowed before.
func TestPrivate(t *testing.T) {
	where := filepath.Join(t.TempDir(), "desk")
	for _, loose := range []bool{false, true} {
		if loose {
			for path, mode := range map[string]os.FileMode{where: 0o755, filepath.Join(where, desk.DatabaseName): 0o644} {
				if err := os.Chmod(path, mode); err != nil {
					t.Fatal(err)
				}
			}
		}
		store, err := desk.Open(t.Context(), where, desk.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(where, desk.DatabaseName+"*"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for _, path := range append(files, where) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v, loose before: %v", filepath.Base(path), info.Mode(), loose)
			}
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExaminePages: whichever page of an SQLite file is overwritten, it is found, unless nothing is in it.
func TestExaminePages(t *testing.T) {
	where := filepath.Join(t.TempDir(), "desk")
	k := openKept(t, where)
	lived(t, k)
	var size, free int
	for query, n := range map[string]*int{"PRAGMA page_size": &size, "PRAGMA freelist_count": &free} {
		if err := k.DB().QueryRow(query).Scan(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(where, desk.DatabaseName)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pages, missed := len(whole)/size, 0
	step := max(1, pages/effort.Of(8, pages))
	for page := 0; page < pages; page += step {
		for name, filling := range map[string]byte{"zeros": 0, "another": 0xa5} {
			b := bytes.Clone(whole)
			copy(b[page*size:], bytes.Repeat([]byte{filling}, size))
			for _, beside := range []string{"-wal", "-shm"} {
				os.Remove(file + beside)
			}
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if page == 0 && filling == 0 { // as if there were none
				continue
			}
			if _, faults := examine(t, where, k.blobs, k.now); len(faults) == 0 {
				t.Logf("page %d of %d, %s: nothing is found", page, pages, name)
				missed++
			}
		}
	}
	if missed > 2*free {
		t.Errorf("%d pages are missed, and %d are empty", missed, free)
	}
	for name, b := range map[string][]byte{"cut in the middle": whole[:len(whole)/2], "cut in a page": whole[:len(whole)/3+size/2+7], "garbage": bytes.Repeat([]byte("garbage "), 4096), "short garbage": []byte("no database")} {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, faults := examine(t, where, k.blobs, k.now); len(faults) == 0 || !strings.HasPrefix(faults[0], "database: ") {
			t.Errorf("%s: %q", name, faults)
		}
	}
}

// TestExaminePostgresPages: a page of a table that is overwritten is found. It needs a separate server: by default
// TestExaminePages runs in its place.
func TestExaminePostgresPages(t *testing.T) {
	server := desktest.Start(t)
	where := server.Database(t)
	k := openKept(t, where)
	lived(t, k)
	paths := map[string]string{}
	for _, table := range []string{"reports", "documents", "groups", "events"}[:effort.Of(2, 4)] {
		var path string
		if err := k.DB().QueryRow("SELECT pg_relation_filepath($1::regclass)", table).Scan(&path); err != nil {
			t.Fatal(err)
		}
		paths[table] = path
	}
	if _, err := k.DB().Exec("CHECKPOINT"); err != nil {
		t.Fatal(err)
	}
	k.Close()
	for table, path := range paths {
		server.Kill()
		path = filepath.Join(server.Dir, "data", path)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(whole)
		copy(b, bytes.Repeat([]byte{0xa5}, 4096))
		for i, content := range [][]byte{b, whole} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := server.Run(); err != nil {
				t.Fatal(err)
			}
			if _, faults := examine(t, where, k.blobs, k.now); (len(faults) > 0) != (i == 0) || i == 0 && !slices.ContainsFunc(faults, func(f string) bool { return strings.HasPrefix(f, "database: table "+table) }) {
				t.Errorf("%s, %d: %q", table, i, faults)
			}
			server.Kill()
		}
		if err := server.Run(); err != nil {
			t.Fatal(err)
		}
	}
}

// changing is a store of blobs in which something happens before one of them is read.
type changing struct {
	blobs.Store
	before map[string]func()
}

func (c *changing) Open(ctx context.Context, hash string) (io.ReadCloser, error) {
	if f := c.before[hash]; f != nil {
		f()
	}
	return c.Store.Open(ctx, hash)
}

// TestExamineBeside: what others do meanwhile is no fault: uploads under way, copies that take the place of what was received,
// bundles that are deleted. What they leave over is said a day later.
func TestExamineBeside(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		copied, pruned, dropped := k.send(t, "copied", "copied.zip", 0), k.send(t, "pruned", "pruned.zip", 0), k.send(t, "dropped", "dropped.zip", 0)
		coming, err := k.blobs.Put(t.Context(), strings.NewReader("coming"), 0)
		if err != nil {
			t.Fatal(err)
		}
		change := func(hash string, f func(tx *desk.Tx, b *desk.Bundle) error) func() {
			return func() {
				b, err := k.Bundle(context.Background(), hash)
				if err != nil {
					return // done already
				}
				if err := k.Write(context.Background(), func(tx *desk.Tx) error { return f(tx, b) }); err != nil {
					t.Error(err)
				}
				if err := k.blobs.Delete(context.Background(), hash); err != nil {
					t.Error(err)
				}
			}
		}
		b := &changing{k.blobs, map[string]func(){
			copied: change(copied, func(tx *desk.Tx, b *desk.Bundle) error {
				return tx.SetKept(context.Background(), b.ID, coming.Hash, coming.Stored)
			}),
			pruned: change(pruned, func(tx *desk.Tx, b *desk.Bundle) error { return tx.SetKept(context.Background(), b.ID, "", 0) }),
			dropped: change(dropped, func(tx *desk.Tx, b *desk.Bundle) error {
				for _, s := range []string{"DELETE FROM receipts WHERE bundle_id = $1", "DELETE FROM bundles WHERE id = $1"} {
					if _, err := tx.Exec(s, b.ID); err != nil {
						return err
					}
				}
				return nil
			}),
		}}
		if x, faults := examine(t, where, b, k.now); len(faults) > 0 || x.Left != 0 || x.Contents != 1 {
			t.Errorf("%q, %+v", faults, x)
		}
		if err := k.Write(t.Context(), func(tx *desk.Tx) error { return tx.SetKept(context.Background(), 1, "", 0) }); err != nil {
			t.Fatal(err)
		}
		if x, _ := examine(t, where, k.blobs, k.now); x.Left != 0 {
			t.Errorf("an upload may be under way: %+v", x)
		}
		if x, faults := examine(t, where, k.blobs, k.now.Add(25*time.Hour)); len(faults) > 0 || x.Left != 1 || x.LeftBytes != coming.Stored || !slices.Equal(x.LeftOver, []string{coming.Hash}) {
			t.Errorf("%q, %+v", faults, x)
		}
	})
}

// TestExamineBounded: of many faults the first of each kind are listed, and all are counted.
func TestExamineBounded(t *testing.T) {
	effort.Whole(t)
	k := openKept(t, filepath.Join(t.TempDir(), "desk"))
	for i := range 230 { // more than are asked for at a time
		k.send(t, fmt.Sprint("bundle ", i), "x.zip", 40, diverged("Move", "Move.x", "s", "1.0.0", "linux"))
	}
	if _, faults := k.examine(t); len(faults) > 0 {
		t.Errorf("%q", faults)
	}
	if err := os.RemoveAll(k.dir); err != nil {
		t.Fatal(err)
	}
	k.unchecked(t, "UPDATE documents SET body = 'x'")
	var calls []int64
	x, err := desk.Examine(t.Context(), k.where, desk.Options{}, func() (blobs.Store, error) { return k.blobs, nil }, desk.Examination{Most: 3, Progress: func(done, total int64) {
		calls = append(calls, done)
		if total != 460 {
			t.Errorf("%d of %d", done, total)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []desk.FaultKind
	for _, f := range x.Faults {
		kinds = append(kinds, f.Kind)
	}
	if x.Found != 460 || fmt.Sprint(kinds) != "[document document document content content content]" || len(calls) != 460 {
		t.Errorf("%d found, %q, %d calls", x.Found, kinds, len(calls))
	}
}

// TestExamineCannot: a store that is not there, that a newer program wrote or that does not answer is an error, and no fault.
func TestExamineCannot(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		if _, err := k.DB().Exec("INSERT INTO desk_versions (version) VALUES (999)"); err != nil {
			t.Fatal(err)
		}
		open := func() (blobs.Store, error) { return k.blobs, nil }
		var newer *desk.NewerError
		if _, err := desk.Examine(t.Context(), where, desk.Options{}, open, desk.Examination{}); !errors.As(err, &newer) {
			t.Errorf("%v", err)
		}
		var missing *desk.MissingError
		if _, err := desk.Examine(t.Context(), where+"2", desk.Options{}, open, desk.Examination{}); err == nil || k.Kind() == desk.SQLite && !errors.As(err, &missing) {
			t.Errorf("%v", err)
		}
	})
	k := openKept(t, filepath.Join(t.TempDir(), "desk"))
	k.send(t, "x", "x.zip", 0)
	ctx, cancel := context.WithCancel(t.Context())
	b := &changing{k.blobs, map[string]func(){hexOf("x"): cancel}}
	if _, err := desk.Examine(ctx, k.where, desk.Options{}, func() (blobs.Store, error) { return b, nil }, desk.Examination{}); !errors.Is(err, context.Canceled) {
		t.Errorf("ended in the middle: %v", err)
	}
}

// examined fails a test if its store has faults in its rows. Its bundles have no content.
func examined(t failing, s *desk.Store) {
	t.Helper()
	faults, err := s.ExamineRows(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(faults) > 0 {
		t.Fatal(faults)
	}
}

// nothing is a report without a bug.
func nothing() *document.Report { return document.NoReport(document.InSync, "nothing diverged") }

// TestExamineWhile: a store that others write to all the time is sound at each moment.
func TestExamineWhile(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			steps := []string{"Combat", "Move", "Economy"}
			for i := 0; ctx.Err() == nil; i++ {
				content := fmt.Sprint("bundle ", i%40) // each comes again, and is read with other peers
				r := of(diverged(steps[i%3], steps[i%3]+".x", steps[i%3], fmt.Sprintf("1.%d.0", i%5), "linux"), "host", fmt.Sprint("player ", i))
				b, err := k.blobs.Put(context.Background(), strings.NewReader(content), 0)
				if err == nil {
					err = k.Write(context.Background(), func(tx *desk.Tx) error {
						bundle, _, err := tx.Receive(context.Background(), desk.Bundle{Hash: b.Hash, Name: "x.zip", Bytes: b.Bytes, Kept: b.Hash, KeptBytes: b.Stored}, desk.Receipt{Name: "x.zip", Source: "desk add"})
						if err == nil {
							_, err = tx.Put(context.Background(), bundle.ID, "test", []desk.Reading{{Report: r}})
						}
						return err
					})
				}
				if err != nil {
					ended <- err
					return
				}
			}
			ended <- nil
		}()
		for range effort.Of(8, 60) {
			if _, faults := k.examine(t); len(faults) > 0 {
				t.Errorf("%q", faults)
				break
			}
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
