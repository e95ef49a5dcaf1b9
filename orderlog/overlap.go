package orderlog

import (
	"bytes"
	"slices"
)

// cover finds the lanes with logs that cover the tick. For the other lanes it counts the orders that they cannot
// contain.
func (c *comparer) cover() {
	c.covers = c.covers[:0]
	for i := range c.lanes {
		l := &c.lanes[i]
		switch {
		case l.at(c.generation, c.now):
			c.covers = append(c.covers, i)
		case l.head && !l.fresh && l.generation == c.generation:
			c.covers = append(c.covers, i)
		case l.head && !l.started && l.hasFirst && l.generation == c.generation && l.rec.Tick.NewEpoch() == nil && l.header.FirstPoint <= c.now:
			c.covers = append(c.covers, i)
		}
	}
	if len(c.covers) == len(c.lanes) {
		return
	}
	most := uint64(0)
	for _, i := range c.covers {
		if l := &c.lanes[i]; l.at(c.generation, c.now) {
			most = max(most, c.inputs(l))
		}
	}
	for i := range c.lanes {
		l := &c.lanes[i]
		switch {
		case slices.Contains(c.covers, i):
		case !l.started && l.head:
			l.ranges.Before += most
		case l.head:
			l.ranges.Between += most
		default:
			l.ranges.After += most
		}
	}
}

// inputs counts the orders of a lane's tick that are not local.
func (c *comparer) inputs(l *lane) uint64 {
	n := uint64(0)
	for i := range l.rec.Tick.Orders {
		if !c.kindLocal[c.kind(l, l.rec.Tick.Orders[i].Kind)] {
			n++
		}
	}
	return n
}

// overlap compares a tick that at least two logs cover.
func (c *comparer) overlap() {
	w := c.out.Window
	if w == nil {
		w = &Window{From: c.now, To: c.now}
		c.out.Window = w
	}
	w.From, w.To = min(w.From, c.now), max(w.To, c.now)
	w.Ticks++
	for _, i := range c.covers {
		if l := &c.lanes[i]; l.fresh && l.at(c.generation, c.now) {
			c.applied.reset() // numbers may start again
		}
	}
	c.evenEnds()
	if c.same = c.alike(); c.same {
		return
	}
	for _, i := range c.covers {
		c.tables[i].fill(c, &c.lanes[i])
	}
	base := c.base()
	for _, i := range c.covers {
		if i != base {
			c.rows.compare(c, &c.lanes[base], &c.lanes[i])
		}
	}
	w.Orders += uint64(c.rows.matched)
	c.rows.matched = 0
	for _, o := range c.rows.applied {
		c.applied.note(o.player, o.sequence)
	}
	c.rows.applied = c.rows.applied[:0]
	renew(&c.rows.noted)
}

// evenEnds drops a carriage return at the end of the tick's orders in all logs, if it may be part of the line end in
// one of them.
func (c *comparer) evenEnds() {
	if !c.mixed {
		for i := range c.lanes {
			l := &c.lanes[i]
			m, ok := l.source.(MixedEnds)
			if !ok || m.Mixed() == 0 {
				continue
			}
			c.mixed = true
			c.warn("%s: some lines end with a carriage return, the first is line %d: after a command's arguments it does not count as a difference", l.name, m.Mixed())
		}
		if !c.mixed {
			return
		}
	}
	for _, i := range c.covers {
		l := &c.lanes[i]
		if !l.at(c.generation, c.now) {
			continue
		}
		for j := range l.rec.Tick.Orders {
			o := &l.rec.Tick.Orders[j]
			o.Payload = bytes.TrimSuffix(o.Payload, []byte("\r"))
		}
	}
}

// alike is the fast path for nearly every tick. It holds if all lanes that cover the tick have the same orders in the
// same sequence, no order failed, and there are no markers that count.
func (c *comparer) alike() bool {
	var first *lane
	for _, i := range c.covers {
		l := &c.lanes[i]
		if !l.at(c.generation, c.now) {
			l = nil
		}
		if i == c.covers[0] {
			first = l
			if first != nil && !c.plain(first) {
				return false
			}
			continue
		}
		if l != nil && !c.plain(l) || !c.sameOrders(first, l) {
			return false
		}
	}
	if first == nil {
		return true
	}
	if !c.counted {
		for i := range first.rec.Tick.Orders {
			o := &first.rec.Tick.Orders[i]
			c.applied.note(o.Player, o.Sequence)
		}
	}
	c.out.Window.Orders += c.inputs(first)
	return true
}

// plain reports whether a tick has only orders.
func (c *comparer) plain(l *lane) bool {
	for i := range l.rec.Tick.Markers {
		if k := l.rec.Tick.Markers[i].Kind; k == FailedOrder || !l.dialect.OwnMarkers && k.input() {
			return false
		}
	}
	return true
}

func (c *comparer) sameOrders(a, b *lane) bool {
	var x, y []Order
	if a != nil {
		x = a.rec.Tick.Orders
	}
	if b != nil {
		y = b.rec.Tick.Orders
	}
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		o, p := &x[i], &y[i]
		if o.Player != p.Player || o.SubTick != p.SubTick || !c.counted && o.Sequence != p.Sequence ||
			c.kind(a, o.Kind) != c.kind(b, p.Kind) || !bytes.Equal(o.Payload, p.Payload) {
			return false
		}
	}
	return true
}

// base returns the lane that the others are compared with in this tick. That is the reference if it covers the tick,
// else a lane from the largest group with the same items. Among groups of the same size, the group with the session's
// first peer wins.
func (c *comparer) base() int {
	if slices.Contains(c.covers, c.reference) {
		return c.reference
	}
	c.groups = c.groups[:0]
	for _, i := range c.covers {
		g := slices.IndexFunc(c.groups, func(g sameItems) bool { return c.tables[g.lane].equal(&c.tables[i]) })
		if g < 0 {
			g = len(c.groups)
			c.groups = append(c.groups, sameItems{lane: i})
		}
		c.groups[g].count++
		c.groups[g].first = c.groups[g].first || i == c.first
	}
	best := sameItems{}
	for _, g := range c.groups {
		if g.count > best.count || g.count == best.count && g.first {
			best = g
		}
	}
	if best.first {
		return c.first
	}
	return best.lane
}

// sameItems are lanes that have the same items in a tick.
type sameItems struct {
	lane  int // the first of these lanes
	count int
	first bool // one of them belongs to the session's first peer
}

// lastSequence is the highest sequence number that was applied for each player.
type lastSequence struct {
	few  [256]uint64 // sequence + 1, for players below 256
	many map[uint32]uint64
}

func (s *lastSequence) note(player, sequence uint32) {
	if player < uint32(len(s.few)) {
		s.few[player] = max(s.few[player], uint64(sequence)+1)
		return
	}
	if s.many == nil || len(s.many) > maxPending {
		s.many = map[uint32]uint64{}
	}
	s.many[player] = max(s.many[player], uint64(sequence)+1)
}

func (s *lastSequence) has(player, sequence uint32) bool {
	if player < uint32(len(s.few)) {
		return uint64(sequence) < s.few[player]
	}
	return uint64(sequence) < s.many[player]
}

func (s *lastSequence) reset() { *s = lastSequence{} }
