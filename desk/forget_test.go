//go:build unix

package desk_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"
)

// of is a report on peers with names.
func of(r *document.Report, peers ...string) *document.Report {
	r.Peers = nil
	for i, p := range peers {
		r.Peers = append(r.Peers, document.TriagedPeer{Name: p, Group: i + 1})
	}
	return r
}

// players fills a store with reports of some players.
func players(t *testing.T, k *kept) map[string]string {
	t.Helper()
	bug := func(name string) *document.Report { return diverged(name, name+".x", "", "1.0.0", "linux") }
	stated := of(bug("Combat"), "alice", "bob")
	stated.Stated = append(stated.Stated, document.Fact{Name: "host name", Values: map[string]string{"alice": "alice's machine", "bob": "tower"}})
	mention := of(bug("Combat"), "carol", "dave")
	mention.Verdict = []string{"carol waits for\nalice."}
	return map[string]string{
		"theirs":  k.send(t, "theirs", "replay of alice.zip", 50, stated),
		"second":  k.send(t, "second", "second.zip", 50, of(bug("Combat"), "alice#2", "bob")),
		"stands":  k.send(t, "stands", "stands.zip", 50, of(bug("Combat"), "player-00112233aa", "bob")),
		"several": k.send(t, "several", "several.zip", 50, of(bug("Move"), "alice", "bob"), of(bug("Move"), "bob", "carol")),
		"others":  k.send(t, "others", "others.zip", 50, of(bug("Combat"), "alicent", "bob")),
		"named":   k.send(t, "named", "sent by alice.zip", 50, of(bug("Combat"), "bob", "carol")),
		"mention": k.send(t, "mention", "mention.zip", 50, mention),
	}
}

func TestForget(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		hashes := players(t, k)
		e := &desk.Editor{Store: k.Store, Who: "ada"}
		var code string
		if err := k.DB().QueryRow("SELECT min(code) FROM groups").Scan(&code); err != nil {
			t.Fatal(err)
		}
		note, err := e.Note(t.Context(), code, "alice has a video")
		if err != nil {
			t.Fatal(err)
		}
		all := []string{"alice", "player-00112233aa"}
		for _, dry := range []bool{true, false} {
			f, err := desk.Forget(t.Context(), k.Store, k.blobs, all, "ada", dry)
			if err != nil {
				t.Fatal(err)
			}
			if f.Reports != 4 || f.Bundles != 4 || f.Rows != 3 || f.Names != 2 || f.Facts != 1 || f.Unread != 3 ||
				!slices.Equal(f.Mentions, []desk.Mention{{Bundle: hashes["mention"], Match: 1}}) || !slices.Equal(f.Events, []int64{note.Event}) || len(f.Groups) > 0 {
				t.Errorf("dry %v: %+v", dry, f)
			}
			if got := k.has(t, hashes); dry && (len(got) != 7 || k.count(t, "reports") != 8) {
				t.Errorf("a dry run deleted something: %q", got)
			}
		}
		if got := k.has(t, hashes); strings.Join(got, " ") != "mention named others" {
			t.Errorf("%q have content", got)
		}
		if n := k.count(t, "report_peers WHERE name IN ('alice', 'alice#2', 'player-00112233aa')"); n != 0 {
			t.Errorf("%d peers", n)
		}
		if reports, bundles := k.count(t, "reports"), k.count(t, "bundles"); reports != 4 || bundles != 4 || k.count(t, "documents") != 4 {
			t.Errorf("%d reports of %d bundles", reports, bundles)
		}
		for _, table := range []string{"bundles", "receipts"} {
			if n := k.count(t, table+" WHERE name LIKE '%alice%'"); n != 0 {
				t.Errorf("%d names in %s", n, table)
			}
		}
		if n := k.count(t, "traits WHERE value LIKE '%alice%'"); n != 0 {
			t.Errorf("%d facts", n)
		}
		if n := k.count(t, "set_traits WHERE trait_id NOT IN (SELECT id FROM traits)"); n != 0 {
			t.Errorf("%d facts that are not there are of sets", n)
		}
		if n := k.count(t, "events WHERE what = 'forget' AND who = 'ada' AND about NOT LIKE '%alice%'"); n != 1 {
			t.Errorf("%d events", n)
		}
		var sum int
		if err := k.DB().QueryRow("SELECT sum(reports) FROM groups").Scan(&sum); err != nil || sum != 4 {
			t.Errorf("groups count %d reports, %v", sum, err)
		}
		// It cannot be undone, and does not prevent undoing earlier changes.
		var event int64
		if err := k.DB().QueryRow("SELECT id FROM events WHERE what = 'forget'").Scan(&event); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Undo(t.Context(), event); err == nil || !strings.Contains(err.Error(), "cannot be undone") {
			t.Error(err)
		}
		if done, err := e.Undo(t.Context(), 0); err != nil || done.Group != code {
			t.Errorf("%+v, %v", done, err)
		}
		if _, err := desk.Forget(t.Context(), k.Store, k.blobs, []string{" "}, "ada", false); err == nil {
			t.Error("nobody was forgotten")
		}
	})
}

// TestForgetLeavesNoTrace: no file of a folder's store has the name any longer.
func TestForgetLeavesNoTrace(t *testing.T) {
	where := filepath.Join(t.TempDir(), "desk")
	k := openKept(t, where)
	bug := diverged("Combat", "Combat.x", "", "1.0.0", "linux")
	k.send(t, "replay of zaphod", "zaphod.zip", 50, of(bug, "zaphod", "bob"))
	if _, err := desk.Forget(t.Context(), k.Store, k.blobs, []string{"zaphod"}, "ada", false); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{where, k.dir} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if strings.Contains(string(b), "zaphod") {
				t.Errorf("%s has the name", filepath.Base(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
