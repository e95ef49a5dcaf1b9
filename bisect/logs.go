package bisect

import (
	"fmt"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// record collects the sync hashes that the peer's log has of the peer itself.
func (p *Peer) record() {
	if p.log == nil {
		return
	}
	own := slices.Index(p.log.Header.Peers, p.log.Header.Peer)
	if own < 0 && len(p.log.Header.Peers) > 0 {
		p.lost = appendOnce(p.lost, fmt.Sprintf("%s: its peer %q is not among those of the session, so none of its hashes are known to be its own", p.log.Name, p.log.Header.Peer))
		return
	}
	p.syncs = make(map[uint64]merkle.Short, len(p.log.Ticks)+1)
	add := func(hashes []orderlog.Observed) {
		for i := range hashes {
			if h := &hashes[i]; h.Peer == uint32(max(own, 0)) && h.Kind == orderlog.SyncHash && h.Coverage == orderlog.Full && len(h.Bytes) == merkle.ShortSize {
				p.syncs[h.Point] = merkle.Short(h.Bytes)
			}
		}
	}
	for i := range p.log.Epochs {
		e := &p.log.Epochs[i]
		for k := range e.Ticks {
			add(e.Ticks[k].Hashes)
		}
		add(e.Observed)
		for _, h := range e.Conflicts {
			if h.Peer == uint32(max(own, 0)) {
				p.lost = appendOnce(p.lost, fmt.Sprintf("%s: two hashes of state point %d contradict each other", p.log.Name, h.Point))
			}
		}
	}
	p.points = slices.Sorted(maps.Keys(p.syncs))
}

// scanLogs finds the first point at which the recorded sync hashes differ.
// Hashes of a tick are eight bytes; all of them are looked at, since states
// can part and come back.
func (p *pair) scanLogs(r *Result) {
	if p.a.log == nil || p.b.log == nil {
		return
	}
	if ha, hb := &p.a.log.Header, &p.b.log.Header; ha.Build != hb.Build {
		r.note("builds differ: %s has %q, %s has %q", p.a.Path, ha.Build, p.b.Path, hb.Build)
	}
	p.checkAgainstSnapshots()
	var last *uint64
	for _, point := range p.a.points {
		ha, _ := p.a.sync(point)
		hb, ok := p.b.sync(point)
		if !ok {
			continue
		}
		if ha != hb {
			p.split, p.equal = &point, last
			return
		}
		last = &point
	}
	p.equal = last
}

// checkAgainstSnapshots compares the sync hashes that each log has with those
// of the snapshots that were opened.
func (p *pair) checkAgainstSnapshots() {
	for i := range p.pairs {
		pr := &p.pairs[i]
		if !pr.ok || p.points[i].Phase != "" {
			continue
		}
		for _, side := range []struct {
			peer *Peer
			info *snapshot.Info
		}{{p.a, pr.a}, {p.b, pr.b}} {
			if got, ok := side.peer.sync(p.points[i].Tick); ok && got != side.info.Root.Short() {
				p.differs("state point %s of %s: the log has sync hash %s, the snapshot has %s", p.points[i], side.peer.Path, got, side.info.Root.Short())
			}
		}
	}
}

// combine narrows the bracket of the snapshots by what the logs say.
func (p *pair) combine(r *Result) {
	if p.a.notRoots() && p.b.notRoots() {
		p.blind(r)
		return
	}
	if p.onlySums(r); p.kind != "" {
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
		ha, okA := p.a.sync(bad)
		hb, okB := p.b.sync(bad)
		if okA && okB && ha == hb && p.healed == nil {
			r.contradict("state point %d: the snapshots differ, the recorded sync hashes are both %s", bad, ha)
		}
		if g := p.bracket.Good; p.equal != nil && *p.equal < bad && (g == nil || *p.equal > g.Tick) {
			p.bracket.Good = &snapshot.Point{Tick: *p.equal}
			p.bracket.GoodFiles, p.bracket.By = nil, "recorded hashes and snapshots"
		}
		return
	}
	p.healed = nil // the logs tell it of every point
	p.healedInLogs()
	split := snapshot.Point{Tick: *p.split}
	b := Bracket{Bad: split, By: "recorded hashes"}
	if p.equal != nil {
		b.Good = &snapshot.Point{Tick: *p.equal}
	}
	if s := p.bracket; s != nil {
		if s.Bad.Compare(split) < 0 {
			r.contradict("the snapshots differ at state point %s, the recorded sync hashes only from %s on", s.Bad, split)
			return
		}
		if s.Bad.Same(split) {
			b.BadFiles = s.BadFiles
		}
		if g := s.Good; g != nil {
			if g.Compare(split) >= 0 && len(p.pairs) > 0 {
				p.noteEarlier(r, *g, split)
			} else if b.Good == nil || g.Compare(*b.Good) >= 0 {
				b.Good, b.GoodFiles = g, s.GoodFiles
			}
		}
	}
	p.bracket = &b
}

// noteEarlier deals with logs that part before a pair of snapshots that is
// equal: the states came back, which history hashes would have shown.
func (p *pair) noteEarlier(r *Result, good, split snapshot.Point) {
	i := slices.IndexFunc(p.points, good.Same)
	if i >= 0 && p.pairs[i].ok && p.historical(i) {
		r.contradict("the recorded sync hashes differ at state point %s, the history hashes of the snapshots are equal at %s", split, good)
	}
	if p.healed == nil {
		p.healed = &good
	}
}

// healedInLogs finds the first point behind the split at which the recorded
// hashes agree again.
func (p *pair) healedInLogs() {
	for _, point := range p.a.points {
		if point <= *p.split {
			continue
		}
		ha, _ := p.a.sync(point)
		if hb, ok := p.b.sync(point); ok && ha == hb {
			p.healed = &snapshot.Point{Tick: point}
			return
		}
	}
}

// groups returns the names of the peers by their state at a point: by the
// snapshots opened, else by the recorded sync hashes. Peers whose states are
// equal there but whose histories are not are in different groups.
func groups(peers []*Peer, point snapshot.Point) [][]string {
	type state struct {
		sync    merkle.Short
		history merkle.Hash
	}
	known := map[*Peer]state{}
	for _, p := range peers {
		if e := p.set.At(point); e != nil {
			if h, ok := p.heads[e]; ok && h.info != nil {
				known[p] = state{h.info.Root.Short(), h.info.History}
				continue
			}
		}
		if s, ok := p.sync(point.Tick); ok && point.Phase == "" {
			known[p] = state{sync: s}
		}
	}
	var out [][]string
	index := map[state]int{}
	for _, p := range peers {
		s, ok := known[p]
		if !ok {
			continue
		}
		if len(known) < len(peers) || !allHistories(known, func(s state) bool { return !s.history.IsZero() }) {
			s.history = merkle.Hash{}
		}
		i, ok := index[s]
		if !ok {
			i = len(out)
			index[s] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], p.Name)
	}
	return out
}

func allHistories[K comparable, V any](m map[K]V, has func(V) bool) bool {
	for _, v := range m {
		if !has(v) {
			return false
		}
	}
	return true
}
