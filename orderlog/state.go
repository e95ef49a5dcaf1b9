package orderlog

import (
	"bytes"
	"cmp"
	"slices"
)

// stateLedger compares observed hashes: the first one of a point with those of
// all other peers. It keeps maxHashes points.
type stateLedger struct {
	limit int
	names []string // of peers, by number
	parts []hashPart
	sums  []HashSummary // by part

	seen   map[hashPlace]hashesSeen
	order  []hashPlace // of seen, a ring
	oldest int
	spare  [][]hashSeen // for hashesSeen.more

	good           []hashPlace // the last points at which hashes of the whole state agree
	contradictions []HashDifference
	count          int
}

// hashPart is a kind of hashes with what they cover.
type hashPart struct {
	kind     HashKind
	coverage Coverage
}

type hashPlace struct {
	point      uint64
	generation int32
	part       int32
}

type hashesSeen struct {
	first hashSeen
	more  []hashSeen
}

type hashSeen struct {
	peer, log int32
	epoch     uint32
	width     uint8
	sum       [MaxHashWidth]byte
}

func (h *hashSeen) bytes() []byte { return h.sum[:h.width] }

// maxGood is how many points are kept at which hashes agree, in case that a
// difference at a lower point turns up.
const maxGood = 1 << 10

func newStateLedger(opts CompareOptions) stateLedger {
	return stateLedger{limit: opts.Limit, seen: map[hashPlace]hashesSeen{}}
}

// peer returns the number of a peer's name, -1 if there are too many.
func (s *stateLedger) peer(name string) int32 {
	if i := slices.Index(s.names, name); i >= 0 {
		return int32(i)
	}
	if len(s.names) == maxPeers {
		return -1
	}
	s.names = append(s.names, name)
	return int32(len(s.names) - 1)
}

func (s *stateLedger) part(o *Observed) int32 {
	for i := range s.parts {
		if s.parts[i].kind == o.Kind && s.parts[i].coverage == o.Coverage {
			return int32(i)
		}
	}
	if len(s.parts) == maxParts {
		return -1
	}
	s.parts = append(s.parts, hashPart{o.Kind, o.Coverage})
	s.sums = append(s.sums, HashSummary{Kind: o.Kind, Coverage: o.Coverage})
	return int32(len(s.parts) - 1)
}

// Hashes of more kinds or of more peers are not compared.
const (
	maxParts = 256
	maxPeers = 1 << 12
)

// note takes a hash of a peer's state from l's log.
func (s *stateLedger) note(l *lane, epoch uint32, o *Observed) {
	part, peer := s.part(o), l.peerNumber(s, o.Peer)
	if part < 0 || peer < 0 || l.number < 0 {
		return
	}
	at := hashPlace{o.Point, int32(l.generation), part}
	h := hashSeen{peer: peer, log: l.number, epoch: epoch, width: uint8(len(o.Bytes))}
	copy(h.sum[:], o.Bytes)
	seen, ok := s.seen[at]
	if !ok {
		s.keep(at, h)
		return
	}
	if s.again(&seen.first, &h, at) {
		return
	}
	for i := range seen.more {
		if s.again(&seen.more[i], &h, at) {
			return
		}
	}
	if n := len(s.spare); seen.more == nil && n > 0 {
		seen.more, s.spare = s.spare[n-1], s.spare[:n-1]
	}
	seen.more = append(seen.more, h)
	s.seen[at] = seen

	sum := &s.sums[part]
	if bytes.Equal(seen.first.bytes(), h.bytes()) {
		sum.Equal++
		if o.Coverage == Full {
			if len(s.good) == 2*maxGood {
				s.good = slices.Delete(s.good, 0, maxGood)
			}
			s.good = append(s.good, at)
		}
		return
	}
	sum.Differ++
	if f := sum.First; f == nil || at.below(f) {
		d := s.difference(at, &seen.first, &h)
		sum.First = &d
	}
}

// keep begins a point and forgets the oldest one.
func (s *stateLedger) keep(at hashPlace, h hashSeen) {
	s.seen[at] = hashesSeen{first: h}
	if len(s.order) < maxHashes {
		s.order = append(s.order, at)
		return
	}
	if old := s.seen[s.order[s.oldest]]; old.more != nil {
		s.spare = append(s.spare, old.more[:0])
	}
	delete(s.seen, s.order[s.oldest])
	s.order[s.oldest] = at
	s.oldest = (s.oldest + 1) % maxHashes
}

// again reports whether both are of one peer, and notes that they contradict
// each other. A peer has another hash of the same point after it was sent
// another state.
func (s *stateLedger) again(old, h *hashSeen, at hashPlace) bool {
	if old.peer != h.peer {
		return false
	}
	if !bytes.Equal(old.bytes(), h.bytes()) && (old.log != h.log || old.epoch == h.epoch) {
		if s.count++; len(s.contradictions) < s.limit {
			s.contradictions = append(s.contradictions, s.difference(at, old, h))
		}
	}
	return true
}

func (p hashPlace) below(d *HashDifference) bool {
	return int(p.generation) < d.generation || int(p.generation) == d.generation && p.point < d.Point
}

func (s *stateLedger) difference(at hashPlace, a, b *hashSeen) HashDifference {
	part := s.parts[at.part]
	return HashDifference{
		Point: at.point, Kind: part.kind, Coverage: part.coverage, generation: int(at.generation),
		Values: [2]HashOfPeer{
			{s.names[a.peer], s.names[a.log], bytes.Clone(a.bytes())},
			{s.names[b.peer], s.names[b.log], bytes.Clone(b.bytes())},
		},
	}
}

func (s *stateLedger) summary(c *comparer) State {
	out := State{ContradictionCount: s.count, Contradictions: s.contradictions}
	for i := range out.Contradictions {
		out.Contradictions[i].Native = c.native(out.Contradictions[i].Point)
	}
	for i := range s.sums {
		if sum := &s.sums[i]; sum.Equal+sum.Differ > 0 {
			out.Hashes = append(out.Hashes, *sum)
		}
	}
	slices.SortFunc(out.Hashes, func(a, b HashSummary) int {
		return cmp.Or(cmp.Compare(a.Coverage, b.Coverage), cmp.Compare(a.Kind, b.Kind))
	})
	for i := range out.Hashes {
		f := out.Hashes[i].First
		if f == nil {
			continue
		}
		f.Native = c.native(f.Point)
		if o := out.First; o == nil || f.generation < o.generation || f.generation == o.generation && f.Point < o.Point {
			out.First = f
		}
	}
	var best *hashPlace
	for i := range s.good {
		g := &s.good[i]
		if out.First != nil && !g.below(out.First) {
			continue
		}
		if best == nil || g.generation > best.generation || g.generation == best.generation && g.point > best.point {
			best = g
		}
	}
	if best != nil {
		point := best.point
		out.Good = &point
	}
	return out
}
