package tracediff

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// frames reads the frames of a binary trace. It decodes a whole frame and then returns its records one by one.
type frames struct {
	r     *frame.Reader
	names []string

	payload []byte
	at      int    // decoded up to here
	err     error  // error in the current frame
	from    uint64 // checkpoints of earlier ticks are skipped

	// The content of the current frame.
	checkpoints []Checkpoint
	next        int // index of the next one in checkpoints
	sums        []Sum
	values      []byte
	event       Event
	isEvent     bool
}

func newBinary(r io.Reader, name string) (*frames, Header, error) {
	in, err := frame.NewReader(r, name, format)
	if err != nil {
		return nil, Header{}, err
	}
	b := &frames{r: in, names: []string{""}}
	kind, payload, err := in.Next()
	switch {
	case err == io.EOF:
		return nil, Header{}, in.Corrupt(0, "trace without a header")
	case err != nil:
		return nil, Header{}, err
	case kind != headerFrame:
		return nil, Header{}, in.Corrupt(0, "trace begins with a frame of kind %d, expected a header", kind)
	}
	b.begin(payload)
	h := b.header()
	if b.err == nil {
		b.err = h.check()
	}
	if b.err != nil {
		return nil, Header{}, in.Corrupt(0, "header: %v", b.err)
	}
	return b, h, nil
}

// more reads frames until one has records.
func (b *frames) more() error {
	for {
		kind, payload, err := b.r.Next()
		if err != nil {
			return err
		}
		if err := b.decode(kind, payload); err != nil {
			return err
		}
		if b.isEvent || len(b.checkpoints) > 0 {
			return nil
		}
	}
}

func (b *frames) decode(kind uint32, payload []byte) error {
	b.checkpoints, b.next, b.isEvent = b.checkpoints[:0], 0, false
	if b.from > 0 && kind == checkpointsFrame && tickOf(payload) < b.from {
		return nil
	}
	b.begin(payload)
	switch {
	case b.err != nil:
	case kind == namesFrame:
		for range b.array("names") {
			b.names = append(b.names, b.text("name"))
		}
		if limits.Names.Over(int64(len(b.names))) {
			b.fail("%v", limits.Names.Reached("", 0))
		}
	case kind == checkpointsFrame:
		b.decodeCheckpoints()
	case kind == eventFrame:
		b.isEvent = true
		b.decodeEvent()
	default:
		b.fail("frame of kind %d, expected names, checkpoints or an event", kind)
	}
	if b.err != nil {
		return b.r.Corrupt(0, "%v", b.err)
	}
	return nil
}

// tickOf returns the tick of a payload of checkpoints. If it cannot be found without decoding, tickOf returns the
// highest possible tick.
func tickOf(payload []byte) uint64 {
	const pair, fixint = 0x92, 0x7f
	if len(payload) < 10 || payload[0] != pair {
		return math.MaxUint64
	}
	p := payload[2:]
	switch c := payload[1]; c {
	case 0xcc:
		return uint64(p[0])
	case 0xcd:
		return uint64(binary.BigEndian.Uint16(p))
	case 0xce:
		return uint64(binary.BigEndian.Uint32(p))
	case 0xcf:
		return binary.BigEndian.Uint64(p)
	default:
		if c <= fixint {
			return uint64(c)
		}
	}
	return math.MaxUint64
}

// begin prepares the decoding of a payload. It scans the payload, so that its lengths can be trusted.
func (b *frames) begin(payload []byte) {
	b.err = frame.ScanMsgpack(payload, frame.Limits{})
	b.payload, b.at = payload, 0
	b.sums, b.values = b.sums[:0], b.values[:0]
}

func (b *frames) header() (h Header) {
	b.tuple(headerLen, "header")
	switch n := b.array("seed"); n {
	case 0:
	case 1:
		h.Seed, h.HasSeed = b.uint(math.MaxUint64, "seed"), true
	default:
		b.fail("%d seeds", n)
	}
	h.Peer = b.text("peer")
	h.Build = b.text("build")
	b.tuple(rateLen, "tick rate")
	h.RateNum = uint32(b.uint(math.MaxUint32, "tick rate"))
	h.RateDen = uint32(b.uint(math.MaxUint32, "tick rate"))
	last := ""
	for i := range b.array("pairs") {
		b.tuple(metaLen, "pair")
		key := b.text("key")
		if i > 0 && key <= last {
			b.fail("key %q follows %q, expected ascending ones", key, last)
		}
		if h.Meta == nil {
			h.Meta = map[string]string{}
		}
		h.Meta[key] = b.text("value")
		last = key
	}
	return h
}

func (b *frames) decodeCheckpoints() {
	b.tuple(2, "checkpoints")
	tick := b.uint(math.MaxUint64, "tick")
	n := b.array("checkpoints")
	if n == 0 {
		b.fail("no checkpoints")
	}
	for range n {
		length := b.array("checkpoint")
		if b.err == nil && length != checkpointLen && length != checkpointLen+1 {
			b.fail("checkpoint of %d elements, expected %d or %d", length, checkpointLen, checkpointLen+1)
		}
		c := Checkpoint{Tick: tick, System: b.name("system"), Scope: b.name("scope"), Phase: b.phase()}
		c.Sums = b.decodeSums()
		if c.HasCount = length > checkpointLen; c.HasCount {
			c.Count = b.uint(math.MaxUint64, "count")
		}
		if b.err == nil {
			b.err = c.check()
		}
		if b.err != nil {
			return
		}
		b.checkpoints = append(b.checkpoints, c)
	}
}

func (b *frames) decodeEvent() {
	b.tuple(eventLen, "event")
	b.event = Event{
		Kind:   EventKind(b.uint(math.MaxUint8, "event kind")),
		Tick:   b.uint(math.MaxUint64, "tick"),
		Other:  b.uint(math.MaxUint64, "tick"),
		Player: uint32(b.uint(math.MaxUint32, "player")),
		Phase:  b.phase(),
	}
	b.event.Sums = b.decodeSums()
	if b.err == nil {
		b.err = b.event.check()
	}
}

// decodeSums returns sums with values that are valid until the next frame.
func (b *frames) decodeSums() []Sum {
	begin := len(b.sums)
	for range b.array("sums") {
		b.tuple(sumLen, "sum")
		b.sums = append(b.sums, Sum{Name: b.name("sum")})
		sum := &b.sums[len(b.sums)-1]
		at := len(b.values)
		c := b.code()
		switch raw := b.raw("value of a sum"); {
		case isBin(c):
			b.values = hex.AppendEncode(append(b.values, "0x"...), raw)
		case isStr(c):
			b.values = append(b.values, raw...)
			if _, ok := (Sum{Value: raw}).hex(); ok {
				b.fail("value of a sum is %q as str, expected bin", quoteShort(raw))
			}
		default:
			b.fail("code 0x%02x, expected value of a sum as bin or str", c)
		}
		sum.Value = b.values[at:len(b.values):len(b.values)]
		if isBin(c) && len(sum.Value) == len("0x") {
			b.fail("value of a sum is empty")
		}
		if b.err != nil {
			return nil
		}
	}
	return b.sums[begin:len(b.sums):len(b.sums)]
}

// The methods below decode one value. After the first error they return zero values.

func (b *frames) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

func (b *frames) code() byte {
	if b.err != nil {
		return 0
	}
	if b.at >= len(b.payload) {
		b.fail("payload ends")
		return 0
	}
	return b.payload[b.at]
}

// number skips a code and returns the big-endian number of 1, 2, 4 or 8 bytes that follows.
func (b *frames) number(size int) (n uint64) {
	p := b.payload[b.at+1:]
	if len(p) < size {
		b.fail("payload ends")
		return 0
	}
	for _, c := range p[:size] {
		n = n<<8 | uint64(c)
	}
	b.at += 1 + size
	return n
}

func isStr(c byte) bool { return c >= 0xa0 && c <= 0xbf || c >= 0xd9 && c <= 0xdb }
func isBin(c byte) bool { return c >= 0xc4 && c <= 0xc6 }

func (b *frames) uint(limit uint64, what string) uint64 {
	c := b.code()
	if b.err != nil {
		return 0
	}
	var n uint64
	switch {
	case c < 0x80:
		n = uint64(c)
		b.at++
	case c >= 0xcc && c <= 0xcf:
		n = b.number(1 << (c - 0xcc))
	case c >= 0xd0 && c <= 0xd3:
		size := 1 << (c - 0xd0)
		n = b.number(size)
		if unused := 64 - 8*size; int64(n<<unused) < 0 {
			b.fail("number %d, expected %s", int64(n<<unused)>>unused, what)
		}
	default:
		b.fail("code 0x%02x, expected %s as an unsigned integer", c, what)
	}
	if n > limit {
		b.fail("number %d, expected %s of at most %d", n, what, limit)
	}
	if b.err != nil {
		return 0
	}
	return n
}

func (b *frames) array(what string) int {
	c := b.code()
	if b.err != nil {
		return 0
	}
	n := 0
	switch {
	case c >= 0x90 && c <= 0x9f:
		n = int(c & 0x0f)
		b.at++
	case c == 0xdc:
		n = int(b.number(2))
	case c == 0xdd:
		n = int(b.number(4))
	default:
		b.fail("code 0x%02x, expected array of %s", c, what)
	}
	return n
}

func (b *frames) tuple(n int, what string) {
	if got := b.array(what); b.err == nil && got != n {
		b.fail("%s of %d elements, expected %d", what, got, n)
	}
}

// raw returns the bytes of a bin or str, valid until the next frame.
func (b *frames) raw(what string) []byte {
	c := b.code()
	if b.err != nil {
		return nil
	}
	n := uint64(c & 0x1f)
	switch {
	case c >= 0xa0 && c <= 0xbf:
		b.at++
	case isBin(c):
		n = b.number(1 << (c - 0xc4))
	case isStr(c):
		n = b.number(1 << (c - 0xd9))
	default:
		b.fail("%s: not bin or str", what)
	}
	switch {
	case b.err != nil:
		return nil
	case n > uint64(len(b.payload)-b.at):
		b.fail("%s: not bin or str", what)
		return nil
	case n > MaxText:
		b.fail("%s of %d bytes, limit is %d", what, n, MaxText)
		return nil
	}
	raw := b.payload[b.at : b.at+int(n)]
	b.at += int(n)
	return raw
}

func (b *frames) text(what string) string {
	if c := b.code(); b.err == nil && !isStr(c) {
		b.fail("code 0x%02x, expected %s as str", c, what)
	}
	return string(b.raw(what))
}

// name reads the number of a name and returns the name.
func (b *frames) name(what string) string {
	id := b.uint(maxNames, what)
	if b.err == nil && id >= uint64(len(b.names)) {
		b.fail("%s has name %d of %d", what, id, len(b.names))
	}
	if b.err != nil {
		return ""
	}
	return b.names[id]
}

func (b *frames) phase() Phase { return Phase(b.uint(math.MaxUint8, "phase")) }
