package tracediff

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

type pendingNotice struct {
	tick Tick
	set  bool
}

func (c *comparer) notice(i int, t Tick) {
	if n := &c.result.Noticed[i]; !n.Noticed {
		n.Noticed, n.Tick = true, t
	}
}

// regroup keeps the groups of the tick if they have changed.
func (c *comparer) regroup() {
	list, n := c.result.Groups, len(c.peers)
	if len(list) == 0 && !c.differs || len(list) > 0 && c.inTick == c.grouped && slices.Equal(c.apart[:n], c.groupedApart[:n]) {
		return
	}
	c.grouped, c.groupedApart = c.inTick, c.apart
	groups := c.groups()
	if len(list) > 0 && slices.EqualFunc(list[len(list)-1].Groups, groups, slices.Equal) {
		return
	}
	if c.opts.Limit >= 0 && len(list) >= c.opts.Limit {
		list = list[:len(list)-1] // keep the last one
	}
	c.result.Groups = append(list, Groups{c.tick, groups})
}

// groups returns which peers agree at the current tick. Two peers without a difference do not always agree: a peer with
// only some of the checkpoints may match two peers that differ. Such a peer is in no group. The groups of the other
// peers do not depend on their order.
func (c *comparer) groups() (groups [][]int) {
	unclear := uint64(0)
	for i := range c.peers {
		like := c.inTick &^ c.apart[i]
		for j := range c.peers {
			if like&(1<<j) != 0 && like&c.apart[j] != 0 {
				unclear |= 1 << i
			}
		}
	}
	left := c.inTick &^ unclear
	for i := range c.peers {
		if left&(1<<i) == 0 {
			continue
		}
		var group []int
		for j := range c.peers {
			if left&^c.apart[i]&(1<<j) != 0 {
				group = append(group, j)
				left &^= 1 << j
			}
		}
		groups = append(groups, group)
	}
	return groups
}

// split reports whether peers disagreed at the last tick that was compared.
func (c *comparer) split() bool { return c.parted }

// changed records that peers have different values.
func (c *comparer) changed(k *keyInfo, occurrence int64) {
	c.result.Changed++
	if len(c.peers) == 2 {
		c.apart[0], c.apart[1] = 1<<1, 1<<0
	} else {
		c.tellApart(0)
	}
	c.differ(k, occurrence, Changed, 0)
}

// tellApart notes which peers the current checkpoint separates: peers with different values, and peers that have it
// from the peers in lack.
func (c *comparer) tellApart(lack uint64) {
	for i := range c.peers {
		for j := range i {
			if c.apart[i]&(1<<j) != 0 {
				continue
			}
			a, b := c.cells[i].c, c.cells[j].c
			switch {
			case a != nil && b != nil && !sameSums(a, b, c.noise),
				a != nil && b == nil && lack&(1<<j) != 0,
				a == nil && b != nil && lack&(1<<i) != 0:
				c.apart[i] |= 1 << j
				c.apart[j] |= 1 << i
			}
		}
	}
}

// differ records a difference. The peers in lack should have the checkpoint but do not.
func (c *comparer) differ(k *keyInfo, occurrence int64, kind DifferenceKind, lack uint64) {
	c.partings.differs(k)
	c.differs = true
	c.count(k)
	res := &c.result
	if c.opts.Limit >= 0 && len(res.Differences) >= c.opts.Limit && res.First != nil {
		return
	}
	d := c.difference(k, occurrence, kind)
	d.lack = lack
	if res.First == nil {
		c.first(&d)
	}
	if c.opts.Limit < 0 || len(res.Differences) < c.opts.Limit {
		res.Differences = append(res.Differences, d)
	}
}

// count adds a difference to the cascade.
func (c *comparer) count(k *keyInfo) {
	if k.cascade == nil {
		group := k
		if k.scope != "" {
			// All systems share the scope's entry, which is the key without a system.
			group = c.keys[key{"\x00", k.scope}]
			if group == nil {
				group = &keyInfo{}
				c.keys[key{"\x00", k.scope}] = group
			}
		}
		if group.cascade == nil {
			group.cascade = &Cascade{Scope: k.scope, System: k.system, Tick: c.tick, seq: c.seq}
		}
		k.cascade = group.cascade
	}
	k.cascade.Count++
	if k.cascade.Last.compare(c.tick) < 0 {
		k.cascade.Last = c.tick
	}
}

// difference makes a Difference from the cells.
func (c *comparer) difference(k *keyInfo, occurrence int64, kind DifferenceKind) Difference {
	if occurrence < 0 {
		for _, v := range c.order {
			if v.system == k.system && v.scope == k.scope {
				occurrence++
			}
		}
	}
	d := Difference{Kind: kind, Tick: c.tick, System: k.system, Scope: k.scope, Occurrence: uint32(occurrence), seq: c.seq}
	var first *Checkpoint
	for i, x := range c.cells {
		if x.c == nil {
			d.Values = append(d.Values, Value{})
			continue
		}
		d.Values = append(d.Values, Value{true, "", cmp.Or(x.file, c.peers[i].r.file()), x.pos, cloneSums(x.c.Sums), x.c.Count, x.c.HasCount, slices.Clone(x.c.Detail)})
		if first == nil {
			first = x.c
			continue
		}
		d.Count = d.Count || first.HasCount && x.c.HasCount && first.Count != x.c.Count
		for _, s := range first.Sums {
			if t := find(x.c.Sums, s.Name); t != nil && !equalSum(s.Value, t.Value) && !slices.Contains(d.Sums, s.Name) && (c.noise == nil || !c.noise(s.Name)) {
				d.Sums = append(d.Sums, s.Name)
			}
		}
	}
	return d
}

// first stores d as the first difference.
func (c *comparer) first(d *Difference) {
	c.result.First = d
	c.result.Bracket = &Bracket{Good: c.prev, HasGood: c.hasPrev, Bad: c.tick}
	if c.agreed && c.result.Traces[0].Dialect.Running && c.tick.Number > 0 {
		c.result.Bracket.Good, c.result.Bracket.HasGood = Tick{c.tick.Epoch, c.tick.Number - 1}, true
	}
	c.result.Context = c.context(d)
}

// context returns the lines around d in each trace.
func (c *comparer) context(d *Difference) []Context {
	if c.opts.Context < 0 {
		return nil
	}
	// Cells may point into windows, and capturing moves these.
	for i := range c.cells {
		if c.cells[i].c != nil {
			c.cells[i].c = c.cells[i].c.Clone()
		}
	}
	list := make([]Context, len(c.peers))
	for i, p := range c.peers {
		p.capture(&list[i], &d.Values[i], c.opts.Context)
	}
	return list
}

// absences sets the reasons why traces do not have a checkpoint, now that everything about them is known.
func (c *comparer) absences(d *Difference) {
	for i, p := range c.peers {
		v := &d.Values[i]
		if v.Present {
			continue
		}
		k := c.keys[key{d.System, d.Scope}]
		switch {
		case d.lack&(1<<i) != 0:
			v.Absent = Lacking
		case !p.started || d.Tick.Before(p.info.First):
			v.Absent = NotBegun
		case p.done && p.lastTick().Before(d.Tick):
			v.Absent = Over
		case p.mayHaveLost(d.Tick):
			v.Absent = Unreadable
		case k != nil && k.seen&(1<<i) == 0:
			v.Absent = NotTraced
		case p.done && p.lastTick() == d.Tick:
			v.Absent = Over
		default:
			v.Absent = NotCompared
		}
	}
}

// finish completes the result.
func (c *comparer) finish() *Result {
	res := &c.result
	c.resolve()
	res.addMissing()
	res.Met = c.partings.meetings()
	res.Noise = c.noiseFound()
	c.judge()
	if res.First != nil {
		for i := range res.Noticed {
			n := &res.Noticed[i]
			if p := c.pending[i]; !n.Noticed && p.set {
				n.Open, n.Tick = true, p.tick
			}
			if (n.Noticed || n.Open) && n.Tick.Epoch == res.First.Tick.Epoch {
				n.Late = n.Tick.Number - res.First.Tick.Number
			}
		}
	}
	for i, p := range c.peers {
		if d := c.list[i].Dialect; d.Lossy && d.Reset == 0 && !res.Wrong() {
			res.Traces[i].frame(p.cadence.ticks)
		}
		if t := &res.Traces[i]; t.Empty && p.rec != nil { // the others ended before it begins
			t.First, t.Last, t.Empty = p.at, p.at, false
		}
		if c.compared&(1<<i) == 0 && !res.Traces[i].Empty {
			res.Uncompared = append(res.Uncompared, i)
		}
	}
	seen := map[*Cascade]bool{}
	for _, k := range c.keys {
		if k.cascade != nil && !seen[k.cascade] {
			seen[k.cascade] = true
			res.Cascade = append(res.Cascade, *k.cascade)
		}
	}
	lists.SortStable(res.Cascade, func(a, b Cascade) int { return int(a.seq - b.seq) })
	// The amount that was skipped is not part of the result.
	for i := range res.Cascade {
		res.Cascade[i].seq = 0
	}
	for i := range res.Differences {
		c.absences(&res.Differences[i])
		res.Differences[i].seq, res.Differences[i].lack = 0, 0
	}
	if res.First != nil {
		c.absences(res.First)
		res.First.seq, res.First.lack = 0, 0
		c.narrow()
	}
	for i := range res.Traces {
		t := &res.Traces[i]
		var text string
		switch {
		case t.Trouble == "":
			continue
		case t.Malformed == 1:
			text = fmt.Sprintf("%s: 1 line is not a record: %s", prose.Path(t.File), t.What())
		case t.Malformed > 1:
			text = fmt.Sprintf("%s: %d lines are not records, the first is %s", prose.Path(t.File), t.Malformed, t.What())
		default:
			text = fmt.Sprintf("%s: %s", prose.Path(t.File), t.What())
		}
		if !slices.Contains(res.Warnings, text) { // the columns of one table have the same warning
			res.Warnings = append(res.Warnings, text)
		}
	}
	return res
}
