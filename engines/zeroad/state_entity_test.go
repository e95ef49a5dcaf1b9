package zeroad

import (
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

// TestNaming names what a real dump holds: unit 151 is an Athenian spearman, and what managers
// list of it is its own.
func TestNaming(t *testing.T) {
	dumps, err := filepath.Glob(filepath.Join("..", "..", "testdata", "0ad", "mp_orders_walkspeed", "client", "ooslog", "*"))
	if err != nil || len(dumps) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	f := Format()
	s, err := snapshot.OpenPath(files.Disk, dumps[0], &f)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := newNaming(s)
	unit := snapshot.Entity{Kind: "unit", Key: snapshot.Key{A: 151}}
	for label, key := range map[string]snapshot.Key{
		"Position":                 {A: 151},
		"Identity.classesList":     {A: 151, B: 2, Two: true},
		"RangeManager.entity":      {A: 1, B: 151, Two: true},
		"UnitMotionManager.unit":   {A: 1, B: 151, Two: true},
		"TemplateManager.template": {A: 1, B: 151, Two: true},
		// Shapes have separate numbers, and a column for the entity.
		"ObstructionManager.unit shape": {A: 1, B: 1, Two: true},
	} {
		if e := n.Entity(label, key); e != unit {
			t.Errorf("%s %s is of %+v", label, key, e)
		}
	}
	if name, _ := n.Describe(unit); name != "units/athen/infantry_spearman_b" || !n.Has(unit) {
		t.Errorf("unit 151 is %q", name)
	}
	for id, kind := range map[uint64]string{150: "structure", 3: "entity", 999_999: "entity"} {
		e := n.Entity("Position", snapshot.Key{A: id})
		if e.Kind != kind || n.Has(e) != (id < 999_999) {
			t.Errorf("%d is of kind %s, there: %v", id, e.Kind, n.Has(e))
		}
	}
	if e := n.Entity("Pathfinder", snapshot.Key{A: 1}); e.Kind != "Pathfinder" || !n.Has(e) {
		t.Errorf("a manager is %+v", e)
	}
}
