package minimize

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"
	"sort"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Candidate is a part of an input: its ticks up to a state point, and some of the
// orders in these. Candidates do not change once they are made.
type Candidate struct {
	in      *Input
	until   uint64
	kept    []int // numbers of orders, ascending
	changed map[int]orderlog.Order
}

// Until returns the last state point of the candidate.
func (c *Candidate) Until() uint64 { return c.until }

// Orders returns the orders that are kept, as they are applied.
func (c *Candidate) Orders() []orderlog.Order {
	list := make([]orderlog.Order, len(c.kept))
	for i, n := range c.kept {
		list[i] = *c.order(n)
	}
	return list
}

// order returns the order of a number as the candidate has it.
func (c *Candidate) order(n int) *orderlog.Order {
	if o, ok := c.changed[n]; ok {
		return &o
	}
	return c.in.order(n)
}

// Prefix returns the part of the candidate up to a state point.
func (c *Candidate) Prefix(until uint64) *Candidate {
	if until >= c.until {
		return c
	}
	end := sort.Search(len(c.kept), func(i int) bool { return c.in.tick(c.kept[i]) >= until })
	return &Candidate{in: c.in, until: until, kept: c.kept[:end:end], changed: c.changed}
}

// without returns the candidate that lacks its orders in [from, to).
func (c *Candidate) without(from, to int) *Candidate {
	kept := slices.Concat(c.kept[:from], c.kept[to:])
	return &Candidate{in: c.in, until: c.until, kept: kept, changed: c.changed}
}

// only returns the candidate that has only the orders that keep accepts.
func (c *Candidate) only(keep func(n int) bool) *Candidate {
	out := &Candidate{in: c.in, until: c.until, changed: c.changed}
	out.kept = append(out.kept, lists.Where(c.kept, keep)...)
	return out
}

// with returns the candidate in which another order replaces one.
func (c *Candidate) with(n int, o orderlog.Order) *Candidate {
	out := *c
	if out.changed = maps.Clone(c.changed); out.changed == nil {
		out.changed = map[int]orderlog.Order{}
	}
	out.changed[n] = o
	return &out
}

// Log returns the candidate as a log that shares no memory that may change. It has the recorded hashes up to the first
// tick that lacks an order or has a different one: later hashes are invalid.
func (c *Candidate) Log() *orderlog.Log {
	in := c.in
	log := &orderlog.Log{Name: in.Name, Header: in.Header}
	valid := c.parts(in.Whole())
	void := func(h orderlog.Observed) bool { return h.Point > valid }
	observed := in.observed
	next, droppable := 0, 0
	for i := range in.ticks {
		t := in.ticks[i]
		if t.Number >= c.until {
			observed = slices.Concat(t.Hashes, observed)
			break
		}
		orders := t.Orders
		t.Orders = make([]orderlog.Order, 0, len(orders))
		whole := true
		for k := range orders {
			if droppable == len(in.orders) || in.orders[droppable] != (place{i, k}) {
				t.Orders = append(t.Orders, orders[k])
				continue
			}
			if next < len(c.kept) && c.kept[next] == droppable {
				o, other := c.changed[droppable]
				if !other {
					o = orders[k]
				}
				whole = whole && !other
				t.Orders = append(t.Orders, o)
				next++
			} else {
				whole = false
			}
			droppable++
		}
		if !whole {
			t.InputHash = merkle.Short{}
		}
		t.Hashes = slices.DeleteFunc(slices.Clone(t.Hashes), void)
		log.Ticks = append(log.Ticks, t)
	}
	if n := len(log.Ticks); c.until > in.First() && (n == 0 || log.Ticks[n-1].Number+1 < c.until) {
		// A writer may leave out ticks without orders; the last one shows how far it goes.
		log.Ticks = append(log.Ticks, orderlog.Tick{Number: c.until - 1})
	}
	observed = slices.DeleteFunc(slices.Clone(observed), void)
	log.Epochs = []orderlog.Epoch{{Number: in.Header.Epoch, Ticks: log.Ticks, Observed: observed}}
	return log
}

// parts returns the first tick in which two candidates of one input do not have the same
// orders, up to the end of the shorter one: up to its state point they lead to the same states.
func (c *Candidate) parts(other *Candidate) uint64 {
	first := min(c.until, other.until)
	for i := 0; ; i++ {
		a, b := c.at(i), other.at(i)
		if a != b {
			return min(first, a.tick, b.tick)
		}
		if a.n < 0 {
			return first
		}
		if x, ok := c.changed[a.n]; ok {
			if y, ok := other.changed[a.n]; !ok || !sameOrder(&x, &y) {
				return min(first, a.tick)
			}
		} else if _, ok := other.changed[a.n]; ok {
			return min(first, a.tick)
		}
	}
}

// numbered is an order of a candidate, after the last one its end.
type numbered struct {
	n    int
	tick uint64
}

func (c *Candidate) at(i int) numbered {
	if i >= len(c.kept) {
		return numbered{-1, c.until}
	}
	return numbered{c.kept[i], c.in.tick(c.kept[i])}
}

func sameOrder(a, b *orderlog.Order) bool {
	return a.Compare(b) == 0 && a.Kind == b.Kind && string(a.Payload) == string(b.Payload)
}

// Key identifies a candidate by its content. Candidates of one input have the same key only
// if they are the same.
type Key [16]byte

// Key returns the candidate's key.
func (c *Candidate) Key() Key {
	bits := make([]byte, (len(c.in.orders)+7)/8) // one for each order of the input
	for _, n := range c.kept {
		bits[n/8] |= 1 << (n % 8)
	}
	h := sha256.New()
	put(h, c.until)
	h.Write(bits)
	for _, n := range slices.Sorted(maps.Keys(c.changed)) {
		put(h, uint64(n))
		o := c.changed[n]
		putOrder(h, &o)
	}
	return Key(h.Sum(nil)[:len(Key{})])
}

func put(h hash.Hash, list ...uint64) {
	var b [8]byte
	for _, v := range list {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
}

func putOrder(h hash.Hash, o *orderlog.Order) {
	put(h, o.Tick, uint64(o.SubTick), uint64(o.Player), uint64(o.Sequence), uint64(o.Kind), uint64(len(o.Payload)))
	h.Write(o.Payload)
}

// digest identifies the whole input by its content.
func (in *Input) digest() [sha256.Size]byte {
	h := sha256.New()
	put(h, in.Header.Seed, in.Header.FirstPoint, in.end)
	for _, key := range slices.Sorted(maps.Keys(in.Header.Params)) {
		put(h, uint64(len(key)), uint64(len(in.Header.Params[key])))
		h.Write([]byte(key + in.Header.Params[key]))
	}
	for _, k := range in.Header.Kinds {
		put(h, uint64(len(k.Name)))
		h.Write([]byte(k.Name))
	}
	for i := range in.ticks {
		put(h, in.ticks[i].Number)
		for k := range in.ticks[i].Orders {
			putOrder(h, &in.ticks[i].Orders[k])
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}
