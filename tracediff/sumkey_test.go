package tracediff

import (
	"testing"

	"pgregory.net/rapid"
)

// Values have one key if and only if they are the same checksum.
func TestSumKey(t *testing.T) {
	value := rapid.OneOf(rapid.StringMatching(`(0[xX])?[01aA]{0,3}`), rapid.StringMatching(`[0xXaAgG]{0,4}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := value.Draw(t, "a"), value.Draw(t, "b")
		if (SumKey(a) == SumKey(b)) != EqualSums(a, b) {
			t.Errorf("keys of %q and %q are %q and %q, same checksum: %v", a, b, SumKey(a), SumKey(b), EqualSums(a, b))
		}
	})
}
