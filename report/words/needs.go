package words

import (
	"strings"

	"github.com/desynctool/desynctool/report/playbook"
)

// Need names what would close a step.
func Need(n playbook.Need) string {
	switch n.What {
	case playbook.OrderLogs:
		return "order logs of two peers"
	case playbook.CommonOrderLogs:
		return "order logs of two peers that have ticks in common"
	case playbook.WholeOrderLogs:
		if len(n.Of) == 1 {
			return "the whole order log of " + n.Of[0]
		}
		return "the whole order logs of " + join(n.Of, "and")
	case playbook.States:
		if n.At == nil {
			return "states of two peers"
		}
		return "the states of two peers " + at(*n.At)
	case playbook.CommonStates:
		return "states of one state point from two peers"
	case playbook.StatesOrHashes:
		return "states of two peers or hashes of them"
	case playbook.EarlierState:
		return "states of two peers, or hashes of them, from before they parted"
	case playbook.NearerStates:
		return "states of two peers from nearer to the split"
	case playbook.SameColumns:
		return "states that have the same columns"
	case playbook.TickHashes:
		return "order logs with a hash of every tick"
	case playbook.TickChecks:
		return "hashes or checkpoints of the same ticks from two peers"
	case playbook.Traces:
		return "traces of two peers that parted"
	case playbook.CoveringTraces:
		return "traces whose checksums cover what differs"
	case playbook.SystemTraces:
		return "traces with checkpoints inside ticks"
	case playbook.ArchetypeTraces:
		return "traces that record each archetype"
	case playbook.ColumnTraces:
		return "traces that record each column"
	case playbook.Simulator:
		return "a replay of the orders (--sim)"
	case playbook.SimulatorOrders:
		return "an order log and a replay of it (--sim)"
	case playbook.OwnBuild:
		return "replays in the build that the peer had (--own)"
	case playbook.OtherSimulator:
		return "a simulator that replays the orders: the one that was given cannot"
	case playbook.SimulatorTrace:
		return "a replay (--sim) and the trace of a peer that is wrong"
	case playbook.MorePeers:
		return "states of more peers or hashes of them"
	case playbook.PeerFiles:
		who := "another player"
		if len(n.Of) > 0 {
			who = upTo(n.Of, maxTold)
		}
		return "the files of " + who
	case playbook.LoadedStates:
		return "both states as text"
	case playbook.SecondTest:
		return "the same test of the same inputs once more"
	case playbook.SameBuildReplay:
		return "a replay by the same build on the machine that recorded it"
	case playbook.OtherPeer:
		if len(n.Of) == 0 {
			return "the files of two players of one match"
		}
		return "the same files from another player: these are of " + join(n.Of, "and") + " only"
	}
	return ""
}

// Needs names what would close a step, each of which would.
func Needs(list []playbook.Need) string {
	var parts []string
	for _, n := range list {
		parts = append(parts, Need(n))
	}
	return strings.Join(parts, "; or ")
}
