package queue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/intake"
)

// Connections is how many connections to a PostgreSQL server a worker needs: one shows that it runs, and its bundles
// take turns with the other.
const Connections = 2

// Options configures a worker.
type Options struct {
	// Jobs is how many bundles it triages at once, at least 1.
	Jobs int
	// UntilEmpty ends it when there are no waiting or running jobs, in any worker.
	UntilEmpty bool
	// Stop is how long it may continue running jobs after it was stopped. 0 means half a minute. Jobs that are not done
	// by then return to the queue.
	Stop time.Duration
	// Log receives messages for the operator, a line each. It may be nil.
	Log func(line string)
	// Metrics counts the work. It may be nil.
	Metrics *Metrics
	// Look is the interval at which it checks which workers run. 0 means two seconds. A job returns to the queue after
	// three checks.
	Look time.Duration
}

// Summary is the result of a worker's run.
type Summary struct {
	Done  int // bundles that now have reports, or already had them
	Aside int // bundles that were set aside
	Tried int // times that a bundle could not be triaged here and is retried
	Later int // bundles that are retried later, in all workers
}

// Work triages waiting bundles until ctx is done, or until nothing is left if UntilEmpty is set. It is not an error if
// ctx is done.
func (q *Queue) Work(ctx context.Context, x *intake.Intake, o Options) (Summary, error) {
	w := &worker{Queue: q, intake: x, Options: o, running: map[int64]time.Time{}, missed: map[attempt]int{}}
	if w.Metrics == nil {
		w.Metrics = &Metrics{}
	}
	if w.Log == nil {
		w.Log = func(string) {}
	}
	w.Look = cmp.Or(w.Look, 2*time.Second)
	w.Stop = cmp.Or(w.Stop, 30*time.Second)
	var err error
	if w.life, err = q.live(ctx); err != nil {
		return Summary{}, err
	}
	err = w.work(ctx)
	err = errors.Join(err, w.life.Close())
	counts, errCount := q.Counts(context.WithoutCancel(ctx))
	s := w.Metrics.summary()
	s.Later = counts.Later
	return s, errors.Join(err, errCount)
}

// worker is the state of one call of Work.
type worker struct {
	*Queue
	Options
	intake *intake.Intake
	life   life

	// alone is locked exclusively while a suspect is read, and shared for all other bundles.
	alone sync.RWMutex

	mu      sync.Mutex
	running map[int64]time.Time // jobs of this process; the time is set when a job has ended but River must record it

	missed map[attempt]int // number of checks in which no worker had the job
	failed string          // result of the last check, so that it is logged only once
}

// attempt is one time that a job was taken.
type attempt struct {
	job    int64
	number int
}

// never is longer than any job runs. It disables River's own rescue, which depends on the clock.
const never = 100 * 365 * 24 * time.Hour

// How River looks for jobs: as soon as one is done, and a few times a second.
const (
	fetchCooldown = 2 * time.Millisecond
	fetchPoll     = 200 * time.Millisecond
	keptCompleted = time.Hour
)

func (w *worker) work(ctx context.Context) error {
	if _, err := w.Repair(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &triager{worker: w}); err != nil {
		return err
	}
	client, err := river.NewClient(w.driver, &river.Config{
		ID: w.life.id(), Logger: slog.New(slog.DiscardHandler), Workers: workers,
		Queues:     map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: max(1, w.Jobs)}},
		JobTimeout: -1, RescueStuckJobsAfter: never, MaxAttempts: math.MaxInt16, RetryPolicy: retries{w.store},
		FetchCooldown: fetchCooldown, FetchPollInterval: fetchPoll, CompletedJobRetentionPeriod: keptCompleted,
		PollOnly: true, Test: river.TestConfig{Time: w.clock},
	})
	if err != nil {
		return err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	w.watch(ctx)
	return w.stop(client)
}

// emptyEach is the interval at which a worker with UntilEmpty checks whether jobs are left.
const emptyEach = 200 * time.Millisecond

// watch maintains the queue until the worker is stopped.
func (w *worker) watch(ctx context.Context) {
	each := w.Look
	if w.UntilEmpty {
		each = min(each, emptyEach)
	}
	tick := time.NewTicker(each)
	defer tick.Stop()
	minute := time.Now()
	var looked time.Time
	for {
		var err error
		if time.Since(looked) >= w.Look {
			looked = time.Now()
			err = w.look(ctx)
			w.say(err)
		}
		if w.UntilEmpty && err == nil {
			if empty, err := w.empty(ctx); err == nil && empty {
				return
			}
		}
		if time.Since(minute) >= time.Minute {
			minute = time.Now()
			if counts, err := w.Counts(ctx); err == nil {
				w.Log(w.Metrics.line(counts))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// say logs once that the check fails, and once that it works again.
func (w *worker) say(err error) {
	now := ""
	if err != nil && !errors.Is(err, context.Canceled) {
		now = err.Error()
	}
	switch {
	case now != "" && w.failed == "":
		w.Log("the desk cannot be reached, and is tried again: " + now)
	case now == "" && w.failed != "":
		w.Log("the desk can be reached again")
	}
	w.failed = now
}

// look renews the life of this worker, returns the jobs of dead workers, and creates jobs for bundles without one.
func (w *worker) look(ctx context.Context) error {
	if err := w.life.keep(ctx); err != nil {
		return err
	}
	if err := w.rescue(ctx); err != nil {
		return err
	}
	_, err := w.empty(ctx)
	return err
}

// empty reports whether nothing is left to do.
func (w *worker) empty(ctx context.Context) (bool, error) {
	counts, err := w.Counts(ctx)
	if err != nil || counts.Waiting+counts.Running > 0 {
		return false, err
	}
	repaired, err := w.Repair(ctx)
	return repaired == 0, err
}

// givingBack is the minimum time that a stopped worker gets to return its jobs.
const givingBack = 30 * time.Second

// stop waits for running jobs, or returns them to the queue. It has its own time limit.
func (w *worker) stop(client *river.Client[*sql.Tx]) error {
	soft, end := context.WithTimeout(context.Background(), w.Stop)
	defer end()
	if err := client.Stop(soft); err == nil {
		return nil
	}
	hard, end := context.WithTimeout(context.Background(), max(w.Stop, givingBack))
	defer end()
	if err := client.StopAndCancel(hard); err != nil {
		return fmt.Errorf("a triage does not end; its bundle is given to another worker: %w", err)
	}
	return nil
}

// triager is called by River.
type triager struct {
	river.WorkerDefaults[job]
	*worker
}

// Work triages the bundle of a job.
func (w *triager) Work(ctx context.Context, j *river.Job[job]) error {
	w.begin(j.ID)
	start := time.Now()
	how, err := w.one(ctx, j)
	w.end(j.ID, err == nil)
	w.Metrics.count(how, time.Since(start))
	return err
}

func (w *worker) begin(job int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[job] = time.Time{}
}

// end records that a job is done, and whether the database knows it.
func (w *worker) end(job int64, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[job] = time.Now(); known {
		delete(w.running, job)
	}
}

// one triages the bundle of a job, and returns how that ended.
func (w *worker) one(ctx context.Context, j *river.Job[job]) (ending, error) {
	id := j.Args.Bundle
	times, err := w.store.Triages(ctx, id)
	if err != nil {
		return tried, err
	}
	b, err := w.store.BundleByID(ctx, id)
	switch {
	case errors.Is(err, fs.ErrNotExist): // deleted
		return w.complete(ctx, j, skipped, nil)
	case err != nil:
		return tried, err
	case b.State == desk.Aside, b.State == desk.Read && !j.Args.Again:
		return w.complete(ctx, j, skipped, nil)
	}
	suspect, alone, err := w.suspect(ctx, id)
	if err != nil {
		return tried, err
	}
	if !suspect {
		w.alone.RLock()
		defer w.alone.RUnlock()
		return w.triage(ctx, j, b, times)
	}
	w.alone.Lock()
	defer w.alone.Unlock()
	if alone >= mostAlone {
		return w.aside(ctx, j, b, fmt.Sprintf("its worker ended without a word %d times while it was read, the last %d times with nothing else to read", mostAlone+1, mostAlone))
	}
	if err := w.addAlone(ctx, id, 1); err != nil {
		return tried, err
	}
	how, err := w.triage(ctx, j, b, times)
	if how == tried || how == returned {
		err = errors.Join(err, w.addAlone(context.WithoutCancel(ctx), id, -1))
	}
	return how, err
}

// triage reads a bundle that had been triaged this many times, and writes the result, unless the bundle was deleted or
// another program triaged it meanwhile.
func (w *worker) triage(ctx context.Context, j *river.Job[job], b *desk.Bundle, times int64) (ending, error) {
	found, err := w.intake.Stored(ctx, b)
	aside := (*intake.AsideError)(nil)
	switch {
	case errors.As(err, &aside) && b.State == desk.Read: // the previous result stays
		if now, err := w.store.BundleByID(ctx, b.ID); err == nil && now.Kept == b.Kept {
			w.Log(fmt.Sprintf("%s: %s; its reports stay as they are", b.Name, aside.Why))
		}
		return w.complete(ctx, j, skipped, nil)
	case errors.As(err, &aside):
		return w.aside(ctx, j, b, aside.Why)
	case ctx.Err() != nil:
		return returned, river.JobSnooze(0)
	case err != nil:
		w.Log(fmt.Sprintf("%s: %v; it is tried again", b.Name, err))
		return tried, err
	}
	how, err := w.complete(ctx, j, skipped, func(ctx context.Context, tx *desk.Tx) (ending, error) {
		ours, err := false, error(nil)
		if b.State == desk.Waiting {
			ours, err = tx.Claim(ctx, b.ID)
		} else {
			ours, err = tx.ClaimAgain(ctx, b.ID, times)
		}
		if err != nil || !ours {
			return skipped, err
		}
		_, err = found.Write(ctx, tx, b.ID, w.intake.Tool)
		return done, err
	})
	if err == nil && how == done {
		if found.Copy == nil && len(found.Names) > 0 {
			w.Log(fmt.Sprintf("bundle %d: names of players may be left: %s", b.ID, found.Names[0]))
		}
		if err := w.intake.Replaced(ctx, b, found); err != nil { // desk prune deletes the rest
			w.Log(fmt.Sprintf("%s: its result is not deleted: %v", b.Name, err))
		}
	}
	return how, err
}

// aside sets a bundle aside, unless it no longer waits.
func (w *worker) aside(ctx context.Context, j *river.Job[job], b *desk.Bundle, why string) (ending, error) {
	how, err := w.complete(ctx, j, skipped, func(ctx context.Context, tx *desk.Tx) (ending, error) {
		if waits, err := tx.Claim(ctx, b.ID); err != nil || !waits {
			return skipped, err
		}
		return aside, tx.SetAside(ctx, b.ID, why)
	})
	if err == nil && how == aside {
		w.Log(fmt.Sprintf("bundle %d is set aside: %s", b.ID, why))
	}
	return how, err
}

// writing is how long a stopped worker may take to write its results.
const writing = time.Minute

// complete ends a job in the transaction that writes its results. It returns the ending from write, or how if write is
// nil. If the job no longer belongs to this worker and another one has done it, nothing is written.
func (w *worker) complete(ctx context.Context, j *river.Job[job], how ending, write func(context.Context, *desk.Tx) (ending, error)) (ending, error) {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), writing)
	defer end()
	err := w.store.Write(ctx, func(tx *desk.Tx) error {
		_, err := river.JobCompleteTx[riverdriver.Driver[*sql.Tx]](ctx, tx.Tx, j)
		if err != nil {
			return err
		}
		if err := clearSuspect(ctx, tx, j.Args.Bundle); err != nil {
			return err
		}
		if write == nil {
			return nil
		}
		how, err = write(ctx, tx)
		return err
	})
	if errors.Is(err, rivertype.ErrNotFound) { // another worker may take it, or it is done
		return lost, errLost
	}
	if err != nil {
		return tried, err
	}
	return how, nil
}

// errLost is the error of a job that another worker has. River records it only for a job that runs.
var errLost = errors.New("another worker has the job")

// retries determines when jobs are retried.
type retries struct{ store *desk.Store }

// NextRetry returns when a failed job is retried: after a second, then four times as long each time, at most ten
// minutes.
func (r retries) NextRetry(j *rivertype.JobRow) time.Time {
	wait := time.Second
	for range min(len(j.Errors), 6) {
		wait *= 4
	}
	return r.store.Now().Add(min(wait, 10*time.Minute))
}
