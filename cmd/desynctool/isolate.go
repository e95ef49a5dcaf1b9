package main

import (
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/desk/names"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/narrow"
	"github.com/desynctool/desynctool/report/reader"
	"github.com/desynctool/desynctool/report/simulators"
)

// What --isolate may be.
const (
	isolateOn       = "on"
	isolateRequired = "require"
)

// isolateFlag is the flag --isolate.
type isolateFlag struct{ value *string }

func (f isolateFlag) String() string { return "" }
func (f isolateFlag) Type() string   { return "MODE" }
func (f isolateFlag) Set(s string) error {
	allowed := []string{isolateOn, isolateRequired}
	if !slices.Contains(allowed, s) {
		return fmt.Errorf("expected %s%s", alternatives(allowed), prose.DidYouMean(s, allowed))
	}
	*f.value = s
	return nil
}

// addIsolate adds the flag --isolate.
func addIsolate(cmd *cobra.Command, value *string) {
	cmd.Flags().Var(isolateFlag{value}, "isolate", "read each match in a process that can do nothing else; =require: refuse where the system cannot")
	cmd.Flags().Lookup("isolate").NoOptDefVal = isolateOn
}

// serveIsolated is the process that reads for triage --isolate.
func serveIsolated(stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(endings...) // it is told on stdin, or ended
	if err := reader.Serve(stdin, stdout, errInterrupted, answering()); err != nil {
		(&env{stdout: stdout, stderr: stderr, color: "never"}).complain(err)
		return report.Failed.ExitCode()
	}
	return 0
}

// answering answers requests with the simulators that they name.
func answering() *reader.Answering {
	return &reader.Answering{Builds: func(a *isolate.Asked) (narrow.Builds, error) {
		flags := triageFlags{sim: a.Sim, own: a.Own, replays: a.Replays}
		flags.sims.timeout = a.SimTimeout
		return flags.builds(&env{interrupts: &interrupts{ctx: a.Context}})
	}, Names: func(key string) (reader.Scrubber, error) {
		k, err := names.ParseKey(key, "the key")
		if err != nil {
			return nil, err
		}
		return names.NewScrubber(k), nil
	}}
}

// findIsolated is find by processes of their own.
func (e *env) findIsolated(paths []string, flags triageFlags) (*reader.Found, error) {
	x := reader.Isolated{
		Reader: e.reader, Stdin: e.stdin, Require: flags.isolate == isolateRequired,
		Asked: isolate.Request{
			Paths: paths, Sim: flags.sim, Own: flags.own, Replays: flags.replays, SimTimeout: flags.sims.timeout, Count: flags.stats,
		},
		Missing: func(what string) { e.warn([]string{"--isolate: here is missing: " + what}) },
	}
	if isTerminal(e.stderr) {
		x.Bars = e.progress
	}
	if flags.match.given() {
		if flags.match.number < 1 {
			return nil, fmt.Errorf("--match is %d, expected 1 or more", flags.match.number)
		}
		x.Asked.Match = flags.match.number
	}
	for flag, spec := range map[string]string{"--own": flags.own, "--sim": flags.sim} {
		if simulators.Program(spec) {
			return nil, fmt.Errorf("%s %s: --isolate starts no programs; give builtin or wasm:FILE, or leave out --isolate", flag, spec)
		}
		if module, ok := strings.CutPrefix(spec, "wasm:"); ok {
			x.Asked.Rules.Read = append(x.Asked.Rules.Read, module)
			x.Asked.Rules.Code = true
		}
	}
	return x.Find(e.ctx)
}
