package refsim

import (
	"bytes"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
)

// Script plays the players of a game: it moves, attacks, trains and chats.
type Script struct {
	seed uint64

	// Orders and lines of chat so far, by player. Things that differ between peers must not number things that are the
	// same.
	orders, chats [MaxPlayers]uint32
}

// NewScript returns the players of a game. Their seed may be the game's: they draw from their own generator.
func NewScript(seed uint64) *Script { return &Script{seed: seed} }

var chatLines = [...]string{"gg", "attack now!", "need ore", "Grüße aus dem Süden", "behind you", "wait for me", "lag?"}

// Orders returns the orders of tick view.Point(). The players see the state of view, so that the orders name entities
// that are alive; the same seed, tick and state make the same orders, except for their sequence numbers, which count a
// player's orders so far, and chat separately. They are in the order in which they are applied.
func (c *Script) Orders(view *Sim) []orderlog.Order {
	r := newRNG(mix(c.seed^mix(view.tick)), 3)
	var orders []orderlog.Order
	for p := range view.config.Players {
		n := r.below(8)
		if n > 2 {
			continue // most of the time a player is thinking
		}
		for range n + 1 {
			if o := newOrder(&r, view, uint8(p)); o.Payload != nil {
				orders = append(orders, o)
			}
		}
	}
	orders = withSecondThoughts(orders, view, c.seed)
	lists.SortStable(orders, compareOrders)
	for i := range orders {
		o, sent := &orders[i], &c.orders
		if orderKinds[o.Kind].local {
			sent = &c.chats
		}
		o.Sequence = sent[o.Player]
		sent[o.Player]++
	}
	return orders
}

// newOrder returns an order of a player, without a payload if the chosen one is not possible.
func newOrder(r *rng, view *Sim, p uint8) orderlog.Order {
	w := int64(view.width) * cellSize
	o := orderlog.Order{Tick: view.tick, SubTick: r.below(33_333), Player: uint32(p)}
	switch n := r.below(16); {
	case n < 5:
		o.Kind = OrderMove
		if t, i := pick(r, view, p, units); t != nil {
			o.Payload = appendPayload(nil, int64(t.id[i]), r.between(0, w), r.between(0, w))
		}
	case n < 8:
		o.Kind = OrderAttack
		enemy := uint8((uint32(p) + 1 + r.below(uint32(view.config.Players-1))) % uint32(view.config.Players))
		t, i := pick(r, view, p, fighters)
		target, j := pick(r, view, enemy, units)
		if t != nil && target != nil {
			o.Payload = appendPayload(nil, int64(t.id[i]), int64(target.id[j]))
		}
	case n < 9:
		o.Kind = OrderStop
		if t, i := pick(r, view, p, units); t != nil {
			o.Payload = appendPayload(nil, int64(t.id[i]))
		}
	case n < 12:
		o.Kind = OrderTrain
		if t, i := pick(r, view, p, factories); t != nil {
			o.Payload = appendPayload(nil, int64(t.id[i]), int64(productOf(r, t.archetype)))
		}
	case n < 13:
		o.Kind = OrderRally
		if t, i := pick(r, view, p, factories); t != nil {
			o.Payload = appendPayload(nil, int64(t.id[i]), r.between(0, w), r.between(0, w))
		}
	case n < 15:
		o.Kind = OrderRegroup
		o.Payload = appendPayload(nil, int64(r.below(uint32(view.squads()))), r.between(0, w), r.between(0, w))
	default:
		o.Kind = OrderChat
		o.Payload = chatPayload(chatLines[r.below(uint32(len(chatLines)))])
	}
	return o
}

func chatPayload(text string) []byte {
	var buf bytes.Buffer
	e := msgpack.NewEncoder(&buf)
	_ = e.EncodeArrayLen(1)
	_ = e.EncodeString(text)
	return buf.Bytes()
}

func units(t *table) bool     { return t.moves() && t.cargo == nil }
func fighters(t *table) bool  { return units(t) && t.weapon != nil }
func factories(t *table) bool { return t.production != nil && t.archetype != headquarters }

// pick returns a living entity of a player among the tables that suit, or nil
// if it does not find one soon.
func pick(r *rng, view *Sim, p uint8, suits func(*table) bool) (*table, int) {
	for range 24 {
		t := view.tables[r.below(archetypes)]
		if !suits(t) || t.rows() == 0 {
			continue
		}
		start := int(r.below(uint32(t.rows())))
		for i := range min(t.rows(), 32) {
			if row := (start + i) % t.rows(); t.owner.Player.v[row] == p && t.alive(row) {
				return t, row
			}
		}
	}
	return nil, 0
}

// productOf returns an archetype that a maker makes.
func productOf(r *rng, maker archetype) archetype {
	for {
		if a := archetype(r.below(archetypes)); maker.trains(a) {
			return a
		}
	}
}
