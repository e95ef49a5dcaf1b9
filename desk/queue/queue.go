// Package queue gives waiting bundles to workers, on one machine or on many.
//
// A job of River (riverqueue.com) is a row in the desk's database. It is inserted in the transaction that records the
// bundle's arrival, and completed in the transaction that writes its reports. Two workers may triage the same bundle if
// one was wrongly considered dead. The first that finishes writes; the other finds the job completed and writes
// nothing. This does not depend on clocks.
//
// A lock shows whether a worker runs: a lock on a file in the desk's folder, or a lock of a connection to the
// PostgreSQL server. The system releases it when the process ends in any way. If a worker does not run, its job returns
// to the queue after a few checks. River's own rescue is not used, because it depends on the clock and takes an hour.
//
// A bundle whose worker died while reading it is a suspect. A worker reads a suspect only while it reads nothing else,
// and records that first. If a suspect was started twice in this way and never ended, three workers have died, the last
// two because of nothing else. The suspect is then set aside.
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

// Priorities of jobs, highest first.
const (
	First = 1 // bundles of the newest build
	Usual = 2 // bundles without a known build
	Later = 3 // bundles of older builds
	Last  = 4 // bundles that are triaged again
)

// Queue is the queue of a store. Its methods are safe for concurrent use.
type Queue struct {
	store  *desk.Store
	driver riverdriver.Driver[*sql.Tx]
	insert *river.Client[*sql.Tx]
	// clock is River's clock, nil for the clock of the machine or of the server.
	clock rivertype.TimeGenerator
}

// job is the data of a job for a worker.
type job struct {
	Bundle int64 `json:"bundle" river:"unique"`
	// Again means that the bundle is to be triaged although it has reports.
	Again bool `json:"again,omitempty"`
}

// Kind is the name of this type of jobs.
func (job) Kind() string { return "bundle" }

// Open opens the queue of a store. The first call creates its tables, or updates an older program's, and continues if
// that was interrupted.
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

// migrate creates the tables. Each version is one transaction, together with the row that records it. If another
// process does the same at the same time, one of them gets an error, and finds the version when it tries again.
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
	there, err := q.hasSuspects(ctx) // they are created last
	if err != nil {
		return err
	}
	if there {
		has, err := migrator.ExistingVersions(ctx)
		if all := migrator.AllVersions(); err != nil || len(has) == len(all) {
			return err
		}
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return q.store.Write(ctx, func(tx *desk.Tx) error {
		_, err := tx.ExecContext(ctx, createSuspects)
		return err
	})
}

// Receive records the arrival of a bundle that is already on stable storage, and queues it if it waits. It does both or
// neither. A waiting bundle has one job, however often it arrives.
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

// Enqueue queues a waiting bundle, in the transaction that records its arrival. A waiting bundle has one job, however
// often Enqueue is called.
func (q *Queue) Enqueue(ctx context.Context, tx *desk.Tx, bundle int64, priority int) error {
	_, err := q.add(ctx, tx, job{Bundle: bundle}, priority)
	return err
}

// add inserts a job, unless its bundle already has one.
func (q *Queue) add(ctx context.Context, tx *desk.Tx, j job, priority int) (isNew bool, err error) {
	result, err := q.insert.InsertTx(ctx, tx.Tx, j, &river.InsertOpts{Priority: priority, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinished}})
	if err != nil {
		return false, err
	}
	return !result.UniqueSkippedAsDuplicate, nil
}

// unfinished are the states of unfinished jobs.
var unfinished = []rivertype.JobState{rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled}

// PriorityOf returns the priority for bundles of a build: First for the newest build in the store or a newer one, Usual
// if the build is not known.
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

// Again queues bundles that already have reports, and returns their number. Bundles with a job do not get a second one.
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

// RetryAside queues all bundles that were set aside, and returns their number.
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

// Repair creates a job for every waiting bundle without one, and returns their number. A bundle lacks a job, for
// example, if desk add could not triage it on its machine.
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

// Counts counts jobs.
type Counts struct {
	Waiting int // for a worker
	Running int
	Later   int // failed and to be retried later
}

// Counts counts the unfinished jobs.
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
