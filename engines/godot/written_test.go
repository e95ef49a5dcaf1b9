// The tests write their logs of Godot Rollback Netcode here, without the packages that read them.

package godot_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// dict is a dictionary in the order of its keys: key, value, key, value, ….
type dict []any

// rawValue is a value as its bytes, with its header.
type rawValue []byte

// encodeValue returns a value as version 3 or 4 of the engine stores it. It is nil, a bool, an int, a
// float64, a string, a []any, a dict, or rawValue.
func encodeValue(version int, v any) []byte {
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
		return textValue(4, v)
	case []any:
		b := u32(u32(nil, array), uint32(len(v)))
		for _, e := range v {
			b = append(b, encodeValue(version, e)...)
		}
		return b
	case dict:
		b := u32(u32(nil, dictionary), uint32(len(v)/2))
		for _, e := range v {
			b = append(b, encodeValue(version, e)...)
		}
		return b
	case rawValue:
		return v
	}
	panic(fmt.Sprintf("%T", v))
}

// textValue returns a string under the header of a type.
func textValue(header uint32, s string) rawValue {
	b := binary.LittleEndian.AppendUint32(nil, header)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	b = append(b, s...)
	return append(b, make([]byte, -len(s)&3)...)
}

// numbersValue returns numbers of 32 bits under the header of a type.
func numbersValue(header uint32, numbers ...uint32) rawValue {
	b := binary.LittleEndian.AppendUint32(nil, header)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// logContent returns the content of a log of entries.
func logContent(version int, entries ...dict) (out []byte) {
	for _, e := range entries {
		b := encodeValue(version, e)
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(b))), b...)
	}
	return out
}

// logHeader, logState and logInput return entries. A state and each player's input get a hash of their content, which
// is the same only for equal content.
func logHeader(peer int, info dict) dict {
	return dict{"log_type", 0, "peer_id", peer, "match_info", info}
}

// logState returns the state after a tick.
func logState(tick int, state dict) dict {
	return dict{"log_type", 2, "tick", tick, "state", append(state[:len(state):len(state)], "$", logSum(state))}
}

// logInput returns the inputs of a tick: a player, the player's input, and so on.
func logInput(tick int, players dict) dict {
	out := dict{}
	for i := 0; i < len(players); i += 2 {
		input := players[i+1].(dict)
		out = append(out, players[i], append(input[:len(input):len(input)], "$", logSum(input)))
	}
	return dict{"log_type", 3, "tick", tick, "input", out}
}

// logFrame returns the times of a frame.
func logFrame(tick int, more ...any) dict {
	return append(dict{"frame_type", 1, "tick", tick, "start_time", 1700000000000 + 16*tick, "duration", 0.25}, append(more, "log_type", 1)...)
}

// sum returns a hash without what the addon leaves out.
func logSum(d dict) int { return int(crc32.ChecksumIEEE(encodeValue(3, hashedValue(d)))) }

func hashedValue(v any) any {
	d, ok := v.(dict)
	if !ok {
		return v
	}
	out := dict{}
	for i := 0; i < len(d); i += 2 {
		if k, ok := d[i].(string); ok && len(k) > 1 && k[0] == '_' {
			continue
		}
		out = append(out, d[i], hashedValue(d[i+1]))
	}
	return out
}

// packLog returns content as the engine compresses it, in blocks of FastLZ.
func packLog(content []byte) []byte {
	const blockSize = 4096
	var blocks [][]byte
	for at := 0; ; at += blockSize {
		part := content[at:min(at+blockSize, len(content))]
		if len(part) < 16 {
			part = append(append([]byte(nil), part...), make([]byte, 16-len(part))...)
		}
		blocks = append(blocks, packFastLZ(part))
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
func packFastLZ(in []byte) []byte {
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
