package refsim

import (
	"bytes"
	"cmp"
)

// tag is what players see above an entity: its serial number in base 62. By
// their bytes tags ascend as ids do.
type tag [6]byte

const tagDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func tagOf(id uint64) (t tag) {
	n := id >> archetypeBits
	for i := len(t) - 1; i >= 0; i-- {
		t[i] = tagDigits[n%uint64(len(tagDigits))]
		n /= uint64(len(tagDigits))
	}
	return t
}

// collate compares the tags of two entities as text, which most locales do
// letter by letter first, and look at upper and lower case only if that leaves
// them equal, lower case first. It is the fault locale-sort.
func collate(a, b uint64) int {
	x, y := tagOf(a), tagOf(b)
	return cmp.Or(bytes.Compare(bytes.ToLower(x[:]), bytes.ToLower(y[:])), bytes.Compare(y[:], x[:]))
}
