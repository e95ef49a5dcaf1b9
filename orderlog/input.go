package orderlog

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Compare orders by tick, then by sub-tick time, player and sequence. Two orders that compare equal are applied in the
// order of the log.
func (o *Order) Compare(other *Order) int {
	return cmp.Or(
		cmp.Compare(o.Tick, other.Tick),
		cmp.Compare(o.SubTick, other.SubTick),
		cmp.Compare(o.Player, other.Player),
		cmp.Compare(o.Sequence, other.Sequence),
	)
}

// SortOrders sorts orders into the order in which they must be applied.
func SortOrders(orders []Order) {
	lists.SortStable(orders, func(a, b Order) int { return a.Compare(&b) })
}

// Misplaced returns the index of the first order that should have been applied before the order that precedes it, or
// -1. A log records what was applied, so readers and writers accept such a tick.
func (t *Tick) Misplaced() int {
	for i := 1; i < len(t.Orders); i++ {
		if t.Orders[i].Compare(&t.Orders[i-1]) < 0 {
			return i
		}
	}
	return -1
}

// InputHash returns the input hash of a tick's orders as applied: the first 8 bytes of SHA-256 over
//
//	u32 number of orders, then for each
//	u64 tick, u32 sub tick, u32 player, u32 sequence,
//	u32 length of the kind's name, the name,
//	u32 length of the payload, the payload
//
// in little-endian, without the orders of local kinds. Each Order.Kind must be an index into kinds.
func InputHash(kinds []OrderKind, orders []Order) merkle.Short {
	h, _ := inputHash(make([]byte, 0, 4+64*len(orders)), kinds, orders)
	return h
}

// inputHash works in buf and returns the buffer, which may have grown.
func inputHash(buf []byte, kinds []OrderKind, orders []Order) (merkle.Short, []byte) {
	le := binary.LittleEndian
	buf = append(buf[:0], 0, 0, 0, 0)
	count := uint32(0)
	for i := range orders {
		o := &orders[i]
		kind := &kinds[o.Kind]
		if kind.Local {
			continue
		}
		count++
		buf = le.AppendUint64(buf, o.Tick)
		buf = le.AppendUint32(buf, o.SubTick)
		buf = le.AppendUint32(buf, o.Player)
		buf = le.AppendUint32(buf, o.Sequence)
		buf = le.AppendUint32(buf, uint32(len(kind.Name)))
		buf = append(buf, kind.Name...)
		buf = le.AppendUint32(buf, uint32(len(o.Payload)))
		buf = append(buf, o.Payload...)
	}
	le.PutUint32(buf, count)
	return merkle.Hash(sha256.Sum256(buf)).Short(), buf
}
