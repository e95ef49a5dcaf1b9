package bisect

import (
	"fmt"

	"github.com/desynctool/desynctool/orderlog"
)

// predict steps two instances side by side. Before each tick the first predicts the orders of one player, the second
// the orders of another player, or none; then both play the orders of all.
func (p *player) predict() error {
	if n := len(p.opts.Predict); n < 1 || n > 2 || n == 2 && p.opts.Predict[0] == p.opts.Predict[1] {
		return fmt.Errorf("predicting players %d, expected one, or two that are not the same", p.opts.Predict)
	}
	var own [2]map[uint64][]orderlog.Order // by tick
	names := [2]string{"", "predicting nobody"}
	for i, player := range p.opts.Predict {
		own[i] = p.ordersOf(player)
		names[i] = fmt.Sprintf("predicting player %d", player)
	}
	p.all = 2 * p.length()
	var list [2]Predictor
	for i := range list {
		predictor, err := startAs[Predictor](p, CanPredict, "predict orders")
		if err != nil {
			return err
		}
		list[i] = predictor
	}
	a, b := list[0], list[1]
	differ := func(point uint64, means string) (bool, error) {
		p.out.Compared++
		x, y := a.SyncHash(), b.SyncHash()
		if x == y {
			return false, nil
		}
		p.out.First = &Departure{Point: point, A: names[0], B: names[1], Expected: x, Got: y}
		p.out.Means = means
		return true, p.between(p.out.First, a, b)
	}
	for {
		point := a.Point()
		if departs, err := differ(point, "a prediction leaves something that no hash covers, or the simulator does not agree with itself (--dual)"); departs || err != nil {
			return err
		}
		p.out.Agreed = &point
		if point == p.out.To {
			return nil
		}
		predicted := false
		for i, s := range list {
			orders, due := own[i][point], p.opts.Since != nil && point >= *p.opts.Since && i < len(p.opts.Predict)
			if len(orders) > 0 && p.opts.Since == nil || due {
				predicted = true
				if err := s.Predict(p.opts.Predict[i], orders); err != nil {
					return fmt.Errorf("%s, tick %d of %s, %s: %w", p.sim.Name, point, p.log.Name, names[i], err)
				}
			}
		}
		// Right after predicting the difference is only what was not taken back.
		if predicted {
			if departs, err := differ(point+1, ""); departs && !p.opts.Lasting || err != nil {
				return err
			}
		}
		for _, s := range list {
			if err := p.step(s); err != nil {
				return err
			}
		}
		if p.out.First == nil {
			continue
		}
		if a.SyncHash() != b.SyncHash() {
			return nil
		}
		p.out.First = nil // the tick has put it right
	}
}

// ordersOf returns the orders of one player in the ticks that are replayed, without
// those that other peers do not get.
func (p *player) ordersOf(player uint32) map[uint64][]orderlog.Order {
	own := map[uint64][]orderlog.Order{}
	for tick := p.out.From; tick < p.out.To; tick++ {
		for _, o := range p.orders[tick] {
			local := int(o.Kind) < len(p.log.Header.Kinds) && p.log.Header.Kinds[o.Kind].Local
			if o.Player == player && !local {
				own[tick] = append(own[tick], o)
			}
		}
	}
	return own
}
