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
		Long: `check is for games that write order logs, snapshots, traces, tick signatures or
peers' reports themselves. It tests a file against the pages that specify it. It
also tests the rules that a reader does not enforce: numbers in the shortest
form, ascending keys, zeros in unused fields. It computes each checksum, digest
and hash again. After a mistake it continues if that is possible. For each
mistake it reports the place and the broken rule: the page, the line, and the
name of the rule in docs/rules.md. An error breaks a rule. An advice is about
something that is allowed but has a cost, such as a log without hashes.

In a folder, each file in a format of desynctool is checked. The files of one peer, which lie
in one folder, are compared with each other: hashes in the order log with snapshots and
reports.

verify tests something else, for any file that desynctool reads: whether the
evidence is still as it was written. sim check tests a simulator as check tests
files.

Exit status: 0 if all files conform, 1 if one does not, 2 if one cannot be read
or has no format that check knows.`,
		Example: `  desynctool check session/host/order-log.bin
  desynctool check session
  desynctool check --format json host.trace`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "show every finding, at most 1000 for each file")
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
