package bisect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
)

// Spot is an instance of a simulator at the beginning of a tick.
type Spot struct {
	Simulator
	// Orders are the orders of that tick.
	Orders []orderlog.Order

	player *player
}

// Play plays the current tick with its orders and moves on to the next one.
func (s *Spot) Play() error {
	if err := s.player.step(s.Simulator); err != nil {
		return err
	}
	s.Orders = s.player.orders[s.Point()]
	return nil
}

// Close ends the instance.
func (s *Spot) Close() error { return s.player.close() }

// Reach plays a new instance of a simulator to the beginning of a tick of a log. It begins at opts.From, or where the
// stretch of that tick begins; ticks of other stretches are not played. Of the other options, Snapshots, Force, Whole,
// Context and Progress count. A tick that the log does not contain is an error.
func Reach(log *orderlog.Log, sim *Sim, tick uint64, opts TrialOptions) (*Spot, error) {
	opts.Mode, opts.Until = Plain, nil
	r, err := newRun(log, sim, opts)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(r.list, func(s *played) bool { return s.From <= tick && tick < s.To })
	if at < 0 {
		return nil, fmt.Errorf("%s: tick %d is in no stretch of the log; the first is %s", log.Name, tick, r.list[0])
	}
	p := r.player(r.list[at])
	from, err := r.origin(p, r.list[at])
	if err != nil {
		return nil, err
	}
	if from == nil || from.begin > tick {
		return nil, fmt.Errorf("%s: nothing leads to tick %d: the peer left no snapshot of state point %d or of a later one before that tick", log.Name, tick, r.list[at].From)
	}
	p.from, p.out.From, p.out.To = from.from, from.begin, tick+1
	p.all = int64(tick - from.begin)
	s, err := p.playedTo(sim, tick)
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return &Spot{Simulator: s, Orders: p.orders[tick], player: p}, nil
}
