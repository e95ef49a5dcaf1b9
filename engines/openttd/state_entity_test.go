package openttd

import (
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

// opened opens a real save.
func opened(t *testing.T, name string) snapshot.State {
	t.Helper()
	f := Format()
	s, err := snapshot.OpenPath(files.Disk, filepath.Join("..", "..", "testdata", "openttd", name), &f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestNaming names what the saves of a game hold on a map of 64 by 64 tiles.
func TestNaming(t *testing.T) {
	n := newNaming(opened(t, "dropped_sign/server/dmp_cmds_00000309_000adf00.sav"))
	one := func(a uint64) snapshot.Key { return snapshot.Key{A: a} }
	two := func(a, b uint64) snapshot.Key { return snapshot.Key{A: a, B: b, Two: true} }
	for _, c := range []struct {
		label  string
		key    snapshot.Key
		entity snapshot.Entity
		has    bool
		name   string
		place  string
	}{
		{"CITY", one(0), snapshot.Entity{Kind: "town", Key: one(0)}, true, "", "tile x 14, y 12"}, // CITY.xy is 782
		{"CITY.supplied", two(0, 2), snapshot.Entity{Kind: "town", Key: one(0)}, true, "", "tile x 14, y 12"},
		{"CITY", one(999), snapshot.Entity{Kind: "town", Key: one(999)}, false, "", ""},
		{"MAP5", one(1608), snapshot.Entity{Kind: "tile", Key: one(1608)}, true, "", "x 8, y 25"},
		{"MAPT", one(4096), snapshot.Entity{Kind: "tile", Key: one(4096)}, true, "", ""}, // beyond the map
		{"SIGN", one(1), snapshot.Entity{Kind: "sign", Key: one(1)}, true, "sign 11", ""},
		{"PLYR.old_economy.delivered_cargo", two(0, 3), snapshot.Entity{Kind: "company", Key: one(0)}, true, "TinyAI 1", ""},
		{"LGRP.nodes", two(3, 1), snapshot.Entity{Kind: "LGRP", Key: one(3)}, true, "", ""},
		{"PATS", one(0), snapshot.Entity{Kind: "PATS", Key: one(0)}, true, "", ""},
	} {
		e := n.Entity(c.label, c.key)
		name, place := n.Describe(e)
		if has := n.Has(e); e != c.entity || has != c.has || name != c.name || place != c.place {
			t.Errorf("%s %s: %+v, has %v, %q, %q", c.label, c.key, e, has, name, place)
		}
	}
}
