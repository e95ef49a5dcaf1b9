package spring

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// DemoMagic is the beginning of the content of a demo.
const DemoMagic = "spring demofile\x00"

const (
	headerSize  = 352      // of version 5
	maxHeader   = 64 << 10 // bytes
	maxScript   = 16 << 20 // bytes of the start script
	maxMessage  = 1 << 20  // bytes of a chunk; messages have at most 64 KiB
	chunkHeader = 8        // f32 time, u32 length
)

// serverPlayer is the player number in a server's messages.
const serverPlayer = 255

// Message types. NetMessageTypes.h of the engine has the list.
const (
	MsgKeyFrame     = 1
	MsgNewFrame     = 2
	MsgSetPlayerNum = 5
	MsgPathChecksum = 10
	MsgSyncResponse = 33
	MsgSystem       = 35
	MsgPlayerLeft   = 39
	MsgNewPlayer    = 75
)

// IsDemo reports whether head, the leading bytes of a file that has been decompressed, belong to a demo.
func IsDemo(head []byte) bool { return bytes.HasPrefix(head, []byte(DemoMagic)) }

// DemoHeader is the part before the messages.
type DemoHeader struct {
	Version int32
	Engine  string // version of the engine; may be empty
	GameID  string // 32 hex digits; all demos of a match have the same
	Script  string // that the game was started with
	// Started is when the recording was begun, zero if the header does not contain it.
	Started time.Time
	// Players are the names in the script, by number, and the names of players who joined later, as far as the messages
	// have been read.
	Players map[uint32]string
	Map     string
	Game    string
}

// Message is one message of a demo. Body is valid until the next call and begins
// with the type.
type Message struct {
	Offset int64 // of the chunk, in the unpacked content
	// Frame is the last frame that began before it, -1 before the first.
	Frame int64
	Type  byte
	Body  []byte
}

// Demo reads the messages of a demo as a stream.
type Demo struct {
	Header DemoHeader

	name    string
	r       *bufio.Reader
	offset  int64
	end     int64 // where the messages end, -1 if the header does not contain it
	frame   int64
	buf     []byte
	message Message
	err     error
}

// NewDemo reads the header and the script. The content must be unpacked.
func NewDemo(r io.Reader, name string) (*Demo, error) {
	d := &Demo{name: name, r: bufio.NewReaderSize(r, 64<<10), frame: -1}
	head, err := d.take(headerSize)
	if !IsDemo(head) && (err == nil || isEnd(err)) {
		return nil, &frame.Error{Name: name, Msg: "no demo of Spring: it does not begin with \"spring demofile\"", Err: frame.ErrUnrecognized}
	}
	if err != nil {
		return nil, d.broken(0, err, "the file ends inside the header of %d bytes", headerSize)
	}
	le := binary.LittleEndian
	version, size := int32(le.Uint32(head[16:])), int64(int32(le.Uint32(head[20:])))
	script, stream := int64(int32(le.Uint32(head[304:]))), int64(int32(le.Uint32(head[308:])))
	d.Header = DemoHeader{Version: version, Engine: cString(head[24:280]), GameID: hex.EncodeToString(head[280:296])}
	if at := le.Uint64(head[296:]); at > 0 && at <= math.MaxUint32 {
		d.Header.Started = time.Unix(int64(at), 0).UTC()
	}
	switch {
	case size < headerSize || size > maxHeader:
		return nil, d.corrupt(20, "header of %d bytes, expected %d to %d", size, headerSize, maxHeader)
	case script < 0 || script > maxScript:
		return nil, d.corrupt(304, "start script of %d bytes, expected at most %d", script, maxScript)
	case stream < 0:
		return nil, d.corrupt(308, "messages of %d bytes", stream)
	}
	if _, err := d.take(int(size - headerSize)); err != nil {
		return nil, d.broken(0, err, "the file ends inside the header of %d bytes", size)
	}
	// No memory is allocated for a script that does not exist.
	var b bytes.Buffer
	n, err := io.CopyN(&b, d.r, script)
	if d.offset += n; err != nil {
		return nil, d.broken(size, err, "the file ends inside the start script of %d bytes", script)
	}
	d.Header.script(b.String())
	if d.end = -1; stream > 0 {
		d.end = d.offset + stream
	}
	return d, nil
}

// take returns the next n bytes, which are valid until the next call.
func (d *Demo) take(n int) ([]byte, error) {
	if cap(d.buf) < n {
		d.buf = make([]byte, n)
	}
	b := d.buf[:n]
	got, err := io.ReadFull(d.r, b)
	d.offset += int64(got)
	return b[:got], err
}

// broken returns the error of a file that could not be read beyond an offset: its reader's error, or that it is torn.
func (d *Demo) broken(offset int64, err error, format string, args ...any) error {
	if d.err = fmt.Errorf("%s: %w", d.name, err); isEnd(err) {
		d.err = &frame.Error{Name: d.name, Offset: offset, Lost: d.offset - offset, Msg: fmt.Sprintf(format, args...), Err: frame.ErrTorn}
	}
	return d.err
}

func (d *Demo) corrupt(offset int64, format string, args ...any) error {
	d.err = &frame.Error{Name: d.name, Offset: offset, Msg: fmt.Sprintf(format, args...), Err: frame.Fault(args)}
	return d.err
}

// Next returns the next message, which is valid until the next call. It returns io.EOF after the last one, a
// *frame.Error that wraps frame.ErrTorn if the file ends before the end in its header or inside a message, and one that
// wraps frame.ErrCorrupt for a message that cannot be one.
//
// If the header of a demo does not have the size of the messages, the game crashed: the messages extend to the end of
// the file.
func (d *Demo) Next() (*Message, error) {
	if d.err != nil {
		return nil, d.err
	}
	begin := d.offset
	if begin == d.end {
		d.err = io.EOF
		return nil, d.err
	}
	head, err := d.take(chunkHeader)
	switch {
	case err == io.EOF && d.end < 0: // after a message
		d.err = io.EOF
		return nil, d.err
	case err != nil && d.end >= 0:
		return nil, d.broken(begin, err, "the file ends %d bytes before the last message does", d.end-d.offset)
	case err != nil:
		return nil, d.broken(begin, err, "the file ends inside a message")
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	switch {
	case length == 0 || length > maxMessage:
		return nil, d.corrupt(begin, "message of %d bytes, expected 1 to %d", length, maxMessage)
	case d.end >= 0 && d.offset+length > d.end:
		return nil, d.corrupt(begin, "message of %d bytes, %d are left", length, d.end-d.offset)
	}
	body, err := d.take(int(length))
	if err != nil {
		return nil, d.broken(begin, err, "the file ends inside a message of %d bytes", length)
	}
	switch body[0] {
	case MsgKeyFrame:
		if length < 5 {
			return nil, d.corrupt(begin, "key frame of %d bytes, expected 5", length)
		}
		n := int64(int32(binary.LittleEndian.Uint32(body[1:])))
		if n < d.frame || n < 0 {
			return nil, d.corrupt(begin, "key frame %d after frame %d", n, d.frame)
		}
		d.frame = n
	case MsgNewFrame:
		if d.frame++; d.frame > math.MaxInt32 {
			return nil, d.corrupt(begin, "more than %d frames", math.MaxInt32)
		}
	case MsgNewPlayer: // u16 size, player, whether a spectator, team, name
		if player := uint32(at(body, 3)); length > 6 && d.Header.Players[player] == "" {
			d.Header.Players[player] = cString(body[6:])
		}
	}
	d.message = Message{Offset: begin, Frame: d.frame, Type: body[0], Body: body}
	return &d.message, nil
}

// at returns a byte of a message, 0 past its end.
func at(b []byte, i int) byte {
	if i < len(b) {
		return b[i]
	}
	return 0
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// SyncResponse is the checksum of a frame, as a player's machine sent it.
type SyncResponse struct {
	Player   uint32
	Frame    uint64
	Checksum uint32
}

// SyncResponse returns the checksum that a message carries, false if it carries
// none.
func (m *Message) SyncResponse() (SyncResponse, bool) {
	if m.Type != MsgSyncResponse || len(m.Body) < 10 {
		return SyncResponse{}, false
	}
	n := int32(binary.LittleEndian.Uint32(m.Body[2:]))
	if n < 0 {
		return SyncResponse{}, false
	}
	return SyncResponse{uint32(m.Body[1]), uint64(n), binary.LittleEndian.Uint32(m.Body[6:])}, true
}

// PathChecksum returns the checksum of the path data that a player's machine
// computed, false if the message carries none.
func (m *Message) PathChecksum() (player, checksum uint32, ok bool) {
	if m.Type != MsgPathChecksum || len(m.Body) < 6 {
		return 0, 0, false
	}
	return uint32(m.Body[1]), binary.LittleEndian.Uint32(m.Body[2:]), true
}

// SyncError returns the engine's claim if a message of the server is one, else
// false.
func (m *Message) SyncError() (SyncError, bool) {
	// u16 size, player, text
	if m.Type != MsgSystem || at(m.Body, 3) != serverPlayer {
		return SyncError{}, false
	}
	said, _, _ := bytes.Cut(m.Body[4:], []byte{0})
	e, ok := ParseSyncError(said)
	e.Offset, e.Text, e.Logged = m.Offset, ordersText(said), m.Frame
	return e, ok
}

func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return ordersText(b)
}

// script takes what is needed from the start script:
//
//	[game]
//	{
//	[player0]
//	{
//	name=Alice;
//	}
//	mapname=MiniMap 1;
//	}
func (h *DemoHeader) script(s string) {
	h.Script = s
	h.Players = map[uint32]string{}
	player := -1
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if section, ok := strings.CutPrefix(line, "["); ok {
			player = -1
			section, _, _ = strings.Cut(section, "]")
			if rest, ok := strings.CutPrefix(strings.ToLower(section), "player"); ok {
				if n, err := strconv.ParseUint(rest, 10, 8); err == nil {
					player = int(n)
				}
			}
			continue
		}
		if strings.HasPrefix(line, "}") {
			player = -1
		}
		key, value, ok := strings.Cut(strings.TrimSuffix(line, ";"), "=")
		if !ok {
			continue
		}
		value = ordersText([]byte(value))
		switch key = strings.ToLower(strings.TrimSpace(key)); {
		case key == "name" && player >= 0:
			h.Players[uint32(player)] = value
		case key == "mapname":
			h.Map = value
		case key == "gametype":
			h.Game = value
		}
	}
}
