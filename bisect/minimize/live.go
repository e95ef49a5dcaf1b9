package minimize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Live is a Test by simulators that run side by side, or by one that checks itself. It ignores recorded hashes.
type Live struct {
	Sim *bisect.Sim
	// Mode is any but Plain, FromEachSnapshot and Repeat, which need recorded data.
	Mode    bisect.TrialMode
	Against *bisect.Sim // for that mode
	Depth   int         // for Rollback
	Predict []uint32    // for that mode, one player or two
	// Unsteady reports whether a replay is expected to differ the next time.
	Unsteady bool

	once  sync.Once
	steps bool // all simulators are bisect.Steppers
}

// Name implements Test.
func (l *Live) Name() string {
	switch l.Mode {
	case bisect.Against:
		return fmt.Sprintf("%s against %s", l.Sim.Name, l.Against.Name)
	case bisect.Rollback:
		return fmt.Sprintf("%s, %s by %d", l.Sim.Name, l.Mode, l.Depth)
	case bisect.Predict:
		return fmt.Sprintf("%s, %s %s", l.Sim.Name, l.Mode, strings.Trim(strings.ReplaceAll(fmt.Sprint(l.Predict), " ", ","), "[]"))
	}
	return fmt.Sprintf("%s, %s", l.Sim.Name, l.Mode)
}

// Run implements Test.
func (l *Live) Run(ctx context.Context, c *Candidate, from *snapshot.World) (Outcome, error) {
	until, log := c.Until(), c.Log()
	if l.Mode == bisect.Predict && !l.predictable(log) {
		return Outcome{Verdict: InSync}, nil // nothing is predicted
	}
	opts := bisect.TrialOptions{Mode: l.Mode, Against: l.Against, Depth: l.Depth, Predict: l.Predict, Lasting: true, From: from, Until: &until, Whole: true, Context: ctx}
	drills := l.drills(c)
	// Two instances of one simulator depart differently each time.
	opts.Drill = drills && (l.Unsteady || l.Mode == bisect.Dual)
	t, err := bisect.Try(log, l.Sim, opts)
	switch {
	case ctx.Err() != nil:
		return Outcome{}, ctx.Err()
	case err != nil:
		return Outcome{Verdict: Unknown, Replays: 1, Why: err.Error()}, nil
	}
	out := Outcome{Verdict: InSync, Replays: 1, Ticks: t.Ticks}
	if t.First == nil {
		return out, nil
	}
	out.Verdict, out.Signature, out.Point = Diverges, SignatureOf(t.First), &t.First.Point
	if !drills || opts.Drill || plain(t.First) || t.First.Point == t.From {
		return out, nil
	}
	opts.Drill, opts.DrillFrom, opts.Until = true, t.First.Point-1, out.Point
	again, err := bisect.Try(log, l.Sim, opts)
	if ctx.Err() != nil {
		return Outcome{}, ctx.Err()
	}
	if out.Replays++; err != nil {
		return out, nil
	}
	if out.Ticks += again.Ticks; again.First != nil && again.First.Point == *out.Point {
		out.Signature = SignatureOf(again.First)
	}
	return out, nil
}

// predictable reports whether each of the players gives an order that can be predicted.
func (l *Live) predictable(log *orderlog.Log) bool {
	given := map[uint32]bool{}
	for i := range log.Ticks {
		for k := range log.Ticks[i].Orders {
			if o := &log.Ticks[i].Orders[k]; !local(&log.Header, o) {
				given[o.Player] = true
			}
		}
	}
	return !slices.ContainsFunc(l.Predict, func(player uint32) bool { return !given[player] })
}

// local reports whether other peers do not get an order.
func local(h *orderlog.Header, o *orderlog.Order) bool {
	return int(o.Kind) < len(h.Kinds) && h.Kinds[o.Kind].Local
}

// drills reports whether the simulators can be stepped system by system, so that what
// departs first in a tick is known.
func (l *Live) drills(c *Candidate) bool {
	if l.Mode != bisect.Against && l.Mode != bisect.Dual && l.Mode != bisect.Serialize {
		return false
	}
	l.once.Do(func() {
		l.steps = true
		for _, sim := range []*bisect.Sim{l.Sim, l.Against} {
			if sim == nil {
				continue
			}
			s, err := sim.Start(&c.in.Header)
			if err != nil {
				l.steps = false
				continue
			}
			if _, ok := bisect.As[bisect.Stepper](s, bisect.CanSystems); !ok {
				l.steps = false
			}
			_ = bisect.Close(s)
		}
	})
	return l.steps
}

// States implements Resumer.
func (l *Live) States(ctx context.Context, c *Candidate, from *snapshot.World, points []uint64) (worlds []*snapshot.World, ticks uint64, err error) {
	s, err := l.start(c, from)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, bisect.Close(s)) }()
	saver, ok := bisect.As[bisect.Saver](s, bisect.CanState)
	if p, partial := s.(bisect.Partial); partial && !p.Can(bisect.CanLoad) {
		ok = false
	}
	if !ok || l.Sim.Resume == nil || l.Against != nil && l.Against.Resume == nil {
		return nil, 0, nil
	}
	log := c.Log()
	orders := make(map[uint64][]orderlog.Order, len(log.Ticks))
	for i := range log.Ticks {
		orders[log.Ticks[i].Number] = log.Ticks[i].Orders
	}
	for _, point := range points {
		for s.Point() < point {
			if err := ctx.Err(); err != nil {
				return nil, ticks, err
			}
			if err := s.Step(orders[s.Point()]); err != nil {
				return nil, ticks, err
			}
			ticks++
		}
		w, err := saver.World()
		if err != nil {
			return nil, ticks, err
		}
		worlds = append(worlds, w)
	}
	return worlds, ticks, nil
}

func (l *Live) start(c *Candidate, from *snapshot.World) (bisect.Simulator, error) {
	if from != nil {
		return l.Sim.Resume(from, &c.in.Header)
	}
	return l.Sim.Start(&c.in.Header)
}
