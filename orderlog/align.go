package orderlog

import (
	"slices"
	"sort"
)

func newAligner() aligner {
	var r aligner
	renew(&r.noted)
	renew(&r.byKey)
	renew(&r.counts)
	return r
}

// aligner compares one tick of two logs. Its fields are buffers that are reused for the next tick.
type aligner struct {
	matched int      // equal orders since the last reset
	applied []number // their sequence numbers

	noted        map[once]bool
	a, b         []*item // the items that the current pass compares
	mates        []int
	taken        []bool
	byKey        map[itemKey][]int
	counts       map[itemKey]int
	pairs        []pair
	leftA, leftB []*item
}

type number struct{ player, sequence uint32 }

// once identifies a difference that concerns only one peer. Without it, the difference would be counted for each peer
// that this one is compared with.
type once struct {
	kind  DifferenceKind
	lane  int
	index int
	key   itemKey
}

// once reports whether this is the first time in this tick that a difference of only one peer is found.
func (r *aligner) once(kind DifferenceKind, l *lane, it *item) bool {
	k := once{kind, l.index, it.index, it.key}
	if r.noted[k] {
		return false
	}
	r.noted[k] = true
	return true
}

type pair struct{ a, b *item }

// renew empties a map. It makes a new one if the map was large, because clearing a large map is slow.
func renew[K comparable, V any](m *map[K]V) {
	if *m == nil || len(*m) > 1<<10 {
		*m = map[K]V{}
	} else {
		clear(*m)
	}
}

// compare finds the differences between a's tick and b's.
func (r *aligner) compare(c *comparer, a, b *lane) {
	r.pass(c, a, b, false)
	r.pass(c, a, b, true)
}

// pass compares the local items, or all others.
func (r *aligner) pass(c *comparer, a, b *lane, local bool) {
	listA, listB := c.tables[a.index].list, c.tables[b.index].list
	out := &c.shared
	if local {
		out = &c.local
	}
	// A log that begins inside the tick has only the tick's last orders; a log that ends inside it has only the first.
	atA, atB := a.at(c.generation, c.now), b.at(c.generation, c.now)
	head := atA && a.rec.HeadCut || atB && b.rec.HeadCut
	tail := atA && a.rec.TailCut || atB && b.rec.TailCut
	if !head || !tail || len(listA) == 0 || len(listB) == 0 || !r.within(listA, listB, local) {
		r.match(listA, listB, local, c.counted, head)
	}
	r.cut(c, a, b)
	for _, p := range r.pairs {
		c.matched(r, out, a, b, p)
	}
	if len(r.leftA) > 0 || len(r.leftB) > 0 {
		r.late(c, out, a, b)
		r.duplicated(c, out, a, b)
		r.altered(c, out, a, b)
		r.again(c, out, a, b)
		for _, it := range r.leftA {
			if d := c.lone(Missing, a, b, it, nil); d.Kind != Failed || r.once(Failed, a, it) {
				d.Either = !it.marker && c.counted && r.counts[it.key] > 0
				out.wait(c, d, it.key, b)
			}
		}
		for _, it := range r.leftB {
			out.wait(c, c.lone(Extra, a, b, nil, it), it.key, b)
		}
	}
	if !local {
		r.reordered(c, out, a, b)
	}
}

// matched examines two orders that are the same.
func (c *comparer) matched(r *aligner, out *ledger, a, b *lane, p pair) {
	if p.a.marker {
		return
	}
	if out == &c.shared {
		r.matched++
		if !c.counted {
			r.applied = append(r.applied, number{p.a.player, p.a.sequence})
		}
	}
	if p.a.failed != p.b.failed {
		base, peer, x, y := a, b, p.a, p.b
		if p.a.failed {
			base, peer, x, y = b, a, p.b, p.a
		}
		if r.once(Failed, peer, y) {
			out.add(c, c.difference(Failed, base, peer, x, y))
		}
	}
	if p.a.subTick != p.b.subTick {
		d := c.difference(Altered, a, b, p.a, p.b)
		d.Diff = &PayloadDiff{FieldCount: 1, Offset: len(p.a.payload), Fields: []FieldChange{{"sub_tick", decimal(p.a.subTick), decimal(p.b.subTick)}}}
		out.add(c, d)
	}
}

// reordered finds the smallest set of orders to move so that one log has the other log's order.
func (r *aligner) reordered(c *comparer, out *ledger, a, b *lane) {
	pairs := slices.DeleteFunc(r.pairs, func(p pair) bool { return p.a.marker })
	ascending := slices.IsSortedFunc(pairs, func(x, y pair) int { return x.a.index - y.a.index })
	if ascending {
		return
	}
	// The longest ascending subsequence stays in place.
	var tails []int // for each length, the index of the pair that ends the best subsequence
	before := make([]int, len(pairs))
	for i := range pairs {
		n := sort.Search(len(tails), func(n int) bool { return pairs[tails[n]].a.index >= pairs[i].a.index })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	stays := make([]bool, len(pairs))
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		stays[i] = true
	}
	for i := range pairs {
		if !stays[i] {
			out.add(c, c.difference(Reordered, a, b, pairs[i].a, pairs[i].b))
		}
	}
}
