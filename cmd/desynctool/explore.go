package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/explore"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/report/triage"
)

func newExplore(e *env) *cobra.Command {
	var flags triageFlags
	cmd := &cobra.Command{
		Use:   "explore PATH...",
		Short: "Walk the verdict of triage as a tree, in the terminal",
		Long: `explore shows the findings of triage as a tree to walk with the arrow keys: the
session, its peers, each step of the narrowing with its evidence, the
differences down to the bits of a value on both peers, causes and experiments,
the orders around the tick, later differences, the engine's claims, the missing
evidence, and the next steps. Below the tree is the session from its first to
its last tick.

PATH is a path as for triage, or one saved triage report (--format json=FILE).

? lists the keys: y copies the command that shows the selected line by itself, o
opens the page with the pictures in a browser, / filters, q ends. A click
selects or folds a line, the wheel scrolls; with shift the terminal selects
text. explore needs a terminal of at least 50 by 14 characters. It works without
colour (--color never, NO_COLOR), without a mouse, and over SSH. If the locale
is not UTF-8, or TERM is linux or dumb, it draws only with ASCII.

The exit status is the status of the verdict; with several matches, the status
of the worst verdict.

` + cli.ExitHelp,
		Example: `  desynctool explore report.zip
  desynctool explore triage.json`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVarP(&flags.sim, "sim", "s", "", "replay in this simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	f.StringVar(&flags.own, "own", "", "the build of the peer that is wrong, if it is not the build of --sim")
	f.IntVar(&flags.replays, "replays", 0, "how many replays to make to find the cause; 0 for as many as are begun before they have played 1,000,000 ticks")
	flags.sims.addTimeout(cmd)
	flags.match = addMatch(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doExplore(e, args, flags) }
	return cmd
}

func doExplore(e *env, paths []string, flags triageFlags) error {
	stdin, ok := e.Stdin.(*os.File)
	if !ok || !cli.IsTerminal(stdin) || !cli.IsTerminal(e.Stdout) {
		return errors.New("explore needs a terminal; triage prints the same")
	}
	builds, err := flags.builds(e)
	if err != nil {
		return err
	}
	saved, err := savedReports(paths)
	if err != nil {
		return err
	}
	options := explore.Options{Color: e.Style(e.Stdout).Colored(), ASCII: explore.ASCII(runtime.GOOS, os.Getenv), Given: explore.Given{Paths: paths, Flags: flags.simulated()}, Open: new(openedPage).open}
	load := func(progress func(what string, done, total int64)) ([]*document.Report, error) {
		return reportsOn(paths, builds, flags, progress)
	}
	if saved != nil {
		options.Given = explore.Given{}
		load = func(func(what string, done, total int64)) ([]*document.Report, error) { return saved, nil }
	}
	e.IgnoreSignals() // from here on the screen handles the signals
	reports, err := explore.Run(stdin, e.Stdout, load, options)
	if err != nil {
		return err
	}
	status := document.InSync
	for _, r := range reports {
		status = document.Worst(status, r.Status.Known())
	}
	return cli.Ended(status)
}

// simulated returns the flags that name simulators, as written on the command line.
func (f *triageFlags) simulated() (list []string) {
	for _, one := range [][2]string{{"--sim", f.sim}, {"--own", f.own}} {
		if one[1] != "" {
			list = append(list, one[0], one[1])
		}
	}
	if f.replays > 0 {
		list = append(list, "--replays", strconv.Itoa(f.replays))
	}
	return list
}

// savedReports returns the saved triage reports if the only path is a file of them, nil if it contains something else.
func savedReports(paths []string) ([]*document.Report, error) {
	if len(paths) != 1 {
		return nil, nil
	}
	if stat, err := os.Stat(paths[0]); err != nil || !stat.Mode().IsRegular() {
		return nil, nil // triage reports the error
	}
	f, err := os.Open(paths[0])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := formats.Content(f, paths[0])
	if err != nil {
		return nil, nil
	}
	defer content.Close()
	const head = 256 // a report begins with the schema
	r := bufio.NewReaderSize(content, head)
	if begin, _ := r.Peek(head); !bytes.Contains(begin, []byte(document.ReportSchema)) {
		return nil, nil
	}
	saved, err := peers.ReadSaved(r, paths[0])
	if err != nil {
		return nil, err
	}
	switch saved := saved.(type) {
	case *document.Report:
		return []*document.Report{saved}, nil
	case []*document.Report:
		return saved, nil
	}
	return nil, fmt.Errorf("%s: not a saved report of triage", paths[0])
}

// reportsOn returns the reports about all matches below some paths, or about the selected one.
func reportsOn(paths []string, builds compare.Builds, flags triageFlags, progress func(what string, done, total int64)) ([]*document.Report, error) {
	of := func(what string) func(done, total int64) {
		return func(done, total int64) { progress(what, done, total) }
	}
	tree, err := archive.Open(paths, archive.Options{Progress: of("reading the archive"), Known: formats.Pasted()})
	if err != nil {
		return nil, err
	}
	builds.Progress = progress
	opened, err := triage.Open(context.Background(), tree, paths, builds)
	if err != nil {
		return nil, err
	}
	opened.Progress = of("comparing")
	found, err := opened.Find(flags.match.named())
	if err != nil {
		return nil, err
	}
	defer found.Close()
	if found.Report != nil {
		return []*document.Report{found.Report}, nil
	}
	var list []*document.Report
	for i := range found.Matches {
		progress("matches", int64(i), int64(len(found.Matches)))
		r, err := found.One(i)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}
