package snapshot

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// rngKey is the property of a state that describes its RNG state in words.
const rngKey = "rng"

// SetRNG sets the state of the random number generator, and the text that output shows for it. Example: "count 12, last
// 7" for a generator with a state that consists of a number and a count.
func (h *Head) SetRNG(state []byte, words string) {
	h.RNG = state
	if h.Meta == nil {
		h.Meta = map[string]string{}
	}
	h.Meta[rngKey] = words
}

// rngValues returns the different RNG states of two states. They are in words if both states have words and these
// differ, else bytes.
func rngValues(a, b *Head) (va, vb Value) {
	wa, wb := a.Meta[rngKey], b.Meta[rngKey]
	if a.RNG != nil && b.RNG != nil && wa != "" && wb != "" && wa != wb {
		return Value{Type: String, Raw: []byte(wa)}, Value{Type: String, Raw: []byte(wb)}
	}
	return Value{Type: Bytes, Absent: a.RNG == nil, Raw: a.RNG}, Value{Type: Bytes, Absent: b.RNG == nil, Raw: b.RNG}
}

// generators are steps of known generators, by the size of their state. PCG has its increment after the state.
var generators = map[int][]func(s []byte){
	4: {
		func(s []byte) { put32(s, get32(s)*1664525+1013904223) }, // Numerical Recipes
		func(s []byte) { put32(s, get32(s)*214013+2531011) },     // Microsoft's rand
		func(s []byte) { put32(s, get32(s)*1103515245+12345) },   // ANSI C
	},
	8: {
		func(s []byte) { put64(s, get64(s)+0x9e3779b97f4a7c15) },                       // SplitMix64
		func(s []byte) { put64(s, get64(s)*6364136223846793005+1442695040888963407) },  // MMIX
		func(s []byte) { put64(s, (get64(s)*0x5deece66d+11)&(1<<48-1)) },               // java.util.Random
		func(s []byte) { x := get64(s); x ^= x << 13; x ^= x >> 7; put64(s, x^x<<17) }, // xorshift64
		func(s []byte) { // OpenTTD
			x, y := binary.BigEndian.Uint32(s), binary.BigEndian.Uint32(s[4:])
			binary.BigEndian.PutUint32(s, x+bits.RotateLeft32(y^0x1234567f, -7)+1)
			binary.BigEndian.PutUint32(s[4:], bits.RotateLeft32(x, -3)-1)
		},
	},
	16: {
		func(s []byte) { put64(s, get64(s)*6364136223846793005+get64(s[8:])) }, // PCG32
	},
}

var (
	get32, put32 = binary.LittleEndian.Uint32, binary.LittleEndian.PutUint32
	get64, put64 = binary.LittleEndian.Uint64, binary.LittleEndian.PutUint64
)

// maxDraws bounds the search for draws. Two states of 32 bits are so close by chance in one of 170,000 cases.
const maxDraws = 1 << 12

// Draws returns how many more numbers than A state B has drawn from its RNG, below 0 if it is behind. It is 0 if that is
// not known: the RNG states are equal, their generator is not known, or they are too far apart.
func (d *Diff) Draws() int {
	a, b := d.A.RNG, d.B.RNG
	if len(a) != len(b) || bytes.Equal(a, b) {
		return 0
	}
	for _, step := range generators[len(a)] {
		x, y := bytes.Clone(a), bytes.Clone(b)
		for n := 1; n <= maxDraws; n++ {
			step(x)
			step(y)
			switch {
			case bytes.Equal(x, b):
				return n
			case bytes.Equal(y, a):
				return -n
			}
		}
	}
	return 0
}
