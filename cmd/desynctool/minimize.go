package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

// minimizeFlags are the flags of minimize.
type minimizeFlags struct {
	dir              string
	sim, against     string
	dual, serialize  bool
	checkCaches      bool
	checkPurity      bool
	predict          []uint
	rollback         int
	run              runFlags
	sims             simFlags
	runs, jobs, most int
	all              bool
}

func newMinimize(e *env) *cobra.Command {
	var flags minimizeFlags
	cmd := &cobra.Command{
		Use:   "minimize PATH -o DIR",
		Short: "Find the shortest session that still diverges in the same way",
		Long: `minimize removes orders and ticks from a session as long as the session still
diverges in the same way: in the same archetype, component, field and kind of
change. It finds the shortest prefix, then a set of orders from which no single
order can be removed, then smaller numbers in their payloads and lower players.

One of these decides whether the session diverges. The recorded hashes never
decide, because they are void once an order is removed:

  --against SIM    two simulators side by side
  --dual, --serialize, --rollback N, --check-caches, --check-purity,
  --predict P,Q    one simulator that checks itself, as replay does
  --run 'CMD {}'   a command, such as the game itself; {} is the path of a log
                   in the format of PATH: order-log.bin, its text twin,
                   commands.txt
` + runHelp + `
` + simulators.Help + `

` + simulators.GamesHelp() + `
If SIM is a game, use --against, --dual (two runs) or --serialize (the game's
own test).

DIR contains the outcomes until the search has ended. After Ctrl-C the best
session so far is written; run the same command again to continue. With --runs N
each candidate is tested N times. It counts if it diverges at least as often as
the lower bound of the input's rate (Wilson, 95 %).

At the end DIR contains a folder for each side, in the form that record writes,
with its own hashes. For other formats and for commands DIR contains the log in
the format of PATH.

Exit status:
  0  the session was minimised
  2  it does not diverge, or an argument is unusable
  3  interrupted: the best session so far is written`,
		Example: `  desynctool minimize s/host -o small --sim builtin:fault=rng-leak@100 \
    --against builtin
  desynctool minimize commands.txt -o smaller --run 'replay.sh {}' \
    --run-diverges MISMATCH`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVarP(&flags.dir, "output", "o", "", "folder to write to; it must be empty, not exist, or contain an interrupted search")
	f.StringVarP(&flags.sim, "sim", "s", "builtin", "the simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	flags.sims.addTimeout(cmd)
	flags.sims.addGames(cmd)
	f.StringVar(&flags.against, "against", "", "a second simulator, side by side with the first")
	f.BoolVar(&flags.dual, "dual", false, "two instances of the simulator side by side")
	f.BoolVar(&flags.serialize, "serialize", false, "save and load one of two instances in each tick")
	f.IntVar(&flags.rollback, "rollback", 0, "in each tick, go back by this many ticks and play them again")
	f.BoolVar(&flags.checkCaches, "check-caches", false, "compute all caches again in each tick")
	f.BoolVar(&flags.checkPurity, "check-purity", false, "test each order before its tick; the test must change nothing")
	f.UintSliceVar(&flags.predict, "predict", nil, "predict the orders of these players, one or two, each in a separate instance")
	flags.run.add(f)
	f.IntVar(&flags.runs, "runs", 1, "test each candidate this many times, for sessions that diverge only sometimes")
	f.IntVar(&flags.most, "max-replays", minimize.DefaultMaxReplays, "stop after this many replays, with the best session so far")
	f.IntVar(&flags.jobs, "jobs", 0, "number of candidates tested at once; 0 is one for each processor, or a single one with --run")
	f.BoolVarP(&flags.all, "all", "a", false, "print every order that is left")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("rollback") && flags.rollback < 1 {
			return fmt.Errorf("--rollback is %d, expected at least 1", flags.rollback)
		}
		if flags.run.line != "" && cmd.Flags().Changed("sim") {
			return errors.New("--sim and --run: a simulator or a command decides what diverges, give one of them")
		}
		return doMinimize(e, args[0], flags, format)
	}
	return cmd
}

// test returns the test that decides whether a candidate diverges.
func (f *minimizeFlags) test(e *env, session *bundle.Recording) (minimize.Test, error) {
	var live *minimize.Live
	for _, m := range []struct {
		on   bool
		mode bisect.TrialMode
	}{
		{f.against != "", bisect.Against}, {f.dual, bisect.Dual}, {f.serialize, bisect.Serialize}, {f.rollback > 0, bisect.Rollback},
		{f.checkCaches, bisect.CheckCaches}, {f.checkPurity, bisect.CheckPurity}, {len(f.predict) > 0, bisect.Predict},
	} {
		if !m.on {
			continue
		}
		if live != nil {
			return nil, fmt.Errorf("--%s and --%s: a session is minimised for one way to diverge", live.Mode, m.mode)
		}
		live = &minimize.Live{Mode: m.mode, Depth: f.rollback, Unsteady: f.runs > 1}
	}
	switch {
	case live != nil && f.run.line != "":
		return nil, fmt.Errorf("--%s and --run: a simulator or a command decides what diverges, give one of them", live.Mode)
	case f.run.line != "":
		return f.run.command(session)
	case live == nil:
		return nil, errors.New("no test decides whether a session diverges; give --against SIM, --dual, --serialize, --rollback N, --check-caches, --check-purity, --predict P,Q or --run CMD")
	}
	if err := f.run.unused(); err != nil {
		return nil, err
	}
	game, err := f.sims.game(e, "--sim", f.sim)
	if err != nil {
		return nil, err
	}
	if game != nil {
		return f.judge(e, game, live.Mode, session)
	}
	if live.Predict, err = playersOf(f.predict); err != nil {
		return nil, err
	}
	ctx := context.Background() // on interruption, the search ends first, and then the processes that it started
	if live.Sim, err = f.sims.parse(ctx, "--sim", f.sim); err != nil {
		return nil, err
	}
	if live.Against, err = f.sims.parse(ctx, "--against", f.against); err != nil {
		return nil, err
	}
	return live, nil
}

// judge returns a test in which a game decides whether a candidate diverges.
func (f *minimizeFlags) judge(e *env, game *compare.Witness, mode bisect.TrialMode, session *bundle.Recording) (minimize.Test, error) {
	j := &compare.Judge{Witness: game.Witness, Mode: mode, Format: session.Format.Name, File: session.Format.File}
	game.Cache = nil // the search stores the candidates
	switch mode {
	case bisect.Dual, bisect.Serialize:
	case bisect.Against:
		against, err := f.sims.game(e, "--against", f.against)
		if err != nil {
			return nil, err
		}
		if against == nil {
			return nil, fmt.Errorf("--against: %s is a game, and is compared with a game", game.Game.Title)
		}
		against.Cache = nil
		j.Against = against.Witness
	default:
		return nil, fmt.Errorf("--%s needs a simulator that speaks the protocol, and %s is a game", mode, game.Game.Title)
	}
	return j, nil
}

func doMinimize(e *env, path string, flags minimizeFlags, format *cli.Outputs) error {
	switch {
	case flags.dir == "":
		return errors.New("minimize needs a folder to write to: -o DIR")
	case flags.runs < 1 || flags.jobs < 0 || flags.most < 1:
		return errors.New("--runs and --max-replays are at least 1, --jobs at least 0")
	}
	session, err := e.openRecording(path)
	if err != nil {
		return err
	}
	test, err := flags.test(e, session)
	if err != nil {
		return err
	}
	opts := minimize.Options{Runs: flags.runs, Jobs: flags.jobs, MaxReplays: flags.most}
	if flags.run.line != "" && opts.Jobs == 0 {
		opts.Jobs = 1 // games share settings, ports and a screen
	}
	progress, end := e.Progress("minimizing", "replays")
	defer end()
	opts.Progress = progress
	r, err := minimize.RunTo(e.Context, flags.dir, session.Input, test, session.Format.File, opts)
	end()
	switch {
	case errors.Is(err, minimize.ErrFlaky):
		return fmt.Errorf("%w, with --runs N", err)
	case err != nil:
		return err
	}
	r.Lost = session.Lost
	doc := document.Minimize(r)
	if err := e.RenderDocument(format, doc, flags.all); err != nil || doc.Status == document.Diverged {
		return err // divergence is the expected result
	}
	return cli.Ended(doc.Status)
}
