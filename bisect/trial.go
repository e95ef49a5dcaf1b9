package bisect

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// TrialMode is a way of replaying the orders of a log. Each mode finds another kind of mistake.
type TrialMode string

// Modes.
const (
	// Plain compares the replay with the hashes that the log's peer recorded: it shows whether that peer or the others
	// went wrong.
	Plain TrialMode = "plain"
	// Against steps two simulators side by side: two builds, or one with other data.
	Against TrialMode = "against"
	// Dual steps two instances of one simulator side by side: it shows dependence on threads, time, addresses or the
	// order of a map, if that has an effect at once.
	Dual TrialMode = "dual"
	// Serialize saves and loads one of two instances in every tick: it shows state that a save forgets.
	Serialize TrialMode = "serialize"
	// Rollback goes back some ticks in every tick and plays them again. It shows state that a restore does not put
	// back, even if the game reads it only some ticks later.
	Rollback TrialMode = "rollback"
	// FromEachSnapshot begins at each of the peer's snapshots, as a peer that joins does.
	FromEachSnapshot TrialMode = "from-each-snapshot"
	// Repeat replays the whole log several times. It shows divergences that happen only sometimes.
	Repeat TrialMode = "runs"
	// CheckCaches computes all caches again in every tick.
	CheckCaches TrialMode = "check-caches"
	// CheckPurity tests each order before its tick: only the machine of the player
	// who gives it does so, and the test must not change the state.
	CheckPurity TrialMode = "check-purity"
	// Predict predicts another player's orders in each of two instances, as the machines of these players do. It shows
	// state that taking back a prediction forgets.
	Predict TrialMode = "predict"
	// Changing plays the log and notes the columns that change: if a column does not change in
	// some ticks, no mode can show there that a save lacks it.
	Changing TrialMode = "changing"
)

// TrialOptions configures the replay of a log.
type TrialOptions struct {
	Mode TrialMode
	// Against is the second simulator of that mode.
	Against *Sim
	// Depth is how many ticks Rollback goes back, at least 1.
	Depth int
	// Predict are one or two players for the mode Predict; with one player, the second instance predicts no orders.
	Predict []uint32
	// Since is the first tick that CheckPurity tests and Predict predicts orders of, the first state point at which
	// Serialize saves and loads, the first from which Rollback goes back, and the first tick of Changing; ticks before are only played. If it is
	// set, Predict plays ahead in each tick from then on, also in those for which the player gives no orders.
	Since *uint64
	// Lasting ignores changes that Predict does not undo but the tick itself corrects.
	Lasting bool
	// Ahead is the number of later ticks that CheckPurity also tests the orders of before each tick, for games in which
	// an order takes effect that long after it was given.
	Ahead int
	// Runs is how often the log is replayed, at least 2.
	Runs int
	// From is the state to begin with, in the last stretch that has its point; nil is the start of the session.
	From *snapshot.World
	// Force accepts states with another seed, map or build than the log's, which are otherwise refused.
	Force bool
	// Until is the last state point, nil the end of the log.
	Until *uint64
	// Whole reports whether the log has no gaps: it was made, not recorded, and ticks that it leaves out have no
	// orders.
	Whole bool
	// Snapshots are the peer's, for FromEachSnapshot, to begin stretches with, and to show the differences.
	Snapshots *snapshot.Set
	// Expect are the hashes to compare the replay with, instead of the log's, by state point.
	Expect map[uint64]merkle.Short
	// Observe, if not nil, is called with the sync hash of each state point of a plain replay.
	Observe func(point uint64, hash merkle.Short) error
	// ObserveSystem, if not nil, is called in a plain replay after each system of each tick, with the sync hash of the
	// state between it and the next one. It is for simulators that are Steppers, and is used together with Observe,
	// which is called after the last system of a tick.
	ObserveSystem func(tick uint64, system string, hash merkle.Short) error
	// Drill steps system by system, so that the first system after which anything departs is known, and the differences
	// right after it. It is for Plain, Against, Dual and Serialize, and for simulators that are Steppers.
	Drill bool
	// DrillFrom is the state point from which on Drill steps two simulators side by side system by system; before it
	// they step by whole ticks.
	DrillFrom uint64
	// Traced is the trace of the log's peer, for Plain with Drill.
	Traced Traced
	// InTurn steps several instances one after the other, for callers that make several replays at once.
	InTurn bool
	// Context, if not nil, ends the replay early when it is done.
	Context context.Context
	// Progress, if not nil, is called with the number of finished ticks and of all ticks.
	Progress func(done, total int64)
}

// Trial is the result of a replay in one mode.
type Trial struct {
	Mode         TrialMode
	Sim, Against string
	From, To     uint64 // state points
	Stretches    int    // of the log that were replayed
	Ticks        uint64 // that were simulated, of all instances
	Compared     uint64 // hashes, or caches checked

	// First is the first point at which anything departs, nil if nothing does.
	First *Departure
	// Agreed is the last point before First that was compared and agrees.
	Agreed *uint64

	// End is the sync hash at To of a plain replay that got there, and of the first replay of Repeat.
	End merkle.Short

	// Runs and Hits are for Repeat: how many replays there were after the first, and how many departed from it. Low and
	// High bound the rate of departures with 95 % confidence.
	Runs, Hits int
	Low, High  float64

	// Changed is for Changing, the places that changed: snapshot.RNG, Archetype/Component.field,
	// and Archetype/ if entities come or go.
	Changed map[string]bool

	// Snapshots counts those that a replay began at.
	Snapshots int

	// Unsteady reports whether the simulator does not agree with itself; then nothing follows from First for the peer.
	Unsteady bool

	// Means is a sentence about what follows.
	Means string
	// Lost names what could not be used, Notes what limits the answer.
	Lost, Notes []string
}

// Departed reports whether anything departs.
func (t *Trial) Departed() bool { return t.First != nil }

// Tick returns the tick that departs, false if there is none: then the states were
// not the same before any tick, or nothing departs.
func (t *Trial) Tick() (uint64, bool) {
	if t.First == nil || t.First.Loaded || t.First.Point <= t.From || t.Agreed == nil || *t.Agreed+1 != t.First.Point {
		return 0, false
	}
	return t.First.Point - 1, true
}

// Departure is a state point at which two things differ that should be equal.
type Departure struct {
	Point uint64
	// A and B are what is compared: instances of a simulator, or it and the log.
	A, B          string
	Expected, Got merkle.Short
	// Diff lists the differences, nil if only hashes are known.
	Diff *snapshot.Diff
	// Caches are those that are stale.
	Caches []string
	// Order, for CheckPurity, is the order that changes the state when it is tested.
	Order string
	// From is the point of the snapshot that the replay began at.
	From uint64

	// The next fields come from drilling. System is the first system in the tick after which anything departs; Diff
	// then compares the states right after it.
	System string
	// Scopes are the differences after System as far as a trace shows them: archetypes, columns.
	Scopes []string
	// Loaded reports whether the log's peer loaded a state at Point that differs from the state that its orders had led
	// to.
	Loaded bool
	// TickEnd reports whether Diff compares the states at the end of the tick, since no others are known: later systems
	// may have added to it.
	TickEnd bool
	// Proof has where it ends.
	Proof string
}

// Try replays a log in one mode, stretch by stretch: gaps are not played, and each stretch
// is judged by itself, until one departs. A stretch that cannot be begun is in Lost: it needs
// the start of the session, a snapshot, or an earlier stretch that leads to its first point.
func Try(log *orderlog.Log, sim *Sim, opts TrialOptions) (*Trial, error) {
	r, err := newRun(log, sim, opts)
	if err != nil {
		return nil, err
	}
	return r.try()
}

// mode is how a trial replays, and the consequences.
type mode struct {
	replay  func(*player) error
	agrees  string // nothing departed
	atStart string // it departs where the replay begins; if empty, this is not the peer's own departure
	departs string
}

var modes = map[TrialMode]*mode{
	Plain: {
		replay:  (*player).plain,
		agrees:  "the recorded states are what the orders give",
		atStart: "the state at the start is not what the log's header gives: another build, map or set of data, or a lobby flag",
	},
	Against: {
		replay: func(p *player) error {
			p.out.Against = p.opts.Against.Name
			return p.pair(p.sim, p.opts.Against, false)
		},
		atStart: "the simulators begin with different states: other data, or another build",
		departs: "from the same orders the simulators come to different states: their builds, platforms or data differ in what this tick does",
	},
	Dual: {
		replay:  func(p *player) error { return p.pair(p.sim, p.sim, false) },
		departs: "the simulator does not agree with itself: threads, the order of a map or of memory, a clock, or uninitialized memory",
	},
	Serialize: {
		replay:  func(p *player) error { return p.pair(p.sim, p.sim, true) },
		departs: "a save forgets something, or loading changes it: a peer that joins or loads would depart here",
	},
	Rollback: {
		replay:  (*player).rollback,
		departs: "a restore does not put everything back, or the ticks played again are not the same: a client that rolls back would depart here",
	},
	FromEachSnapshot: {
		replay:  (*player).fromEach,
		atStart: "loading the snapshot does not give the state that was saved",
		departs: "a peer that joins with this snapshot departs: the save lacks what later ticks read, or the peer went wrong before",
	},
	Repeat: {
		replay:  (*player).repeat,
		agrees:  fmt.Sprintf("nothing departed; a mistake that shows in 1 of 300 replays would need %d of them to be seen with 95 %% probability", RunsFor(1.0/300)),
		departs: "replays of the same orders differ: the mistake depends on threads, time or memory",
	},
	CheckCaches: {
		replay:  (*player).caches,
		agrees:  "every cache is what its state gives",
		departs: "a cache was not updated when its source changed; the code that reads it departs later, while hashes still agree",
	},
	CheckPurity: {
		replay:  (*player).purity,
		agrees:  "no test of an order changes the state",
		departs: "the test of an order changes the state: the machine that tests it before it is given departs from the others",
	},
	Changing: {replay: (*player).changing},
	Predict: {
		replay:  (*player).predict,
		agrees:  "it makes no difference which player's orders are predicted",
		departs: "the taking back of a prediction forgets something: each machine predicts its own players and departs from the others",
	},
}

// replay replays a part in the requested mode.
func (p *player) replay() (err error) {
	defer func() { err = errors.Join(err, p.close()) }()
	m := modes[p.opts.Mode]
	if m == nil {
		return fmt.Errorf("unknown mode %q", p.opts.Mode)
	}
	if err := m.replay(p); err != nil {
		return err
	}
	p.out.Means = cmp.Or(p.out.Means, means(p.out))
	return nil
}

// means returns what follows from a trial.
func means(t *Trial) string {
	d, m := t.First, modes[t.Mode]
	switch {
	case d == nil && t.Compared == 0:
		return "nothing was compared: no hash is recorded in these ticks"
	case d == nil:
		return cmp.Or(m.agrees, "both are the same at every point")
	case d.Loaded:
		return fmt.Sprintf("the state that %s had after loading is not the one that its orders had led to: saving or loading loses something, or it loaded another game", prose.Name(d.A))
	}
	same := d.Diff != nil && !d.Diff.RootsDiffer()
	if t.Mode == Plain && d.System != "" {
		if d.TickEnd && same {
			return fmt.Sprintf("%s recorded something else than its own orders give in %s, but its state at the tick's end is what they give: its checksum is wrong, or what went wrong is gone", prose.Name(d.A), prose.Name(d.System))
		}
		return fmt.Sprintf("%s departs from what its own orders give in %s: it went wrong there, or the simulator is another build", prose.Name(d.A), prose.Name(d.System))
	}
	if same && !d.TickEnd && t.Mode != Predict {
		if t.Mode == Plain {
			return fmt.Sprintf("the state of %s follows from its orders, the recorded checksum does not: its checksum is wrong, or of another kind", prose.Name(d.A))
		}
		return "the states are the same, their hashes are not: a checksum is wrong, or of another kind"
	}
	begin := t.From
	if t.Mode == FromEachSnapshot {
		begin = d.From
	}
	switch {
	case d.Point == begin && m.atStart != "":
		return m.atStart
	case t.Mode == Plain:
		return fmt.Sprintf("%s departs from what its own orders give: it went wrong, or the simulator is another build", prose.Name(d.A))
	}
	return m.departs
}
