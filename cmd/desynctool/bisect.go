package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

// bisectFlags are the flags of bisect.
type bisectFlags struct {
	sim    string
	own    string
	write  string
	sims   simFlags
	drill  bool
	verify bool
	run    runFlags
	git    gitFlags
	match  *matchFlag
}

func newBisect(e *env) *cobra.Command {
	var flags bisectFlags
	cmd := &cobra.Command{
		Use:   "bisect PATH...",
		Short: "Find between which state points the peers diverged, and the tick",
		Long: `bisect compares the snapshots of two or more peers and finds the first state
points between which the peers diverged. It reads only the headers of about log2
of the snapshots. With order logs that contain sync hashes it finds the exact
tick. With --sim it replays the orders from the last equal snapshot and reports
which peer departs from the simulator. --drill then steps through the tick
system by system, compares each step with the peer's trace, and reports the
first departure.

Each PATH is the folder of one peer, or one folder that contains a folder for
each peer. bisect compares the states with checksums that engines recorded next
to them (demos, sync streams, tables, logs). Without states the checksums alone
give the bracket.

--write DIR computes the states of the first point at which the peers differ,
each from the orders of the peer's log: in --sim for a peer that agrees with it,
in --own for one that departs. DIR/PEER then contains the state as a file. The
output shows whether its hash is the one that the peer recorded; a state with
another hash is not written.

` + simulators.Help + `

` + simulators.GamesHelp() + `

--run 'CMD {}' takes one order log instead (order-log.bin, its text twin, 0
A.D.'s commands.txt). It runs a command, such as the game itself, on ever closer
prefixes of the log to find out whether they diverge; {} is the path of the
prefix.
` + runHelp + gitHelp + `
` + cli.ExitHelp,
		Example: `  desynctool bisect report/host report/client
  desynctool bisect report --sim builtin --drill
  desynctool bisect report --sim builtin --format json
  desynctool bisect report --sim builtin --write states
  desynctool bisect commands.txt --run 'replay.sh {}' --run-diverges MISMATCH
  desynctool bisect s/host --git v1.0..v1.1 --sim 'exec:./mygame'
  desynctool bisect s/host --git v1.0..HEAD --build 'make replay' \
    --run './replay {log} {out}'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.git.span != "" {
				return nil
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
	}
	cmd.Flags().StringVarP(&flags.sim, "sim", "s", "", "replay in this simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	cmd.Flags().StringVar(&flags.own, "own", "", "with --write: the build of the wrong peer")
	cmd.Flags().StringVar(&flags.write, "write", "", "with --sim: compute the peers' states where they first differ, and write them to this folder")
	flags.sims.addTimeout(cmd)
	flags.sims.addGames(cmd)
	cmd.Flags().BoolVar(&flags.drill, "drill", false, "with --sim: find the system in which a peer departs, and the data that it wrote")
	cmd.Flags().BoolVar(&flags.verify, "verify", false, verifyUsage)
	flags.run.add(cmd.Flags())
	flags.git.add(cmd.Flags())
	flags.match = addMatch(cmd)
	addGame(e, cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case flags.write == "" && flags.own != "":
			return errors.New("--own is the build that --write computes states in")
		case flags.write != "" && (flags.sim == "" || flags.git.span != ""):
			return errors.New("--write computes states of a session: name a simulator with --sim")
		}
		if flags.git.span != "" {
			return doBisectGit(e, args, flags, format)
		}
		if err := flags.git.unused(); err != nil {
			return err
		}
		if flags.run.line == "" {
			if err := flags.run.unused(); err != nil {
				return err
			}
			return doBisect(e, args, flags, format)
		}
		switch {
		case flags.match.given():
			return errors.New("--match is for folders of several matches, --run takes one order log")
		case flags.sim != "" || flags.drill:
			return errors.New("--sim and --run: a simulator or a command decides what diverges, give one of them")
		case len(args) > 1:
			return errors.New("--run takes one order log")
		}
		return doBisectRun(e, args[0], flags.run, format)
	}
	return cmd
}

func doBisect(e *env, paths []string, flags bisectFlags, format *cli.Outputs) error {
	if flags.drill && flags.sim == "" {
		return errors.New("--drill steps a simulator: name one with --sim")
	}
	game, err := flags.sims.game(e, "--sim", flags.sim)
	if err != nil {
		return err
	}
	var sim, own *bisect.Sim
	switch {
	case game == nil:
		sim, own, err = simulators.Builds{Sim: flags.sim, Own: flags.own}.Parse(e.Context, simulators.Options{Timeout: flags.sims.timeout})
		if err != nil {
			return err
		}
	case flags.drill || flags.write != "":
		flag := "--drill"
		if !flags.drill {
			flag = "--write"
		}
		return fmt.Errorf("%s steps a simulator that speaks the protocol, and %s is a game", flag, game.Game.Title)
	}
	var options archive.Options
	if sim == nil && game == nil { // otherwise the replays take most of the time
		options = e.reading(paths)
	}
	tree, err := e.openWith(options, paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	builds := compare.Builds{Sim: sim, Own: own, Witness: game, Verify: flags.verify}
	end := func() {}
	if sim == nil && game == nil {
		end = e.watch(tree, "comparing")
	} else {
		builds.Progress, end = e.replays(end)
	}
	defer func() { end() }()
	s, err := e.session(tree, paths, flags.match, false)
	if err != nil {
		return tree.Explain(err)
	}
	r, err := compare.Bisect(s, builds, compare.BisectOptions{Drill: flags.drill, Write: flags.write})
	end()
	if err := tree.Interrupted(); err != nil {
		return err
	}
	if err != nil {
		return tree.Explain(err)
	}
	if flags.write != "" && r.Bracket == nil {
		e.Warn([]string{"--write: no divergence is known, so there is nothing to compute"})
	}
	return e.bisected(r, format)
}

// doBisectRun bisects with a command that decides which prefixes of a log diverge.
func doBisectRun(e *env, path string, run runFlags, format *cli.Outputs) error {
	session, err := e.openRecording(path)
	if err != nil {
		return err
	}
	test, err := run.command(session)
	if err != nil {
		return err
	}
	r, err := minimize.Bisect(e.Context, session.Input, test)
	switch {
	case e.Context.Err() != nil:
		return cli.ErrInterrupted
	case err != nil:
		return err
	}
	r.Lost = append(r.Lost, session.Lost...)
	return e.bisected(r, format)
}

// bisected prints a result.
func (e *env) bisected(r *bisect.Result, format *cli.Outputs) error {
	e.Warn(r.Warnings)
	e.simFailed("--sim", r.SimFailed)
	return e.Finish(format, document.Bisect(r), false)
}
