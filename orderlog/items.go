package orderlog

import (
	"crypto/sha256"
)

// item is one tick's order in one log, or a marker that is an input.
type item struct {
	player, sequence, subTick uint32
	kind                      uint32 // common number, or the MarkerKind of a marker
	marker, local, failed     bool
	index                     int
	line                      int64
	payload                   []byte
	key                       itemKey
}

// itemKey identifies equal items. It contains everything but the time inside the tick.
type itemKey struct {
	marker                 bool
	kind, player, sequence uint32
	content                [sha256.Size]byte // the payload and its length if they fit, else the payload's SHA-256
}

func (i *item) setKey(counted bool) {
	i.key = itemKey{marker: i.marker, kind: i.kind, player: i.player, sequence: i.sequence}
	if counted {
		i.key.sequence = 0
	}
	if n := len(i.payload); n < sha256.Size {
		copy(i.key.content[:], i.payload)
		i.key.content[sha256.Size-1] = byte(n)
	} else {
		i.key.content = sha256.Sum256(i.payload)
	}
}

// items are the items of one tick in one log. Their payloads point into the record.
type items struct {
	list []item
	keys map[itemKey]bool // filled on demand
}

func (t *items) fill(c *comparer, l *lane) {
	t.list = t.list[:0]
	renew(&t.keys)
	if !l.at(c.generation, c.now) {
		return
	}
	tick := l.rec.Tick
	for i := range tick.Orders {
		o := &tick.Orders[i]
		kind := c.kind(l, o.Kind)
		it := item{player: o.Player, sequence: o.Sequence, subTick: o.SubTick, kind: kind, local: c.kindLocal[kind], index: i, payload: o.Payload}
		if i < len(l.rec.Lines) {
			it.line = l.rec.Lines[i]
		}
		it.setKey(c.counted)
		t.list = append(t.list, it)
	}
	orders := len(t.list)
	var byNumber map[[2]uint32]int
	for i := range tick.Markers {
		m := &tick.Markers[i]
		it := item{player: m.Player, kind: uint32(m.Kind), marker: true, index: i}
		switch {
		case m.Kind == FailedOrder:
			if n := int(m.Sequence); n < orders && t.list[n].sequence == m.Sequence && t.list[n].player == m.Player {
				t.list[n].failed = true
				continue
			}
			if byNumber == nil {
				byNumber = make(map[[2]uint32]int, orders)
				for j := range t.list[:orders] {
					byNumber[[2]uint32{t.list[j].player, t.list[j].sequence}] = j
				}
			}
			if j, ok := byNumber[[2]uint32{m.Player, m.Sequence}]; ok {
				t.list[j].failed = true
				continue
			}
			it.sequence = m.Sequence // the log does not contain the order itself
		case l.dialect.OwnMarkers || !m.Kind.input():
			continue
		}
		it.setKey(false)
		t.list = append(t.list, it)
	}
}

// input reports whether a marker of this kind is an input of the game: all peers must have it in the same tick.
func (k MarkerKind) input() bool {
	return k == Join || k == Leave || k == Removal || k == Reconnect
}

// equal reports whether two peers have the same items in a tick. Local orders may differ and do not count.
func (t *items) equal(other *items) bool {
	a, b := t.list, other.list
	for {
		for len(a) > 0 && a[0].local {
			a = a[1:]
		}
		for len(b) > 0 && b[0].local {
			b = b[1:]
		}
		if len(a) == 0 || len(b) == 0 {
			return len(a) == len(b)
		}
		if a[0].key != b[0].key || a[0].subTick != b[0].subTick || a[0].failed != b[0].failed {
			return false
		}
		a, b = a[1:], b[1:]
	}
}

func (t *items) has(key itemKey) bool {
	if len(t.keys) == 0 {
		for i := range t.list {
			t.keys[t.list[i].key] = true
		}
	}
	return t.keys[key]
}
