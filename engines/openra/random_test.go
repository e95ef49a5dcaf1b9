package openra

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestRandom shows how many numbers were drawn, and leaves the bytes as they are.
func TestRandom(t *testing.T) {
	var states [2]snapshot.State
	for i, line := range []string{"SharedRandom: 105082574 (#93957)", "SharedRandom: -7 (#93959)"} {
		w := read(t, "x.log", []byte(strings.Replace(minimal("", "", ""), "SharedRandom: 5 (#3)", line, 1)))
		if len(w.RNG) != 8 {
			t.Fatalf("RNG %x", w.RNG)
		}
		var err error
		if states[i], err = snapshot.Hold(w); err != nil {
			t.Fatal(err)
		}
	}
	d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d.RNG == nil || d.RNG.A.String() != `"count 93957, last 105082574"` || d.RNG.B.String() != `"count 93959, last -7"` {
		t.Errorf("%+v", d.RNG)
	}
}
