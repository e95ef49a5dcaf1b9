//go:build unix

package intake_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/report/document"
)

func TestMain(m *testing.M) { os.Exit(desktest.Main(m)) }

// toy reads bundles with a text that is the number of their peers, and a bug: "2 bug3".
type toy struct {
	read  atomic.Int64
	pause func(name string)
}

func (r *toy) Read(ctx context.Context, path, name string) ([]*document.Report, error) {
	r.read.Add(1)
	if r.pause != nil {
		r.pause(name)
	}
	if stat, err := os.Stat(path); err == nil && stat.IsDir() {
		path = filepath.Join(path, "evidence")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if string(text) == "hang" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	f := strings.Fields(string(text[max(0, slices.Index(text, '#')):]))
	peers := 0
	if len(f) < 3 {
		return []*document.Report{document.NoReport(document.Failed, name+": nothing in it is known")}, nil
	}
	fmt.Sscan(f[1], &peers)
	r1 := document.NoReport(document.Diverged, "parted")
	r1.Error = ""
	r1.Session.Game = "arena"
	for i := range peers {
		r1.Peers = append(r1.Peers, document.TriagedPeer{Name: fmt.Sprint("peer", i), Group: i + 1})
	}
	r1.Fingerprint = "strict-" + f[2]
	r1.Fingerprints = []document.Fingerprint{{Level: document.LevelKind, Name: "arena state", Digest: "00000000000000aa"}, {Level: document.LevelStep, Name: f[2], Digest: fmt.Sprintf("%016x", f[2])}}
	return []*document.Report{r1}, nil
}

func open(t *testing.T, where string) (*intake.Intake, *toy) {
	t.Helper()
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store, err := desk.Open(context.Background(), where, desk.Options{Create: true, Unsynced: true, Now: func() time.Time { return clock }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	kept, err := blobs.Open(filepath.Join(t.TempDir(), "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	r := &toy{}
	return &intake.Intake{Store: store, Blobs: kept, Reader: r, Tool: "test", Source: "test"}, r
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFind: the kind of a folder follows from its content, or is given.
func TestFind(t *testing.T) {
	x, _ := open(t, filepath.Join(t.TempDir(), "desk"))
	dir := t.TempDir()
	write(t, dir+"/many/a/evidence", "# 2 bug")
	write(t, dir+"/many/b.zip", "# 2 bug")
	write(t, dir+"/many/.hidden", "")
	write(t, dir+"/peers/client/evidence", "# 1 bug")
	write(t, dir+"/peers/host/evidence", "# 1 bug")
	write(t, dir+"/unread/a.zip", "#")
	write(t, dir+"/unread/b.zip", "# 3 bug")
	write(t, dir+"/broken/a.zip", "#")
	write(t, dir+"/loose/a.zip", "# 2 bug")
	write(t, dir+"/loose/game.log", "# 2 bug")
	if err := os.Mkdir(dir+"/empty", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		how  intake.How
		want string
	}{
		{"many", intake.Look, "a b.zip"}, {"many", intake.One, "many"}, {"peers", intake.Look, "peers"}, {"peers", intake.Each, "client host"},
		{"unread", intake.Look, "a.zip b.zip"}, {"broken", intake.Look, "broken"}, {"loose", intake.Look, "loose"}, {"loose", intake.Each, "a.zip game.log"},
		{"many/b.zip", intake.Each, "b.zip"}, {"empty", intake.Look, "empty"},
	} {
		list, err := x.Find(context.Background(), filepath.Join(dir, c.path), c.how)
		var names []string
		for _, s := range list {
			names = append(names, s.Name)
		}
		if got := strings.Join(names, " "); err != nil || got != c.want {
			t.Errorf("%s, %d: %s %v, expected %s", c.path, c.how, got, err, c.want)
		}
	}
	if _, err := x.Find(context.Background(), dir+"/nothing", intake.Look); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestAdd: bundles are written in their order whatever their reading takes; the same content is read once; an add that was ended
// goes on.
func TestAdd(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		x, r := open(t, where)
		dir := t.TempDir()
		var list []intake.Source
		for i := range 24 {
			path := write(t, fmt.Sprintf("%s/%02d.zip", dir, i), fmt.Sprintf("# 2 bug%d %d", i%5, i/2))
			if i%6 == 5 {
				path = write(t, path, "hang")
			}
			list = append(list, intake.Source{Path: path, Name: filepath.Base(path)})
		}
		list = append(list, intake.Source{Path: dir + "/nothing", Name: "nothing"})
		x.Wall = 100 * time.Millisecond
		r.pause = func(name string) { time.Sleep(time.Duration(len(name)*7919%5) * time.Millisecond) }
		stop := errors.New("stop")
		n := 0
		err := x.Add(ctx, list, 4, nil, func(intake.Added) error {
			if n++; n == 7 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) || n != 7 {
			t.Fatalf("%d %v", n, err)
		}
		var paths, groups []string
		reports, aside, missing := 0, 0, 0
		before := r.read.Load()
		err = x.Add(ctx, list, 4, nil, func(a intake.Added) error {
			paths = append(paths, a.Path)
			for _, c := range a.Changes {
				reports++
				if c.NewGroup {
					groups = append(groups, c.Group)
				}
			}
			if a.Aside != "" {
				aside++
			}
			if a.Bundle == nil {
				missing++
			}
			return nil
		})
		if err != nil || !slices.IsSorted(paths) || len(paths) != len(list) || missing != 1 || aside != 4 {
			t.Fatalf("%v %v: %d missing, %d aside", err, paths, missing, aside)
		}
		distinct := map[string]bool{}
		for i := range 24 {
			distinct[fmt.Sprintf("%d %d", i%5, i/2)] = i%6 != 5
		}
		waiting, err := x.Store.BundlesIn(ctx, desk.Waiting, 0, 100)
		if err != nil || len(waiting) != 0 {
			t.Errorf("%d wait, %v", len(waiting), err)
		}
		if again := r.read.Load() - before; again > 21 {
			t.Errorf("%d triages of 21 bundles", again)
		}
		before = r.read.Load()
		if err := x.Add(ctx, list, 2, nil, func(intake.Added) error { return nil }); err != nil || r.read.Load() != before {
			t.Errorf("%d triages again, %v", r.read.Load()-before, err)
		}
	})
}

// TestSameStore: however many read at once, the store is the same.
func TestSameStore(t *testing.T) {
	dir := t.TempDir()
	var list []intake.Source
	for i := range 40 {
		path := write(t, fmt.Sprintf("%s/%02d.zip", dir, i), fmt.Sprintf("# 2 bug%d %d", i%7, i%30))
		list = append(list, intake.Source{Path: path, Name: filepath.Base(path)})
	}
	var first string
	for _, jobs := range []int{1, 8} {
		x, r := open(t, filepath.Join(t.TempDir(), "desk"))
		r.pause = func(name string) {
			if jobs > 1 && name[1]%2 == 0 {
				time.Sleep(2 * time.Millisecond)
			}
		}
		if err := x.Add(context.Background(), list, jobs, nil, func(intake.Added) error { return nil }); err != nil {
			t.Fatal(err)
		}
		var all strings.Builder
		for _, query := range []string{
			"SELECT id, hash, name FROM bundles ORDER BY id", "SELECT id, bundle_id, name FROM receipts ORDER BY id",
			"SELECT id, bundle_id, variant_id FROM reports ORDER BY id", "SELECT id, code, title FROM groups ORDER BY id",
		} {
			rows, err := x.Store.DB().Query(query)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				var a, b, c string
				if err := rows.Scan(&a, &b, &c); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(&all, a, b, c)
			}
		}
		if first == "" {
			first = all.String()
		} else if all.String() != first {
			t.Errorf("with %d readers\n%s\nelse\n%s", jobs, all.String(), first)
		}
	}
}

// TestAgain: results that differ in another version are listed, and written unless it is a trial.
func TestAgain(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		x, _ := open(t, where)
		path := write(t, t.TempDir()+"/a.zip", "# 2 bug1 x")
		if err := x.Add(ctx, []intake.Source{{Path: path, Name: "a.zip"}}, 1, nil, func(intake.Added) error { return nil }); err != nil {
			t.Fatal(err)
		}
		ids, err := x.Store.BundlesOf(ctx, desk.Filter{})
		if err != nil || len(ids) != 1 {
			t.Fatal(ids, err)
		}
		x.Reader = newer{x.Reader}
		for _, dry := range []bool{true, false, false} {
			var got []intake.Retriaged
			if err := x.Again(ctx, ids, 2, dry, func(r intake.Retriaged) error { got = append(got, r); return nil }); err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || len(got[0].Matches) != 2 || got[0].Skipped != "" {
				t.Fatalf("%+v", got)
			}
			var what []string
			for _, d := range got[0].Matches[0].Differences {
				what = append(what, d.What)
			}
			if text := strings.Join(what, " "); text == "" && len(ids) == 1 && got[0].Matches[1].New {
				t.Errorf("dry %v: nothing changed", dry)
			} else if text != "" && text != "tick system fingerprint group" {
				t.Errorf("dry %v: %s", dry, text)
			}
		}
		var times, reports int
		if err := x.Store.DB().QueryRow("SELECT max(times), count(*) FROM reports").Scan(&times, &reports); err != nil || times != 3 || reports != 2 {
			t.Errorf("triaged %d times, %d reports, %v; expected 3 and 2", times, reports, err)
		}
	})
}

// newer finds more than another reader.
type newer struct{ intake.Reader }

func (r newer) Read(ctx context.Context, path, name string) ([]*document.Report, error) {
	list, err := r.Reader.Read(ctx, path, name)
	if err != nil {
		return nil, err
	}
	tick := uint64(9)
	one := list[0]
	one.FirstDivergence = &document.FirstDivergence{Tick: &tick, System: "Combat", Archetypes: []string{}}
	one.Fingerprint = "finer"
	one.Fingerprints[1].Digest = "00000000000000ff"
	return append(list, document.NoReport(document.InSync, "")), nil
}
