package signatures

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// WriterOptions changes how a Writer writes.
type WriterOptions struct {
	// Sync flushes every entry to the disk if the underlying writer can, so
	// that a crash of the whole machine loses one at most.
	Sync bool
}

// Writer writes a chain, each entry in a single Write call, so that a crash of
// the game costs none that was written.
type Writer struct {
	frames *frame.Writer
	key    ed25519.PrivateKey
	last   merkle.Hash
	tick   uint64 // of the last entry, if there is one
	count  uint64
	buf    []byte
}

// NewWriter begins a chain on w that key signs. The header's Key is taken from
// key.
func NewWriter(w io.Writer, h Header, key ed25519.PrivateKey, opts WriterOptions) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	h.Key = Public(key)
	frames, err := frame.NewWriter(w, format, frame.WriterOptions{Sync: opts.Sync})
	if err != nil {
		return nil, err
	}
	cw := &Writer{frames: frames, key: key, last: h.Genesis()}
	return cw, frames.WriteFrame(headerFrame, h.append(nil))
}

// Public returns the public key of a secret one.
func Public(key ed25519.PrivateKey) Key { return Key(key.Public().(ed25519.PublicKey)) }

// Sign appends the state hash, in full, of the state point tick. It refuses a
// tick that does not ascend; ticks left out since the last one are counted as
// skipped.
func (w *Writer) Sign(tick uint64, state merkle.Hash) error {
	e := Entry{Previous: w.last, Tick: tick, State: state}
	if w.count > 0 {
		if tick <= w.tick {
			return fmt.Errorf("tick %d after tick %d: ticks must ascend; a session that goes back begins a new chain", tick, w.tick)
		}
		e.Skipped = tick - w.tick - 1
	}
	w.buf = e.AppendMessage(w.buf[:0])
	e.Signature = Signature(ed25519.Sign(w.key, w.buf))
	w.buf = e.Append(w.buf[:0])
	if err := w.frames.WriteFrame(entryFrame, w.buf); err != nil {
		return err
	}
	w.last, w.tick = e.Link(), tick
	w.count++
	return nil
}

// Close signs the end and writes it, and the end marker. It does not close the
// underlying writer.
func (w *Writer) Close() error {
	e := End{Last: w.last, Count: w.count}
	w.buf = e.AppendMessage(w.buf[:0])
	e.Signature = Signature(ed25519.Sign(w.key, w.buf))
	w.buf = e.Append(w.buf[:0])
	if err := w.frames.WriteFrame(endFrame, w.buf); err != nil {
		return err
	}
	return w.frames.Close()
}

// File is what a chain is continued in; an [*os.File] that is open for reading
// and writing is one.
type File interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// Continue goes on with a chain that a crash has interrupted. What follows the
// last whole entry is cut off. The name is what errors call the file.
//
// It is an error if the chain was closed, is corrupt, is not by key, or is not
// whole up to its last entry: of what was signed with this key since its
// beginning, nothing may be gone or changed, which the signature of the last entry
// shows together with the hashes that lead to it. The file is then left as it is.
func Continue(f File, name string, key ed25519.PrivateKey, opts WriterOptions) (*Writer, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, err := NewReader(f, name)
	if err != nil {
		return nil, err
	}
	if r.header.Key != Public(key) {
		return nil, fmt.Errorf("%s: the chain is by key %s, not by %s", name, r.header.Key, Public(key))
	}
	w := &Writer{key: key, last: r.header.Genesis()}
	var last Entry
	var torn *frame.Error
	for {
		e, err := r.Next()
		if err == io.EOF || r.end != nil {
			return nil, fmt.Errorf("%s: the chain was closed after %d entries; what follows begins a new one", name, w.count)
		}
		if errors.As(err, &torn) && torn.Err == frame.ErrTorn {
			break
		} else if err != nil {
			return nil, err
		}
		if e.Previous != w.last || w.count > 0 && (e.Tick <= w.tick || e.Skipped != e.Tick-w.tick-1) {
			return nil, fmt.Errorf("%s: entry %d, tick %d, does not follow the one before", name, w.count, e.Tick)
		}
		last, w.last, w.tick = e, e.Link(), e.Tick
		w.count++
	}
	if w.count > 0 && !last.Signed(r.header.Key) {
		return nil, fmt.Errorf("%s: entry %d, tick %d, has a signature that is not valid", name, w.count-1, last.Tick)
	}
	if err := f.Truncate(torn.Offset); err != nil {
		return nil, err
	}
	if _, err := f.Seek(torn.Offset, io.SeekStart); err != nil {
		return nil, err
	}
	w.frames = frame.ContinueWriter(f, format, w.count+1, frame.WriterOptions{Sync: opts.Sync})
	return w, nil
}
