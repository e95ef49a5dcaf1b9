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
	Epoch  uint32     // epoch of the record
	// Tick is nil unless Kind is TickRecord.
	Tick *Tick
	// Observed contains the hashes of an ObservedRecord. A tick's hashes are in Tick.Hashes.
	Observed []Observed

	// The fields below are set only by readers of text. Line is the number of the record's first line, from 1. Lines
	// are the lines of Tick.Orders.
	Line  int64
	Lines []int64
	// HeadCut and TailCut mean that the log, or the peer's part in the session, began or ended inside this tick. Orders
	// before the first one or after the last one may be missing.
	HeadCut, TailCut bool
	// UnknownBefore means that there are lines of unknown kinds between the last record and this one. UnknownBehind
	// means that there are such lines in this record, or between it and the next. Orders of these ticks may be missing.
	UnknownBefore, UnknownBehind bool
	// Back means that the log goes back to an earlier tick here without a marker.
	Back bool
	// Claims are errors that the game reported in or after this tick and before the next record. A record may contain
	// nothing but claims.
	Claims []Claim
}

// Reader reads an order log as a stream.
type Reader struct {
	frames *frame.Reader
	file   *os.File // opened by Open
	header Header
	dec    decoder
	ticks  succession
	tick   Tick
	hashes []Observed
	err    error // set when reading has ended
}

// Open opens the log at path and reads its header. Errors contain the path. The caller must Close the Reader.
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

// NewReader reads the header of a log. Errors contain name. A malformed log gives a [*frame.Error], here and in Next.
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

// Header returns the log's header. The caller must not change the data that it points to.
func (r *Reader) Header() Header { return r.header }

// Next returns the next record. The record and its byte slices are valid until the next call; strings stay valid.
// [Tick.Clone] copies a tick.
//
// It returns io.EOF at the end of a log that was closed. A [*frame.Error] that wraps frame.ErrTorn means that the log
// breaks off; one that wraps frame.ErrCorrupt means that it is damaged. In both cases Next has returned all records
// before that place. After an error, every call returns the same error.
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
