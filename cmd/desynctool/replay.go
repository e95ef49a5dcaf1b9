package main

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code/gdb"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	sim, against             string
	sims                     simFlags
	dual, serialize          bool
	fromEach, checkCaches    bool
	checkPurity              bool
	drill                    bool
	runs, rollback           int
	predict                  []uint
	until                    uint64
	untilSet                 bool
	code                     codeFlags
	debugger                 string
	from, writeTrace, expect string
	all, force               bool
	match                    *matchFlag
}

func newReplay(e *env) *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay PATH",
		Short: "Replay an order log in a simulator, and show what differs",
		Long: `replay plays the orders of a log again. Each way to do so finds another kind of
mistake. You can give several ways; without one it is the plain replay:

  (plain)               compared with the peer's recorded hashes: who is wrong
  --against SIM         two simulators side by side: builds, platforms, data
  --dual                two instances of one simulator: threads, map order, memory
  --serialize           one of two instances is saved and loaded in each tick
  --rollback N          in each tick, N ticks are taken back and played again
  --from-each-snapshot  from each of the peer's snapshots, as a peer that joins
  --runs N              N times, with the rate of differences that come and go
  --check-caches        all caches are computed again in each tick
  --check-purity        tests each order before its tick; must change nothing
  --predict P,Q         player P's orders are predicted in one instance, Q's in
                        another; predictions must be taken back; with P alone,
                        none are predicted in the other

PATH is an order log, or the folder of one peer with its snapshots.

` + simulators.Help + `

` + simulators.GamesHelp() + `
For a game, --serialize and --from-each-snapshot are the game's own tests of
saved states.

--drill steps system by system: two simulators side by side, or one simulator
next to the trace that the peer left, as far as the trace proves the difference.

--branches lets two builds that were compiled for it record the branches that they
take in the tick that departs, and names the line at which they go different ways
(docs/code.md). --writes lets gdb watch the first values that differ after that
tick, in both builds, and names the line of the first write that differs; the builds
need debug information only. --debugger gdb (or lldb) then starts it for you, with
the build of --against at the beginning of that tick, or of its system.

--write-trace writes the hashes of the replay. --expect compares a replay with
such hashes instead of the hashes in the log: golden hashes across commits and
platforms.

` + cli.ExitHelp,
		Example: `  desynctool replay s/client
  desynctool replay s/host --dual --serialize --check-caches
  desynctool replay s/host --sim exec:./sound --against exec:./own --branches
  desynctool replay s/host --write-trace golden.trace
  desynctool replay s/host --expect golden.trace`,
		Args: cobra.ExactArgs(1),
	}
	f := cmd.Flags()
	f.StringVarP(&flags.sim, "sim", "s", "builtin", "the simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	flags.sims.addTimeout(cmd)
	f.StringVar(&flags.against, "against", "", "a second simulator, side by side with the first")
	f.BoolVar(&flags.dual, "dual", false, "two instances of the simulator side by side")
	f.BoolVar(&flags.serialize, "serialize", false, "save and load one of two instances in each tick")
	f.IntVar(&flags.rollback, "rollback", 0, "in each tick, go back by this many ticks and play them again")
	f.BoolVar(&flags.fromEach, "from-each-snapshot", false, "begin at each snapshot of the peer")
	f.IntVar(&flags.runs, "runs", 0, "replay this many times, at least 2")
	f.BoolVar(&flags.checkCaches, "check-caches", false, "compute all caches again in each tick")
	f.BoolVar(&flags.checkPurity, "check-purity", false, "test each order before its tick; the test must change nothing")
	f.UintSliceVar(&flags.predict, "predict", nil, "predict the orders of these players, one or two, each in a separate instance")
	f.Uint64Var(&flags.until, "until", 0, "the last state point; without it the end of the log")
	f.StringVar(&flags.from, "from", "", "begin with the state in this snapshot")
	f.StringVar(&flags.writeTrace, "write-trace", "", "write the hash of each state point to this trace")
	f.StringVar(&flags.expect, "expect", "", "compare the replay with the hashes in this trace")
	f.BoolVar(&flags.drill, "drill", false, "step system by system: find the first system that differs, and the values that it wrote")
	flags.code.add(cmd, "--against or --dual")
	f.StringVar(&flags.debugger, "debugger", "", "with --against: start this debugger, gdb or lldb, in the second build at the tick that departs, watching what departs")
	f.BoolVar(&flags.force, "force", false, "accept snapshots of another seed, map or build than the log; with a game: accept a recording of another version")
	f.BoolVarP(&flags.all, "all", "a", false, "print every difference")
	flags.sims.addGames(cmd)
	flags.match = addMatch(cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("runs") && flags.runs < 2 {
			return fmt.Errorf("--runs is %d, expected at least 2", flags.runs)
		}
		if cmd.Flags().Changed("rollback") && flags.rollback < 1 {
			return fmt.Errorf("--rollback is %d, expected at least 1", flags.rollback)
		}
		flags.untilSet = cmd.Flags().Changed("until")
		return doReplay(e, args[0], flags, format)
	}
	return cmd
}

// modes returns the requested modes of replaying.
func (f *replayFlags) modes() (modes []bisect.TrialMode, err error) {
	for _, m := range []struct {
		on   bool
		mode bisect.TrialMode
	}{
		{f.against != "", bisect.Against}, {f.dual, bisect.Dual}, {f.serialize, bisect.Serialize},
		{f.rollback > 0, bisect.Rollback}, {f.fromEach, bisect.FromEachSnapshot},
		{f.runs > 0, bisect.Repeat}, {f.checkCaches, bisect.CheckCaches}, {f.checkPurity, bisect.CheckPurity},
		{len(f.predict) > 0, bisect.Predict},
	} {
		if m.on {
			modes = append(modes, m.mode)
		}
	}
	if len(modes) == 0 || f.expect != "" || f.writeTrace != "" {
		modes = append([]bisect.TrialMode{bisect.Plain}, modes...)
	}
	if f.fromEach && f.from != "" {
		return nil, errors.New("--from-each-snapshot begins at the peer's snapshots, --from at one: give one of them")
	}
	drillable := func(m bisect.TrialMode) bool {
		return m == bisect.Plain || m == bisect.Against || m == bisect.Dual || m == bisect.Serialize
	}
	if f.drill && !slices.ContainsFunc(modes, drillable) {
		return nil, errors.New("--drill steps a plain replay, --against, --dual or --serialize system by system, and none of these is asked for")
	}
	if f.drill && f.writeTrace != "" {
		return nil, errors.New("--drill stops inside a tick, --write-trace goes on to the end: give one of them")
	}
	if err := f.code.check(f.against != "" || f.dual, "the other one by --against, or --dual for two runs of one"); err != nil {
		return nil, err
	}
	if f.debugger != "" && f.debugger != string(gdb.GDB) && f.debugger != string(gdb.LLDB) {
		return nil, fmt.Errorf("--debugger is %q, expected gdb or lldb", f.debugger)
	}
	if f.debugger != "" && f.against == "" {
		return nil, errors.New("--debugger stops the build of --against, where it departs from the build of --sim: give both")
	}
	return modes, nil
}

// playersOf returns the players in --predict.
func playersOf(predict []uint) (players []uint32, err error) {
	if n := len(predict); n > 2 {
		return nil, fmt.Errorf("--predict names %d players, expected one or two", n)
	}
	for _, player := range predict {
		if player > math.MaxUint32 {
			return nil, fmt.Errorf("--predict: there is no player %d", player)
		}
		players = append(players, uint32(player))
	}
	return players, nil
}

func doReplay(e *env, path string, flags replayFlags, format *cli.Outputs) error {
	modes, err := flags.modes()
	if err != nil {
		return err
	}
	game, err := flags.sims.game(e, "--sim", flags.sim)
	if err != nil {
		return err
	}
	if game != nil {
		return e.playAgain(path, game, modes, &flags, format)
	}
	sim, err := flags.sims.parse(e.Context, "--sim", flags.sim)
	if err != nil {
		return err
	}
	opts := bisect.TrialOptions{Runs: flags.runs, Depth: flags.rollback, Force: flags.force}
	if opts.Predict, err = playersOf(flags.predict); err != nil {
		return err
	}
	if flags.untilSet {
		opts.Until = &flags.until
	}
	if opts.Against, err = flags.sims.parse(e.Context, "--against", flags.against); err != nil {
		return err
	}
	tree, err := e.openToPlay(path, flags.from, flags.expect)
	if err != nil {
		return err
	}
	defer tree.Close()
	opened, err := e.session(tree, []string{path}, flags.match, flags.force)
	if err != nil {
		return tree.Explain(err)
	}
	session, err := opened.Replayable()
	if err != nil {
		return tree.Explain(err)
	}
	session.Lost = append(session.Lost, tree.Lost().Texts()...)
	session.Warnings = append(session.Warnings, tree.Warnings().Texts()...)
	opts.Snapshots, opts.Drill = session.Snapshots, flags.drill
	if flags.drill && session.Trace != "" {
		if opts.Traced, err = formats.OpenTraced(tree, session.Trace); err != nil {
			return err
		}
		defer opts.Traced.Close()
	}
	if flags.from != "" {
		if opts.From, err = bundle.LoadState(tree, flags.from); err != nil {
			return err
		}
	}
	if flags.expect != "" {
		if opts.Expect, err = formats.ReadHashes(tree, flags.expect); err != nil {
			return err
		}
	}
	var trials bisect.Trials
	for _, mode := range modes {
		one := opts
		one.Mode = mode
		t, err := e.try(session, sim, one, flags.writeTrace)
		if e.Context.Err() != nil && len(trials) > 0 {
			break // show the results so far
		}
		if err != nil {
			return err
		}
		t.Lost = append(t.Lost, session.Lost...)
		trials = append(trials, t)
	}
	e.Warn(session.Warnings)
	replayed := document.Replayed{Trials: trials}
	if flags.code.branches || flags.code.writes {
		replayed.Branches, replayed.Writes = e.inCode(session, sim, &flags, trials, opts)
	}
	err = e.Finish(format, document.Trials(replayed), flags.all)
	if flags.debugger != "" {
		e.debug(session, &flags, trials, opts)
	}
	return err
}

// try replays in one mode, with a progress bar, and writes the hashes of a plain replay if requested.
func (e *env) try(session *bundle.Replayable, sim *bisect.Sim, opts bisect.TrialOptions, trace string) (*bisect.Trial, error) {
	progress, end := e.Progress("replaying, "+string(opts.Mode), "ticks")
	defer end()
	opts.Progress = progress
	if opts.Mode != bisect.Plain || trace == "" {
		return bisect.Try(session.Log, sim, opts)
	}
	var t *bisect.Trial
	err := formats.WriteHashes(trace, &session.Log.Header, func(observe formats.HashWriter) (err error) {
		opts.Observe = observe
		t, err = bisect.Try(session.Log, sim, opts)
		return err
	})
	return t, err
}

// playAgain lets a game play a recording.
func (e *env) playAgain(path string, game *compare.Witness, modes []bisect.TrialMode, flags *replayFlags, format *cli.Outputs) error {
	for _, f := range []struct {
		given bool
		name  string
	}{
		{flags.from != "", "from"}, {flags.writeTrace != "", "write-trace"}, {flags.expect != "", "expect"}, {flags.drill, "drill"},
		{flags.code.branches, "branches"}, {flags.code.writes, "writes"}, {flags.debugger != "", "debugger"},
	} {
		if f.given {
			return fmt.Errorf("--%s needs a simulator that speaks the protocol, and %s is a game", f.name, game.Game.Title)
		}
	}
	game.Force = flags.force
	opts := compare.Plays{Modes: modes, Runs: flags.runs}
	if flags.untilSet {
		opts.Until = &flags.until
	}
	if flags.against != "" {
		against, err := flags.sims.game(e, "--against", flags.against)
		if err != nil {
			return err
		}
		if against == nil {
			return fmt.Errorf("--against: %s is a game, and is compared with a game", game.Game.Title)
		}
		against.Force = flags.force
		opts.Against = against.Witness
	}
	tree, err := e.openToPlay(path)
	if err != nil {
		return err
	}
	defer tree.Close()
	s, err := e.session(tree, []string{path}, flags.match, flags.force)
	if err != nil {
		return tree.Explain(err)
	}
	progress, end := e.replays(func() {})
	defer func() { end() }()
	opts.Progress = progress
	trials, warnings, err := compare.Play(s, *game, opts)
	end()
	if err != nil {
		return tree.Explain(err)
	}
	for _, t := range trials {
		t.Lost = append(t.Lost, tree.Lost().Texts()...)
	}
	e.Warn(slices.Concat(warnings, tree.Warnings().Texts()))
	return e.Finish(format, document.Trials(document.Replayed{Trials: trials}), flags.all)
}
