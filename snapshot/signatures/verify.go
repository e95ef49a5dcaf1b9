package signatures

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// BreakKind is the way in which a chain is broken.
type BreakKind uint8

// The values are in the order in which an entry is checked.
const (
	Tampered      BreakKind = iota + 1 // the signature is not valid
	Missing                            // the entry does not follow the entry before
	Contradiction                      // the signer's ticks do not agree
	EndTampered                        // the signature of the end is not valid
	MissingAtEnd                       // the end belongs to a longer chain, or to another one
)

var breakNames = [...]string{Tampered: "tampered", Missing: "missing", Contradiction: "contradiction", EndTampered: "end-tampered", MissingAtEnd: "missing-at-end"}

// String returns the name used in docs/signatures.md.
func (k BreakKind) String() string {
	if int(k) < len(breakNames) && breakNames[k] != "" {
		return breakNames[k]
	}
	return fmt.Sprintf("break kind %d", uint8(k))
}

// Break is a place at which a chain is broken.
type Break struct {
	Kind    BreakKind
	End     bool    // the end is broken, not an entry
	Entry   uint64  // index of the entry in the file, from 0; for an end the number of entries
	Offset  int64   // of its frame, in bytes
	Tick    uint64  // in the entry; 0 for an end
	Before  *uint64 // tick of the entry before in the file; nil if there is none
	Skipped uint64  // in the entry
	Count   uint64  // in the end
}

// Error describes the break and where it is.
func (b *Break) Error() string {
	at := fmt.Sprintf("entry %d, tick %d, at offset %d", b.Entry, b.Tick, b.Offset)
	switch b.Kind {
	case Tampered:
		return at + ": tampered with: its checksum is right, its signature is not by the chain's key"
	case Missing:
		if b.Before == nil {
			return at + ": does not follow the header: entries are missing at the start, or the header belongs to another chain"
		}
		return fmt.Sprintf("%s: does not follow the entry before, tick %d: entries between them are missing or were moved, or it is from another chain of the same key", at, *b.Before)
	case Contradiction:
		if b.End {
			return fmt.Sprintf("end, at offset %d: the signer contradicts itself: it is signed for %d entries, the file has %d, and the last one is right", b.Offset, b.Count, b.Entry)
		}
		if b.Before == nil {
			return fmt.Sprintf("%s: the signer contradicts itself: %d ticks skipped before the first entry, expected 0", at, b.Skipped)
		}
		if b.Tick <= *b.Before {
			return fmt.Sprintf("%s: the signer contradicts itself: it signed tick %d before", at, *b.Before)
		}
		return fmt.Sprintf("%s: the signer contradicts itself: %d ticks skipped since tick %d, expected %d", at, b.Skipped, *b.Before, b.Tick-*b.Before-1)
	case EndTampered:
		return fmt.Sprintf("end, at offset %d: tampered with: its checksum is right, its signature is not by the chain's key", b.Offset)
	}
	if b.Count == b.Entry {
		return fmt.Sprintf("end, at offset %d: it is signed for another last entry than the one that the file has", b.Offset)
	}
	return fmt.Sprintf("end, at offset %d: it is signed for %d entries, the file has %d: entries are missing at the end", b.Offset, b.Count, b.Entry)
}

// MaxBreaks is how many breaks are kept by default. All are counted.
const MaxBreaks = 100

// Options configures Verify.
type Options struct {
	// Workers is how many signatures are checked at a time. 0 means the number of cores that the process may use.
	Workers int
	// MaxBreaks is how many breaks are kept; 0 means [MaxBreaks].
	MaxBreaks int
	// Each is called for each entry, in the order of the file. bound means that there is no break before the entry or
	// in it: the signer signed that state for that tick of this session. The entry is valid during the call.
	Each func(e *Entry, bound bool)
}

// Chain is the result of verifying a chain.
type Chain struct {
	Header      Header
	Entries     uint64
	First, Last uint64 // ticks of the first and last entry in the file, if there are any

	// Gaps counts unbroken entries with skipped ticks before them. Skipped is the sum of the skipped ticks. FirstGap is
	// the tick of the first such entry.
	Gaps, Skipped, FirstGap uint64

	Breaks []Break // the first breaks, in the order of the file
	Broken uint64  // number of all breaks

	// Closed means that the chain has a signed end. Otherwise entries may be missing at the end, and Torn is where the
	// file breaks off, if it does.
	Closed bool
	Torn   *frame.Error

	// Count is the number of entries in a validly signed end. It is more than Entries if some are missing. Without such
	// an end it equals Entries.
	Count uint64
}

// Holds reports whether no break was found.
func (c *Chain) Holds() bool { return c.Broken == 0 }

// batchSize is the number of entries that a worker checks at a time.
const batchSize = 64

// batch is a run of entries on its way through a worker.
type batch struct {
	entries []Entry
	offsets []int64
	signed  []bool
	links   []merkle.Hash
	done    chan struct{}
}

func (b *batch) check(key Key) {
	for i := range b.entries {
		b.signed[i] = b.entries[i].Signed(key)
		b.links[i] = b.entries[i].Link()
	}
	b.done <- struct{}{}
}

// Verify reads a chain to its end and checks every signature and link. Its memory does not grow with the chain. The
// error reports a corrupt file that could not be read to its end, or comes from the underlying reader. The Chain then
// contains what was found before, and nothing about an end. A torn file is not an error.
func Verify(r *Reader, o Options) (*Chain, error) {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.MaxBreaks <= 0 {
		o.MaxBreaks = MaxBreaks
	}
	v := &verifier{Chain: Chain{Header: *r.Header()}, each: o.Each, max: o.MaxBreaks, last: r.Header().Genesis()}
	work := make(chan *batch)
	var workers sync.WaitGroup
	for range o.Workers {
		workers.Go(func() {
			for b := range work {
				b.check(v.Header.Key)
			}
		})
	}
	var queue, free []*batch
	collect := func() {
		b := queue[0]
		queue = queue[1:]
		<-b.done
		v.take(b)
		free = append(free, b)
	}
	var err error
	for err == nil {
		if len(free) == 0 {
			free = append(free, &batch{entries: make([]Entry, batchSize), offsets: make([]int64, batchSize), signed: make([]bool, batchSize), links: make([]merkle.Hash, batchSize), done: make(chan struct{}, 1)})
		}
		b := free[len(free)-1]
		free = free[:len(free)-1]
		b.entries, b.offsets = b.entries[:0], b.offsets[:0]
		for len(b.entries) < batchSize {
			var e Entry
			if e, err = r.Next(); err != nil {
				break
			}
			b.entries, b.offsets = append(b.entries, e), append(b.offsets, r.Offset())
		}
		work <- b
		queue = append(queue, b)
		if len(queue) > 2*o.Workers {
			collect()
		}
	}
	close(work)
	for len(queue) > 0 {
		collect()
	}
	workers.Wait()
	var torn *frame.Error
	if errors.As(err, &torn) && torn.Err == frame.ErrTorn {
		v.Torn, err = torn, nil
	}
	if err != nil && err != io.EOF {
		return &v.Chain, err
	}
	v.Count = v.Entries
	v.finish(r.End(), r.endOffset)
	return &v.Chain, nil
}

// verifier checks the entries of a chain in order.
type verifier struct {
	Chain
	each     func(*Entry, bool)
	max      int
	last     merkle.Hash // required previous hash of the next entry
	tampered bool        // the last entry was tampered with
}

func (v *verifier) found(b Break) {
	if v.Broken++; len(v.Breaks) < v.max {
		v.Breaks = append(v.Breaks, b)
	}
}

func (v *verifier) take(b *batch) {
	for i := range b.entries {
		e := &b.entries[i]
		v.entry(e, b.signed[i], b.offsets[i])
		v.last = b.links[i]
		if v.Entries == 0 {
			v.First = e.Tick
		}
		v.Last = e.Tick
		v.Entries++
		if v.each != nil {
			v.each(e, v.Broken == 0)
		}
	}
}

// entry checks the next entry.
func (v *verifier) entry(e *Entry, signed bool, offset int64) {
	b := Break{Entry: v.Entries, Offset: offset, Tick: e.Tick, Skipped: e.Skipped}
	if v.Entries > 0 {
		before := v.Last
		b.Before = &before
	}
	afterTampered := v.tampered
	v.tampered = !signed
	switch {
	case !signed:
		b.Kind = Tampered
	case afterTampered: // it is unknown which entry comes before
		return
	case e.Previous != v.last:
		b.Kind = Missing
	case b.Before == nil && e.Skipped != 0, b.Before != nil && (e.Tick <= *b.Before || e.Skipped != e.Tick-*b.Before-1):
		b.Kind = Contradiction
	default:
		if e.Skipped > 0 {
			if v.Gaps == 0 {
				v.FirstGap = e.Tick
			}
			v.Gaps++
			v.Skipped += e.Skipped
		}
		return
	}
	v.found(b)
}

// finish checks the end, which may be nil.
func (v *verifier) finish(end *End, offset int64) {
	if end == nil {
		return
	}
	v.Closed, v.Count = true, end.Count
	b := Break{End: true, Entry: v.Entries, Offset: offset, Count: end.Count}
	switch {
	case !end.Signed(v.Header.Key):
		b.Kind = EndTampered
		v.Count = v.Entries
	case end.Last == v.last && end.Count != v.Entries && v.Broken == 0:
		b.Kind = Contradiction // nothing is missing
	case end.Last != v.last && !(v.tampered && end.Count == v.Entries):
		b.Kind = MissingAtEnd
	default:
		return
	}
	v.found(b)
}
