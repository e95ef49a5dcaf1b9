package minimize

import (
	"context"
	"slices"
)

// running is a candidate that is being tested.
type running struct {
	c      *Candidate
	key    Key
	cancel context.CancelFunc
	done   chan struct{}
	j      *judged
	err    error
}

// start begins to test a candidate, if it was not tested before.
func (s *search) start(ctx context.Context, c *Candidate) *running {
	r := &running{c: c, key: c.Key(), cancel: func() {}, done: make(chan struct{})}
	if r.j = s.opts.Kept.get(r.key); r.j != nil && (r.j.Whole || s.states != nil) {
		close(r.done)
		return r
	}
	from := s.states.before(c)
	ctx, r.cancel = context.WithCancel(ctx)
	go func() {
		defer close(r.done)
		if r.j, r.err = s.judge(ctx, c, from, false); r.err == nil {
			r.err = s.opts.Kept.add(r.key, r.j)
		}
	}()
	return r
}

// stop ends the test of a candidate if its outcome is not needed.
func (r *running) stop() {
	r.cancel()
	<-r.done
}

// settle waits for a candidate when its turn has come, counts its cost, and makes it the best one if it counts.
func (s *search) settle(r *running) (counted bool, err error) {
	<-r.done
	r.cancel()
	if r.err != nil {
		return false, r.err
	}
	if !s.used[r.key] && s.out.Replays >= s.opts.MaxReplays {
		return false, errBound
	}
	s.pay(r.key, r.j)
	if counted = s.counts(r.j); counted {
		s.adopt(r.c, r.j)
	}
	return counted, nil
}

// first returns the number of the first of n candidates that counts and makes it the best
// one, or -1. Those after it run ahead.
func (s *search) first(ctx context.Context, n int, at func(i int) *Candidate) (int, error) {
	var ahead []*running
	defer func() {
		for _, r := range ahead {
			r.stop()
		}
	}()
	for i, next := 0, 0; i < n; i++ {
		for ; next < n && next < i+s.opts.Jobs; next++ {
			ahead = append(ahead, s.start(ctx, at(next)))
		}
		r := ahead[0]
		ahead = ahead[1:]
		if counted, err := s.settle(r); err != nil || counted {
			return i, err
		}
	}
	return -1, nil
}

// step is a place in a pass: the orders before end of a candidate are still to be tried.
type step struct {
	base *Candidate
	end  int
}

// chunk returns the candidate that lacks the last so many of the orders to be tried.
func (st step) chunk(size int) *Candidate { return st.base.without(max(0, st.end-size), st.end) }

// after returns the place after that candidate, which is the best one now if it counts.
func (st step) after(size int, best *Candidate, counted bool) step {
	from := max(0, st.end-size)
	if counted {
		return step{best, min(from, len(best.kept))}
	}
	return step{st.base, from}
}

// pass tries to leave out each chunk of so many orders, from the last to the first: so the orders before the current
// chunk are always the best candidate's, and tests can begin with its states up to there.
func (s *search) pass(ctx context.Context, size int) (changed bool, err error) {
	if err := s.refresh(ctx, (len(s.best.kept)+size-1)/size); err != nil {
		return false, err
	}
	flying := map[Key]*running{}
	var stopped []*running
	defer func() {
		for _, r := range flying {
			r.cancel()
			stopped = append(stopped, r)
		}
		for _, r := range stopped {
			<-r.done
		}
	}()
	var odds odds
	for at := (step{s.best, len(s.best.kept)}); at.end > 0; {
		likely := odds.likely(at, size, s.opts.Jobs)
		wanted := make(map[Key]bool, len(likely))
		keys := make([]Key, len(likely))
		for i, c := range likely {
			keys[i] = c.Key()
			wanted[keys[i]] = true
		}
		for key, r := range flying {
			if !wanted[key] {
				r.cancel()
				stopped = append(stopped, r)
				delete(flying, key)
			}
		}
		for i, c := range likely {
			if flying[keys[i]] == nil {
				flying[keys[i]] = s.start(ctx, c)
			}
		}
		r := flying[keys[0]]
		delete(flying, keys[0])
		counted, err := s.settle(r)
		if err != nil {
			return changed, err
		}
		changed = changed || counted
		odds.learn(counted)
		at = at.after(size, s.best, counted)
	}
	return changed, nil
}

// odds guesses whether candidates of a pass count, from how often one did after another that did, or did not. It only
// selects the candidates that are worth running ahead.
type odds struct {
	last int       // 1 if the last one counted
	seen [2][2]int // by the one before and the one after
}

func (o *odds) learn(counted bool) {
	next := 0
	if counted {
		next = 1
	}
	o.seen[o.last][next]++
	o.last = next
}

// of returns how likely a candidate counts, or does not, after another.
func (o *odds) of(last, next int) float64 {
	seen := o.seen[last]
	return float64(seen[next]+1) / float64(seen[0]+seen[1]+2)
}

// likely returns the candidate at a place of a pass, and those that are most likely to be
// next, up to n in all.
func (o *odds) likely(at step, size, n int) []*Candidate {
	type branch struct {
		step
		last int
		odds float64
	}
	var list []*Candidate
	open := []branch{{at, o.last, 1}}
	for len(list) < n && len(open) > 0 {
		best := 0
		for i := range open {
			if open[i].odds > open[best].odds {
				best = i
			}
		}
		b := open[best]
		open = slices.Delete(open, best, best+1)
		if b.end == 0 {
			continue
		}
		c := b.chunk(size)
		list = append(list, c)
		for next, counted := range []bool{false, true} {
			open = append(open, branch{b.after(size, c, counted), next, b.odds * o.of(b.last, next)})
		}
	}
	return list
}
