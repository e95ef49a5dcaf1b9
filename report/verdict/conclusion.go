package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// Conclusion is what happened to a session, as far as the evidence goes. Its status is document.StatusOf it.
type Conclusion struct {
	// Kind is what kind of divergence it is, "" if none was found.
	Kind bisect.Kind
	// Alone is set if nothing could be compared; then Covers is what there is.
	Alone  bool
	Covers []Covered

	// Bracket is where the states of the peers diverged, nil if no states are known to differ. Exact is set if it is
	// one tick wide.
	Bracket      *bisect.Bracket
	Exact        bool
	InitialState bool    // the peers differ before any tick
	Healed       *Moment // the first state point after it at which the states are known to be equal again
	// Splits are all stretches at which the peers had diverged; the first is the stretch of Bracket.
	Splits []bisect.Split
	// Within is set if the only difference lies inside one tick: traces show it, and agree at its end.
	Within bool

	// OnlyHistories is set if nothing but history hashes shows that the peers diverged.
	OnlyHistories bool
	// Noise are the labels of the noise that the files declare and that differs.
	Noise []string

	// LikelyNoise is set if nothing differs but values that differ in every dump.
	LikelyNoise bool

	// Loaded is set if a peer diverged by loading a state at the bad end: then no tick is the divergent one.
	Loaded *bisect.Loaded

	// Tick is the divergent tick, nil if only the bracket is known, or if the peers differ at the start.
	Tick   *Moment
	TickBy TickBy

	// System is the first of the tick after which they differ, "" if that is not known.
	System   string
	SystemBy SystemBy
	// LastSystem is the last one of the tick where they differ only after it.
	LastSystem string
	// Restored is a restore of a rollback after which a peer had another state than it had saved, the first of those at
	// the beginning of the divergent tick; nil if the traces show none.
	Restored *Restored
	// Passing is an earlier tick in which the peers differed between two systems, and no
	// longer at its end; nil if there is none.
	Passing *Passing
	// Archetypes are the archetypes that may have diverged first, the RNG under "". One archetype is exact. The
	// evidence cannot separate several ones, unless Written is set, as System left them all different: then the first
	// in order counts as the root.
	Archetypes []string
	Written    bool
	// Component is the component that differs in the first archetype, "" if it is not known; for the RNG it is RNG.
	Component string
	// Suspects are the archetypes that differ where states were compared first, if it is
	// not known which may have diverged first.
	Suspects []string

	Inputs    Inputs
	OwnReplay *OwnReplay // nil if evidence of several peers was compared

	// Groups are the names of the peers by their state where they diverged. Majority is the number of the largest
	// group, from 1, 0 if none is the largest. Guilty are the peers that departed from the simulator. Replayed is set
	// if a simulator replayed the orders.
	Groups   [][]string
	Majority int
	Guilty   []string
	Replayed bool
	// SimFailed is how the simulator failed, "" if it did not. OwnFailed is set if the build of the peer failed, and
	// the trusted one did not. Unsteady is set if the trusted one does not agree with itself, so that nothing follows
	// from it.
	SimFailed string
	OwnFailed bool
	Unsteady  bool
	// Engine wrote all files, nil if they have several sources or one that is not known. Replayer plays such recordings
	// again, nil if there is no recipe for it.
	Engine   *engine.Engine
	Replayer *engine.Replayer
	// Witnessed is what the game said that played the recordings again, nil without one.
	Witnessed *bisect.Witnessed
	// Borrowed is the peer with the orders that were replayed for a guilty peer that left none.
	Borrowed *Borrowed

	// Checkpoint is the first checkpoint that differs in the traces of an engine. Parting is where checksums of whole
	// ticks diverge. They are nil if there are none within the bracket. Checksums is how the games' own checksums
	// compare with the states.
	Checkpoint *Checkpoint
	Parting    *document.Parting
	Checksums  *Checksums
	// Cache is the word of a game that derived data was stale, nil if there is none.
	Cache *orderlog.PeerClaim
	// Caches is where states show caches to differ that are derived from equal states, nil if they show none.
	Caches *bisect.CacheSplit
	// Word is the content of the messages of games, where nothing else shows whether the peers diverged, else nil. Runs
	// is set if the two sides are one game that was computed twice.
	Word *Word
	Runs RunsOf
	// Began is set if, by the game's word, the two runs began the tick in which they differ with the same state.
	Began bool
	// Statements are what engines said themselves.
	Statements []Statement
	Detected   *uint64 // the first state point at which a peer noticed

	// Causes are what may have made the mistake, the likeliest first: the evidence does not
	// separate them. Excluded are classes that it excludes, Experiments what was tried.
	Causes      []Cause
	Excluded    []Exclusion
	Experiments []Experiment
	// Likenesses are all rules that fit what differs, whether or not they are right often enough to be said.
	Likenesses []Likeness

	// Code is where in the code the builds depart, nil if nobody asked.
	Code *document.Code

	// RNGEqual is set if both states that were compared have the same RNG state.
	RNGEqual bool

	// Given is what the evidence was taken from, Simulators are those that were given; Paths of
	// the peers' folders or files, by name.
	Given      Given
	Simulators Simulators
	Paths      map[string]string

	// Answers are the steps that were asked, in order.
	Answers []Answer

	// Lost is evidence that could not be used, Lacking what would be needed for any
	// answer. Contradictions are pieces of evidence that cannot both be right.
	Lost           []string
	Lacking        []Need
	Contradictions []Contradiction
	LogsUnsure     bool // the comparison of order logs reports that it is not complete
	Notes          []string
	Warnings       []string
	Ask            string // a text for the players, "" if nothing is asked for

	// What there is, and how much of it was compared.
	Session document.Session
	Peers   []document.TriagedPeer
	Facts   []document.Fact
	Stated  []document.Fact // those that are the same on all peers too
	// GameLogs are the warnings and errors before the split that not all of the games' own logs have. It is nil if
	// there are none, or if something was compared and the peers are not known to have diverged. They show no cause.
	GameLogs *document.GameLogs
	Held     Held
	Search   Search

	// The differences, the root first, and the pictures of them in a report; nil if they are not known.
	Compared   *document.Compared
	tables     []*snapshot.TableDiff // without noise
	grouped    []*grouped            // what differs in them
	ComparedAt Moment                // the state point of Compared
	Files      [2]string             // of the states compared, empty if they are in no file
	Later      uint64                // how many ticks that is after the earliest moment at which the peers may have differed
	Locus      []document.LocusField
	Orders     []document.TriagedOrder
	Cascade    []document.CascadeDocument
	Timeline   *document.Timeline
	Names      *document.Names
	Tree       *document.HashTree
	Heat       *document.Heat
	Map        *document.PositionsMap

	// Fingerprint is the strict one, "" if too little is known; Levels are the others, from coarse to fine.
	Fingerprint string
	Levels      []document.Fingerprint

	within *Within // nil if it is not known where in the tick they diverge
}

// Diverged reports whether it is proven that the peers diverged.
func (c *Conclusion) Diverged() bool { return c.Kind != "" }

// Failed reports whether the simulator that was asked for failed.
func (c *Conclusion) Failed() bool { return c.SimFailed != "" }

// Incomplete reports whether evidence was lost or lacking, or contradicts itself, so that a difference may be hidden.
func (c *Conclusion) Incomplete() bool {
	return c.Alone || c.LogsUnsure || c.Inputs.State == InputsLogs || len(c.Lost)+len(c.Lacking)+len(c.Contradictions) > 0
}

// narrowed reports whether the tick is known from the states themselves, or from traces of
// them, so that states at its end show what it did.
func (c *Conclusion) narrowed() bool {
	return c.Tick != nil && c.TickBy != TickByCheckpoint && c.TickBy != TickByWord
}

// Root returns the archetype that diverged first, false if that is not known.
func (c *Conclusion) Root() (archetype string, known bool) {
	if len(c.Archetypes) == 0 || len(c.Archetypes) > 1 && !c.Written {
		return "", false
	}
	return c.Archetypes[0], true
}

// MayBeFirst returns the archetypes that may have diverged first, else those that differ where
// states were compared first.
func (c *Conclusion) MayBeFirst() []string {
	if len(c.Archetypes) > 0 {
		return c.Archetypes
	}
	return c.Suspects
}

// Simulators are the builds that were given: the one that is trusted, and the one that the peer had; "" if none was.
type Simulators struct{ Sim, Own string }

// Given is what evidence was taken from.
type Given struct {
	Paths []string // as they were given
	Match int      // the number of the match among several, 0 if there is only one
}

// Wrong returns the first peer that is wrong, or the first peer if none is known to be wrong, and the path of its
// folder or file, "" if it has none.
func (c *Conclusion) Wrong() (name, path string) {
	switch {
	case len(c.Guilty) > 0:
		name = c.Guilty[0]
	case len(c.Peers) > 0:
		name = c.Peers[0].Name
	}
	return name, c.Paths[name]
}

// HasLog reports whether a peer left an order log.
func (c *Conclusion) HasLog(name string) bool {
	return slices.ContainsFunc(c.Peers, func(p document.TriagedPeer) bool { return p.Name == name && p.OrderLog })
}

// Open returns the steps that the evidence does not answer.
func (c *Conclusion) Open() []Answer {
	return lists.Where(c.Answers, func(a Answer) bool { return a.State == document.RungOpen })
}

// RunsOf is whether the two sides are peers, or one game that was computed twice.
type RunsOf int

// What the two sides are.
const (
	RunsOfPeers    RunsOf = iota
	RunsOfSelfTest        // one machine computed the same ticks twice
	RunsOfReplay          // a recording and its replay
)

// Answer is how one step of the narrowing went.
type Answer struct {
	Step  Step
	State document.RungState
	// Needs are what would close an open step; each of them would. Unmade would close it too, but players of
	// Conclusion.Engine cannot provide it: the game does not write it, or it is not read.
	Needs, Unmade []Need
	// RestsOn are peers that the finding depends on: each of them alone reported it, and no other peer confirms it. It
	// is nil if the finding rests on more than that.
	RestsOn []string
}

func (c *Conclusion) put(step Step, state document.RungState, needs ...Need) {
	made, unmade := offered(c.Engine, step, needs)
	c.Answers = append(c.Answers, Answer{Step: step, State: state, Needs: made, Unmade: unmade})
}

// TickBy is what the divergent tick is known from.
type TickBy int

// Ways to know the tick.
const (
	TickByBracket    TickBy = iota // the bracket is one tick wide
	TickByTraces                   // the traces diverge there, within the bracket
	TickByCheckpoint               // the first value that differs in the traces is in that tick
	TickByWord                     // the game's own self-test names it as the first with two results
)

// SystemBy is what the system is known from.
type SystemBy int

// Ways to know the system.
const (
	SystemByTraces     SystemBy = iota // the traces of two peers differ from there to the end of the tick
	SystemByReplay                     // the replay departs from a peer's trace there
	SystemByCheckpoint                 // a value that an engine wrote down there differs
	SystemByOutside                    // none: the traces of two peers agree after the last one, which is LastSystem, and differ at the tick's end
	SystemByRestore                    // none: the state that was restored before the tick differs from the saved one, see Restored
	SystemByParts                      // the sums of these parts of the game differ at the end of the tick, others agree
	SystemByPassing                    // the traces of two peers differ after it, and agree again at the tick's end
)

// Restored is a restore at the beginning of the divergent tick that did not give back what was saved.
type Restored struct {
	Peer          string
	Expected, Got string // the checksums of the save and of the restore
}

// Passing is a difference that did not last to the end of its tick.
type Passing struct {
	Tick   Moment
	System string
}

// OwnReplay is the replay of the only log that there is. It shows whether the peer computed what its own orders give, and
// nothing of the orders that other peers had.
type OwnReplay struct {
	Peer   string
	Orders uint64 // in the log
}

// InputsState is what is known of the orders that the peers were given.
type InputsState int

// States of the inputs.
const (
	InputsUnknown   InputsState = iota // there are no order logs of two peers
	InputsAlone                        // there is the log of one peer, see OwnReplay
	InputsApart                        // no two logs cover a common tick
	InputsSame                         // the orders are equal
	InputsSameUntil                    // they are equal until the states diverged, and differ later
	InputsSameSoFar                    // they are equal as far as the logs of Unheard reach
	InputsOther                        // the peers were given different orders
	InputsLogs                         // the logs differ, and nothing shows that the peers were given different orders
	InputsEarlier                      // they differ long before the states diverged, which agreed in between
	InputsHarmless                     // they differ before that, and replays of both lead to the same states
)

// BorneBy is what shows that orders which differ between logs were different inputs.
type BorneBy int

// Evidence that confirms different inputs.
const (
	BorneByNothing BorneBy = iota
	BorneByState           // the states diverge after the order
	BorneByHash            // recorded hashes, or checksums, part after it
	BorneByReplay          // replays of the logs lead to different states
	BorneByGame            // a game itself reports that the peers diverged
)

// Lag is how many ticks after an order, 0 for the order's tick, the peers diverged.
type Lag struct{ Least, Most uint64 }

// Inputs is what is known of the orders that the peers were given.
type Inputs struct {
	State InputsState
	// Logs is how many were compared, Window what they have in common.
	Logs   int
	Window *orderlog.Window
	// Count is how many orders differ, Differences are the first of them.
	Count       int
	Differences []orderlog.Difference
	// Parting is the order, or marker, that may have made the peers diverge: the difference nearest to where they did;
	// nil if none differs before. By is the evidence that confirms it. Lag is how much later that evidence differs, nil
	// if that is not known. AgreedTo is the last state point at which everything else agrees, if nothing confirms it;
	// nil if nothing was compared after it.
	Parting  *orderlog.Difference
	By       BorneBy
	Lag      *Lag
	AgreedTo *uint64
	// Line is the comparison in one line, by itself.
	Line string
	// Basis is what the comparison rests on where no order differs.
	Basis string
	// Replayed is set if the replays of two peers' orders differ from each other.
	Replayed bool
	// Unheard are the peers that diverged from others while nothing is known about their orders until then.
	Unheard []string
	// Misplaced counts orders that were applied out of order.
	Misplaced int
	// Hashes is where the hashes that games wrote into their order logs differ first, nil if they do not.
	Hashes *LoggedHash
}

// Differ reports whether the peers were given different orders.
func (i *Inputs) Differ() bool { return i.State == InputsOther }

// LoggedHash is the first hash in order logs that differs.
type LoggedHash struct {
	Kind orderlog.HashKind
	At   Moment
}

// Borrowed is a peer that left no orders, and the peer with the orders that were replayed for it.
type Borrowed struct{ Peer, From string }

// Checkpoint is the first value that differs in the traces of an engine.
type Checkpoint struct {
	document.CheckpointDocument
	At     Moment
	Values []string // what each peer has there, with its name
	// Sure is set if everything before it was compared.
	Sure bool
	// Nearby is set if it is a checksum of the whole state, and its details are values near it in the log.
	Nearby bool
}

// SumsState is how checksums compare with states.
type SumsState int

// States of checksums.
const (
	SumsPart  SumsState = iota // they diverge within the bracket of the states
	SumsBlind                  // they agree though the states differ
	SumsOnly                   // they differ though the states are equal
	SumsLater                  // they differ only after the states do
)

// Checksums is the comparison of the checksums that games recorded.
type Checksums struct {
	State SumsState
	By    string // the kind of file; "" for the hashes in order logs
	// Good is the last moment at which they agree, From the first at which they differ;
	// of SumsBlind To is the last one compared. To and Again are the last at which they
	// differ and the first at which they agree again; nil if they do not.
	Good, From, To, Again *Moment
	Point                 bool // the moments are state points, not ticks
	Groups                [][]string
	Hash                  orderlog.HashKind // of SumsLater
}

// Statement is what an engine said itself of the divergence.
type Statement struct {
	document.ClaimDocument
	// Equal is a state point after the tick that it names at which the states are equal, nil if there is none.
	Equal *Moment
	// Cleared are the accused peers that did what the game computes from their logs, while others departed.
	Cleared []string
}

// ContradictionKind is what contradicts what.
type ContradictionKind int

// Contradictions, with the contents of their fields.
const (
	Told      ContradictionKind = iota // Text, by the package that found it
	InputHash                          // a recorded input hash does not match its orders: Peers[0], At the first, Count
	TraceEnd                           // a peer's trace and state of one moment: Peers[0], At the tick, Sums of both
	TwoSums                            // messages give Peers[0] two checksums of one tick
	Collision                          // two roots that differ have the same sync hash: Peers, At the state point
)

// Contradiction is two pieces of evidence that cannot both be right.
type Contradiction struct {
	Kind  ContradictionKind
	Text  string
	Peers [2]string
	At    Moment
	Sums  [2]merkle.Short
	Count int
}

// Held counts what there is of all peers.
type Held struct {
	States, Logs, Traces int
	Checked              int // files with hashes that were computed again from their content
	Chains               int // of tick signatures that hold
}

// Search is how much was compared.
type Search struct {
	Peers    int
	Opened   int // pairs of states that were opened, of Pairs that there are, at so many state points
	Pairs    int
	Points   int
	Content  []Moment // where no states differ, the state points at which both were read whole
	Recorded int      // state points with recorded hashes
	Hashes   uint64   // pairs of recorded hashes, where Recorded does not count them
	// Kinds are the kinds of traces that were compared, of so many peers.
	Kinds      []string
	TracePeers int
	// Traced is set if traces of two peers were compared that have a value in common, unless they are equal and partial.
	Traced bool
	// Partial is set if the values that partial traces have are equal.
	Partial bool
}

// Compares reports whether any evidence of the states themselves was compared.
func (s *Search) Compares() bool { return s.Points+s.Recorded > 0 || s.Hashes > 0 || s.Traced }

func diverged(t *tracediff.Result) bool { return t.Diverged() }
