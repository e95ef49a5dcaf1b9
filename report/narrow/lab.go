package narrow

import (
	"errors"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/playbook"
)

// Builds are the simulators that the orders of a session are replayed in.
type Builds struct {
	// Sim is the build that is trusted, nil for none. Own is the one that the peer had which
	// is wrong; nil if that is not known, or the same.
	Sim, Own *bisect.Sim
	// Replays is how many replays experiments may take, beside those that find the peer who
	// is wrong; 0 for as many as are begun in a minute.
	Replays int
	// Progress, if not nil, is called while experiments are made, with what is tried and the
	// ticks that are done and all.
	Progress func(what string, done, total int64)
}

// maxTime is for how long experiments are begun if nobody says how many there may be.
const maxTime = time.Minute

// The sizes of experiments: how many replays show that a build does not do the same twice,
// how far games roll back and how long before its tick an order is given, in ticks, and
// whose predictions are tried.
const (
	repeats    = 6
	depth      = 8
	latency    = 8
	maxPlayers = 8
)

// bench replays the orders of the peers once more.
type bench struct {
	builds Builds
	own    *bisect.Sim
	replay *bisect.Replay
	made   int
	ends   time.Time
}

// lab returns what makes experiments, nil if nothing was replayed.
func (g *gatherer) lab() *playbook.Lab {
	b := g.builds
	if b.Sim == nil {
		return nil
	}
	l := &playbook.Lab{Sim: b.Sim.Name, Own: b.Sim.Name, Given: b.Own != nil}
	x := &bench{builds: b, own: b.Sim, replay: g.e.Bisect.Replay}
	if b.Own != nil {
		l.Own, x.own = b.Own.Name, b.Own
	}
	l.Try, l.Left = x.try, x.left
	return l
}

// left returns how many replays may still be made.
func (x *bench) left() int {
	if x.builds.Replays > 0 {
		return x.builds.Replays - x.made
	}
	if x.ends.IsZero() {
		x.ends = time.Now().Add(maxTime)
	}
	if time.Now().After(x.ends) {
		return 0
	}
	return 1
}

// try makes an experiment.
func (x *bench) try(t playbook.Trying) (*bisect.Trial, error) {
	if x.replay == nil {
		return nil, errors.New("nothing was replayed")
	}
	if t.Mode == bisect.Predict {
		return x.predict(t)
	}
	opts := bisect.TrialOptions{Mode: t.Mode}
	switch t.Mode {
	case bisect.CheckPurity:
		opts.Since, opts.Ahead = &t.Tick, latency
	case bisect.Serialize:
		opts.Since = &t.Tick
	case bisect.Repeat:
		opts.Runs = repeats
		x.made += repeats - 2
	case bisect.Rollback:
		opts.Depth, opts.Since = depth, &t.Tick
		x.made += depth - 1
	case bisect.Against:
		opts.Against = x.own
		opts.DrillFrom = t.Tick
		opts.Drill = true
		trial, err := x.again(x.builds.Sim, t, opts)
		if err == nil {
			return trial, nil
		}
		opts.Drill = false // it has no systems
		return x.again(x.builds.Sim, t, opts)
	}
	return x.again(x.own, t, opts)
}

// predict plays the tick ahead with the orders of each player in turn, and takes it back.
func (x *bench) predict(t playbook.Trying) (trial *bisect.Trial, err error) {
	players := x.replay.OrdersFrom(t.Peer, t.Tick, t.Tick+1)
	if len(players) == 0 {
		players = x.replay.OrdersFrom(t.Peer, t.Tick-min(t.Tick, latency), t.Tick+latency)
	}
	if len(players) == 0 { // a game plays ahead without orders, too
		players = []uint32{0}
	}
	for _, player := range players[:min(len(players), maxPlayers)] {
		trial, err = x.again(x.own, t, bisect.TrialOptions{Mode: bisect.Predict, Since: &t.Tick, Lasting: true, Predict: []uint32{player}})
		if err != nil || trial.First != nil {
			return trial, err
		}
	}
	return trial, nil
}

// again replays until the end of the divergent tick.
func (x *bench) again(sim *bisect.Sim, t playbook.Trying, opts bisect.TrialOptions) (*bisect.Trial, error) {
	x.made++
	if t.Mode != bisect.Plain && t.Mode != bisect.CheckCaches {
		x.made++ // they take two instances, at least
	}
	if p := x.builds.Progress; p != nil {
		opts.Progress = func(done, total int64) { p(string(t.Mode), done, total) }
	}
	return x.replay.Again(sim, bisect.Again{Peer: t.Peer, Whole: t.Whole, Until: t.Tick + 1, Options: opts})
}
