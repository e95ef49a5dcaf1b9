package refsim

import (
	"bytes"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
)

// carried is the kind of order that a mistake of the network affects, by its place.
var carried = [...]struct {
	in   system
	kind uint32
}{{sysMovement, OrderMove}, {sysCombat, OrderAttack}, {sysProduction, OrderTrain}}

// Receive returns which of a tick's orders this peer's network layer hands on, and in which order: all of them as they
// are to be applied, except for the one that a fault order-… changes. The peer steps with these orders and logs them.
func (s *Sim) Receive(orders []orderlog.Order) []orderlog.Order {
	arriving := s.late
	s.late = nil
	for _, c := range carried {
		if i := lasting(orders, c.kind); i >= 0 {
			switch {
			case s.takes(orderDropped, c.in):
				orders = without(orders, i)
			case s.takes(orderAltered, c.in):
				orders = damaged(orders, i)
			case s.takes(orderLate, c.in):
				s.late = append(s.late, orders[i])
				orders = without(orders, i)
			}
		}
		if first, second := corrected(orders, c.kind); first >= 0 {
			switch {
			case s.takes(orderDuplicated, c.in):
				s.late = append(s.late, orders[first])
			case s.takes(orderReordered, c.in):
				o := orders[first]
				orders = slices.Insert(without(orders, first), second, o)
			}
		}
	}
	for _, o := range arriving {
		o.Tick = s.tick
		i, _ := slices.BinarySearchFunc(orders, o, compareOrders)
		orders = slices.Insert(slices.Clip(orders), i, o)
	}
	return orders
}

// lasting returns the first order of a kind that no later one of the tick replaces,
// -1 if there is none.
func lasting(orders []orderlog.Order, kind uint32) int {
	for i := range orders {
		if orders[i].Kind == kind && replacement(orders, i) < 0 {
			return i
		}
	}
	return -1
}

// corrected returns the first order of a kind that a later one of the tick replaces,
// and that one, or -1.
func corrected(orders []orderlog.Order, kind uint32) (first, second int) {
	for i := range orders {
		if orders[i].Kind == kind {
			if j := replacement(orders, i); j >= 0 {
				return i, j
			}
		}
	}
	return -1, -1
}

// replacement returns the next order of the same kind and player that asks the same
// entity for something else, -1 if there is none.
func replacement(orders []orderlog.Order, i int) int {
	o := &orders[i]
	for j := i + 1; j < len(orders); j++ {
		if p := &orders[j]; p.Kind == o.Kind && p.Player == o.Player && subject(p) == subject(o) && !bytes.Equal(p.Payload, o.Payload) {
			return j
		}
	}
	return -1
}

// subject returns the entity that an order names first, 0 if it names none.
func subject(o *orderlog.Order) int64 {
	if args, err := DecodeOrder(o); err == nil && len(args) > 0 {
		return args[0]
	}
	return 0
}

// without returns a copy of orders that lacks one.
func without(orders []orderlog.Order, i int) []orderlog.Order {
	return append(orders[:i:i], orders[i+1:]...)
}

// damaged returns a copy of orders with one bit of an order's payload flipped:
// the lowest of its last integer.
func damaged(orders []orderlog.Order, i int) []orderlog.Order {
	orders = slices.Clone(orders)
	payload := slices.Clone(orders[i].Payload)
	payload[len(payload)-1] ^= 1
	orders[i].Payload = payload
	return orders
}
