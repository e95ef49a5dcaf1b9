package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/cli"
	"github.com/desynctool/desynctool/internal/kept"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
)

// env is what a command works with besides its flags.
type env struct {
	*cli.Env
	// replayed keeps what games computed, nil until it is asked for.
	replayed *kept.Cache
}

// filesOnly are the commands that take paths, and no - for stdin.
var filesOnly = []string{"doctor", "bisect", "replay", "minimize", "orders", "walk", "diff", "proof", "verify", "check", "explore", "hunt"}

// newRoot returns the root command with the commands of this program.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "desynctool",
		Short: "Find out where and why the peers of a deterministic game diverged",
		Long: `desynctool reads what is left of a desync (snapshots, order logs, savegames of
several engines) and narrows it down: the state points between which the peers
diverged, the tick, the archetype, the component, the entity, the field.

Results go to stdout, warnings and errors to stderr.

` + cli.ExitHelp,
		Annotations: map[string]string{cli.TakesPaths: "desynctool triage"},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "-") && slices.Contains(filesOnly, cmd.Name()) {
				return fmt.Errorf("stdin is not read by %s; give a file", cmd.Name())
			}
			return nil
		},
	}
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"whole", "Where to begin:", []*cobra.Command{newTriage(e), newExplore(e), newDoctor(e)}},
		{"step", "One step by itself:", []*cobra.Command{newOrders(e), newBisect(e), newReplay(e), newTracediff(e), newWalk(e), newDiff(e), newDump(e), newMinimize(e), newHunt(e)}},
		{"report", "Reports and proofs:", []*cobra.Command{newReport(e), newProof(e), newVerify(e), newDesk(e)}},
		{"game", "For games that write the formats:", []*cobra.Command{newFormats(e), newCheck(e), newSim(e), newRecord(e), newGolden(e)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	return root
}

// simFailed says on stderr how the simulator of a flag failed, if it did.
func (e *env) simFailed(flag, how string) {
	if how != "" && e.Interrupted() == 0 {
		fmt.Fprintf(e.Stderr, "%s %s: %s\n", e.ErrStyle().Paint(report.Bad, "desynctool:"), flag, prose.OneLine(how))
	}
}

// triageFailed says on stderr which simulator of a triage failed, if one did.
func (e *env) triageFailed(r *report.Report) {
	flag := "--sim"
	if r.OwnFailed {
		flag = "--own"
	}
	e.simFailed(flag, r.SimFailed)
}
