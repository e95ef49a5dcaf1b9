package simulators_test

import (
	"slices"
	"testing"

	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
)

// TestReplayers: the formats name the recipe of their game, and the recipes the formats that they play.
func TestReplayers(t *testing.T) {
	by := map[string]string{}
	for _, g := range simulators.Games() {
		for _, f := range g.Formats {
			if !g.OwnBuild {
				by[f] = g.Name
			}
		}
	}
	for _, f := range formats.All() {
		if f.Replayer != by[f.Name] {
			t.Errorf("format %s is played by %q, and the recipe of %q plays it", f.Name, f.Replayer, by[f.Name])
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
