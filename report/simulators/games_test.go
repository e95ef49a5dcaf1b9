package simulators_test

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
)

// TestReplayers: the recipes play formats that exist, and each format has one recipe at most.
func TestReplayers(t *testing.T) {
	by := map[string]string{}
	for _, g := range simulators.Games() {
		for _, f := range g.Formats {
			if by[f] != "" {
				t.Errorf("%s and %s play %s", by[f], g.Name, f)
			}
			by[f] = g.Name
		}
	}
	for _, f := range formats.All() {
		if r := engines.ReplayerOf(f.Name); (r == nil) != (by[f.Name] == "") || r != nil && r.Name != by[f.Name] {
			t.Errorf("%s is played by %v, expected %q", f.Name, r, by[f.Name])
		}
		delete(by, f.Name)
	}
	for name, game := range by {
		t.Errorf("%s plays %s, which is no format", game, name)
	}
	names := func(yield func(string) bool) {
		for _, g := range simulators.Games() {
			if !yield(g.Name) {
				return
			}
		}
	}
	if list := slices.Sorted(names); len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Errorf("two recipes have one name: %v", list)
	}
}
