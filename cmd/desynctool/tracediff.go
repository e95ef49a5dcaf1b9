package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// traceFlags are the flags of tracediff.
type traceFlags struct {
	options  tracediff.Options
	pattern  string
	schedule string
	lateFrom uint64
	rejoins  []uint
	every    uint64
	all      bool
	match    *matchFlag
}

func newTracediff(e *env) *cobra.Command {
	var flags traceFlags
	cmd := &cobra.Command{
		Use:   "tracediff PATH...",
		Short: "Find the first checksum that differs between traces",
		Long: `tracediff compares the checksum traces of two or more peers. It shows the first
checkpoint that differs, with its tick, system and scope, the lines around it,
and for each scope the first difference.

Each PATH is a trace, a table with one row a tick and one column a peer, a file
of an engine (see formats), the folder of one peer, or one folder that contains
a folder for each peer; an archive serves as a folder. Traces are binary or
text: key=value lines, one checksum a line, or with --pattern any log with
checksums in it. They may be compressed with gzip, zstd or xz; - is stdin. The
traces decide whether the claims in logs of engines are true.

--schedule EARLY,NORMAL,LATE shows when a relay would have noticed the
difference. The relay compares every EARLY ticks for the first 60 s and after
each --reconnect, then every NORMAL ticks, and every LATE ticks from --late-from
on. --every N is for a relay that always compares every N ticks.

` + cli.ExitHelp,
		Example: `  desynctool tracediff host/checkpoints.trace client/checkpoints.trace
  desynctool tracediff a.log b.log \
    --pattern 'frame (?P<tick>\d+) checksum (?P<sum>[0-9a-f]+)'`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&flags.pattern, "pattern", "", "regular expression with groups sum, tick, system, scope, phase, count")
	f.StringVar(&flags.schedule, "schedule", "", "intervals of a relay in ticks: EARLY,NORMAL,LATE")
	f.Uint64Var(&flags.lateFrom, "late-from", 0, "tick from which LATE applies")
	f.UintSliceVar(&flags.rejoins, "reconnect", nil, "ticks of reconnects, after which EARLY applies again")
	f.Uint64Var(&flags.every, "every", 0, "interval of a relay in ticks")
	f.IntVar(&flags.options.Context, "context", 3, "lines around the first difference")
	f.Uint64Var(&flags.options.Rollback, "rollback", 256, "number of ticks that a trace may go back and simulate again")
	f.BoolVar(&flags.options.FirstOnly, "first", false, "stop at the first tick that differs")
	f.BoolVar(&flags.options.Force, "force", false, "compare traces of different games")
	f.BoolVarP(&flags.all, "all", "a", false, "print everything")
	flags.match = addMatch(cmd)
	addGame(e, cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		changed := cmd.Flags().Changed
		switch {
		case changed("every") && flags.every == 0:
			return errors.New("--every is 0, expected at least 1")
		case flags.schedule == "" && (changed("late-from") || changed("reconnect")):
			return errors.New("--late-from and --reconnect belong to --schedule EARLY,NORMAL,LATE")
		case changed("schedule") && flags.schedule == "":
			return errors.New("--schedule is empty, expected EARLY,NORMAL,LATE")
		case flags.options.Context < 0:
			return fmt.Errorf("--context is %d, expected at least 0", flags.options.Context)
		}
		return doTracediff(e, args, flags, format)
	}
	return cmd
}

func doTracediff(e *env, paths []string, flags traceFlags, format *cli.Outputs) error {
	opts := flags.options
	opts.Context = cmp.Or(opts.Context, -1)
	if flags.all {
		opts.Limit = jsonLimit
	}
	var read tracediff.ReadOptions
	var err error
	if flags.pattern != "" {
		if read.Pattern, err = regexp.Compile(flags.pattern); err != nil {
			return fmt.Errorf("--pattern: %w", err)
		}
	}
	tree, err := e.open(paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	s, err := e.session(tree, paths, flags.match, opts.Force)
	if err != nil {
		return tree.Explain(err)
	}
	traces, err := s.Traces(bundle.TraceOptions{ReadOptions: read, Stdin: e.Stdin, Force: opts.Force})
	if err != nil {
		return tree.Explain(err)
	}
	traces.Missing = append(traces.Missing, s.AllLost(traces.Missing)...)
	e.Warn(s.Warnings())
	if opts.Schedules, err = schedules(flags, slices.Concat(traces.Groups...)); err != nil {
		return err
	}
	var end func()
	opts.Progress, end = e.Progress("comparing", "")
	results, err := traces.Compare(opts)
	end()
	if err != nil {
		return err
	}
	for _, r := range results {
		e.Warn(r.Warnings)
	}
	set := &tracediff.Set{Results: results, Missing: traces.Missing, Notes: traces.Notes, Copies: traces.Copies}
	return e.Finish(format, document.Trace(set), flags.all)
}

// earlySeconds is how long after the start a relay compares more often.
const earlySeconds = 60

// schedules returns the requested relays. Their early phase is a number of ticks that depends on the traces' tick rate,
// or 30 a second if no trace has one.
func schedules(flags traceFlags, traces []*tracediff.Trace) ([]tracediff.Schedule, error) {
	var out []tracediff.Schedule
	if flags.every > 0 {
		out = append(out, tracediff.Schedule{Name: fmt.Sprintf("a relay that compares every %d ticks", flags.every), Every: flags.every})
	}
	if flags.schedule == "" {
		return out, nil
	}
	var n [3]uint64
	parts := strings.Split(flags.schedule, ",")
	if len(parts) != len(n) {
		return nil, fmt.Errorf("--schedule is %q, expected EARLY,NORMAL,LATE", flags.schedule)
	}
	for i, part := range parts {
		var err error
		if n[i], err = strconv.ParseUint(part, 10, 64); err != nil || n[i] == 0 {
			return nil, fmt.Errorf("--schedule is %q, expected three intervals of at least 1", flags.schedule)
		}
	}
	rate := uint64(30)
	for _, t := range traces {
		if h := &t.Header; h.RateDen > 0 {
			rate = uint64(h.RateNum / h.RateDen)
			break
		}
	}
	s := tracediff.Schedule{
		Name:  "a relay on schedule " + flags.schedule,
		Early: n[0], Normal: n[1], Late: n[2], EarlyTicks: earlySeconds * rate, LateFrom: flags.lateFrom,
	}
	s.Reconnects = lists.Map(flags.rejoins, func(tick uint) uint64 { return uint64(tick) })
	return append(out, s), nil
}
