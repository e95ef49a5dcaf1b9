package refsim

import (
	"bytes"
	"testing"
)

// TestTags: by bytes tags ascend as ids do, in a locale they do not.
func TestTags(t *testing.T) {
	last := tagOf(0)
	for serial := uint64(1); serial < 100_000; serial++ {
		next := tagOf(serial << archetypeBits)
		if bytes.Compare(last[:], next[:]) >= 0 {
			t.Fatalf("%s comes before %s", last, next)
		}
		last = next
	}
	id := func(serial uint64) uint64 { return serial<<archetypeBits | uint64(tank) }
	for _, c := range []struct {
		a, b uint64 // serial numbers
		want int
	}{{9, 10, -1}, {10, 11, -1}, {11, 36, 1}, {10, 36, 1}, {35, 61, 1}, {61, 62, -1}, {5, 5, 0}} { // 9 A B a Z z 10
		if got := collate(id(c.a), id(c.b)); got != c.want {
			t.Errorf("%s and %s: %d, want %d", tagOf(id(c.a)), tagOf(id(c.b)), got, c.want)
		}
	}
}
