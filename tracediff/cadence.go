package tracediff

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// cadence describes at which ticks a peer has a checkpoint, or any record.
type cadence struct {
	last   Tick
	stride uint64 // divides all distances so far
	ticks  int64
	least  uint64 // the smallest distance
	even   int64  // how many distances equal the smallest
}

// regular reports whether most ticks of some trace have the same distance. If so, whole ticks that a trace lacks were not
// traced. If not, traces have ticks only where something happens, and nothing happened in the missing ones.
func (c *comparer) regular() bool {
	return slices.ContainsFunc(c.peers, func(p *peer) bool {
		return p.cadence.ticks >= knownCadence && 4*p.cadence.even >= 3*(p.cadence.ticks-1)
	})
}

// see adds a tick.
func (d *cadence) see(t Tick) {
	if d.ticks > 0 && t.Epoch == d.last.Epoch {
		n := t.Number - d.last.Number
		if n == 0 {
			return
		}
		if n != d.stride {
			d.stride = gcd(d.stride, n)
		}
		if d.least == 0 || n < d.least {
			d.least, d.even = n, 0
		}
		if n == d.least {
			d.even++
		}
	}
	d.ticks++
	d.last = t
}

// off reports whether a tick is not one of the cadence's ticks.
func (d *cadence) off(t Tick) bool {
	if d.stride < 2 || t.Epoch != d.last.Epoch {
		return false
	}
	return (max(t.Number, d.last.Number)-min(t.Number, d.last.Number))%d.stride != 0
}

// settledCadence is how many ticks make a cadence reliable.
const settledCadence = 8

// knownCadence is the minimum number of ticks from which anything can be concluded.
const knownCadence = 3

// lacking is a checkpoint that a peer did not have when it was not yet known whether it should.
type lacking struct {
	count      int64
	first      *Difference
	context    []Context
	prev       Tick
	hasPrev    bool
	wholeTicks bool // the peer has nothing from these ticks
	last       Tick
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// missing records which peers lack a checkpoint that they should have; the peers in have are not checked. A peer that
// did not confirm all of a tick stopped in it or lost part of it, so checkpoints that it lacks there prove nothing.
func (c *comparer) missing(k *keyInfo, occurrence int64, have uint64) {
	lack := uint64(0)
	for i, p := range c.peers {
		if (have|c.guessed)&(1<<i) != 0 || !c.covers(p) || p.mayHaveLost(c.tick) {
			continue
		}
		inTick := c.inTick&(1<<i) != 0
		cad := &k.cadence[i]
		if !inTick {
			cad = &p.cadence
		}
		lossy := c.list[i].Dialect.Lossy
		switch {
		case !inTick && cad.ticks >= settledCadence && (lossy || c.regular()):
			if !cad.off(c.tick) {
				p.info.gap(c.tick, cad.last, p.cadence.ticks)
			}
		case k.seen&(1<<i) == 0 || cad.ticks < settledCadence:
			c.lack(k, occurrence, i, !inTick)
		case cad.off(c.tick):
		case lossy:
			c.result.Unsure++
		default:
			lack |= 1 << i
		}
	}
	if lack == 0 {
		return
	}
	c.result.Missing++
	c.tellApart(lack)
	c.differ(k, occurrence, Missing, lack)
}

// lack notes that peer i does not have a checkpoint. The peer may not trace it at all, or not at such ticks.
func (c *comparer) lack(k *keyInfo, occurrence int64, i int, wholeTick bool) {
	if k.lacking == nil {
		k.lacking = make([]lacking, 2*len(c.peers))
	}
	l := &k.lacking[2*i]
	if wholeTick {
		l = &k.lacking[2*i+1]
	}
	l.last = c.tick
	if l.count++; l.count > 1 {
		return
	}
	d := c.difference(k, occurrence, Missing)
	*l = lacking{count: 1, first: &d, prev: c.prev, hasPrev: c.hasPrev, wholeTicks: wholeTick, last: c.tick}
	if c.result.First == nil && k.seen&(1<<i) != 0 {
		l.context = c.context(&d)
	}
}

// covers reports whether p was traced until the current tick was over.
func (c *comparer) covers(p *peer) bool {
	if !p.started || c.tick.compare(p.info.First) < 0 {
		return false
	}
	if !p.done && p.settling == nil || p.settling != nil && !p.settling.over {
		return true
	}
	order := c.tick.compare(p.lastTick())
	return order < 0 || order == 0 && p.info.Ended
}

// resolve decides about checkpoints that peers lacked before they first had them. A peer that never has them does not
// trace them.
func (c *comparer) resolve() {
	res := &c.result
	for _, k := range c.keys {
		var untraced Untraced
		for i, l := range k.lacking {
			switch {
			case l.count == 0:
			case l.wholeTicks && c.peers[i/2].cadence.ticks < knownCadence:
				res.Unsure += l.count
			case k.seen&(1<<(i/2)) == 0:
				if !slices.Contains(untraced.Traces, i/2) {
					untraced.Traces = append(untraced.Traces, i/2)
				}
				untraced.Count = max(untraced.Count, k.lacking[i&^1].count+k.lacking[i|1].count)
			case l.wholeTicks && c.peers[i/2].cadence.off(l.first.Tick):
			case l.wholeTicks && (c.list[i/2].Dialect.Lossy || c.regular()):
				c.peers[i/2].info.early(l.first.Tick, l.last)
			case !l.wholeTicks && k.cadence[i/2].ticks >= settledCadence && k.cadence[i/2].off(l.first.Tick):
			case c.list[i/2].Dialect.Lossy:
				res.Unsure += l.count
			default:
				l.first.lack = 1 << (i / 2)
				c.late(k, l)
			}
		}
		if untraced.Count > 0 {
			untraced.System, untraced.Scope = k.system, k.scope
			res.Untraced = append(res.Untraced, untraced)
		}
	}
	lists.SortStable(res.Untraced, func(a, b Untraced) int {
		return strings.Compare(a.System+"\x00"+a.Scope, b.System+"\x00"+b.Scope)
	})
	lists.SortStable(res.Differences, func(a, b Difference) int { return int(a.seq - b.seq) })
}

// late adds differences that became known only later. If there were several, only the first was kept.
func (c *comparer) late(k *keyInfo, l lacking) {
	res := &c.result
	d := l.first
	res.Missing += l.count
	tick, seq := c.tick, c.seq
	c.tick, c.seq = d.Tick, d.seq
	c.count(k)
	k.cascade.Count += l.count - 1
	if k.cascade.seq > d.seq {
		k.cascade.Tick, k.cascade.System, k.cascade.seq = d.Tick, k.system, d.seq
	}
	c.tick, c.seq = tick, seq
	if res.LastDiffering.compare(d.Tick) < 0 {
		res.LastDiffering = d.Tick
	}
	if res.First == nil || res.First.seq > d.seq {
		if res.First == nil || res.First.Tick != d.Tick {
			res.Bracket = &Bracket{Good: l.prev, HasGood: l.hasPrev, Bad: d.Tick}
		}
		res.First, res.Context = d, l.context
	}
	res.Differences = append(res.Differences, *d)
}
