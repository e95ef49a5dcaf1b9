package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/limits"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive"
	"github.com/desynctool/desynctool/report/isolate"
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
	var w answering
	if err := isolate.Serve(stdin, stdout, errInterrupted, w.first, w.other); err != nil {
		(&env{stdout: stdout, stderr: stderr, color: "never"}).complain(err)
		return report.Failed.ExitCode()
	}
	return 0
}

// answering answers requests as find does, in a process that is trusted with nothing else.
type answering struct {
	asked  *isolate.Asked
	opened *evidenceFor
}

// first answers the request that the process was started with.
func (w *answering) first(a *isolate.Asked) *isolate.Answer {
	e := &env{stdin: a.Stdin, stdout: io.Discard, stderr: io.Discard, interrupts: &interrupts{ctx: a.Context}}
	if a.Progress != nil {
		e.bars = func(what, unit string) (func(done, total int64), func()) {
			return func(done, total int64) { a.Progress(what, unit, done, total) }, func() {}
		}
	}
	flags := triageFlags{stats: a.Count, sim: a.Sim, own: a.Own, replays: a.Replays, match: &matchFlag{number: a.Match, given: func() bool { return a.Match > 0 }}}
	flags.sims.timeout = a.SimTimeout
	var set limits.Settings
	for _, text := range a.Limits {
		if err := set.Assign(text, "--limit"); err != nil {
			return failure(err)
		}
	}
	limits.Use(set)
	var err error
	w.asked = a
	if w.opened, err = e.openEvidence(a.Paths, flags, archive.Options{Memory: true}); err != nil {
		return failure(err)
	}
	if a.OfSeveral {
		return w.other(a.Match)
	}
	f, err := e.foundIn(w.opened, a.Paths, flags)
	if err != nil {
		return failure(err)
	}
	return &isolate.Answer{Report: f.report, Matches: f.matches, Named: f.named, Usage: w.usage()}
}

// other reports on one of several matches.
func (w *answering) other(match int) *isolate.Answer {
	x, err := w.opened.matches.Get(match)
	if err != nil {
		return failure(err)
	}
	builds := w.opened.builds
	builds.Progress = nil
	return &isolate.Answer{Report: triageOne(x, builds), Usage: w.usage()}
}

func (w *answering) usage() string {
	if !w.asked.Count {
		return ""
	}
	return w.opened.tree.Usage(w.asked.Paths).String()
}

// failure is an error as an answer.
func failure(err error) *isolate.Answer {
	list := []error{err}
	if unknown := (*evidence.UnknownError)(nil); errors.As(err, &unknown) {
		list = unknown.Files
	}
	f := &isolate.Failure{Status: statusOf(err), Whole: oneLine(plainly(err))}
	for _, err := range list {
		f.Lines = append(f.Lines, oneLine(plainly(err)))
	}
	return &isolate.Answer{Failure: f}
}

// isolated is triage --isolate.
type isolated struct {
	env    *env
	flags  triageFlags
	asked  isolate.Request
	asking *isolate.Asking      // the process that is asked; nil for none
	stdin  *files.TemporaryFile // what came on stdin, for each process anew; nil without -
	size   int64

	state  sandbox.State // of the first process
	usage  string        // of the process that is asked
	usages []string      // of those before
}

// findIsolated is find by processes of their own.
func (e *env) findIsolated(paths []string, flags triageFlags) (*found, error) {
	x := &isolated{env: e, flags: flags}
	x.asked = isolate.Request{
		Paths: paths, Sim: flags.sim, Own: flags.own, Replays: flags.replays, SimTimeout: flags.sims.timeout,
		Count: flags.stats, Limits: limits.Given(),
		Rules: sandbox.Rules{Read: archive.OnDisk(paths), Limits: isolatedLimits()},
	}
	if flags.match.given() {
		if flags.match.number < 1 {
			return nil, fmt.Errorf("--match is %d, expected 1 or more", flags.match.number)
		}
		x.asked.Match = flags.match.number
	}
	for flag, spec := range map[string]string{"--own": flags.own, "--sim": flags.sim} {
		if simulators.Program(spec) {
			return nil, fmt.Errorf("%s %s: --isolate starts no programs; give builtin or wasm:FILE, or leave out --isolate", flag, spec)
		}
		if module, ok := strings.CutPrefix(spec, "wasm:"); ok {
			x.asked.Rules.Read = append(x.asked.Rules.Read, module)
			x.asked.Rules.Code = true
		}
	}
	if slices.Contains(paths, archive.Stdin) {
		if err := x.spool(); err != nil {
			return nil, err
		}
	}
	f, err := x.find()
	if err != nil {
		x.Close()
		return nil, err
	}
	return f, nil
}

// isolatedLimits are those of the process that reads: what the user set for the reading has room in
// them.
func isolatedLimits() sandbox.Limits {
	l := sandbox.Defaults()
	l.Memory = max(l.Memory, limits.Memory.Max()+1<<30)
	if wall, ok := limits.Deadline(); ok {
		l.Wall = wall
	}
	return l
}

// spool keeps what comes on stdin, until the command is told to end.
func (x *isolated) spool() error {
	var err error
	if x.stdin, err = files.Temporary(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		size, err := io.Copy(x.stdin, x.env.stdin)
		x.size = size
		done <- err
	}()
	select {
	case err = <-done:
	case <-x.env.ctx.Done():
		err = context.Cause(x.env.ctx)
	}
	if err != nil {
		return fmt.Errorf("stdin: %w", errors.Join(err, x.stdin.Close()))
	}
	return nil
}

// Close ends the process, and what it was given.
func (x *isolated) Close() error {
	var err error
	if x.asking != nil {
		err = x.asking.Close()
	}
	if x.stdin != nil {
		err = errors.Join(err, x.stdin.Close())
	}
	return err
}

func (x *isolated) find() (*found, error) {
	f := &found{Closer: x, usage: x.read}
	answer, err := x.start(x.asked)
	if died := (*isolate.DiedError)(nil); errors.As(err, &died) && x.env.ctx.Err() == nil {
		f.report = report.NoReport(report.Inconclusive, x.name()+": "+died.Error())
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	if f.report = answer.Report; f.report == nil {
		f.matches, f.named = answer.Matches, oneLine(answer.Named)
		f.one = func(i int) (*report.Report, error) { return x.one(answer.Matches[i]) }
	}
	return f, nil
}

// one has the process report on one of several matches, or where it died another one.
func (x *isolated) one(match report.MatchDocument) (*report.Report, error) {
	var answer *isolate.Answer
	var err error
	if x.asking != nil {
		answer, err = x.took(x.asking.Another(match.Number))
	} else {
		asked := x.asked
		asked.Match, asked.OfSeveral = match.Number, true
		answer, err = x.start(asked)
	}
	if died := (*isolate.DiedError)(nil); errors.As(err, &died) {
		r := report.NoReport(report.Inconclusive, fmt.Sprintf("match %d of %s: %v", match.Number, x.name(), died))
		r.Session.Game, r.Match = match.Game, &match
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	answer.Report.Match = &match // as the list has it, whatever this process says
	return answer.Report, nil
}

// start has a process answer, and shows its progress if somebody sees it.
func (x *isolated) start(q isolate.Request) (*isolate.Answer, error) {
	e := x.env
	var stdin io.Reader
	if x.stdin != nil {
		stdin = io.NewSectionReader(x.stdin, 0, x.size)
	}
	reader := e.reader
	reader.State = x.holds
	if isTerminal(e.stderr) && !q.OfSeveral {
		q.Progress = true
		var now string
		var bar func(done, total int64)
		end := func() {}
		defer func() { end() }()
		reader.Progress = func(what, unit string, done, total int64) {
			if bar == nil || what != now {
				end()
				now = what
				bar, end = e.progress(what, unit)
			}
			bar(done, total)
		}
	}
	asking, answer, err := reader.Ask(e.ctx, &q, stdin)
	x.asking = asking
	return x.took(answer, err)
}

// took takes an answer of the process.
func (x *isolated) took(a *isolate.Answer, err error) (*isolate.Answer, error) {
	if a != nil && a.Usage != "" {
		x.usage = oneLine(a.Usage)
	}
	if err != nil { // the process is gone
		x.asking = nil
		if x.usage != "" {
			x.usages = append(x.usages, x.usage)
		}
		x.usage = ""
	}
	return a, err
}

// read says what holds for the processes, and how much each of them read.
func (x *isolated) read() string {
	lines := append([]string{"isolated: " + oneLine(strings.Join(append(x.state.Holds, x.asked.Rules.Limits.Wall.String()), ", "))}, x.usages...)
	if x.usage != "" {
		lines = append(lines, x.usage)
	}
	return strings.Join(lines, "\n")
}

// holds takes what holds for a process: says of the first what does not, or refuses that.
func (x *isolated) holds(s sandbox.State) error {
	if len(s.Missing) > 0 && x.flags.isolate == isolateRequired {
		return fmt.Errorf("--isolate=%s: here is missing: %s", isolateRequired, oneLine(strings.Join(s.Missing, "; ")))
	}
	if x.state.Holds == nil {
		x.state = s
		for _, missing := range s.Missing {
			x.env.warn([]string{"--isolate: here is missing: " + missing})
		}
	}
	return nil
}

// name says which evidence a process read.
func (x *isolated) name() string {
	return report.Safe(prose.Shorten(strings.Join(x.asked.Paths, ", "), 200))
}
