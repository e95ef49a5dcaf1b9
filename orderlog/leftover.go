package orderlog

import "slices"

// late finds orders that b applied in a different tick than a.
func (r *aligner) late(c *comparer, out *ledger, a, b *lane) {
	r.leftB = slices.DeleteFunc(r.leftB, func(it *item) bool {
		return out.resolve(c, Missing, it.key, b, c.place(b, it))
	})
	r.leftA = slices.DeleteFunc(r.leftA, func(it *item) bool {
		return out.resolve(c, Extra, it.key, b, c.place(a, it))
	})
}

// duplicated finds orders that one side has one time more in the tick. Where orders are not numbered, an order that the
// base has twice may also be missing on the peer.
func (r *aligner) duplicated(c *comparer, out *ledger, a, b *lane) {
	r.leftB = slices.DeleteFunc(r.leftB, func(it *item) bool {
		again := !it.marker && r.counts[it.key] > 0
		if again {
			d := c.difference(Duplicated, a, b, nil, it)
			d.Either = c.counted
			out.add(c, d)
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

// again finds orders with a number that was already applied in an earlier tick.
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

// maxSimilar is how many orders of one player are searched for the most similar one.
const maxSimilar = 32

// altered pairs orders of one player that have the same number, or the same kind in logs without numbers.
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
		copy(candidates[1:best+1], candidates[:best]) // shift the few entries before it
		groups[group(it)] = candidates[1:]
		paired[other] = true
		out.add(c, c.alteration(a, b, other, it))
		if out == &c.shared && !c.counted {
			r.applied = append(r.applied, number{it.player, it.sequence})
		}
		return true
	})
	r.leftA = slices.DeleteFunc(r.leftA, func(it *item) bool { return paired[it] })
}

// distance returns the length of the longer payload without the equal bytes at both ends.
func distance(a, b []byte) int {
	_, a, b = cutSame(a, b)
	return max(len(a), len(b))
}
