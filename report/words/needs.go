package words

import (
	"strings"

	"github.com/desynctool/desynctool/report/verdict"
)

// Need names what would close a step.
func Need(n verdict.Need) string {
	switch n.What {
	case verdict.OrderLogs:
		return "order logs of two peers"
	case verdict.CommonOrderLogs:
		return "order logs of two peers that have ticks in common"
	case verdict.WholeOrderLogs:
		if len(n.Of) == 1 {
			return "the whole order log of " + n.Of[0]
		}
		return "the whole order logs of " + join(n.Of, "and")
	case verdict.States:
		if n.At == nil {
			return "states of two peers"
		}
		return "the states of two peers " + at(*n.At)
	case verdict.CommonStates:
		return "states of one state point from two peers"
	case verdict.StatesOrHashes:
		return "states of two peers or hashes of them"
	case verdict.EarlierState:
		return "states of two peers, or hashes of them, from before they parted"
	case verdict.NearerStates:
		return "states of two peers from nearer to the split"
	case verdict.SameColumns:
		return "states that have the same columns"
	case verdict.TickHashes:
		return "order logs with a hash of every tick"
	case verdict.TickChecks:
		return "hashes or checkpoints of the same ticks from two peers"
	case verdict.Traces:
		return "traces of two peers that parted"
	case verdict.CoveringTraces:
		return "traces whose checksums cover what differs"
	case verdict.SystemTraces:
		return "traces with checkpoints inside ticks"
	case verdict.ArchetypeTraces:
		return "traces that record each archetype"
	case verdict.ColumnTraces:
		return "traces that record each column"
	case verdict.Simulator:
		return "a replay of the orders (--sim)"
	case verdict.SimulatorOrders:
		return "an order log and a replay of it (--sim)"
	case verdict.OwnBuild:
		return "replays in the build that the peer had (--own)"
	case verdict.OtherSimulator:
		return "a simulator that replays the orders: the one that was given cannot"
	case verdict.SimulatorTrace:
		return "a replay (--sim) and the trace of a peer that is wrong"
	case verdict.MorePeers:
		return "states of more peers or hashes of them"
	case verdict.PeerFiles:
		who := "another player"
		if len(n.Of) > 0 {
			who = upTo(n.Of, maxTold)
		}
		return "the files of " + who
	case verdict.LoadedStates:
		return "both states as text"
	case verdict.SecondTest:
		return "the same test of the same inputs once more"
	case verdict.SameBuildReplay:
		return "a replay by the same build on the machine that recorded it"
	case verdict.OtherPeer:
		if len(n.Of) == 0 {
			return "the files of two players of one match"
		}
		return "the same files from another player: these are of " + join(n.Of, "and") + " only"
	}
	return ""
}

// Needs names what would close a step, each of which would.
func Needs(list []verdict.Need) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, Need(n))
	}
	return strings.Join(parts, "; or ")
}
