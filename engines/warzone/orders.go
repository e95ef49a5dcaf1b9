package warzone

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
)

// CRC16 is the kind of the hashes of GAME_TIME messages, and SyncDebug what they cover: the low half of the CRC of the
// sync debug text of one tick, big-endian. That two agree proves nothing about data that the text leaves out.
const (
	CRC16     orderlog.HashKind = "crc16"
	SyncDebug orderlog.Coverage = "sync-debug"
)

// Reader reads a recording as an order log. It is an orderlog.Foreign.
//
// A message is an order of the tick in which the game read it; its player is the
// queue, its kind the type's name. A queue is read whenever the game's clock has
// passed the time that its last GAME_TIME message gave, up to the next one that
// gives a later time. docs/formats/warzone2100.md has the rule with an example.
//
// GAME_TIME messages are not orders: each is an observed hash of the sender's state at the point that it names, unless
// it names none. A PLAYER_LEFT message is a Leave marker; its peer is the queue.
type Reader struct {
	replay *Replay
	header orderlog.Header
	due    [maxSlots]uint64 // game time at which the queue's next message is read

	now      uint64 // game time of the tick that is built
	building bool
	held     *Message // the first of the next tick

	rec    orderlog.Record
	tick   orderlog.Tick
	bounds []int // ends of the payloads in args
	args   []byte
	crcs   []byte
	err    error // once reading has ended
}

// NewReader begins to read a recording. Errors have the name for the file; they are the errors of [NewReplay] and
// [Replay.Next].
func NewReader(r io.Reader, name string) (*Reader, error) {
	replay, err := NewReplay(r, name)
	if err != nil {
		return nil, err
	}
	s := replay.Settings()
	or := &Reader{replay: replay}
	for i := range or.due {
		or.due[i] = ordersFirstTime + TickLength
	}
	or.header = orderlog.Header{
		Seed:     uint64(s.Seed),
		Build:    s.Build,
		TickRate: orderlog.Rate{Num: 1000 / TickLength, Den: 1},
		Params:   params(s),
	}
	if s.Slot >= 0 {
		or.header.Peer = SlotName(s.Slot)
	}
	for _, name := range typeNames {
		or.header.Kinds = append(or.header.Kinds, orderlog.OrderKind{Name: name})
	}
	for i := range max(len(s.Players), s.Slot+1) {
		or.header.Peers = append(or.header.Peers, SlotName(i))
	}
	return or, nil
}

// params returns what has to be the same on all peers.
func params(s *Settings) map[string]string {
	p := map[string]string{"map": s.Map, "map hash": s.MapHash, "mods": strings.Join(s.Mods, " ")}
	hashes := lists.Map(s.DataHashes, func(h uint32) string { return fmt.Sprintf("%08x", h) })
	p["data hashes"] = strings.Join(hashes, " ")
	for i := range s.Players {
		p["player "+strconv.Itoa(i)] = s.Players[i].Name
	}
	for k, v := range p {
		if v == "" || len(v) > orderlog.MaxText {
			delete(p, k)
		}
	}
	return p
}

// Header returns the recording's header. Peers are named by their slots.
func (r *Reader) Header() orderlog.Header { return r.header }

// Settings returns the recording's facts about its game.
func (r *Reader) Settings() *Settings { return r.replay.Settings() }

// Session identifies a game: the map and the seed.
func (s *Settings) Session() string { return s.Map + " " + strconv.FormatUint(uint64(s.Seed), 10) }

// Dialect describes how the recording differs from our format.
func (r *Reader) Dialect() orderlog.Dialect {
	return orderlog.Dialect{
		Engine: "Warzone 2100", Session: r.Settings().Session(), Counted: true, TickName: TickName,
		Server: r.Settings().Slot >= 0 && r.Settings().Slot == r.Settings().Host,
	}
}

// Next returns the next tick in which messages were read.
func (r *Reader) Next() (orderlog.Record, error) {
	if r.err != nil {
		return orderlog.Record{}, r.err
	}
	for {
		m := r.held
		r.held = nil
		if m == nil {
			var err error
			if m, err = r.replay.Next(); err != nil {
				return r.finish(err)
			}
		}
		due := r.due[m.Queue]
		if r.building && due > r.now {
			r.held = m
			return r.deliver(false), nil
		}
		if !r.building {
			r.begin(max(due, r.now), m.Offset)
		}
		if err := r.add(m); err != nil {
			return r.finish(err)
		}
	}
}

// finish returns the last tick, which may be incomplete, and err with the next call.
func (r *Reader) finish(err error) (orderlog.Record, error) {
	r.err = err
	if r.building {
		return r.deliver(true), nil
	}
	return orderlog.Record{}, err
}

// begin begins the tick in which messages are read that were due at a time: the
// game reads them at the end of the update of that time.
func (r *Reader) begin(due uint64, offset int64) {
	t := &r.tick
	*t = orderlog.Tick{Number: due/TickLength + 1, Orders: t.Orders[:0], Hashes: t.Hashes[:0], Markers: t.Markers[:0]}
	r.rec = orderlog.Record{Kind: orderlog.TickRecord, Offset: offset}
	r.bounds, r.args, r.crcs = r.bounds[:0], r.args[:0], r.crcs[:0]
	r.now, r.building = due, true
}

func (r *Reader) deliver(cut bool) orderlog.Record {
	begin := 0
	for i, end := range r.bounds {
		r.tick.Orders[i].Payload = r.args[begin:end:end]
		begin = end
	}
	for i := range r.tick.Hashes {
		r.tick.Hashes[i].Bytes = r.crcs[2*i : 2*i+2 : 2*i+2]
	}
	r.building = false
	r.rec.Tick = &r.tick
	r.rec.TailCut = cut
	return r.rec
}

// add takes a message of the tick that is being built.
func (r *Reader) add(m *Message) error {
	t := &r.tick
	switch m.Type {
	case TimeMessage:
		if err := r.time(m); err != nil {
			return err
		}
	case PlayerLeftMessage:
		marker := orderlog.Marker{Kind: orderlog.Leave, Player: uint32(m.Queue), Peer: uint32(m.Queue), Point: t.Number}
		if player, ok := m.playerLeft(); ok {
			marker.Player = player
		} else {
			marker.Text = fmt.Sprintf("payload %#x", m.Payload[:min(len(m.Payload), 64)])
		}
		t.Markers = append(t.Markers, marker)
	default:
		t.Orders = append(t.Orders, orderlog.Order{
			Tick: t.Number, Player: uint32(m.Queue), Sequence: uint32(len(t.Orders)), Kind: uint32(m.Type - firstType),
		})
		r.args = append(r.args, m.Payload...)
		r.bounds = append(r.bounds, len(r.args))
	}
	if limits.Tick.Over(int64(len(r.args) + 64*(len(r.bounds)+len(r.crcs)/2+len(t.Markers)))) {
		return r.replay.in.corrupt(m.Offset, "tick %s: %v", TickName(t.Number), limits.Tick.Reached("", 0))
	}
	return nil
}

// time takes a GAME_TIME message: a hash, and until when its queue is read.
func (r *Reader) time(m *Message) error {
	g, ok := m.GameTime()
	if !ok {
		return r.replay.in.corrupt(m.Offset, "payload of GAME_TIME is %#x, expected latency, time, CRC and latency", m.Payload[:min(len(m.Payload), 64)])
	}
	if g.CheckTime == 0 && g.CRC == 0 {
		// The sender has no state yet.
	} else if g.CheckTime%TickLength != ordersFirstTime {
		return r.replay.in.corrupt(m.Offset, "time of GAME_TIME is %d, expected a multiple of %d and %d", g.CheckTime, TickLength, ordersFirstTime)
	} else {
		r.crcs = binary.BigEndian.AppendUint16(r.crcs, g.CRC)
		r.tick.Hashes = append(r.tick.Hashes, orderlog.Observed{
			Point: uint64(g.CheckTime / TickLength), Peer: uint32(m.Queue), Kind: CRC16, Coverage: SyncDebug,
		})
	}
	if until := uint64(g.CheckTime) + uint64(g.Latency)*TickLength; until >= r.now {
		r.due[m.Queue] = r.now + ((until-r.now)/TickLength+1)*TickLength
	}
	return nil
}
