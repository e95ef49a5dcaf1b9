package minimize

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
)

// search is a search that is running. Its fields change only between the candidates of a step, never while they are
// tested.
type search struct {
	in   *Input
	test Test
	opts Options
	out  *Result

	target  Signature
	needed  int        // divergences among opts.Runs by which a candidate counts
	best    *Candidate // that counts, the smallest so far
	reached *judged    // the outcome of best

	trail  []adopted    // the best candidates so far, the input first
	used   map[Key]bool // candidates with counted cost
	states *states      // nil if candidates begin at the start
	// origin is the best candidate that was played from its start, before any began in the
	// middle.
	origin *Candidate
	proven *judged // the outcome of origin
}

// adopted is a candidate that became the best one.
type adopted struct {
	c *Candidate
	j *judged
}

// whole tests the input, and learns in which way it diverges.
func (s *search) whole(ctx context.Context) error {
	c := s.in.Whole()
	key := c.Key()
	j := s.opts.Kept.get(key)
	if j == nil || j.Signature == nil {
		var err error
		if j, err = s.learn(ctx, c); err != nil {
			return err
		}
		if err := s.opts.Kept.add(key, j); err != nil {
			return err
		}
	}
	s.pay(key, j)
	s.target, s.out.InputHits = *j.Signature, j.Hits
	low, _ := bisect.Wilson(j.Hits, j.Runs)
	s.needed = max(1, int(math.Ceil(low*float64(s.opts.Runs)-1e-9)))
	if s.opts.Runs == 1 {
		s.needed = 1
	}
	s.adopt(c, j)
	s.origin, s.proven = s.best, s.reached
	return nil
}

// learn tests the input as often as Options requests. Its way to diverge is the most frequent one.
func (s *search) learn(ctx context.Context, c *Candidate) (*judged, error) {
	j := &judged{Whole: true}
	hits := map[Signature]int{}
	last := map[Signature]*uint64{}
	var seen []Signature
	for range s.opts.Runs {
		o, err := s.once(ctx, c, nil, j)
		if err != nil {
			return nil, err
		}
		if o.Verdict != Diverges {
			continue
		}
		if hits[o.Signature]++; hits[o.Signature] == 1 {
			seen = append(seen, o.Signature)
		}
		last[o.Signature] = later(last[o.Signature], o.Point)
	}
	switch {
	case j.Runs == 0:
		return nil, fmt.Errorf("no verdict on the unmodified session from %s: %s", s.test.Name(), j.Why)
	case len(seen) == 0 && s.opts.Runs == 1:
		return nil, fmt.Errorf("%w: %s finds it in sync up to state point %d", ErrSound, s.test.Name(), c.until)
	case len(seen) == 0:
		return nil, fmt.Errorf("%w: %s finds it in sync up to state point %d in each of %d runs", ErrSound, s.test.Name(), c.until, j.Runs)
	}
	most := seen[0]
	for _, sig := range seen[1:] {
		if hits[sig] > hits[most] {
			most = sig
		}
	}
	j.Hits, j.Point, j.Signature = hits[most], last[most], &most
	return j, nil
}

// once tests a candidate, and adds to j what it cost and whether there is a verdict.
func (s *search) once(ctx context.Context, c *Candidate, from *snapshot.World, j *judged) (Outcome, error) {
	o, err := s.test.Run(ctx, c, from)
	if err != nil {
		return o, err
	}
	j.Replays += o.Replays
	j.Ticks += o.Ticks
	if o.Verdict == Unknown {
		j.Why = o.Why
	} else {
		j.Runs++
	}
	return o, nil
}

func later(a, b *uint64) *uint64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// pay counts what a candidate cost, once.
func (s *search) pay(key Key, j *judged) {
	if s.used[key] {
		return
	}
	s.used[key] = true
	s.out.Replays += j.Replays
	s.out.Ticks += j.Ticks
	if !j.Whole {
		s.out.Resumed += j.Replays
	}
	if j.Runs == 0 {
		if s.out.Unknown++; s.out.Unknown == 1 && j.Why != "" {
			s.out.Notes = append(s.out.Notes, "first candidate without a verdict: "+j.Why)
		}
	}
	if s.opts.Progress != nil {
		s.opts.Progress(int64(s.out.Replays), int64(s.opts.MaxReplays))
	}
}

// counts reports whether a candidate diverges in the way of the input, and often enough.
func (s *search) counts(j *judged) bool { return j.Hits >= s.needed }

// adopt makes a candidate that counts the best one. Everything after the state that departs is left out: it had no
// influence.
func (s *search) adopt(c *Candidate, j *judged) {
	s.best, s.reached = c, j
	if j.Point != nil {
		s.best = c.Prefix(*j.Point)
	}
	s.trail = append(s.trail, adopted{s.best, j})
}

// judge tests a candidate until it is known whether it counts.
func (s *search) judge(ctx context.Context, c *Candidate, from *snapshot.World, all bool) (*judged, error) {
	j := &judged{Whole: from == nil}
	for left := s.opts.Runs; left > 0; left-- {
		if !all && (j.Hits >= s.needed || j.Hits+left < s.needed) {
			break
		}
		o, err := s.once(ctx, c, from, j)
		if err != nil {
			return nil, err
		}
		if o.Verdict == Diverges && o.Signature == s.target {
			j.Hits++
			j.Point = later(j.Point, o.Point)
		}
	}
	return j, nil
}

// smaller makes the best candidate smaller, and plays it again from its start.
func (s *search) smaller(ctx context.Context) error {
	err := s.steps(ctx)
	if err != nil && !errors.Is(err, errBound) && ctx.Err() == nil {
		return err
	}
	// The finding is confirmed even if there is no time to continue.
	sound, err2 := s.confirm(context.WithoutCancel(ctx), err == nil)
	if err2 != nil || sound {
		return errors.Join(err, err2)
	}
	if s.opts.Runs > 1 {
		return errors.Join(err, s.goBack(context.WithoutCancel(ctx)))
	}
	began := s.states != nil
	s.best, s.reached, s.states, s.used = s.origin, s.proven, nil, map[Key]bool{}
	if !began {
		return ErrFlaky
	}
	s.out.Notes = append(s.out.Notes, "what was found from states in the middle does not diverge from its start: every candidate was played from its start")
	if err != nil {
		return err
	}
	if err = s.reduce(ctx); err != nil {
		return err
	}
	if sound, err = s.confirm(ctx, true); err == nil && !sound {
		return ErrFlaky
	}
	return err
}

// goBack returns to a candidate that was the best one before, since one that counted by luck does
// not diverge often enough when it is tested again: to one that does, or to the input.
func (s *search) goBack(ctx context.Context) error {
	s.out.Notes = append(s.out.Notes, "a smaller session diverged often enough at first, and not when it was tested again")
	for back := 1; ; back *= 2 {
		if back >= len(s.trail)-1 {
			s.best, s.reached = s.origin, s.proven
			return nil
		}
		s.best, s.reached = s.trail[len(s.trail)-1-back].c, s.trail[len(s.trail)-1-back].j
		if sound, err := s.confirm(ctx, true); err != nil || sound {
			return err
		}
	}
}

// ErrFlaky means that the finding does not diverge a second time.
var ErrFlaky = errors.New("it diverges only now and then: the smallest session found did not do so a second time; test each candidate several times")

// confirm plays the best candidate again from its start. If there are several runs all are made, for the rate, unless
// the best candidate is the input, which has a known rate.
func (s *search) confirm(ctx context.Context, all bool) (bool, error) {
	several := s.opts.Runs > 1
	if s.best == s.origin && several || !all && !several && s.reached.Whole {
		return true, nil
	}
	j, err := s.judge(ctx, s.best, nil, true)
	if err != nil {
		return false, err
	}
	s.out.Replays += j.Replays
	s.out.Ticks += j.Ticks
	if !s.counts(j) {
		return false, nil
	}
	s.reached = j
	return true, nil
}

func (s *search) steps(ctx context.Context) error {
	if s.reached.Point == nil {
		if err := s.prefix(ctx); err != nil {
			return err
		}
	}
	if err := s.resume(ctx); err != nil {
		return err
	}
	return s.reduce(ctx)
}

// reduce leaves out orders, then makes what is left simpler.
func (s *search) reduce(ctx context.Context) error {
	for _, step := range []func(context.Context) error{s.suffixes, s.groups, s.orders} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	before := s.best
	if err := s.simpler(ctx); err != nil {
		return err
	}
	if s.best != before {
		if err := s.oneByOne(ctx); err != nil {
			return err
		}
	}
	if s.reached.Point == nil {
		return s.prefix(ctx)
	}
	return nil
}

// prefix finds a state point up to which the best candidate still diverges, while it does
// not up to the one before: the shortest prefix, if what has diverged stays so.
func (s *search) prefix(ctx context.Context) error {
	sound := s.in.First()
	for s.best.until > sound+1 {
		middle := sound + (s.best.until-sound)/2
		i, err := s.first(ctx, 1, func(int) *Candidate { return s.best.Prefix(middle) })
		if err != nil {
			return err
		}
		if i < 0 {
			sound = middle
		}
	}
	return nil
}

// suffixes tries no orders at all, then only the orders of the last ticks: a mistake mostly needs few orders, and
// mostly late ones.
func (s *search) suffixes(ctx context.Context) error {
	base := s.best
	widths := []uint64{0}
	for w := uint64(1); w < base.until-s.in.First(); w *= 16 {
		widths = append(widths, w)
	}
	if len(base.kept) == 0 {
		return nil
	}
	_, err := s.first(ctx, len(widths), func(i int) *Candidate {
		return base.only(func(n int) bool { return s.in.tick(n)+widths[i] >= base.until })
	})
	return err
}

// fewOrders is how many orders are only worth leaving out one by one.
const fewOrders = 8

// groups leaves out all orders of one player, or of one kind.
func (s *search) groups(ctx context.Context) error {
	for _, group := range []func(n int) uint32{
		func(n int) uint32 { return s.in.order(n).Player },
		func(n int) uint32 { return s.in.order(n).Kind },
	} {
		if len(s.best.kept) <= fewOrders {
			return nil
		}
		list := lists.Map(s.best.kept, group)
		slices.Sort(list)
		list = slices.Compact(list)
		if len(list) < 2 {
			continue // without them nothing is left, which was tried
		}
		for len(list) > 0 {
			base := s.best
			i, err := s.first(ctx, len(list), func(i int) *Candidate {
				return base.only(func(n int) bool { return group(n) != list[i] })
			})
			if err != nil {
				return err
			}
			if i < 0 {
				break
			}
			list = list[i+1:]
		}
	}
	return nil
}

// orders leaves out chunks of orders, half of them first, then ever smaller ones.
func (s *search) orders(ctx context.Context) error {
	for size := (len(s.best.kept) + 1) / 2; size > 1; size = min((size+1)/2, (len(s.best.kept)+1)/2) {
		if _, err := s.pass(ctx, size); err != nil {
			return err
		}
	}
	return s.oneByOne(ctx)
}

// oneByOne leaves out single orders until no single one can be left out.
func (s *search) oneByOne(ctx context.Context) error {
	for {
		if changed, err := s.pass(ctx, 1); err != nil || !changed {
			return err
		}
	}
}
