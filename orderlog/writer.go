package orderlog

import (
	"errors"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// WriterOptions configures a Writer.
type WriterOptions struct {
	// Sync flushes every record to the disk if the underlying writer can. A crash of the whole machine then loses at
	// most one record.
	Sync bool
}

// Writer writes an order log, each record in a single Write call. Once WriteTick or WriteObserved has returned, the
// record survives a crash of the game, even kill -9. Sync protects against a crash of the machine.
type Writer struct {
	frames *frame.Writer
	enc    *encoder
	kinds  int
	ticks  succession
}

// NewWriter starts a log on w with header h.
func NewWriter(w io.Writer, h Header, opts WriterOptions) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	frames, err := frame.NewWriter(w, format, frame.WriterOptions{Sync: opts.Sync})
	if err != nil {
		return nil, err
	}
	lw := &Writer{frames: frames, enc: newEncoder(), kinds: len(h.Kinds), ticks: h.succession()}
	lw.enc.header(&h)
	return lw, lw.flush(HeaderRecord)
}

// WriteTick appends one tick. It refuses a tick that a Reader would call corrupt: one that does not ascend, or has a
// value out of range. It does not check the orders' sequence or the input hash.
func (w *Writer) WriteTick(t *Tick) error {
	if err := t.check(w.kinds); err != nil {
		return err
	}
	if err := w.ticks.step(t); err != nil {
		return err
	}
	w.enc.tick(t)
	return w.flush(TickRecord)
}

// WriteObserved appends hashes that belong to no tick: hashes of the last state point, or hashes that arrive late.
// There must be at least one.
func (w *Writer) WriteObserved(hashes []Observed) error {
	if err := checkObserved(hashes); err != nil {
		return err
	}
	w.enc.observed(hashes)
	return w.flush(ObservedRecord)
}

// Sync writes all records to the disk with the underlying writer's Sync method. Data written before it returned
// survives a loss of power. If the underlying writer has no such method, the error is errors.ErrUnsupported.
func (w *Writer) Sync() error { return w.frames.Sync() }

// Close writes the end marker. It does not close the underlying writer.
func (w *Writer) Close() error { return w.frames.Close() }

func (w *Writer) flush(kind RecordKind) error {
	err := w.frames.WriteFrame(uint32(kind), w.enc.out)
	w.enc.out = w.enc.out[:0]
	return err
}

func checkObserved(hashes []Observed) error {
	if len(hashes) == 0 {
		return errors.New("no hashes in an observed record")
	}
	for i := range hashes {
		if err := hashes[i].check(); err != nil {
			return err
		}
	}
	return nil
}
