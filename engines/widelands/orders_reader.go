package widelands

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

// MD5 is the kind of a replay's hashes, and SyncStream what they cover: not the state, but everything before in the
// peer's sync stream. That two agree means that the simulation has done the same so far, in what the stream records.
const (
	MD5        orderlog.HashKind = "md5"
	SyncStream orderlog.Coverage = "syncstream"
)

// Limits on the commands that are kept until they are due.
const (
	maxWaiting      = 1 << 16
	maxWaitingBytes = 16 << 20
)

// Reader reads a .wrpl as an order log. It is an orderlog.Foreign.
//
// Ticks are ms of game time. Each time at which commands are due, or that has a hash, is a record. A command is an
// order: its player is the sender, its sequence the serial, its kind the name ("BuildRoad") and its payload the
// serialised command, from its id on. A hash at t belongs to point t, before the commands at t run. The time at which a
// command was recorded is left out.
type Reader struct {
	replay *Replay
	header orderlog.Header
	kinds  [256]uint32 // by command

	now     uint32   // nothing due before it is still to come
	packet  *Packet  // of time now, not yet taken, or nil
	waiting []*order // by due time; commands of the same time as recorded
	bytes   int      // of payloads of waiting
	hash    Packet
	hashed  bool // hash is not yet delivered
	sum     [16]byte
	free    []*order

	tick orderlog.Tick
	err  error
}

// order is a command that is not yet due.
type order struct {
	due, serial uint32
	kind        uint32
	player      uint8
	offset      int64
	payload     []byte
}

// NewReader reads the header of a replay. Errors have the name for the file, which also names the peer; they are the
// errors of NewReplay.
func NewReader(r io.Reader, name string) (*Reader, error) {
	replay, err := NewReplay(r, name)
	if err != nil {
		return nil, err
	}
	lr := &Reader{replay: replay, header: orderlog.Header{
		Seed:     uint64(replay.rng[0]) | uint64(replay.rng[1])<<32,
		Peer:     Peer(name),
		TickRate: orderlog.Rate{Num: 1000, Den: 1},
	}}
	for id := range commands {
		if commands[id].player {
			lr.kinds[id] = uint32(len(lr.header.Kinds))
			lr.header.Kinds = append(lr.header.Kinds, orderlog.OrderKind{Name: CommandName(uint8(id))})
		}
	}
	return lr, nil
}

// Header returns the replay's header. The seed is the state of the random number generator at the start, the first
// number in its low half.
func (r *Reader) Header() orderlog.Header { return r.header }

// Dialect describes how the replay differs from our format.
func (r *Reader) Dialect() orderlog.Dialect {
	return orderlog.Dialect{Engine: "Widelands", Counted: true, OwnMarkers: true, TickName: TickName, Fields: Fields}
}

// TickName returns a time with its unit: "161431 ms".
func TickName(tick uint64) string { return strconv.FormatUint(tick, 10) + " ms" }

// Next returns the next record. It returns the errors of Replay.Next. Commands that are due at the end of the replay or
// later were never run, and are left out.
func (r *Reader) Next() (orderlog.Record, error) {
	for {
		if at, ok := r.first(); ok && (at < r.now || r.err != nil) {
			return r.deliver(at), nil
		}
		if r.err != nil {
			return orderlog.Record{}, r.err
		}
		if r.err = r.advance(); r.err != nil {
			r.waiting = slices.DeleteFunc(r.waiting, func(o *order) bool { return o.due >= r.now })
		}
	}
}

// advance reads a packet, or takes the one that has been read; commands of earlier
// times are delivered in between.
func (r *Reader) advance() error {
	if p := r.packet; p != nil {
		r.packet = nil
		return r.take(p)
	}
	p, err := r.replay.Next()
	if err != nil {
		return err
	}
	if p.Time < r.now {
		return r.corrupt(p, "packet of time %d after one of %d", p.Time, r.now)
	}
	r.now, r.packet = p.Time, p
	return nil
}

// first returns the earliest time of the kept records.
func (r *Reader) first() (at uint32, ok bool) {
	if len(r.waiting) > 0 {
		at, ok = r.waiting[0].due, true
	}
	if r.hashed && (!ok || r.hash.Time < at) {
		at, ok = r.hash.Time, true
	}
	return at, ok
}

// take keeps the content of a packet.
func (r *Reader) take(p *Packet) error {
	switch p.Kind {
	case Hash:
		r.hash, r.hashed = *p, true
	case Command:
		if len(r.waiting) == maxWaiting || r.bytes+len(p.Bytes) > maxWaitingBytes {
			return r.corrupt(p, "more than %d commands, or %d bytes of them, that are not yet due", maxWaiting, maxWaitingBytes)
		}
		if len(r.free) == 0 {
			r.free = append(r.free, new(order))
		}
		o := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		*o = order{p.Due, p.Serial, r.kinds[p.ID], p.Player, p.Offset, append(o.payload[:0], p.Bytes...)}
		r.bytes += len(p.Bytes)
		i := len(r.waiting)
		for i > 0 && r.waiting[i-1].due > o.due {
			i--
		}
		r.waiting = slices.Insert(r.waiting, i, o)
	}
	return nil
}

// deliver returns the kept records of a time, the earliest.
func (r *Reader) deliver(at uint32) orderlog.Record {
	t := &r.tick
	*t = orderlog.Tick{Number: uint64(at), Orders: t.Orders[:0], Hashes: t.Hashes[:0]}
	rec := orderlog.Record{Kind: orderlog.TickRecord, Tick: t, TailCut: at >= r.now}
	begin := int64(-1)
	if r.hashed && r.hash.Time == at {
		begin = r.hash.Offset
		r.sum = r.hash.MD5
		t.Hashes = append(t.Hashes, orderlog.Observed{Point: t.Number, Kind: MD5, Coverage: SyncStream, Bytes: r.sum[:]})
		r.hashed = false
	}
	n := 0
	for _, o := range r.waiting {
		if o.due != at {
			break
		}
		if begin < 0 || o.offset < begin {
			begin = o.offset
		}
		t.Orders = append(t.Orders, orderlog.Order{Tick: t.Number, Player: uint32(o.player), Sequence: o.serial, Kind: o.kind, Payload: o.payload})
		r.bytes -= len(o.payload)
		n++
	}
	// Payloads stay valid until the next command is taken, which is not before the next call.
	r.free = append(r.free, r.waiting[:n]...)
	r.waiting = slices.Delete(r.waiting, 0, n)
	rec.Offset = begin
	return rec
}

func (r *Reader) corrupt(p *Packet, format string, args ...any) error {
	return &frame.Error{Name: r.replay.name, Offset: p.Offset, Err: frame.ErrCorrupt, Msg: fmt.Sprintf(format, args...)}
}
