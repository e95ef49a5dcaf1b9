package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/formats"
)

func newBisect(e *env) *cobra.Command {
	var sim string
	var sims simulators
	var drill bool
	cmd := &cobra.Command{
		Use:   "bisect PATH...",
		Short: "Find between which state points the peers parted, and the tick",
		Long: `bisect compares the snapshots of two or more peers and finds the first state
points between which they parted, by reading only the headers of about log2 of
them. With order logs that recorded sync hashes it finds the exact tick; with
--sim it replays the orders from the last equal snapshot and says which peer
departs from the simulator; --drill then steps the tick system by system beside
the trace that the peer left, and says what departs first.

Each PATH is the folder of one peer, or one folder that holds a folder for each.
Checksums that engines recorded beside the states (demos, sync streams, tables,
logs) are weighed against these; without states they alone give the bracket.

` + formats.SimulatorHelp + `

` + exitHelp,
		Example: `  desynctool bisect report/host report/client
  desynctool bisect report --sim builtin --drill
  desynctool bisect report --sim builtin --format json`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&sim, "sim", "", "replay in this simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	sims.addTimeout(cmd)
	cmd.Flags().BoolVar(&drill, "drill", false, "with --sim: the system in which a peer departs, and what it wrote")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doBisect(e, args, sim, &sims, drill, format) }
	return cmd
}

func doBisect(e *env, paths []string, simName string, sims *simulators, drill bool, format *outputs) error {
	if drill && simName == "" {
		return errors.New("--drill steps a simulator: name one with --sim")
	}
	sim, err := sims.parse("--sim", simName)
	if err != nil {
		return err
	}
	defer sims.close()
	r, err := formats.Bisect(paths, sim, drill)
	if err != nil {
		return err
	}
	e.warn(r.Warnings)
	err = e.render(format,
		func(w io.Writer, s report.Style) error { return report.BisectText(w, r, s) },
		func() any { return report.Bisect(r) })
	if err != nil {
		return err
	}
	return ended(report.BisectStatus(r))
}
