// Package mutate changes single values in MessagePack, for fuzz targets and for generated orders. The result is valid
// MessagePack again, so that it passes the parser and tests the handling of the values.
package mutate

import (
	"encoding/binary"
	"math"
	"slices"
)

// Span is the position of a value: its bytes are b[From:To]. For a list or map this includes its whole content.
type Span struct{ From, To int }

// Spans returns the positions of the values in b, ordered by their starts. b must be one MessagePack value; otherwise
// the result is nil.
func Spans(b []byte) []Span {
	var list []Span
	if end, ok := scan(b, 0, 0, &list); !ok || end != len(b) {
		return nil
	}
	return list
}

// maxDepth is how deep lists may be nested.
const maxDepth = 64

func scan(b []byte, at, depth int, list *[]Span) (end int, ok bool) {
	if at >= len(b) || depth > maxDepth {
		return 0, false
	}
	n := len(*list)
	*list = append(*list, Span{From: at})
	c := b[at]
	at++
	size, items := 0, 0
	length := func(width int) (n int) {
		if width > len(b)-at {
			at = len(b) + 1
			return 0
		}
		for _, c := range b[at : at+width] {
			n = n<<8 | int(c)
		}
		at += width
		return n
	}
	switch {
	case c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3:
	case c <= 0x8f:
		items = 2 * int(c&0x0f)
	case c <= 0x9f:
		items = int(c & 0x0f)
	case c <= 0xbf:
		size = int(c & 0x1f)
	case c >= 0xc4 && c <= 0xc6:
		size = length(1 << (c - 0xc4))
	case c >= 0xc7 && c <= 0xc9:
		size = 1 + length(1<<(c-0xc7))
	case c == 0xca || c == 0xcb:
		size = 4 << (c - 0xca)
	case c >= 0xcc && c <= 0xcf:
		size = 1 << (c - 0xcc)
	case c >= 0xd0 && c <= 0xd3:
		size = 1 << (c - 0xd0)
	case c >= 0xd4 && c <= 0xd8:
		size = 1 + 1<<(c-0xd4)
	case c >= 0xd9 && c <= 0xdb:
		size = length(1 << (c - 0xd9))
	case c == 0xdc || c == 0xdd:
		items = length(2 << (c - 0xdc))
	case c == 0xde || c == 0xdf:
		items = 2 * length(2<<(c-0xde))
	default:
		return 0, false
	}
	if at > len(b) || size > len(b)-at || items > len(b)-at {
		return 0, false
	}
	at += size
	for range items {
		if at, ok = scan(b, at, depth+1, list); !ok {
			return 0, false
		}
	}
	(*list)[n].To = at
	return at, true
}

// edge are numbers at which something may overflow.
var edge = []uint64{
	0, 1, 2, 7, 8, 63, 64, 65, math.MaxInt8, math.MaxUint8, math.MaxUint8 + 1, math.MaxUint16, math.MaxUint16 + 1, math.MaxInt32, math.MaxUint32,
	math.MaxUint32 + 1, 1 << 48, 1<<53 + 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64,
}

// Change makes changes in b, one MessagePack value. Every four bytes of script are one change: which value, which
// change, and with what. Impossible changes are skipped. The result is one valid MessagePack value.
func Change(b, script []byte) []byte {
	for ; len(script) >= 4; script = script[4:] {
		list := Spans(b)
		if list == nil {
			return b
		}
		s := list[int(binary.LittleEndian.Uint16(script))%len(list)]
		b = change(b, list, s, script[2], script[3])
	}
	return b
}

// change makes one change of the value s.
func change(b []byte, list []Span, s Span, how, with byte) []byte {
	old := b[s.From:s.To]
	other := list[int(with)%len(list)]
	var by []byte
	switch how % 10 {
	case 0:
		by = Number(edge[int(with)%len(edge)])
	case 1:
		by = Number(uint64(with))
	case 2: // a nearby number
		by = Number(number(old) + uint64(int64(int8(with))))
	case 3:
		by = slices.Clone(b[other.From:other.To]) // another value in its place
	case 4:
		by = []byte{0xc0}
	case 5: // a text of this length
		by = append([]byte{0xd9, with}, slices.Repeat([]byte{'a' + with%26}, int(with))...)
	case 6: // bytes of this length
		by = append([]byte{0xc4, with}, make([]byte, with)...)
	case 7: // one item fewer or more
		by = resize(b, list, s, with)
	case 8: // one byte in it is changed
		if len(old) < 2 || container(old[0]) {
			return b
		}
		by = slices.Clone(old)
		by[1+int(with)%(len(by)-1)] ^= 1 << (with % 8)
	case 9: // swapped with another value
		if s.From >= other.To {
			s, other = other, s
		}
		if s.To > other.From {
			return b
		}
		return slices.Concat(b[:s.From], b[other.From:other.To], b[s.To:other.From], b[s.From:s.To], b[other.To:])
	}
	if by == nil {
		return b
	}
	out := slices.Concat(b[:s.From], by, b[s.To:])
	if Spans(out) == nil {
		return b // the change affected a length
	}
	return out
}

// container reports whether a value with this first byte is a list or a map.
func container(c byte) bool { return c >= 0x80 && c <= 0x9f || c >= 0xdc && c <= 0xdf }

// number returns the value of an unsigned number, else 0.
func number(b []byte) (n uint64) {
	switch c := b[0]; {
	case c < 0x80:
		return uint64(c)
	case c >= 0xcc && c <= 0xcf:
		for _, c := range b[1:] {
			n = n<<8 | uint64(c)
		}
	}
	return n
}

// Number returns an unsigned number in its shortest form.
func Number(n uint64) []byte {
	be := binary.BigEndian
	switch {
	case n < 0x80:
		return []byte{byte(n)}
	case n <= math.MaxUint8:
		return []byte{0xcc, byte(n)}
	case n <= math.MaxUint16:
		return be.AppendUint16([]byte{0xcd}, uint16(n))
	case n <= math.MaxUint32:
		return be.AppendUint32([]byte{0xce}, uint32(n))
	}
	return be.AppendUint64([]byte{0xcf}, n)
}

// resize removes the last item of a short list, or repeats it. For anything else it returns nil.
func resize(b []byte, list []Span, s Span, with byte) []byte {
	c := b[s.From]
	if c < 0x90 || c > 0x9f {
		return nil
	}
	n := int(c & 0x0f)
	if n == 0 {
		return nil
	}
	last := Span{From: s.From + 1}
	for _, item := range list { // the items of the list are consecutive spans in it
		if item.From == last.From && item.To <= s.To && item.From > s.From {
			if last = item; item.To == s.To {
				break
			}
			last = Span{From: item.To}
		}
	}
	switch {
	case with%2 == 0:
		return append([]byte{0x90 | byte(n-1)}, b[s.From+1:last.From]...)
	case n < 15:
		return slices.Concat([]byte{0x90 | byte(n+1)}, b[s.From+1:s.To], b[last.From:last.To])
	}
	return nil
}
