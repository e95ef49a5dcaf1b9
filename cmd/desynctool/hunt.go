package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/hunt"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

// huntFlags are the flags of hunt.
type huntFlags struct {
	sim, against string
	sims         simFlags
	seeds        uint64
	first, seed  seedFlag
	length       time.Duration
	store        string
	modes        []string
	params       []string
	ticks        uint64
	jobs, most   int
	all          bool

	storeSet, seedsSet, firstSet, seedSet bool
}

// seedFlag is a number of 64 bits, decimal or as 0x….
type seedFlag uint64

func (s *seedFlag) String() string { return "0x" + strconv.FormatUint(uint64(*s), 16) }
func (s *seedFlag) Type() string   { return "SEED" }

func (s *seedFlag) Set(text string) error {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return errors.New("expected a number of 64 bits, such as 7 or 0x1f")
	}
	*s = seedFlag(n)
	return nil
}

// seedsByDefault is the default number of sessions.
const seedsByDefault = 100

func newHunt(e *env) *cobra.Command {
	flags := huntFlags{first: 1}
	cmd := &cobra.Command{
		Use:   "hunt [PATH...] --sim SIM",
		Short: "Play made-up sessions, and keep the smallest for each failure",
		Long: `hunt plays sessions that nobody has played yet, in every mode that the simulator
allows, and keeps the smallest session of each failure: departures, crashes,
answers that do not come, and such as break the protocol.

hunt makes orders as the simulator describes them (capability orders of
docs/extsim.md), and by changing the orders in the order logs given as PATH. The
modes are ` + "`checksum`" + `, which compares the sync hash with the state, and the modes
of replay: ` + "`dual`, `serialize`, `rollback`, `predict`, `check-purity`,\n`check-caches`, `against`" + `.

A session follows from its seed, and from the simulators, modes, logs,
parameters and --ticks. --seed plays the session of one seed again. The same
seeds give the same findings in the same order, whatever --jobs is.

The findings are in the folder --store. If Ctrl-C or --for stopped a hunt, the
next hunt with the same arguments continues there. docs/hunt.md has more.

` + simulators.Help + `

Exit status:
  0  nothing was found
  1  something was found, now or earlier in this store
  2  an argument is unusable
  3  no session was played: no time, no mode that the simulator allows, no orders`,
		Example: `  desynctool hunt --sim "exec:./mygame --headless" --seeds 3 --for 8h
  desynctool hunt --sim builtin:fault=map-order --seeds 4 --store found
  desynctool hunt session/host --seeds 3 --modes dual,serialize --store recorded
  desynctool hunt --sim builtin:fault=rng-leak --against builtin --seed 0x1`,
	}
	f := cmd.Flags()
	f.StringVarP(&flags.sim, "sim", "s", "builtin", "the simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	f.StringVar(&flags.against, "against", "", "a second simulator, side by side with the first")
	flags.sims.addTimeout(cmd)
	f.Uint64Var(&flags.seeds, "seeds", seedsByDefault, "how many sessions, including the sessions of earlier hunts in the store; with --for there is no bound unless --seeds is given")
	f.Var(&flags.first, "first", "the seed of the first session; the seeds of the next sessions follow it")
	f.DurationVar(&flags.length, "for", 0, "begin no more sessions after this time, such as 8h")
	f.Var(&flags.seed, "seed", "play only the session of this seed, and keep nothing")
	f.StringVar(&flags.store, "store", "hunt", "folder of the findings, from which a later hunt continues")
	f.StringSliceVar(&flags.modes, "modes", nil, "only these modes, separated by commas")
	f.StringArrayVar(&flags.params, "param", nil, "KEY=VALUE[,VALUE...]: a parameter of sessions; each session has one of these values (repeatable)")
	f.Uint64Var(&flags.ticks, "ticks", hunt.DefaultTicks, "how many ticks a session has at most")
	f.IntVar(&flags.most, "max-replays", hunt.DefaultMaxReplays, "minimise a failure with at most this many replays")
	f.IntVar(&flags.jobs, "jobs", 0, "how many sessions to play at once; 0 for as many as there are processors")
	f.BoolVarP(&flags.all, "all", "a", false, "print every finding")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		changed := cmd.Flags().Changed
		flags.storeSet, flags.seedsSet, flags.firstSet, flags.seedSet = changed("store"), changed("seeds"), changed("first"), changed("seed")
		return doHunt(e, args, flags, format)
	}
	return cmd
}

// check returns an error for flags that conflict.
func (f *huntFlags) check() error {
	switch {
	case f.seedSet && (f.storeSet || f.seedsSet || f.firstSet || f.length != 0):
		return errors.New("--seed plays one session and keeps nothing: --store, --seeds, --first and --for do not go with it")
	case f.seeds == 0:
		return errors.New("--seeds is 0, expected at least 1")
	case f.length < 0:
		return fmt.Errorf("--for is %v, expected more than 0", f.length)
	case f.jobs < 0 || f.most < 1:
		return errors.New("--jobs is at least 0, --max-replays at least 1")
	case f.ticks < hunt.MinTicks:
		return fmt.Errorf("--ticks is %d, expected at least %d", f.ticks, hunt.MinTicks)
	}
	return nil
}

// target returns the target of the hunt, and the arguments that name it.
func (f *huntFlags) target(e *env, paths []string) (t hunt.Target, args []string, err error) {
	args = []string{"hunt"}
	for _, path := range paths {
		log, err := e.openOrders(path)
		if err != nil {
			return t, nil, err
		}
		t.Logs = append(t.Logs, log)
		args = append(args, document.PathArgument(path))
	}
	args = append(args, "--sim", f.sim)
	if t.Sim, err = f.sims.parse(e.Context, "--sim", f.sim); err != nil {
		return t, nil, err
	}
	if t.Against, err = f.sims.parse(e.Context, "--against", f.against); err != nil {
		return t, nil, err
	}
	if f.against != "" {
		args = append(args, "--against", f.against)
	}
	for _, name := range f.modes {
		if names := huntModes(); !slices.Contains(names, name) {
			return t, nil, fmt.Errorf("--modes: unknown mode %q, expected %s%s", name, cli.Alternatives(names), prose.DidYouMean(name, names))
		}
		t.Modes = append(t.Modes, bisect.TrialMode(name))
	}
	if len(f.modes) > 0 {
		args = append(args, "--modes", strings.Join(f.modes, ","))
	}
	for _, p := range f.params {
		key, values, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return t, nil, fmt.Errorf("--param is %q, expected KEY=VALUE[,VALUE...]", p)
		}
		if t.Params == nil {
			t.Params = map[string][]string{}
		}
		t.Params[key] = append(t.Params[key], strings.Split(values, ",")...)
		args = append(args, "--param", p)
	}
	if t.MaxTicks = f.ticks; f.ticks != hunt.DefaultTicks {
		args = append(args, "--ticks", strconv.FormatUint(f.ticks, 10))
	}
	return t, args, nil
}

// huntModes returns the names of the modes of a hunt.
func huntModes() []string {
	return lists.Map(hunt.Modes(), func(m bisect.TrialMode) string { return string(m) })
}

// openOrders reads the order log at a path.
func (e *env) openOrders(path string) (*orderlog.Log, error) {
	tree, err := e.openToPlay(path)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	r, err := bundle.OpenReplay(tree, path)
	if err != nil {
		return nil, tree.Explain(err)
	}
	e.Warn(r.Warnings)
	return r.Log, nil
}

// replayOf returns the arguments for replaying a finding's log.
func (f *huntFlags) replayOf(x *hunt.Finding, log string) []string {
	args := []string{"replay", document.PathArgument(log), "--sim", f.sim}
	switch x.Mode {
	case hunt.Play:
	case hunt.Checksum:
		return nil
	case bisect.Against:
		args = append(args, "--against", f.against)
	case bisect.Rollback:
		args = append(args, "--rollback", strconv.Itoa(x.Depth))
	case bisect.Predict:
		players := lists.Map(x.Predict, func(p uint32) string { return strconv.FormatUint(uint64(p), 10) })
		args = append(args, "--predict", strings.Join(players, ","))
	default:
		args = append(args, "--"+string(x.Mode))
	}
	return args
}

// verdictName is the file in a finding's folder that describes the finding.
const verdictName = "finding.json"

func doHunt(e *env, paths []string, flags huntFlags, format *cli.Outputs) (err error) {
	if err := flags.check(); err != nil {
		return err
	}
	target, args, err := flags.target(e, paths)
	if err != nil {
		return err
	}
	h, err := hunt.New(target)
	if err != nil {
		return err
	}
	commands := document.HuntCommands{Session: args, Replay: flags.replayOf}
	opts := hunt.Options{Sessions: flags.seeds, Jobs: flags.jobs, MaxReplays: flags.most}
	var store *hunt.Store
	state := h.Begin(uint64(flags.seed))
	if flags.seedSet {
		opts.Sessions = 1
	} else {
		if store, err = hunt.OpenStore(flags.store, h, uint64(flags.first)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		state = store.State
		opts.Keep = func(dir string, f *hunt.Finding) error {
			final := store.Folder(f)
			log, err := filepath.Rel(dir, f.Kept(dir))
			if err != nil {
				return err
			}
			doc := document.HuntFinding(f, final, filepath.Join(final, log), commands)
			return files.Replace(filepath.Join(dir, verdictName), func(to *os.File) error { return doc.JSON(to) })
		}
	}
	if flags.length > 0 {
		if !flags.seedsSet {
			opts.Sessions = 0
		}
		end := time.Now().Add(flags.length)
		opts.Over = func() bool { return !time.Now().Before(end) }
	}
	progress, end := e.Progress("hunting", "sessions")
	defer end()
	opts.Progress = progress
	r, err := h.Run(e.Context, state, store, opts)
	end()
	if err != nil {
		return err
	}
	return e.Finish(format, document.Hunt(r, commands), flags.all)
}
