package warzone

import "math"

// The numbers of the engine's varint. A byte at place n is the last one if it is
// below 256 - varintMore[n], and then worth its number times varintUnit[n]. Else
// it is worth 511 - varintMore[n] minus its number, times that, and another
// follows. No byte at the last place has one after it.
var (
	varintMore = [...]uint64{78, 95, 32, 70, 0}
	varintUnit = [...]uint64{1, 78, 7410, 237120, 16598400}
)

// maxVarint is the size of the longest varint in bytes.
const maxVarint = len(varintMore)

// varint decodes the number at the start of b. Size is 0 if b ends inside it, and
// negative if it is above 32 bits.
func varint(b []byte) (v uint32, size int) {
	if len(b) > 0 && uint64(b[0]) < 256-varintMore[0] {
		return uint32(b[0]), 1
	}
	sum := uint64(0)
	for n, c := range b[:min(len(b), maxVarint)] {
		if last := 256 - varintMore[n]; uint64(c) < last {
			sum += uint64(c) * varintUnit[n]
			if sum > math.MaxUint32 {
				return 0, -1
			}
			return uint32(sum), n + 1
		}
		sum += (511 - varintMore[n] - uint64(c)) * varintUnit[n]
	}
	return 0, 0
}
