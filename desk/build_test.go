package desk_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/desk"
)

// TestCompareBuilds: the order of Semantic Versioning, section 11, and of the games that do not keep to
// it.
func TestCompareBuilds(t *testing.T) {
	order := []desk.Build{
		{Name: "0.9"}, {Name: "0.26alpha"}, {Name: "0.26"}, {Name: "0.27.0-rc.1"}, {Name: "0.27.0-rc.2"}, {Name: "0.27.0-rc.10"}, {Name: "0.27.0"},
		// the example of section 11.4.4
		{Name: "1.0.0-alpha"}, {Name: "1.0.0-alpha.1"}, {Name: "1.0.0-alpha.beta"}, {Name: "1.0.0-beta"}, {Name: "1.0.0-beta.2"}, {Name: "1.0.0-beta.11"}, {Name: "1.0.0-rc.1"}, {Name: "1.0.0"},
		{Name: "v1.4.2"}, {Name: "1.4.10"}, {Name: "1.4.10.1"}, {Name: "1.5.0+aaaa"}, {Name: "1.5.0+bbbb"}, {Name: "20250330.1"},
		// no versions: by day, then by name
		{Name: "5f2c1e0", Day: 100}, {Name: "0123abc", Day: 200}, {Name: "stable", Day: 200}, {Name: "r4711", Day: 300},
	}
	for i, a := range order {
		for j, b := range order {
			if got := desk.CompareBuilds(a, b); sign(got) != sign(i-j) {
				t.Errorf("%v and %v: %d", a, b, got)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

// TestCompareBuildsIsAnOrder: whatever builds are called, sorting them is possible: the order is total,
// antisymmetric and transitive.
func TestCompareBuildsIsAnOrder(t *testing.T) {
	build := rapid.Custom(func(t *rapid.T) desk.Build {
		return desk.Build{Name: rapid.StringMatching(`v?[0-9]{0,2}(\.[0-9]{1,2}){0,3}(-[a-c0-9.]{0,4})?(\+[ab]{0,2})?[a-c]?`).Draw(t, "name"), Day: int64(rapid.IntRange(0, 2).Draw(t, "day"))}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(build, 3, 3).Draw(t, "builds")
		a, b, c := list[0], list[1], list[2]
		if sign(desk.CompareBuilds(a, b)) != -sign(desk.CompareBuilds(b, a)) {
			t.Errorf("%v and %v", a, b)
		}
		slices.SortFunc(list, desk.CompareBuilds)
		if desk.CompareBuilds(list[0], list[2]) > 0 {
			t.Errorf("%v, %v and %v are sorted as %v", a, b, c, list)
		}
		if (desk.CompareBuilds(a, b) == 0) != (a.Name == b.Name) && (desk.CompareBuilds(a, b) == 0) != (a == b) {
			t.Errorf("%v and %v are equal", a, b)
		}
	})
}
