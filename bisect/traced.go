package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// The traces that peers write by the formats of docs/trace.md are finer in time than any state: they may show a split
// that no state and no hash covers. So each run of ticks in which they differ is compared with the states of the points
// in between.

// weighOwn takes what the peers' own traces show into the result.
func (r *Result) weighOwn(own []*tracediff.Result, pairs []*pair) {
	for _, t := range own {
		if t.Dialect().Engine != "" {
			continue
		}
		for i := range t.Traces {
			info := &t.Traces[i]
			switch {
			case info.Trouble != "":
				r.lose("%s: %s", info.File, info.What())
			case info.Torn:
				r.lose("%s: breaks off", info.File)
			}
			r.lostGaps(t, info)
		}
		r.findings([]*tracediff.Result{t})
		if r.Kind == ChecksumOnly || !t.Diverged() {
			continue // a checksum that is wrong is also wrong in traces
		}
		var lasting []Split
		var passing *Split
		contradicted := false
		for i := range t.Partings {
			p := &t.Partings[i]
			s := partingSplit(t, p, endOf)
			switch {
			case !p.Passing && r.equalAt(t, p, pairs):
				contradicted = true
			case !p.Passing:
				lasting = append(lasting, s)
			case passing == nil:
				passing = &s
			}
		}
		r.adopt(t, lasting, passing, contradicted)
		if n := int(t.PartingCount) - len(t.Partings); n > 0 {
			r.note("the traces differ in %d more runs of ticks, which are not listed", n)
		}
	}
}

// hashedThroughout reports whether both logs have hashes of the whole state at all points from
// their first to their last, the same two: every lasting split of the pair shows in these.
func (p *pair) hashedThroughout() bool {
	if p.a.log == nil || p.b.log == nil || p.ownSums || p.kind != "" && p.kind != StateDiffers {
		return false
	}
	a, b := p.a.log.Hashes, p.b.log.Hashes
	n := len(a)
	if n == 0 || len(b) != n || a[0].Point != b[0].Point || a[n-1].Point != b[n-1].Point {
		return false
	}
	return a[n-1].Point-a[0].Point == uint64(n-1) && len(p.a.log.Conflicts)+len(p.b.log.Conflicts) == 0
}

// adopt adds the splits that traces show and no state does.
func (r *Result) adopt(t *tracediff.Result, lasting []Split, passing *Split, contradicted bool) {
	for _, s := range lasting {
		r.addSplit(t, s)
	}
	switch {
	case r.Bracket != nil || r.Kind != "":
	case contradicted:
		r.Kind, r.Traces = ChecksumOnly, append(r.Traces, t)
		r.note("the traces differ in tick %s, the states and hashes of the points after are equal: a checksum that is not computed from the state alone, or wrongly", t.TickName(t.First.Tick))
	case passing != nil:
		r.addSplit(t, *passing)
		r.note("the traces differ inside tick %d, after %s, and agree at its end: no state and no recorded hash shows it", t.First.Tick.Number, t.First.Place())
	}
}

// addSplit adds one split, unless it lasts at the first bad point of a known one: then both are the same.
func (r *Result) addSplit(t *tracediff.Result, s Split) {
	// What only histories show, the traces show better.
	r.Splits = slices.DeleteFunc(r.Splits, func(known Split) bool {
		return known.passed && s.Bad.Compare(known.Bad) <= 0 && (known.Good == nil || s.Bad.Compare(*known.Good) > 0)
	})
	for i := range r.Splits {
		known := &r.Splits[i]
		if s.Bad.Compare(known.Bad) <= 0 && (s.Healed == nil || s.Healed.Compare(known.Bad) > 0) {
			if known.Healed == nil && s.Healed != nil {
				known.Healed = s.Healed
			}
			if i == 0 && r.Kind == StateDiffers {
				r.Healed = known.Healed
				r.earlier(t, s)
			}
			return
		}
		if s.Bad.Compare(known.Bad) > 0 && (known.Healed == nil || s.Bad.Compare(*known.Healed) < 0) {
			return // it is inside one that is known
		}
	}
	i, _ := slices.BinarySearchFunc(r.Splits, s, func(a, b Split) int { return a.Bad.Compare(b.Bad) })
	r.Splits = slices.Insert(r.Splits, i, s)
	if i > 0 {
		return
	}
	if len(r.Splits) > 1 {
		if next := &r.Splits[1]; s.Healed != nil && (next.Good == nil || next.Good.Compare(*s.Healed) < 0) {
			next.Good, next.GoodFiles = s.Healed, nil
		}
	}
	if good, files := r.lastEqual(s.Bad); good != nil && (s.Good == nil || s.Good.Compare(*good) < 0) {
		s.Good, s.GoodFiles, s.By = good, files, BySnapshotsAndSums
		r.Splits[0] = s
	}
	b := Bracket{Good: s.Good, Bad: s.Bad, By: s.By, GoodFiles: s.GoodFiles}
	for _, g := range t.Partings {
		if len(g.Groups) > 1 && endOf(t, g.First).Same(s.Bad) {
			r.Groups = namedGroups(t, g.Groups)
			b.A, b.B = r.Groups[0][0], r.Groups[1][0]
		}
	}
	r.set(b)
	r.Healed, r.Kind = s.Healed, StateDiffers
	if s.Healed == nil || !s.Healed.Same(s.Bad) {
		r.note("no state and no recorded hash shows that the peers diverged in tick %d: their traces do", t.First.Tick.Number)
	}
}

// earlier moves the end of a bracket in which nothing is known to be equal to the first point at which the traces of its
// two peers differ. Where something is equal before, the verdict finds the tick within the bracket.
func (r *Result) earlier(t *tracediff.Result, s Split) {
	b := *r.Bracket
	if b.Good != nil || s.Good != nil || s.Bad.Compare(b.Bad) >= 0 {
		return
	}
	for i := range t.Partings {
		p := &t.Partings[i]
		if group := groupsOf(t, p); endOf(t, p.First).Same(s.Bad) && group[b.A]*group[b.B] > 0 && group[b.A] != group[b.B] {
			b.Bad, b.BadFiles, b.By = s.Bad, nil, BySnapshotsAndSums
			r.set(b)
			return
		}
	}
}

// endOf returns the state point at the end of a tick.
func endOf(t *tracediff.Result, tick tracediff.Tick) snapshot.Point {
	if t.Dialect().Engine != "" {
		return pointOf(t, tick)
	}
	return snapshot.Point{Tick: tick.Number + 1}
}

// lastEqual returns the last point before another at which snapshots that were opened are
// equal on all peers that were compared, nil if there is none.
func (r *Result) lastEqual(before snapshot.Point) (*snapshot.Point, []string) {
	var best *snapshot.Point
	var files []string
	for _, p := range r.pairs {
		var own *snapshot.Point
		var ownFiles []string
		for i := range p.pairs {
			if at := p.points[i]; at.Compare(before) < 0 && p.pairs[i].ok && p.pairs[i].a.Root == p.pairs[i].b.Root {
				own, ownFiles = &at, p.files(i)
			}
		}
		if own == nil {
			return nil, nil
		}
		if best == nil || own.Compare(*best) < 0 {
			best, files = own, ownFiles
		}
	}
	return best, files
}

// partingSplit returns a run of ticks in which traces differ as a split between state points, which are the ends of
// ticks.
func partingSplit(t *tracediff.Result, p *tracediff.Parting, end func(*tracediff.Result, tracediff.Tick) snapshot.Point) Split {
	s := Split{Bad: end(t, p.First), By: ByChecksums}
	if p.HasGood {
		good := end(t, p.Good)
		s.Good = &good
	}
	switch {
	case p.Passing:
		s.Healed = &s.Bad
	case p.HasAgain:
		again := end(t, p.Again)
		s.Healed = &again
	}
	return s
}

// comesBack reports whether checksums that are equal again prove that states are.
func comesBack(t *tracediff.Result) bool {
	d := t.Dialect()
	return !d.Cumulative && d.Reset == 0 && !d.Values
}

// firstLasting returns the first run of ticks that ends with different traces, nil if there is none.
func firstLasting(t *tracediff.Result) *tracediff.Parting {
	i := slices.IndexFunc(t.Partings, func(p tracediff.Parting) bool { return !p.Passing })
	if i < 0 || !comesBack(t) {
		return nil
	}
	return &t.Partings[i]
}

// tracedSplits returns the splits that traces show where there are no states.
func tracedSplits(t *tracediff.Result) (list []Split) {
	if !comesBack(t) {
		return nil
	}
	lasting := firstLasting(t) != nil
	for i := range t.Partings {
		if p := &t.Partings[i]; !p.Passing || !lasting {
			list = append(list, partingSplit(t, p, pointOf))
		}
	}
	return list
}

// equalAt reports whether states or recorded hashes are equal at the end of a tick at which
// the traces differ.
func (r *Result) equalAt(t *tracediff.Result, p *tracediff.Parting, pairs []*pair) bool {
	group := groupsOf(t, p)
	for _, tick := range []tracediff.Tick{p.First, p.Last} {
		at := endOf(t, tick)
		for _, pair := range pairs {
			a, b := group[pair.a.name], group[pair.b.name]
			if a > 0 && b > 0 && a != b && pair.equalAt(at) {
				return true
			}
		}
	}
	return false
}

// groupsOf returns the number of each peer's group where traces diverged, from 1 on.
func groupsOf(t *tracediff.Result, p *tracediff.Parting) map[string]int {
	group := map[string]int{}
	for i, list := range p.Groups {
		for _, n := range list {
			group[t.Traces[n].Name] = i + 1
		}
	}
	return group
}

// equalAt reports whether the pair is known to be equal at a point.
func (p *pair) equalAt(at snapshot.Point) bool {
	x, okA := p.a.log.at(at.Tick)
	y, okB := p.b.log.at(at.Tick)
	if okA && okB && !p.ownSums && p.kind == "" {
		return x == y
	}
	return p.probeAt(at) && len(p.filesAt(at, true)) > 0 || p.unparted(at.Tick)
}

// unparted reports whether histories that are equal at a later point of the same epoch prove that the pair had not
// diverged at a point.
func (p *pair) unparted(point uint64) bool {
	for i := range p.pairs {
		pr := &p.pairs[i]
		if pr.ok && p.points[i].Tick >= point && p.historical(i) && pr.a.History == pr.b.History && pr.a.Epoch == 0 && pr.b.Epoch == 0 {
			return true
		}
	}
	return false
}
