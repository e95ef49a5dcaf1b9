package bundle_test

import (
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/report/bundle"
)

// TestAloneIsShort: an error about many files names the first of its losses and the last one, which may be about all.
func TestAloneIsShort(t *testing.T) {
	e := &bundle.AloneError{Paths: []string{"x.tar"}, Found: []string{"1 state"}, Have: "1 peer"}
	for i := range 4 {
		e.Lost = append(e.Lost, fmt.Sprint("loss ", i))
	}
	if got, want := e.Error(), "x.tar: 1 state: 1 peer; loss 0; loss 1; loss 2; loss 3"; got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
	for i := range 100_000 {
		e.Lost = append(e.Lost, fmt.Sprint("loss ", 4+i))
	}
	if got, want := e.Error(), "x.tar: 1 state: 1 peer; loss 0; loss 1; loss 2; 100000 more losses; loss 100003"; got != want {
		t.Errorf("%s\nexpected %s", got, want)
	}
}

// TestAlonePeers: an error counts the peers that left anything, whatever it is.
func TestAlonePeers(t *testing.T) {
	for path, want := range map[string]string{
		"gamelogs/zeroad":              "the evidence of 2 peers has nothing in common",
		"claims/openttd-server":        "evidence of 1 peer, at least 2 are needed",
		"anygame/skirmish/host":        "evidence of 1 peer, at least 2 are needed",
		"0ad/control_mp_orders/client": "evidence of 1 peer, at least 2 are needed",
	} {
		s, err := bundle.OpenPaths("../../testdata/" + path)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Alone().Have; got != want {
			t.Errorf("%s: %s, expected %s", path, got, want)
		}
		s.Close()
	}
}
