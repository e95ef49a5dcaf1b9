package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/gitbisect"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/commits"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
)

// gitFlags are the flags of bisect for a search in commits.
type gitFlags struct {
	span, repo      string
	build, expect   string
	buildTimeout    time.Duration
	dual, serialize bool
	runs            int
	keep, most      int
	rebuild         bool
	restart         bool
	set             func(name string) bool
}

// gitHelp is part of the help of bisect.
const gitHelp = `
--git GOOD..BAD finds the first commit whose build no longer gives the hashes
that GOOD gives, or those in --expect GOLDEN.trace, or no longer agrees with
itself (--dual, --serialize, --runs N). It builds about log2 of the commits, in
its own folders; the repository's files, index, HEAD and branches stay as they
are. --build CMD and the tested program run in the folder of the commit: --sim
exec:COMMAND replays the log at PATH, --run 'CMD {log} {out}' plays the log and
writes a trace. A commit is skipped if it does not build or its program fails. A
commit that fails now and then is run again. After Ctrl-C the same command
continues the search. docs/which-commit.md has more.
`

func (f *gitFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.span, "git", "", "find the first bad commit in GOOD..BAD")
	flags.StringVar(&f.repo, "repo", ".", "with --git: a folder in the repository")
	flags.StringVar(&f.build, "build", "", "with --git: the command that builds a commit, in its folder")
	flags.DurationVar(&f.buildTimeout, "build-timeout", 0, "with --git: a build that takes longer has failed (10m)")
	flags.StringVar(&f.expect, "expect", "", "with --git: golden hashes, or a golden trace, instead of the hashes of GOOD")
	flags.BoolVar(&f.dual, "dual", false, "with --git --sim: two instances have to agree")
	flags.BoolVar(&f.serialize, "serialize", false, "with --git --sim: an instance that is saved and loaded has to agree")
	flags.IntVar(&f.runs, "runs", 0, "with --git: this many runs have to agree, at least 2")
	flags.IntVar(&f.keep, "keep-builds", gitbisect.DefaultMost, "with --git: how many builds to keep in addition to the needed ones")
	flags.IntVar(&f.most, "max-runs", gitbisect.DefaultMaxRuns, "with --git: how often to run one commit at most")
	flags.BoolVar(&f.rebuild, "rebuild", false, "with --git: confirm the finding in new builds")
	flags.BoolVar(&f.restart, "restart", false, "with --git: forget the results of an interrupted search")
	f.set = func(name string) bool { return flags.Changed(name) }
}

// unused returns an error if a flag is set that has no effect without --git.
func (f *gitFlags) unused() error {
	for _, name := range []string{"repo", "build", "build-timeout", "expect", "dual", "serialize", "runs", "keep-builds", "max-runs", "rebuild", "restart"} {
		if f.set(name) {
			return fmt.Errorf("--%s is for --git GOOD..BAD", name)
		}
	}
	return nil
}

// checkGit returns an error if the flags of a search in commits are not valid.
func (f *bisectFlags) checkGit(paths []string) error {
	g := &f.git
	switch {
	case f.drill || f.run.diverges != "" || f.run.against != "" || f.run.keep != "":
		return errors.New("--drill, --run-diverges, --run-against and --run-keep do not go with --git")
	case (f.sim == "") == (f.run.line == ""):
		return errors.New("--git builds commits, and what is tested is named by --sim exec:COMMAND or --run 'CMD {log} {out}': give one of them")
	case len(paths) > 1 || len(paths) == 0 && f.sim != "":
		return fmt.Errorf("%s, expected one order log", cli.CountArguments(len(paths)))
	case f.run.line != "" && (g.dual || g.serialize):
		return errors.New("--dual and --serialize step a simulator: --sim exec:COMMAND")
	case f.run.line != "" && f.match.given():
		return errors.New("--match takes one of several matches that are read here, and --run has its own program read the log")
	case g.set("runs") && g.runs < 2:
		return fmt.Errorf("--runs is %d, expected at least 2", g.runs)
	case g.keep < 1 || g.most < 1:
		return errors.New("--keep-builds and --max-runs are at least 1")
	case g.buildTimeout < 0 || f.run.timeout < 0:
		return errors.New("--build-timeout and --run-timeout are more than 0")
	}
	return nil
}

// doBisectGit finds the first bad commit.
func doBisectGit(e *env, paths []string, flags bisectFlags, format *cli.Outputs) error {
	g := &flags.git
	if err := flags.checkGit(paths); err != nil {
		return err
	}
	o := gitbisect.FindOptions{BuildTimeout: g.buildTimeout, Most: g.keep, Rebuild: g.rebuild, MaxRuns: g.most, Restart: g.restart}
	var err error
	if g.build != "" {
		if o.Build, err = simulators.Words(g.build); err != nil {
			return fmt.Errorf("--build: %w", err)
		}
	}
	if o.Repository, err = gitbisect.OpenRepository(e.Context, g.repo); err != nil {
		return fmt.Errorf("--git: %w", err)
	}
	if o.Range, err = o.Repository.Range(e.Context, g.span); err != nil {
		return fmt.Errorf("--git: %w", err)
	}
	log := ""
	if len(paths) > 0 {
		log = paths[0]
	}
	if flags.run.line != "" {
		o.Test, err = commits.ProgramTest(flags.run.line, commits.ProgramOptions{Log: log, Expect: g.expect, Runs: g.runs, Timeout: flags.run.timeout})
		if err != nil {
			return fmt.Errorf("--run: %w", err)
		}
		return e.findCommit(o, format)
	}
	tree, err := e.openToPlay(log, g.expect)
	if err != nil {
		return err
	}
	defer tree.Close()
	opened, err := e.session(tree, paths, flags.match, false)
	if err != nil {
		return tree.Explain(err)
	}
	sim := commits.Sim{Spec: flags.sim, Request: flags.sims.timeout, Timeout: flags.run.timeout}
	if sim.Session, err = opened.Replayable(); err != nil {
		return tree.Explain(err)
	}
	e.Warn(append(sim.Session.Warnings, sim.Session.Lost...))
	if g.expect != "" {
		if sim.Expect, err = formats.ReadHashes(tree, g.expect); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		on   bool
		mode bisect.TrialMode
	}{{g.dual, bisect.Dual}, {g.serialize, bisect.Serialize}, {g.runs > 0, bisect.Repeat}} {
		if m.on {
			sim.Modes = append(sim.Modes, bisect.TrialOptions{Mode: m.mode, Runs: g.runs})
		}
	}
	if o.Test, err = commits.SimTest(sim, log, g.expect); err != nil {
		return err
	}
	return e.findCommit(o, format)
}

// findCommit runs a search and prints the result.
func (e *env) findCommit(o gitbisect.FindOptions, format *cli.Outputs) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("there is no folder for what is built: %w", err)
	}
	o.Root = filepath.Join(cache, "desynctool", "bisect")
	if cli.IsTerminal(e.Stderr) {
		o.Step = func(s gitbisect.Step, c gitbisect.Commit) {
			how := "run"
			if s.Built {
				how = "built"
			}
			fmt.Fprintf(e.Stderr, "%s of %s: %s %s, %s: %s\n", s.Role, prose.Count(s.Left, "commit", "commits"), gitbisect.Short(c.ID), how, s.Verdict, prose.OneLine(s.Why))
		}
	}
	f, err := gitbisect.Find(e.Context, o)
	if err != nil && (f == nil || !f.Interrupted) {
		return err
	}
	if f.Resumed > 0 {
		fmt.Fprintf(e.Stderr, "%s of an earlier search that was interrupted were taken over; --restart begins from the start\n", prose.Count(f.Resumed, "run", "runs"))
	}
	if f.Outputs != "" {
		fmt.Fprintf(e.Stderr, "what builds printed that failed is in %s\n", document.Safe(f.Outputs))
	}
	return e.Finish(format, document.GitBisect(f), false)
}
