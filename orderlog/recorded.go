package orderlog

import (
	"bytes"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// record takes the parts of a lane's tick that are not compared order by order.
func (c *comparer) record(l *lane) {
	t := l.rec.Tick
	if l.fresh {
		l.stretches++
		if len(l.ranges.Stretches) < c.opts.Limit {
			l.ranges.Stretches = append(l.ranges.Stretches, Stretch{From: t.Number})
		}
	}
	if l.stretches == len(l.ranges.Stretches) {
		s := &l.ranges.Stretches[l.stretches-1]
		s.To = t.Number
		s.Orders += c.inputs(l)
	}
	l.started, l.last = true, t.Number
	for _, i := range l.waiting {
		number := t.Number
		c.out.Claims[i].Before = &number
		c.out.Claims[i].NativeBefore = c.native(number)
	}
	l.waiting = l.waiting[:0]
	c.hashes(l, l.rec.Epoch, t.Hashes)
	c.claims(l, &l.rec, t.Number)
	if l.dialect.Engine != "" {
		return
	}
	if i := t.Misplaced(); i >= 0 {
		if c.out.MisplacedCount++; len(c.out.Misplaced) < c.opts.Limit {
			c.out.Misplaced = append(c.out.Misplaced, Misplacement{l.name, t.Number, i, l.rec.Offset})
		}
	}
	if t.InputHash != (merkle.Short{}) {
		c.out.InputHashesRead++
		if got := c.inputHash(l); got != t.InputHash {
			if c.out.InputHashCount++; len(c.out.InputHashes) < c.opts.Limit {
				c.out.InputHashes = append(c.out.InputHashes,
					InputHashMismatch{l.name, t.Number, bytes.Clone(t.InputHash[:]), bytes.Clone(got[:]), l.rec.Offset})
			}
		}
	}
}

// inputHash computes the input hash of a lane's tick, unless it is already known from another lane with the same
// orders.
func (c *comparer) inputHash(l *lane) merkle.Short {
	same := c.same && !c.counted && l.usualKinds
	if same && c.hashed {
		return c.hash
	}
	var hash merkle.Short
	hash, c.input = inputHash(c.input, l.header.Kinds, l.rec.Tick.Orders)
	if same {
		c.hash, c.hashed = hash, true
	}
	return hash
}

func (c *comparer) claims(l *lane, rec *Record, after uint64) {
	for _, claim := range rec.Claims {
		if c.out.ClaimCount++; len(c.out.Claims) < c.opts.Limit {
			l.waiting = append(l.waiting, len(c.out.Claims))
			p := PeerClaim{Peer: l.name, Kind: claim.Kind, After: after, Line: claim.Line, Offset: claim.Offset, Text: claim.Text, Peers: claim.Peers}
			if after > 0 || l.started {
				p.NativeAfter = c.native(after)
			}
			c.out.Claims = append(c.out.Claims, p)
			if c.stale == nil && p.Kind == ClaimCache {
				c.stale = &p
			}
		}
	}
}

func (c *comparer) hashes(l *lane, epoch uint32, hashes []Observed) {
	for i := range hashes {
		c.state.note(l, epoch, &hashes[i])
	}
}
