package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// recordFlags are the flags of record.
type recordFlags struct {
	dir     string
	options session.Options
	peers   int
	faults  []string
	rejoins []string
	joins   []string
	trace   session.TraceLevel
}

func newRecord(e *env) *cobra.Command {
	var flags recordFlags
	o := &flags.options
	cmd := &cobra.Command{
		Use:   "record -o DIR",
		Short: "Play the reference sim as several peers, with faults",
		Long: `record plays the built-in reference sim as several peers in lockstep, and makes
the faults in --fault. For each peer it writes the files that the peer would
leave: an order log, a trace of checksums, a report, and snapshots at the start,
every so many ticks, where the difference is first detected, and at the end.
truth.json contains what really happened. record finds this out by comparing the
peers' states after every system.

With --rejoin PEER@TICK+LENGTH a peer is away for LENGTH ticks from TICK on. It
leaves nothing about these ticks, then loads the state of the first peer and
continues. With --join PEER@TICK a peer joins only at TICK. If the fault
save-omits-field has begun by then, the load loses a field.

A fault is NAME[/PLACE][@TICK][:PEER]; without PEER the second peer has it.
PLACE is a system, or for initial-state an archetype:

` + faultHelp() + `
Exit status: 0 on success, 2 on wrong usage.`,
		Example: `  desynctool record -o s --ticks 600 --entities 500 --fault map-order@400:client
  desynctool record -o clean --seed 1 --ticks 600 --peers 4
  desynctool record -o back --ticks 600 --rejoin client@200+50`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVarP(&flags.dir, "output", "o", "", "folder to write to; it must be empty, not exist, or contain a record that was killed")
	f.Uint64Var(&o.Config.Seed, "seed", 1, "seed of the game")
	f.Uint64Var(&o.Ticks, "ticks", 3000, "length of the session")
	f.IntVar(&o.Config.Entities, "entities", refsim.DefaultEntities, "approximate number of living entities")
	f.IntVar(&o.Config.Players, "players", refsim.DefaultPlayers, "number of scripted players")
	f.IntVar(&flags.peers, "peers", 2, "number of peers: host, client, client2, …")
	f.StringArrayVar(&flags.faults, "fault", nil, "a fault that a peer makes (repeatable)")
	f.StringArrayVar(&flags.rejoins, "rejoin", nil, "a peer that is away for LENGTH ticks (repeatable)")
	f.StringArrayVar(&flags.joins, "join", nil, "a peer that joins late (repeatable)")
	f.Uint64Var(&o.SnapshotEvery, "snapshot-every", session.DefaultSnapshotEvery, "ticks between two snapshots")
	f.Uint64Var(&o.DetectEvery, "detect-every", session.DefaultDetectEvery, "ticks between two comparisons of sync hashes")
	f.BoolVar(&o.Signatures, "signatures", false, "also write "+signatures.Name+" for each peer: every tick is signed, with a key that is made from seed and name")
	flags.trace = session.TraceSystem
	f.Var(cli.OneOf(&flags.trace, "LEVEL", session.TraceNone, session.TraceSystem, session.TraceArchetype, session.TraceColumn), "trace", "level of detail of the traces: none, system, archetype, column")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doRecord(e, flags, format) }
	return cmd
}

// faultHelp lists the faults and their places.
func faultHelp() string {
	var b strings.Builder
	for _, kind := range refsim.Faults() {
		fmt.Fprintf(&b, "  %-18s %s\n%21s(%s)\n", kind.Name, kind.Doc, "", strings.Join(kind.Places, ", "))
	}
	return b.String()
}

func doRecord(e *env, flags recordFlags, format *cli.Outputs) error {
	if flags.dir == "" {
		return fmt.Errorf("record needs a folder to write to: -o DIR")
	}
	o := flags.options
	if flags.peers < 2 || flags.peers > session.MaxPeers {
		return fmt.Errorf("--peers is %d, expected 2 to %d", flags.peers, session.MaxPeers)
	}
	if o.SnapshotEvery == 0 || o.DetectEvery == 0 {
		return fmt.Errorf("--snapshot-every and --detect-every are at least 1")
	}
	o.Peers = session.PeerNames(flags.peers)
	for _, text := range flags.faults {
		fault, err := session.ParseFault(text)
		if err != nil {
			return err
		}
		if fault.From >= o.Ticks && fault.Name != "initial-state" {
			return fmt.Errorf("--fault %s begins after the end: the session has %d ticks", text, o.Ticks)
		}
		o.Faults = append(o.Faults, fault)
	}
	for _, list := range []struct {
		flag  string
		texts []string
		parse func(string) (session.Absence, error)
	}{{"--rejoin", flags.rejoins, session.ParseRejoin}, {"--join", flags.joins, session.ParseJoin}} {
		for _, text := range list.texts {
			a, err := list.parse(text)
			if err != nil {
				return fmt.Errorf("%s: %w", list.flag, err)
			}
			o.Absences = append(o.Absences, a)
		}
	}
	progress, end := e.Progress("playing", "ticks")
	defer end()
	o.Progress, o.Context, o.Reports = progress, e.Context, peers.WriteAll
	recording, err := session.RecordTo(flags.dir, o, flags.trace)
	end()
	if err != nil {
		return err
	}
	return e.RenderDocument(format, document.Record(recording, flags.dir), false)
}
