package orderlog

import "slices"

// match pairs equal items, each with the first unpaired one, or with the last one if fromEnd is set. Where orders have
// no numbers, several may be equal; then it first pairs as many as possible without changing their order. Pairs and
// unpaired items are in the order of the logs.
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

// maxCells limits the size of two lists that are compared item by item.
const maxCells = 1 << 16

// inOrder joins a longest common subsequence of a and b. For lists that are too long, it joins only the equal items at
// both ends.
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

// maxSearch is how many items are examined to find the position of a short log inside a long one.
const maxSearch = 1 << 20

// within handles a log that both begins and ends inside the tick. It finds all of the log's items as one run in the
// other log, and pairs them.
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

// cut drops items that a log cannot contain because the log, or the peer's part in the session, begins or ends inside
// the tick.
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
