package widelands

import (
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Block is the number of bytes by which a .wss grows while the game runs.
const Block = 4096

const (
	window = 256 << 10 // bytes that are held of a stream
	slack  = 16        // bytes after them, so that a payload is always 8 bytes

	// longest is how many bytes are enough to read any entry, with the untagged serial and the bytes that may precede
	// it.
	longest = 16

	// maxSupplies is more than any economy has idle at a time.
	maxSupplies = 1 << 16
	maxHeadText = 1 << 10 // bytes of a version or build

	// sniffLen is how many leading bytes of a file decide what it is.
	sniffLen = 4096
	// sureEntries is how many entries in a row make a stream.
	sureEntries = 4
)

// Entry is one entry of a sync stream.
type Entry struct {
	Kind   Kind
	Offset int64 // of its first byte
	Index  int64 // number of entries before it in the file

	// Clock is the due time in ms of the last RunQueue up to this entry, or the highest before if that is higher: the
	// game's time never goes back. Timed reports whether there was one.
	Clock uint32
	Timed bool
	// Command is the command that the last RunQueue ran; see CommandName.
	Command uint8

	payload uint64
}

// Value returns field i, from 0 to below Kind.NumFields.
func (e *Entry) Value(i int) int64 {
	f := &layouts[e.Kind].fields[i]
	v := e.payload >> f.shift
	if f.signed {
		return int64(v<<(64-f.bits)) >> (64 - f.bits)
	}
	return int64(v & (1<<f.bits - 1))
}

// Text returns the meaning of field i, "11 critter", or "" if it is just a number.
func (e *Entry) Text(i int) string {
	f := &layouts[e.Kind].fields[i]
	if f.text == nil {
		return ""
	}
	return f.text(e.Value(i))
}

// Excerpt is the header of a .wse.
type Excerpt struct {
	Version string // "1.1"
	Build   string // "Release"
	// Player is the host's number, from 0, of the client that it found to have
	// desynced; -1 in the excerpt of a client.
	Player int32
}

// Stream reads a sync stream, of a .wss or .wse.
type Stream struct {
	name    string
	r       io.Reader
	excerpt *Excerpt

	buf      []byte // with slack after its capacity
	pos, end int    // the part that has not been read
	keep     int    // from where on bytes stay in buf, if that is before pos; below 0 if nowhere
	base     int64  // offset of buf[0]
	eof      bool
	failed   error // of r, which is returned after what was read before

	entry    Entry
	next     int64  // index of the next entry
	supplies uint32 // entries without a tag that come next
	launches bool   // the command that a StartTransfer sends is yet to come
	last     Kind

	sum    hash.Hash // of the bytes that were read, if not nil
	summed int       // up to where in buf sum has it

	err error
}

// NewStream begins to read a .wss or .wse. Errors have the name for the file. A file that is neither gives a
// *frame.Error that wraps frame.ErrUnrecognized.
func NewStream(r io.Reader, name string) (*Stream, error) {
	s := &Stream{name: name, r: r, buf: make([]byte, window+slack), keep: -1}
	for s.end < sniffLen && !s.eof {
		s.fill()
	}
	if s.failed != nil {
		return nil, s.failed
	}
	head := s.buf[:min(s.end, sniffLen)]
	excerpt, n := parseExcerpt(head)
	switch {
	case excerpt != nil:
		s.excerpt, s.pos = excerpt, n
	case !isStream(head):
		return nil, &frame.Error{Name: name, Err: frame.ErrUnrecognized, Msg: "no sync stream of Widelands: its first entries are not of known kinds with a RunQueue among them"}
	}
	return s, nil
}

// IsStream reports whether head, the leading bytes of a file, belong to a sync stream or an excerpt of one.
func IsStream(head []byte) bool {
	head = head[:min(len(head), sniffLen)]
	excerpt, _ := parseExcerpt(head)
	return excerpt != nil || isStream(head)
}

// isStream reports whether there are entries of known kinds at the start, including a command that is run.
func isStream(head []byte) bool {
	s := &Stream{buf: append(append(make([]byte, 0, len(head)+slack), head...), make([]byte, slack)...), end: len(head), eof: true, keep: -1}
	n, ran := 0, false
	for !ran || n < sureEntries {
		e, err := s.step()
		if err != nil {
			damaged, ok := err.(*frame.Error)
			return ran && (!ok || damaged.Err != frame.ErrCorrupt)
		}
		n++
		ran = ran || e.Kind == RunQueue
	}
	return true
}

// parseExcerpt reads the header of a .wse and returns its length.
func parseExcerpt(head []byte) (*Excerpt, int) {
	var x Excerpt
	at := 0
	for _, text := range []*string{&x.Version, &x.Build} {
		if len(head)-at < 4 {
			return nil, 0
		}
		n := binary.LittleEndian.Uint32(head[at:])
		at += 4
		if n == 0 || n > maxHeadText || int(n) > len(head)-at || !printable(head[at:at+int(n)]) {
			return nil, 0
		}
		*text = string(head[at : at+int(n)])
		at += int(n)
	}
	if len(head)-at < 4 {
		return nil, 0
	}
	x.Player = int32(binary.LittleEndian.Uint32(head[at:]))
	at += 4
	if x.Player < -1 || at < len(head) && kinds[head[at]] == 0 {
		return nil, 0
	}
	return &x, at
}

func printable(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' })
}

// Excerpt returns the header of a .wse, nil for a .wss.
func (s *Stream) Excerpt() *Excerpt { return s.excerpt }

// Next returns the next entry. It is valid until the next call.
//
// It returns io.EOF at the end, and a [*frame.Error] if the stream is cut
// (frame.ErrTorn) or damaged (frame.ErrCorrupt); everything before has been
// delivered then. A .wss of a whole number of blocks of 4096 bytes, and a .wse
// without a Desync entry at its end, count as cut. Once Next has returned an error
// it returns the same one again.
func (s *Stream) Next() (*Entry, error) {
	if s.err != nil {
		return nil, s.err
	}
	for s.end-s.pos < longest && !s.eof {
		s.fill()
	}
	e, err := s.step()
	if err != nil {
		s.err = err
		return nil, err
	}
	return e, nil
}

// step takes the next entry, which is in memory as far as the file has it.
func (s *Stream) step() (*Entry, error) {
	e := &s.entry
	left := s.end - s.pos
	payload, size := s.pos+1, 0
	e.Kind = 0
	switch {
	case s.supplies > 0:
		e.Kind, payload, size = ActiveSupply, s.pos, 8
	case s.launches && !isPlacing(s.buf[s.pos:s.end]):
		e.Kind, payload, size = Launched, s.pos, 4
	case left > 0:
		e.Kind = kinds[s.buf[s.pos]]
		size = 1 + int(layouts[e.Kind].length)
	}
	if left < size || left == 0 {
		return nil, s.cut(left)
	}
	e.Offset = s.base + int64(s.pos)
	e.Index = s.next
	e.payload = binary.LittleEndian.Uint64(s.buf[payload:])
	switch e.Kind {
	case RunQueue:
		if e.payload>>40 != 0 {
			return nil, s.corrupt("command %d is run, expected at most 255", e.payload>>32)
		}
		e.Command = uint8(e.payload >> 32)
		if due := uint32(e.payload); !e.Timed || due > e.Clock {
			e.Clock, e.Timed = due, true
		}
	case HandleActiveSupplies:
		if n := uint32(e.payload); n > maxSupplies {
			return nil, s.corrupt("HandleActiveSupplies of %d supplies, expected at most %d", n, maxSupplies)
		}
		s.supplies = uint32(e.payload)
	case StartTransfer:
		s.launches = true
	case ActiveSupply:
		s.supplies--
	case Launched:
		s.launches = false
	case 0:
		return nil, s.corrupt("entry with the tag 0x%02x, expected one of %s", s.buf[s.pos], tags())
	}
	s.pos += size
	s.next++
	s.last = e.Kind
	return e, nil
}

// isPlacing reports whether b begins with an entry that gives a position to
// something without a serial, or with as much of one as the file still has.
func isPlacing(b []byte) bool {
	if len(b) == 0 || b[0] != layouts[BobSetPosition].tag {
		return false
	}
	return !slices.ContainsFunc(b[1:min(len(b), 5)], func(c byte) bool { return c != 0 })
}

// tags lists all tags for messages.
func tags() (s string) {
	for tag := range kinds {
		if kinds[tag] != 0 {
			s += fmt.Sprintf(" %02x", tag)
		}
	}
	return s[1:]
}

// cut is the error of a file that ends here, with left bytes of an entry.
func (s *Stream) cut(left int) error {
	torn := func(format string, args ...any) error {
		return &frame.Error{Name: s.name, Offset: s.base + int64(s.pos), Lost: int64(left), Err: frame.ErrTorn, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case s.failed != nil:
		return s.failed
	case left > 0:
		return torn("the stream ends inside an entry")
	case s.supplies > 0:
		return torn("the stream ends with %d supplies of HandleActiveSupplies to come", s.supplies)
	case s.launches:
		return torn("the stream ends after a StartTransfer without the serial that it sends")
	case s.excerpt != nil && s.last != Desync:
		return torn("the excerpt does not end with a Desync entry")
	case s.excerpt == nil && (s.base+int64(s.pos))%Block == 0:
		return torn("the stream ends at a multiple of %d bytes, as the copy of a file does that is being written", Block)
	}
	return io.EOF
}

func (s *Stream) corrupt(format string, args ...any) error {
	return &frame.Error{Name: s.name, Offset: s.base + int64(s.pos), Err: frame.ErrCorrupt, Msg: fmt.Sprintf(format, args...)}
}

// fill reads more bytes, after it has made room for them.
func (s *Stream) fill() {
	from := s.pos
	if s.keep >= 0 {
		from = min(from, s.keep)
	}
	if s.sum != nil {
		s.digest(from)
	}
	if from > 0 {
		copy(s.buf, s.buf[from:s.end])
		s.base += int64(from)
		s.pos -= from
		s.end -= from
		s.keep = max(s.keep-from, -1)
		s.summed = max(s.summed-from, 0)
	}
	for range 100 {
		n, err := s.r.Read(s.buf[s.end : len(s.buf)-slack])
		s.end += n
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			s.fail(err)
		}
		if err != nil {
			s.eof = true
		}
		if n > 0 || err != nil {
			return
		}
	}
	s.fail(io.ErrNoProgress)
	s.eof = true
}

func (s *Stream) fail(err error) {
	s.failed = fmt.Errorf("%s: reading at offset %d: %w", s.name, s.base+int64(s.end), err)
}

// digest adds what is in buf before a place to the hash.
func (s *Stream) digest(to int) {
	if to > s.summed {
		s.sum.Write(s.buf[s.summed:to])
		s.summed = to
	}
}
