package main

import (
	"errors"
	"fmt"
	"os/exec"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/report/triage"
)

// answering answers requests with the simulators that they name.
func answering() *triage.Answering {
	return &triage.Answering{Builds: func(a *isolate.Asked) (compare.Builds, error) {
		flags := triageFlags{sim: a.Sim, own: a.Own, replays: a.Replays, verify: a.Verify}
		flags.sims.timeout = a.SimTimeout
		return flags.builds(&env{Env: &cli.Env{Context: a.Context}})
	}}
}

// findIsolated is find in separate processes.
func (e *env) findIsolated(paths []string, flags triageFlags) (*triage.Found, error) {
	x := triage.Isolated{
		Reader: e.Reader, Stdin: e.Stdin, Require: flags.isolate == cli.IsolateRequired,
		Asked: isolate.Request{
			Paths: paths, Game: e.game, Sim: flags.sim, Own: flags.own, Replays: flags.replays, Verify: flags.verify, SimTimeout: flags.sims.timeout, Count: flags.stats,
		},
		Missing: func(what string) { e.Warn([]string{"--isolate: here is missing: " + what}) },
	}
	if cli.IsTerminal(e.Stderr) {
		x.Bars = e.Progress
	}
	if flags.match.given() {
		if flags.match.number < 1 {
			return nil, fmt.Errorf("--match is %d, expected 1 or more", flags.match.number)
		}
		x.Asked.Match = flags.match.number
	}
	if flags.code.branches || flags.code.writes {
		return nil, errors.New("--branches and --writes start programs, which --isolate does not allow")
	}
	for flag, spec := range map[string]string{"--own": flags.own, "--sim": flags.sim} {
		if simulators.Program(spec) {
			return nil, fmt.Errorf("%s %s: --isolate starts no programs; give builtin or wasm:FILE, or leave out --isolate", flag, spec)
		}
		if module, ok := simulators.Module(spec); ok { // only that program can run them within its own process
			program, err := simulators.FindModuleProgram()
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", flag, spec, err)
			}
			x.Reader.Process = func() (*exec.Cmd, error) { return isolate.Program(program), nil }
			x.Asked.Rules.Read = append(x.Asked.Rules.Read, module)
			x.Asked.Rules.Code = true
		}
	}
	return x.Find(e.Context)
}
