package hunt

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
)

// recorded is a log from which sessions are made by changing its orders.
type recorded struct {
	header  orderlog.Header
	orders  map[uint64][]orderlog.Order
	end     uint64 // the state point that they lead to
	players []uint32
}

// peerName is the peer of sessions that are made up.
const peerName = "hunt"

// recordedOf takes the orders of a log, up to its first load or gap.
func recordedOf(log *orderlog.Log) (recorded, error) {
	orders, _, first := bisect.Recorded(log)
	if first.Loaded() || first.From != 0 {
		return recorded{}, fmt.Errorf("%s: it begins at state point %d, and a hunt needs the start of a session", log.Name, first.From)
	}
	r := recorded{header: log.Header, orders: orders, end: first.To}
	r.header.Peer, r.header.Peers = peerName, []string{peerName}
	r.header.Start = orderlog.Header{}.Start // orders that are changed may lead elsewhere, and other builds begin otherwise
	n := 0
	for _, list := range orders {
		n += len(list)
		for i := range list {
			if int(list[i].Kind) >= len(log.Header.Kinds) {
				return recorded{}, fmt.Errorf("%s: order of kind %d in tick %d, the log has %d kinds", log.Name, list[i].Kind, list[i].Tick, len(log.Header.Kinds))
			}
			r.players = append(r.players, list[i].Player)
		}
	}
	if n == 0 {
		return recorded{}, fmt.Errorf("%s: it has no orders to change", log.Name)
	}
	slices.Sort(r.players)
	r.players = slices.Compact(r.players)
	return r, nil
}

// change is one way to change the orders of a session.
type change func(c *changer)

// changer changes the orders of a log.
type changer struct {
	r      *rand.Rand
	base   *recorded
	others []recorded
	ticks  uint64
	list   []orderlog.Order // of all ticks, in no order
	next   map[uint32]uint32
}

// changes are all ways, each as likely as any other.
var changes = []change{(*changer).drop, (*changer).again, (*changer).move, (*changer).swap, (*changer).payloads, (*changer).splice}

// changed returns a session of up to so many ticks, with the orders of one of the logs, changed.
func changed(r *rand.Rand, base []recorded, ticks uint64) (*recorded, fixed, uint64) {
	c := &changer{r: r, base: &base[r.IntN(len(base))], others: base, next: map[uint32]uint32{}}
	c.ticks = min(ticks, c.base.end)
	for tick := range c.ticks {
		c.list = append(c.list, c.base.orders[tick]...)
	}
	for _, o := range c.list {
		c.next[o.Player] = max(c.next[o.Player], o.Sequence)
	}
	for range 1 + r.IntN(6) {
		changes[r.IntN(len(changes))](c)
	}
	orders := fixed{}
	for _, o := range c.list {
		orders[o.Tick] = append(orders[o.Tick], o)
	}
	for _, list := range orders {
		orderlog.SortOrders(list)
	}
	return c.base, orders, c.ticks
}

// some calls do with each order, one in 2 to 64 of them.
func (c *changer) some(do func(o *orderlog.Order)) {
	one := 2 << c.r.IntN(6)
	for i := range len(c.list) {
		if c.r.IntN(one) == 0 {
			do(&c.list[i])
		}
	}
}

// number gives an order a number that its player has not used.
func (c *changer) number(o *orderlog.Order) {
	c.next[o.Player]++
	o.Sequence = c.next[o.Player]
}

// near returns a tick near another.
func (c *changer) near(tick uint64) uint64 {
	const far = 16
	tick += c.r.Uint64N(2*far + 1)
	return min(max(tick, far)-far, c.ticks-1)
}

func (c *changer) drop() {
	one := 2 << c.r.IntN(6)
	c.list = slices.DeleteFunc(c.list, func(orderlog.Order) bool { return c.r.IntN(one) == 0 })
}

func (c *changer) again() {
	var more []orderlog.Order
	c.some(func(o *orderlog.Order) {
		twice := *o
		twice.Tick = c.near(o.Tick)
		c.number(&twice)
		more = append(more, twice)
	})
	c.list = append(c.list, more...)
}

func (c *changer) move() {
	c.some(func(o *orderlog.Order) { o.Tick = c.near(o.Tick) })
}

func (c *changer) swap() {
	c.some(func(o *orderlog.Order) {
		o.Player = c.base.players[c.r.IntN(len(c.base.players))]
		c.number(o)
	})
}

func (c *changer) payloads() {
	c.some(func(o *orderlog.Order) { o.Payload = changedPayload(c.r, o.Payload) })
}

// splice takes the orders of some ticks from a log, as its kinds are called there.
func (c *changer) splice() {
	other := &c.others[c.r.IntN(len(c.others))]
	from := c.r.Uint64N(c.ticks)
	to := from + c.r.Uint64N(c.ticks-from) + 1
	shift := c.r.Uint64N(other.end)
	c.list = slices.DeleteFunc(c.list, func(o orderlog.Order) bool { return o.Tick >= from && o.Tick < to })
	for tick := from; tick < to; tick++ {
		for _, o := range other.orders[(tick+shift)%other.end] {
			name := other.header.Kinds[o.Kind].Name
			kind := slices.IndexFunc(c.base.header.Kinds, func(k orderlog.OrderKind) bool { return k.Name == name })
			if kind < 0 {
				continue
			}
			o.Tick, o.Kind = tick, uint32(kind)
			c.number(&o)
			c.list = append(c.list, o)
		}
	}
}
