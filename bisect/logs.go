package bisect

import (
	"cmp"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// scanLogs finds the first point at which the recorded sync hashes differ. Hashes of a tick are eight bytes; all of
// them are compared, since states can diverge and become equal again.
func (p *pair) scanLogs() {
	if p.a.log == nil || p.b.log == nil {
		return
	}
	p.checkAgainstSnapshots()
	logs := p.result.parted(p.a, p.b)
	p.split, p.equal = logs.split, logs.equal
}

// checkAgainstSnapshots compares the sync hashes in each log with the hashes of the snapshots that were opened.
func (p *pair) checkAgainstSnapshots() {
	for i := range p.pairs {
		pr := &p.pairs[i]
		if !pr.ok || p.points[i].Phase != "" {
			continue
		}
		for _, side := range []struct {
			peer *peer
			info *snapshot.Info
		}{{p.a, pr.a}, {p.b, pr.b}} {
			if got, ok := side.peer.log.at(p.points[i].Tick); ok && got != side.info.Root.Short() {
				p.differs("state point %s of %s: the log has sync hash %s, the snapshot has %s", p.points[i], side.peer.Path, got, side.info.Root.Short())
			}
		}
	}
}

// combine narrows the bracket of the snapshots by the logs.
func (p *pair) combine() {
	r := p.result
	if p.a.notRoots() && p.b.notRoots() {
		p.blind()
		return
	}
	if p.onlySums(); p.kind != "" {
		return
	}
	for _, text := range p.unlike {
		r.contradict("%s", text)
	}
	if p.split == nil {
		if p.bracket == nil || p.bracket.Bad.Phase != "" {
			return
		}
		bad := p.bracket.Bad.Tick
		if p.hashesEqual(p.bracket.Bad) && p.healed == nil {
			p.doubtful = true
			hash, _ := p.a.log.at(bad)
			r.contradict("state point %d: the snapshots differ, the recorded sync hashes are both %s", bad, hash)
		}
		if g := p.bracket.Good; p.equal != nil && p.rootsDiffer() && *p.equal < bad && (g == nil || *p.equal > g.Tick) {
			p.bracket.Good = &snapshot.Point{Tick: *p.equal}
			p.bracket.GoodFiles, p.bracket.By = nil, ByHashesAndSnapshots
		}
		return
	}
	p.healed = nil // the logs cover every point
	split := snapshot.Point{Tick: *p.split}
	b := Bracket{Bad: split, By: ByHashes}
	if p.equal != nil {
		b.Good = &snapshot.Point{Tick: *p.equal}
	}
	if s := p.bracket; s != nil {
		if s.Bad.Compare(split) < 0 && !(p.logged(s.Bad) && p.rootsDiffer()) {
			return // the logs have no hash of that point, or the states were equal again there
		}
		if s.Bad.Compare(split) < 0 {
			p.doubtful = true
			r.contradict("the snapshots differ at state point %s, the recorded sync hashes only from %s on", s.Bad, split)
			return
		}
		if s.Bad.Same(split) {
			b.BadFiles = s.BadFiles
		}
		if g := s.Good; g != nil {
			if g.Compare(split) >= 0 && len(p.pairs) > 0 {
				p.noteEarlier(*g, split)
			} else if b.Good == nil || g.Compare(*b.Good) >= 0 {
				b.Good, b.GoodFiles = g, s.GoodFiles
			}
		}
	}
	p.bracket = &b
}

// rootsDiffer reports whether the states at the bad end differ, and not only the histories.
func (p *pair) rootsDiffer() bool {
	pr := &p.pairs[p.bad]
	return pr.ok && pr.a.Root != pr.b.Root
}

// noteEarlier deals with logs that diverge before a pair of snapshots that is equal: the states came back, which
// history hashes would have shown.
func (p *pair) noteEarlier(good, split snapshot.Point) {
	i := slices.IndexFunc(p.points, good.Same)
	loaded := p.a.loadedBetween(split.Tick, good.Tick) || p.b.loadedBetween(split.Tick, good.Tick)
	if i >= 0 && p.pairs[i].ok && p.chained(i) && !loaded {
		p.result.contradict("the recorded sync hashes differ at state point %s, the history hashes of the snapshots are equal at %s", split, good)
	}
	p.healed = &good
}

// groups returns the names of the peers by their state at a point: by the snapshots opened, else by the recorded sync
// hashes. Peers with equal states there but different histories are in different groups.
func groups(peers []*peer, point snapshot.Point) [][]string {
	type state struct {
		sync    merkle.Short
		history merkle.Hash
	}
	known := map[*peer]state{}
	for _, p := range peers {
		if e := p.set.At(point); e != nil {
			if h, ok := p.heads[e]; ok && h.info != nil {
				known[p] = state{h.info.Root.Short(), h.info.History}
				continue
			}
		}
		if s, ok := p.log.at(point.Tick); ok && point.Phase == "" {
			known[p] = state{sync: s}
		}
	}
	if len(known) < 2 && point.Phase == "" {
		if groups := partGroups(peers, point.Tick); len(groups) > 1 {
			return groups
		}
	}
	histories := len(known) == len(peers)
	for _, s := range known {
		histories = histories && !s.history.IsZero()
	}
	var out grouping[state]
	for _, p := range peers {
		s, ok := known[p]
		if !histories {
			s.history = merkle.Hash{}
		}
		if ok {
			out.add(s, p.name)
		}
	}
	return out.groups
}

// partGroups returns the names of the peers by a hash that is not a sync hash: by the first kind in which two or more
// of them differ.
func partGroups(peers []*peer, point uint64) [][]string {
	for _, first := range peers {
		if first.log == nil {
			continue
		}
		for i := range first.log.Parts {
			part := &first.log.Parts[i]
			var out grouping[uint64]
			for _, p := range peers {
				own := p.log.part(part.Kind, part.Coverage)
				if own == nil {
					continue
				}
				at, ok := slices.BinarySearchFunc(own.Hashes, point, func(h PartHash, p uint64) int { return cmp.Compare(h.Point, p) })
				if ok {
					out.add(own.Hashes[at].Digest, p.name)
				}
			}
			if len(out.groups) > 1 {
				return out.groups
			}
		}
	}
	return nil
}
