package check

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

func padded(b []byte) []byte { return append(b, make([]byte, (8-len(b)%8)%8)...) }

func rngLeaf(state []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0x01}, uint32(len(state)))
	b = append(b, 0, 0, 0, 0)
	sum := sha256.Sum256(append(b, padded(slices.Clone(state))...))
	return sum[:]
}

// archetypeLeaf returns the leaf hash of a table with these digests, back to back.
func archetypeLeaf(label string, rows uint64, digests []byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte{0x02}, uint32(len(label)))
	b = le.AppendUint32(b, uint32(len(digests)/hashSize))
	b = le.AppendUint64(b, rows)
	sum := sha256.Sum256(append(append(b, padded([]byte(label))...), digests...))
	return sum[:]
}

func rootOf(level [][]byte) []byte {
	if len(level) == 0 {
		sum := sha256.Sum256(nil)
		return sum[:]
	}
	for len(level) > 1 {
		var above [][]byte
		for i := 0; i < len(level); i += 2 {
			if i+1 == len(level) {
				above = append(above, level[i])
				continue
			}
			sum := sha256.Sum256(append(slices.Clone(level[i]), level[i+1]...))
			above = append(above, sum[:])
		}
		level = above
	}
	return level[0]
}
