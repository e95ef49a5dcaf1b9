package compare

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/verdict"
)

// Builds are the simulators that the orders of a session are replayed in.
type Builds struct {
	// Sim is the build that is trusted, nil for none. Own is the one that the peer had which
	// is wrong; nil if that is not known, or the same.
	Sim, Own *bisect.Sim
	// Witness is a game that plays the recordings of the peers again, nil for none.
	Witness *Witness
	// Code asks where in the code Sim and Own depart.
	Code Code
	// Replays is how many replays experiments may take. The replays that find the peer who is wrong, and a second look
	// at what departs, do not count. 0 is as many as are begun before they have played Ticks, 1,000,000 if that is 0.
	Replays int
	Ticks   uint64
	// Verify recomputes the digests of all states where none differ, see bisect.Options.
	Verify bool
	// Progress, if not nil, is called while orders are replayed, with the purpose, and the ticks that are done and all.
	Progress func(what string, done, total int64)
}

// maxTicks is Ticks if that is not set. A limit of time would give another answer on a busy machine.
const maxTicks = 1_000_000

// The sizes of experiments: how many replays show that a build does not do the same twice, how far games roll back and
// how long before its tick an order is given, in ticks, and how many players are predicted.
const (
	repeats    = 24
	depth      = 8
	latency    = 8
	maxPlayers = 8
	vicinity   = 64 // ticks before and after the divergent one
	maxBack    = 1024
)

// bench replays the orders of the peers again.
type bench struct {
	builds Builds
	own    *bisect.Sim
	replay *bisect.Replay
	back   func(peer string) uint64
	made   int    // replays
	played uint64 // ticks
}

// lab returns what makes experiments, nil if nothing was replayed.
func (g *gatherer) lab() *verdict.Lab {
	b := g.builds
	if b.Sim == nil {
		return nil
	}
	l := &verdict.Lab{Sim: b.Sim.Name, Own: b.Sim.Name, Given: b.Own != nil}
	x := &bench{builds: b, own: b.Sim, replay: g.e.Bisect.Replay, back: g.wentBack}
	if b.Own != nil {
		l.Own, x.own = b.Own.Name, b.Own
	}
	l.Try, l.Allowed, l.Back = x.try, x.allowed, x.back
	return l
}

// wentBack returns by how many ticks a peer rolled back at most, as its trace shows; 0 if it does not.
func (g *gatherer) wentBack(peer string) (ticks uint64) {
	for _, t := range slices.Concat(g.e.Traces, g.e.Bisect.Traces) {
		for i := range t.Traces {
			if r := t.Traces[i].Rollback; r != nil && t.Traces[i].Name == peer {
				ticks = max(ticks, r.Deepest)
			}
		}
	}
	return min(ticks, maxBack)
}

// around returns how many ticks before and after the divergent one an experiment is made in: a rollback over that tick, as
// the peer made them, is among them.
func (x *bench) around(t verdict.Trying) uint64 { return max(vicinity, x.back(t.Peer)) }

// deep returns by how many ticks an experiment rolls back: as many as the peer did, unless that takes more replays than are
// allowed.
func (x *bench) deep(t verdict.Trying) int {
	back := max(depth, min(int(x.back(t.Peer)), vicinity))
	if n := x.builds.Replays; n > 0 && x.made+back+1 > n {
		return depth
	}
	return back
}

// allowed reports whether as many replays may still be made as an experiment takes.
func (x *bench) allowed(t verdict.Trying) bool {
	if x.own.Interrupted() {
		return false
	}
	if x.builds.Replays > 0 {
		return x.made+x.takes(t) <= x.builds.Replays
	}
	return x.played < cmp.Or(x.builds.Ticks, maxTicks)
}

// takes returns how many replays an experiment takes at most.
func (x *bench) takes(t verdict.Trying) int {
	switch n := x.replays(t); {
	case t.Mode == bisect.Predict:
		return n * len(x.players(t))
	case t.Mode == bisect.Against && !x.steps(): // a second time if they have no systems
		return 2 * n
	default:
		return n
	}
}

// replays returns how many replays a trial takes.
func (x *bench) replays(t verdict.Trying) int {
	switch t.Mode {
	case bisect.Plain, bisect.CheckCaches, bisect.Changing:
		return 1
	case bisect.Repeat:
		return repeats
	case bisect.Rollback:
		if t.Wide { // each tick is rolled back as often as the rollback is deep
			return x.deep(t) + 1
		}
	}
	return 2 // instances side by side; only the last ticks are rolled back
}

// steps reports whether both builds are known to have systems.
func (x *bench) steps() bool {
	return slices.Contains(x.builds.Sim.Can, bisect.CanSystems) && slices.Contains(x.own.Can, bisect.CanSystems)
}

// try makes an experiment.
func (x *bench) try(t verdict.Trying) (*bisect.Trial, error) {
	if t.Mode == bisect.Predict {
		return x.predict(t)
	}
	opts := bisect.TrialOptions{Mode: t.Mode}
	since := t.Tick
	if t.Wide {
		since -= min(since, x.around(t))
	}
	switch t.Mode {
	case bisect.CheckPurity:
		opts.Since, opts.Ahead = &t.Tick, latency
	case bisect.Serialize, bisect.Changing:
		opts.Since = &since
	case bisect.Repeat:
		opts.Runs = repeats
	case bisect.Rollback:
		opts.Depth, opts.Since = x.deep(t), &since
	case bisect.Against:
		opts.Against = x.own
		opts.DrillFrom = t.Tick
		opts.Drill = true
		if trial, err := x.again(x.builds.Sim, t, opts); err == nil || x.steps() {
			return trial, err
		}
		opts.Drill = false // they may have no systems
		return x.again(x.builds.Sim, t, opts)
	}
	return x.again(x.own, t, opts)
}

// predict plays the tick ahead with the orders of each player in turn, and takes it back.
func (x *bench) predict(t verdict.Trying) (trial *bisect.Trial, err error) {
	since := t.Tick
	if t.Wide {
		since -= min(since, x.around(t))
	}
	for _, player := range x.players(t) {
		trial, err = x.again(x.own, t, bisect.TrialOptions{Mode: bisect.Predict, Since: &since, Lasting: true, Predict: []uint32{player}})
		if err != nil || trial.First != nil {
			return trial, err
		}
	}
	return trial, nil
}

// players returns the players to predict: the players with orders in the tick, or, if there are none, around it.
func (x *bench) players(t verdict.Trying) []uint32 {
	players := x.replay.OrdersFrom(t.Peer, t.Tick, t.Tick+1)
	if t.Wide {
		players = x.replay.OrdersFrom(t.Peer, t.Tick-min(t.Tick, x.around(t)), t.Tick+x.around(t))
	}
	if len(players) == 0 {
		players = x.replay.OrdersFrom(t.Peer, t.Tick-min(t.Tick, latency), t.Tick+latency)
	}
	if len(players) == 0 { // a game plays ahead without orders, too
		players = []uint32{0}
	}
	return players[:min(len(players), maxPlayers)]
}

// again replays until the end of the divergent tick.
func (x *bench) again(sim *bisect.Sim, t verdict.Trying, opts bisect.TrialOptions) (*bisect.Trial, error) {
	x.made += x.replays(t)
	if p := x.builds.Progress; p != nil {
		opts.Progress = func(done, total int64) { p("experiment, "+string(t.Mode), done, total) }
	}
	until := t.Tick + 1
	if t.Wide {
		until += x.around(t)
	}
	trial, err := x.replay.Again(sim, bisect.Again{Peer: t.Peer, Whole: t.Whole, Until: until, Options: opts})
	if trial != nil {
		x.played += trial.Ticks
	}
	if sim.Interrupted() { // what it found until then proves nothing
		return nil, fmt.Errorf("%w: %w", bisect.ErrUnplayable, context.Cause(sim.Context))
	}
	return trial, err
}
