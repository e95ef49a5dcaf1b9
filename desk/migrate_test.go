//go:build unix

package desk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// openVariable has a test binary open the store that it names, which makes it or goes on with that.
const openVariable = "DESYNCTOOL_TEST_OPEN_DESK"

// openNamed is what such a process does.
func openNamed(where string) int {
	s, err := desk.Open(context.Background(), where, desk.Options{Create: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// schema is what there is in a database.
func schema(t *testing.T, s *desk.Store) []string {
	if s.Kind() == desk.Postgres {
		return rows(t, s.DB(), `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2`)
	}
	return rows(t, s.DB(), `SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2`)
}

// TestMigrationKilled: programs that are killed while they make a store leave one that the next goes
// on with, and that has the schema of one made at once.
func TestMigrationKilled(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		random := rand.New(rand.NewPCG(1, 2))
		for range kill.Times() {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), openVariable+"="+where)
			// Most are killed before they end: the first ones while they make tables.
			if _, _, err := kill.After(cmd, time.Duration(random.IntN(60_000))*time.Microsecond); err != nil {
				t.Fatal(err)
			}
		}
		s := open(t, where)
		whole := open(t, fresh(t, s))
		if got, want := schema(t, s), schema(t, whole); !slices.Equal(got, want) || len(want) < 10 {
			t.Errorf("%d columns, expected %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		}
	})
}

// fresh returns where another store of the same kind may be made.
func fresh(t *testing.T, s *desk.Store) string {
	if s.Kind() == desk.Postgres {
		return desktest.Database(t)
	}
	return t.TempDir()
}

// TestNewer: a store of a newer program is refused, and not changed.
func TestNewer(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		if _, err := s.DB().Exec(`INSERT INTO desk_versions (version) VALUES (999)`); err != nil {
			t.Fatal(err)
		}
		_, err := desk.Open(context.Background(), where, desk.Options{Create: true})
		var newer *desk.NewerError
		if !errors.As(err, &newer) || newer.Has != 999 || newer.Knows < 1 || !strings.Contains(err.Error(), "use a newer desynctool") {
			t.Error(err)
		}
	})
}

// TestMissing: a store that is not there is made only by a caller that asks for it.
func TestMissing(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		var missing *desk.MissingError
		if _, err := desk.Open(context.Background(), where, desk.Options{}); !errors.As(err, &missing) {
			t.Fatal(err)
		}
		open(t, where)
		s, err := desk.Open(context.Background(), where, desk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
	})
}

// TestTogether: several who have one store open write to it at once, and none is refused.
func TestTogether(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		const writers, each = 4, 12
		var wait sync.WaitGroup
		for w := range writers {
			s := open(t, where)
			wait.Go(func() {
				for i := range each {
					// All make the same groups, builds and traits.
					step := fmt.Sprint("Step", i%5)
					err := s.Write(context.Background(), func(tx *desk.Tx) error {
						hash := fmt.Sprint(w, " ", i)
						b, _, err := tx.Receive(context.Background(), desk.Bundle{Hash: hash, Name: hash, Kept: hash}, desk.Receipt{Name: hash, Source: "test"})
						if err != nil {
							return err
						}
						_, err = tx.Put(context.Background(), b.ID, "test", []desk.Reading{{Report: diverged(step, "Health.hp", "s1", fmt.Sprint("1.", i%3), "linux")}})
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		s := open(t, where)
		agree(t, s.DB())
		if got := rows(t, s.DB(), `SELECT count(*), sum(reports) FROM groups`); !slices.Equal(got, []string{fmt.Sprint(5, " ", writers*each)}) {
			t.Error(got)
		}
	})
}
