package main

import (
	"os"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/flow"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
)

// branches compares the branches of two builds in the tick in which they depart. What the replays found counts without
// them: an error is in the result.
func (e *env) branches(session *bundle.Replayable, sim *bisect.Sim, trials bisect.Trials, opts bisect.TrialOptions, source string) *document.Branches {
	found, err := e.compareBranches(session, sim, trials, opts)
	if err != nil {
		return &document.Branches{Failed: err.Error()}
	}
	if source != "" {
		if err := code.Read(source, found.At, found.Next[0], found.Next[1], found.Stack); err != nil {
			found.Notes = append(found.Notes, err.Error())
		}
	}
	return &document.Branches{Finding: found}
}

func (e *env) compareBranches(session *bundle.Replayable, sim *bisect.Sim, trials bisect.Trials, opts bisect.TrialOptions) (_ *flow.Finding, err error) {
	trial, tick, err := departingTick(trials)
	if err != nil {
		return nil, err
	}
	builds := [2]*bisect.Sim{sim, sim}
	if trial.Mode == bisect.Against {
		builds[1] = opts.Against
	}
	dir, err := os.MkdirTemp("", "desynctool-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := os.RemoveAll(dir); err == nil {
			err = e
		}
	}()
	opts.Context = e.Context
	return flow.Find(session.Log, builds, flow.Options{Tick: tick, Dir: dir, Trial: opts})
}
