package widelands

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

const (
	replayMagic       = "\x01\xa1\x21\x2e"
	replayVersion     = 3
	rngMagic          = "\x63\x77\x05\xf0"
	replayHeader      = 17 // bytes
	ordersCommandHead = 13 // bytes of a command's packet before the command
)

// PacketKind is a kind of packets of a replay.
type PacketKind uint8

// Packet kinds are part of the format.
const (
	End     PacketKind = 2
	Command PacketKind = 3
	Hash    PacketKind = 4
)

// packets has the size in bytes of each kind of packet; for a command, of the part
// that all have.
var ordersPackets = [...]int{End: 5, Command: ordersCommandHead + 2, Hash: 21}

// Packet is one packet of a replay. Fields that its kind has no use for are 0.
type Packet struct {
	Kind   PacketKind
	Offset int64
	// Time is the game's time in ms: for a Hash, of the state that was hashed; for a
	// Command, when it was recorded, which differs from peer to peer; for the End,
	// how far the game went.
	Time uint32

	Due    uint32 // when the command is run
	Serial uint32 // of the command; 0 in all known files
	ID     uint8  // see CommandName
	Player uint8
	Bytes  []byte // of the command from its id on, valid until the next call

	MD5 [16]byte
}

// Replay reads a .wrpl as the game wrote it.
type Replay struct {
	name    string
	r       *bufio.Reader
	rng     [2]uint32
	offset  int64
	discard int // bytes of the packet that was delivered
	packet  Packet
	hashed  bool // there was a hash, at time
	time    uint32
	ended   bool
	err     error
}

// IsReplay reports whether head, the leading bytes of a file, belong to a replay, of any version.
func IsReplay(head []byte) bool {
	return len(head) >= 5 && string(head[1:4]) == replayMagic[1:] && head[0] <= 2
}

// NewReplay reads the header of a .wrpl. Errors have the name for the file. Another file, and a replay of another
// version, gives a *frame.Error.
func NewReplay(r io.Reader, name string) (*Replay, error) {
	p := &Replay{name: name, r: bufio.NewReaderSize(r, 4*maxList+64<<10)}
	b, err := p.r.Peek(replayHeader)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	refuse := func(kind error, format string, args ...any) (*Replay, error) {
		return nil, &frame.Error{Name: name, Lost: int64(len(b)), Err: kind, Msg: fmt.Sprintf(format, args...)}
	}
	switch {
	case !IsReplay(b):
		return refuse(frame.ErrUnrecognized, "no replay of Widelands: it does not begin with % x", replayMagic)
	case b[0] != replayMagic[0] || b[4] != replayVersion:
		at := int64(0)
		if b[0] == replayMagic[0] {
			at = 4
		}
		return nil, &frame.Error{Name: name, Offset: at, Lost: int64(len(b)), Err: frame.ErrVersion, Msg: fmt.Sprintf("replay of magic %02x and version %d, expected %02x and %d", b[0], b[4], replayMagic[0], replayVersion)}
	case len(b) < replayHeader:
		return refuse(frame.ErrTorn, "the file ends inside the header")
	case string(b[5:9]) != rngMagic:
		return refuse(frame.ErrCorrupt, "state of the RNG begins with % x, expected % x", b[5:9], rngMagic)
	}
	p.rng = [2]uint32{binary.LittleEndian.Uint32(b[9:]), binary.LittleEndian.Uint32(b[13:])}
	p.discard = replayHeader
	return p, nil
}

// RNG returns the state of the game's random number generator at the start.
func (p *Replay) RNG() [2]uint32 { return p.rng }

// Next returns the next packet. It is valid until the next call.
//
// After the End it returns io.EOF. A [*frame.Error] means that the replay breaks off (frame.ErrTorn), or contains
// something invalid (frame.ErrCorrupt), such as a command of unknown length: packets have no length field, so the rest
// cannot be read. Once Next has returned an error it returns the same one again.
func (p *Replay) Next() (*Packet, error) {
	if p.err == nil {
		p.err = p.next()
	}
	if p.err != nil {
		return nil, p.err
	}
	return &p.packet, nil
}

func (p *Replay) next() error {
	p.r.Discard(p.discard) // has been peeked
	p.offset += int64(p.discard)
	p.discard = 0
	b, err := p.peek(1)
	switch {
	case err != nil:
		return err
	case p.ended && len(b) > 0:
		return p.corrupt("bytes after the end")
	case p.ended:
		return io.EOF
	case len(b) == 0:
		return p.torn(b, "the file ends without an end packet")
	}
	kind := PacketKind(b[0])
	if int(kind) >= len(ordersPackets) || ordersPackets[kind] == 0 {
		return p.corrupt("packet of kind %d, expected %d, %d or %d", kind, End, Command, Hash)
	}
	size := ordersPackets[kind]
	if b, err = p.peek(size); err != nil {
		return err
	}
	if len(b) < size {
		return p.torn(b, "the file ends inside a packet")
	}
	k := &p.packet
	*k = Packet{Kind: kind, Offset: p.offset, Time: binary.LittleEndian.Uint32(b[1:])}
	switch kind {
	case Command:
		if b, err = p.command(b); err != nil {
			return err
		}
	case Hash:
		if p.hashed && k.Time <= p.time {
			return p.corrupt("hash of time %d after one of %d, expected a later time", k.Time, p.time)
		}
		p.hashed, p.time = true, k.Time
		copy(k.MD5[:], b[5:])
	case End:
		p.ended = true
	}
	p.discard = len(b)
	return nil
}

// command reads a command's packet that begins with b, and returns all of it.
func (p *Replay) command(b []byte) ([]byte, error) {
	k := &p.packet
	k.Due, k.Serial = binary.LittleEndian.Uint32(b[5:]), binary.LittleEndian.Uint32(b[9:])
	k.ID, k.Player = b[ordersCommandHead], b[ordersCommandHead+1]
	c := &commands[k.ID]
	switch {
	case !c.player:
		return nil, p.corrupt("%s, of unknown length, so that nothing after it can be read", CommandName(k.ID))
	case k.Due < k.Time:
		return nil, p.corrupt("%s is due at %d, before it was recorded at %d", CommandName(k.ID), k.Due, k.Time)
	}
	for {
		n, whole, list := c.walk(b[ordersCommandHead:], nil)
		if whole {
			b = b[:ordersCommandHead+n]
			k.Bytes = b[ordersCommandHead:]
			return b, nil
		}
		if list > 0 {
			return nil, p.corrupt("%s with a list of %d, expected at most %d", CommandName(k.ID), list, maxList)
		}
		var err error
		if b, err = p.peek(ordersCommandHead + n); err != nil {
			return nil, err
		}
		if len(b) < ordersCommandHead+n {
			return nil, p.torn(b, "the file ends inside a command")
		}
	}
}

// peek returns the next n bytes, or as many as there are.
func (p *Replay) peek(n int) ([]byte, error) {
	b, err := p.r.Peek(n)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: reading at offset %d: %w", p.name, p.offset, err)
	}
	return b, nil
}

func (p *Replay) corrupt(format string, args ...any) error {
	return &frame.Error{Name: p.name, Offset: p.offset, Err: frame.ErrCorrupt, Msg: fmt.Sprintf(format, args...)}
}

func (p *Replay) torn(rest []byte, msg string) error {
	return &frame.Error{Name: p.name, Offset: p.offset, Lost: int64(len(rest)), Err: frame.ErrTorn, Msg: msg}
}
