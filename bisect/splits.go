package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Split is a stretch of state points in which peers had diverged.
type Split struct {
	// Good is the last point before Bad at which they are known to be equal, nil if none is; Bad the first at which
	// they are known to have diverged.
	Good *snapshot.Point
	Bad  snapshot.Point
	// Healed is the first point from Bad on at which they are known to be equal again, nil if none is. It is Bad itself
	// if something before it proves the split: histories that differ, or traces inside a tick.
	Healed *snapshot.Point

	By Source // what Bad is known from
	// GoodFiles, BadFiles and HealedFiles are the snapshots of these points, empty where
	// a point is not known from snapshots.
	GoodFiles, BadFiles, HealedFiles []string

	// passed reports whether only histories show it: they had diverged by Bad, but it is not known when.
	passed bool
}

// markKind is what a piece of evidence shows about two peers at a state point.
type markKind int

const (
	equal   markKind = iota // their states are equal
	differs                 // their states differ
	passed                  // their states have differed since the last point of equal histories
)

// mark is a piece of evidence of two peers at a state point.
type mark struct {
	at    snapshot.Point
	kind  markKind
	by    Source
	files []string
	// since, for passed marks, is the last point of equal histories, nil if none is known; equalNow reports whether the
	// states are equal.
	since    *snapshot.Point
	equalNow bool
}

// splitsOf finds the splits that pieces of evidence show; the search has found one that may be the first, or nil.
func splitsOf(marks []mark, found *Split) (list []Split) {
	lists.SortStable(marks, func(a, b mark) int { return a.at.Compare(b.at) })
	var good *mark
	open := func() *Split {
		if n := len(list); n > 0 && list[n-1].Healed == nil {
			return &list[n-1]
		}
		return nil
	}
	for i := range marks {
		m := &marks[i]
		if found != nil && m.at.Compare(found.Bad) >= 0 {
			if len(list) == 0 {
				list = append(list, *found)
			}
			found = nil
		}
		if m.kind == differs && open() == nil {
			list = append(list, newSplit(m, good))
		}
		if m.kind == passed && !explained(list, m) {
			before := good
			switch {
			case m.since == nil:
				before = nil
			case good != nil && good.at.Compare(*m.since) > 0:
				before = &mark{at: *m.since}
			}
			list = append(list, newSplit(m, before))
		}
		if m.kind == equal || m.equalNow {
			if s := open(); s != nil {
				at := m.at
				s.Healed, s.HealedFiles = &at, m.files
			}
			good = m
		}
	}
	return list
}

// explained reports whether a split is known that has histories differ at a mark: one that
// began after they were last equal, or that still lasts.
func explained(list []Split, m *mark) bool {
	n := len(list)
	return n > 0 && (m.since == nil || list[n-1].Healed == nil || list[n-1].Bad.Compare(*m.since) > 0)
}

// newSplit returns the split that a mark shows, after the last one that is equal.
func newSplit(m, good *mark) Split {
	s := Split{Bad: m.at, By: m.by, BadFiles: m.files, passed: m.kind == passed}
	if good != nil && good.at.Compare(s.Bad) < 0 {
		at := good.at
		s.Good, s.GoodFiles = &at, good.files
	}
	return s
}

// marks returns all evidence about the pair, in no order, with the hashes around a point of interest.
func (p *pair) marks(around ...uint64) (list []mark) {
	if p.kind == ChecksumOnly {
		return nil
	}
	var since *snapshot.Point // the last pair of its epoch with equal histories
	var epochs [2]uint32
	blind := false // the recorded hashes are equal where states differ: they do not cover all of the state
	for i := range p.pairs {
		pr := &p.pairs[i]
		if !pr.ok {
			continue
		}
		m := mark{at: p.points[i], kind: equal, by: BySnapshots, files: p.files(i)}
		if pr.a.Root != pr.b.Root {
			m.kind = differs
			blind = blind || p.hashesEqual(m.at)
		}
		if p.historical(i) {
			if e := p.epochs(i); e != epochs {
				epochs, since = e, nil
			}
			switch {
			case pr.a.History == pr.b.History:
				since = &m.at
			case m.kind == equal && since != nil:
				m.kind, m.since, m.equalNow = passed, since, true
			}
		}
		list = append(list, m)
	}
	ownSums := p.ownSums || p.a.log != nil && p.b.log != nil && p.a.notRoots() && p.b.notRoots() // as all states that were read show
	if p.kind == "" && !ownSums && !blind && p.a.log != nil && p.b.log != nil {
		list = append(list, p.hashMarks(list, around)...)
	}
	return list
}

// hashesEqual reports whether both peers recorded the same hash of a point.
func (p *pair) hashesEqual(at snapshot.Point) bool {
	if at.Phase != "" || p.a.log == nil || p.b.log == nil {
		return false
	}
	a, okA := p.a.log.at(at.Tick)
	b, okB := p.b.log.at(at.Tick)
	return okA && okB && a == b
}

// hashMark is a mark of the hashes in order logs.
func hashMark(point uint64, kind markKind) mark {
	return mark{at: snapshot.Point{Tick: point}, kind: kind, by: ByHashes}
}

// manyHashes is the number of hashes of a kind above which not every hash becomes a mark.
const manyHashes = 50_000

// hashMarks compares the hashes in order logs. Given are the marks of snapshots, and points of interest.
func (p *pair) hashMarks(given []mark, anchors []uint64) (all []mark) { // anchors are points of marks that are all kept
	add := func(list []mark) {
		for i := range list {
			anchors = append(anchors, list[i].at.Tick)
		}
	}
	add(given)
	for i := range p.a.log.Parts {
		x := &p.a.log.Parts[i]
		if y := p.b.log.part(x.Kind, x.Coverage); y != nil && min(len(x.Hashes), len(y.Hashes)) <= manyHashes {
			list := partMarks(x, y, nil)
			add(list)
			all = append(all, list...)
		}
	}
	slices.Sort(anchors)
	for i := range p.a.log.Parts {
		x := &p.a.log.Parts[i]
		if y := p.b.log.part(x.Kind, x.Coverage); y != nil && min(len(x.Hashes), len(y.Hashes)) > manyHashes {
			all = append(all, partMarks(x, y, &thinner{anchors: anchors})...)
		}
	}
	return append(all, p.syncMarks(&thinner{anchors: anchors})...)
}

// thinner drops marks that add nothing. Of marks in order it keeps those at which the kind changes, their neighbours,
// and the marks on both sides of the points of other evidence; those in between repeat the same fact.
type thinner struct {
	anchors []uint64
	list    []mark
}

func (t *thinner) add(next mark) {
	n := len(t.list)
	if n > 1 && t.list[n-1].kind == next.kind && t.list[n-2].kind == next.kind && !t.between(t.list[n-2].at.Tick, next.at.Tick) {
		t.list[n-1] = next
		return
	}
	t.list = append(t.list, next)
}

// between reports whether there is other evidence of the points from one to another.
func (t *thinner) between(from, to uint64) bool {
	i, _ := slices.BinarySearch(t.anchors, from)
	return i < len(t.anchors) && t.anchors[i] <= to
}

// syncMarks compares the recorded sync hashes.
func (p *pair) syncMarks(t *thinner) []mark {
	add := func(point uint64, same bool) {
		kind := differs
		if same {
			kind = equal
		}
		t.add(hashMark(point, kind))
	}
	for x, y := range inCommon(p.a.blocks, p.b.blocks, blockKey) {
		first, last := x.hashes[0].Point, x.hashes[len(x.hashes)-1].Point
		if x.digest == y.digest && !t.between(first, last) {
			add(first, true)
			add(last, true)
			continue
		}
		for h, other := range inCommon(x.hashes, y.hashes, hashPoint) {
			add(h.Point, h.Sum == other.Sum)
		}
	}
	return t.list
}

// partMarks compares other hashes that both logs have, and keeps all marks without a thinner.
// Equal hashes of a part of the state prove nothing.
func partMarks(x, y *PartHashes, t *thinner) (list []mark) {
	var since *snapshot.Point
	var epochs [2]uint32
	any := false // there was a history hash of both
	for a, b := range inCommon(x.Hashes, y.Hashes, partPoint) {
		m := hashMark(a.Point, equal)
		switch same := a.Digest == b.Digest; {
		case x.Coverage != orderlog.Full:
			if m.kind = differs; same {
				continue
			}
		case x.Kind == orderlog.HistoryHash:
			if e := [2]uint32{a.Epoch, b.Epoch}; e != epochs {
				epochs, since = e, nil
			}
			switch {
			case same:
				since = &m.at
			case since == nil && any:
				continue // they may have diverged in another epoch
			default:
				m.kind, m.since = passed, since
			}
			any = true
		case !same:
			m.kind = differs
		}
		if t != nil {
			t.add(m)
		} else {
			list = append(list, m)
		}
	}
	if t != nil {
		return t.list
	}
	return list
}

// part returns the hashes of a kind and coverage, nil if there are none.
func (l *Log) part(kind orderlog.HashKind, coverage orderlog.Coverage) *PartHashes {
	if l == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(l.Parts, PartHashes{Kind: kind, Coverage: coverage}, byPart)
	if !ok {
		return nil
	}
	return &l.Parts[i]
}
