//go:build unix

package desk_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"

	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(openVariable); where != "" {
		os.Exit(openNamed(where))
	}
	if err := flag.Set("rapid.checks", fmt.Sprint(effort.Of(3, effort.Long(25, 60)))); err != nil { // each opens a store
		panic(err)
	}
	os.Exit(desktest.Main(m))
}

// clock does not move.
func clock() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// open opens a store with a clock that does not move.
func open(t *testing.T, where string) *desk.Store {
	t.Helper()
	s, err := desk.Open(context.Background(), where, desk.Options{Create: true, Now: clock, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// emptied opens the nth store for a property: a folder next to the named one, or the database without its content.
func emptied(t *rapid.T, where string, n int) *desk.Store {
	if !desk.IsURL(where) {
		where = fmt.Sprint(where, n)
	}
	s, err := desk.Open(context.Background(), where, desk.Options{Create: true, Now: clock, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if s.Kind() == desk.Postgres {
		tables := rows(t, s.DB(), `SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'desk_versions'`)
		if _, err := s.DB().Exec("TRUNCATE " + strings.Join(tables, ", ") + " RESTART IDENTITY CASCADE"); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// diverged is a report of a bug that has a place and a field.
func diverged(step, field, strict, build, os string) *document.Report {
	r := document.NoReport(document.Diverged, "host and client diverged")
	r.Error = ""
	r.Session = document.Session{Game: "arena", Build: build, Seed: "0000000000000007", Played: &document.Played{First: "2026-02-03T10:00:00Z", Last: "2026-02-03T10:30:00Z", By: "the header"}}
	r.Peers = []document.TriagedPeer{{Name: "host", Group: 1}, {Name: "client", Group: 2}}
	tick := uint64(77)
	r.FirstDivergence = &document.FirstDivergence{Tick: &tick, Exact: true, Archetypes: []string{}}
	r.Fingerprint = strict
	r.Fingerprints = []document.Fingerprint{
		{Level: document.LevelKind, Name: "arena state", Digest: "00000000000000aa"},
		{Level: document.LevelStep, Name: step, Digest: "5" + digest(step)},
		{Level: document.LevelField, Name: field, Digest: "f" + digest(field)},
	}
	r.Stated = []document.Fact{{Name: "os", Values: map[string]string{"host": "linux", "client": os}}}
	return r
}

// digest is 15 hex digits of a short name.
func digest(name string) string {
	const hex = "0123456789abcdef"
	out := []byte("000000000000000")
	for i := range min(len(name), 7) {
		out[2*i], out[2*i+1] = hex[name[i]>>4], hex[name[i]&15]
	}
	return string(out)
}

// failing is a test, or a property that is checked.
type failing interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// receive writes that a bundle came.
func receive(t failing, s *desk.Store, hash string) (bundle *desk.Bundle, isNew bool) {
	t.Helper()
	err := s.Write(context.Background(), func(tx *desk.Tx) (err error) {
		bundle, isNew, err = tx.Receive(context.Background(), desk.Bundle{Hash: hash, Name: hash + ".zip", Bytes: 10, Kept: hash, KeptBytes: 5}, desk.Receipt{Name: hash + ".zip", Source: "desk add"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bundle, isNew
}

func put(t failing, s *desk.Store, bundle int64, list ...*document.Report) (changes []desk.Change) {
	t.Helper()
	err := s.Write(context.Background(), func(tx *desk.Tx) (err error) {
		var readings []desk.Reading
		for _, r := range list {
			readings = append(readings, desk.Reading{Report: r, Complete: 50})
		}
		changes, err = tx.Put(context.Background(), bundle, "test", readings)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// TestPut: reports of one place and field belong to one group, the same bundle twice is one bundle, and a bundle that
// is read again replaces its earlier reading.
func TestPut(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		a, isNew := receive(t, s, "a")
		if !isNew || a.State != desk.Waiting {
			t.Fatalf("%+v %v", a, isNew)
		}
		first := put(t, s, a.ID, diverged("Combat", "Health.hp", "s1", "1.4.2", "linux"))
		if again, isNew := receive(t, s, "a"); isNew || again.ID != a.ID || again.State != desk.Read {
			t.Fatalf("%+v %v", again, isNew)
		}
		b, _ := receive(t, s, "b")
		second := put(t, s, b.ID, diverged("Combat", "Health.hp", "s2", "1.4.10", "windows"), diverged("Movement", "Position.x", "", "1.4.2", "linux"))
		if !first[0].NewGroup || second[0].NewGroup || !second[1].NewGroup || first[0].Group != second[0].Group || first[0].Group == second[1].Group || len(first[0].Group) != 8 {
			t.Fatalf("%+v %+v", first, second)
		}
		again := put(t, s, b.ID, diverged("Movement", "Position.x", "", "1.4.2", "linux"))
		if len(again) != 1 || again[0].NewGroup || again[0].Before == nil || again[0].Before.Fingerprint != "s2" || again[0].Group != second[1].Group || again[0].Report != second[0].Report {
			t.Fatalf("%+v", again)
		}
		if reopened, err := desk.Open(context.Background(), where, desk.Options{}); err != nil {
			t.Fatal(err)
		} else if err := reopened.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
