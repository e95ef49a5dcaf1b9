package minimize

import (
	"context"

	"github.com/desynctool/desynctool/orderlog"
)

// simpler gives the orders that are left lower players and smaller numbers, where their payloads show which values are
// numbers. An entity's id is also a number; the test decides whether a smaller one works.
func (s *search) simpler(ctx context.Context) error {
	for i := 0; i < len(s.best.kept); i++ {
		if err := s.player(ctx, s.best.kept[i]); err != nil {
			return err
		}
		if i >= len(s.best.kept) {
			break
		}
		n := s.best.kept[i]
		for k := range orderlog.Numbers(s.best.order(n).Payload) {
			if err := s.number(ctx, n, k); err != nil {
				return err
			}
			if i >= len(s.best.kept) || s.best.kept[i] != n {
				break // it departs before this order now
			}
		}
	}
	return nil
}

// player tries to have player 0 give an order.
func (s *search) player(ctx context.Context, n int) error {
	o := *s.best.order(n)
	if o.Player == 0 {
		return nil
	}
	o.Player = 0
	c := s.best.with(n, o)
	if misplaced(c.tickOf(n)) && !misplaced(s.best.tickOf(n)) {
		return nil // no game would have applied it there
	}
	_, err := s.first(ctx, 1, func(int) *Candidate { return c })
	return err
}

// number tries to make a number in an order's payload smaller: 0, else half of it as
// often as that does.
func (s *search) number(ctx context.Context, n, k int) error {
	for first := true; ; first = false {
		o := *s.best.order(n)
		list := orderlog.Numbers(o.Payload)
		if k >= len(list) || list[k].Value == 0 {
			return nil
		}
		number, payload := list[k], o.Payload
		values := []int64{number.Value / 2}
		if first {
			values = []int64{0, number.Value / 2}
		}
		if values[len(values)-1] == 0 && first {
			values = values[:1]
		}
		base := s.best
		i, err := s.first(ctx, len(values), func(i int) *Candidate {
			smaller := o
			smaller.Payload = number.Replace(payload, values[i])
			return base.with(n, smaller)
		})
		if err != nil || i < 0 || values[i] == 0 {
			return err
		}
		if at := s.best; len(at.kept) == 0 || at.until <= s.in.tick(n) {
			return nil
		}
	}
}

// tickOf returns the orders that the candidate has in the tick of one.
func (c *Candidate) tickOf(n int) *orderlog.Tick {
	t := &orderlog.Tick{Number: c.in.tick(n)}
	for _, k := range c.kept {
		if c.in.tick(k) == t.Number {
			t.Orders = append(t.Orders, *c.order(k))
		}
	}
	return t
}

func misplaced(t *orderlog.Tick) bool { return t.Misplaced() >= 0 }
