package main

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/resultcache"
	"github.com/desynctool/desynctool/report/document"
)

// env is the environment of a command, in addition to its flags.
type env struct {
	*cli.Env
	// replayed is the cache of games' results, nil until it is needed.
	replayed *resultcache.Cache
	// game is the page given by --game, empty if the flag is not given.
	game string
	// piped is how many bytes were read from stdin.
	piped atomic.Int64
}

// filesOnly are the commands that accept paths, but not - for stdin.
var filesOnly = []string{"doctor", "bisect", "replay", "minimize", "orders", "walk", "diff", "proof", "verify", "check", "describe", "explore", "hunt"}

// groups are the commands of this program, in the order of the help.
var groups = []struct {
	id, title string
	commands  []command
}{
	{"whole", "Where to begin:", []command{{"triage", newTriage}, {"explore", newExplore}, {"doctor", newDoctor}}},
	{"step", "One step by itself:", []command{{"orders", newOrders}, {"bisect", newBisect}, {"replay", newReplay}, {"tracediff", newTracediff}, {"walk", newWalk}, {"diff", newDiff}, {"dump", newDump}, {"minimize", newMinimize}, {"hunt", newHunt}}},
	{"report", "Reports and proofs:", []command{{"report", newReport}, {"proof", newProof}, {"verify", newVerify}, {"desk", newDesk}}},
	{"game", "For games that write the formats:", []command{{"formats", newFormats}, {"describe", newDescribe}, {"check", newCheck}, {"sim", newSim}, {"record", newRecord}, {"golden", newGolden}}},
}

// command is the name of a command with the function that creates it.
type command struct {
	name  string
	build func(*env) *cobra.Command
}

// names returns the names of all commands of this program.
func names() (list []string) {
	for _, g := range groups {
		list = append(list, lists.Map(g.commands, func(c command) string { return c.name })...)
	}
	return list
}

// newRoot returns the root command with the commands of this program. If the command line names one of them, the others
// only have a name.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "desynctool",
		Short: "Find out where and why the peers of a deterministic game diverged",
		Long: `desynctool reads the files that remain after a desync (snapshots, order logs,
savegames of several engines) and narrows the desync down: the state points
between which the peers diverged, the tick, the archetype, the component, the
entity, the field.

Results go to stdout, warnings and errors to stderr.

` + cli.ExitHelp,
		Example: `  desynctool triage report.zip
  desynctool diff host client
  desynctool triage host client --sim exec:game --format html=report.html`,
		Annotations: map[string]string{cli.TakesPaths: "desynctool triage"},
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "-") && slices.Contains(filesOnly, cmd.Name()) {
				return fmt.Errorf("stdin is not read by %s; give a file", cmd.Name())
			}
			return nil
		},
	}
	needed := e.Needs(names())
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			cmd := &cobra.Command{Use: c.name, Run: func(*cobra.Command, []string) {}} // so that error messages can suggest it
			if needed(c.name) {
				cmd = c.build(e)
			}
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	return root
}

// simFailed prints on stderr how the simulator of a flag failed, if it did.
func (e *env) simFailed(flag, how string) {
	if how != "" && e.Interrupted() == 0 {
		fmt.Fprintf(e.Stderr, "%s %s: %s\n", e.ErrStyle().Paint(document.Bad, "desynctool:"), flag, prose.OneLine(how))
	}
}

// triageFailed prints on stderr which simulator of a triage failed, if one did.
func (e *env) triageFailed(r *document.Report) {
	flag := "--sim"
	if r.OwnFailed {
		flag = "--own"
	}
	e.simFailed(flag, r.SimFailed)
}
