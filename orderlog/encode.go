package orderlog

import (
	"maps"
	"slices"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// payload is a buffer for a msgpack encoder; writing to it never fails.
type payload []byte

func (p *payload) Write(b []byte) (int, error) { *p = append(*p, b...); return len(b), nil }
func (p *payload) WriteByte(c byte) error      { *p = append(*p, c); return nil }

// encoder appends MessagePack to out. Its methods drop the encoder's errors, because writing to out cannot fail.
type encoder struct {
	out payload
	enc *msgpack.Encoder
}

func newEncoder() *encoder {
	e := new(encoder)
	e.enc = msgpack.NewEncoder(&e.out)
	return e
}

func (e *encoder) array(n int)  { _ = e.enc.EncodeArrayLen(n) }
func (e *encoder) bool(b bool)  { _ = e.enc.EncodeBool(b) }
func (e *encoder) str(s string) { _ = e.enc.EncodeString(s) }

// uint uses the shortest form.
func (e *encoder) uint(n uint64) { _ = e.enc.EncodeUint(n) }

// bin encodes nil as no bytes, where the library's EncodeBytes would write nil.
func (e *encoder) bin(b []byte) {
	_ = e.enc.EncodeBytesLen(len(b))
	e.out = append(e.out, b...)
}

func (e *encoder) header(h *Header) {
	e.array(headerLen)
	e.uint(h.Seed)
	e.str(h.Peer)
	e.str(h.Build)
	e.array(rateLen)
	e.uint(uint64(h.TickRate.Num))
	e.uint(uint64(h.TickRate.Den))
	e.bin(h.Start[:])
	e.uint(h.FirstPoint)
	e.uint(uint64(h.Epoch))
	e.array(len(h.Kinds))
	for _, k := range h.Kinds {
		e.array(orderKindLen)
		e.str(k.Name)
		e.bool(k.Local)
	}
	e.array(len(h.Peers))
	for _, name := range h.Peers {
		e.str(name)
	}
	e.array(len(h.Params))
	for _, key := range slices.Sorted(maps.Keys(h.Params)) {
		e.array(paramLen)
		e.str(key)
		e.str(h.Params[key])
	}
}

func (e *encoder) tick(t *Tick) {
	e.array(tickLen)
	e.uint(t.Number)
	e.bin(t.InputHash[:])
	e.orders(t.Orders)
	e.observed(t.Hashes)
	e.array(len(t.Markers))
	for i := range t.Markers {
		m := &t.Markers[i]
		e.array(markerLen)
		e.uint(uint64(m.Kind))
		e.uint(uint64(m.Player))
		e.uint(uint64(m.Peer))
		e.uint(uint64(m.Sequence))
		e.uint(m.Point)
		e.bool(m.NewEpoch)
		if m.History == (merkle.Hash{}) {
			e.bin(nil)
		} else {
			e.bin(m.History[:])
		}
		e.str(m.Text)
	}
}

func (e *encoder) orders(list []Order) {
	e.array(len(list))
	for i := range list {
		o := &list[i]
		e.array(orderLen)
		e.uint(uint64(o.SubTick))
		e.uint(uint64(o.Player))
		e.uint(uint64(o.Sequence))
		e.uint(uint64(o.Kind))
		e.bin(o.Payload)
	}
}

func (e *encoder) observed(hashes []Observed) {
	e.array(len(hashes))
	for i := range hashes {
		o := &hashes[i]
		e.array(observedLen)
		e.uint(o.Point)
		e.uint(uint64(o.Peer))
		e.str(string(o.Kind))
		e.str(string(o.Coverage))
		e.bin(o.Bytes)
	}
}
