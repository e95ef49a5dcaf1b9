package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/resultcache"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

func newSim(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim [builtin[:fault=NAME[/PLACE][@TICK]]]",
		Short: "Serve the built-in reference sim, or test your simulator",
		Long: `sim serves the reference sim over the protocol that desynctool uses to ask
external simulators: on stdin and stdout, or on the socket in the environment
variable ` + extsim.AddressVar + `. It is an example of a target, and the
protocol is tested with it: replay s/host --sim "exec:desynctool sim".

docs/extsim.md specifies the protocol; docs/sdk has single files that speak it.

Exit status: 0 when the connection ends, 2 if it breaks.`,
		Example: `  desynctool replay s/host --sim "exec:desynctool sim" --against builtin
  desynctool sim check --log s/host -- ./mygame --headless`,
		Args: cobra.MaximumNArgs(1),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		spec := "builtin"
		if len(args) > 0 {
			spec = args[0]
		}
		return doSim(e, spec)
	}
	cmd.AddCommand(newSimCheck(e))
	return cmd
}

func doSim(e *env, spec string) (err error) {
	sim, err := refsim.ParseSimulator(spec)
	if err != nil {
		return err
	}
	e.IgnoreSignals() // it waits for its client, and leaves nothing behind
	conn, err := extsim.Connect(e.Stdin, e.Stdout)
	if err != nil {
		return err
	}
	return errors.Join(extsim.Serve(conn, sim, refsim.SimName), conn.Close())
}

// stdio is the name of extsim.Stdio.
const stdio extsim.Transport = "stdio"

// simCheckFlags are the flags of sim check.
type simCheckFlags struct {
	log       string
	ticks     uint64
	seed      uint64
	params    []string
	transport extsim.Transport
	timeout   time.Duration
}

func newSimCheck(e *env) *cobra.Command {
	var flags simCheckFlags
	cmd := &cobra.Command{
		Use:   "check [flags] -- COMMAND...",
		Short: "Test whether a simulator speaks the protocol",
		Long: `check starts your simulator several times and tests everything that the
simulator claims to support: the same run twice, ticks in batches and one by
one, a second session in one process, the reported state compared with its hash,
save, restore and load compared with a straight run, steps system by system,
caches, tests of orders, bad requests, and that the simulator exits when its
connection is closed.

Instead of a command, wasm:FILE tests a WebAssembly module.

With --log it plays the orders of a log that your game wrote, and compares the
hashes with the hashes in the log. Without a log the session has a seed and
parameters but no orders, which tests less.

Exit status: 0 if all is well, 1 if something is wrong, 2 if the simulator cannot
be started.`,
		Example: `  desynctool sim check -- ./mygame --headless
  desynctool sim check --log session/host/order-log.bin -- python3 game.py serve
  desynctool sim check --param map=islands --transport tcp -- ./mygame
  desynctool sim check wasm:mygame.wasm`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&flags.log, "log", "", "an order log of the game, or the folder of one peer")
	f.Uint64Var(&flags.ticks, "ticks", 300, "number of ticks to play; with --log at most the ticks in the log")
	f.Uint64Var(&flags.seed, "seed", 1, "without --log: the session's seed")
	f.StringArrayVar(&flags.params, "param", nil, "without --log: KEY=VALUE, a parameter of the session (repeatable)")
	flags.transport = stdio
	f.Var(cli.OneOf(&flags.transport, "TRANSPORT", stdio, extsim.Unix, extsim.TCP), "transport", "stdio, unix or tcp")
	f.DurationVar(&flags.timeout, "timeout", extsim.DefaultTimeout, "how long one request may take")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doSimCheck(e, args, flags, format) }
	return cmd
}

func doSimCheck(e *env, argv []string, flags simCheckFlags, format *cli.Outputs) error {
	opts := extsim.Options{Timeout: flags.timeout}
	if flags.transport != stdio {
		opts.Transport = flags.transport
	}
	if flags.timeout <= 0 {
		return fmt.Errorf("--timeout is %v, expected more than 0", flags.timeout)
	}
	params := map[string]string{}
	for _, p := range flags.params {
		key, value, ok := strings.Cut(p, "=")
		if !ok || key == "" {
			return fmt.Errorf("--param is %q, expected KEY=VALUE", p)
		}
		params[key] = value
	}
	tree, err := e.openToPlay(flags.log)
	if err != nil {
		return err
	}
	defer tree.Close()
	session, err := simulators.SessionFor(tree, flags.log, flags.ticks, flags.seed, params)
	if err != nil {
		return err
	}
	c, err := simulators.Check(e.Context, argv, opts, *session)
	if err != nil {
		return err
	}
	return e.Finish(format, document.Conformance(c), false)
}

// simFlags parses the flags for simulators and games. An empty specification means none.
type simFlags struct {
	timeout time.Duration
	// For games.
	noCache, force bool
	given          func(name string) bool // reports whether a flag was given
}

// addTimeout adds the flag --sim-timeout.
func (s *simFlags) addTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&s.timeout, "sim-timeout", extsim.DefaultTimeout, "how long a simulator in another process may take to answer, or a game (1h by default) to play a recording")
	s.given = func(name string) bool { return cmd.Flags().Changed(name) }
}

// noCache is a flag of commands that accept games.
const noCache = "no-cache"

// addGames adds the flags for games that play recordings again.
func (s *simFlags) addGames(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.noCache, noCache, false, "with a game: play recordings again that the game has played before")
	if cmd.Flags().Lookup("force") == nil {
		cmd.Flags().BoolVar(&s.force, "force", false, "with a game: also play recordings of another version")
	}
}

// game returns the game in a flag, nil if there is none.
func (s *simFlags) game(e *env, flag, spec string) (*compare.Witness, error) {
	w, err := simulators.Witness(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if w == nil {
		return nil, nil
	}
	if s.given("sim-timeout") {
		if s.timeout <= 0 {
			return nil, fmt.Errorf("--sim-timeout is %v, expected more than 0", s.timeout)
		}
		w.Time = s.timeout
	}
	w.Force = s.force
	var told sync.Map // several may be played at once
	w.Say = func(text string) {
		if _, twice := told.LoadOrStore(text, true); !twice {
			e.Warn([]string{text})
		}
	}
	if !s.noCache {
		w.Cache = e.replaysKept()
	}
	return &compare.Witness{Witness: w, Context: e.Context}, nil
}

// parse returns the simulator in a flag, nil if the flag is empty. When ctx is done, its replays end, and so do the
// processes that were started for it.
func (s *simFlags) parse(ctx context.Context, flag, spec string) (*bisect.Sim, error) {
	return simulators.ParseFlag(ctx, flag, spec, simulators.Options{Timeout: s.timeout})
}

// maxKept is how many bytes of games' results the cache may have.
const maxKept = 4 << 30

// replaysKept returns the cache of games' results.
func (e *env) replaysKept() *resultcache.Cache {
	if e.replayed != nil {
		return e.replayed
	}
	dir, err := resultcache.Folder("replays")
	if err != nil {
		err = fmt.Errorf("nothing is kept: %w", err)
		e.replayed = resultcache.None()
	} else {
		e.replayed, err = resultcache.Open(dir, maxKept)
	}
	if err != nil {
		e.Warn([]string{"what games compute: " + err.Error()})
	}
	return e.replayed
}
