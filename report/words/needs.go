package words

import (
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/verdict"
)

// evidence is which kind of evidence of a peer an artifact is: a peer that has none is asked first.
type evidence int

const (
	aState evidence = iota
	aLog
	aTrace
)

// artifact is a report's text about something that would close a step.
type artifact struct {
	need string // the need
	send string // what one peer may send, "" if no peer has it
	is   evidence
}

var artifacts = map[verdict.Artifact]artifact{
	verdict.OrderLogs:       {"order logs of two peers", "the order log", aLog},
	verdict.CommonOrderLogs: {"order logs of two peers that have ticks in common", "the order log of the same ticks", aLog},
	verdict.WholeOrderLogs:  {"the whole order logs", "the whole order log", aState},
	verdict.States:          {"states of two peers", "states (saves or dumps)", aState},
	verdict.CommonStates:    {"states of one state point from two peers", "states of the same moments as the others'", aState},
	verdict.StatesOrHashes:  {"states of two peers or hashes of them", "states, or a log with hashes of them", aState},
	verdict.EarlierState:    {"states of two peers, or hashes of them, from before they diverged", "a state from before the peers diverged", aState},
	verdict.NearerStates:    {"states of two peers from nearer to the divergence", "states from nearer to the divergence", aState},
	verdict.SameColumns:     {"states that have the same columns", "states that have the same columns", aState},
	verdict.TickHashes:      {"order logs with a hash of every tick", "an order log with a hash of every tick", aLog},
	verdict.TickChecks:      {"hashes or checkpoints of the same ticks from two peers", "hashes or checkpoints of the same ticks as the others'", aTrace},
	verdict.Traces:          {"traces of two peers that diverged", "a trace", aTrace},
	verdict.CoveringTraces:  {"traces with checksums that cover the difference", "a trace with checksums that cover the difference", aTrace},
	verdict.SystemTraces:    {"traces with checkpoints inside ticks", "a trace with checkpoints inside ticks", aTrace},
	verdict.ArchetypeTraces: {"traces that record each archetype", "a trace that records each archetype", aTrace},
	verdict.ColumnTraces:    {"traces that record each column", "a trace that records each column", aTrace},
	verdict.Simulator:       {need: "a replay of the orders (--sim)"},
	verdict.SimulatorOrders: {"an order log and a replay of it (--sim)", "the order log", aLog},
	verdict.OwnBuild:        {need: "replays in the build that the peer had (--own)"},
	verdict.OtherSimulator:  {need: "a simulator that replays the orders: the one that was given cannot"},
	verdict.SimulatorTrace:  {need: "a replay (--sim) and the trace of a peer that is wrong"},
	verdict.MorePeers:       {need: "states of more peers or hashes of them"},
	verdict.PeerFiles:       {need: "the files of another peer"},
	verdict.PlayersFiles:    {need: "the files of two peers of that match"},
	verdict.LoadedStates:    {need: "both states as text"},
	verdict.SecondTest:      {need: "the same test of the same inputs again"},
	verdict.SameBuildReplay: {need: "a replay by the same build on the machine that recorded it"},
	verdict.OtherPeer:       {"the files of two peers of one match", "the same files as the others", aState},
}

// Need names what would close a step.
func Need(n verdict.Need) string {
	switch {
	case n.What == verdict.WholeOrderLogs && len(n.Of) == 1:
		return "the whole order log of " + n.Of[0]
	case n.What == verdict.WholeOrderLogs:
		return "the whole order logs of " + join(n.Of, "and")
	case n.What == verdict.States && n.At != nil:
		return "the states of two peers " + at(*n.At)
	case n.What == verdict.PeerFiles && len(n.Of) > 0:
		return "the files of " + upTo(n.Of, maxTold)
	case n.What == verdict.OtherPeer && len(n.Of) > 0:
		return "the same files from another player: these are of " + join(n.Of, "and") + " only"
	}
	return artifacts[n.What].need
}

// sent names what one peer may send, "" if it is nothing that a peer has.
func sent(n verdict.Need) string {
	if n.What == verdict.States && n.At != nil {
		return "the state " + at(*n.At)
	}
	return artifacts[n.What].send
}

// Needs names the things that would close a step; any one of them would.
func Needs(list []verdict.Need) string {
	return strings.Join(lists.Map(list, Need), "; or ")
}

// needsWithHow is Needs with how the players of the game provide them. What follows from one setting is named together.
func needsWithHow(list []verdict.Need) string {
	var parts []string
	for i, n := range list {
		text := Need(n)
		if n.How != "" && (i == len(list)-1 || list[i+1].How != n.How) {
			text += " (" + n.How + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; or ")
}
