package document

import (
	"slices"
	"testing"
)

// TestWaves: parts that differ from and to the same tick, equally often, are one wave; nothing else is.
func TestWaves(t *testing.T) {
	cascade := []CascadeDocument{
		{Tick: 5, System: "Orders", Count: 3, Last: 9}, {Tick: 5, System: "Combat", Count: 3, Last: 9}, {Tick: 5, Count: 3, Last: 9},
		{Tick: 5, System: "Fog", Count: 2, Last: 9},
		{Tick: 6, System: "Combat", Scope: "Tank", Count: 2, Last: 9}, {Tick: 6, System: "Combat", Scope: "Ship", Count: 2, Last: 9},
		{Tick: 6, System: "AI", Scope: "Ship", Count: 2, Last: 9},
	}
	var got []string
	for _, w := range Waves(cascade) {
		got = append(got, w.Text(2))
	}
	if want := []string{"Orders, Combat and 1 more", "Fog", "Tank, Ship after Combat", "Ship after AI"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
