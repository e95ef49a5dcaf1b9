package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// WriterOptions configures a Writer.
type WriterOptions struct {
	// Sync calls the underlying writer's Sync method, if it has one, after every frame. A crash of the whole machine
	// then loses at most one frame.
	Sync bool
}

// Writer writes one file, each frame in a single Write call.
type Writer struct {
	w      io.Writer
	sync   func() error // nil unless requested
	max    uint64
	frames uint64
	buf    []byte
	err    error // of the first failed write; a frame after an incomplete frame is lost
	closed bool
}

// NewWriter writes the preamble of f to w.
func NewWriter(w io.Writer, f Format, opts WriterOptions) (*Writer, error) {
	if len(f.Magic) != magicSize || f.Version == 0 {
		panic("frame: a format needs a magic of 8 bytes and a version")
	}
	fw := ContinueWriter(w, f, 0, opts)
	fw.buf = append(fw.buf, f.Magic...)
	fw.buf = binary.LittleEndian.AppendUint16(fw.buf, f.Version)
	fw.buf = binary.LittleEndian.AppendUint16(fw.buf, 0)
	fw.buf = binary.LittleEndian.AppendUint32(fw.buf, checksum(fw.buf))
	return fw, fw.flush()
}

// ContinueWriter returns a Writer that continues after a preamble and frames complete frames in w. It writes nothing
// itself.
func ContinueWriter(w io.Writer, f Format, frames uint64, opts WriterOptions) *Writer {
	fw := &Writer{w: w, max: f.maxPayload(), frames: frames}
	if s, ok := w.(interface{ Sync() error }); ok && opts.Sync {
		fw.sync = s.Sync
	}
	return fw
}

// WriteFrame writes one frame. If the kind is EndKind or the payload is longer than the format allows, it refuses the
// frame and writes nothing. After a failed write every call returns the same error.
func (w *Writer) WriteFrame(kind uint32, payload []byte) error {
	if w.err != nil {
		return w.err
	}
	if kind == EndKind {
		return fmt.Errorf("frame kind %#x is reserved for the end marker", kind)
	}
	if uint64(len(payload)) > w.max {
		return fmt.Errorf("payload of %d bytes, limit is %d", len(payload), w.max)
	}
	if err := w.write(kind, payload); err != nil {
		return err
	}
	w.frames++
	return nil
}

// Sync writes all frames to the disk with the underlying writer's Sync method. If there is none, the error is
// errors.ErrUnsupported.
func (w *Writer) Sync() error {
	s, ok := w.w.(interface{ Sync() error })
	switch {
	case !ok:
		return errors.ErrUnsupported
	case w.err != nil && !w.closed:
		return w.err
	}
	return s.Sync()
}

// Close writes the end marker. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	var count [8]byte
	binary.LittleEndian.PutUint64(count[:], w.frames)
	if err := w.write(EndKind, count[:]); err != nil {
		return err
	}
	w.err, w.closed = fmt.Errorf("write after the end marker"), true
	return nil
}

func (w *Writer) write(kind uint32, payload []byte) error {
	w.buf = binary.LittleEndian.AppendUint32(w.buf[:0], uint32(len(payload)))
	w.buf = binary.LittleEndian.AppendUint32(w.buf, kind)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, checksum(payload))
	w.buf = binary.LittleEndian.AppendUint32(w.buf, checksum(w.buf))
	w.buf = append(w.buf, payload...)
	return w.flush()
}

func (w *Writer) flush() error {
	_, w.err = w.w.Write(w.buf)
	if w.err == nil && w.sync != nil {
		w.err = w.sync()
	}
	return w.err
}
