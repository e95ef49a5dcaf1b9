package refsim

import (
	"bytes"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestNames plays a game under other names next to the same game under its own: tables and columns have the same
// content and different names, and no two have the same name.
func TestNames(t *testing.T) {
	a, b := newTestSim(t, Config{Seed: 5, Entities: 150}), newTestSim(t, Config{Seed: 5, Entities: 150, Names: 77})
	script := NewScript(5)
	for range 50 {
		orders := script.Orders(a)
		step(t, a, orders)
		step(t, b, orders)
	}
	sorted := func(list []string) []string { return slices.Sorted(slices.Values(list)) }
	if got := b.Systems(); slices.Equal(got, Systems()) || !slices.Equal(sorted(got), sorted(Systems())) {
		t.Errorf("systems are called %q", got)
	}
	if got := b.names.archetypes[:]; slices.Equal(got, Archetypes()) || !slices.Equal(sorted(got), Archetypes()) {
		t.Errorf("archetypes are called %q", got)
	}
	kinds := b.OrderKinds()
	if slices.Equal(kinds, OrderKinds()) || !kinds[OrderChat].Local {
		t.Errorf("kinds of orders are %v", kinds)
	}
	own, other := a.World(), b.World()
	if err := other.Validate(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(own.RNG, other.RNG) {
		t.Error("another game is played")
	}
	columns, renamed := 0, 0
	for i := range own.Tables {
		x := &own.Tables[i]
		labels := b.names.caches
		if x.Class == snapshot.Archetype {
			labels = map[string]string{x.Label: b.PlaceName(x.Label)}
		}
		y := other.Table(x.Class, labels[x.Label])
		if y == nil || !slices.Equal(x.Keys.A, y.Keys.A) {
			t.Fatalf("%s is not in %s", x.Label, labels[x.Label])
		}
		for k := range x.Columns {
			c := &x.Columns[k]
			component, field := b.names.components[c.Component], b.names.fields[c.Field]
			if x.Class == snapshot.Cache {
				component, field = b.names.cacheComponents[c.Component], b.names.cacheFields[c.Field]
			}
			d := y.Column(component, field)
			if d == nil || !bytes.Equal(c.Data, d.Data) {
				t.Fatalf("%s %s is not in %s %s.%s", x.Label, c.Name(), y.Label, component, field)
			}
			columns++
			if c.Name() != d.Name() {
				renamed++
			}
		}
	}
	if renamed*10 < columns*9 {
		t.Errorf("%d of %d columns have another name", renamed, columns)
	}
	loaded, err := Load(other)
	if err != nil {
		t.Fatal(err)
	}
	if loaded.StateHash() != b.StateHash() || loaded.Config() != b.Config() {
		t.Error("what was saved under other names is not what is loaded")
	}
}
