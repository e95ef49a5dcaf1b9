package check

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

const chainMagic = "\x89TSIGS\r\n"

// Kinds of frames of a chain, and sizes.
const (
	chainHeader = 1
	chainEntry  = 2
	chainEnd    = 3

	maxChainPayload = 1 << 20
	chainSigned     = 80 // bytes of an entry before its signature
	endSigned       = 40 // bytes of an end before its signature
)

// chainKeys are the keys of the header, in their order.
var chainKeys = []string{"seed", "peer", "key", "start"}

// chainChecker checks one chain of tick signatures.
type chainChecker struct {
	c     *checker
	known facts

	headed  bool // there was a header with everything that the chain needs
	key     []byte
	last    []byte // link of the entry before, or the genesis
	tick    uint64
	entries uint64
	ended   bool
}

func checkChain(c *checker, in *input) (facts, error) {
	l := &chainChecker{c: c}
	if err := readFrames(c, in.content, l.frame); err != nil {
		return facts{}, err
	}
	if l.headed && !l.ended {
		c.add("sign-no-end", place{}, "no end: nothing shows whether entries are missing at the end")
	}
	return l.known, nil
}

func (l *chainChecker) frame(n int, offset int64, kind uint32, payload []byte) {
	in := fmt.Sprintf("frame %d", n)
	at := offsetAt(offset, in)
	switch {
	case len(payload) > maxChainPayload:
		l.c.add("sign-limit", at, "the payload has %d bytes, at most %d are allowed", len(payload), maxChainPayload)
	case (n == 0) != (kind == chainHeader):
		l.c.add("sign-header-first", at, "frame %d has kind %d; the first one is the header, kind 1, and no other", n, kind)
	case kind == chainHeader:
		l.header(offset, payload)
	case l.ended:
		l.c.add("sign-kind", at, "a frame of kind %d after the end of the chain", kind)
	case kind == chainEntry && len(payload) == chainSigned+ed25519.SignatureSize:
		if l.headed {
			l.entry(offset, payload, in)
		}
	case kind == chainEnd && len(payload) == endSigned+ed25519.SignatureSize:
		if l.ended = true; l.headed {
			l.end(offset, payload, in)
		}
	default:
		l.c.add("sign-kind", at, "a frame of kind %d with %d bytes; entries, kind 2, have 144, the end, kind 3, has 104", kind, len(payload))
	}
}

// header walks over the map, and computes the genesis.
func (l *chainChecker) header(offset int64, payload []byte) {
	w := walker{c: l.c, b: payload, base: offset, in: "frame 0, header", value: "sign-header", shape: "sign-header", shortest: "sign-shortest", text: "sign-limit", utf8: "sign-utf8", most: maxText}
	n := w.mapping("the header")
	var seed uint64
	var peer string
	var key, start []byte
	have := map[string]bool{}
	for i := 0; i < n && !w.bad; i++ {
		at := w.at
		name := w.str("a key")
		switch name {
		case "seed":
			seed = w.uint(1<<64-1, "seed")
		case "peer":
			peer = w.str("peer")
		case "key":
			key = bytes.Clone(w.fixed(ed25519.PublicKeySize, "key"))
		case "start":
			start = bytes.Clone(w.fixed(hashSize, "start"))
		default:
			w.note("sign-unknown", at, "key %s: no signature covers it", quoted(name))
			skip(&w, 0)
		}
		switch {
		case have[name]:
			w.fail("sign-header", at, "%s is there twice", quoted(name))
		case i < len(chainKeys) && name != chainKeys[i]:
			w.note("sign-shortest", at, "key %d is %s, expected %s", i, quoted(name), quoted(chainKeys[i]))
		}
		have[name] = true
	}
	w.finish()
	for _, name := range chainKeys {
		if !have[name] {
			w.fail("sign-header", 0, "the header has no %s", quoted(name))
		}
	}
	if w.bad || len(peer) > maxText {
		return
	}
	l.headed, l.key = true, key
	l.known.seed, l.known.seeded = seed, true
	b := binary.LittleEndian.AppendUint64([]byte("desynctool tick-signatures 1 genesis\n"), seed)
	b = append(append(b, key...), start...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(peer)))
	l.last = hashOf(append(b, peer...))
}

// skip passes over a value of any type that MessagePack has without extensions.
func skip(w *walker, depth int) {
	at := w.at
	c, ok := w.code("a value")
	more := func(n uint64) {
		if depth == 64 {
			w.fail("sign-header", at, "nested deeper than 64")
		}
		for ; n > 0 && !w.bad; n-- {
			skip(w, depth+1)
		}
	}
	switch {
	case !ok, c <= 0x7f, c >= 0xe0, c == 0xc0, c == 0xc2, c == 0xc3:
	case c <= 0x8f:
		more(2 * uint64(c&15))
	case c <= 0x9f:
		more(uint64(c & 15))
	case c <= 0xbf:
		w.bytes(uint64(c&31), "a value")
	case c >= 0xc4 && c <= 0xc6:
		w.bytes(w.big(1<<(c-0xc4), "a length"), "a value")
	case c >= 0xd9 && c <= 0xdb:
		w.bytes(w.big(1<<(c-0xd9), "a length"), "a value")
	case c == 0xca, c == 0xcb:
		w.bytes(4<<(c-0xca), "a value")
	case c >= 0xcc && c <= 0xd3:
		w.bytes(1<<(c&3), "a value")
	case c >= 0xdc && c <= 0xdd:
		more(w.big(2<<(c-0xdc), "a length"))
	case c >= 0xde && c <= 0xdf:
		more(2 * w.big(2<<(c-0xde), "a length"))
	default:
		w.fail("sign-header", at, "code 0x%02x, which no value here has", c)
	}
}

func hashOf(b []byte) []byte { h := sha256.Sum256(b); return h[:] }

// signed checks a signature of a text followed by the bytes before the signature.
func (l *chainChecker) signed(text string, b []byte, signature int) bool {
	return ed25519.Verify(l.key, append([]byte(text), b[:signature]...), b[signature:])
}

func (l *chainChecker) entry(offset int64, b []byte, in string) {
	skipped, tick := binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])
	in = fmt.Sprintf("%s, tick %d", in, tick)
	if !l.signed("desynctool tick-signatures 1 entry\n", b, chainSigned) {
		l.c.add("sign-signature", offsetAt(offset+chainSigned, in), "the signature is not valid under the header's key")
	}
	if !bytes.Equal(b[:32], l.last) {
		l.c.add("sign-previous", offsetAt(offset, in), "previous is %x, the entry before has link %x", b[:8], l.last[:8])
	}
	switch {
	case l.entries > 0 && tick <= l.tick:
		l.c.add("sign-ascending", offsetAt(offset+40, in), "tick %d after tick %d", tick, l.tick)
	case l.entries == 0 && skipped != 0:
		l.c.add("sign-skipped", offsetAt(offset+32, in), "skipped is %d in the first entry, expected 0", skipped)
	case l.entries > 0 && skipped != tick-l.tick-1:
		l.c.add("sign-skipped", offsetAt(offset+32, in), "skipped is %d after tick %d, expected %d", skipped, l.tick, tick-l.tick-1)
	}
	l.last = hashOf(append([]byte("desynctool tick-signatures 1 link\n"), b...))
	l.tick = tick
	l.entries++
}

func (l *chainChecker) end(offset int64, b []byte, in string) {
	in += ", end"
	if !l.signed("desynctool tick-signatures 1 end\n", b, endSigned) {
		l.c.add("sign-signature", offsetAt(offset+endSigned, in), "the signature is not valid under the header's key")
	}
	if !bytes.Equal(b[:32], l.last) {
		l.c.add("sign-last", offsetAt(offset, in), "last is %x, the last entry has link %x", b[:8], l.last[:8])
	}
	if count := binary.LittleEndian.Uint64(b[32:]); count != l.entries {
		l.c.add("sign-count", offsetAt(offset+32, in), "count is %d, the file has %d entries", count, l.entries)
	}
}
