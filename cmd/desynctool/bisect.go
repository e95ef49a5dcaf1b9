package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/tracediff"
)

func newBisect(e *env) *cobra.Command {
	var sim string
	cmd := &cobra.Command{
		Use:   "bisect PATH...",
		Short: "Find between which state points the peers parted, and the tick",
		Long: `bisect compares the snapshots of two or more peers and finds the first state
points between which they parted, by reading only the headers of about log2 of
them. With order logs that recorded sync hashes it finds the exact tick; with
--sim it replays the orders from the last equal snapshot and says which peer
departs from the simulator.

Each PATH is the folder of one peer, or one folder that holds a folder for each.
Checksums that engines recorded beside the states (demos, sync streams, tables,
logs) are weighed against these; without states they alone give the bracket.

` + exitHelp,
		Example: `  desynctool bisect report/host report/client
  desynctool bisect report --sim builtin --format json`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&sim, "sim", "", "replay in this simulator: builtin")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doBisect(e, args, sim, format) }
	return cmd
}

func doBisect(e *env, paths []string, simName string, format *outputs) error {
	sim, err := simulator(simName)
	if err != nil {
		return err
	}
	r, err := bisectPaths(paths, sim)
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

// bisectPaths bisects by states, or, where no peer left any, by what engines
// recorded.
func bisectPaths(paths []string, sim *bisect.Sim) (*bisect.Result, error) {
	peers, err := bisect.Gather(paths, formats.Snapshots())
	if err == nil && len(peers) < 2 {
		err = fmt.Errorf("%s: evidence of %d peer, at least 2 are needed", paths[0], len(peers))
	}
	if err != nil {
		traces, traceErr := formats.OpenTraces(paths, nil, tracediff.ReadOptions{})
		if traceErr != nil {
			return nil, err
		}
		results, traceErr := traces.Compare(tracediff.Options{Context: -1})
		if traceErr != nil {
			return nil, traceErr
		}
		r := bisect.RunTraces(results)
		r.Warnings, r.Notes, r.Lost = append(r.Warnings, traces.Warnings...), append(r.Notes, traces.Notes...), append(r.Lost, traces.Missing...)
		return r, nil
	}
	traces := formats.EngineTraces(bisect.Others(peers))
	opts := bisect.Options{Sim: sim}
	if len(traces.Groups)+len(traces.Claims) > 0 {
		if opts.Traces, err = traces.Compare(tracediff.Options{Context: -1}); err != nil {
			traces.Warnings = append(traces.Warnings, err.Error())
		}
	}
	r, err := bisect.Run(peers, opts)
	if err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, traces.Warnings...)
	return r, nil
}

// simulator returns the simulator of that name, nil for "".
func simulator(name string) (*bisect.Sim, error) {
	switch name {
	case "":
		return nil, nil
	case "builtin":
		return refsim.Simulator(), nil
	}
	return nil, fmt.Errorf("unknown simulator %q, expected builtin", name)
}
