package relay

import (
	"encoding/binary"
	"hash/crc32"
)

// Kinds of packets, parts of questions and states of answers, by docs/exchange.md.
const (
	beat = iota + 1
	alert
	question
	answer
	reportChunk
	got
)

const (
	askStatus = iota + 1
	askHistory
	askSteps
	askTables
	askColumns
	askBuckets
	askRows
	askNames
)

const (
	packetMost = 1000
	headSize   = 20
	body       = packetMost - headSize - 4
	partsMost  = 31
	partSize   = 31
	chunkSize  = 960
	chunksMost = 128
	endOfTick  = 0xffff
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func mix(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 29
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>32
}

func hashOf(b []byte) uint64 {
	h := mix(uint64(len(b)) + 0x5bd1e995)
	for ; len(b) >= 8; b = b[8:] {
		h = mix(h^binary.LittleEndian.Uint64(b)) + 0x2545f4914f6cdd1d
	}
	var rest [8]byte
	copy(rest[:], b)
	return mix(h ^ binary.LittleEndian.Uint64(rest[:]))
}

func rowHash(key, key2 uint64) uint64 { return mix(mix(key+0x632be59bd9b4e019) ^ key2) }

// within reports whether a row hash begins with the first 6×depth bits of another.
func within(row, of uint64, depth int) bool {
	return depth == 0 || row>>(64-6*depth) == of>>(64-6*depth)
}

// A reader reads little-endian numbers. Past its end it is bad, and gives zeros.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) number(n int) uint64 {
	var all [8]byte
	copy(all[:], r.bytes(n))
	return binary.LittleEndian.Uint64(all[:])
}

func (r *reader) text() string { return string(r.bytes(int(r.number(1)))) }

func appendNumber(b []byte, v uint64, n int) []byte {
	return append(b, binary.LittleEndian.AppendUint64(nil, v)[:n]...)
}

func appendText(b []byte, text string) []byte {
	text = text[:min(len(text), 255)]
	return append(append(b, byte(len(text))), text...)
}

// A value is as packets and reports have it: its state, its bytes, and of a beginning the length and hash of the whole.
type value []byte

const (
	noValue = iota
	wholeValue
	beginning
	noRow
)

func (r *reader) value() value {
	all := r.b
	switch state := r.number(1); state {
	case noValue, noRow:
	case wholeValue:
		r.bytes(int(r.number(1)))
	case beginning:
		r.bytes(int(r.number(1)))
		r.bytes(12)
	default:
		r.bad = true
	}
	return all[:len(all)-len(r.b)]
}

// shown are the bytes of a value that are there.
func (v value) shown() []byte {
	if v[0] != wholeValue && v[0] != beginning {
		return nil
	}
	return v[2 : 2+int(v[1])]
}

// is reports whether two values are the same: peers may keep beginnings of other lengths.
func (v value) is(other value) bool {
	if string(v) == string(other) {
		return true
	}
	if v[0] == beginning {
		v, other = other, v
	}
	if v[0] != wholeValue || other[0] != beginning {
		return false
	}
	r := reader{b: other[len(other)-12:]}
	return int(r.number(4)) == len(v.shown()) && r.number(8) == hashOf(v.shown())
}

// A part of a question. Answers do not depend on listed.
type part struct {
	what, depth, step, listed int
	table, column             uint32
	point, from               uint64
	count                     int
}

func (p *part) append(b []byte, index int) []byte {
	b = append(b, byte(index), byte(p.what), byte(p.depth))
	b = appendNumber(appendNumber(b, uint64(p.step), 2), uint64(p.count), 2)
	b = appendNumber(appendNumber(b, uint64(p.table), 4), uint64(p.column), 4)
	return appendNumber(appendNumber(b, p.point, 8), p.from, 8)
}

// packet begins a packet.
func (r *Relay) packet(kind byte, id uint32) []byte {
	b := append(make([]byte, 0, packetMost), "DF\x01"...)
	b = appendNumber(append(b, kind), r.seed, 8)
	return appendNumber(appendNumber(b, uint64(r.schema), 4), uint64(id), 4)
}

// sealed appends the checksum.
func sealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}
