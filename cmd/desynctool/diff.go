package main

import (
	"cmp"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	ignore     []string
	ignoreFile []string
	all        bool
	noise      bool
	force      bool
	memory     bundle.MemoryType
}

func newDiff(e *env) *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Show which fields of which entities differ between two states",
		Long: `diff compares two states by component. It shows rows that one side lacks, and
every value that differs, with the kind of change. It reads only archetypes,
columns and blocks with different digests. If no digest differs it reads both
states completely, since a digest is only the file's own claim about its
content.

A and B are snapshots, savegames or dumps; FOLDER@TICK or FILE@TICK is the state
of a point. If A and B are two folders, or two files that contain several
states, diff compares the first states that differ. Two files are compared byte
by byte if one of them has no known format.

Dumps of raw memory are compared by the members of their type. --debug-info is
the game with its debug information (DWARF in ELF, PE or Mach-O), and --type is
the name of the struct. Instead of --debug-info, --struct is a file that
declares the struct as C does. TYPE[] is as many elements as fit, TYPE[N] is N
elements.

An ignore rule is archetype/component.field, or archetype for a whole table;
* and ? are wildcards. Rules hide, they never change the exit status, and what
they hid is listed.

` + cli.ExitHelp,
		Example: `  desynctool diff host client
  desynctool diff host@1242 client@1242 --ignore 'Projectile/*.*' --all`,
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().StringArrayVar(&flags.ignore, "ignore", nil, "hide differences that match this rule (repeatable)")
	cmd.Flags().StringArrayVar(&flags.ignoreFile, "ignore-file", nil, "read rules from a file, one a line")
	cmd.Flags().BoolVarP(&flags.all, "all", "a", false, "print every difference")
	cmd.Flags().BoolVar(&flags.noise, "noise", false, "also compare data that is known to differ between peers in sync")
	cmd.Flags().BoolVar(&flags.force, "force", false, "compare states of different sessions or state points")
	cmd.Flags().StringVar(&flags.memory.Program, "debug-info", "", "A and B are raw memory of this game, which contains debug information")
	cmd.Flags().StringVar(&flags.memory.Declared, "struct", "", "A and B are raw memory of a struct that this file declares")
	cmd.Flags().StringVar(&flags.memory.Type, "type", "", "A and B are raw memory of this struct")
	cmd.Flags().Int64Var(&flags.memory.Offset, "offset", 0, "how many bytes precede the struct")
	cmd.MarkFlagsMutuallyExclusive("debug-info", "struct")
	addGame(e, cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doDiff(e, args[0], args[1], flags, format) }
	return cmd
}

// jsonLimit is how many differences a JSON document contains unless --all is given.
const jsonLimit = 100_000

func doDiff(e *env, a, b string, flags diffFlags, format *cli.Outputs) error {
	rules, err := ignoreRules(flags)
	if err != nil {
		return err
	}
	tree, err := e.open(a, b)
	if err != nil {
		return err
	}
	defer tree.Close()
	end := e.watch(tree, "comparing")
	defer end()
	var pair *bundle.Pair
	if flags.memory.Given() {
		pair, err = bundle.OpenMemory(tree, a, b, flags.memory)
	} else {
		pair, err = bundle.OpenPair(tree, a, b)
	}
	warnings := tree.Warnings().Texts()
	if pair != nil && pair.Raw {
		a, b, warnings = pair.Paths[0], pair.Paths[1], append(pair.Warnings, warnings...)
		err = errors.Join(frame.ErrUnrecognized, pair.Close())
	}
	if errors.Is(err, frame.ErrUnrecognized) {
		bytes, errBytes := bundle.CompareBytes(tree, a, b)
		if end(); bytes != nil {
			e.Warn(warnings)
			return e.Finish(format, document.Bytes(bytes.Result, bytes.Names, warnings), flags.all)
		}
		err = cmp.Or(errBytes, err)
	}
	if err != nil {
		return tree.Explain(err)
	}
	defer pair.Close()
	opts := snapshot.DiffOptions{Ignore: rules, Noise: flags.noise, Force: flags.force}
	for _, out := range format.List {
		if out.Format == "json" {
			opts.Limit, opts.Total = jsonLimit, jsonLimit
		}
	}
	if flags.all {
		opts.Limit, opts.Total = -1, 0
	}
	d, err := snapshot.Compare(pair.A, pair.B, opts)
	if err == nil && !d.Diverged() {
		err = pair.Check()
	}
	end()
	if err != nil {
		return pair.Explain(err)
	}
	d.Lost = append(pair.Lost, tree.Lost().Texts()...)
	if !d.Diverged() && !snapshot.Alike(&pair.A.Info().Head, &pair.B.Info().Head) {
		unknown := pair.Unknown()
		d.Lost, pair.Warnings = append(d.Lost, unknown...), append(pair.Warnings, unknown...)
	}
	if d.Diverged() {
		d.Findings, d.Notes = pair.Findings, formats.Unchecked(tree, pair.Paths[:])
	}
	pair.Warnings = append(pair.Warnings, tree.Warnings().Texts()...)
	e.Warn(pair.Warnings)
	return e.Finish(format, document.Diff(d, pair.Names, pair.Warnings), flags.all)
}

func ignoreRules(flags diffFlags) (*snapshot.Ignore, error) {
	rules := &snapshot.Ignore{}
	for _, rule := range flags.ignore {
		if err := rules.Add(rule); err != nil {
			return nil, err
		}
	}
	for _, path := range flags.ignoreFile {
		if err := readRules(rules, path); err != nil {
			return nil, err
		}
	}
	return rules, nil
}

func readRules(rules *snapshot.Ignore, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return rules.Read(f, path)
}
