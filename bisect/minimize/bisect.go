package minimize

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/snapshot"
)

// Bisect finds the state point at which a session diverges, with a test that decides whether a prefix diverges: the
// test judges the session up to ever closer points. Both ends are judged first. A prefix without a verdict is stepped
// around, and the bracket is wider than a tick if that leaves nothing between its ends.
//
// Invariant: the prefix up to the bracket's good end was judged to be in sync, unless that end is nil, and the prefix
// up to the bad end to diverge. Both are judged again at the end: if the test then gives another verdict it does not
// agree with itself, and nothing is found.
func Bisect(ctx context.Context, in *Input, test Test) (*bisect.Result, error) {
	s := &prefixes{ctx: ctx, in: in, test: test, known: map[uint64]Outcome{}}
	r := &bisect.Result{
		Peers:  []bisect.PeerInfo{{Name: in.Header.Peer, Path: in.Name, Log: true}},
		Prefix: &bisect.PrefixSearch{Test: test.Name(), From: in.First(), To: in.End()},
	}
	err := s.search(r)
	r.Probes = s.probes
	return r, err
}

// prefixes judges the prefixes of a session.
type prefixes struct {
	ctx    context.Context
	in     *Input
	test   Test
	known  map[uint64]Outcome
	probes int
}

func (s *prefixes) judge(point uint64) (Verdict, error) {
	if o, ok := s.known[point]; ok {
		return o.Verdict, nil
	}
	o, err := s.run(point)
	s.known[point] = o
	return o.Verdict, err
}

func (s *prefixes) run(point uint64) (Outcome, error) {
	s.probes++
	o, err := s.test.Run(s.ctx, s.in.Whole().Prefix(point), nil)
	if err != nil {
		return o, fmt.Errorf("the log up to state point %d: %w", point, err)
	}
	return o, nil
}

func (s *prefixes) search(r *bisect.Result) error {
	low, bad := s.in.First(), s.in.End()
	switch v, err := s.judge(bad); {
	case err != nil:
		return err
	case v == Unknown:
		r.Lost = append(r.Lost, fmt.Sprintf("no verdict on the whole log: %s", s.known[bad].Why))
		return nil
	case v == InSync:
		return nil
	}
	v, err := s.judge(low)
	if err != nil {
		return err
	}
	if v == Diverges {
		bad = low
	}
	for bad-low > 1 {
		point, v, err := s.between(low, bad)
		if err != nil {
			return err
		}
		if v == Unknown {
			r.Notes = append(r.Notes, fmt.Sprintf("no verdict on the points tried between %d and %d: %s", low, bad, s.known[low+(bad-low)/2].Why))
			break
		}
		if v == Diverges {
			bad = point
		} else {
			low = point
		}
	}
	b := &bisect.Bracket{Bad: snapshot.Point{Tick: bad}, By: bisect.ByCommand}
	if bad != low && s.known[low].Verdict == InSync {
		b.Good = &snapshot.Point{Tick: low}
	}
	if contradiction, err := s.confirm(b); err != nil || contradiction != "" {
		if contradiction != "" {
			r.Contradictions = append(r.Contradictions, contradiction)
		}
		return err
	}
	r.Bracket = b
	r.InitialState = bad == 0
	if b.Good != nil && bad == low+1 {
		r.Exact, r.Tick = true, low
	}
	return nil
}

// between judges the middle of a span, or, where it has no verdict, points ever
// farther from it, on both sides.
func (s *prefixes) between(low, bad uint64) (point uint64, v Verdict, err error) {
	middle := low + (bad-low)/2
	if v, err = s.judge(middle); err != nil || v != Unknown {
		return middle, v, err
	}
	for step := uint64(1); step < bad-low; step *= 2 {
		for _, p := range []uint64{middle - min(step, middle), middle + step} {
			if p <= low || p >= bad {
				continue
			}
			if v, err = s.judge(p); err != nil || v != Unknown {
				return p, v, err
			}
		}
	}
	return middle, Unknown, nil
}

// confirm judges both ends again and returns what contradicts the first verdicts.
func (s *prefixes) confirm(b *bisect.Bracket) (string, error) {
	ends := []snapshot.Point{b.Bad}
	if b.Good != nil {
		ends = append(ends, *b.Good)
	}
	for _, end := range ends {
		o, err := s.run(end.Tick)
		if err != nil {
			return "", err
		}
		if first := s.known[end.Tick].Verdict; o.Verdict != first {
			return fmt.Sprintf("the command does not agree with itself: of the log up to state point %d it said %s, then %s", end.Tick, first, o.Verdict), nil
		}
	}
	return "", nil
}
