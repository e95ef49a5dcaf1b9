package openra

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSeen counts as a map does, for actors of few and of many types.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := make([]table, rapid.SampledFrom([]int{1, 15, 16, 17, 40}).Draw(t, "types"))
		var s seen
		for range 2 {
			want := map[*table]uint64{}
			for range rapid.IntRange(0, 200).Draw(t, "traits") {
				of := &types[rapid.IntRange(0, len(types)-1).Draw(t, "type")]
				if got := s.count(of); got != want[of] {
					t.Fatalf("%d before, want %d", got, want[of])
				}
				want[of]++
			}
			s.reset()
		}
	})
}
