//go:build unix

package desk_test

import (
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// TestSearch: groups are found by the fields, archetypes and messages of all their variants, also after an edit, and
// reports without a group by their sentence.
func TestSearch(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		one, two := diverged("Combat", "Combat.x", "c", "1.0.0", "linux"), diverged("Combat", "Combat.x", "d", "1.0.0", "linux")
		two.Compared = &document.Compared{Columns: []document.LocusColumn{{Archetype: "Town_Hall", ColumnDocument: document.ColumnDocument{Component: "Store", Field: "wood"}}}}
		two.Claims = []document.ClaimDocument{{Text: "Your game is OUT of sync"}}
		alone := diverged("", "", "e", "1.0.0", "linux")
		alone.Fingerprints, alone.Fingerprint, alone.Verdict = alone.Fingerprints[:1], "", []string{"The mill of River 7 differs."}
		a, _ := receive(t, s, "a")
		changes := put(t, s, a.ID, one, two, alone)
		if changes[0].Group != changes[1].Group || changes[2].Group != "" {
			t.Fatalf("%+v", changes)
		}
		check := func(words string, groups, without int64) {
			t.Helper()
			f, err := desk.ParseFilter(words)
			if err != nil {
				t.Fatal(err)
			}
			list, err := s.Groups(t.Context(), f, desk.ByReports, desk.Page{})
			if err != nil || list.Total != groups {
				t.Errorf("%s: %d groups, expected %d, %v", words, list.Total, groups, err)
			}
			u, err := s.Ungrouped(t.Context(), f, desk.Page{})
			if err != nil || u == nil && without >= 0 || u != nil && u.Total != without {
				t.Errorf("%s: %+v without a group, expected %d, %v", words, u, without, err)
			}
		}
		for range 2 {
			check("town_hall wood", 1, 0)
			check(`"out of sync" combat.x`, 1, 0)
			check("MILL river state:open", 0, 1)
			check("mill wood", 0, 0)
			check("os:linux", 1, 1)
			check("state:closed", 0, -1)
			check("weak:yes mill", 0, -1)
			if _, err := (&desk.Editor{Store: s, Who: "ada"}).Name(t.Context(), changes[0].Group, "the melee"); err != nil { // writes the texts again
				t.Fatal(err)
			}
		}
		f, _ := desk.ParseFilter("group:NONE")
		if list, err := s.Reports(t.Context(), f, desk.Page{}); err != nil || list.Total != 1 || list.Reports[0].ID != changes[2].Report {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// TestTitleOfMessage: the title of a message has no part of an engine's name that is longer than the game's.
func TestTitleOfMessage(t *testing.T) {
	r := known(print(document.LevelKind, "rts: Gold Edition claim"), print(document.LevelMessage, "Checksum # mismatched"))
	r.Fingerprints = r.Fingerprints[len(r.Fingerprints)-2:]
	if k, _ := desk.KeyOf(r); k.Title != "rts: Checksum # mismatched" {
		t.Errorf("%q", k.Title)
	}
}

// TestTitlePattern: a title has the pattern of the values if the states are those of the divergent tick.
func TestTitlePattern(t *testing.T) {
	bad := uint64(5)
	title := func(point uint64, p *document.Pattern) string {
		r := known(print(document.LevelStep, "Combat"), print(document.LevelComponent, "Weapon", "Weapon"), print(document.LevelField, "Weapon.target integer", "Weapon.target"))
		r.FirstDivergence = &document.FirstDivergence{Exact: true, Bracket: &document.BracketDocument{Bad: bad}}
		r.Compared = &document.Compared{Point: point, Summary: []document.FieldSummary{{Component: "Weapon", Field: "target", Values: 9, Pattern: p}}}
		k, _ := desk.KeyOf(r)
		return k.Title
	}
	zero := &document.Pattern{Kind: snapshot.PatternSame, Rows: 9, Values: map[string]string{"host": "0"}}
	for want, got := range map[string]string{
		"rts: Weapon.target is 0 on one side, after Combat":          title(bad, zero),
		"rts: Weapon.target differs, after Combat":                   title(bad+1, zero),
		"rts: Weapon.target is swapped in pairs, after Combat":       title(bad, &document.Pattern{Kind: snapshot.PatternSwapped, Rows: 9}),
		"rts: Weapon.target differs, after Combat ":                  title(bad, &document.Pattern{Kind: snapshot.PatternZero, Rows: 8}) + " ",
		"rts: Weapon.target has one value on one side, after Combat": title(bad, &document.Pattern{Kind: snapshot.PatternSame, Rows: 9}),
	} {
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
