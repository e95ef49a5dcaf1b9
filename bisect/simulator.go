package bisect

import (
	"context"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Simulator is a running game that applies orders tick by tick. The interfaces below are optional capabilities, and so
// is io.Closer for a simulator with resources outside the memory of this process.
type Simulator interface {
	// Point returns the state point that the simulator is at.
	Point() uint64
	// Step applies the orders of the current tick, in their order, and moves on to the next point. Their kinds are
	// numbers in the log's header.
	Step(orders []orderlog.Order) error
	// SyncHash returns the sync hash at Point.
	SyncHash() merkle.Short
}

// Sim starts simulators.
type Sim struct {
	Name string

	// Can lists the capabilities of its instances.
	Can []Capability

	// Start starts a session from the header of its log.
	Start func(h *orderlog.Header) (Simulator, error)

	// Resume starts a session from a state. The header may be nil.
	Resume func(w *snapshot.World, h *orderlog.Header) (Simulator, error)

	// Context, if not nil, ends every replay when it is done: with its cause, as an error of the simulator.
	Context context.Context
}

// Interrupted reports whether replays in the simulator are ended early.
func (s *Sim) Interrupted() bool { return s.Context != nil && s.Context.Err() != nil }

// Batcher is a Simulator for which many ticks at once are cheaper than one by one,
// since it does not run in this process.
type Batcher interface {
	Simulator
	// Run plays a tick for each list of orders and appends the sync hash after each to dst.
	Run(dst []merkle.Short, ticks [][]orderlog.Order) ([]merkle.Short, error)
}

// Saver is a Simulator that can export its state.
type Saver interface {
	Simulator
	World() (*snapshot.World, error)
}

// Restorer is a Simulator that saves and loads itself, in its own format. It may take shortcuts as long as the outcome
// is the same as in a new instance that loads the save: anything missing from the save must be lost, and everything
// derived from it must be computed again.
type Restorer interface {
	Simulator
	// Save returns the state at Point. The caller does not change it.
	Save() ([]byte, error)
	// Restore replaces the state with one that this or another instance of the session saved. After an error the
	// instance cannot be used any more.
	Restore(save []byte) error
}

// Predictor is a Simulator that shows the effect of a player's orders before they are confirmed, as the machine of that
// player does.
type Predictor interface {
	Simulator
	// Predict plays the current tick ahead with only a player's own orders, and undoes that. It must not change the
	// state.
	Predict(player uint32, orders []orderlog.Order) error
}

// CacheChecker is a Simulator that computes its caches again and compares.
type CacheChecker interface {
	Simulator
	// StaleCaches returns the names of the caches that are not what the state gives, in order.
	StaleCaches() ([]string, error)
}

// Tester is a Simulator that knows whether an order is possible in the current state, as a game does before it lets a
// player give it.
type Tester interface {
	Simulator
	// Test must not change the state.
	Test(o *orderlog.Order) (possible bool, err error)
}

// Locator is a Simulator in a process of its own whose state lies in memory that a debugger can watch.
type Locator interface {
	Simulator
	// Where returns the address of a value in that process, and how many bytes it has there. The column is
	// "Component.field" of an archetype. An empty archetype is the RNG, for which the other parameters do not count.
	Where(archetype, column string, key snapshot.Key) (address uint64, bytes uint32, err error)
}

// Validator is a Simulator that knows which orders it ignores.
type Validator interface {
	Simulator
	// Validate returns for each order of a tick why it would be ignored in any state, empty if it would not.
	Validate(orders []orderlog.Order) (why []string, err error)
}

// BranchMode is how a Brancher records.
type BranchMode uint32

// Modes of recording branches.
const (
	BranchesOff  BranchMode = 0
	BranchesHash BranchMode = 1 // their number and a hash
	BranchesFile BranchMode = 2 // all of them, in a file that docs/code.md specifies
)

// Flow is what a thread of a simulation did: how many branches it took, and a hash of them in their order.
type Flow struct {
	Thread uint32 // by the game's numbers; 0 answers requests
	Count  uint64
	Hash   uint64
}

// Brancher is a Simulator that records the branches that it takes.
type Brancher interface {
	Simulator
	// Branches ends what is recorded and returns the flow of each thread that took a branch, by ascending number. Then
	// it begins to record in another mode. The file is for BranchesFile; it has the stack of calls at branch number stop
	// of thread 0, counted from 0, and none for math.MaxUint64.
	Branches(mode BranchMode, file string, stop uint64) ([]Flow, error)
}

// Identified is a Simulator that reports its game and build. Either may be empty.
type Identified interface {
	Simulator
	Identity() (game, build string)
}

// Stepper is a Simulator that can step system by system. It can also hash the state between two systems.
type Stepper interface {
	Simulator
	// Begin begins a step that Next continues.
	Begin(orders []orderlog.Order) error
	// Next runs the next system and returns its name; more is false after the last one.
	Next() (system string, more bool, err error)
}
