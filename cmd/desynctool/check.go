package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/check"
	"github.com/desynctool/desynctool/report/document"
)

func newCheck(e *env) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "check PATH...",
		Short: "Test whether files that a game wrote keep the rules of the formats",
		Long: `check is for those who write order logs, snapshots, traces, tick signatures or
peers' reports themselves. It tests a file against the pages that specify it, down to what a reader
forgives: numbers in the shortest form, ascending keys, zeros where something has no use,
each checksum, digest and hash computed anew. It reads on after a mistake where that is
possible, and says of each where it is and which line of which page it breaks, by the
name that docs/rules.md has for the rule. An error breaks a rule; an advice is of what is
allowed and costs something, such as a log without hashes.

Of a folder each file of ours is checked, and the files of one peer, which lie in one
folder, against each other: hashes in the order log against snapshots and reports.

verify asks something else, of any file that desynctool reads: whether evidence is as it
was written. sim check does for a simulator what check does for files.

Exit status: 0 if all files conform, 1 if one does not, 2 if one cannot be read or is of
no format that check knows.`,
		Example: `  desynctool check session/host/order-log.bin
  desynctool check session
  desynctool check --format json host.trace`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVar(&all, "all", false, "show every finding that is kept, at most 1000 of a file")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doCheck(e, args, all, format) }
	return cmd
}

func doCheck(e *env, paths []string, all bool, format *cli.Outputs) error {
	tree, err := e.open(paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	end := e.watch(tree, "checking")
	defer end()
	result, unread := check.Check(tree, paths, check.Options{})
	end()
	unread = tree.Explain(unread)
	if len(result) == 0 {
		return unread
	}
	err = e.Render(format,
		func(w io.Writer, s document.Style) error { return result.Text(w, s, all) },
		result.Document)
	if err != nil {
		return err
	}
	if unread != nil {
		return unread
	}
	return cli.Ended(document.StatusOf(result))
}
