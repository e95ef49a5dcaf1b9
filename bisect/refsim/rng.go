package refsim

import (
	"encoding/binary"
	"math/bits"
)

// rng is PCG-XSH-RR with 64 bits of state and 32 of output.
type rng struct{ state, inc uint64 }

const pcgMultiplier = 6364136223846793005

// rngSize is the size in bytes of a saved rng.
const rngSize = 16

// newRNG returns the generator of one stream of a seed.
func newRNG(seed, stream uint64) rng {
	r := rng{inc: stream<<1 | 1}
	r.next()
	r.state += mix(seed)
	r.next()
	return r
}

// next returns 32 random bits.
func (r *rng) next() uint32 {
	old := r.state
	r.state = old*pcgMultiplier + r.inc
	return bits.RotateLeft32(uint32((old>>18^old)>>27), -int(old>>59))
}

// below returns a number in 0…n-1.
func (r *rng) below(n uint32) uint32 { return uint32(uint64(r.next()) * uint64(n) >> 32) }

// between returns a number in lo…hi-1.
func (r *rng) between(lo, hi int64) int64 { return lo + int64(r.next())*(hi-lo)>>32 }

func (r *rng) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, r.state)
	return binary.LittleEndian.AppendUint64(dst, r.inc)
}

func (r *rng) load(b []byte) {
	r.state, r.inc = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}
