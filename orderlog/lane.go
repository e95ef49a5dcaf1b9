package orderlog

import (
	"fmt"
	"io"
	"slices"
)

// lane is the state of reading one log.
type lane struct {
	index      int
	name       string
	source     Source
	header     Header
	dialect    Dialect
	kinds      []uint32 // by Order.Kind
	usualKinds bool     // its kinds are the first lane's kinds
	number     int32    // number of the peer in comparer.state
	peers      []int32  // peer numbers by Observed.Peer

	rec  Record // the next record; a tick
	head bool   // rec is valid
	// generation counts how often the game went back to an earlier tick. Ticks
	// of different generations are different ticks.
	generation int
	fresh      bool // rec begins a stretch
	started    bool // a stretch has begun
	last       uint64
	back       bool // in ticks that the peer already ran before
	jumps      int  // unmarked jumps back to an earlier tick
	ranges     PeerRange
	stretches  int
	waiting    []int // indexes in Comparison.Claims of claims that no tick follows yet
	hasFirst   bool  // an order log with a header that gives its start

	idle, direct int // records without orders, and how many of them directly follow the tick before
}

// writes reports whether an order log contains, as far as it was read, records of ticks without orders too. If it does,
// ticks without a record were not played (docs/orderlog.md, Stretches).
func (l *lane) writes() bool {
	return l.dialect.Engine == "" && l.idle >= 4 && 4*l.direct >= 3*l.idle
}

// count counts a record without orders.
func (l *lane) count(t *Tick) {
	if len(t.Orders)+len(t.Markers) > 0 {
		return
	}
	if l.idle++; l.started && t.Number == l.last+1 {
		l.direct++
	}
}

// displayName returns the Comparison's name for the peer that l's header calls name.
func (c *comparer) displayName(l *lane, name string) string {
	if name == l.header.Peer {
		return l.name
	}
	if c.byHeader == nil {
		c.byHeader = make(map[string]string, len(c.lanes))
		for i := range c.lanes {
			if _, ok := c.byHeader[c.lanes[i].header.Peer]; !ok {
				c.byHeader[c.lanes[i].header.Peer] = c.lanes[i].name
			}
		}
	}
	if shown, ok := c.byHeader[name]; ok {
		return shown
	}
	return name
}

// kind returns the common number of a lane's order kind.
func (c *comparer) kind(l *lane, k uint32) uint32 {
	if int(k) >= len(l.kinds) {
		l.header = l.source.Header()
		c.addKinds(l)
	}
	return l.kinds[k]
}

func (c *comparer) addKinds(l *lane) {
	for _, kind := range l.header.Kinds[len(l.kinds):] {
		local := kind.Local || slices.Contains(c.opts.LocalKinds, kind.Name)
		n, ok := c.kinds[kind.Name]
		if !ok {
			n = uint32(len(c.kindNames))
			c.kinds[kind.Name] = n
			c.kindNames = append(c.kindNames, kind.Name)
			c.kindLocal = append(c.kindLocal, local)
		}
		c.kindLocal[n] = c.kindLocal[n] || local
		l.kinds = append(l.kinds, n)
	}
}

// advance reads a lane's next tick.
func (c *comparer) advance(l *lane) {
	l.head = false
	for {
		rec, err := l.source.Next()
		if err != nil {
			if err != io.EOF {
				l.ranges.Err = err
				l.ranges.Error = err.Error()
			}
			return
		}
		if rec.Kind != TickRecord {
			c.hashes(l, rec.Epoch, rec.Observed)
			c.claims(l, &rec, l.last)
			continue
		}
		t := rec.Tick.Number
		opening := rec.Tick.NewEpoch()
		l.fresh = !l.started || opening != nil || t > l.last && t-l.last > 1 && l.writes()
		l.count(rec.Tick)
		if l.started && t <= l.last {
			// After a saved game is loaded, all peers go back. A peer that received an older state goes back alone; its
			// ticks are compared again from the other peers' tick on. The same holds for a peer that returns in the
			// tick in which it left.
			l.back = t == l.last || opening == nil && l.back || opening != nil && opening.Kind != Load
			if l.back {
				l.ranges.Rerun++
				c.claims(l, &rec, t)
				continue
			}
			l.generation++
			l.fresh = true
			if rec.Back {
				if l.jumps++; l.jumps <= 3 {
					c.warn("%s: line %d: the log goes back from %s to %s: taken for a state that was loaded",
						l.name, rec.Line, namedTick(l.last, c.native(l.last)), namedTick(t, c.native(t)))
				}
			}
		}
		l.back = false
		l.rec, l.head = rec, true
		return
	}
}

// at reports whether the lane's next record belongs to that tick.
func (l *lane) at(generation int, tick uint64) bool {
	return l.head && l.generation == generation && l.rec.Tick.Number == tick
}

// peerNumber returns the number of a peer in a hash.
func (l *lane) peerNumber(s *stateLedger, peer uint32) int32 {
	if int(peer) < len(l.peers) {
		return l.peers[peer]
	}
	if peer == 0 && len(l.peers) == 0 {
		return l.number
	}
	return s.peer(fmt.Sprintf("%s: peer %d", l.name, peer))
}
