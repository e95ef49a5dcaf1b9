package desk_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/report/document"
)

// print returns a fingerprint with a digest made of its level and name.
func print(level document.Level, name string, of ...string) document.Fingerprint {
	return document.Fingerprint{Level: level, Name: name, Digest: string(level) + ":" + name, Of: of}
}

// known returns a report with fingerprints, beginning with the fingerprint of its kind.
func known(prints ...document.Fingerprint) *document.Report {
	r := &document.Report{Head: document.Head{Status: document.Diverged}}
	r.Session.Game = "rts"
	r.Fingerprints = append([]document.Fingerprint{print(document.LevelKind, "rts state")}, prints...)
	return r
}

// TestKeyOf: the levels that a key is made of. The pinned keys are the output of sha256sum for the levels and digests.
func TestKeyOf(t *testing.T) {
	step, one := print(document.LevelStep, "Combat"), print(document.LevelComponent, "Weapon", "Weapon")
	two := print(document.LevelComponent, "Goal+Weapon", "Goal", "Weapon")
	tanks, planes := print(document.LevelArchetype, "Tank", "Tank"), print(document.LevelArchetype, "Jet", "Jet")
	field, cause := print(document.LevelField, "Weapon.target integer", "Weapon.target"), print(document.LevelCause, "checksum-defect")
	swapped := field
	swapped.Pattern = document.PatternExchanged
	differs, named := print(document.LevelOrder, "missing move", "missing", "move"), print(document.LevelOrder, "named move")
	for _, test := range []struct {
		name, coarse, title string
		by                  []document.Level
		weak                bool
		prints              []document.Fingerprint
	}{
		{"message", "", "rts: out of sync #", []document.Level{document.LevelMessage}, true, []document.Fingerprint{print(document.LevelMessage, "out of sync #")}},
		{"orders", "", "rts: orders differ: missing move", []document.Level{document.LevelOrder}, false, []document.Fingerprint{tanks, differs, one, step, field}},
		{"step, one component", "56e8b99842dabe39", "rts: Weapon differs, after Combat", []document.Level{document.LevelStep, document.LevelComponent}, false, []document.Fingerprint{tanks, named, one, step, cause}},
		{"with its field", "de386240b6c0fddf", "rts: Weapon.target differs, after Combat", []document.Level{document.LevelStep, document.LevelComponent, document.LevelField}, false, []document.Fingerprint{tanks, one, step, field}},
		{"with a pattern", "1aafaf3519faa0c1", "rts: Weapon.target has the same values in other rows, after Combat", []document.Level{document.LevelStep, document.LevelComponent, document.LevelField}, false, []document.Fingerprint{tanks, one, step, swapped}},
		{"step, two components", "", "rts: first differs after Combat", []document.Level{document.LevelStep}, false, []document.Fingerprint{planes, two, step}},
		{"components", "", "rts: Goal+Weapon differ", []document.Level{document.LevelComponent}, false, []document.Fingerprint{tanks, two, field}},
		{"archetype", "", "rts: Tank differs", []document.Level{document.LevelArchetype}, false, []document.Fingerprint{tanks}},
		{"a component called as its step", "", "rts: Weapon differs, after Weapon", []document.Level{document.LevelStep, document.LevelComponent}, false, []document.Fingerprint{one, print(document.LevelStep, "Weapon")}},
		{"a cause that is the kind", "", "rts: state", []document.Level{document.LevelCause}, true, []document.Fingerprint{print(document.LevelCause, "state")}},
		{"cause", "", "rts: checksum-defect", []document.Level{document.LevelCause}, true, []document.Fingerprint{cause}},
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
	b, _ := desk.KeyOf(known(planes, one, step, field))
	if a.Coarse != b.Coarse {
		t.Errorf("one step and component have two keys, of other archetypes: %s and %s", a.Coarse, b.Coarse)
	}
	for _, status := range []document.Status{document.InSync, document.Inconclusive, document.Failed} {
		if k, ok := desk.KeyOf(&document.Report{Head: document.Head{Status: status}}); ok {
			t.Errorf("a report that is %s has the key %+v", status, k)
		}
	}
	if k, ok := desk.KeyOf(known()); ok {
		t.Errorf("a report of which only the kind is known has the key %+v", k)
	}
	if k, ok := desk.KeyOf(&document.Report{Head: document.Head{Status: document.Diverged}}); ok {
		t.Errorf("a report without fingerprints has the key %+v", k)
	}
}

// TestKeyRests: a key is the same whatever else a report contains, and changes with each of its levels.
func TestKeyRests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var prints []document.Fingerprint
		for _, level := range document.Levels()[1:] {
			if rapid.Bool().Draw(t, string(level)) {
				of := rapid.SliceOfN(rapid.StringMatching(`[A-Z][a-z]{1,5}`), 0, 3).Draw(t, "of "+string(level))
				prints = append(prints, print(level, rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), of...))
			}
		}
		k, ok := desk.KeyOf(known(prints...))
		if !ok {
			if len(prints) > 0 && slices.ContainsFunc(prints, func(f document.Fingerprint) bool {
				return f.Level != document.LevelField && f.Level != document.LevelCode && (f.Level != document.LevelOrder || len(f.Of) > 0)
			}) {
				t.Fatalf("%+v has no key", prints)
			}
			return
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
			if f.Level == document.LevelField { // of one component it is the names
				changed[i].Of = append(slices.Clone(f.Of), "X")
			}
			if c, _ := desk.KeyOf(known(changed...)); (c.Coarse != k.Coarse) != of {
				t.Errorf("of %+v level %s: the key is of it: %v; with another digest it is %s, was %s", prints, f.Level, of, c.Coarse, k.Coarse)
			}
		}
	})
}
