package snapshot

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Counting digits sorts as comparing does.
func TestSortPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ticks := rapid.SliceOfN(rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 300), rapid.Map(rapid.Uint64Range(0, 1<<20), func(n uint64) uint64 { return 30 * n })), 0, 700).Draw(t, "ticks")
		places := make([]place, len(ticks))
		for i, tick := range ticks {
			places[i] = place{tick, int32(i)}
		}
		want := slices.Clone(places)
		slices.SortStableFunc(want, func(a, b place) int { return cmp.Compare(a.tick, b.tick) })
		if sortPlaces(places); !slices.Equal(places, want) {
			t.Fatalf("sorted to %v, expected %v", places, want)
		}
	})
}
