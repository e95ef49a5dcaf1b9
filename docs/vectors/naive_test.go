package vectors

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// What follows is written from the pages of docs/ alone, as plainly as can be. It shares nothing with the rest of the
// module. The vectors are compared with it.

type buf []byte

func (b *buf) little(n uint64, width int) {
	for range width {
		*b = append(*b, byte(n))
		n >>= 8
	}
}

func (b *buf) big(n uint64, width int) {
	for i := width - 1; i >= 0; i-- {
		*b = append(*b, byte(n>>(8*i)))
	}
}

func (b *buf) add(parts ...[]byte) {
	for _, p := range parts {
		*b = append(*b, p...)
	}
}

func sha(parts ...[]byte) []byte {
	var b buf
	b.add(parts...)
	sum := sha256.Sum256(b)
	return sum[:]
}

// crc32c is bit by bit.
func crc32c(b []byte) uint32 {
	crc := ^uint32(0)
	for _, c := range b {
		crc ^= uint32(c)
		for range 8 {
			if crc&1 != 0 {
				crc = crc>>1 ^ 0x82f63b78
			} else {
				crc >>= 1
			}
		}
	}
	return ^crc
}

// pack encodes a value of a vector in the shortest form: a list is an array, a string a str, true and
// false a bool, null nil, a number an unsigned integer; {"u64":"…"} is a larger one, {"bin":"hex"} a bin,
// {"map":[key, value, …]} a map.
func pack(v any) buf {
	var b buf
	head := func(n, fix, fixMost int, codes ...byte) {
		switch {
		case n <= fixMost:
			b = append(b, byte(fix+n))
		case n < 1<<8 && len(codes) == 3:
			b = append(b, codes[0], byte(n))
		case n < 1<<16:
			b = append(b, codes[len(codes)-2])
			b.big(uint64(n), 2)
		default:
			b = append(b, codes[len(codes)-1])
			b.big(uint64(n), 4)
		}
	}
	number := func(n uint64) {
		switch {
		case n < 1<<7:
			b.big(n, 1)
		case n < 1<<8:
			b = append(b, 0xcc)
			b.big(n, 1)
		case n < 1<<16:
			b = append(b, 0xcd)
			b.big(n, 2)
		case n < 1<<32:
			b = append(b, 0xce)
			b.big(n, 4)
		default:
			b = append(b, 0xcf)
			b.big(n, 8)
		}
	}
	switch v := v.(type) {
	case nil:
		b = buf{0xc0}
	case bool:
		b = buf{0xc2}
		if v {
			b = buf{0xc3}
		}
	case json.Number:
		n, err := strconv.ParseUint(v.String(), 10, 64)
		if err != nil {
			panic(err)
		}
		number(n)
	case string:
		head(len(v), 0xa0, 31, 0xd9, 0xda, 0xdb)
		b = append(b, v...)
	case []any:
		head(len(v), 0x90, 15, 0xdc, 0xdd)
		for _, x := range v {
			b.add(pack(x))
		}
	case map[string]any:
		if s, ok := v["bin"]; ok {
			bytes := unhex(s.(string))
			head(len(bytes), 0, -1, 0xc4, 0xc5, 0xc6)
			b.add(bytes)
		} else if s, ok := v["u64"]; ok {
			return pack(json.Number(s.(string)))
		} else {
			list := v["map"].([]any)
			head(len(list)/2, 0x80, 15, 0xde, 0xdf)
			for _, x := range list {
				b.add(pack(x))
			}
		}
	default:
		panic(fmt.Sprintf("%T", v))
	}
	return b
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

var magics = map[string]string{"order log": "89444f4c0d0a1a0a", "trace": "894454520d0a1a0a", "tick signatures": "8954534947530d0a"}

func preamble(of string) buf {
	b := buf(unhex(magics[of]))
	b.little(1, 2)
	b.little(0, 2)
	b.little(uint64(crc32c(b)), 4)
	return b
}

func frame(kind uint32, payload []byte) buf {
	var b buf
	b.little(uint64(len(payload)), 4)
	b.little(uint64(kind), 4)
	b.little(uint64(crc32c(payload)), 4)
	b.little(uint64(crc32c(b)), 4)
	b.add(payload)
	return b
}

func endMarker(frames int) buf {
	var count buf
	count.little(uint64(frames), 8)
	return frame(0xffffffff, count)
}

// inputHash is the input hash of a tick of an order log, with the list of order kinds of its header.
func inputHash(kinds, tick []any) []byte {
	var b, orders buf
	n := uint64(0)
	for _, o := range tick[2].([]any) {
		o := o.([]any)
		kind := kinds[num(o[3])].([]any)
		if kind[1].(bool) {
			continue
		}
		n++
		orders.little(num(tick[0]), 8)
		for _, x := range o[:3] {
			orders.little(num(x), 4)
		}
		name, payload := kind[0].(string), unhex(o[4].(map[string]any)["bin"].(string))
		orders.little(uint64(len(name)), 4)
		orders.add([]byte(name))
		orders.little(uint64(len(payload)), 4)
		orders.add(payload)
	}
	b.little(n, 4)
	return sha(b, orders)[:8]
}

func num(v any) uint64 {
	n, err := strconv.ParseUint(string(v.(json.Number)), 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

// types are numbers and widths of the types of columns.
var types = map[string][2]int{
	"bool": {1, 1}, "i8": {2, 1}, "i16": {3, 2}, "i32": {4, 4}, "i64": {5, 8}, "u8": {6, 1}, "u16": {7, 2}, "u32": {8, 4}, "u64": {9, 8},
	"f32": {10, 4}, "f64": {11, 8}, "fixed": {12, 8}, "string": {13, 0}, "bytes": {14, 0}, "ref": {15, 8},
	"scalar": {16, 0},
}

// valueBytes are the bytes of one value in the notation of the vectors.
func valueBytes(typ, text string) []byte {
	var b buf
	width := types[typ][1]
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	switch typ {
	case "bool":
		b.little(map[string]uint64{"false": 0, "true": 1}[text], 1)
	case "i8", "i16", "i32", "i64":
		n, err := strconv.ParseInt(text, 10, 8*width)
		must(err)
		b.little(uint64(n), width)
	case "fixed": // units / scale
		n, err := strconv.ParseInt(text[:strings.IndexByte(text, '/')], 10, 64)
		must(err)
		b.little(uint64(n), 8)
	case "u8", "u16", "u32", "u64":
		n, err := strconv.ParseUint(text, 10, 8*width)
		must(err)
		b.little(n, width)
	case "ref":
		n, err := strconv.ParseUint(text[1:], 10, 64)
		must(err)
		b.little(n, 8)
	case "f32", "f64":
		if bits, ok := strings.CutPrefix(text, "nan(0x"); ok {
			n, err := strconv.ParseUint(strings.TrimSuffix(bits, ")"), 16, 8*width)
			must(err)
			b.little(n, width)
			break
		}
		f, err := strconv.ParseFloat(text, 8*width)
		must(err)
		if width == 4 {
			b.little(uint64(math.Float32bits(float32(f))), 4)
		} else {
			b.little(math.Float64bits(f), 8)
		}
	case "string", "scalar": // of a scalar, its bytes
		b = buf(text)
	case "bytes":
		b = buf(unhex(text[2:]))
	}
	return b
}

// valueBlock are the canonical bytes of a block of values; null is absent.
func valueBlock(typ string, values []any) buf {
	absent := false
	bitmap := make([]byte, (len(values)+7)/8)
	var lengths, content buf
	for i, v := range values {
		var b []byte
		if v == nil {
			absent = true
			b = make([]byte, types[typ][1])
		} else {
			bitmap[i/8] |= 1 << (i % 8)
			b = valueBytes(typ, v.(string))
		}
		lengths.little(uint64(len(b)), 4)
		content.add(b)
	}
	b := buf{0x04, 0, 0, 0}
	b.little(uint64(len(values)), 4)
	if absent {
		b[1] = 1
		b.add(bitmap)
	}
	if types[typ][1] == 0 {
		b.add(lengths)
	}
	b.add(content)
	return b
}

// keysBlock are the canonical bytes of a block of keys, "3" or "3:1".
func keysBlock(keys []any) (b buf, parts int) {
	var first, second buf
	for _, k := range keys {
		a, c, two := strings.Cut(k.(string), ":")
		parts = 1
		n, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			panic(err)
		}
		first.little(n, 8)
		if two {
			parts = 2
			if n, err = strconv.ParseUint(c, 10, 64); err != nil {
				panic(err)
			}
			second.little(n, 8)
		}
	}
	b = buf{0x03, byte(parts), 0, 0}
	b.little(uint64(len(keys)), 4)
	b.add(first, second)
	return b, parts
}

func keysDigest(parts int, blocks ...[]byte) []byte {
	b := buf{0x05, byte(parts), 0, 0}
	b.little(uint64(len(blocks)), 4)
	b.add(blocks...)
	return sha(b)
}

func columnDigest(component, field, typ string, scale uint64, blocks ...[]byte) []byte {
	b := buf{0x06, byte(types[typ][0]), 0, 0}
	b.little(scale, 4)
	b.little(uint64(len(component)), 4)
	b.little(uint64(len(field)), 4)
	b.little(uint64(len(blocks)), 4)
	b.add([]byte(component), []byte(field))
	b.add(blocks...)
	return sha(b)
}

func padded(b []byte) []byte {
	b = append([]byte{}, b...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

func rngPreimage(state []byte) buf {
	b := buf{0x01}
	b.little(uint64(len(state)), 4)
	b.little(0, 4)
	b.add(padded(state))
	return b
}

func leafPreimage(label string, rows uint64, digests ...[]byte) buf {
	b := buf{0x02}
	b.little(uint64(len(label)), 4)
	b.little(uint64(len(digests)), 4)
	b.little(rows, 8)
	b.add(padded([]byte(label)))
	b.add(digests...)
	return b
}

// levels are the nodes of a tree, the leaves first.
func levels(leaves [][]byte) [][][]byte {
	out := [][][]byte{leaves}
	for len(leaves) > 1 {
		var above [][]byte
		for i := 0; i < len(leaves); i += 2 {
			if i+1 < len(leaves) {
				above = append(above, sha(leaves[i], leaves[i+1]))
			} else {
				above = append(above, leaves[i])
			}
		}
		leaves = above
		out = append(out, leaves)
	}
	return out
}

func rootOf(leaves [][]byte) []byte {
	if len(leaves) == 0 {
		return sha()
	}
	all := levels(leaves)
	return all[len(all)-1][0]
}

// proofOf are the siblings of a leaf.
func proofOf(leaves [][]byte, i int) (siblings [][]byte) {
	for _, level := range levels(leaves) {
		if i^1 < len(level) {
			siblings = append(siblings, level[i^1])
		}
		i /= 2
	}
	return siblings
}

func cutHash(a, b uint64) uint64 {
	h := a*0x9E3779B97F4A7C15 + b*0xC2B2AE3D27D4EB4F
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	return h ^ h>>32
}

// snapFile is a .snap of one archetype with keys of one part, in one block; its numbers have the form of their type.
func snapFile(seed, tick uint64, peer string, rng []byte, label string, keys []any, columns []column) []byte {
	num := func(code byte, n uint64) buf {
		b := buf{code}
		b.big(n, map[byte]int{0xcc: 1, 0xce: 4, 0xcf: 8}[code])
		return b
	}
	bin := func(p []byte) []byte { return pack(map[string]any{"bin": hex.EncodeToString(p)}) }
	text := func(s string) []byte { return pack(s) }
	keyCell, parts := keysBlock(keys)
	cells := [][]byte{keyCell}
	digests := [][]byte{keysDigest(parts, sha(keyCell))}
	for _, c := range columns {
		cell := valueBlock(c.typ, c.values)
		cells = append(cells, cell)
		digests = append(digests, columnDigest(c.component, c.field, c.typ, c.scale, sha(cell)))
	}
	leaf := sha(leafPreimage(label, uint64(len(keys)), digests...))
	root := rootOf([][]byte{sha(rngPreimage(rng)), leaf})
	header := func(index, length uint64) (b buf) {
		b.add(buf{0x9b}, num(0xcf, seed), num(0xcf, tick), text(""), text(""), text(peer), num(0xce, 0), bin(rng), buf{0xc0}, bin(root), buf{0x80},
			buf{0x91}, buf{0x97}, num(0xcc, 0), text(label), num(0xcf, uint64(len(keys))), num(0xcc, uint64(parts)), bin(leaf), num(0xcf, index), num(0xce, length))
		return b
	}
	first := uint64(32 + len(header(0, 0)))
	at := first
	var index, firsts, rows, hashes, raw, codecs, crcs buf
	firsts.add(keyCell[8:16])
	rows.little(uint64(len(keys)), 4)
	for _, c := range cells {
		at += uint64(len(c))
		hashes.add(sha(c))
		raw.little(uint64(len(c)), 4)
		codecs = append(codecs, 0)
		crcs.little(uint64(crc32c(c)), 4)
	}
	index.add(buf{0x94}, num(0xcf, first), bin(digests[0]), buf{0x90 | byte(len(columns))})
	for i, c := range columns {
		index.add(buf{0x95}, text(c.component), text(c.field), num(0xcc, uint64(types[c.typ][0])), num(0xce, c.scale), bin(digests[1+i]))
	}
	index.add(buf{0x98}, bin(firsts), bin(nil), bin(rows), bin(hashes), bin(raw), bin(raw), bin(codecs), bin(crcs))
	index.little(uint64(crc32c(index)), 4)
	h := header(at, uint64(len(index)))
	b := buf(unhex("89534e41500d0a1a"))
	b.little(1, 2)
	b.little(0, 2)
	b.little(uint64(len(h)), 4)
	b.little(uint64(crc32c(h)), 4)
	b.little(uint64(at)+uint64(len(index))+8, 8)
	b.little(uint64(crc32c(b)), 4)
	b.add(h)
	b.add(cells...)
	b.add(index, []byte("SNAP.END"))
	return b
}

// column is a column of a snapshot, with its values in the notation of the vectors.
type column struct {
	component, field, typ string
	scale                 uint64
	values                []any
}
