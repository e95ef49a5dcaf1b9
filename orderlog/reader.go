package orderlog

import (
	"io"
	"os"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Record is one record after the header.
type Record struct {
	Kind   RecordKind // TickRecord or ObservedRecord
	Offset int64      // of its frame or first line, in bytes
	Epoch  uint32     // that it belongs to
	// Tick is nil unless Kind is TickRecord.
	Tick *Tick
	// Observed holds the hashes of an ObservedRecord. Those of a tick are in
	// Tick.Hashes.
	Observed []Observed

	// What follows is set by readers of text only. Line is the number of the
	// record's first line, from 1; Lines are those of Tick.Orders.
	Line  int64
	Lines []int64
	// HeadCut and TailCut say that the log, or the peer's part in the session,
	// began or ended inside this tick: orders before the first one or after the
	// last one may be lacking.
	HeadCut, TailCut bool
	// UnknownBefore and UnknownBehind say that lines of no known kind stand between
	// the last record and this one, and in this one or between it and the next:
	// orders of these ticks may be lacking.
	UnknownBefore, UnknownBehind bool
	// Back says that the log goes back to an earlier tick here without a word.
	Back bool
	// Claims are what the game found wrong in or after this tick, and before the
	// next record. A record may hold nothing else.
	Claims []Claim
}

// Reader reads an order log as a stream.
type Reader struct {
	frames *frame.Reader
	file   *os.File // of Open
	header Header
	dec    decoder
	ticks  succession
	tick   Tick
	hashes []Observed
	err    error // once reading has ended
}

// Open opens the log at path, which is what errors call it, and reads its
// header. The caller must Close it.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.file = f
	return r, nil
}

// NewReader reads the header of a log. The name is what errors call the log.
// A log that is malformed gives a [*frame.Error], here and in Next.
func NewReader(r io.Reader, name string) (*Reader, error) {
	frames, err := frame.NewReader(r, name, format)
	if err != nil {
		return nil, err
	}
	lr := &Reader{frames: frames}
	kind, payload, err := frames.Next()
	switch {
	case err == io.EOF:
		return nil, frames.Corrupt(0, "log without a header")
	case err != nil:
		return nil, err
	case RecordKind(kind) != HeaderRecord:
		return nil, frames.Corrupt(0, "log begins with %s, expected header", RecordKind(kind))
	}
	lr.dec.reset(payload)
	lr.dec.header(&lr.header)
	if lr.dec.err != nil {
		return nil, frames.Corrupt(lr.dec.errAt, "header: %v", lr.dec.err)
	}
	if err := lr.header.check(); err != nil {
		return nil, frames.Corrupt(0, "header: %v", err)
	}
	lr.ticks = lr.header.succession()
	return lr, nil
}

// Close closes the file of a Reader that Open returned.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}

// Header returns the log's header. The caller must not change what it refers to.
func (r *Reader) Header() Header { return r.header }

// Next returns the next record. The record and all bytes in it are valid until
// the next call, strings for good; [Tick.Clone] keeps a tick.
//
// It returns io.EOF at the end of a log that was closed. A [*frame.Error] that
// wraps frame.ErrTorn says that the log breaks off, one that wraps
// frame.ErrCorrupt that it is damaged; in both cases everything before has been
// delivered. Once it has returned an error it returns the same one again.
func (r *Reader) Next() (Record, error) {
	if r.err != nil {
		return Record{}, r.err
	}
	rec, err := r.next()
	if err != nil {
		r.err = err
		return Record{}, err
	}
	return rec, nil
}

func (r *Reader) next() (Record, error) {
	kind, payload, err := r.frames.Next()
	if err != nil {
		return Record{}, err
	}
	rec := Record{Kind: RecordKind(kind), Offset: r.frames.Offset()}
	r.dec.reset(payload)
	switch rec.Kind {
	case TickRecord:
		rec.Tick = &r.tick
		r.dec.tick(&r.tick)
		if r.dec.err == nil {
			err = r.tick.check(len(r.header.Kinds))
		}
		if r.dec.err == nil && err == nil {
			err = r.ticks.step(&r.tick)
		}
	case ObservedRecord:
		r.hashes = r.dec.observed(r.hashes)
		r.dec.finish()
		rec.Observed = r.hashes
		if r.dec.err == nil {
			err = checkObserved(r.hashes)
		}
	default:
		return Record{}, r.frames.Corrupt(0, "%s, expected tick or observed", rec.Kind)
	}
	if r.dec.err != nil {
		return Record{}, r.frames.Corrupt(r.dec.errAt, "%v", r.dec.err)
	}
	if err != nil {
		return Record{}, r.frames.Corrupt(0, "%v", err)
	}
	rec.Epoch = r.ticks.epoch
	return rec, nil
}
