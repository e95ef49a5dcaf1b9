package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
)

// ordersFlags are the flags of orders.
type ordersFlags struct {
	options orderlog.CompareOptions
	all     bool
	match   *matchFlag
}

func newOrders(e *env) *cobra.Command {
	var flags ordersFlags
	cmd := &cobra.Command{
		Use:   "orders PATH...",
		Short: "Show which orders differ between the logs of two or more peers",
		Long: `orders compares the order logs of two or more peers by tick, player and content.
It finds orders that are missing, extra, duplicated, reordered, late, altered or
failed on one side. The inputs of the simulation must be equal before anyone
blames the simulation.

Each PATH is a log, the folder of one peer, or one folder that contains a folder
for each peer; an archive serves as a folder. Logs of desynctool and logs of
games are recognised by content, compressed or not; formats lists the games with
orders.

` + cli.ExitHelp,
		Example: `  desynctool orders server/commands-out.log client/commands-out.log
  desynctool orders session --local chat --format json`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&flags.options.Reference, "against", "", "name of the peer that the others are compared with")
	f.StringArrayVar(&flags.options.LocalKinds, "local", nil, "a kind of order that need not be the same on all peers (repeatable)")
	f.Uint64Var(&flags.options.LateWindow, "late", 4096, "number of ticks by which an order may be late and still count as the same")
	f.BoolVar(&flags.options.Force, "force", false, "compare logs of different sessions")
	f.BoolVarP(&flags.all, "all", "a", false, "print every difference")
	flags.match = addMatch(cmd)
	addGame(e, cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doOrders(e, args, flags, format) }
	return cmd
}

func doOrders(e *env, paths []string, flags ordersFlags, format *cli.Outputs) error {
	tree, err := e.open(paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	progress, end := e.Progress("comparing", "")
	defer end()
	s, err := e.session(tree, paths, flags.match, flags.options.Force)
	if err != nil {
		return tree.Explain(err)
	}
	logs, err := s.Logs(progress)
	if err != nil {
		return tree.Explain(err)
	}
	defer logs.Close()
	if flags.all {
		flags.options.Limit = jsonLimit
	}
	c, err := orderlog.Compare(logs.Named, flags.options)
	end()
	if err != nil {
		return err
	}
	c.Lost = append(logs.Missing, s.AllLost(nil)...)
	c.Warnings = append(c.Warnings, s.Warnings()...)
	e.Warn(slices.Concat(c.Warnings, c.Trouble(), c.Lost))
	return e.Finish(format, document.Orders(c), flags.all)
}
