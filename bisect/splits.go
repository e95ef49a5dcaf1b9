package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Split is a stretch of state points at which peers had parted.
type Split struct {
	// Good is the last point before Bad at which they are known to be equal, nil if none
	// is; Bad the first at which they are known to have parted.
	Good *snapshot.Point
	Bad  snapshot.Point
	// Healed is the first point from Bad on at which they are known to be equal again, nil
	// if none is. It is Bad itself where something of the time before it proves the split:
	// histories that differ, or traces inside a tick.
	Healed *snapshot.Point

	By Source // what Bad is known from
	// GoodFiles, BadFiles and HealedFiles are the snapshots of these points, empty where
	// a point is not known from snapshots.
	GoodFiles, BadFiles, HealedFiles []string
}

// markKind is what a piece of evidence says of two peers at a state point.
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
	// since is the last point of equal histories, of passed ones; equalNow says that the
	// states are equal.
	since    *snapshot.Point
	equalNow bool
}

// splitsOf finds the splits that pieces of evidence show; the search has found one that may
// be the first, or nil.
func splitsOf(marks []mark, found *Split) (list []Split) {
	slices.SortStableFunc(marks, func(a, b mark) int { return a.at.Compare(b.at) })
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
			if good != nil && good.at.Compare(*m.since) > 0 {
				good = &mark{at: *m.since}
			}
			list = append(list, newSplit(m, good))
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
	return n > 0 && (list[n-1].Healed == nil || list[n-1].Bad.Compare(*m.since) > 0)
}

// newSplit returns the split that a mark shows, after the last one that is equal.
func newSplit(m, good *mark) Split {
	s := Split{Bad: m.at, By: m.by, BadFiles: m.files}
	if good != nil && good.at.Compare(s.Bad) < 0 {
		at := good.at
		s.Good, s.GoodFiles = &at, good.files
	}
	return s
}

// marks returns what all evidence says of the pair, in no order.
func (p *pair) marks() (list []mark) {
	if p.kind == ChecksumOnly {
		return nil
	}
	var since *snapshot.Point // the last pair of its epoch with equal histories
	var epochs [2]uint32
	for i := range p.pairs {
		pr := &p.pairs[i]
		if !pr.ok {
			continue
		}
		m := mark{at: p.points[i], kind: equal, by: BySnapshots, files: p.files(i)}
		if pr.a.Root != pr.b.Root {
			m.kind = differs
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
	if p.kind == "" && !p.ownSums && p.a.log != nil && p.b.log != nil {
		list = append(list, p.syncMarks()...)
		list = append(list, p.partMarks()...)
	}
	return list
}

// hashMark is a mark of the hashes in order logs.
func hashMark(point uint64, kind markKind) mark {
	return mark{at: snapshot.Point{Tick: point}, kind: kind, by: ByHashes}
}

// ends keeps of marks in order those at which the kind changes, and those before them: what
// lies between says the same.
func ends(list []mark, next mark) []mark {
	if n := len(list); n > 1 && list[n-1].kind == next.kind && list[n-2].kind == next.kind && next.kind != passed {
		list[n-1] = next
		return list
	}
	return append(list, next)
}

// syncMarks compares the recorded sync hashes.
func (p *pair) syncMarks() (list []mark) {
	add := func(point uint64, same bool) {
		kind := differs
		if same {
			kind = equal
		}
		list = ends(list, hashMark(point, kind))
	}
	for a, b := p.a.blocks, p.b.blocks; len(a) > 0 && len(b) > 0; {
		switch x, y := &a[0], &b[0]; {
		case x.key < y.key:
			a = a[1:]
		case x.key > y.key:
			b = b[1:]
		default:
			if x.digest == y.digest {
				add(x.hashes[0].Point, true)
				add(x.hashes[len(x.hashes)-1].Point, true)
			} else {
				commonHashes(x.hashes, y.hashes, func(point uint64, a, b merkle.Short) bool {
					add(point, a == b)
					return true
				})
			}
			a, b = a[1:], b[1:]
		}
	}
	return list
}

// partMarks compares the other hashes that both logs have. Equal hashes of a part of the
// state prove nothing.
func (p *pair) partMarks() (all []mark) {
	for i := range p.a.log.Parts {
		x := &p.a.log.Parts[i]
		y := p.b.log.part(x.Kind, x.Coverage)
		if y == nil {
			continue
		}
		var list []mark
		var since *snapshot.Point
		var epochs [2]uint32
		commonParts(x.Hashes, y.Hashes, func(a, b PartHash) {
			m := hashMark(a.Point, equal)
			switch same := a.Digest == b.Digest; {
			case x.Coverage != orderlog.Full:
				if m.kind = differs; same {
					return
				}
			case x.Kind == orderlog.HistoryHash:
				if e := [2]uint32{a.Epoch, b.Epoch}; e != epochs {
					epochs, since = e, nil
				}
				if same {
					since = &m.at
				} else if since == nil {
					return // they may have parted in another epoch
				} else {
					m.kind, m.since = passed, since
				}
			case !same:
				m.kind = differs
			}
			list = ends(list, m)
		})
		all = append(all, list...)
	}
	return all
}

// part returns the hashes of a kind and coverage, nil if there are none.
func (l *Log) part(kind orderlog.HashKind, coverage orderlog.Coverage) *PartHashes {
	if l != nil {
		for i := range l.Parts {
			if l.Parts[i].Kind == kind && l.Parts[i].Coverage == coverage {
				return &l.Parts[i]
			}
		}
	}
	return nil
}

// commonParts calls f with the hashes that two lists both have of a point, ascending.
func commonParts(a, b []PartHash, f func(a, b PartHash)) {
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.Point < y.Point:
			a = a[1:]
		case x.Point > y.Point:
			b = b[1:]
		default:
			f(x, y)
			a, b = a[1:], b[1:]
		}
	}
}
