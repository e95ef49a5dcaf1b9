package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
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
		if r.Kind == ChecksumOnly {
			continue // a checksum that is wrong is also wrong in traces
		}
		if r.equalLater(t, t.Met); !t.Diverged() {
			continue
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
		r.note("the traces differ in %s, the states and hashes of the points after are equal: a checksum that is not computed from the state alone, or wrongly", t.TickText(t.First.Tick))
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
				r.nearer(t, s)
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
	b := r.bracketOf(t, s)
	r.Splits[0].Good, r.Splits[0].GoodFiles, r.Splits[0].By = b.Good, b.GoodFiles, b.By
	r.set(b)
	r.Healed, r.Kind = s.Healed, StateDiffers
	if s.Healed == nil || !s.Healed.Same(s.Bad) {
		r.note("no state and no recorded hash shows that the peers diverged in tick %d: their traces do", t.First.Tick.Number)
	}
}

// bracketOf returns the bracket of a split that traces show, whose groups become the result's. Other evidence may show a
// later point at which the peers are equal.
func (r *Result) bracketOf(t *tracediff.Result, s Split) Bracket {
	b := Bracket{Good: s.Good, Bad: s.Bad, By: s.By, GoodFiles: s.GoodFiles}
	groups, met := r.groups(t, s.Bad)
	if len(groups) > 1 {
		r.Groups, b.A, b.B = groups, groups[0][0], groups[1][0]
	}
	r.later(&b, t, met, groups)
	return b
}

// groups returns the names of the peers by their traces at the first point of a split, nil if none are known, and which
// traces were equal before it.
func (r *Result) groups(t *tracediff.Result, bad snapshot.Point) ([][]string, []tracediff.Meeting) {
	for i := range t.Partings {
		if p := &t.Partings[i]; len(p.Groups) > 1 && endOf(t, p.First).Same(bad) {
			return r.like(namedGroups(t, p.Groups), bad), p.Met
		}
	}
	return nil, nil
}

// later moves the good end of a bracket to the last point at which everything shows together that some groups of peers
// were equal.
func (r *Result) later(b *Bracket, t *tracediff.Result, met []tracediff.Meeting, groups [][]string) {
	good, files := r.lastEqual(t, met, groups, b.Bad)
	if good == nil || b.Good != nil && b.Good.Compare(*good) >= 0 {
		return
	}
	if b.Good, b.GoodFiles = good, files; t != nil {
		b.By = BySnapshotsAndSums
	}
}

// equalLater is later for the bracket of the result, with what traces show, nil for none.
func (r *Result) equalLater(t *tracediff.Result, met []tracediff.Meeting) {
	if r.Bracket == nil || r.Exact || r.Bracket.By == ByReplay || r.Bracket.A == "" {
		return
	}
	b, groups := *r.Bracket, r.Groups
	if len(groups) < 2 {
		groups = [][]string{{b.A}, {b.B}}
	}
	if r.later(&b, t, met, groups); !b.Same(r.Bracket) {
		r.set(b)
	}
}

// like adds to groups the peers that are known to be equal to one of them at a point.
func (r *Result) like(groups [][]string, at snapshot.Point) [][]string {
	in := func(name string) int {
		return slices.IndexFunc(groups, func(g []string) bool { return slices.Contains(g, name) })
	}
	for _, p := range r.pairs {
		i, k := in(p.a.name), in(p.b.name)
		switch {
		case i < 0 == (k < 0) || !p.equalAt(at):
		case i < 0:
			groups[k] = append(groups[k], p.a.name)
		default:
			groups[i] = append(groups[i], p.b.name)
		}
	}
	return groups
}

// nearer narrows the first bracket by what traces show of the same split: to the first point at which anything differs,
// and the last one before it at which anything shows that the peers are equal.
func (r *Result) nearer(t *tracediff.Result, s Split) {
	b := *r.Bracket
	groups, met := r.groups(t, s.Bad)
	if len(groups) < 2 {
		return
	}
	if s.Bad.Compare(b.Bad) < 0 {
		b = r.bracketOf(t, s)
		b.By = BySnapshotsAndSums
	} else {
		for _, name := range []string{b.A, b.B} { // the states at the bad end are theirs
			if !slices.ContainsFunc(groups, func(g []string) bool { return slices.Contains(g, name) }) {
				groups = append(groups, []string{name})
			}
		}
		r.later(&b, t, met, groups)
	}
	if !b.Same(r.Bracket) {
		r.set(b)
	}
}

// endOf returns the state point at the end of a tick.
func endOf(t *tracediff.Result, tick tracediff.Tick) snapshot.Point {
	if t.Dialect().Engine != "" {
		return pointOf(t, tick)
	}
	return snapshot.Point{Tick: tick.Number + 1}
}

// lastEqual returns the last point before another up to which everything shows together that peers were equal which are
// in different groups there, nil if nothing does: peers that are equal at a point were equal before too.
func (r *Result) lastEqual(t *tracediff.Result, met []tracediff.Meeting, groups [][]string, before snapshot.Point) (*snapshot.Point, []string) {
	var all []mark
	var peers [][]string
	add := func(m *mark, names []string) {
		i, _ := slices.BinarySearchFunc(all, m.at, func(a mark, at snapshot.Point) int { return at.Compare(a.at) })
		all, peers = slices.Insert(all, i, *m), slices.Insert(peers, i, names)
	}
	grouped := slices.Concat(groups...)
	for _, p := range r.pairs {
		both := slices.Contains(grouped, p.a.name) && slices.Contains(grouped, p.b.name)
		if m := p.lastEqual(before, both); m != nil {
			add(m, []string{p.a.name, p.b.name})
		}
	}
	for _, m := range met {
		names := namedGroups(t, [][]int{m.Traces})[0]
		known := !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(grouped, name) })
		if at := endOf(t, m.Tick); at.Compare(before) < 0 || !known {
			add(&mark{at: slices.MinFunc([]snapshot.Point{at, before}, snapshot.Point.Compare)}, names)
		}
	}
	if i := lists.Joined(groups, peers); i >= 0 && all[i].at.Compare(before) < 0 {
		return &all[i].at, all[i].files
	}
	return nil, nil
}

// lastEqual returns the last piece of evidence that shows that the pair is equal before a point, or nil if there is none.
// If the groups of the two are not known at the point, that they are equal later counts, unless they differ before.
func (p *pair) lastEqual(point snapshot.Point, grouped bool) *mark {
	list := p.marks(point.Tick)
	lists.SortStable(list, func(a, b mark) int { return a.at.Compare(b.at) })
	var last *mark
	for i := range list {
		m := &list[i]
		after := m.at.Compare(point) >= 0
		switch {
		case after && (grouped || m.kind == differs):
			return last
		case m.kind == equal || m.equalNow:
			m.at, last = slices.MinFunc([]snapshot.Point{m.at, point}, snapshot.Point.Compare), m
		}
	}
	return last
}

// partingSplit returns a run of ticks in which traces differ as a split between state points, which are the ends of
// ticks.
func partingSplit(t *tracediff.Result, p *tracediff.Parting, end func(*tracediff.Result, tracediff.Tick) snapshot.Point) Split {
	s := Split{Bad: end(t, p.First), By: ByChecksums}
	if p.HasGood && inMatch(t, p.Good, p.First) {
		good := end(t, p.Good)
		s.Good = &good
	}
	switch {
	case p.Passing:
		s.Healed = &s.Bad
	case p.HasAgain && inMatch(t, p.Last, p.Again):
		again := end(t, p.Again)
		s.Healed = &again
	}
	return s
}

// inMatch reports whether two ticks belong to one match, as far as the traces name matches.
func inMatch(t *tracediff.Result, a, b tracediff.Tick) bool {
	return t.Dialect().Match == nil || a.Epoch == b.Epoch
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

// equalAt reports whether states or recorded hashes are equal at the end of a tick at which the traces differ.
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
