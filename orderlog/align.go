package orderlog

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sort"
)

// item is an order of one tick in one log, or a marker that is an input.
type item struct {
	player, sequence, subTick uint32
	kind                      uint32 // common number; of markers the MarkerKind
	marker, local, failed     bool
	index                     int
	line                      int64
	payload                   []byte
	key                       itemKey
}

// itemKey is what makes two items the same: all but the time inside the tick.
type itemKey struct {
	marker                 bool
	kind, player, sequence uint32
	content                [sha256.Size]byte // the payload and its length if it fits, else its SHA-256
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

// items are those of one tick in one log. Payloads are the record's.
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
			it.sequence = m.Sequence // the log does not have the order itself
		case l.dialect.OwnMarkers || !m.Kind.input():
			continue
		}
		it.setKey(false)
		t.list = append(t.list, it)
	}
}

// input reports whether a marker of the kind belongs to the game, so that all
// peers must have it in the same tick.
func (k MarkerKind) input() bool {
	return k == Join || k == Leave || k == Removal || k == Reconnect
}

func (t *items) equal(other *items, counted bool) bool {
	return slices.EqualFunc(t.list, other.list, func(a, b item) bool {
		return a.key == b.key && a.subTick == b.subTick && a.failed == b.failed
	})
}

func (t *items) has(key itemKey) bool {
	if len(t.keys) == 0 {
		for i := range t.list {
			t.keys[t.list[i].key] = true
		}
	}
	return t.keys[key]
}

func newAligner() aligner {
	var r aligner
	renew(&r.told)
	renew(&r.byKey)
	renew(&r.counts)
	return r
}

// aligner compares one tick of two logs. Its fields are memory for reuse.
type aligner struct {
	matched int      // orders that were the same, since it was last reset
	applied []number // sequence numbers of such, likewise

	told         map[telling]bool
	a, b         []*item // of the lists, what the pass is about
	mates        []int
	taken        []bool
	byKey        map[itemKey][]int
	counts       map[itemKey]int
	pairs        []pair
	leftA, leftB []*item
}

type number struct{ player, sequence uint32 }

// telling is a difference of one peer alone, which would be told once for each
// peer that it is compared with.
type telling struct {
	kind  DifferenceKind
	lane  int
	index int
	key   itemKey
}

// once reports whether a difference of one peer alone has not been told in
// this tick.
func (r *aligner) once(kind DifferenceKind, l *lane, it *item) bool {
	k := telling{kind, l.index, it.index, it.key}
	if r.told[k] {
		return false
	}
	r.told[k] = true
	return true
}

type pair struct{ a, b *item }

// renew empties a map. Clearing one that was large once would take long every
// time.
func renew[K comparable, V any](m *map[K]V) {
	if *m == nil || len(*m) > 1<<10 {
		*m = map[K]V{}
	} else {
		clear(*m)
	}
}

// compare tells how the tick of b differs from that of a.
func (r *aligner) compare(c *comparer, a, b *lane) {
	r.pass(c, a, b, false)
	r.pass(c, a, b, true)
}

// pass compares the items that are local, or those that are not.
func (r *aligner) pass(c *comparer, a, b *lane, local bool) {
	listA, listB := c.tables[a.index].list, c.tables[b.index].list
	out := &c.shared
	if local {
		out = &c.local
	}
	// A log that begins inside the tick has its last orders, one that ends
	// inside it the first.
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

// match pairs the items that are the same, each with the first one that is
// left, or from the end with the last. Where orders have no numbers, so that
// several may be the same, as many as possible are paired in order before that.
// Pairs and what is left are in the order of the logs.
func (r *aligner) match(listA, listB []item, local, counted, fromEnd bool) {
	r.a, r.b = pick(r.a[:0], listA, local), pick(r.b[:0], listB, local)
	a, b := r.a, r.b
	r.mates = append(r.mates[:0], make([]int, len(b))...) // 1 + index in a
	r.taken = append(r.taken[:0], make([]bool, len(a))...)
	join := func(i, j int) {
		r.mates[j], r.taken[i] = i+1, true
		r.counts[b[j].key]++
	}
	renew(&r.counts)
	if counted {
		inOrder(a, b, fromEnd, join)
	}

	renew(&r.byKey)
	for i := range a {
		if !r.taken[i] {
			r.byKey[a[i].key] = append(r.byKey[a[i].key], i)
		}
	}
	for n := range b {
		j := n
		if fromEnd {
			j = len(b) - 1 - n
		}
		waiting := r.byKey[b[j].key]
		if r.mates[j] > 0 || len(waiting) == 0 {
			continue
		}
		at := 0
		if fromEnd {
			at = len(waiting) - 1
		}
		join(waiting[at], j)
		if fromEnd {
			r.byKey[b[j].key] = waiting[:at]
		} else {
			r.byKey[b[j].key] = waiting[1:]
		}
	}

	r.pairs, r.leftA, r.leftB = r.pairs[:0], r.leftA[:0], r.leftB[:0]
	for j := range b {
		if i := r.mates[j]; i > 0 {
			r.pairs = append(r.pairs, pair{a[i-1], b[j]})
		} else {
			r.leftB = append(r.leftB, b[j])
		}
	}
	for i := range a {
		if !r.taken[i] {
			r.leftA = append(r.leftA, a[i])
		}
	}
}

func pick(out []*item, list []item, local bool) []*item {
	for i := range list {
		if list[i].local == local {
			out = append(out, &list[i])
		}
	}
	return out
}

// maxCells is up to which size two lists are compared item by item.
const maxCells = 1 << 16

// inOrder joins a longest common subsequence of a and b, or of lists that are
// too long what they have in common at both ends.
func inOrder(a, b []*item, fromEnd bool, join func(i, j int)) {
	head, tail := 0, 0
	ends := func() {
		for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail].key == b[len(b)-1-tail].key {
			join(len(a)-1-tail, len(b)-1-tail)
			tail++
		}
	}
	if fromEnd {
		ends()
	}
	for head < len(a)-tail && head < len(b)-tail && a[head].key == b[head].key {
		join(head, head)
		head++
	}
	ends()
	n, m := len(a)-head-tail, len(b)-head-tail
	if n == 0 || m == 0 || n*m > maxCells {
		return
	}
	// longest[i*(m+1)+j] is the length for a[i:] and b[j:] of the middle.
	longest := make([]uint32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best := max(longest[(i+1)*(m+1)+j], longest[i*(m+1)+j+1])
			if a[head+i].key == b[head+j].key {
				best = longest[(i+1)*(m+1)+j+1] + 1
			}
			longest[i*(m+1)+j] = best
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a[head+i].key == b[head+j].key:
			join(head+i, head+j)
			i, j = i+1, j+1
		case longest[(i+1)*(m+1)+j] >= longest[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
}

// maxSearch is how many items are looked at to find where a short log stands
// in a long one.
const maxSearch = 1 << 20

// within finds, if one log both begins and ends inside the tick, all of its
// items one behind the other in the other log, and pairs them.
func (r *aligner) within(listA, listB []item, local bool) bool {
	if marker := func(it item) bool { return it.marker }; slices.ContainsFunc(listA, marker) || slices.ContainsFunc(listB, marker) {
		return false
	}
	other := func(it item) bool { return it.local != local }
	a := slices.DeleteFunc(slices.Clone(listA), other)
	b := slices.DeleteFunc(slices.Clone(listB), other)
	short, long := a, b
	if len(a) > len(b) {
		short, long = b, a
	}
	looked := 0
	for at := len(long) - len(short); at >= 0; at-- {
		n := 0
		for n < len(short) && short[n].key == long[at+n].key {
			n++
		}
		if n < len(short) {
			if looked += n + 1; looked > maxSearch {
				return false
			}
			continue
		}
		r.pairs, r.leftA, r.leftB = r.pairs[:0], r.leftA[:0], r.leftB[:0]
		renew(&r.counts)
		left := &r.leftA
		if len(a) <= len(b) {
			left = &r.leftB
		}
		for i := range long {
			if i < at || i >= at+len(short) {
				*left = append(*left, &long[i])
				continue
			}
			p := pair{&long[i], &short[i-at]}
			if len(a) <= len(b) {
				p.a, p.b = p.b, p.a
			}
			r.pairs = append(r.pairs, p)
			r.counts[long[i].key]++
		}
		return true
	}
	return false
}

// cut drops what a log cannot tell of because it, or the peer's part in the
// session, begins or ends inside the tick.
func (r *aligner) cut(c *comparer, a, b *lane) {
	none := pair{}
	first, last := none, none
	for _, p := range r.pairs {
		if p.a.marker {
			continue
		}
		if first.a == nil || p.a.index < first.a.index {
			first.a = p.a
		}
		if first.b == nil || p.b.index < first.b.index {
			first.b = p.b
		}
		if last.a == nil || p.a.index > last.a.index {
			last.a = p.a
		}
		if last.b == nil || p.b.index > last.b.index {
			last.b = p.b
		}
	}
	untold := func(l *lane, first, last *item) func(*item) bool {
		at := l.at(c.generation, c.now)
		unknown := l.head && (l.rec.UnknownBefore || at && l.rec.UnknownBehind)
		if !at && !unknown {
			return func(*item) bool { return false }
		}
		return func(it *item) bool {
			switch {
			case unknown:
				if !it.local {
					l.ranges.Between++
				}
				return true
			case !at:
				return false
			case it.marker:
				begins := l.fresh && (l.header.FirstPoint > 0 || l.rec.Tick.NewEpoch() != nil)
				return begins && MarkerKind(it.kind).input() || l.rec.TailCut
			case l.rec.HeadCut && (first == nil || it.index < first.index):
				if !it.local {
					l.ranges.Before++
				}
				return true
			case l.rec.TailCut && (last == nil || it.index > last.index):
				if !it.local {
					l.ranges.After++
				}
				return true
			}
			return false
		}
	}
	r.leftA = slices.DeleteFunc(r.leftA, untold(b, first.a, last.a))
	r.leftB = slices.DeleteFunc(r.leftB, untold(a, first.b, last.b))
}

// matched looks at two orders that are the same.
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

// late finds orders that b applied in another tick than a.
func (r *aligner) late(c *comparer, out *ledger, a, b *lane) {
	r.leftB = slices.DeleteFunc(r.leftB, func(it *item) bool {
		return out.resolve(c, Missing, it.key, b, c.place(b, it))
	})
	r.leftA = slices.DeleteFunc(r.leftA, func(it *item) bool {
		return out.resolve(c, Extra, it.key, b, c.place(a, it))
	})
}

// duplicated finds orders that one of both has once more in the tick. Where
// orders are not numbered, one that the base has twice may as well be missing
// on the peer.
func (r *aligner) duplicated(c *comparer, out *ledger, a, b *lane) {
	r.leftB = slices.DeleteFunc(r.leftB, func(it *item) bool {
		again := !it.marker && r.counts[it.key] > 0
		if again {
			out.add(c, c.difference(Duplicated, a, b, nil, it))
		}
		return again
	})
	r.leftA = slices.DeleteFunc(r.leftA, func(it *item) bool {
		again := !it.marker && !c.counted && r.counts[it.key] > 0
		if again && r.once(Duplicated, a, it) {
			out.add(c, c.difference(Duplicated, b, a, nil, it))
		}
		return again
	})
}

// again finds orders whose number was applied in an earlier tick.
func (r *aligner) again(c *comparer, out *ledger, a, b *lane) {
	if c.counted || out != &c.shared {
		return
	}
	applied := func(base, peer *lane) func(*item) bool {
		return func(it *item) bool {
			again := !it.marker && c.applied.has(it.player, it.sequence)
			if again && r.once(Duplicated, peer, it) {
				out.add(c, c.difference(Duplicated, base, peer, nil, it))
			}
			return again
		}
	}
	r.leftB = slices.DeleteFunc(r.leftB, applied(a, b))
	r.leftA = slices.DeleteFunc(r.leftA, applied(b, a))
}

// maxSimilar is up to how many orders of one player are looked at for the most
// similar one.
const maxSimilar = 32

// altered pairs orders of one player that have the same number, or of logs
// without numbers the same kind.
func (r *aligner) altered(c *comparer, out *ledger, a, b *lane) {
	if len(r.leftA) == 0 || len(r.leftB) == 0 {
		return
	}
	groups := map[number][]*item{}
	group := func(it *item) number {
		if c.counted {
			return number{it.player, it.kind}
		}
		return number{it.player, it.sequence}
	}
	for _, it := range r.leftA {
		if !it.marker {
			groups[group(it)] = append(groups[group(it)], it)
		}
	}
	paired := map[*item]bool{}
	r.leftB = slices.DeleteFunc(r.leftB, func(it *item) bool {
		candidates := groups[group(it)]
		if it.marker || len(candidates) == 0 {
			return false
		}
		best, least := 0, -1
		for i, other := range candidates[:min(len(candidates), maxSimilar)] {
			if n := distance(other.payload, it.payload); least < 0 || n < least {
				best, least = i, n
			}
		}
		other := candidates[best]
		groups[group(it)] = slices.Delete(candidates, best, best+1)
		paired[other] = true
		out.add(c, c.alteration(a, b, other, it))
		if out == &c.shared && !c.counted {
			r.applied = append(r.applied, number{it.player, it.sequence})
		}
		return true
	})
	r.leftA = slices.DeleteFunc(r.leftA, func(it *item) bool { return paired[it] })
}

// distance is the number of bytes of the longer payload that are left without
// what is the same at both ends.
func distance(a, b []byte) int {
	n := min(len(a), len(b))
	head := 0
	for head < n && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return max(len(a), len(b)) - head - tail
}

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

// reordered finds the orders that must be moved, as few as possible, to turn
// the order of one log into that of the other.
func (r *aligner) reordered(c *comparer, out *ledger, a, b *lane) {
	pairs := slices.DeleteFunc(r.pairs, func(p pair) bool { return p.a.marker })
	ascending := slices.IsSortedFunc(pairs, func(x, y pair) int { return x.a.index - y.a.index })
	if ascending {
		return
	}
	// The longest ascending subsequence stays where it is.
	var tails []int // index of the pair that ends the best one of each length
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

func (c *comparer) place(l *lane, it *item) Place {
	return Place{Peer: l.name, Tick: c.now, Native: c.native(c.now), Index: it.index, Line: it.line, Offset: l.rec.Offset}
}

// difference describes an item that base has as x and peer as y; one may be
// nil.
func (c *comparer) difference(kind DifferenceKind, base, peer *lane, x, y *item) Difference {
	it := x
	if it == nil {
		it = y
	}
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

// lone describes an item that only base or only peer has, of the two.
func (c *comparer) lone(kind DifferenceKind, base, peer *lane, x, y *item) Difference {
	d := c.difference(kind, base, peer, x, y)
	it := x
	if it == nil {
		it = y
	}
	if it.marker && MarkerKind(it.kind) == FailedOrder {
		d.Kind = Failed
		if x != nil {
			d.Peer, d.Base = base.name, peer.name
		}
	}
	for _, i := range c.covers {
		if c.tables[i].has(it.key) {
			d.Have = append(d.Have, c.lanes[i].name)
		} else {
			d.Lack = append(d.Lack, c.lanes[i].name)
		}
	}
	return d
}
