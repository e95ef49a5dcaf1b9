package main

import (
	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
)

func newDoctor(e *env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "doctor PATH...",
		Short: "List the evidence, the problems with it, and the missing evidence",
		Long: `doctor reads all evidence to its end before anything is compared: are the files
of one match, with the same build, mods, data, start state and tick rate; where
do the machines differ (system, processor, compiler, language); which files are
truncated, corrupt, empty, stale, duplicated or misnamed; which ticks each
peer's files cover; how far that lets a divergence be narrowed. If something is
lacking it ends with a text that asks the players for exactly that. For several
matches it lists the evidence of each match; --match N examines one of them.

Each PATH is a file, a folder or an archive, as for bisect. doctor does not
judge a divergence.

Exit status:
  0  the evidence is complete
  2  an argument is unusable: wrong usage, unreadable, no known files
  3  evidence is lost or missing, the output shows which`,
		Example: `  desynctool doctor report.zip
  desynctool doctor host client --format json`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "name every file with trouble")
	match := addMatch(cmd)
	addGame(e, cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doDoctor(e, args, all, match, format) }
	return cmd
}

func doDoctor(e *env, paths []string, all bool, match *matchFlag, format *cli.Outputs) error {
	tree, err := e.open(paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	progress, end := e.Progress("reading", "files")
	matches, err := bundle.OpenMatches(tree, paths)
	if err != nil {
		return tree.Explain(err)
	}
	if len(matches.List) > 1 && !match.given() {
		return e.checkMatches(matches, paths, format)
	}
	x, err := chosen(matches, match)
	if err != nil {
		return err
	}
	s, err := x.Open()
	if err != nil {
		return tree.Explain(err)
	}
	c, err := bundle.Examine(s, progress)
	end()
	if err != nil {
		return tree.Explain(err)
	}
	c.Warnings = append(c.Warnings, x.Doubts...)
	e.Warn(c.Warnings)
	return e.Finish(format, document.Doctor(c), all)
}
