package spring

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestNaming names units by their definitions.
func TestNaming(t *testing.T) {
	w := &snapshot.World{Tables: []snapshot.Table{
		{Label: "Unit", Keys: snapshot.Keys{A: []uint64{7, 17206}}, Columns: []snapshot.Column{names("Unit", "tank", "plane")}},
		{Label: "UnitWeapon", Keys: snapshot.Keys{A: []uint64{7}, B: []uint64{0}}, Columns: []snapshot.Column{names("UnitWeapon", "cannon")}},
	}}
	s, err := snapshot.Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	n := newNaming(s)
	unit := snapshot.Entity{Kind: "unit", Key: snapshot.Key{A: 7}}
	for _, label := range []string{"UnitWeapon", "UnitPiece", "UnitCommand"} {
		if e := n.Entity(label, snapshot.Key{A: 7, B: 3, Two: true}); e != unit {
			t.Errorf("%s is of %+v", label, e)
		}
	}
	if name, place := n.Describe(unit); name != "tank" || place != "" || !n.Has(unit) {
		t.Errorf("%q, %q", name, place)
	}
	if n.Has(snapshot.Entity{Kind: "unit", Key: snapshot.Key{A: 8}}) {
		t.Error("a unit is there that is not")
	}
	if e := n.Entity("Unheard", snapshot.Key{A: 1}); e.Kind != "Unheard" || n.Has(e) {
		t.Errorf("another table is of %+v", e)
	}
}

func names(component string, list ...string) snapshot.Column {
	c := snapshot.NewColumn(component, "name", snapshot.String, 0)
	for _, name := range list {
		c.AppendString(strings.Clone(name))
	}
	return c
}
