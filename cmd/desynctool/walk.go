package main

import (
	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

func newWalk(e *env) *cobra.Command {
	var all, force bool
	cmd := &cobra.Command{
		Use:   "walk A B",
		Short: "Descend two states' Merkle trees to the archetypes that differ",
		Long: `walk descends from the roots of two states to every leaf that differs, and
prints each hash that two peers would exchange to find them: two for each
differing node. It reads nothing but hashes, and the keys of blocks that the
states cut differently, because a damaged file would have other hashes for the
same rows.

A and B are snapshots or savegames, FOLDER@TICK for the state of a point, or
two folders for the first states that differ.

` + cli.ExitHelp,
		Example: `  desynctool walk host/desync_0000000000000007_0000001242.snap \
    client/desync_0000000000000007_0000001242.snap
  desynctool walk host client --format json`,
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "print all of a long answer")
	cmd.Flags().BoolVar(&force, "force", false, "compare states of different sessions or state points")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doWalk(e, args[0], args[1], all, force, format) }
	return cmd
}

func doWalk(e *env, a, b string, all, force bool, format *cli.Outputs) error {
	tree, err := e.open(a, b)
	if err != nil {
		return err
	}
	defer tree.Close()
	end := e.watch(tree, "comparing")
	defer end()
	pair, err := bundle.OpenPair(tree, a, b)
	if err != nil {
		return tree.Explain(err)
	}
	defer pair.Close()
	walk, err := snapshot.Descend(pair.A, pair.B, force)
	end()
	if err != nil {
		return pair.Explain(err)
	}
	walk.Lost = append(pair.Lost, tree.Lost().Texts()...)
	pair.Warnings = append(pair.Warnings, tree.Warnings().Texts()...)
	e.Warn(pair.Warnings)
	return e.Finish(format, document.Walk(walk, pair.Names, pair.Warnings), all)
}
