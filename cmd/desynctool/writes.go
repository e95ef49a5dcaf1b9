package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

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

// writes compares what two builds write in the tick in which they depart. What the replays found counts without it: an
// error is in the result.
func (e *env) writes(session *bundle.Replayable, flags *replayFlags, trials bisect.Trials, opts bisect.TrialOptions) *document.Writes {
	found, err := e.compareWrites(session, flags, trials, opts)
	if err != nil {
		return &document.Writes{Failed: err.Error()}
	}
	for i := 0; flags.source != "" && i < len(found.Builds); i++ {
		if w := found.Builds[i].First; w != nil {
			at := []code.Place{w.At}
			if err := code.Read(flags.source, at, w.Stack); err != nil {
				found.Notes = append(found.Notes, err.Error())
				break
			}
			w.At = at[0]
		}
	}
	return &document.Writes{Finding: found}
}

func (e *env) compareWrites(session *bundle.Replayable, flags *replayFlags, trials bisect.Trials, opts bisect.TrialOptions) (*gdb.Finding, error) {
	_, tick, err := departingTick(trials)
	if err != nil {
		return nil, err
	}
	progress, end := e.Progress("watching writes", "ticks")
	defer end()
	opts.Context, opts.Progress = e.Context, progress
	return gdb.Find(session.Log, e.programs(flags), tick, gdb.Options{Trial: opts})
}

// programs returns the builds for gdb. A request may take longer under it.
func (e *env) programs(flags *replayFlags) (list [2]gdb.Program) {
	against, flag := flags.against, "--against"
	if against == "" { // --dual
		against, flag = flags.sim, "--sim"
	}
	for i, p := range [2]struct{ flag, spec string }{{"--sim", flags.sim}, {flag, against}} {
		list[i] = gdb.Program{Name: p.spec, Sim: func(under func(*exec.Cmd) (func(error), error), most time.Duration) (*bisect.Sim, error) {
			return simulators.ParseFlag(e.Context, p.flag, p.spec, simulators.Options{Timeout: max(flags.sims.timeout, most), Under: under})
		}}
	}
	return list
}

// debug starts a debugger for a person, after the result of the replays was printed. Why it cannot is a warning.
func (e *env) debug(session *bundle.Replayable, flags *replayFlags, trials bisect.Trials, opts bisect.TrialOptions) {
	_, tick, err := departingTick(trials)
	if err == nil {
		opts.Context = e.Context
		terminal := gdb.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Typed: cli.IsTerminal(os.Stdin)}
		err = gdb.Debug(session.Log, e.programs(flags), tick, gdb.Options{Trial: opts}, terminal)
	}
	if err != nil {
		e.Warn([]string{"no debugger: " + err.Error()})
	}
}
