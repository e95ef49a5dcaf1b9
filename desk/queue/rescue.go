package queue

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/lists"
)

// patience is the number of consecutive checks in which no worker has a job before the job returns to the queue. A
// restarted database server knows its workers only after a moment.
const patience = 3

// mostRunning is how many running jobs are checked.
const mostRunning = 10_000

// rescue returns jobs to the queue that no worker runs: jobs of workers that have ended, and jobs that the server
// assigned to this worker in an answer that was lost.
func (w *worker) rescue(ctx context.Context) error {
	list, err := w.driver.GetExecutor().JobGetStuck(ctx, &riverdriver.JobGetStuckParams{Max: mostRunning, StuckHorizon: time.Now().Add(never)})
	if err != nil || len(list) == 0 {
		clear(w.missed)
		return err
	}
	ids := lists.Map(list, lastOf)
	alive, err := w.life.alive(ctx, ids)
	if err != nil {
		return err
	}
	before := w.missed
	w.missed = map[attempt]int{}
	for _, j := range list {
		own := lastOf(j) == w.life.id()
		if own && w.runs(j.ID) || !own && alive[lastOf(j)] {
			continue
		}
		a := attempt{j.ID, j.Attempt}
		if w.missed[a] = before[a] + 1; w.missed[a] < patience {
			continue
		}
		if err := w.giveBack(ctx, j, !own); err != nil {
			return err
		}
	}
	return nil
}

// toEnd is how long River may take to record that a job failed: three tries of ten seconds.
const toEnd = 45 * time.Second

// runs reports whether this process runs a job.
func (w *worker) runs(job int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	ended, ok := w.running[job]
	if ok && !ended.IsZero() && time.Since(ended) > toEnd {
		delete(w.running, job)
		return false
	}
	return ok
}

// lastOf returns the worker that took a job last.
func lastOf(j *rivertype.JobRow) string {
	if len(j.AttemptedBy) == 0 {
		return ""
	}
	return j.AttemptedBy[len(j.AttemptedBy)-1]
}

// giveBack returns a job to its place in the queue. If its worker died, its bundle becomes a suspect.
func (w *worker) giveBack(ctx context.Context, j *rivertype.JobRow, died bool) error {
	var args job
	if err := json.Unmarshal(j.EncodedArgs, &args); err != nil {
		return err
	}
	why, err := json.Marshal(rivertype.AttemptError{At: w.store.Now(), Attempt: j.Attempt, Error: "its worker " + lastOf(j) + " does not run any more"})
	if err != nil {
		return err
	}
	return w.store.Write(ctx, func(tx *desk.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE river_job SET priority = priority WHERE id = $1 AND state = 'running' AND attempt = $2`, j.ID, j.Attempt)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err // it is done, or another worker was first
		}
		_, err = w.driver.UnwrapExecutor(tx.Tx).JobRescueMany(ctx, &riverdriver.JobRescueManyParams{
			ID: []int64{j.ID}, Error: [][]byte{why}, FinalizedAt: []*time.Time{nil}, ScheduledAt: []time.Time{j.ScheduledAt}, State: []string{string(rivertype.JobStateAvailable)},
			StuckHorizon: time.Now().Add(never),
		})
		if died {
			err = errors.Join(err, addSuspect(ctx, tx, args.Bundle))
		}
		return err
	})
}
