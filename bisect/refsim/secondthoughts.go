package refsim

import "github.com/desynctool/desynctool/orderlog"

// withSecondThoughts lets players change their mind within a tick: some orders to
// move, to attack or to train come with an earlier one for the same entity, which
// they replace. The state is what it would be without those, as long as every peer
// applies both once and in order.
func withSecondThoughts(orders []orderlog.Order, view *Sim, seed uint64) []orderlog.Order {
	r := newRNG(mix(seed^mix(view.tick)), 5)
	for i := range orders {
		second := &orders[i]
		if second.SubTick == 0 || r.below(4) > 0 {
			continue
		}
		first := *second
		first.SubTick = r.below(second.SubTick)
		if first.Payload = firstThought(&r, view, orders, i); first.Payload != nil {
			orders = append(orders, first)
		}
	}
	return orders
}

// firstThought returns the payload of an order that order i replaces, nil if there
// is none.
func firstThought(r *rng, view *Sim, orders []orderlog.Order, i int) []byte {
	second := &orders[i]
	args, err := DecodeOrder(second)
	if err != nil || len(args) == 0 {
		return nil
	}
	id := args[0]
	switch w := int64(view.width) * cellSize; second.Kind {
	case OrderMove:
		return appendPayload(nil, id, r.between(0, w), r.between(0, w))
	case OrderAttack:
		enemy := uint8((second.Player + 1) % uint32(view.config.Players))
		if t, row := pick(r, view, enemy, units); t != nil && int64(t.id[row]) != args[1] {
			return appendPayload(nil, id, int64(t.id[row]))
		}
	case OrderTrain:
		// Orders for one archetype add up. Only an order for another archetype replaces the orders before it, and only
		// if they are not from the same tick.
		t, row, ok := view.find(uint64(id))
		if !ok || t.production.Item.v[row] == uint8(args[1]) {
			return nil
		}
		for j := range orders {
			if o := &orders[j]; j != i && o.Kind == OrderTrain && subject(o) == id {
				return nil
			}
		}
		if a := productOf(r, t.archetype); int64(a) != args[1] {
			return appendPayload(nil, id, int64(a))
		}
	}
	return nil
}
