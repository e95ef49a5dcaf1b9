package tracediff

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Kinds of frames are part of the binary format.
const (
	headerFrame      = 1
	namesFrame       = 2
	checkpointsFrame = 3
	eventFrame       = 4
)

// Lengths of the arrays of the binary format.
const (
	headerLen     = 5
	rateLen       = 2
	metaLen       = 2
	checkpointLen = 4 // 5 with a count
	sumLen        = 2
	eventLen      = 6
)

// maxBatch is the size in bytes at which a frame of checkpoints is written before its tick is over. All writers must
// use the same value to produce the same bytes.
const maxBatch = 1 << 20

// Writer writes a binary trace. Consecutive checkpoints of one tick are written in one Write call.
type Writer struct {
	frames  *frame.Writer
	ids     map[string]uint32
	fresh   []string // names that are not yet in the file
	tick    uint64
	batch   payload // encoded checkpoints of tick
	batched int
	body    *msgpack.Encoder // writes to batch
	out     payload
	enc     *msgpack.Encoder // writes to out
	buf     []byte
}

// payload is a buffer for a msgpack encoder; writing to it never fails.
type payload []byte

func (p *payload) Write(b []byte) (int, error) { *p = append(*p, b...); return len(b), nil }
func (p *payload) WriteByte(c byte) error      { *p = append(*p, c); return nil }

// NewWriter starts a binary trace on w with header h.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	frames, err := frame.NewWriter(w, format, frame.WriterOptions{})
	if err != nil {
		return nil, err
	}
	tw := &Writer{frames: frames, ids: map[string]uint32{"": 0}}
	tw.enc = msgpack.NewEncoder(&tw.out)
	tw.body = msgpack.NewEncoder(&tw.batch)
	// Encoding to a payload cannot fail.
	e := tw.enc
	_ = e.EncodeArrayLen(headerLen)
	if h.HasSeed {
		_ = e.EncodeArrayLen(1)
		_ = e.EncodeUint(h.Seed)
	} else {
		_ = e.EncodeArrayLen(0)
	}
	_ = e.EncodeString(h.Peer)
	_ = e.EncodeString(h.Build)
	_ = e.EncodeArrayLen(rateLen)
	_ = e.EncodeUint(uint64(h.RateNum))
	_ = e.EncodeUint(uint64(h.RateDen))
	_ = e.EncodeArrayLen(len(h.Meta))
	for _, key := range slices.Sorted(maps.Keys(h.Meta)) {
		_ = e.EncodeArrayLen(metaLen)
		_ = e.EncodeString(key)
		_ = e.EncodeString(h.Meta[key])
	}
	return tw, tw.frame(headerFrame)
}

// WriteCheckpoint appends a checkpoint. It ignores the occurrence.
func (w *Writer) WriteCheckpoint(c *Checkpoint) error {
	if err := c.check(); err != nil {
		return err
	}
	if len(w.ids)+2+len(c.Sums) > maxNames {
		return fmt.Errorf("more than %d names", maxNames)
	}
	if w.batched > 0 && (c.Tick != w.tick || len(w.batch) >= maxBatch) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.tick = c.Tick
	w.batched++
	e := w.body
	length := checkpointLen
	if c.HasCount {
		length++
	}
	_ = e.EncodeArrayLen(length)
	_ = e.EncodeUint(uint64(w.id(c.System)))
	_ = e.EncodeUint(uint64(w.id(c.Scope)))
	_ = e.EncodeUint(uint64(c.Phase))
	w.sums(e, c.Sums)
	if c.HasCount {
		_ = e.EncodeUint(c.Count)
	}
	return nil
}

// WriteEvent appends a rollback event.
func (w *Writer) WriteEvent(v *Event) error {
	if err := v.check(); err != nil {
		return err
	}
	if err := w.flush(); err != nil {
		return err
	}
	for _, s := range v.Sums {
		w.id(s.Name)
	}
	if err := w.names(); err != nil {
		return err
	}
	e := w.enc
	_ = e.EncodeArrayLen(eventLen)
	_ = e.EncodeUint(uint64(v.Kind))
	_ = e.EncodeUint(v.Tick)
	_ = e.EncodeUint(v.Other)
	_ = e.EncodeUint(uint64(v.Player))
	_ = e.EncodeUint(uint64(v.Phase))
	w.sums(e, v.Sums)
	return w.frame(eventFrame)
}

// Flush writes the buffered checkpoints, which wait because more of their tick may follow. A game calls it at the end
// of each tick. Once it has returned, they survive a crash of the game, even kill -9.
func (w *Writer) Flush() error { return w.flush() }

// Sync flushes, and writes everything to the disk with the underlying writer's Sync method. Data written before it
// returned survives a loss of power. If the underlying writer has no such method, the error is errors.ErrUnsupported.
func (w *Writer) Sync() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.frames.Sync()
}

// Close flushes and writes the end marker. It does not close the underlying
// writer.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.frames.Close()
}

func (w *Writer) id(name string) uint32 {
	id, ok := w.ids[name]
	if !ok {
		id = uint32(len(w.ids))
		w.ids[name] = id
		w.fresh = append(w.fresh, name)
	}
	return id
}

func (w *Writer) sums(e *msgpack.Encoder, sums []Sum) {
	_ = e.EncodeArrayLen(len(sums))
	for _, s := range sums {
		_ = e.EncodeArrayLen(sumLen)
		_ = e.EncodeUint(uint64(w.id(s.Name)))
		if b, ok := s.Bytes(w.buf[:0]); ok {
			w.buf = b
			_ = e.EncodeBytes(b)
		} else {
			_ = e.EncodeString(string(s.Value))
		}
	}
}

// flush writes the batch.
func (w *Writer) flush() error {
	if w.batched == 0 {
		return nil
	}
	if err := w.names(); err != nil {
		return err
	}
	_ = w.enc.EncodeArrayLen(2)
	_ = w.enc.EncodeUint(w.tick)
	_ = w.enc.EncodeArrayLen(w.batched)
	w.out = append(w.out, w.batch...)
	w.batch, w.batched = w.batch[:0], 0
	return w.frame(checkpointsFrame)
}

// names writes the new names.
func (w *Writer) names() error {
	if len(w.fresh) == 0 {
		return nil
	}
	_ = w.enc.EncodeArrayLen(len(w.fresh))
	for _, name := range w.fresh {
		_ = w.enc.EncodeString(name)
	}
	w.fresh = w.fresh[:0]
	return w.frame(namesFrame)
}

func (w *Writer) frame(kind uint32) error {
	err := w.frames.WriteFrame(kind, w.out)
	w.out = w.out[:0]
	return err
}

// TextWriter writes a trace as lines of key=value pairs.
type TextWriter struct {
	w   io.Writer
	buf []byte
	err error
}

// NewTextWriter starts a text on w with header h.
func NewTextWriter(w io.Writer, h Header) (*TextWriter, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	t := &TextWriter{w: w}
	b := append(t.buf, textBegin+"\n"...)
	if h.HasSeed {
		b = fmt.Appendf(b, "%%seed %d\n", h.Seed)
	}
	if h.Peer != "" {
		b = append(strconv.AppendQuote(append(b, "%peer "...), h.Peer), '\n')
	}
	if h.Build != "" {
		b = append(strconv.AppendQuote(append(b, "%build "...), h.Build), '\n')
	}
	if h.RateDen != 0 {
		b = fmt.Appendf(b, "%%rate %d/%d\n", h.RateNum, h.RateDen)
	}
	for _, key := range slices.Sorted(maps.Keys(h.Meta)) {
		b = strconv.AppendQuote(append(b, "%meta "...), key)
		b = append(strconv.AppendQuote(append(b, ' '), h.Meta[key]), '\n')
	}
	t.buf = b
	return t, nil
}

// WriteCheckpoint appends a checkpoint. It ignores the occurrence.
func (t *TextWriter) WriteCheckpoint(c *Checkpoint) error {
	if err := c.check(); err != nil {
		return err
	}
	return t.record(&Record{Checkpoint: c})
}

// WriteEvent appends a rollback event.
func (t *TextWriter) WriteEvent(e *Event) error {
	if err := e.check(); err != nil {
		return err
	}
	return t.record(&Record{Event: e})
}

func (t *TextWriter) record(r *Record) error {
	t.buf = append(appendPairs(t.buf, r), '\n')
	if r.Checkpoint != nil {
		for _, d := range r.Checkpoint.Detail {
			t.buf = append(appendDetail(append(t.buf, "#   "...), d), '\n')
		}
	}
	if len(t.buf) < 64<<10 {
		return t.err
	}
	return t.Flush()
}

// Flush writes the buffered data.
func (t *TextWriter) Flush() error {
	if t.err == nil {
		_, t.err = t.w.Write(t.buf)
		t.buf = t.buf[:0]
	}
	return t.err
}

// Close writes the last line and all buffered data. It does not close the underlying writer.
func (t *TextWriter) Close() error { return t.close(textEnd) }

func (t *TextWriter) close(last string) error {
	t.buf = append(append(t.buf, last...), '\n')
	if err := t.Flush(); err != nil {
		return err
	}
	t.err = errors.New("write after the end of a trace")
	return nil
}

// WriteText writes the text twin of the rest of r. Details of an engine's checkpoints follow the checkpoints in lines
// that readers skip. If the trace is torn or corrupt, the text ends with a line that reports it. WriteText then returns
// the error of r.
func WriteText(w io.Writer, r *Reader) error {
	t, err := NewTextWriter(w, r.Header())
	if err != nil {
		return err
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return t.finish(err)
		}
		if err := t.record(rec); err != nil {
			return err
		}
	}
}

// finish writes the last line, which shows how reading ended.
func (t *TextWriter) finish(end error) error {
	last := textEnd
	var malformed *frame.Error
	switch {
	case end == io.EOF:
		return t.Close()
	case errors.Is(end, frame.ErrTorn) && errors.As(end, &malformed):
		last = fmt.Sprintf("%s offset %d lost %d %q", textTorn, malformed.Offset, malformed.Lost, malformed.Msg)
	case errors.As(end, &malformed):
		last = fmt.Sprintf("%s offset %d %q", textCorrupt, malformed.Offset, malformed.Msg)
	default:
		return end
	}
	if err := t.close(last); err != nil {
		return err
	}
	return end
}

// ParseText reads the text twin of a trace from r and writes the trace to w. The text of a closed trace gives the same
// trace, byte for byte, if a Writer wrote the trace. The text of a torn or corrupt trace gives a trace without end
// marker.
func ParseText(w io.Writer, r io.Reader, name string) error {
	in, err := NewReader(r, name, ReadOptions{})
	if err != nil {
		return err
	}
	if in.grammar.kind != Pairs {
		return fmt.Errorf("%s: %s, expected lines of key=value pairs", name, in.grammar.kind)
	}
	out, err := NewWriter(w, in.Header())
	if err != nil {
		return err
	}
	for {
		rec, err := in.Next()
		switch {
		case err == io.EOF && in.text.trouble != "":
			return out.flush()
		case err == io.EOF:
			return out.Close()
		case err != nil:
			return err
		case rec.Event != nil:
			err = out.WriteEvent(rec.Event)
		default:
			err = out.WriteCheckpoint(rec.Checkpoint)
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", name, rec.Pos, err)
		}
	}
}
