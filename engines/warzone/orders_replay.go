package warzone

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Magic is the beginning of a recording.
const Magic = "WZrp"

// Limits in bytes of parts of a recording.
const (
	MaxSettings = 8 << 20
	MaxPayload  = 1 << 20
	maxFooter   = 64 << 10
)

const formatVersion = 2

// IsReplay reports whether head, the leading bytes of a file, belong to a recording.
func IsReplay(head []byte) bool { return len(head) >= len(Magic) && string(head[:len(Magic)]) == Magic }

// Replay reads a recording message by message.
type Replay struct {
	in       *input
	settings *Settings
	message  Message
	elapsed  uint64
	end      MessageType
	ended    bool
	err      error // once reading has ended
}

// NewReplay reads the part before the messages. Errors have the name for the file. An empty file, as it is while the
// game runs, is torn.
func NewReplay(r io.Reader, name string) (*Replay, error) {
	rr := &Replay{in: newInput(r, name)}
	if err := rr.open(); err != nil {
		return nil, err
	}
	return rr, nil
}

func (r *Replay) open() error {
	in := r.in
	head := in.peek(len(Magic) + 4)
	switch {
	case len(head) == 0:
		return in.short(0, "empty file: the game writes its recording when it ends")
	case !IsReplay(head):
		return in.unrecognized("file begins with %q, expected %q of a recording of Warzone 2100", head[:min(len(head), len(Magic))], Magic)
	case len(head) < len(Magic)+4:
		return in.short(0, "the file ends inside the header")
	}
	n := binary.BigEndian.Uint32(head[len(Magic):])
	if n > MaxSettings {
		return in.corrupt(int64(len(Magic)), "header of %d bytes, expected %d at most", n, MaxSettings)
	}
	in.take(len(head))
	text := in.peek(int(n))
	if len(text) < int(n) {
		return in.short(0, "the file ends inside the header of %d bytes", n)
	}
	settings, err := parseSettings(append([]byte(nil), text...))
	if err != nil {
		return in.corrupt(in.offset(), "header: %v", err)
	}
	if settings.Format != formatVersion {
		return &frame.Error{
			Name: in.name, Offset: in.offset(), Err: frame.ErrVersion,
			Msg: fmt.Sprintf("recording of format %d, expected %d", settings.Format, formatVersion),
		}
	}
	r.settings = settings
	in.take(len(text))
	at := in.offset()
	embedded := in.peek(8)
	if len(embedded) < 8 {
		return in.short(at, "the file ends before the messages")
	}
	size := binary.BigEndian.Uint32(embedded[4:])
	in.take(8)
	if !in.skip(int64(size)) {
		return in.short(at, "the file ends inside the embedded data of %d bytes", size)
	}
	return nil
}

// Settings returns the recording's facts about its game. They must not be changed.
func (r *Replay) Settings() *Settings { return r.settings }

// Elapsed returns how long the game lasted in game time, from the end of the recording. It is known once Next has
// returned io.EOF.
func (r *Replay) Elapsed() (milliseconds uint64, ok bool) { return r.elapsed, r.ended }

// End returns the type of the end marker, which differs in newer versions. It is known once Next has returned io.EOF.
func (r *Replay) End() (t MessageType, ok bool) { return r.end, r.ended }

// Next returns the next message, which is valid until the next call. It returns
// io.EOF at the end, and a [*frame.Error] if the recording is torn or corrupt.
// Once it has returned an error it returns the same one again.
func (r *Replay) Next() (*Message, error) {
	if r.err == nil {
		r.err = r.next()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.message, nil
}

func (r *Replay) next() error {
	in := r.in
	at := in.offset()
	head := in.peek(2 + maxVarint)
	if len(head) == 0 {
		return in.short(at, "no end marker")
	}
	if len(head) < 3 {
		return in.short(at, "the file ends inside a message")
	}
	t := MessageType(head[1])
	length, n := varint(head[2:])
	switch {
	case t == endType || t == newEnd:
		if n != 1 || length != 0 {
			return in.corrupt(at, "end marker with a payload")
		}
		in.take(3)
		r.end = t
		return r.footer()
	case t < firstType || t > lastType:
		return in.corrupt(at, "message of type %d, expected %d to %d", t, firstType, endType)
	case n == 0:
		return in.short(at, "the file ends inside a message")
	case n < 0 || length > MaxPayload:
		return in.corrupt(at, "length of a message is above %d bytes", MaxPayload)
	}
	whole := in.peek(2 + n + int(length))
	if len(whole) < 2+n+int(length) {
		return in.short(at, "the file ends inside a message of %d bytes", length)
	}
	r.message = Message{Queue: whole[0], Type: t, Payload: whole[2+n:], Offset: at}
	in.take(len(whole))
	return nil
}

// footer reads what follows the end marker.
func (r *Replay) footer() error {
	in := r.in
	at := in.offset()
	size := in.peek(4)
	if len(size) < 4 {
		return in.short(at, "the file ends inside the footer")
	}
	n := binary.BigEndian.Uint32(size)
	if n > maxFooter {
		return in.corrupt(at, "footer of %d bytes, expected %d at most", n, maxFooter)
	}
	all := in.peek(8 + int(n) + 1)
	switch {
	case len(all) < 8+int(n):
		return in.short(at, "the file ends inside the footer")
	case len(all) > 8+int(n):
		return in.corrupt(at+8+int64(n), "bytes after the footer")
	}
	if again := binary.BigEndian.Uint32(all[4+n:]); again != n {
		return in.corrupt(at+4+int64(n), "footer's lengths are %d and %d", n, again)
	}
	var footer struct {
		Elapsed uint64 `json:"gameTimeElapsed"`
	}
	if err := json.Unmarshal(all[4:4+n], &footer); err != nil {
		return in.corrupt(at+4, "footer: %v", err)
	}
	if in.err != io.EOF && !errors.Is(in.err, io.ErrUnexpectedEOF) {
		return in.short(at, "")
	}
	r.elapsed, r.ended = footer.Elapsed, true
	return io.EOF
}
