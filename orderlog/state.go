package orderlog

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

// stateLedger compares observed hashes: a point's first hash with all other peers' hashes. It remembers maxHashes
// points.
type stateLedger struct {
	limit   int
	names   []string // names of peers, by number
	numbers map[string]int32
	parts   []hashPart
	sums    []HashSummary // index in sums, by part

	seen   map[hashPlace]int32 // index in places
	places []hashesSeen        // a ring when it has maxHashes entries
	oldest int
	recent int32 // place of the last hash

	joined         map[chainPair]bool
	good           []hashPlace // the last points at which hashes of the whole state agree
	agreed         hashPlace   // the highest point at which any hashes agree, if set
	any            bool
	contradictions []HashDifference
	count          int
}

// hashPart is a kind of hashes and their coverage.
type hashPart struct {
	kind     HashKind
	coverage Coverage
}

type hashPlace struct {
	point      uint64
	generation int32
	part       int32
}

// hashesSeen are the hashes of one place, one for each peer.
type hashesSeen struct {
	at     hashPlace
	values [][]byte   // different values; the first belongs to the first peer
	peers  []hashSeen // ascending by peer, except the first
	first  hashSeen
}

type hashSeen struct {
	peer, log int32
	epoch     uint32
	value     int32 // index in hashesSeen.values
}

// maxGood is how many points with equal hashes are kept, in case a difference is found later at a lower point.
const maxGood = 1 << 10

func newStateLedger(opts CompareOptions) stateLedger {
	return stateLedger{limit: opts.Limit, seen: map[hashPlace]int32{}, numbers: map[string]int32{}, joined: map[chainPair]bool{}}
}

// peer returns the number of a peer's name, or -1 if there are too many.
func (s *stateLedger) peer(name string) int32 {
	if i, ok := s.numbers[name]; ok {
		return i
	}
	if len(s.names) == maxPeers {
		return -1
	}
	i := int32(len(s.names))
	s.names, s.numbers[name] = append(s.names, name), i
	return i
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

// Hashes beyond these numbers of kinds or peers are not compared.
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
	h := hashSeen{peer: peer, log: l.number, epoch: epoch}
	seen := s.find(at)
	if seen == nil {
		s.keep(at, h, o.Bytes)
		return
	}
	if seen.first.peer == peer {
		s.again(seen, &seen.first, &h, o.Bytes)
		return
	}
	i := len(seen.peers) // peers are usually in order
	if i > 0 && seen.peers[i-1].peer >= peer {
		found := false
		if i, found = slices.BinarySearchFunc(seen.peers, peer, func(h hashSeen, peer int32) int { return cmp.Compare(h.peer, peer) }); found {
			s.again(seen, &seen.peers[i], &h, o.Bytes)
			return
		}
	}
	h.value = seen.value(o.Bytes)
	seen.peers = slices.Insert(seen.peers, i, h)
	if o.Kind == HistoryHash && !s.chained(seen, &h) {
		return
	}

	sum := &s.sums[part]
	if h.value == 0 {
		sum.Equal++
		if !s.any || s.agreed.generation < at.generation || s.agreed.generation == at.generation && s.agreed.point < at.point {
			s.agreed, s.any = at, true
		}
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
		d := s.difference(at, &seen.first, &h, seen.values[0], o.Bytes)
		sum.First = &d
	}
}

// chained reports whether a history hash can be compared with the first peer's hash. It can if both epochs have the
// same number, or if the histories of both epochs were found to be the same chain. If a peer starts its own history
// after a load, a difference means nothing.
func (s *stateLedger) chained(seen *hashesSeen, h *hashSeen) bool {
	a, b := &seen.first, h
	if a.epoch == b.epoch {
		return true
	}
	if a.peer > b.peer {
		a, b = b, a
	}
	pair := chainPair{a.peer, b.peer, a.epoch, b.epoch}
	joined := s.joined[pair]
	if h.value == 0 && len(s.joined) < maxHashes {
		s.joined[pair] = true // this history may have been loaded together with the state
	}
	return joined
}

// chainPair is a pair of epochs, one of each of two peers.
type chainPair struct {
	peerA, peerB   int32
	epochA, epochB uint32
}

// find returns the hashes of a place, or nil.
func (s *stateLedger) find(at hashPlace) *hashesSeen {
	if int(s.recent) < len(s.places) && s.places[s.recent].at == at {
		return &s.places[s.recent]
	}
	i, ok := s.seen[at]
	if !ok {
		return nil
	}
	s.recent = i
	return &s.places[i]
}

// keep starts a place and drops the oldest one.
func (s *stateLedger) keep(at hashPlace, h hashSeen, value []byte) {
	i := s.oldest
	if len(s.places) < maxHashes {
		i = len(s.places)
		s.places = append(s.places, hashesSeen{})
	} else {
		delete(s.seen, s.places[i].at)
		s.oldest = (s.oldest + 1) % maxHashes
	}
	seen := &s.places[i]
	seen.at, seen.first, seen.values, seen.peers = at, h, seen.values[:0], seen.peers[:0]
	seen.value(value)
	s.seen[at], s.recent = int32(i), int32(i)
}

// value returns the number of a value.
func (h *hashesSeen) value(b []byte) int32 {
	for i := range h.values {
		if bytes.Equal(h.values[i], b) {
			return int32(i)
		}
	}
	if n := len(h.values); n < cap(h.values) { // left from a dropped place
		h.values = h.values[:n+1]
		h.values[n] = append(h.values[n][:0], b...)
	} else {
		h.values = append(h.values, bytes.Clone(b))
	}
	return int32(len(h.values) - 1)
}

// again notes that a hash contradicts an older hash of the same peer. After a peer received another state, a different
// hash at the same point is normal.
func (s *stateLedger) again(seen *hashesSeen, old, h *hashSeen, value []byte) {
	if before := seen.values[old.value]; !bytes.Equal(before, value) && (old.log != h.log || old.epoch == h.epoch) {
		if s.count++; len(s.contradictions) < s.limit {
			s.contradictions = append(s.contradictions, s.difference(seen.at, old, h, before, value))
		}
	}
}

func (p hashPlace) below(d *HashDifference) bool {
	return int(p.generation) < d.generation || int(p.generation) == d.generation && p.point < d.Point
}

func (s *stateLedger) difference(at hashPlace, a, b *hashSeen, hashA, hashB []byte) HashDifference {
	part := s.parts[at.part]
	return HashDifference{
		Point: at.point, Kind: part.kind, Coverage: part.coverage, generation: int(at.generation),
		Values: [2]HashOfPeer{
			{s.names[a.peer], s.names[a.log], bytes.Clone(hashA)},
			{s.names[b.peer], s.names[b.log], bytes.Clone(hashB)},
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
	lists.SortStable(out.Hashes, func(a, b HashSummary) int {
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
	if s.any {
		out.Agreed = &s.agreed.point
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
