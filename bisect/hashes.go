package bisect

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Hash is the sync hash that a peer recorded for its state at a state point.
type Hash struct {
	Point uint64
	Sum   merkle.Short
}

// Log is what an order log contains about the peer that wrote it.
type Log struct {
	Name   string // for texts, usually the path of its file
	Header orderlog.Header
	Ticks  int  // records of ticks that were read
	Signed bool // the hashes come from a chain of signatures, which contains no orders

	// Hashes are the sync hashes over the whole state of the peer itself, strictly ascending by point. If a point was
	// reached in several epochs, the hash from the last epoch counts.
	Hashes []Hash
	// Parts are the peer's other hashes of itself: state and history hashes, an engine's
	// own, of the whole state or of a part of it. They ascend by coverage, then by kind.
	Parts []PartHashes
	// Conflicts are state points for which the log has two hashes of the peer that contradict each other: same kind,
	// coverage and epoch. Ascending.
	Conflicts []uint64

	// Stretches are the parts of the log in which each state follows from the one before, in the order of the log; at
	// least one.
	Stretches []Stretch

	// Open returns the whole log, for replays. It is nil if the orders are not known. A log that is torn or corrupt
	// is returned as far as it goes, without an error.
	Open func() (*orderlog.Log, error)
}

// PartHashes are hashes of one kind and coverage, strictly ascending by point. If a point was reached in several
// epochs, the hash from the last epoch counts.
type PartHashes struct {
	Kind     orderlog.HashKind
	Coverage orderlog.Coverage
	Hashes   []PartHash
}

// PartHash is such a hash, digested: it can only be compared within one process.
type PartHash struct {
	Point, Digest uint64
	Epoch         uint32
}

// ReadLog reads a log to its end and keeps the part that a search needs, 16 bytes for each state point. If the log is
// torn or corrupt, ReadLog returns both the error and the Log with everything before it. Name and Open are left to the
// caller.
func ReadLog(source orderlog.Source) (*Log, error) {
	hashes := NewHashes(source.Header())
	for {
		rec, err := source.Next()
		if err != nil {
			log := hashes.Log()
			log.Header.Kinds = source.Header().Kinds // an engine's log may name them as they come
			if err == io.EOF {
				err = nil
			}
			return log, err
		}
		hashes.Add(&rec)
	}
}

// LogOf returns the hashes and stretches of a log in memory.
func LogOf(log *orderlog.Log) *Log {
	out, _ := ReadLog(log.Source())
	out.Name = log.Name
	out.Open = func() (*orderlog.Log, error) { return log, nil }
	return out
}

// at returns the hash of a point, false if there is none.
func (l *Log) at(point uint64) (merkle.Short, bool) {
	if l == nil {
		return merkle.Short{}, false
	}
	i, ok := slices.BinarySearchFunc(l.Hashes, point, func(h Hash, p uint64) int { return cmp.Compare(h.Point, p) })
	if !ok {
		return merkle.Short{}, false
	}
	return l.Hashes[i].Sum, true
}

// stranger reports whether the log's peer is not one of the session's peers, so it is not known which hashes are its
// own.
func (l *Log) stranger() bool { return stranger(&l.Header) }

func stranger(h *orderlog.Header) bool { return len(h.Peers) > 0 && !slices.Contains(h.Peers, h.Peer) }

// lost reports what is wrong with the hashes.
func (l *Log) lost() []string {
	if l.stranger() {
		return []string{fmt.Sprintf("%s: its peer %q is not in the session, so none of its hashes are known to be its own", prose.Path(l.Name), l.Header.Peer)}
	}
	var list []string
	for _, point := range l.Conflicts {
		list = append(list, fmt.Sprintf("%s: two hashes of state point %d contradict each other", prose.Path(l.Name), point))
	}
	return list
}

// Hashes collects the hashes that a log's records contain of its own peer, in the order of the log. [ReadLog] uses it;
// a reader that also needs the records for something else feeds them to Add.
type Hashes struct {
	header orderlog.Header
	own    uint32
	none   bool // the peer is not one of the session's
	ticks  int
	cut    cutter

	begun     bool
	epoch     uint32
	sums      [][]Hash // of all epochs as they came, in chunks: copying a growing slice takes as much again
	count     int
	epochs    []int                   // at which hash each epoch but the first begins
	numbers   []uint32                // of the epochs
	parts     map[hashPart][]PartHash // of the current epoch
	kept      map[hashPart][]PartHash // of those before
	conflicts []uint64
}

// hashPart is another kind of hashes with what they cover.
type hashPart struct {
	kind     orderlog.HashKind
	coverage orderlog.Coverage
}

var partSeed = maphash.MakeSeed()

// NewHashes returns a Hashes for a log with that header.
func NewHashes(h orderlog.Header) *Hashes {
	return &Hashes{
		header: h, none: stranger(&h), own: uint32(max(slices.Index(h.Peers, h.Peer), 0)),
		parts: map[hashPart][]PartHash{}, kept: map[hashPart][]PartHash{}, cut: newCutter(&h),
	}
}

// Add takes a record. It does not keep its memory.
func (h *Hashes) Add(rec *orderlog.Record) {
	if h.begun && rec.Epoch != h.epoch {
		h.close()
	}
	h.begun, h.epoch = true, rec.Epoch
	switch {
	case rec.Kind == orderlog.TickRecord && rec.Tick != nil:
		h.ticks++
		h.cut.add(rec.Epoch, rec.Tick)
		h.add(rec.Tick.Hashes)
	case rec.Kind == orderlog.ObservedRecord:
		h.add(rec.Observed)
	}
}

// chunk is how many hashes are allocated at once.
const chunk = 4096

func (h *Hashes) add(list []orderlog.Observed) {
	if h.none {
		return
	}
	for i := range list {
		o := &list[i]
		switch {
		case o.Peer != h.own:
		case o.Kind == orderlog.SyncHash && o.Coverage == orderlog.Full && len(o.Bytes) == merkle.ShortSize:
			if h.count%chunk == 0 {
				h.sums = append(h.sums, make([]Hash, 0, chunk))
			}
			last := &h.sums[len(h.sums)-1]
			*last = append(*last, Hash{o.Point, merkle.Short(o.Bytes)})
			h.count++
		default:
			part := hashPart{o.Kind, o.Coverage}
			h.parts[part] = append(h.parts[part], PartHash{o.Point, maphash.Bytes(partSeed, o.Bytes), h.epoch})
		}
	}
}

// close ends an epoch: within one, hashes of a point must be the same.
func (h *Hashes) close() {
	h.epochs, h.numbers = append(h.epochs, h.count), append(h.numbers, h.epoch)
	for part, list := range h.parts {
		sortStable(list, partPoint)
		for i := 1; i < len(list); i++ {
			if list[i].Point == list[i-1].Point && list[i].Digest != list[i-1].Digest {
				h.conflicts = append(h.conflicts, list[i].Point)
			}
		}
		h.kept[part], h.parts[part] = append(h.kept[part], list...), list[:0]
	}
}

func partPoint(p *PartHash) uint64 { return p.Point }

// others returns the hashes other than sync hashes, once all have been added.
func (h *Hashes) others() (list []PartHashes) {
	for part, hashes := range h.kept {
		sortStable(hashes, partPoint)
		list = append(list, PartHashes{part.kind, part.coverage, lastOfEach(hashes, partPoint)})
	}
	lists.SortStable(list, byPart)
	return list
}

// byPart is the order of Log.Parts.
func byPart(a, b PartHashes) int {
	return cmp.Or(cmp.Compare(a.Coverage, b.Coverage), cmp.Compare(a.Kind, b.Kind))
}

// sortStable sorts by point, as most logs are already.
func sortStable[T any](list []T, point func(*T) uint64) {
	for i := 1; i < len(list); i++ {
		if point(&list[i]) < point(&list[i-1]) {
			lists.SortStable(list, func(a, b T) int { return cmp.Compare(point(&a), point(&b)) })
			return
		}
	}
}

// Log returns the collected log, once all records have been added.
func (h *Hashes) Log() *Log {
	h.close()
	all := make([]Hash, 0, h.count)
	for i := range h.sums {
		all = append(all, h.sums[i]...)
		h.sums[i] = nil
	}
	begin := 0
	byEpoch := map[uint32][]Hash{}
	for k, end := range h.epochs {
		sums := all[begin:end]
		byEpoch[h.numbers[k]] = sums
		sortStable(sums, hashPoint)
		for i := 1; i < len(sums); i++ {
			if sums[i].Point == sums[i-1].Point && sums[i].Sum != sums[i-1].Sum {
				h.conflicts = append(h.conflicts, sums[i].Point)
			}
		}
		begin = end
	}
	stretches := h.cut.stretches(func(epoch uint32) []Hash { return byEpoch[epoch] })
	for i := range stretches {
		if s := &stretches[i]; i > 0 && s.Loaded() && stretches[i-1].covers(s.From) && stretches[i-1].Epoch != s.Epoch {
			before := byEpoch[stretches[i-1].Epoch]
			if k, ok := slices.BinarySearchFunc(before, s.From, func(h Hash, p uint64) int { return cmp.Compare(h.Point, p) }); ok {
				s.left = &merkle.Short{}
				*s.left = before[k].Sum
			}
		}
	}
	sortStable(all, hashPoint)
	kept := lastOfEach(all, hashPoint)
	slices.Sort(h.conflicts)
	return &Log{Header: h.header, Ticks: h.ticks, Hashes: kept, Parts: h.others(), Conflicts: slices.Compact(h.conflicts), Stretches: stretches}
}

// inCommon yields the elements of two lists, both ascending by a key, that have the same key.
func inCommon[T any](a, b []T, key func(*T) uint64) iter.Seq2[*T, *T] {
	return func(yield func(a, b *T) bool) {
		for len(a) > 0 && len(b) > 0 {
			switch x, y := key(&a[0]), key(&b[0]); {
			case x < y:
				a = a[1:]
			case x > y:
				b = b[1:]
			case !yield(&a[0], &b[0]):
				return
			default:
				a, b = a[1:], b[1:]
			}
		}
	}
}

// lastOfEach returns the last element of each point of a list that ascends by point, in the list's memory.
func lastOfEach[T any](list []T, point func(*T) uint64) []T {
	kept := list[:0]
	for i, one := range list {
		if i+1 == len(list) || point(&list[i+1]) != point(&one) {
			kept = append(kept, one)
		}
	}
	return kept
}

func hashPoint(h *Hash) uint64 { return h.Point }

// last returns the last point that has a hash; there must be one.
func (l *Log) last() uint64 { return l.Hashes[len(l.Hashes)-1].Point }

// from returns the hashes of points from one on.
func (l *Log) from(point uint64) []Hash {
	if l == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(l.Hashes, point, func(h Hash, p uint64) int { return cmp.Compare(h.Point, p) })
	return l.Hashes[i:]
}

// LogName is the usual name of an order log.
const LogName = "order-log.bin"
