package orderlog

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Array lengths of the format.
const (
	headerLen    = 10
	rateLen      = 2
	orderKindLen = 2
	paramLen     = 2
	tickLen      = 5
	orderLen     = 5
	observedLen  = 5
	markerLen    = 8
)

// decoder reads the MessagePack of one payload in place. It trusts nothing: it checks every length against the
// remaining bytes and every number against its range, and never nests deeper than the format does. It is written by
// hand because a log has millions of orders. The library's decoder makes three interface calls for each number, copies
// every payload, and accepts values of other types or out of range.
//
// After the first error all methods return zero values.
type decoder struct {
	b     []byte
	at    int
	err   error
	errAt int
	names []string // names that were read before, to avoid allocating the same string again
}

func (d *decoder) reset(b []byte) {
	d.b, d.at, d.err, d.errAt = b, 0, nil, 0
}

func (d *decoder) fail(at int, format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
		d.errAt = at
	}
	d.b = nil
	d.at = 0
}

// code returns the next byte, the first of a value.
func (d *decoder) code(what string) byte {
	if d.at >= len(d.b) {
		d.fail(d.at, "payload ends, expected %s", what)
		return 0
	}
	d.at++
	return d.b[d.at-1]
}

// big returns the next width bytes as a big-endian number.
func (d *decoder) big(width int, what string) uint64 {
	if len(d.b)-d.at < width {
		d.fail(d.at, "payload ends, expected %s", what)
		return 0
	}
	b := d.b[d.at:]
	d.at += width
	switch width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}

// u32 reads the usual forms itself. It leaves other forms and all errors to number.
func (d *decoder) u32(what string) uint32 {
	if b := d.b[d.at:]; len(b) >= 5 {
		switch c := b[0]; {
		case c < 0x80:
			d.at++
			return uint32(c)
		case c == 0xcc:
			d.at += 2
			return uint32(b[1])
		case c == 0xcd:
			d.at += 3
			return uint32(binary.BigEndian.Uint16(b[1:]))
		case c == 0xce:
			d.at += 5
			return binary.BigEndian.Uint32(b[1:])
		}
	}
	return uint32(d.number(math.MaxUint32, what))
}

func (d *decoder) u64(what string) uint64 { return d.number(math.MaxUint64, what) }

// number reads an unsigned integer in any form. A signed form is accepted if the value is not negative.
func (d *decoder) number(limit uint64, what string) uint64 {
	at := d.at
	c := d.code(what)
	var n uint64
	switch {
	case c < 0x80:
		n = uint64(c)
	case c >= 0xcc && c <= 0xcf:
		n = d.big(1<<(c-0xcc), what)
	case c >= 0xd0 && c <= 0xd3:
		width := 1 << (c - 0xd0)
		n = d.big(width, what)
		if n>>(8*width-1) != 0 {
			d.fail(at, "negative number, expected %s", what)
			return 0
		}
	default:
		d.fail(at, "code 0x%02x, expected %s as an unsigned integer", c, what)
		return 0
	}
	if n > limit {
		d.fail(at, "number %d, expected %s of at most %d", n, what, limit)
		return 0
	}
	return n
}

// array reads the length of an array with elements of at least size bytes each. A length that does not fit the payload
// is an error.
func (d *decoder) array(size int, what string) int {
	at := d.at
	c := d.code(what)
	var n uint64
	switch {
	case c >= 0x90 && c <= 0x9f:
		n = uint64(c & 0x0f)
	case c == 0xdc:
		n = d.big(2, what)
	case c == 0xdd:
		n = d.big(4, what)
	default:
		d.fail(at, "code 0x%02x, expected array of %s", c, what)
		return 0
	}
	if left := len(d.b) - d.at; n > uint64(left/size) {
		d.fail(at, "array of %d %s, %d bytes left", n, what, left)
		return 0
	}
	return int(n)
}

// table reads the length of one of the header's lists.
func (d *decoder) table(size int, what string) int {
	at := d.at
	n := d.array(size, what)
	if n > maxTable {
		d.fail(at, "array of %d %s, limit is %d", n, what, maxTable)
		return 0
	}
	return n
}

// tuple reads the length of an array that must have n elements.
func (d *decoder) tuple(n int, what string) {
	if d.at < len(d.b) && d.b[d.at] == 0x90|byte(n) {
		d.at++
		return
	}
	at := d.at
	if got := d.array(1, what); got != n {
		d.fail(at, "%s of %d elements, expected %d", what, got, n)
	}
}

func (d *decoder) bool(what string) bool {
	at := d.at
	c := d.code(what)
	if c != 0xc2 && c != 0xc3 {
		d.fail(at, "code 0x%02x, expected %s as a bool", c, what)
	}
	return c == 0xc3
}

// bin returns a slice of the payload. It is nil only after an error.
func (d *decoder) bin(what string) []byte {
	at := d.at
	if b := d.b[at:]; len(b) >= 2 && b[0] == 0xc4 && len(b) >= 2+int(b[1]) {
		end := 2 + int(b[1])
		d.at += end
		return b[2:end:end]
	}
	c := d.code(what)
	if c < 0xc4 || c > 0xc6 {
		d.fail(at, "code 0x%02x, expected %s as bin", c, what)
		return nil
	}
	return d.bytes(d.big(1<<(c-0xc4), what), what)
}

func (d *decoder) str(what string) []byte {
	at := d.at
	switch c := d.code(what); {
	case c >= 0xa0 && c <= 0xbf:
		return d.bytes(uint64(c&0x1f), what)
	case c >= 0xd9 && c <= 0xdb:
		return d.bytes(d.big(1<<(c-0xd9), what), what)
	default:
		d.fail(at, "code 0x%02x, expected %s as str", c, what)
		return nil
	}
}

func (d *decoder) bytes(n uint64, what string) []byte {
	if left := len(d.b) - d.at; n > uint64(left) {
		d.fail(d.at, "%s of %d bytes, %d left", what, n, left)
		return nil
	}
	d.at += int(n)
	return d.b[d.at-int(n) : d.at : d.at]
}

// fixed fills out from a bin of that length.
func (d *decoder) fixed(out []byte, what string) {
	at := d.at
	b := d.bin(what)
	if len(b) != len(out) {
		d.fail(at, "%s of %d bytes, expected %d", what, len(b), len(out))
		return
	}
	copy(out, b)
}

// name returns a string that probably occurs again.
func (d *decoder) name(what string) string {
	b := d.str(what)
	if len(b) == 0 {
		return ""
	}
	for _, s := range d.names {
		if s == string(b) {
			return s
		}
	}
	s := string(b)
	if len(d.names) < 32 {
		d.names = append(d.names, s)
	}
	return s
}

// finish reports an error if bytes follow the value.
func (d *decoder) finish() {
	if d.err == nil && d.at < len(d.b) {
		d.fail(d.at, "%d bytes after the record", len(d.b)-d.at)
	}
}

func (d *decoder) header(h *Header) {
	d.tuple(headerLen, "header")
	h.Seed = d.u64("seed")
	h.Peer = string(d.str("peer"))
	h.Build = string(d.str("build"))
	d.tuple(rateLen, "tick rate")
	h.TickRate.Num = d.u32("tick rate")
	h.TickRate.Den = d.u32("tick rate")
	d.fixed(h.Start[:], "start hash")
	h.FirstPoint = d.u64("first point")
	h.Epoch = d.u32("epoch")
	h.Kinds = make([]OrderKind, d.table(1+orderKindLen, "order kinds"))
	for i := range h.Kinds {
		d.tuple(orderKindLen, "order kind")
		h.Kinds[i] = OrderKind{string(d.str("order kind")), d.bool("local")}
	}
	h.Peers = make([]string, d.table(1, "peers"))
	for i := range h.Peers {
		h.Peers[i] = string(d.str("peer"))
	}
	params := d.table(1+paramLen, "parameters")
	h.Params = make(map[string]string, params)
	last := ""
	for i := range params {
		at := d.at
		d.tuple(paramLen, "parameter")
		key := string(d.str("parameter"))
		if i > 0 && key <= last {
			d.fail(at, "parameter %q follows %q, expected ascending keys", key, last)
		}
		h.Params[key] = string(d.str("parameter"))
		last = key
	}
	d.finish()
}

// tick fills t and reuses its slices. Its byte slices point into the payload.
func (d *decoder) tick(t *Tick) {
	d.tuple(tickLen, "tick")
	t.Number = d.u64("tick")
	d.fixed(t.InputHash[:], "input hash")
	t.Orders = d.orders(t.Orders[:0], t.Number)
	t.Hashes = d.observed(t.Hashes)
	n := d.array(2+markerLen, "markers")
	t.Markers = slices.Grow(t.Markers[:0], n)[:n]
	for i := range t.Markers {
		d.marker(&t.Markers[i])
	}
	d.finish()
}

// orders appends the orders of a tick to dst.
func (d *decoder) orders(dst []Order, tick uint64) []Order {
	n := d.array(2+orderLen, "orders")
	first := len(dst)
	dst = slices.Grow(dst, n)[:first+n]
	for i := range dst[first:] {
		o := &dst[first+i]
		d.tuple(orderLen, "order")
		o.Tick = tick
		o.SubTick = d.u32("sub tick")
		o.Player = d.u32("player")
		o.Sequence = d.u32("sequence")
		o.Kind = d.u32("order kind")
		o.Payload = d.bin("order payload")
	}
	return dst
}

func (d *decoder) observed(hashes []Observed) []Observed {
	n := d.array(2+observedLen, "hashes")
	hashes = slices.Grow(hashes[:0], n)[:n]
	for i := range hashes {
		o := &hashes[i]
		d.tuple(observedLen, "hash")
		o.Point = d.u64("point")
		o.Peer = d.u32("peer")
		o.Kind = HashKind(d.name("hash kind"))
		o.Coverage = Coverage(d.name("coverage"))
		o.Bytes = d.bin("hash")
	}
	return hashes
}

func (d *decoder) marker(m *Marker) {
	d.tuple(markerLen, "marker")
	m.Kind = MarkerKind(d.number(math.MaxUint8, "marker kind"))
	m.Player = d.u32("player")
	m.Peer = d.u32("peer")
	m.Sequence = d.u32("sequence")
	m.Point = d.u64("point")
	m.NewEpoch = d.bool("new epoch")
	at := d.at
	history := d.bin("history hash")
	m.History = merkle.Hash{}
	if copy(m.History[:], history) != len(history) || len(history) > 0 && len(history) < merkle.HashSize {
		d.fail(at, "history hash of %d bytes, expected 0 or %d", len(history), merkle.HashSize)
	}
	if len(history) > 0 && (m.History.IsZero() || !m.NewEpoch) {
		d.fail(at, "history hash that is all zero or of a marker without a new epoch, expected none")
	}
	m.Text = string(d.str("text"))
}
