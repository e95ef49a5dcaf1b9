package desk_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/report"
)

// print returns a fingerprint whose digest is of its level and name.
func print(level report.Level, name string, of ...string) report.Fingerprint {
	return report.Fingerprint{Level: level, Name: name, Digest: string(level) + ":" + name, Of: of}
}

// known returns a report with fingerprints, beginning with that of its kind.
func known(prints ...report.Fingerprint) *report.Report {
	r := &report.Report{Head: report.Head{Status: report.Diverged}}
	r.Fingerprints = append([]report.Fingerprint{print(report.LevelKind, "rts state")}, prints...)
	return r
}

// TestKeyOf: which levels a key is of. The pinned keys are what sha256sum says of the levels and
// digests.
func TestKeyOf(t *testing.T) {
	step, one := print(report.LevelStep, "Combat"), print(report.LevelComponent, "Weapon", "Weapon")
	two := print(report.LevelComponent, "Goal+Weapon", "Goal", "Weapon")
	tanks, planes := print(report.LevelArchetype, "Tank", "Tank"), print(report.LevelArchetype, "Jet", "Jet")
	field, cause := print(report.LevelField, "Weapon.target integer", "Weapon.target"), print(report.LevelCause, "checksum-defect")
	differs, named := print(report.LevelOrder, "missing move", "missing", "move"), print(report.LevelOrder, "named move")
	for _, test := range []struct {
		name, coarse, title string
		by                  []report.Level
		weak                bool
		prints              []report.Fingerprint
	}{
		{"kind", "95b392f97daccb31", "rts state", nil, true, nil},
		{"message", "", "rts state, out of sync #", []report.Level{report.LevelMessage}, true, []report.Fingerprint{print(report.LevelMessage, "out of sync #")}},
		{"orders", "", "rts state, missing move", []report.Level{report.LevelOrder}, false, []report.Fingerprint{tanks, differs, one, step, field}},
		{"step, one component", "56e8b99842dabe39", "rts state, Combat, Weapon", []report.Level{report.LevelStep, report.LevelComponent}, false, []report.Fingerprint{tanks, named, one, step, field, cause}},
		{"step, two components", "", "rts state, Combat", []report.Level{report.LevelStep}, false, []report.Fingerprint{planes, two, step}},
		{"components", "", "rts state, Goal+Weapon", []report.Level{report.LevelComponent}, false, []report.Fingerprint{tanks, two, field}},
		{"archetype", "", "rts state, Tank", []report.Level{report.LevelArchetype}, false, []report.Fingerprint{tanks}},
		{"a component called as its step", "", "rts state, Weapon", []report.Level{report.LevelStep, report.LevelComponent}, false, []report.Fingerprint{one, print(report.LevelStep, "Weapon")}},
		{"a cause that is the kind", "", "rts state", []report.Level{report.LevelCause}, false, []report.Fingerprint{print(report.LevelCause, "state")}},
		{"cause", "", "rts state, checksum-defect", []report.Level{report.LevelCause}, false, []report.Fingerprint{cause}},
	} {
		k, ok := desk.KeyOf(known(test.prints...))
		if !ok || k.Title != test.title || !slices.Equal(k.By, test.by) || k.Weak != test.weak || len(k.Coarse) != 16 {
			t.Errorf("%s: %+v, expected %q by %v, weak: %v", test.name, k, test.title, test.by, test.weak)
		}
		if test.coarse != "" && k.Coarse != test.coarse {
			t.Errorf("%s: the key is %s, was %s", test.name, k.Coarse, test.coarse)
		}
	}
	a, _ := desk.KeyOf(known(tanks, one, step, field))
	b, _ := desk.KeyOf(known(planes, one, step))
	if a.Coarse != b.Coarse {
		t.Errorf("one step and component have two keys, of other archetypes: %s and %s", a.Coarse, b.Coarse)
	}
	for _, status := range []report.Status{report.InSync, report.Inconclusive, report.Failed} {
		if k, ok := desk.KeyOf(&report.Report{Head: report.Head{Status: status}}); ok {
			t.Errorf("a report that is %s has the key %+v", status, k)
		}
	}
	if k, ok := desk.KeyOf(&report.Report{Head: report.Head{Status: report.Diverged}}); ok {
		t.Errorf("a report without fingerprints has the key %+v", k)
	}
}

// TestKeyRests: a key is the same whatever else a report says, and changes with each level that
// it is of.
func TestKeyRests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var prints []report.Fingerprint
		for _, level := range report.Levels()[1:] {
			if rapid.Bool().Draw(t, string(level)) {
				of := rapid.SliceOfN(rapid.StringMatching(`[A-Z][a-z]{1,5}`), 0, 3).Draw(t, "of "+string(level))
				prints = append(prints, print(level, rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), of...))
			}
		}
		k, ok := desk.KeyOf(known(prints...))
		if !ok {
			t.Fatalf("%+v has no key", prints)
		}
		other := known(prints...)
		other.Fingerprint, other.Verdict, other.Session.Seed = "other", []string{"something else"}, "7"
		if again, _ := desk.KeyOf(other); again.Coarse != k.Coarse {
			t.Errorf("%+v has the keys %s and %s", prints, k.Coarse, again.Coarse)
		}
		for i, f := range prints {
			of := slices.Contains(k.By, f.Level)
			changed := slices.Clone(prints)
			changed[i].Digest += "x"
			if c, _ := desk.KeyOf(known(changed...)); (c.Coarse != k.Coarse) != of {
				t.Errorf("of %+v level %s: the key is of it: %v; with another digest it is %s, was %s", prints, f.Level, of, c.Coarse, k.Coarse)
			}
		}
	})
}
