package godot

import (
	"io"
	"math"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

// InputKind is the kind of all orders: one player's input in one tick.
const InputKind = "input"

// Reader reads a log as an order log. It is an orderlog.Foreign.
//
// Each tick with logged inputs is a record. The input of a player is an order: its player is the peer's number, its
// payload the input as JSON, without the hash; a player without any input has none.
type Reader struct {
	log    *Log
	header orderlog.Header
	tick   orderlog.Tick
	err    error
}

// NewReader reads the header of a log with unpacked content. It returns the errors of [NewLog].
func NewReader(r io.Reader, name string) (*Reader, error) {
	log, err := NewLog(r, name)
	if err != nil {
		return nil, err
	}
	lr := &Reader{log: log, header: orderlog.Header{
		Peer:   PeerName(log.Peer()),
		Kinds:  []orderlog.OrderKind{{Name: InputKind}},
		Params: map[string]string{},
	}}
	info := log.MatchInfo()
	for _, i := range info.Order() {
		name := "match_info." + KeyName(&info.Keys[i])
		value := string(AppendJSON(nil, &info.Values[i]))
		if len(name) <= orderlog.MaxText && len(value) <= orderlog.MaxText && len(lr.header.Params) < maxParams {
			lr.header.Params[name] = value
		}
	}
	return lr, nil
}

// maxParams is how many values of the match are kept.
const maxParams = 1 << 10

// Header returns the peer, and the game's data about the match.
func (r *Reader) Header() orderlog.Header { return r.header }

// Dialect describes how the log differs from our format.
func (r *Reader) Dialect() orderlog.Dialect {
	return orderlog.Dialect{Engine: Title, Counted: true, OwnMarkers: true}
}

// Next returns the inputs of the next tick. It returns the errors of [Log.Next].
func (r *Reader) Next() (orderlog.Record, error) {
	for r.err == nil {
		e, err := r.log.Next()
		if err == nil && e.Type != InputEntry {
			continue
		}
		var rec orderlog.Record
		if err == nil {
			rec, err = r.record(e)
		}
		if err == nil {
			return rec, nil
		}
		r.err = err
	}
	return orderlog.Record{}, r.err
}

// record makes a record of the inputs of a tick.
func (r *Reader) record(e *Entry) (orderlog.Record, error) {
	r.tick = orderlog.Tick{Number: e.Tick, Orders: r.tick.Orders[:0]}
	inputs := e.Content()
	for _, i := range inputs.Order() {
		player, ok := inputs.Keys[i].Number()
		if !ok || player < 0 || player > math.MaxUint32 {
			return orderlog.Record{}, &frame.Error{
				Name: r.log.name, Offset: e.Offset, Err: frame.ErrCorrupt,
				Msg: "input of " + KeyName(&inputs.Keys[i]) + ", expected the number of a peer",
			}
		}
		input := without(&inputs.Values[i], HashKey)
		if len(input.Keys) == 0 && input.Kind == Dictionary {
			continue
		}
		payload := AppendJSON(nil, &input)
		if len(payload) > orderlog.MaxPayload {
			return orderlog.Record{}, &frame.Error{Name: r.log.name, Offset: e.Offset, Err: frame.ErrCorrupt, Msg: "input of more than 4 MiB"}
		}
		r.tick.Orders = append(r.tick.Orders, orderlog.Order{
			Tick: r.tick.Number, Player: uint32(player), Sequence: uint32(len(r.tick.Orders)), Payload: payload,
		})
	}
	return orderlog.Record{Kind: orderlog.TickRecord, Offset: e.Offset, Tick: &r.tick}, nil
}

// without returns a dictionary without one of its keys.
func without(v *Value, key string) Value {
	if v.Get(key) == nil {
		return *v
	}
	out := Value{Kind: v.Kind, Type: v.Type}
	for i := range v.Keys {
		if k := &v.Keys[i]; k.Kind != Text || k.Text != key {
			out.Keys, out.Values = append(out.Keys, *k), append(out.Values, v.Values[i])
		}
	}
	return out
}
