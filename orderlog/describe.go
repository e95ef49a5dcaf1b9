package orderlog

import (
	"bytes"
	"cmp"
)

func (c *comparer) alteration(a, b *lane, x, y *item) Difference {
	d := c.difference(Altered, a, b, x, y)
	diff := c.diffPayload(c.kindNames[x.kind], x.payload, y.payload)
	if x.kind != y.kind {
		diff.FieldCount++
		diff.Fields = append([]FieldChange{{"kind", c.kindNames[x.kind], c.kindNames[y.kind]}}, diff.Fields...)
	}
	if x.subTick != y.subTick {
		diff.FieldCount++
		diff.Fields = append(diff.Fields, FieldChange{"sub_tick", decimal(x.subTick), decimal(y.subTick)})
	}
	d.Diff = &diff
	return d
}

func (c *comparer) diffPayload(kind string, base, peer []byte) PayloadDiff {
	if c.fields == nil {
		return DiffPayload(base, peer)
	}
	d := diffBytes(base, peer)
	d.fields(c.fields(kind, base), c.fields(kind, peer))
	return d
}

func (c *comparer) place(l *lane, it *item) Place {
	return Place{Peer: l.name, Tick: c.now, Native: c.native(c.now), Index: it.index, Line: it.line, Offset: l.rec.Offset}
}

// difference describes an item that is x in base and y in peer. One of them may be nil.
func (c *comparer) difference(kind DifferenceKind, base, peer *lane, x, y *item) Difference {
	it := cmp.Or(x, y)
	d := Difference{
		Kind: kind, Tick: c.now, Native: c.native(c.now), Player: it.player, Peer: peer.name, Base: base.name,
		Marker: it.marker, Sequence: it.sequence,
		Payload: bytes.Clone(it.payload[:min(len(it.payload), maxExcerpt)]), PayloadLen: len(it.payload),
	}
	if it.marker {
		d.Order = MarkerKind(it.kind).String()
	} else {
		d.Order = c.kindNames[it.kind]
	}
	if x != nil {
		d.At = append(d.At, c.place(base, x))
	}
	if y != nil {
		d.At = append(d.At, c.place(peer, y))
	}
	return d
}

// lone describes an item that only one of base and peer has.
func (c *comparer) lone(kind DifferenceKind, base, peer *lane, x, y *item) Difference {
	d := c.difference(kind, base, peer, x, y)
	it := cmp.Or(x, y)
	if it.marker && MarkerKind(it.kind) == FailedOrder {
		d.Kind = Failed
		if x != nil {
			d.Peer, d.Base = base.name, peer.name
		}
	}
	lacks := peer
	if x == nil {
		lacks = base
	}
	for _, i := range c.covers {
		l := &c.lanes[i]
		at := l.at(c.generation, c.now)
		switch partly := at && (l.rec.HeadCut || l.rec.TailCut || l.rec.UnknownBehind) || l.head && l.rec.UnknownBefore; {
		case c.tables[i].has(it.key):
			d.Have = append(d.Have, l.name)
		case i == lacks.index || !partly: // the part of the tick that a log does not show may contain it
			d.Lack = append(d.Lack, l.name)
		}
	}
	return d
}
