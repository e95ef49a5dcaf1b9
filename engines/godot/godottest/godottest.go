// Package godottest writes logs of Godot Rollback Netcode for tests. It does not use the packages that read them.
package godottest

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Dict is a dictionary in the order of its keys: key, value, key, value, ….
type Dict []any

// Raw is a value as its bytes, with its header.
type Raw []byte

// Encode returns a value as version 3 or 4 of the engine stores it. It is nil, a bool, an int, a
// float64, a string, a []any, a Dict, or Raw.
func Encode(version int, v any) []byte {
	dictionary, array := uint32(18), uint32(19)
	if version == 4 {
		dictionary, array = 27, 28
	}
	u32 := binary.LittleEndian.AppendUint32
	switch v := v.(type) {
	case nil:
		return u32(nil, 0)
	case bool:
		n := uint32(0)
		if v {
			n = 1
		}
		return u32(u32(nil, 1), n)
	case int:
		if v >= math.MinInt32 && v <= math.MaxInt32 {
			return u32(u32(nil, 2), uint32(v))
		}
		return binary.LittleEndian.AppendUint64(u32(nil, 2|1<<16), uint64(v))
	case float64:
		if float64(float32(v)) == v {
			return u32(u32(nil, 3), math.Float32bits(float32(v)))
		}
		return binary.LittleEndian.AppendUint64(u32(nil, 3|1<<16), math.Float64bits(v))
	case string:
		return Text(4, v)
	case []any:
		b := u32(u32(nil, array), uint32(len(v)))
		for _, e := range v {
			b = append(b, Encode(version, e)...)
		}
		return b
	case Dict:
		b := u32(u32(nil, dictionary), uint32(len(v)/2))
		for _, e := range v {
			b = append(b, Encode(version, e)...)
		}
		return b
	case Raw:
		return v
	}
	panic(fmt.Sprintf("%T", v))
}

// Text returns a string under the header of a type.
func Text(header uint32, s string) Raw {
	b := binary.LittleEndian.AppendUint32(nil, header)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	b = append(b, s...)
	return append(b, make([]byte, -len(s)&3)...)
}

// Numbers returns numbers of 32 bits under the header of a type.
func Numbers(header uint32, numbers ...uint32) Raw {
	b := binary.LittleEndian.AppendUint32(nil, header)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// Content returns the content of a log of entries.
func Content(version int, entries ...Dict) (out []byte) {
	for _, e := range entries {
		b := Encode(version, e)
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
	}
	return out
}

// Header, State and Input return entries. A state and each player's input get a hash of their content, which is the
// same only for equal content.
func Header(peer int, info Dict) Dict {
	return Dict{"log_type", 0, "peer_id", peer, "match_info", info}
}

// State returns the state after a tick.
func State(tick int, state Dict) Dict {
	return Dict{"log_type", 2, "tick", tick, "state", append(state[:len(state):len(state)], "$", sum(state))}
}

// Input returns the inputs of a tick: a player, the player's input, and so on.
func Input(tick int, players Dict) Dict {
	out := Dict{}
	for i := 0; i < len(players); i += 2 {
		input := players[i+1].(Dict)
		out = append(out, players[i], append(input[:len(input):len(input)], "$", sum(input)))
	}
	return Dict{"log_type", 3, "tick", tick, "input", out}
}

// Frame returns the times of a frame.
func Frame(tick int, more ...any) Dict {
	return append(Dict{"frame_type", 1, "tick", tick, "start_time", 1700000000000 + 16*tick, "duration", 0.25}, append(more, "log_type", 1)...)
}

// sum returns a hash without what the addon leaves out.
func sum(d Dict) int { return int(crc32.ChecksumIEEE(Encode(3, hashed(d)))) }

func hashed(v any) any {
	d, ok := v.(Dict)
	if !ok {
		return v
	}
	out := Dict{}
	for i := 0; i < len(d); i += 2 {
		if k, ok := d[i].(string); ok && len(k) > 1 && k[0] == '_' {
			continue
		}
		out = append(out, d[i], hashed(d[i+1]))
	}
	return out
}

// Pack returns content as the engine compresses it, in blocks of FastLZ.
func Pack(content []byte) []byte {
	const blockSize = 4096
	var blocks [][]byte
	for at := 0; ; at += blockSize {
		part := content[at:min(at+blockSize, len(content))]
		if len(part) < 16 {
			part = append(append([]byte(nil), part...), make([]byte, 16-len(part))...)
		}
		blocks = append(blocks, fastLZ(part))
		if len(content)-at < blockSize {
			break
		}
	}
	out := []byte("GCPF")
	for _, n := range []int{0, blockSize, len(content)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	for _, b := range blocks {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(b)))
	}
	for _, b := range blocks {
		out = append(out, b...)
	}
	return append(out, "GCPF"...)
}

// fastLZ packs a block at level 1, using the last place at which three bytes occurred.
func fastLZ(in []byte) []byte {
	var out []byte
	var literals []byte
	flush := func() {
		for len(literals) > 0 {
			n := min(32, len(literals))
			out = append(append(out, byte(n-1)), literals[:n]...)
			literals = literals[n:]
		}
	}
	seen := map[[3]byte]int{}
	for i := 0; i < len(in); {
		n := 0
		if i+3 <= len(in) {
			key := [3]byte(in[i:])
			from, ok := seen[key]
			seen[key] = i
			if ok && i > 0 {
				for i+n < len(in) && n < 264 && in[from+n] == in[i+n] {
					n++
				}
				if n >= 3 && i-from <= 8191 {
					flush()
					distance := i - from - 1
					if n < 9 {
						out = append(out, byte((n-2)<<5|distance>>8))
					} else {
						out = append(out, byte(7<<5|distance>>8), byte(n-9))
					}
					out = append(out, byte(distance))
					i += n
					continue
				}
			}
		}
		literals = append(literals, in[i])
		i++
	}
	flush()
	return out
}
