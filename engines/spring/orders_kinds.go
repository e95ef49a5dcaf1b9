package spring

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
)

// Kind is the kind of the hashes: the engine's checksum of a frame, 4 bytes,
// most significant first, as it is printed. Checksum is what it covers.
const (
	Kind     orderlog.HashKind = "spring"
	Checksum orderlog.Coverage = "checksum"
)

// SetupKind is the kind of all messages before the first frame. A machine records the messages that it received while
// it loaded, so they differ between peers.
const SetupKind = "setup"

// messageKind is what a type of message becomes in an order log.
type messageKind struct {
	typ    byte
	name   string
	player int  // offset of the player's number
	local  bool // need not be the same on all peers
}

// messageKinds is the one table of messages that are orders. Sizes are one or two bytes between the type and the
// player.
var messageKinds = [...]messageKind{
	{7, "chat", 2, true},
	{11, "command", 3, false},
	{12, "select", 3, false},
	{13, "pause", 1, true},
	{14, "ai command", 3, false},
	{15, "ai commands", 3, false},
	{16, "ai share", 3, false},
	{22, "direct control", 1, false},
	{23, "direct control update", 1, false},
	{26, "share", 1, false},
	{27, "set share", 1, false},
	{31, "map draw", 2, true},
	{36, "start position", 1, false},
	{50, "lua message", 3, false},
	{51, "team", 1, false},
	{53, "alliance", 1, false},
	{54, "console command", 3, false},
	{70, "ai created", 2, false},
	{71, "ai state", 1, false},
	{76, "tracked ai command", 3, false},
}

// kindOf is the number of each type's kind plus one, 0 for types that are not
// orders.
var kindOf = func() (kinds [256]uint8) {
	for i, k := range messageKinds {
		kinds[k.typ] = uint8(i + 1)
	}
	return kinds
}()

// Reader reads a demo as an order log. It is an orderlog.Foreign.
//
// Each frame with orders, checksums or markers is a record. An order carries no frame: it belongs to the last one that
// began before it. Its payload is the whole message. Checksums are the ones that players' machines sent, for every 60th
// frame in a demo; their point is the frame's number.
type Reader struct {
	demo    *Demo
	header  orderlog.Header
	dialect orderlog.Dialect

	queue []Message // before the first frame, which show the demo's recorder
	held  *Message  // of the next tick

	rec    orderlog.Record
	tick   orderlog.Tick
	counts [256]uint32 // orders of the tick, by player
	bounds []int
	bytes  []byte
	sums   []byte
	err    error
}

// maxQueued bounds the messages before the first frame that are searched for the
// demo's owner.
const maxQueued = 1 << 14

// NewReader reads the header and the messages before the first frame. Errors have the name for the file; they are the
// errors of NewDemo.
func NewReader(r io.Reader, name string) (*Reader, error) {
	demo, err := NewDemo(r, name)
	if err != nil {
		return nil, err
	}
	h := &demo.Header
	lr := &Reader{demo: demo}
	lr.header = orderlog.Header{
		Build:    h.Engine,
		TickRate: orderlog.Rate{Num: 30, Den: 1},
		Params:   map[string]string{"script": h.Script, "game_id": h.GameID},
	}
	if len(h.Script) > orderlog.MaxText {
		delete(lr.header.Params, "script")
	}
	for _, k := range messageKinds {
		lr.header.Kinds = append(lr.header.Kinds, orderlog.OrderKind{Name: k.name, Local: k.local})
	}
	lr.header.Kinds = append(lr.header.Kinds, orderlog.OrderKind{Name: SetupKind, Local: true})
	lr.dialect = orderlog.Dialect{Engine: "Spring", Session: h.GameID, Recorded: h.Started, Server: true, Counted: true, Fields: Fields}
	if strings.Trim(h.GameID, "0") == "" {
		lr.dialect.Session = "" // it was never set
	}
	for size := 0; len(lr.queue) < maxQueued && int64(size) < limits.Tick.Max(); {
		m, err := demo.Next()
		if err != nil {
			lr.err = err
			break
		}
		kept := *m
		kept.Body = bytes.Clone(m.Body)
		lr.queue = append(lr.queue, kept)
		size += len(m.Body)
		if m.Type == MsgSetPlayerNum && len(m.Body) >= 2 {
			lr.header.Peer = h.Players[uint32(m.Body[1])]
			lr.dialect.Server = false
		}
		if m.Frame >= 0 {
			break
		}
	}
	if lr.dialect.Server {
		lr.header.Peer = "server"
	}
	last := uint32(0)
	for n := range h.Players {
		last = max(last, n)
	}
	if len(h.Players) > 0 {
		for n := range last + 1 {
			player := h.Players[n]
			if player == "" {
				player = fmt.Sprintf("player %d", n)
			}
			lr.header.Peers = append(lr.header.Peers, player)
		}
	}
	return lr, nil
}

// Header returns the demo's header.
func (r *Reader) Header() orderlog.Header { return r.header }

// Dialect describes how the log differs from our format.
func (r *Reader) Dialect() orderlog.Dialect { return r.dialect }

// message returns the next message.
func (r *Reader) message() (*Message, error) {
	if m := r.held; m != nil {
		r.held = nil
		return m, nil
	}
	if len(r.queue) > 0 {
		m := &r.queue[0]
		r.queue = r.queue[1:]
		return m, nil
	}
	if r.err != nil {
		return nil, r.err
	}
	m, err := r.demo.Next()
	r.err = err
	return m, err
}

// Next returns the next frame with anything in it.
func (r *Reader) Next() (orderlog.Record, error) {
	r.bounds, r.bytes, r.sums = r.bounds[:0], r.bytes[:0], r.sums[:0]
	r.tick = orderlog.Tick{Orders: r.tick.Orders[:0], Hashes: r.tick.Hashes[:0], Markers: r.tick.Markers[:0]}
	clear(r.counts[:])
	r.rec = orderlog.Record{Kind: orderlog.TickRecord, Tick: &r.tick}
	begun := false
	for {
		m, err := r.message()
		if err != nil && begun {
			// The error comes with the next call. Where a demo breaks off, its last
			// frame may lack orders.
			whole := err == io.EOF && r.demo.end >= 0
			r.rec.TailCut = !whole && uint64(max(r.demo.frame, 0)) == r.tick.Number
			break
		}
		if err != nil {
			return orderlog.Record{}, err
		}
		number := uint64(max(m.Frame, 0))
		if begun && number != r.tick.Number {
			r.held = m // nothing is read before it has been taken
			break
		}
		if !r.take(m) {
			continue
		}
		if !begun {
			begun = true
			r.tick.Number, r.rec.Offset = number, m.Offset
		}
		over := (*limits.Limit)(nil)
		switch {
		case limits.Orders.Over(int64(len(r.tick.Orders) + len(r.tick.Hashes) + len(r.tick.Markers))):
			over = limits.Orders
		case limits.Tick.Over(int64(len(r.bytes))):
			over = limits.Tick
		}
		if over != nil {
			r.err = r.demo.corrupt(m.Offset, "frame %d: %v", m.Frame, over.Reached("", 0))
			return orderlog.Record{}, r.err
		}
	}
	// Memory has settled: payloads and checksums can be pointed to.
	begin := 0
	for i, end := range r.bounds {
		o := &r.tick.Orders[i]
		o.Tick, o.Payload = r.tick.Number, r.bytes[begin:end:end]
		begin = end
	}
	for i := range r.tick.Hashes {
		r.tick.Hashes[i].Bytes = r.sums[4*i : 4*i+4 : 4*i+4]
	}
	return r.rec, nil
}

// take adds a message to the current tick. It reports false for a message that an order log does not contain.
func (r *Reader) take(m *Message) bool {
	if k := kindOf[m.Type]; k > 0 {
		kind := uint32(k - 1)
		player := uint32(at(m.Body, messageKinds[kind].player))
		if m.Frame < 0 {
			kind = uint32(len(messageKinds)) // SetupKind
		}
		r.tick.Orders = append(r.tick.Orders, orderlog.Order{Player: player, Sequence: r.counts[player], Kind: kind})
		r.counts[player]++
		r.bytes = append(r.bytes, m.Body...)
		r.bounds = append(r.bounds, len(r.bytes))
		return true
	}
	switch m.Type {
	case MsgSyncResponse:
		s, ok := m.SyncResponse()
		if ok {
			r.tick.Hashes = append(r.tick.Hashes, orderlog.Observed{Point: s.Frame, Peer: s.Player, Kind: Kind, Coverage: Checksum})
			r.sums = binary.BigEndian.AppendUint32(r.sums, s.Checksum)
		}
		return ok
	case MsgPlayerLeft: // player, how
		if len(m.Body) < 3 {
			return false
		}
		kind := orderlog.Leave
		if m.Body[2] == 2 {
			kind = orderlog.Removal
		}
		r.tick.Markers = append(r.tick.Markers, orderlog.Marker{Kind: kind, Player: uint32(m.Body[1])})
		return true
	case MsgNewPlayer: // u16 size, player
		if len(m.Body) < 4 {
			return false
		}
		r.tick.Markers = append(r.tick.Markers, orderlog.Marker{Kind: orderlog.Join, Player: uint32(m.Body[3])})
		return true
	}
	return false
}
