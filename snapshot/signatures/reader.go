package signatures

import (
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Reader reads a chain from a stream, entry by entry, and checks only its framing. [Verify] checks its content.
type Reader struct {
	frames    *frame.Reader
	header    Header
	end       *End
	endOffset int64 // of the end's frame
	err       error // set when reading has ended
}

// NewReader reads the preamble and the header from r. Errors contain name. They are [*frame.Error], or errors of the
// underlying reader.
func NewReader(r io.Reader, name string) (*Reader, error) {
	frames, err := frame.NewReader(r, name, format)
	if err != nil {
		return nil, err
	}
	kind, payload, err := frames.Next()
	if err == io.EOF {
		return nil, frames.Corrupt(0, "no header")
	} else if err != nil {
		return nil, err
	}
	if kind != headerFrame {
		return nil, frames.Corrupt(-16, "first frame has kind %d, expected the header, %d", kind, headerFrame)
	}
	h, err := parseHeader(payload)
	if err != nil {
		return nil, frames.Corrupt(0, "header: %s", err)
	}
	return &Reader{frames: frames, header: h}, nil
}

// Header returns the header.
func (r *Reader) Header() *Header { return &r.header }

// Offset returns the byte offset of the entry that Next returned last, or of the end.
func (r *Reader) Offset() int64 { return r.frames.Offset() }

// End returns the signed end. It is nil if there is none or Next has not reached it.
func (r *Reader) End() *End { return r.end }

// Next returns the next entry. It returns io.EOF after the end marker, a [*frame.Error] if the file is torn or corrupt,
// and any error of the underlying reader. After an error it returns the same error again.
func (r *Reader) Next() (e Entry, err error) {
	if r.err == nil {
		e, r.err = r.next()
	}
	return e, r.err
}

func (r *Reader) next() (Entry, error) {
	for {
		kind, payload, err := r.frames.Next()
		if err != nil {
			return Entry{}, err
		}
		switch {
		case r.end != nil:
			return Entry{}, r.frames.Corrupt(-16, "frame of kind %d after the end of the chain", kind)
		case kind == entryFrame && len(payload) == entrySize:
			return parseEntry(payload), nil
		case kind == entryFrame:
			return Entry{}, r.frames.Corrupt(-16, "entry of %d bytes, expected %d", len(payload), entrySize)
		case kind == endFrame && len(payload) == endSize:
			end := parseEnd(payload)
			r.end, r.endOffset = &end, r.frames.Offset()
		case kind == endFrame:
			return Entry{}, r.frames.Corrupt(-16, "end of %d bytes, expected %d", len(payload), endSize)
		case kind == headerFrame:
			return Entry{}, r.frames.Corrupt(-16, "second header")
		default:
			return Entry{}, r.frames.Corrupt(-16, "frame of unknown kind %d", kind)
		}
	}
}
