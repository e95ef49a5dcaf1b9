package refsim

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// Labels of the caches.
const (
	cacheFog  = "Fog"         // key (player, cell): how many entities see the cell
	cachePath = "PathCost"    // key cell: what it costs to cross
	cacheView = "Sight"       // key entity: the cell from which Fog counts it
	cacheGrid = "SpatialGrid" // key (cell, entity): the entity's player
)

// Caches returns a copy of the caches as they are, ascending by label.
func (s *Sim) Caches() []snapshot.Table {
	fogTable := cacheTable(cacheFog, snapshot.NewColumn("Fog", "viewers", snapshot.U16, 0))
	for p := range s.fog.viewers {
		for cell, n := range s.fog.viewers[p] {
			appendPair(&fogTable, uint64(p), uint64(cell), uint64(n))
		}
	}
	path := cacheTable(cachePath, snapshot.NewColumn("Path", "cost", snapshot.U16, 0))
	for cell, cost := range s.path.cost {
		path.Keys.A = append(path.Keys.A, uint64(cell))
		path.Columns[0].AppendUint(uint64(cost))
	}
	grid := cacheTable(cacheGrid, snapshot.NewColumn("Entry", "player", snapshot.U8, 0))
	for cell, list := range s.grid.entries {
		for _, e := range list {
			appendPair(&grid, uint64(cell), e.id, uint64(e.player))
		}
	}
	return []snapshot.Table{fogTable, path, s.sightTable(), grid}
}

// sightTable lists the cells that Fog counts entities in, of all archetypes
// together by id.
func (s *Sim) sightTable() snapshot.Table {
	type row struct {
		id   uint64
		cell uint32
	}
	var rows []row
	for _, t := range s.tables {
		if t.solid() {
			for i, id := range t.id {
				rows = append(rows, row{id, t.sightCell.v[i]})
			}
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	view := cacheTable(cacheView, snapshot.NewColumn("Sight", "cell", snapshot.U32, 0))
	for _, r := range rows {
		view.Keys.A = append(view.Keys.A, r.id)
		view.Columns[0].AppendUint(uint64(r.cell))
	}
	return view
}

func cacheTable(label string, c snapshot.Column) snapshot.Table {
	return snapshot.Table{Label: label, Class: snapshot.Cache, Columns: []snapshot.Column{c}}
}

func appendPair(t *snapshot.Table, a, b, v uint64) {
	t.Keys.A = append(t.Keys.A, a)
	t.Keys.B = append(t.Keys.B, b)
	t.Columns[0].AppendUint(v)
}

// FreshCaches returns what Caches would return if every cache had just been
// computed from the state. In a sim without faults they are the same at every
// state point.
func (s *Sim) FreshCaches() ([]snapshot.Table, error) {
	w := s.World()
	w.Tables = slices.DeleteFunc(w.Tables, func(t snapshot.Table) bool { return t.Class == snapshot.Cache })
	fresh, err := Load(w)
	if err != nil {
		return nil, err
	}
	return fresh.Caches(), nil
}

// computeCaches computes every cache from the state.
func (s *Sim) computeCaches() {
	for _, t := range s.tables {
		if !t.solid() {
			continue
		}
		for i, id := range t.id {
			p, cell := t.owner.player.v[i], s.cellOf(t, i)
			s.grid.add(cell, id, p)
			t.gridCell.v[i] = cell
			s.fog.see(s.width, p, cell, t.sight, 1)
			t.sightCell.v[i] = cell
		}
	}
	s.settlePath()
}

// loadCaches replaces the computed caches by those of w, as far as it has
// them: they may be stale, and the saved game went on with them.
func (s *Sim) loadCaches(w *snapshot.World) error {
	for _, c := range []struct {
		label string
		parts int
		typ   snapshot.Type
		load  func(keys snapshot.Keys, c *snapshot.Column) error
	}{
		{cacheFog, 2, snapshot.U16, s.loadFog},
		{cachePath, 1, snapshot.U16, s.loadPath},
		{cacheView, 1, snapshot.U32, s.loadSight},
		{cacheGrid, 2, snapshot.U8, s.loadGrid},
	} {
		t := w.Table(snapshot.Cache, c.label)
		if t == nil {
			continue
		}
		if t.Keys.Parts() != c.parts && t.Rows() > 0 || len(t.Columns) != 1 || t.Columns[0].Type != c.typ {
			return fmt.Errorf("cache %s: expected one column of %s and keys of %d parts", c.label, c.typ, c.parts)
		}
		if err := c.load(t.Keys, &t.Columns[0]); err != nil {
			return fmt.Errorf("cache %s: %w", c.label, err)
		}
	}
	return nil
}

func (s *Sim) loadFog(keys snapshot.Keys, c *snapshot.Column) error {
	for i, p := range keys.A {
		if p >= uint64(len(s.fog.viewers)) || keys.B[i] >= uint64(s.cells) {
			return fmt.Errorf("key %s is out of range", keys.At(i))
		}
		s.fog.viewers[p][keys.B[i]] = uint16(c.Uint(i))
	}
	return nil
}

func (s *Sim) loadPath(keys snapshot.Keys, c *snapshot.Column) error {
	for i, cell := range keys.A {
		if cell >= uint64(s.cells) {
			return fmt.Errorf("key %d is out of range", cell)
		}
		s.path.cost[cell] = uint16(c.Uint(i))
	}
	return nil
}

func (s *Sim) loadSight(keys snapshot.Keys, c *snapshot.Column) error {
	for i, id := range keys.A {
		t, row, ok := s.find(id)
		if !ok || !t.solid() || c.Uint(i) >= uint64(s.cells) {
			return fmt.Errorf("entity %d is not there, or its cell", id)
		}
		t.sightCell.v[row] = uint32(c.Uint(i))
	}
	return nil
}

func (s *Sim) loadGrid(keys snapshot.Keys, c *snapshot.Column) error {
	s.grid.clear()
	for i, cell := range keys.A {
		id := keys.B[i]
		t, row, ok := s.find(id)
		if cell >= uint64(s.cells) || !ok || !t.solid() || c.Uint(i) >= uint64(s.config.Players) {
			return fmt.Errorf("key %s is out of range", keys.At(i))
		}
		s.grid.add(uint32(cell), id, uint8(c.Uint(i)))
		t.gridCell.v[row] = uint32(cell)
	}
	return nil
}
