//go:build unix

package desk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"
)

// kept is a store with its bundles, and a clock that a test sets.
type kept struct {
	*desk.Store
	blobs blobs.Store
	where string // of the store
	dir   string // of the bundles
	now   time.Time
}

func openKept(t *testing.T, where string) *kept {
	t.Helper()
	k := &kept{where: where, dir: filepath.Join(t.TempDir(), "blobs"), now: time.Now().UTC().Truncate(time.Second)}
	var err error
	if k.Store, err = desk.Open(t.Context(), where, desk.Options{Create: true, Unsynced: true, Now: func() time.Time { return k.now }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Store.Close() })
	if k.blobs, err = blobs.Open(k.dir); err != nil {
		t.Fatal(err)
	}
	return k
}

// send keeps a bundle, and its reports if there are any, and returns its hash.
func (k *kept) send(t *testing.T, content, name string, complete int, list ...*document.Report) string {
	t.Helper()
	ctx := context.Background()
	b, err := k.blobs.Put(ctx, strings.NewReader(content), 0)
	if err != nil {
		t.Fatal(err)
	}
	err = k.Write(ctx, func(tx *desk.Tx) error {
		bundle, _, err := tx.Receive(ctx, desk.Bundle{Hash: b.Hash, Name: name, Bytes: b.Bytes, Kept: b.Hash, KeptBytes: b.Stored}, desk.Receipt{Name: name, Source: "desk add"})
		if err != nil || len(list) == 0 {
			return err
		}
		var readings []desk.Reading
		for _, r := range list {
			readings = append(readings, desk.Reading{Report: r, Complete: complete})
		}
		_, err = tx.Put(ctx, bundle.ID, "test", readings)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Hash
}

// has returns which of some bundles have content.
func (k *kept) has(t *testing.T, hashes map[string]string) (names []string) {
	t.Helper()
	for name, hash := range hashes {
		r, err := k.blobs.Open(context.Background(), hash)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		r.Close()
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (k *kept) count(t *testing.T, table string) (n int) {
	t.Helper()
	if err := k.DB().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func (k *kept) prune(t *testing.T, r desk.Retention) *desk.Pruned {
	t.Helper()
	p, err := desk.Prune(t.Context(), k.Store, k.blobs, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fill sends bundles of a closed group, an ignored one, an open one and none, one a day, and one that waits.
// Their names are a letter for the group and their number, in the order in which they came.
func fill(t *testing.T, k *kept) map[string]string {
	t.Helper()
	hashes := map[string]string{}
	groups := map[string]string{"c": "Combat", "i": "Input", "o": "Orders"}
	send := func(name string, complete int, list ...*document.Report) {
		hashes[name] = k.send(t, "content of "+name, name+".zip", complete, list...)
		k.now = k.now.Add(24 * time.Hour)
	}
	for n := range 3 {
		for _, g := range []string{"o", "i", "c"} {
			// The second is the most complete one.
			send(fmt.Sprint(g, n), []int{40, 90, 60}[n], diverged(groups[g], groups[g]+".x", "", "1.0.0", "linux"))
		}
	}
	send("n0", 10, document.NoReport(document.InSync, "nothing diverged"))
	send("w0", 0)
	for name, f := range map[string]func(e *desk.Editor, code string) error{
		"c0": func(e *desk.Editor, code string) error {
			_, err := e.CloseGroup(t.Context(), code, "9.9.9")
			return err
		},
		"i0": func(e *desk.Editor, code string) error { _, err := e.Ignore(t.Context(), code); return err },
	} {
		var code string
		if err := k.DB().QueryRow(`SELECT g.code FROM groups g JOIN variants v ON v.group_id = g.id JOIN reports r ON r.variant_id = v.id JOIN bundles b ON b.id = r.bundle_id WHERE b.hash = $1`, hashes[name]).Scan(&code); err != nil {
			t.Fatal(err)
		}
		if err := f(&desk.Editor{Store: k.Store, Who: "ada"}, code); err != nil {
			t.Fatal(err)
		}
	}
	k.now = k.now.Add(30 * 24 * time.Hour)
	return hashes
}

func names(p *desk.Pruned) (list []string) {
	for _, b := range p.Bundles {
		list = append(list, strings.TrimSuffix(b.Name, ".zip")+" "+string(b.Reason)+" "+b.Class.String())
	}
	return list
}

// TestPrune: the order and the reasons of deletions match what a person with the rules would do.
func TestPrune(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		hashes := fill(t, k)
		for _, c := range []struct {
			r    desk.Retention
			want string
		}{
			{desk.Retention{}, ""},
			{desk.Retention{AtMost: 11}, ""},
			{desk.Retention{AtMost: 9}, "c0 count closed, c1 count closed"},
			{desk.Retention{AtMost: 9, KeepBest: 1}, "c0 count closed, c2 count closed"},
			{desk.Retention{AtMost: 2, KeepBest: 2}, "c0 count closed, i0 count ignored, n0 count no group, o0 count open"},
			{desk.Retention{AtMost: 1}, "c0 count closed, c1 count closed, c2 count closed, i0 count ignored, i1 count ignored, i2 count ignored, n0 count no group, o0 count open, o1 count open, o2 count open"},
			{desk.Retention{KeepFor: 38*24*time.Hour + time.Hour}, "c0 age closed, i0 age ignored, o0 age open"},
			{desk.Retention{KeepFor: 37*24*time.Hour + time.Hour, AtMost: 6}, "c0 age closed, c1 count closed, i0 age ignored, o0 age open, o1 age open"},
			{desk.Retention{Bytes: 1}, "c0 bytes closed, c1 bytes closed, c2 bytes closed, i0 bytes ignored, i1 bytes ignored, i2 bytes ignored, n0 bytes no group, o0 bytes open, o1 bytes open, o2 bytes open"},
		} {
			c.r.DryRun = true
			p := k.prune(t, c.r)
			if got := strings.Join(names(p), ", "); got != c.want {
				t.Errorf("%+v: %s\nexpected %s", c.r, got, c.want)
			}
			if beyond := c.r.AtMost > 0 && p.Stay > c.r.AtMost || c.r.Bytes > 0; beyond != (len(p.Beyond) > 0) || p.Stay != 11-int64(len(p.Bundles)) || p.Waiting != 1 {
				t.Errorf("%+v: %+v", c.r, p)
			}
		}
		first, err := k.Bundle(t.Context(), hashes["c0"])
		if err != nil {
			t.Fatal(err)
		}
		if p := k.prune(t, desk.Retention{AtMost: 10, Busy: []int64{first.ID}, DryRun: true}); strings.Join(names(p), ", ") != "c1 count closed" || p.Waiting != 2 {
			t.Errorf("a bundle that has a job: %q", names(p))
		}
		if got := k.has(t, hashes); len(got) != 11 {
			t.Fatalf("a dry run deleted something: %q", got)
		}
		p := k.prune(t, desk.Retention{AtMost: 4, KeepBest: 1})
		if got := k.has(t, hashes); strings.Join(got, " ") != "c1 i1 o1 w0" || p.Stay != 4 || p.Best != 3 {
			t.Errorf("%q stay, %+v", got, p)
		}
		if n := k.count(t, "reports"); n != 10 {
			t.Errorf("%d reports, expected all 10", n)
		}
		if p := k.prune(t, desk.Retention{AtMost: 4, KeepBest: 1}); len(p.Bundles)+len(p.Unknown) != 0 {
			t.Errorf("again: %+v", p)
		}
		// What came again has content again.
		k.send(t, "content of c0", "c0.zip", 0)
		if got := k.has(t, hashes); strings.Join(got, " ") != "c0 c1 i1 o1 w0" {
			t.Errorf("%q", got)
		}
		if p := k.prune(t, desk.Retention{AtMost: 1}); slices.ContainsFunc(p.Bundles, func(b desk.PrunedBundle) bool { return b.Name == "c0.zip" }) {
			t.Errorf("what came a moment ago was deleted: %q", names(p))
		}
		// With reports, the reports of content that went before go as well.
		k.now = k.now.Add(48 * time.Hour)
		k.prune(t, desk.Retention{KeepFor: time.Hour, Reports: true})
		if n, m := k.count(t, "reports"), k.count(t, "bundles"); n != 0 || m != 1 || k.count(t, "documents") != 0 {
			t.Errorf("%d reports of %d bundles, expected the one that waits", n, m)
		}
		var left int
		if err := k.DB().QueryRow("SELECT coalesce(sum(reports), 0) FROM groups").Scan(&left); err != nil || left != 0 {
			t.Errorf("groups still count %d reports, %v", left, err)
		}
	})
}

// TestPruneUnknown: a blob that belongs to no bundle goes after a day, and no other. So does the blob of a bundle that
// is marked as deleted: the program was killed between the two.
func TestPruneUnknown(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		lost, err := k.blobs.Put(t.Context(), strings.NewReader("its program was killed"), 0)
		if err != nil {
			t.Fatal(err)
		}
		hashes := map[string]string{"lost": lost.Hash, "known": k.send(t, "known", "known.zip", 0), "half": k.send(t, "half", "half.zip", 0)}
		err = k.Write(t.Context(), func(tx *desk.Tx) error {
			b, err := k.Bundle(t.Context(), hashes["half"])
			if err != nil {
				return err
			}
			return tx.SetKept(t.Context(), b.ID, "", 0)
		})
		if err != nil {
			t.Fatal(err)
		}
		k.now = k.now.Add(23 * time.Hour)
		if p := k.prune(t, desk.Retention{}); len(p.Unknown) > 0 {
			t.Errorf("%q after less than a day", p.Unknown)
		}
		k.now = k.now.Add(2 * time.Hour)
		want := []string{hashes["lost"], hashes["half"]}
		slices.Sort(want)
		if p := k.prune(t, desk.Retention{DryRun: true}); !slices.Equal(p.Unknown, want) || len(k.has(t, hashes)) != 3 {
			t.Errorf("%q, expected %q", p.Unknown, want)
		}
		k.prune(t, desk.Retention{})
		if got := k.has(t, hashes); !slices.Equal(got, []string{"known"}) {
			t.Errorf("%q", got)
		}
	})
}

// readOnly is a place of bundles from which nothing can be deleted.
type readOnly struct{ blobs.Store }

func (readOnly) DeleteBefore(context.Context, string, time.Time) (bool, error) {
	return false, errors.New("the disk is read-only")
}

// TestPruneInterrupted: rows are marked as deleted first, so that none promises content that is gone. The next prune
// ends what was begun.
func TestPruneInterrupted(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		k := openKept(t, where)
		hashes := fill(t, k)
		if _, err := desk.Prune(t.Context(), k.Store, readOnly{k.blobs}, desk.Retention{AtMost: 5}); err == nil || !strings.Contains(err.Error(), "read-only") {
			t.Fatal(err)
		}
		if n := k.count(t, "bundles WHERE kept <> ''"); n != 5 || len(k.has(t, hashes)) != 11 {
			t.Errorf("%d rows promise content", n)
		}
		k.prune(t, desk.Retention{})
		if got := k.has(t, hashes); len(got) != 5 {
			t.Errorf("%q", got)
		}
	})
}
