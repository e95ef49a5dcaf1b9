package verdict

import (
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// Evidence is what the comparisons of a session's artifacts found. What is not there is nil.
type Evidence struct {
	// Bisect is nil if nothing could be compared, such as the evidence of one peer only. Then Covers is what there is.
	Bisect *bisect.Result
	Orders *orderlog.Comparison
	Traces []*tracediff.Result
	// Within returns where the traces of two peers diverge until the end of a tick, for the first such tick from one to
	// before another; nil if they are not there, or do not diverge.
	Within func(from, to uint64) (*Within, error)
	// Diff compares two peers' states at the bad end of the bracket.
	Diff *snapshot.Diff

	// OwnReplay is set if only one peer left evidence, which is compared with a replay of its own log.
	OwnReplay *OwnReplay

	// Lab makes experiments; nil without a simulator.
	Lab *Lab

	// Code compares the code of the builds; nil if nobody asked.
	Code Coder

	// Lost is evidence that could not be used, in addition to what Bisect and Orders report: files, entries of
	// archives, whole archives; a line each. It must be complete before the conclusion is drawn.
	Lost []string
	// Warnings are what is odd about the evidence and harmless, in addition to what Bisect and Orders report.
	Warnings []string
	// LikelyNoise are the columns, as Component.Field, that alone differ in the states, in each of several, and are not entities'.
	LikelyNoise []string
	// OnlyNoise is set if only values that are probably noise differ in the states, in each of several. They may be entities'.
	OnlyNoise bool
	// Covers is what each peer's evidence covers; it is used where nothing was compared.
	Covers []Covered
	// Accounts are what games wrote of desyncs into their logs.
	Accounts []Account
	// Leaves are the files that the game leaves on each machine, each with its kind and its name: "Spring demo,
	// *.sdfz". More are the files among them that contain more than messages.
	Leaves, More []string
	// Ask returns a text that asks the players for the missing files; nil if there is none. It is called at most once,
	// and only if the conclusion needs it.
	Ask func() string

	// What follows is for the report, and changes no verdict.

	// Given is what all of this was taken from.
	Given Given
	// Parted are the states of two peers at the bad end of the bracket, or else at the first later state point at which
	// both left one.
	Parted *Parted
	// Before compares the same peers' states at the good end: caches may differ there.
	Before *snapshot.Diff
	// Around are the orders around the divergence. Peers are the files that each peer left.
	Around []document.TriagedOrder
	Peers  []Left
	// Bin is how many ticks one number of Left.Orders counts, BinFrom the first of them.
	Bin, BinFrom uint64
	// Logged is from which to which tick the order logs go, nil if there are none.
	Logged *document.TimelineSpan
	// Session and Facts are what the files contain about the game and the machines.
	Session document.Session
	// Engine wrote all files, nil if they have several sources or one that is not known. Replayer plays the recordings
	// again, nil if there is no recipe for it.
	Engine   *engine.Engine
	Replayer *engine.Replayer
	Facts    []document.Fact
	// Stated are all facts, those included that only one peer states.
	Stated []document.Fact
	// GameLogs is what only some peers have in their games' own logs, nil if fewer than two left one.
	GameLogs *document.GameLogs
	// PointName and TickName are an engine's own names of state points and of ticks; they
	// return "" where it has none.
	PointName, TickName func(n uint64) string
	Heat                *document.Heat
	Map                 *document.PositionsMap
	// Checked are the files with hashes that were computed again from their content. Contradictions are where the
	// computed hashes differ.
	Checked        []string
	Chains         int // of tick signatures that hold, and contradict nothing
	Contradictions []string
	// Detected is the first state point at which a peer reported that it was out of sync.
	Detected *uint64
}

// Parted are two states that differ.
type Parted struct {
	Names  [2]string
	Paths  [2]string // of the peers' folders or files
	Files  [2]string // of the states, empty if they are in no file
	States [2]snapshot.State
	// Naming is what the game calls the entities of each state, nil if its format contains no names.
	Naming [2]snapshot.Naming
	// Ground is where the entities of each state are, nil if its format does not declare it.
	Ground [2]*snapshot.Ground
	Diff   *snapshot.Diff
}

// Left is what one peer left.
type Left struct {
	document.TimelinePeer
	Log bool
}

// Within is where traces diverge in a tick.
type Within struct {
	Tick   uint64
	System string
	// Index is the number of the system in the tick, from 0; below 0 if that is not known.
	Index int
	// Scopes are the parts of the state that were traced and differ after it: RNG, an
	// archetype's label, label/Component.field.
	Scopes []string
	// Ends are the sums of the whole state at the end of the tick, by the path of the peer's folder.
	Ends map[string]merkle.Short
	// Outside is set if the traces agree after every system of the tick. System is then the last of them.
	Outside bool
}
