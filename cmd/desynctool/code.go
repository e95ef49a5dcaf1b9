package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

// codeFlags are the flags that ask where in the code two builds depart.
type codeFlags struct {
	branches, writes bool
	source           string
}

// add adds the flags; of names the flags that give the builds.
func (f *codeFlags) add(cmd *cobra.Command, of string) {
	cmd.Flags().BoolVar(&f.branches, "branches", false, "with "+of+": find the line at which the builds go different ways")
	cmd.Flags().BoolVar(&f.writes, "writes", false, "with "+of+": find the first write that differs to the values that depart, with gdb")
	cmd.Flags().StringVar(&f.source, "source", "", "with --branches or --writes: the folder of the game's source, to print its lines")
}

// check returns an error if builds are lacking; with are the flags that would give them.
func (f *codeFlags) check(two bool, with string) error {
	switch {
	case f.branches && !two:
		return fmt.Errorf("--branches compares the branches of two builds: give %s", with)
	case f.writes && !two:
		return fmt.Errorf("--writes compares the writes of two builds: give %s", with)
	case f.source != "" && !f.branches && !f.writes:
		return errors.New("--source is for --branches and --writes, which are not asked for")
	}
	return nil
}

// build is a build as a flag names it.
type build struct{ flag, spec string }

// query returns the question for two builds, the sound one first. A request may take longer under gdb than by itself.
func (f *codeFlags) query(e *env, builds [2]build, timeout time.Duration) compare.Code {
	q := compare.Code{Branches: f.branches, Writes: f.writes, Source: f.source}
	for i, b := range builds {
		q.Programs[i] = gdb.Program{Name: b.spec, Sim: func(under func(*exec.Cmd) (func(error), error), most time.Duration) (*bisect.Sim, error) {
			return simulators.ParseFlag(e.Context, b.flag, b.spec, simulators.Options{Timeout: max(timeout, most), Under: under})
		}}
	}
	return q
}

// query returns the question of a replay.
func (f *replayFlags) query(e *env) compare.Code {
	builds := [2]build{{"--sim", f.sim}, {"--against", f.against}}
	if f.against == "" { // --dual
		builds[1] = builds[0]
	}
	return f.code.query(e, builds, f.sims.timeout)
}

// departingTick returns the first tick in which two builds, or two runs of one, depart.
func departingTick(trials bisect.Trials) (t *bisect.Trial, tick uint64, err error) {
	at := slices.IndexFunc(trials, func(t *bisect.Trial) bool {
		return t.Departed() && (t.Mode == bisect.Against || t.Mode == bisect.Dual)
	})
	if at < 0 {
		return nil, 0, errors.New("nothing departs, there is no tick to look into")
	}
	tick, ok := trials[at].Tick()
	if !ok {
		return nil, 0, fmt.Errorf("no tick departs: the states differ at state point %d already", trials[at].First.Point)
	}
	return trials[at], tick, nil
}

// inCode finds where in the code two builds depart. What the replays found counts without it: an error is in the result.
func (e *env) inCode(session *bundle.Replayable, sim *bisect.Sim, flags *replayFlags, trials bisect.Trials, opts bisect.TrialOptions) (*document.Branches, *document.Writes) {
	trial, tick, err := departingTick(trials)
	if err != nil {
		var b *document.Branches
		var w *document.Writes
		if flags.code.branches {
			b = document.NewBranches(nil, err)
		}
		if flags.code.writes {
			w = document.NewWrites(nil, err)
		}
		return b, w
	}
	builds := [2]*bisect.Sim{sim, sim}
	if trial.Mode == bisect.Against {
		builds[1] = opts.Against
	}
	progress, end := e.Progress("line of code", "ticks")
	defer end()
	opts.Progress = progress
	q := flags.query(e)
	return q.Find(e.Context, session.Log, builds, tick, opts)
}

// debug starts a debugger for a person, after the result of the replays was printed. Why it cannot is a warning.
func (e *env) debug(session *bundle.Replayable, flags *replayFlags, trials bisect.Trials, opts bisect.TrialOptions) {
	_, tick, err := departingTick(trials)
	if err == nil {
		opts.Context = e.Context
		terminal := gdb.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Typed: cli.IsTerminal(os.Stdin)}
		err = gdb.Debug(session.Log, flags.query(e).Programs, tick, gdb.Debugger(flags.debugger), gdb.Options{Trial: opts}, terminal)
	}
	if err != nil {
		e.Warn([]string{"no debugger: " + err.Error()})
	}
}
