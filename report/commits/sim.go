package commits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/gitbisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Sim tests a commit by a simulator that is built from it, which replays a log. Without Modes, or with golden hashes,
// it is compared with these; in each of Modes it has to agree with itself.
type Sim struct {
	Spec    string        // as on a command line; paths are relative to the commit's folder
	Request time.Duration // how long one request may take, 0 for the default
	Timeout time.Duration // of a whole run, 0 for none

	Session *bundle.Replayable
	// Expect are golden hashes; nil are those that the good end gives.
	Expect map[uint64]merkle.Short
	Modes  []bisect.TrialOptions

	name string
}

// SimTest returns the test by a simulator, which is identified by the files that the log and the
// golden hashes were read from as well; expect is empty without golden hashes.
func SimTest(sim Sim, log, expect string) (*Sim, error) {
	if _, module := simulators.Module(sim.Spec); !simulators.Program(sim.Spec) && !module {
		return nil, fmt.Errorf("--sim %s is the same in every commit: with --git it is exec:COMMAND, exec+unix:COMMAND, exec+tcp:COMMAND or wasm:FILE", sim.Spec)
	}
	name := "sim " + sim.Spec
	for _, m := range sim.Modes {
		name += fmt.Sprintf(" %s %d", m.Mode, m.Runs)
	}
	for _, file := range []string{log, expect} {
		sum := ""
		if file != "" {
			var err error
			if sum, err = digest(existing(file)); err != nil {
				return nil, err
			}
		}
		name += " " + sum
	}
	sim.name = name
	return &sim, nil
}

// Name implements gitbisect.Test.
func (t *Sim) Name() string { return t.name }

// What implements gitbisect.Test.
func (t *Sim) What() string { return t.Spec }

// Run implements gitbisect.Test.
func (t *Sim) Run(ctx context.Context, store *gitbisect.Store, dir string, c gitbisect.Commit, golden bool) (gitbisect.Verdict, string, error) {
	limited := ctx
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, t.Timeout)
		defer cancel()
	}
	sim, err := simulators.Parse(limited, t.Spec, simulators.Options{Timeout: t.Request, Dir: dir, Env: []string{gitbisect.CommitVar + "=" + c.ID}})
	if err != nil {
		return gitbisect.Skipped, err.Error(), ctx.Err()
	}
	verdict, why, err := t.replays(store, sim, golden)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case limited.Err() != nil:
		return gitbisect.Skipped, fmt.Sprintf("it took longer than %v", t.Timeout), nil
	case errors.As(err, new(*storeError)):
		return "", "", err
	case err != nil:
		return gitbisect.Skipped, err.Error(), nil
	}
	return verdict, why, nil
}

// storeError is an error of our own files, which shows nothing about a commit.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// replays replays the log in each way that was asked for, until one departs. An error reports that the commit's
// simulator cannot be tested.
func (t *Sim) replays(store *gitbisect.Store, sim *bisect.Sim, golden bool) (gitbisect.Verdict, string, error) {
	var said []string
	if len(t.Modes) == 0 || t.Expect != nil {
		verdict, why, err := t.plain(store, sim, golden)
		if err != nil || verdict != gitbisect.Good {
			return verdict, why, err
		}
		said = append(said, why)
	}
	for _, mode := range t.Modes {
		verdict, why, err := t.try(sim, mode)
		if err != nil || verdict != gitbisect.Good {
			return verdict, why, err
		}
		said = append(said, why)
	}
	return gitbisect.Good, strings.Join(said, "; "), nil
}

// plain compares a replay with the golden hashes, or makes them.
func (t *Sim) plain(store *gitbisect.Store, sim *bisect.Sim, golden bool) (gitbisect.Verdict, string, error) {
	expect := t.Expect
	if expect == nil {
		var err error
		path := store.Path(goldenName)
		if _, errStat := os.Lstat(path); errors.Is(errStat, fs.ErrNotExist) && golden {
			return t.make(path, sim)
		}
		if expect, err = formats.ReadHashes(files.Disk, path); err != nil {
			return "", "", &storeError{err}
		}
	}
	return t.try(sim, bisect.TrialOptions{Mode: bisect.Plain, Expect: expect})
}

// make makes the golden hashes.
func (t *Sim) make(path string, sim *bisect.Sim) (gitbisect.Verdict, string, error) {
	var trial *bisect.Trial
	points := 0
	err := formats.WriteHashes(path, &t.Session.Log.Header, func(observe formats.HashWriter) (err error) {
		trial, err = bisect.Try(t.Session.Log, sim, bisect.TrialOptions{
			Mode: bisect.Plain, Expect: map[uint64]merkle.Short{}, Snapshots: t.Session.Snapshots,
			Observe: func(point uint64, hash merkle.Short) error {
				points++
				return observe(point, hash)
			},
		})
		if err == nil && points < 2 {
			err = fmt.Errorf("it replays no tick: %s", strings.Join(trial.Lost, "; "))
		}
		return err
	})
	if err != nil {
		return "", "", err
	}
	return gitbisect.Good, fmt.Sprintf("gives the golden hashes, state points %d to %d", trial.From, trial.To), nil
}

// try replays the log in one mode.
func (t *Sim) try(sim *bisect.Sim, opts bisect.TrialOptions) (gitbisect.Verdict, string, error) {
	opts.Snapshots = t.Session.Snapshots
	trial, err := bisect.Try(t.Session.Log, sim, opts)
	if err != nil {
		return "", "", err
	}
	from := fmt.Sprintf("itself (--%s)", opts.Mode)
	if opts.Mode == bisect.Plain {
		from = "the golden hashes"
	}
	tick, exact := trial.Tick()
	switch {
	case trial.Departed() && exact:
		return gitbisect.Bad, fmt.Sprintf("departs from %s in tick %d", from, tick), nil
	case trial.Departed():
		return gitbisect.Bad, fmt.Sprintf("departs from %s at state point %d", from, trial.First.Point), nil
	case trial.Compared == 0:
		return "", "", fmt.Errorf("nothing could be compared with %s: %s", from, strings.Join(trial.Lost, "; "))
	}
	return gitbisect.Good, fmt.Sprintf("agrees with %s up to state point %d", from, trial.To), nil
}
