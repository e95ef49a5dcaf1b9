// Package queue hands bundles that wait to workers, on one machine or on many.
//
// A job of River (riverqueue.com) is a row in the database of the desk. It is inserted in the
// transaction that writes that the bundle came, and is completed in the one that writes its
// reports: of workers that triage the same bundle, because one was taken for dead, the
// first that is done writes, and the others find the job completed and write nothing. No clock decides that.
//
// Which worker runs is known by a lock that the system takes from a process that ends, however it ends:
// of a file in the folder of the desk, or of the PostgreSQL server for a connection. The job of a worker that
// does not run goes back to the queue after a few looks. River's own rescue, which goes by the
// clock and by an hour, is not used.
//
// A bundle that was read while its worker died is a suspect. It is read while its worker reads nothing
// else, and that is written down before: when a suspect has been begun twice like that and never ended, three
// workers have died of it, the last two of nothing else, and it is set aside.
package queue

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/desynctool/desynctool/desk"
)

// Priorities of jobs, from the first to the last.
const (
	First = 1 // bundles of the newest build
	Usual = 2 // bundles of which nobody has said the build
	Later = 3 // bundles of older builds
	Last  = 4 // bundles that are triaged anew
)

// Queue is the queue of a store. Its methods may be called at once.
type Queue struct {
	store  *desk.Store
	driver riverdriver.Driver[*sql.Tx]
	insert *river.Client[*sql.Tx]
	// clock is what River takes for the time, nil for that of the machine or of the server.
	clock rivertype.TimeGenerator
}

// job is what a worker is given.
type job struct {
	Bundle int64 `json:"bundle" river:"unique"`
	// Again says that the bundle is to be triaged though it has reports.
	Again bool `json:"again,omitempty"`
}

// Kind is the name of such jobs.
func (job) Kind() string { return "bundle" }

// Open opens the queue of a store. Its tables are made when that is done for the first time; what was interrupted
// then goes on where it was.
func Open(ctx context.Context, store *desk.Store) (*Queue, error) {
	q := &Queue{store: store}
	if store.Kind() == desk.Postgres {
		q.driver = riverdatabasesql.New(store.DB())
	} else {
		q.driver = riversqlite.New(store.DB())
	}
	if err := q.migrate(ctx); err != nil {
		return nil, fmt.Errorf("%s: the queue: %w", store.Where(), err)
	}
	var err error
	q.insert, err = river.NewClient(q.driver, &river.Config{Logger: slog.New(slog.DiscardHandler), MaxAttempts: math.MaxInt16})
	return q, err
}

// migrate makes the tables. Each version is a transaction with the row that says so; what another process did
// at the same time is an error of one of both, and is there when it tries again.
func (q *Queue) migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(q.driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		if err = q.migrateOnce(ctx, migrator); err == nil || try == 10 {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * 50 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (q *Queue) migrateOnce(ctx context.Context, migrator *rivermigrate.Migrator[*sql.Tx]) error {
	there, err := q.hasSuspects(ctx)
	if err != nil || there {
		return err // they are made last
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return q.store.Write(ctx, func(tx *desk.Tx) error {
		_, err := tx.ExecContext(ctx, createSuspects)
		return err
	})
}

// Receive writes that a bundle came, which is on stable storage already, and has it triaged if it waits for that:
// both or nothing. One that waits has one job however often it comes.
func (q *Queue) Receive(ctx context.Context, b desk.Bundle, r desk.Receipt, priority int) (bundle *desk.Bundle, isNew bool, err error) {
	err = q.store.Write(ctx, func(tx *desk.Tx) (err error) {
		if bundle, isNew, err = tx.Receive(ctx, b, r); err != nil || bundle.State != desk.Waiting {
			return err
		}
		_, err = q.add(ctx, tx, job{Bundle: bundle.ID}, priority)
		return err
	})
	return bundle, isNew, err
}

// Enqueue has a bundle that waits triaged, in the transaction that writes that it came. One that waits has one
// job however often that is said.
func (q *Queue) Enqueue(ctx context.Context, tx *desk.Tx, bundle int64, priority int) error {
	_, err := q.add(ctx, tx, job{Bundle: bundle}, priority)
	return err
}

// add inserts a job, unless its bundle has one.
func (q *Queue) add(ctx context.Context, tx *desk.Tx, j job, priority int) (isNew bool, err error) {
	result, err := q.insert.InsertTx(ctx, tx.Tx, j, &river.InsertOpts{Priority: priority, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished}})
	if err != nil {
		return false, err
	}
	return !result.UniqueSkippedAsDuplicate, nil
}

// unfinished are the states of jobs that are to be done.
var unfinished = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}

// PriorityOf returns the priority of a bundle of a build: First for the newest that the store knows, or
// a newer one; Usual if the build is not known.
func (q *Queue) PriorityOf(ctx context.Context, build string) (int, error) {
	if build == "" {
		return Usual, nil
	}
	newest, err := q.store.NewestBuild(ctx)
	switch {
	case err != nil:
		return 0, err
	case newest.Name == "" || desk.CompareBuilds(desk.Build{Name: build}, desk.Build{Name: newest.Name}) >= 0:
		return First, nil
	}
	return Later, nil
}

// Again has bundles triaged that have reports, and returns how many; those that have a job have no second one.
func (q *Queue) Again(ctx context.Context, bundles []int64) (n int, err error) {
	for _, id := range bundles {
		err := q.store.Write(ctx, func(tx *desk.Tx) error {
			isNew, err := q.add(ctx, tx, job{Bundle: id, Again: true}, Last)
			if isNew {
				n++
			}
			return err
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// many is how many rows are read at a time.
const many = 500

// RetryAside has bundles triaged that were set aside, and returns how many.
func (q *Queue) RetryAside(ctx context.Context) (n int, err error) {
	err = q.each(ctx, desk.Aside, func(b *desk.Bundle) error {
		return q.store.Write(ctx, func(tx *desk.Tx) error {
			if aside, err := tx.TryAgain(ctx, b.ID); err != nil || !aside {
				return err
			}
			if err := clearSuspect(ctx, tx, b.ID); err != nil {
				return err
			}
			n++
			_, err := q.add(ctx, tx, job{Bundle: b.ID}, Later)
			return err
		})
	})
	return n, err
}

// Repair gives a job to every bundle that waits and has none, as one has that a desk add could not triage on its
// machine, and returns how many these were.
func (q *Queue) Repair(ctx context.Context) (n int, err error) {
	err = q.each(ctx, desk.Waiting, func(b *desk.Bundle) error {
		return q.store.Write(ctx, func(tx *desk.Tx) error {
			if waits, err := tx.Claim(ctx, b.ID); err != nil || !waits {
				return err
			}
			isNew, err := q.add(ctx, tx, job{Bundle: b.ID}, Usual)
			if isNew {
				n++
			}
			return err
		})
	})
	return n, err
}

func (q *Queue) each(ctx context.Context, state desk.State, f func(*desk.Bundle) error) error {
	for after := int64(0); ; {
		list, err := q.store.BundlesIn(ctx, state, after, many)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, b := range list {
			if err := f(b); err != nil {
				return err
			}
			after = b.ID
		}
	}
}

// Counts is how many jobs there are.
type Counts struct {
	Waiting int // for a worker
	Running int
	Later   int // that could not be done and are tried again later
}

// Counts counts the jobs that are to be done.
func (q *Queue) Counts(ctx context.Context) (c Counts, err error) {
	rows, err := q.store.DB().QueryContext(ctx, `SELECT state, count(*) FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled') GROUP BY state`)
	if err != nil {
		return c, err
	}
	defer rows.Close()
	for rows.Next() {
		var state rivertype.JobState
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return c, err
		}
		switch state {
		case rivertype.JobStateRunning:
			c.Running += n
		case rivertype.JobStateRetryable, rivertype.JobStateScheduled:
			c.Later += n
		default:
			c.Waiting += n
		}
	}
	return c, rows.Err()
}
