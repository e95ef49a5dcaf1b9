//go:build unix

package queue_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/queue"
)

// TestConnections: four workers triage as a role that may have eight connections, without an error.
func TestConnections(t *testing.T) {
	ctx := context.Background()
	server := desktest.Start(t)
	where := server.Database(t)
	blobDir := filepath.Join(t.TempDir(), "blobs")
	all, err := sql.Open("pgx", desktest.Plain(where))
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	all.SetMaxOpenConns(1)
	if _, err := all.Exec("CREATE ROLE few LOGIN CONNECTION LIMIT 8; GRANT CREATE ON SCHEMA public TO few"); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	u.User, u.RawQuery = url.User("few"), "sslmode=disable" // the default is in question
	d := open(t, u.String(), blobDir, desk.Options{})
	const bundles = 60
	for i := range bundles {
		d.send(t, "a.txt", bundleText(i))
	}
	if err := d.Store.Close(); err != nil {
		t.Fatal(err)
	}
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			store, err := desk.Open(ctx, u.String(), desk.Options{Connections: queue.Connections})
			if err != nil {
				t.Error(err)
				return
			}
			defer store.Close()
			kept, err := blobs.Open(blobDir)
			if err != nil {
				t.Error(err)
				return
			}
			q, err := queue.Open(ctx, store)
			if err != nil {
				t.Error(err)
				return
			}
			x := &intake.Intake{Store: store, Blobs: kept, Reader: &toy{pause: 5 * time.Millisecond}, Tool: "test", Source: "test"}
			s, err := q.Work(ctx, x, queue.Options{Jobs: 4, UntilEmpty: true, Look: 20 * time.Millisecond, Log: func(line string) { t.Errorf("a worker: %s", line) }})
			if err != nil || s.Tried > 0 || s.Aside > 0 {
				t.Errorf("%+v %v", s, err)
			}
		})
	}
	most := 0
	over := make(chan struct{})
	go func() {
		workers.Wait()
		close(over)
	}()
	for ended := false; !ended; {
		var n int
		if err := all.QueryRow("SELECT count(*) FROM pg_stat_activity WHERE usename = 'few'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		most = max(most, n)
		select {
		case <-over:
			ended = true
		case <-time.After(5 * time.Millisecond):
		}
	}
	if most < 5 || most > 8 {
		t.Errorf("at most %d connections at once, expected 5 to 8", most)
	}
	checkCounts(t, open(t, where, blobDir, desk.Options{}), bundles)
}

// TestOlderQueue: a bundle that a program with an older River has queued is triaged, in tables that are brought forward.
func TestOlderQueue(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		store, err := desk.Open(ctx, where, desk.Options{Create: true, Unsynced: true})
		if err != nil {
			t.Fatal(err)
		}
		const old = 6 // the version of River 0.31
		o := &rivermigrate.MigrateOpts{TargetVersion: old}
		if store.Kind() == desk.Postgres {
			m, err1 := rivermigrate.New(riverdatabasesql.New(store.DB()), nil)
			_, err2 := m.Migrate(ctx, rivermigrate.DirectionUp, o)
			err = errors.Join(err1, err2)
		} else {
			m, err1 := rivermigrate.New(riversqlite.New(store.DB()), nil)
			_, err2 := m.Migrate(ctx, rivermigrate.DirectionUp, o)
			err = errors.Join(err1, err2)
		}
		if err != nil {
			t.Fatal(err)
		}
		kept, err := blobs.Open(filepath.Join(t.TempDir(), "blobs"))
		if err != nil {
			t.Fatal(err)
		}
		x := &intake.Intake{Store: store, Blobs: kept, Reader: &toy{}, Tool: "test", Source: "test"}
		k, err := x.Keep(ctx, intake.Source{Name: "a.txt", Content: strings.NewReader(bundleText(1))})
		if err != nil {
			t.Fatal(err)
		}
		var id int64
		err = store.Write(ctx, func(tx *desk.Tx) error {
			b, _, err := tx.Receive(ctx, k.Bundle, desk.Receipt{Name: "a.txt"})
			if err != nil {
				return err
			}
			id = b.ID
			for _, text := range []string{
				"CREATE TABLE queue_suspects (bundle_id BIGINT NOT NULL PRIMARY KEY, alone BIGINT NOT NULL)",
				fmt.Sprintf(`INSERT INTO river_job (args, kind, max_attempts, priority, queue, state) VALUES ('{"bundle":%d}', 'bundle', 25, 2, 'default', 'available')`, id),
			} {
				if _, err := tx.Exec(text); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(err, k.Close()); err != nil {
			t.Fatal(err)
		}
		q, err := queue.Open(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		var version int
		if err := store.DB().QueryRow("SELECT max(version) FROM river_migration").Scan(&version); err != nil || version <= old {
			t.Errorf("version %d %v, expected a later one than %d", version, err, old)
		}
		if busy, err := queue.Busy(ctx, store); err != nil || len(busy) != 1 || busy[0] != id {
			t.Errorf("busy: %v %v", busy, err)
		}
		d := &desk1{x, q, x.Reader.(*toy)}
		if s := d.work(t, queue.Options{}); s.Done == 0 || d.state(t, id) != desk.Read || d.number(t, "SELECT count(*) FROM reports") != 1 {
			t.Errorf("%+v", s)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
}
