package snapshot

import (
	"encoding/hex"
	"testing"
)

// TestDraws counts draws between RNG states: of OpenTTD, from two sync lines of one game in testdata/openttd, and of
// generators by their published constants.
func TestDraws(t *testing.T) {
	for _, test := range []struct {
		a, b  string
		draws int
	}{
		{"d4d4af156777aa46", "ae44a1c77d64c3b4", 98},
		{"ae44a1c77d64c3b4", "d4d4af156777aa46", -98},
		{"0000000000000000", "157c4a7fb979379e", 1}, // SplitMix64 adds 0x9e3779b97f4a7c15
		{"01000000", "2c2b0000", 0},
		{"00000000", "5ff36e3c", 1}, // Numerical Recipes add 1013904223
		{"00000000", "5ff36e3c00000000", 0},
		{"00000000", "", 0},
	} {
		a, _ := hex.DecodeString(test.a)
		b, _ := hex.DecodeString(test.b)
		d := &Diff{A: &Info{Head: Head{RNG: a}}, B: &Info{Head: Head{RNG: b}}}
		if got := d.Draws(); got != test.draws {
			t.Errorf("%s, %s: %d draws, expected %d", test.a, test.b, got, test.draws)
		}
	}
}
