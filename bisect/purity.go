package bisect

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// purity tests the orders of each tick before it is played.
func (p *player) purity() error {
	p.all = p.length()
	tester, err := startAs[Tester](p, CanTest, "test orders")
	if err != nil {
		return err
	}
	for {
		point := tester.Point()
		p.out.Agreed = &point
		if point == p.out.To {
			return nil
		}
		orders := p.tested(point)
		clean := tester.SyncHash()
		for i := range orders {
			if _, err := tester.Test(&orders[i]); err != nil {
				return err
			}
			p.out.Compared++
		}
		if got := tester.SyncHash(); got != clean {
			p.out.First = &Departure{Point: point + 1, A: "untested", B: "tested", Expected: clean, Got: got}
			return p.impure(tester, clean)
		}
		if err := p.step(tester); err != nil {
			return err
		}
	}
}

// impure finds the order that changed the state when it was tested, and the change, by comparison with an instance that
// tested nothing.
func (p *player) impure(tested Tester, clean merkle.Short) error {
	s, err := p.playedTo(p.sim, tested.Point())
	if err != nil {
		return err
	}
	x := p.out.First
	if s.SyncHash() != clean {
		p.out.Notes = append(p.out.Notes, fmt.Sprintf("%s is not deterministic: which order it was cannot be found by a second replay", p.sim.Name))
		return nil
	}
	if err := p.between(x, s, tested); err != nil {
		return err
	}
	orders := p.tested(s.Point())
	for i := range orders {
		if _, err := s.(Tester).Test(&orders[i]); err != nil {
			return err
		}
		if s.SyncHash() == clean {
			continue
		}
		x.Order = fmt.Sprintf("%s of player %d, number %d of the tick", prose.Name(p.kind(&orders[i])), orders[i].Player, i+1)
		if n := len(p.orders[s.Point()]); i >= n {
			x.Order = fmt.Sprintf("%s of player %d, which is played up to %s later", prose.Name(p.kind(&orders[i])), orders[i].Player, prose.Count(p.opts.Ahead, "tick", "ticks"))
		}
		return nil
	}
	return nil
}

// tested returns the orders to test before a tick: the tick's own orders, then the orders of later ticks that may be
// given by then.
func (p *player) tested(tick uint64) []orderlog.Order {
	if !p.due(tick) {
		return nil
	}
	orders := p.orders[tick]
	for n := range uint64(p.opts.Ahead) {
		orders = slices.Concat(orders, p.orders[tick+n+1])
	}
	return orders
}

// kind names what an order is.
func (p *player) kind(o *orderlog.Order) string {
	if int(o.Kind) < len(p.log.Header.Kinds) {
		return p.log.Header.Kinds[o.Kind].Name
	}
	return fmt.Sprintf("kind %d", o.Kind)
}
