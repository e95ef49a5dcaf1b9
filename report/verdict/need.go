package verdict

import (
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lists"
)

// Artifact is what may close a step that is open.
type Artifact int

// Artifacts. Unless noted, the artifact may come from any two peers.
const (
	OrderLogs       Artifact = iota // order logs
	CommonOrderLogs                 // order logs that have a tick in common
	WholeOrderLogs                  // the order logs of Of, until the peers diverged
	States                          // states, at At if that is set
	CommonStates                    // states of one state point
	StatesOrHashes                  // states, or hashes of them
	EarlierState                    // a state, or a hash of one, from before the peers diverged
	NearerStates                    // states nearer to the tick in which the peers diverged
	SameColumns                     // states in files with the same columns
	TickHashes                      // order logs with a hash of every tick
	TickChecks                      // hashes or checkpoints of the same ticks
	Traces                          // traces of peers that diverged
	CoveringTraces                  // traces with checksums that cover the difference
	SystemTraces                    // traces with checkpoints inside ticks
	ArchetypeTraces                 // traces that record each archetype
	ColumnTraces                    // traces that record each column
	Simulator                       // a simulator that replays the orders
	SimulatorOrders                 // a simulator, and an order log for it to replay
	OwnBuild                        // the build that the peer who is wrong had, to replay the orders
	OtherSimulator                  // a simulator that does not fail
	SimulatorTrace                  // a simulator, and the trace of a peer that is wrong
	MorePeers                       // states of more peers, or hashes of them
	OtherPeer                       // the same files of another peer than Of
	PeerFiles                       // Files, which the game leaves on each machine, of Of; of any other peer if it is empty
	PlayersFiles                    // Files, which the game leaves on each machine, of two peers
	LoadedStates                    // the states of both runs of a self-test, before and after loading, in a form that can be compared
	SecondTest                      // the same self-test of the same inputs again
	SameBuildReplay                 // a second replay, by the same machine with the recording's build and data
)

// Need is something that would close a step.
type Need struct {
	What Artifact
	Of   []string // names of peers, empty if it is not of certain ones
	At   *Moment  // of a state; nil if any moment will do
	// Files are what a game leaves, each with its usual names.
	Files []string
	// How is how the players of the session's game provide it, empty if that is not known.
	How string
}

// providers are the artifacts of engines that are, or contain, what is needed. An artifact that is not listed does not
// depend on the game.
var providers = map[Artifact][]engine.Artifact{
	OrderLogs:       {engine.Orders},
	CommonOrderLogs: {engine.Orders},
	WholeOrderLogs:  {engine.Orders},
	SimulatorOrders: {engine.Orders},
	States:          {engine.TickStates, engine.TimedStates, engine.DesyncStates},
	CommonStates:    {engine.TickStates, engine.TimedStates, engine.DesyncStates},
	SameColumns:     {engine.TickStates, engine.TimedStates, engine.DesyncStates},
	StatesOrHashes:  {engine.TickStates, engine.TimedStates, engine.DesyncStates, engine.TickHashes, engine.TickTraces, engine.TimedHashes},
	MorePeers:       {engine.TickStates, engine.TimedStates, engine.DesyncStates, engine.TickHashes, engine.TickTraces, engine.TimedHashes},
	EarlierState:    {engine.TickStates, engine.TimedStates, engine.TickHashes, engine.TickTraces, engine.TimedHashes},
	NearerStates:    {engine.TickStates},
	TickHashes:      {engine.TickHashes},
	TickChecks:      {engine.TickHashes, engine.TickTraces, engine.Checkpoints},
	Traces:          {engine.Checkpoints, engine.TickTraces},
	SystemTraces:    {engine.Checkpoints},
	SimulatorTrace:  {}, // a game that plays a recording again reports nothing that happens within a tick
	CoveringTraces:  {}, // only our own traces have these
	ArchetypeTraces: {},
	ColumnTraces:    {},
}

// offered divides needs into those that players of an engine can provide, with how, and those that they cannot. Players
// of an engine without a table may be able to provide everything.
func offered(e *engine.Engine, step Step, list []Need) (made, unmade []Need) {
	for _, n := range list {
		from, depends := providers[n.What]
		if e == nil || e.Offers == nil || !depends {
			made = append(made, n)
			continue
		}
		switch {
		case n.What == States && n.At != nil:
			from = []engine.Artifact{engine.TickStates}
		case n.What == Traces && step == StepSystem:
			from = []engine.Artifact{engine.Checkpoints}
		}
		if o := e.Offer(from...); o != nil {
			n.How = o.How
			made = append(made, n)
		} else {
			unmade = append(unmade, n)
		}
	}
	return made, unmade
}

func needs(list ...Artifact) []Need {
	return lists.Map(list, func(a Artifact) Need { return Need{What: a} })
}
