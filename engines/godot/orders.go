package godot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Title is the name of the addon.
const Title = "Godot Rollback Netcode"

// HashKey is the key of the hash in a state and in a player's input.
const HashKey = "$"

// PeerName returns the name of a peer by its number.
func PeerName(id int64) string { return "peer " + strconv.FormatInt(id, 10) }

// EntryType is the type of an entry of a log.
type EntryType uint8

// The types of entries, as log_type has them.
const (
	HeaderEntry EntryType = 0
	FrameEntry  EntryType = 1
	StateEntry  EntryType = 2
	InputEntry  EntryType = 3
)

var entryNames = [...]string{HeaderEntry: "header", FrameEntry: "frame", StateEntry: "state", InputEntry: "input"}

// Entry is one value of a log.
type Entry struct {
	Type EntryType
	// Tick is the tick of a state or input, and of a frame if HasTick.
	Tick    uint64
	HasTick bool
	// Value is the whole dictionary.
	Value Value
	// Offset and Size are its place in the content, including its length field, in bytes.
	Offset, Size int64
}

// MaxEntry is the largest size of an entry in bytes.
const MaxEntry = 64 << 20

// maxTick is the largest number of a tick that a log may have.
const maxTick = 1 << 40

// Types of the keys of an entry: a String, which has the same number in both versions, or in Godot 4
// a StringName.
const (
	string3     = 4
	stringName4 = 21
)

// IsLog reports whether content, unpacked, begins like a log.
func IsLog(head []byte) bool {
	if len(head) < 28 || head[4] != dictionary3 && head[4] != dictionary4 {
		return false
	}
	key := binary.LittleEndian.Uint32(head[12:])
	return (key == string3 || key == stringName4 && head[4] == dictionary4) && binary.LittleEndian.Uint32(head[16:]) == 8 && string(head[20:28]) == "log_type"
}

// Log reads the entries of a log.
type Log struct {
	name   string
	r      io.Reader
	offset int64
	buffer bytes.Buffer
	peer   int64
	info   Value
	err    error

	state, input last
}

// last is the last tick of a type of entries.
type last struct {
	tick uint64
	any  bool
}

// NewLog reads the header of a log with unpacked content. Errors have the name for the file. A file that is not a log
// gives a *frame.Error that wraps frame.ErrUnrecognized.
func NewLog(r io.Reader, name string) (*Log, error) {
	l := &Log{name: name, r: r}
	e, err := l.read()
	if err == io.EOF {
		return nil, &frame.Error{Name: name, Msg: "empty file, expected a log of " + Title, Err: frame.ErrUnrecognized}
	}
	if err != nil {
		return nil, err
	}
	id, ok := e.Value.Get("peer_id").Number()
	if e.Type != HeaderEntry || !ok {
		return nil, &frame.Error{Name: name, Msg: "it does not begin with a header with a peer_id, as a log of " + Title + " does", Err: frame.ErrUnrecognized}
	}
	l.peer = id
	if info := e.Value.Get("match_info"); info != nil {
		l.info = *info
	}
	return l, nil
}

// Peer returns the number of the peer that wrote the log.
func (l *Log) Peer() int64 { return l.peer }

// MatchInfo returns the game's data about the match, which is the same on all peers. It is a Dictionary, or Nil if
// there is none.
func (l *Log) MatchInfo() *Value { return &l.info }

// Next returns the next entry after the header. It returns io.EOF after the last one, else a *frame.Error, and from
// then on the same again: frame.ErrTorn where the log is cut off, frame.ErrCorrupt for data that is not an entry,
// frame.ErrLacking where another match begins.
func (l *Log) Next() (*Entry, error) {
	if l.err != nil {
		return nil, l.err
	}
	e, err := l.read()
	if err == nil {
		err = l.follows(e)
	}
	if err != nil {
		l.err = err
		return nil, err
	}
	return e, nil
}

// follows checks an entry against those before it.
func (l *Log) follows(e *Entry) error {
	seen := &l.state
	switch e.Type {
	case HeaderEntry:
		return &frame.Error{Name: l.name, Offset: e.Offset, Msg: "a second header", Err: frame.ErrCorrupt}
	case FrameEntry:
		return nil
	case InputEntry:
		if seen = &l.input; e.Tick == 0 {
			return &frame.Error{Name: l.name, Offset: e.Offset, Msg: "inputs of tick 0, expected 1 or more", Err: frame.ErrCorrupt}
		}
	}
	// The state before the first tick is logged until that begins.
	if seen.any && (e.Tick < seen.tick || e.Tick == seen.tick && e.Tick > 0) {
		return &frame.Error{
			Name: l.name, Offset: e.Offset, Err: frame.ErrLacking,
			Msg: fmt.Sprintf("%s of tick %d after tick %d: the log of another match follows at byte %d of the content, and is not read", entryNames[e.Type], e.Tick, seen.tick, e.Offset),
		}
	}
	*seen = last{e.Tick, true}
	return nil
}

// read reads an entry.
func (l *Log) read() (*Entry, error) {
	var head [4]byte
	at := l.offset
	switch n, err := io.ReadFull(l.r, head[:]); {
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, l.cut(err, at, int64(n))
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if size > MaxEntry {
		return nil, &frame.Error{Name: l.name, Offset: at, Msg: fmt.Sprintf("value of %d bytes, expected at most %d", size, MaxEntry), Err: frame.ErrCorrupt}
	}
	l.buffer.Reset()
	if n, err := io.CopyN(&l.buffer, l.r, size); err != nil {
		return nil, l.cut(err, at, 4+n)
	}
	l.offset += 4 + size
	return entry(l.buffer.Bytes(), l.name, at)
}

// cut returns the error for an entry that is not whole: n bytes of it are there.
func (l *Log) cut(err error, at, n int64) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &frame.Error{Name: l.name, Offset: at, Lost: n, Msg: "the log ends inside a value", Err: frame.ErrTorn}
	}
	return fmt.Errorf("%s: %w", l.name, err)
}

// ReadEntry reads an entry that is in b with its length.
func ReadEntry(b []byte, name string) (*Entry, error) {
	if len(b) < 4 || int64(binary.LittleEndian.Uint32(b)) != int64(len(b)-4) {
		return nil, &frame.Error{Name: name, Msg: "expected a value with its length", Err: frame.ErrCorrupt}
	}
	return entry(b[4:], name, 0)
}

// entry decodes an entry without its length.
func entry(b []byte, name string, at int64) (*Entry, error) {
	v, err := decode(b, name, at+4)
	if err != nil {
		return nil, err
	}
	e := &Entry{Value: v, Offset: at, Size: int64(len(b)) + 4}
	corrupt := func(format string, args ...any) (*Entry, error) {
		return nil, &frame.Error{Name: name, Offset: at, Msg: fmt.Sprintf(format, args...), Err: frame.ErrCorrupt}
	}
	n, ok := v.Get("log_type").Number()
	if !ok || n < 0 || int(n) >= len(entryNames) {
		return corrupt("a dictionary without a known log_type")
	}
	e.Type = EntryType(n)
	tick, ok := v.Get("tick").Number()
	if ok && tick >= 0 && tick <= maxTick {
		e.Tick, e.HasTick = uint64(tick), true
	}
	if e.Type != StateEntry && e.Type != InputEntry {
		return e, nil
	}
	what := entryNames[e.Type]
	if !e.HasTick {
		return corrupt("%s without a tick from 0 to %d", what, int64(maxTick))
	}
	if c := v.Get(what); c == nil || c.Kind != Dictionary {
		return corrupt("%s of tick %d without a dictionary of it", what, e.Tick)
	}
	return e, nil
}

// Content returns the state of a StateEntry, or the inputs of an InputEntry.
func (e *Entry) Content() *Value { return e.Value.Get(entryNames[e.Type]) }
