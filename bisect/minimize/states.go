package minimize

import (
	"context"
	"sort"

	"github.com/desynctool/desynctool/snapshot"
)

// states has a candidate's states at some of its points. Other candidates that have the same orders up to there begin
// with them.
type states struct {
	of     *Candidate
	worlds []*snapshot.World // by ascending point
}

// Limits on the kept states.
const (
	maxStates      = 16
	maxStatesBytes = 64 << 20
	minTicks       = 32 // a session that is shorter is played from its start
)

// before returns the last state that a candidate shares, nil if that is the state at the start.
func (s *states) before(c *Candidate) *snapshot.World {
	if s == nil {
		return nil
	}
	parts := s.of.parts(c)
	i := sort.Search(len(s.worlds), func(i int) bool { return s.worlds[i].Point.Tick > parts || s.worlds[i].Point.Tick >= c.until })
	if i == 0 {
		return nil
	}
	return s.worlds[i-1]
}

// resume takes the first states, if the test can begin with them: if the best candidate,
// begun with the last of them, departs where it does from its start, and in the same way.
func (s *search) resume(ctx context.Context) error {
	if _, ok := s.test.(Resumer); !ok || s.reached.Point == nil || len(s.best.kept) == 0 || s.best.until-s.in.First() < minTicks {
		return nil
	}
	s.states = &states{of: s.best.Prefix(s.in.First())}
	if err := s.take(ctx); err != nil || s.states == nil {
		return err
	}
	from := s.states.before(s.best)
	j, err := s.judge(ctx, s.best, from, false)
	if err != nil {
		return err
	}
	s.out.Replays += j.Replays
	s.out.Resumed += j.Replays
	s.out.Ticks += j.Ticks
	if !s.counts(j) || *j.Point != *s.reached.Point {
		s.states = nil
		s.out.Notes = append(s.out.Notes, "every candidate is played from its start: begun in the middle, the session does not depart as it does")
	}
	return nil
}

// refresh takes the states of the best candidate where they are not known, before some
// candidates that may begin with them.
func (s *search) refresh(ctx context.Context, candidates int) error {
	const worth = 4 // taking them costs a replay
	if s.states == nil || candidates < worth || s.states.of == s.best {
		return nil
	}
	return s.take(ctx)
}

// take takes the states of the best candidate, beginning with those that are its own.
func (s *search) take(ctx context.Context) error {
	have := s.states
	first, until := s.in.First(), s.best.until
	fresh := &states{of: s.best}
	for _, w := range have.worlds {
		if w.Point.Tick <= have.of.parts(s.best) && w.Point.Tick < until {
			fresh.worlds = append(fresh.worlds, w)
		}
	}
	var from *snapshot.World
	if n := len(fresh.worlds); n > 0 {
		from = fresh.worlds[n-1]
	}
	count := uint64(maxStates)
	if from != nil {
		count = min(count, max(1, maxStatesBytes/size(from)))
	}
	var points []uint64
	for i := uint64(1); i <= count; i++ {
		if p := first + (until-first)*i/(count+1); p > first && p < until && (from == nil || p > from.Point.Tick) {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		s.states = fresh
		return nil
	}
	worlds, ticks, err := s.test.(Resumer).States(ctx, s.best, from, points)
	s.out.Ticks += ticks
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.out.Replays++; err != nil || worlds == nil {
		s.states = nil
		return nil
	}
	fresh.worlds = append(fresh.worlds, worlds...)
	s.states = fresh
	return nil
}

// size returns about how many bytes a state takes.
func size(w *snapshot.World) uint64 {
	n := uint64(1)
	for i := range w.Tables {
		t := &w.Tables[i]
		n += 8 * uint64(len(t.Keys.A)+len(t.Keys.B))
		for k := range t.Columns {
			n += uint64(len(t.Columns[k].Data))
		}
	}
	return n
}
