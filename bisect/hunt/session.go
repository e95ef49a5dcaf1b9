package hunt

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Session is what came of one seed.
type Session struct {
	Seed uint64
	// Log is the session that was made up.
	Log *orderlog.Log
	// Point is the state point that it leads to.
	Point uint64
	// Ticks are those that were stepped, of all instances in all modes.
	Ticks    uint64
	Coverage Coverage
	Played   []bisect.TrialMode
	// Failures are in the order of the modes, one a mode at most.
	Failures []*Failure
}

// plan is what a seed decides before the first order.
type plan struct {
	seed   uint64
	header orderlog.Header
	ticks  uint64
	depth  int
	r      *rand.Rand
	source source
}

// maxDepth is by how many ticks a session is rolled back at most.
const maxDepth = 6

// plan draws what a session is.
func (h *Hunter) plan(seed uint64) *plan {
	p := &plan{seed: seed, r: stream(seed, planStream)}
	p.ticks = h.target.MaxTicks >> p.r.IntN(5)
	p.ticks = max(p.ticks-p.r.Uint64N(p.ticks/4+1), 1)
	p.depth = 1 + p.r.IntN(maxDepth)
	if n := len(h.base); n > 0 && (h.forms == nil || p.r.IntN(2) == 0) {
		base, orders, ticks := changed(stream(seed, changeStream), h.base, p.ticks)
		p.header, p.source, p.ticks = base.header, orders, ticks
		return p
	}
	p.header = orderlog.Header{Seed: p.r.Uint64(), Peer: peerName, Peers: []string{peerName}, Kinds: h.forms.Kinds(), Params: map[string]string{}}
	for _, param := range h.paramForms() {
		p.header.Params[param.Key] = param.Values[p.r.IntN(len(param.Values))]
	}
	return p
}

// Session plays the session of a seed, in every mode. An error comes only from ctx: whatever the simulator does is a
// Failure.
func (h *Hunter) Session(ctx context.Context, seed uint64) (*Session, error) {
	s := &Session{Seed: seed}
	p := h.plan(seed)
	broken, err := h.make(ctx, p, s)
	if err != nil {
		return nil, err
	}
	if broken {
		return s, nil
	}
	players := h.givers(s.Log)
	unsteady := false
	for _, mode := range h.Modes {
		f := &Failure{Seed: seed, Mode: mode}
		switch mode {
		case Checksum:
			continue // in the making
		case bisect.Rollback:
			f.Depth = p.depth
		case bisect.Predict:
			if len(players) == 0 {
				continue
			}
			p.r.Shuffle(len(players), func(i, k int) { players[i], players[k] = players[k], players[i] })
			f.Predict = players[:min(2, len(players))]
		}
		if unsteady && compares(mode) {
			continue // nothing follows from a difference
		}
		s.Played = append(s.Played, mode)
		departs, ticks, err := h.try(ctx, s.Log, f, s.Point)
		if err != nil {
			return nil, err
		}
		s.Ticks += ticks
		if !departs {
			continue
		}
		if f.Broke == "" && compares(mode) {
			if unsteady, ticks, err = h.unsteady(ctx, s.Log, f); err != nil {
				return nil, err
			}
			s.Ticks += ticks
		}
		h.locate(ctx, f, s.Log)
		s.Failures = append(s.Failures, f)
	}
	return s, nil
}

// again is how often a simulator is tried that departs from itself in another mode than Dual.
const again = 2

// unsteady reports whether a simulator does not agree with itself, of a failure that would follow
// from that. Then it is one of the mode Dual.
func (h *Hunter) unsteady(ctx context.Context, log *orderlog.Log, f *Failure) (unsteady bool, ticks uint64, err error) {
	if f.Mode == bisect.Dual {
		return true, 0, nil
	}
	for range again {
		dual := &Failure{Seed: f.Seed, Mode: bisect.Dual}
		departs, n, err := h.try(ctx, log, dual, *f.Point)
		if ticks += n; err != nil {
			return false, ticks, err
		}
		if departs && dual.Broke == "" {
			*f = *dual
			return true, ticks, nil
		}
	}
	return false, ticks, nil
}

// compares reports whether a mode compares two instances. Such a mode shows nothing about a simulator that does not
// agree with itself.
func compares(mode bisect.TrialMode) bool {
	return mode != bisect.CheckCaches && mode != bisect.CheckPurity
}

// givers returns the players who give orders that others get, ascending.
func (h *Hunter) givers(log *orderlog.Log) (list []uint32) {
	for i := range log.Ticks {
		for _, o := range log.Ticks[i].Orders {
			if !log.Header.Kinds[o.Kind].Local && !slices.Contains(list, o.Player) {
				list = append(list, o.Player)
			}
		}
	}
	slices.Sort(list)
	return list
}

// lookEvery is how many ticks lie between two looks at the state, to name the entities that
// are there.
const lookEvery = 16

// make makes the session up while it is played, and reports whether the simulator broke off.
func (h *Hunter) make(ctx context.Context, p *plan, s *Session) (broken bool, err error) {
	log := &orderlog.Log{Name: fmt.Sprintf("session %#x", p.seed), Header: p.header}
	s.Log, s.Coverage = log, newCoverage(p.header.Kinds)
	s.Coverage.Sessions = 1
	s.Played = append(s.Played, Play)
	if slices.Contains(h.Modes, Checksum) {
		s.Played = append(s.Played, Checksum)
	}
	fails := func(err error) (bool, error) {
		if ended := h.ended(ctx); ended != nil {
			return false, ended
		}
		log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
		f := &Failure{Seed: p.seed, Mode: Play}
		f.broke(err)
		s.Failures = append(s.Failures, f)
		return true, nil
	}
	sim, err := h.target.Sim.Start(&log.Header)
	if err != nil {
		return fails(err)
	}
	defer func() { _ = bisect.Close(sim) }() // how it leaves is nothing that a session is about
	if p.source == nil {
		forms := h.forms
		if teller, ok := bisect.As[bisect.OrderTeller](sim, bisect.CanOrders); ok {
			if forms, err = teller.OrderForms(); err != nil {
				return fails(err)
			}
		}
		p.source = newMaker(stream(p.seed, orderStream), forms, p.header.Kinds)
	}
	saver, looks := bisect.As[bisect.Saver](sim, bisect.CanState)
	tester, tests := bisect.As[bisect.Tester](sim, bisect.CanTest)
	var e *bisect.Entities
	for tick := sim.Point(); ; tick++ {
		if err := h.ended(ctx); err != nil {
			return false, err
		}
		if looks && (tick%lookEvery == 0 || tick >= p.ticks) {
			w, err := saver.World()
			if err != nil {
				return fails(err)
			}
			s.Coverage.look(w)
			if err := h.sums(s, w, sim, tick); err != nil {
				return fails(err)
			}
			if m, ok := p.source.(*maker); ok {
				e = bisect.EntitiesOf(w, m.forms.Owner)
			}
		}
		if tick >= p.ticks {
			break
		}
		orders := p.source.orders(tick, e)
		log.Ticks = append(log.Ticks, orderlog.Tick{Number: tick, Orders: orders, InputHash: orderlog.InputHash(log.Header.Kinds, orders)})
		s.Coverage.given(orders)
		for i := range orders {
			if !tests {
				break
			}
			possible, err := tester.Test(&orders[i])
			if err != nil {
				return fails(err)
			}
			p.source.judged(&orders[i], possible)
			s.Coverage.judged(&orders[i], possible)
		}
		if err := sim.Step(orders); err != nil {
			return fails(err)
		}
		s.Ticks++
	}
	s.Point = sim.Point()
	s.Coverage.Played += s.Point
	log.Epochs = []orderlog.Epoch{{Ticks: log.Ticks}}
	return false, nil
}

// sums compares the sync hash with the state, if that is wanted and has not failed yet.
func (h *Hunter) sums(s *Session, w *snapshot.World, sim bisect.Simulator, point uint64) error {
	if !slices.Contains(h.Modes, Checksum) || len(s.Failures) > 0 {
		return nil
	}
	if same, err := summed(w, sim); err != nil || same {
		return err
	}
	f := &Failure{Seed: s.Seed, Mode: Checksum, Point: &point, Signature: checksumSignature}
	s.Failures = append(s.Failures, f)
	return nil
}

// summed reports whether the sync hash of a simulator matches its state.
func summed(w *snapshot.World, sim bisect.Simulator) (bool, error) {
	held, err := snapshot.Hold(w)
	if err != nil {
		return false, err
	}
	return held.Info().Root.Short() == sim.SyncHash(), nil
}

// ended returns why the hunt is to end, if it is.
func (h *Hunter) ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if h.target.Sim.Interrupted() || h.target.Against != nil && h.target.Against.Interrupted() {
		return errors.New("the simulator was ended")
	}
	return nil
}

// try plays a session in the mode of a failure, and reports whether it is one.
func (h *Hunter) try(ctx context.Context, log *orderlog.Log, f *Failure, point uint64) (departs bool, ticks uint64, err error) {
	opts := h.options(f, point)
	opts.Context = ctx
	t, err := bisect.Try(log, h.target.Sim, opts)
	if ended := h.ended(ctx); ended != nil {
		return false, 0, ended
	}
	if err != nil {
		f.broke(err)
		return true, 0, nil
	}
	if t.First == nil {
		return false, t.Ticks, nil
	}
	f.departs(t)
	return true, t.Ticks, nil
}

// options are the options of a replay in the mode of a failure.
func (h *Hunter) options(f *Failure, until uint64) bisect.TrialOptions {
	return bisect.TrialOptions{Mode: f.Mode, Against: h.target.Against, Depth: f.Depth, Predict: f.Predict, Lasting: true, Until: &until, Whole: true, InTurn: true}
}
