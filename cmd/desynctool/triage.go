package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/report/triage"
)

// triageFlags are the flags of triage.
type triageFlags struct {
	all, stats, redact bool
	open               bool // the page, in a browser

	sim, own string
	replays  int
	verify   bool
	sims     simFlags
	code     codeFlags
	known    string
	sameBy   document.Level // that makes a divergence known
	start    string         // file of a new write-up
	failOn   string
	isolate  string // empty, cli.IsolateOn or cli.IsolateRequired
	match    *matchFlag
}

func newTriage(e *env) *cobra.Command {
	flags := triageFlags{sameBy: document.LevelStrict}
	cmd := &cobra.Command{
		Use:   "triage PATH...",
		Short: "Show what happened: when, where, differences, missing evidence",
		Long: `triage takes all files that the peers left (folders, archives, single files;
snapshots, savegames, order logs, traces, logs of engines, in any mixture) and
narrows the desync down: the tick, the system, the archetype, the component, the
entities, the values, the peers, and the kinds of mistakes that look like this.
Every step is shown with the evidence for it, or with the evidence that would
answer it. docs/causes.md describes the kinds.

Files of several matches, of one game or of several, are split by game, match,
seed and folder. Each match has a line; the exit status is the status of the
worst match. --match N shows one match in full. Two matches are never merged,
and the output reports files that cannot be separated.

Text that people paste into posts is taken apart. A diff of two reports, dumps
or logs is evidence of two peers, as far as its lines show it. Quoting, fences,
time stamps and the like are removed, and the output reports this. The path -
means stdin. docs/formats/paste.md has the details.

With --sim the orders are replayed, which shows which peer is wrong. Replays in
other modes then find out why: orders are tested and predicted, states are saved
and loaded, caches are computed again, the same orders are played several times.
These replays show the mistakes of that build. --own names the build that the
peer had, if it is another one; then mistakes that the replays do not show are
excluded. --replays N is the maximum number of replays; without it replays are
begun until they have played a million ticks. The files of one peer are enough:
they are compared with a replay of its orders. --branches and --writes lead from
the tick to the line of source at which the two builds depart (docs/code.md).

` + simulators.Help + `

` + simulators.GamesHelp() + `

--known DIR compares the report with earlier write-ups, Markdown files with a
line "fingerprint: …" in their header; --write-up FILE starts one. --same-by
chooses what a known divergence has in common with a write-up, besides the
strict fingerprint. Measured with 24 bugs in each of two games, with complete
evidence: how many pairs of sessions of one bug have it in common, and how many
pairs of different bugs, which are taken for one bug:

              an RTS in lockstep   a game with rollback
  strict       9.0 %   0.0 %        24.0 %   0.0 %        (default)
  field       77.1 %   0.9 %        84.7 %   1.9 %
  component   86.8 %   3.0 %        87.9 %   3.8 %
  archetype   36.1 %   1.6 %        92.7 %   8.9 %

The archetypes that differ first change with each session if a bug is in a
component of many. docs/accuracy.md has the pairs.

--fail-on sets which outcomes end with an exit status other than 0: diverged,
new (a divergence that no write-up in --known has), inconclusive, never. The
default is diverged,inconclusive. docs/ci.md has the table.

With --isolate a separate process reads each match. It cannot open other files,
cannot reach the network and other processes, and has limits of memory and time.
If it dies, the match is inconclusive. stderr names the restrictions that the
system cannot enforce; with --isolate=require triage refuses to run without
them. Simulators that are programs (exec:), and games, cannot run in this
process.

` + cli.ExitHelp,
		Example: `  desynctool triage report.zip
  desynctool triage host client --sim builtin
  xclip -o | desynctool triage -
  desynctool triage host client --sim exec:game-1.3 \
    --own "exec:game-1.2 --locale de"
  desynctool triage artifacts --format html=report.html \
    --format junit=report.xml --format text
  desynctool triage report.zip --known bugs --same-by field --fail-on new
  desynctool triage report.zip --isolate`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.all, "all", "a", false, "print all of a long answer")
	f.StringVarP(&flags.sim, "sim", "s", "", "replay in this simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	f.StringVar(&flags.own, "own", "", "the build of the wrong peer, if it is not the build in --sim")
	f.BoolVar(&flags.verify, "verify", false, verifyUsage)
	f.IntVar(&flags.replays, "replays", 0, "maximum number of replays to find the cause; 0 begins replays until they have played 1,000,000 ticks")
	flags.code.add(cmd, "--sim and --own")
	flags.sims.addTimeout(cmd)
	flags.sims.addGames(cmd)
	f.StringVar(&flags.known, "known", "", "a folder with earlier write-ups")
	f.Var(cli.OneOf(&flags.sameBy, "LEVEL", document.SameBy()...), "same-by", "with --known: the level at which a write-up makes a divergence known: strict, field, component or archetype")
	f.StringVar(&flags.start, "write-up", "", "start a write-up in this file, which must not exist yet")
	f.StringVar(&flags.failOn, "fail-on", "", "which outcomes fail: diverged, new or never, and inconclusive")
	f.BoolVar(&flags.stats, "stats", false, "print on stderr how much of the input was read")
	f.BoolVar(&flags.redact, "redact", false, "leave only the facts that players may see")
	cli.AddIsolate(cmd, &flags.isolate)
	addOpen(cmd, &flags.open)
	flags.match = addMatch(cmd)
	addGame(e, cmd)
	format := cli.AddReportFormats(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if flags.known == "" && f.Changed("same-by") {
			return errors.New("--same-by compares a divergence with write-ups: --known DIR has them")
		}
		return doTriage(e, args, flags, format)
	}
	return cmd
}

// verifyUsage describes --verify.
const verifyUsage = "if no states differ, read all of them whole and recompute their hashes, not only the first and the last pair"

// builds returns the simulators given by the flags.
func (f *triageFlags) builds(e *env) (b compare.Builds, err error) {
	named := simulators.Builds{Sim: f.sim, Own: f.own, Replays: f.replays}
	if err := named.Check(); err != nil {
		return b, err
	}
	if err := f.code.check(f.own != "", "--sim, the sound one, and --own, the peer's"); err != nil {
		return b, err
	}
	b.Replays, b.Verify = f.replays, f.verify
	b.Code = f.code.query(e, [2]build{{"--sim", f.sim}, {"--own", f.own}}, f.sims.timeout)
	if b.Witness, err = f.sims.game(e, "--sim", f.sim); err != nil {
		return b, err
	}
	if b.Witness != nil {
		return b, f.gameAlone(b.Witness)
	}
	b.Sim, b.Own, err = named.Parse(e.Context, simulators.Options{Timeout: f.sims.timeout})
	return b, err
}

// gameAlone returns an error for flags that apply to simulators but not to games.
func (f *triageFlags) gameAlone(w *compare.Witness) error {
	switch {
	case f.own != "":
		return fmt.Errorf("--own is for simulators that speak the protocol, and %s is a game", w.Game.Title)
	case f.replays > 0:
		return fmt.Errorf("--replays is for simulators that speak the protocol, and %s is a game", w.Game.Title)
	}
	return nil
}

// replays returns a function that shows the progress of consecutive replays, and a function that ends it. The former
// calls before when the first replay starts.
func (e *env) replays(before func()) (report func(what string, done, total int64), end func()) {
	if !cli.IsTerminal(e.Stderr) {
		return nil, before
	}
	over, now := before, ""
	var bar func(done, total int64)
	report = func(what string, done, total int64) {
		if what != now {
			over()
			now = what
			bar, over = e.Progress(what, "ticks")
		}
		bar(done, total)
	}
	return report, func() { over() }
}

func doTriage(e *env, paths []string, flags triageFlags, format *cli.Outputs) error {
	if _, err := new(document.Report).ExitFor(flags.failOn); err != nil {
		return err
	}
	if flags.known != "" {
		switch stat, err := os.Stat(flags.known); {
		case errors.Is(err, fs.ErrNotExist): // git keeps no empty folder
			e.Warn([]string{"--known " + flags.known + ": it is not there, so nothing is known"})
			flags.known = ""
		case err != nil || !stat.IsDir():
			return fmt.Errorf("--known %s: expected a folder", flags.known)
		}
	}
	if flags.start != "" {
		if _, err := os.Lstat(flags.start); err == nil {
			return fmt.Errorf("--write-up %s: it is there already", flags.start)
		}
	}
	find := e.find
	if flags.isolate != "" {
		find = e.findIsolated
	}
	found, err := find(paths, flags)
	if err != nil {
		return err
	}
	defer func() {
		if usage := found.Usage(); flags.stats && usage != "" {
			fmt.Fprintln(e.Stderr, usage)
		}
		found.Close()
	}()
	if found.Report == nil {
		return e.triageMatches(found, paths, flags, format)
	}
	r := found.Report
	if err := flags.seen(r); err != nil {
		return err
	}
	e.Warn(r.Warnings)
	e.triageFailed(r)
	if flags.start != "" {
		if len(r.Fingerprints) == 0 {
			e.Warn([]string{"--write-up: no divergence is known, so there is nothing to write up"})
		} else if err := files.Replace(flags.start, func(f *os.File) error { return r.WriteUp(f) }); err != nil {
			return err
		}
	}
	status, err := r.ExitFor(flags.failOn)
	if err != nil {
		return err
	}
	if flags.redact {
		r = r.Redact()
	}
	if err := e.RenderReport(format, r, flags.all); err != nil {
		return err
	}
	if flags.open {
		if err := e.openPage(format, pageOf(r)); err != nil {
			return err
		}
	}
	return cli.Ended(status)
}

// seen adds the write-ups in --known to a report.
func (f *triageFlags) seen(r *document.Report) (err error) {
	if f.known == "" {
		return nil
	}
	if r.Seen, err = r.FindSeen(os.DirFS(f.known), f.sameBy); err != nil {
		return fmt.Errorf("--known %s: %w", f.known, err)
	}
	return nil
}

// find examines the files below some paths in this process.
func (e *env) find(paths []string, flags triageFlags) (*triage.Found, error) {
	builds, err := flags.builds(e)
	if err != nil {
		return nil, err
	}
	var options archive.Options
	if builds.Sim == nil && builds.Witness == nil { // else the replays take long, and earlier results are shown
		options = e.reading(paths)
	}
	options.Count = flags.stats
	if slices.Contains(paths, archive.Stdin) {
		options.Stdin = piped{e.Stdin, &e.piped}
	}
	tree, err := e.openWith(options, paths...)
	if err != nil {
		return nil, err
	}
	progress, end := e.Progress("comparing", "")
	builds.Progress, end = e.replays(end)
	defer func() { end() }()
	opened, err := triage.Open(e.Context, tree, paths, builds)
	if err != nil {
		return nil, err
	}
	opened.Wall, opened.Progress = e.TimeReached, progress
	return opened.Find(flags.match.named())
}
