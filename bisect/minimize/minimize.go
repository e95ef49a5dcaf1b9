// Package minimize makes a diverging session as small as possible while it still diverges in the same way.
//
// # What it tries
//
// A candidate is a part of the session: its ticks up to a state point, and some of the orders in these. The search
// keeps the best candidate: the smallest one known to diverge in the same way as the whole session, at first the
// session itself:
//
//  1. the shortest prefix: everything after the first state that departs is left out at once, or found by a binary
//     search where a test reports no state;
//  2. no orders at all, then only the orders of the last tick, of the last 16, 256, …;
//  3. all orders except one player's, all except one kind;
//  4. delta debugging: half of the orders are left out, a quarter, …, finally one by one until no single one can be
//     left out;
//  5. smaller numbers in payloads with known fields, and players of a lower number.
//
// A candidate that diverges sooner also becomes shorter.
//
// # Same result anywhere
//
// The candidates of a step have an order, and the first of them that diverges becomes the best one. Others run ahead on
// other processors, and their outcomes are kept, but count only when their turn has come: the result and its cost do
// not depend on the number of processors.
//
// # Cost
//
// The cost is the replays and the ticks that were simulated for them. No candidate is tested twice, not even in another
// process if outcomes are kept in a file. A candidate that has the same orders as the best one up to some tick begins
// with the state there, if it is shown that the session itself, begun so, departs in the same way; the finding is
// replayed from its start.
package minimize

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
)

// Options configures a search. The zero value tests each candidate once, on all processors, with the usual bounds.
type Options struct {
	// Runs is how often each candidate is tested; 0 means 1. With more runs a candidate counts if its rate of
	// divergences is at least the lower bound of the input's rate (Wilson, 95 %), so that nothing rarer than the
	// input's becomes the result.
	Runs int
	// MaxReplays bounds the replays that count; 0 means DefaultMaxReplays. Then the best one so far is the result.
	MaxReplays int
	// Jobs is how many candidates are tested at once; 0 means the number of processors. The result does not depend on
	// it.
	Jobs int
	// Kept, if not nil, has outcomes of an earlier search; outcomes of this search are added to it.
	Kept *Outcomes
	// Progress, if not nil, is called with the number of finished replays and the maximum that is expected.
	Progress func(done, total int64)
}

// DefaultMaxReplays bounds a search by default.
const DefaultMaxReplays = 2000

// Stopped is why a search ended while more might have been left out.
type Stopped string

// Reasons to stop.
const (
	Finished    Stopped = ""
	Interrupted Stopped = "interrupted"
	Bounded     Stopped = "max-replays"
)

// Result is the result of a search.
type Result struct {
	Test  string
	Input *Input
	Best  *Candidate

	Signature Signature
	// Point is the first state point that departs, nil if the test does not report it.
	Point *uint64

	// Replays and Ticks are the cost of the answer, without candidates that other processors ran ahead in vain.
	Replays int
	Ticks   uint64
	// Resumed counts the replays that began in the middle.
	Resumed int
	// Unknown counts the candidates without a verdict.
	Unknown int

	// Runs is how often each candidate was tested. If several times, the counts of divergences belong to the input and
	// to the best candidate.
	Runs                int
	InputHits, BestHits int
	Low, High           float64 // of the best candidate's rate, with 95 % confidence
	Changed             int     // orders with content that differs from the input's
	Stopped             Stopped

	// Written describes the files that RunTo wrote.
	Written *Written
	// Lost names what of the input could not be used, Notes what limits the answer.
	Lost, Notes []string
}

// ErrSound means that an input does not diverge, so that there is nothing to minimise.
var ErrSound = errors.New("the unmodified session does not diverge")

// errBound ends a search that has used its replays.
var errBound = errors.New("as many replays as were allowed")

// Run searches. Its error wraps ErrSound if the input does not diverge. If ctx ends, the
// best one so far is the result.
func Run(ctx context.Context, in *Input, test Test, opts Options) (*Result, error) {
	opts.Runs = max(opts.Runs, 1)
	opts.MaxReplays = cmp.Or(opts.MaxReplays, DefaultMaxReplays)
	if opts.Jobs == 0 {
		opts.Jobs = runtime.GOMAXPROCS(0)
	}
	if opts.Kept == nil {
		opts.Kept = new(Outcomes)
	}
	s := &search{in: in, test: test, opts: opts, used: map[Key]bool{}, out: &Result{Test: test.Name(), Input: in, Runs: opts.Runs}}
	if err := s.whole(ctx); err != nil {
		return nil, err
	}
	err := s.smaller(ctx)
	switch {
	case err == nil:
	case errors.Is(err, errBound):
		s.out.Stopped = Bounded
	case ctx.Err() != nil:
		s.out.Stopped = Interrupted
	default:
		return nil, err
	}
	s.finish()
	return s.out, nil
}

// finish fills in the result.
func (s *search) finish() {
	out := s.out
	out.Best, out.Changed = s.best, len(s.best.changed)
	for n := range s.best.changed {
		if o := s.best.changed[n]; sameOrder(&o, s.in.order(n)) {
			out.Changed--
		}
	}
	out.Signature = s.target
	out.BestHits = s.reached.Hits
	out.Point = s.reached.Point
	out.Low, out.High = bisect.Wilson(s.reached.Hits, s.reached.Runs)
}

// Kept returns the orders that are left, with the names of their kinds.
func (r *Result) Kept() ([]orderlog.Order, []orderlog.OrderKind) {
	return r.Best.Orders(), r.Input.Header.Kinds
}
