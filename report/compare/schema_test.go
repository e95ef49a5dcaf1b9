package compare_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// TestTriageSchema: a column that one side lacks, or that has another type or scale, is named as
// a value would be.
func TestTriageSchema(t *testing.T) {
	column := func(component, field string, kind snapshot.Type, scale uint32) snapshot.Column {
		c := snapshot.NewColumn(component, field, kind, scale)
		c.AppendUint(7)
		return c
	}
	hp := column("Health", "hp", snapshot.U64, 0)
	fixed := func(scale uint32) []snapshot.Column {
		c := snapshot.NewColumn("Position", "x", snapshot.Fixed, scale)
		c.AppendInt(7)
		return []snapshot.Column{hp, c}
	}
	for _, test := range []struct {
		name         string
		host, client []snapshot.Column
		component    string
		want         string
	}{
		{"missing", []snapshot.Column{hp, column("Weapon", "ammo", snapshot.U16, 0)}, []snapshot.Column{hp}, "Weapon", "column Weapon.ammo of Infantry is only on host"},
		{"another type", []snapshot.Column{hp, column("Weapon", "ammo", snapshot.U16, 0)}, []snapshot.Column{hp, column("Weapon", "ammo", snapshot.U32, 0)}, "Weapon",
			"column Weapon.ammo of Infantry is u32 on client, u16 on host"},
		{"another scale", fixed(1000), fixed(4096), "Position", "column Position.x of Infantry is fixed/4096 on client, fixed/1000 on host"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for peer, columns := range map[string][]snapshot.Column{"host": test.host, "client": test.client} {
				if err := os.MkdirAll(filepath.Join(dir, peer), 0o777); err != nil {
					t.Fatal(err)
				}
				for point := range uint64(2) {
					if point == 0 {
						columns = columns[:1]
					} else if peer == "host" {
						columns = test.host
					} else {
						columns = test.client
					}
					w := &snapshot.World{
						Head:   snapshot.Head{Seed: 5, Peer: peer, Point: snapshot.Point{Tick: point}},
						Tables: []snapshot.Table{{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{3}}, Columns: columns}},
					}
					if err := snapshot.WriteFile(filepath.Join(dir, peer, snapshot.Name(5, point)), w, snapshot.WriteOptions{Plain: true}); err != nil {
						t.Fatal(err)
					}
				}
			}
			s, err := bundle.OpenPaths(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			r, err := compare.Triage(s, compare.Builds{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := r.FirstDivergence
			if r.Status != document.Diverged || d == nil || d.Component != test.component || len(d.Archetypes) != 1 || d.Archetypes[0] != "Infantry" {
				t.Fatalf("%s: %+v", r.Status, d)
			}
			if !strings.Contains(r.Verdict[0], test.want) {
				t.Errorf("%q does not say %q", r.Verdict[0], test.want)
			}
			if k := r.Compared; len(k.Schema) != 1 || k.Schema[0].Component != test.component {
				t.Errorf("schema %+v", k.Schema)
			}
			for _, step := range r.Ladder {
				if open := step.State == document.RungOpen; open && (step.Step == "archetype" || step.Step == "component" || step.Step == "field") {
					t.Errorf("open: %+v", step)
				}
			}
		})
	}
}
