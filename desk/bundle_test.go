//go:build unix

package desk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"
)

// TestKept: a bundle has the blob that was said, be it called by the hash of the bundle, otherwise, or none, and lists of a state
// have it.
func TestKept(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		own, other := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
		var id int64
		for _, kept := range []string{own, other, "", own} {
			err := s.Write(t.Context(), func(tx *desk.Tx) error {
				if id == 0 {
					b, _, err := tx.Receive(t.Context(), desk.Bundle{Hash: own, Name: "a.zip", Bytes: 2, Kept: kept, KeptBytes: 1}, desk.Receipt{Name: "a.zip", Source: "test"})
					id = b.ID
					return err
				}
				return tx.SetKept(t.Context(), id, kept, 1)
			})
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Bundle(t.Context(), own)
			if err != nil || b.Kept != kept {
				t.Errorf("kept %q, expected %q, %v", b.Kept, kept, err)
			}
			for _, state := range []desk.State{"", desk.Waiting, desk.Read, desk.Aside} {
				want := 0
				if state == "" || state == desk.Waiting {
					want = 1
				}
				if list, err := s.Bundles(t.Context(), state, 0, 10); err != nil || len(list) != want || want == 1 && list[0].Kept != kept {
					t.Errorf("state %q: %+v, %v", state, list, err)
				}
			}
		}
	})
}

// TestOutcomes: each bundle has the outcomes of its matches, grouped by group.
func TestOutcomes(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		combat, move := diverged("Combat", "Combat.x", "c", "1.0.0", "linux"), diverged("Move", "Move.x", "m", "1.0.0", "linux")
		a, _ := receive(t, s, "a")
		b, _ := receive(t, s, "b")
		c, _ := receive(t, s, "c")
		put(t, s, a.ID, move, document.NoReport(document.InSync, "nothing diverged"), combat, move)
		changes := put(t, s, b.ID, combat)
		e := &desk.Editor{Store: s, Who: "ada"}
		if _, err := e.Name(t.Context(), changes[0].Group, "the melee"); err != nil {
			t.Fatal(err)
		}
		got, err := s.Outcomes(t.Context(), []desk.Bundle{*a, *b, *c})
		if err != nil {
			t.Fatal(err)
		}
		text := func(id int64) (lines []string) {
			for _, o := range got[id] {
				lines = append(lines, fmt.Sprintf("%s %s %d %t", o.Status, o.Called, o.Reports, o.Group == changes[0].Group))
			}
			return lines
		}
		for id, want := range map[int64]string{a.ID: "diverged arena: first differs after Move 2 false; in-sync  1 false; diverged the melee 1 true", b.ID: "diverged the melee 1 true", c.ID: ""} {
			if got := strings.Join(text(id), "; "); got != want {
				t.Errorf("bundle %d: %s\nexpected %s", id, got, want)
			}
		}
		if none, err := s.Outcomes(t.Context(), nil); err != nil || len(none) != 0 {
			t.Errorf("of no bundle: %v, %v", none, err)
		}
	})
}
