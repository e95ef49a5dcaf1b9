package signatures

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// WriterOptions configures a Writer.
type WriterOptions struct {
	// Sync flushes every entry to the disk if the underlying writer can. A crash of the whole machine then loses at
	// most one entry.
	Sync bool
}

// Writer writes a chain, each entry in a single Write call. A crash of the game loses no entry that was written.
type Writer struct {
	frames *frame.Writer
	key    ed25519.PrivateKey
	last   merkle.Hash
	tick   uint64 // tick of the last entry, if there is one
	count  uint64
	buf    []byte
}

// NewWriter starts a chain on w that key signs. It sets the header's Key from key.
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

// Public returns the public key of a private key.
func Public(key ed25519.PrivateKey) Key { return Key(key.Public().(ed25519.PublicKey)) }

// Sign appends the full state hash of the state point tick. It refuses a tick that does not ascend. Ticks between the
// last signed tick and this one are counted as skipped.
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

// Close writes the signed end and the end marker. It does not close the underlying writer.
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

// File is the file of a chain to continue, for example an [*os.File] that is open for reading and writing.
type File interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// Continue continues a chain that a crash interrupted. It cuts off the bytes after the last whole entry. Errors contain
// name.
//
// It is an error if the chain was closed, is corrupt, was signed with another key, or is not intact up to its last
// entry. Nothing that was signed with this key since the chain's start may be missing or changed; the last entry's
// signature and the hashes that lead to it show this. On error the file is not changed.
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
			return nil, fmt.Errorf("%s: the chain was closed after %d entries; the next entries begin a new one", name, w.count)
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
