package tracediff

import (
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// cell is one peer's part of the current checkpoint.
type cell struct {
	c         *Checkpoint // nil if the peer has none
	pos       Position
	torn      bool   // from a last line without an end
	predicted bool   // and never confirmed
	file      string // for a trace that is joined from several files; "" means the current one
}

type key struct{ system, scope string }

// keyInfo is the data about a system and scope.
type keyInfo struct {
	key
	next    *keyInfo // the key that followed it last time
	seen    uint64   // peers that have it
	cadence []cadence
	cascade *Cascade
	lacking []lacking // two for each peer, if there are any: see lackingAt
}

// inOrder is used when all peers with the tick have the same checkpoint next. It compares and consumes one record of
// each peer.
func (c *comparer) inOrder() bool {
	var first *peer
	at := uint64(0)
	for _, p := range c.peers {
		if p.rec == nil || p.at != c.tick {
			continue
		}
		if first == nil {
			first = p
		} else if a, b := first.rec.Checkpoint, p.rec.Checkpoint; a.System != b.System || a.Scope != b.Scope {
			return false
		}
		at |= 1 << p.n
	}
	if c.inTick&^at != 0 || at&(at-1) == 0 {
		return false
	}
	if c.inTick != at {
		if len(c.order) > 0 {
			return false
		}
		c.inTick = at
	}
	k := c.key(first.rec.Checkpoint.System, first.rec.Checkpoint.Scope)
	for _, p := range c.peers {
		x := &c.cells[p.n]
		if at&(1<<p.n) == 0 {
			*x = cell{}
			continue
		}
		x.c, x.pos, x.torn, x.predicted, x.file = p.rec.Checkpoint, p.rec.Pos, p.torn, false, ""
		p.consume()
	}
	c.order = append(c.order, visit{k.system, k.scope, Confirmed})
	c.slot(k, -1)
	return true
}

// key returns the keyInfo of a system and scope. Traces repeat, so it first tries the key that followed the previous
// one last time.
func (c *comparer) key(system, scope string) *keyInfo {
	if c.last != nil && c.last.next != nil {
		if k := c.last.next; k.system == system && k.scope == scope {
			c.last = k
			return k
		}
	}
	k := c.keys[key{system, scope}]
	if k == nil {
		k = &keyInfo{key: key{system, scope}, cadence: make([]cadence, len(c.peers))}
		c.keys[k.key] = k
	}
	if c.last != nil {
		c.last.next = k
	}
	c.last = k
	return k
}

// gather reads the rest of the tick from all peers and aligns it.
func (c *comparer) gather() error {
	g := &c.gathered
	g.begin(len(c.peers))
	for _, p := range c.peers {
		for {
			if err := c.peek(p); err != nil {
				return err
			}
			if p.rec == nil || p.at != c.tick {
				break
			}
			if limits.Checkpoints.Over(int64(len(g.lists[p.n])) + 1) {
				return limits.Checkpoints.Reached(p.info.File, 0)
			}
			g.lists[p.n] = append(g.lists[p.n], cell{g.clone(p.rec.Checkpoint), p.rec.Pos, p.torn, false, p.r.file()})
			c.inTick |= 1 << p.n
			p.consume()
		}
	}
	c.align(g.lists)
	return nil
}

// align pairs the checkpoints of the peers in the current tick, after the ones in c.order. It compares them in the
// order of execution.
func (c *comparer) align(lists [][]cell) {
	g := &c.gathered
	g.pair(len(lists))
	for _, v := range c.order {
		g.counts[c.key(v.system, v.scope)]++
	}
	head := -1
	for n, list := range lists {
		clear(g.own)
		before := -1 // slot of the previous item
		for _, it := range list {
			k := c.key(it.c.System, it.c.Scope)
			i, made := g.slot(place{k, g.counts[k] + g.own[k]}, len(lists))
			g.own[k]++
			if made && before < 0 {
				g.slots[i].next, head = head, i
			} else if made {
				g.slots[i].next, g.slots[before].next = g.slots[before].next, i
			}
			g.slots[i].cells[n] = it
			g.sequences[n] = append(g.sequences[n], i)
			before = i
		}
	}
	for i := head; i >= 0; i = g.slots[i].next {
		s := &g.slots[i]
		copy(c.cells, s.cells)
		c.slot(s.k, int64(s.occurrence))
	}
	for n, sequence := range g.sequences[1:] {
		c.checkOrder(n+1, g.sequences[0], sequence, func(i int) (*keyInfo, cell, cell) {
			return g.slots[i].k, g.slots[i].cells[0], g.slots[i].cells[n+1]
		})
	}
}

// checkOrder reports where peer n and the first peer executed their common checkpoints in a different order.
func (c *comparer) checkOrder(n int, a, b []int, at func(int) (*keyInfo, cell, cell)) {
	shared := func(list []int) (out []int) {
		for _, i := range list {
			if _, x, y := at(i); x.c != nil && y.c != nil {
				out = append(out, i)
			}
		}
		return out
	}
	a, b = shared(a), shared(b)
	for i := range a {
		if a[i] != b[i] {
			want, _, _ := at(a[i])
			got, first, other := at(b[i])
			if c.broken(first.pos) {
				return
			}
			c.find(Finding{
				Kind: Reordered, Trace: n, Tick: c.tick, System: got.system, Scope: got.scope, Pos: other.pos, Before: first.pos,
				Expected: want.name(), Got: got.name(),
			})
			return
		}
	}
}

// name returns "system" or "system/scope".
func (k key) name() string {
	if k.scope == "" {
		return k.system
	}
	return k.system + "/" + k.scope
}

func (c *comparer) find(f Finding) {
	c.result.FindingCount++
	if c.opts.Limit < 0 || len(c.result.Findings) < c.opts.Limit {
		c.result.Findings = append(c.result.Findings, f)
	}
}

// slot compares c.cells, the checkpoints of one place in the current tick. If occurrence is below 0, it is counted in
// c.order.
func (c *comparer) slot(k *keyInfo, occurrence int64) {
	c.seq++
	excused := c.drop()
	var first *cell
	differ := false
	have := uint64(0)
	for i := range c.cells {
		x := &c.cells[i]
		if x.c == nil {
			continue
		}
		have |= 1 << i
		k.cadence[i].see(c.tick)
		if first == nil {
			first = x
		} else if !differ && !sameSums(first.c, x.c, c.noise) {
			differ = true
		}
	}
	if have == 0 {
		return
	}
	c.unsure |= excused
	if have&(have-1) != 0 {
		c.shared |= have
	}
	if c.noise != nil {
		c.noted(k)
	}
	k.seen |= have
	c.keepSums()
	c.meet()
	if incomplete := have != 1<<len(c.cells)-1; (differ || incomplete) && c.broken(first.pos) {
		return
	}
	if differ {
		c.changed(k, occurrence)
	} else if !c.differs && have&(have-1) != 0 {
		c.agreed = true
	} else if c.differs && have&(have-1) != 0 {
		c.partings.equal(k)
	}
	if have != 1<<len(c.cells)-1 {
		c.missing(k, occurrence, have|excused)
	}
}

// meet notes which peers have a value in common with another peer.
func (c *comparer) meet() {
	if c.compared == 1<<len(c.peers)-1 {
		return
	}
	for i := range c.cells {
		for j := range i {
			if a, b := c.cells[i].c, c.cells[j].c; a != nil && b != nil && common(a, b) {
				c.compared |= 1<<i | 1<<j
			}
		}
	}
}

// common reports whether two checkpoints both have counts, or both have a sum of the same name.
func common(a, b *Checkpoint) bool {
	if a.HasCount && b.HasCount {
		return true
	}
	return slices.ContainsFunc(a.Sums, func(s Sum) bool { return find(b.Sums, s.Name) != nil })
}

// drop removes the checkpoints that cannot be compared and returns their peers. These are checkpoints that were
// predicted and never confirmed. They are also checkpoints from a last line without an end with values that have
// another length than every other peer's, because the line may be cut inside the value.
func (c *comparer) drop() (peers uint64) {
	for i := range c.cells {
		if c.cells[i].predicted {
			c.guess(i)
			c.cells[i].c = nil
			peers |= 1 << i
		}
		if !c.cells[i].torn || c.cells[i].c == nil {
			continue
		}
		fits := false
		for j := range c.cells {
			if x := &c.cells[j]; i != j && x.c != nil && len(x.c.Sums) == len(c.cells[i].c.Sums) {
				fits = fits || slices.EqualFunc(x.c.Sums, c.cells[i].c.Sums, func(a, b Sum) bool { return len(a.Value) == len(b.Value) })
			}
		}
		if !fits {
			c.cells[i].c = nil
			peers |= 1 << i
		}
	}
	return peers
}

// guess notes a checkpoint that may be a guess and differs from another peer's, which is not known to be one: nothing shows
// whether the states do, unless the peers differ before it.
func (c *comparer) guess(i int) {
	x := c.cells[i].c
	differs := func(y cell) bool {
		return y.c != nil && (!y.predicted || y.c.Unsettled) && !sameSums(x, y.c, c.noise)
	}
	if !x.Unsettled || c.result.First != nil || !slices.ContainsFunc(c.cells, differs) {
		return
	}
	c.peers[i].info.guess(c.tick)
	for j := range c.cells { // cells before it were dropped
		if y := c.cells[j].c; y != nil && y.Unsettled {
			c.peers[j].info.guess(c.tick)
		}
	}
}

// sameSums reports whether two checkpoints have the same values for all sums that both have. Sums that are noise are
// ignored; noise may be nil.
func sameSums(a, b *Checkpoint, noise func(sum string) bool) bool {
	if a.HasCount && b.HasCount && a.Count != b.Count {
		return false
	}
	for i := range a.Sums {
		x := &a.Sums[i]
		var y *Sum
		if i < len(b.Sums) && b.Sums[i].Name == x.Name {
			y = &b.Sums[i]
		} else if y = find(b.Sums, x.Name); y == nil {
			continue
		}
		if !equalSum(x.Value, y.Value) && (noise == nil || !noise(x.Name)) {
			return false
		}
	}
	return true
}

func find(sums []Sum, name string) *Sum {
	for i := range sums {
		if sums[i].Name == name {
			return &sums[i]
		}
	}
	return nil
}
