package orderlog

import (
	"bytes"
	"io"
	"os"
	"sort"
)

// Log is a log in memory.
type Log struct {
	Name   string // as given to ReadAll
	Header Header
	Ticks  []Tick // the ticks of all epochs, in file order
	// Epochs is never empty: even a log without ticks has a first epoch.
	Epochs []Epoch
}

// Epoch is a part of a log in which ticks ascend and the history hash is one chain.
type Epoch struct {
	Number uint32
	// Opening is the marker that opened the epoch, nil if the epoch began with the game.
	Opening *Marker
	Ticks   []Tick // a part of Log.Ticks
	// Observed are the hashes in the epoch's observed records. The hashes of its ticks are in Ticks.
	Observed []Observed
	// Conflicts are hashes that contradict an earlier hash in the same epoch with the same point, peer, kind and
	// coverage.
	Conflicts []Observed

	first  int // index of Ticks[0] in Log.Ticks
	hashes map[hashKey][]byte
}

type hashKey struct {
	point    uint64
	peer     uint32
	kind     HashKind
	coverage Coverage
}

// ReadFile reads the log at path. Errors contain the path. See [ReadAll].
func ReadFile(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path)
}

// ReadAll reads a log to its end. If the log is torn or corrupt after its header, ReadAll returns the same error as
// Reader.Next, and a Log with everything before the damage. If the header is unreadable, the Log is nil.
func ReadAll(r io.Reader, name string) (*Log, error) {
	lr, err := NewReader(r, name)
	if err != nil {
		return nil, err
	}
	return Collect(lr, name)
}

// Collect reads the rest of a source, like ReadAll.
func Collect(src Source, name string) (*Log, error) {
	l := &Log{Name: name, Header: src.Header()}
	l.Epochs = append(l.Epochs, newEpoch(l.Header.Epoch, 0))
	store := slabs{grain: 1024}
	for {
		rec, err := src.Next()
		if err != nil {
			l.Header.Kinds = src.Header().Kinds // an engine's log may add kinds as they occur
			l.slice()
			if err == io.EOF {
				err = nil
			}
			return l, err
		}
		if last := &l.Epochs[len(l.Epochs)-1]; rec.Epoch != last.Number {
			l.Epochs = append(l.Epochs, newEpoch(rec.Epoch, len(l.Ticks)))
		}
		e := &l.Epochs[len(l.Epochs)-1]
		switch rec.Kind {
		case TickRecord:
			if rec.Tick == nil {
				continue // a record with only an engine's claims
			}
			t := store.tick(rec.Tick)
			l.Ticks = append(l.Ticks, t)
			e.index(t.Hashes)
			if m := t.NewEpoch(); m != nil {
				e.Opening = m
			}
		case ObservedRecord:
			hashes := store.observed(rec.Observed)
			e.Observed = append(e.Observed, hashes...)
			e.index(hashes)
		}
	}
}

func newEpoch(number uint32, first int) Epoch {
	return Epoch{Number: number, first: first, hashes: map[hashKey][]byte{}}
}

// slice sets the epochs' Ticks, now that Log.Ticks no longer grows.
func (l *Log) slice() {
	end := len(l.Ticks)
	for i := len(l.Epochs) - 1; i >= 0; i-- {
		e := &l.Epochs[i]
		e.Ticks = l.Ticks[e.first:end:end]
		end = e.first
	}
}

func (e *Epoch) index(hashes []Observed) {
	for i := range hashes {
		o := &hashes[i]
		key := hashKey{o.Point, o.Peer, o.Kind, o.Coverage}
		if b, ok := e.hashes[key]; !ok {
			e.hashes[key] = o.Bytes
		} else if !bytes.Equal(b, o.Bytes) {
			e.Conflicts = append(e.Conflicts, *o)
		}
	}
}

// Tick returns the tick with that number, or nil.
func (e *Epoch) Tick(number uint64) *Tick {
	i := sort.Search(len(e.Ticks), func(i int) bool { return e.Ticks[i].Number >= number })
	if i == len(e.Ticks) || e.Ticks[i].Number != number {
		return nil
	}
	return &e.Ticks[i]
}

// Hash returns a hash that was observed in the epoch, the first one if there are several, or nil.
func (e *Epoch) Hash(point uint64, peer uint32, kind HashKind, coverage Coverage) []byte {
	return e.hashes[hashKey{point, peer, kind, coverage}]
}

// Tick returns the tick with that number in the last epoch that has it, or nil.
func (l *Log) Tick(number uint64) *Tick {
	for i := len(l.Epochs) - 1; i >= 0; i-- {
		if t := l.Epochs[i].Tick(number); t != nil {
			return t
		}
	}
	return nil
}

// Hash returns a hash from the last epoch in which it was observed, or nil.
func (l *Log) Hash(point uint64, peer uint32, kind HashKind, coverage Coverage) []byte {
	for i := len(l.Epochs) - 1; i >= 0; i-- {
		if b := l.Epochs[i].Hash(point, peer, kind, coverage); b != nil {
			return b
		}
	}
	return nil
}

// Clone returns a copy of t that shares no memory with it.
func (t *Tick) Clone() *Tick {
	c := new(slabs).tick(t)
	return &c
}

// slabs allocates memory for many small copies at once, in pieces of at least grain values. The zero slabs allocates
// each copy separately.
type slabs struct {
	grain   int
	bytes   []byte
	orders  []Order
	hashes  []Observed
	markers []Marker
}

// carve returns a copy of s cut from slab, and renews the slab when it is used up.
func carve[T any](slab *[]T, s []T, grain int) []T {
	if len(s) == 0 {
		return nil
	}
	if cap(*slab)-len(*slab) < len(s) {
		*slab = make([]T, 0, max(grain, len(s)))
	}
	begin := len(*slab)
	*slab = append(*slab, s...)
	return (*slab)[begin:len(*slab):len(*slab)]
}

func (s *slabs) tick(t *Tick) Tick {
	c := *t
	c.Orders = carve(&s.orders, t.Orders, s.grain)
	for i := range c.Orders {
		c.Orders[i].Payload = carve(&s.bytes, c.Orders[i].Payload, 64*s.grain)
	}
	c.Hashes = s.observed(t.Hashes)
	c.Markers = carve(&s.markers, t.Markers, s.grain/64)
	return c
}

func (s *slabs) observed(hashes []Observed) []Observed {
	c := carve(&s.hashes, hashes, s.grain)
	for i := range c {
		c[i].Bytes = carve(&s.bytes, c[i].Bytes, 64*s.grain)
	}
	return c
}
