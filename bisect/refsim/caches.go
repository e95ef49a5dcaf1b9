package refsim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
)

// cacheKind is a cache by its own names. It has one column.
type cacheKind struct {
	label, component, field string
	typ                     snapshot.Type
	parts                   int // of its keys
}

// The caches.
const (
	cacheFog  = iota // key (player, cell): how many entities see the cell
	cachePath        // key cell: the cost of crossing it
	cacheView        // key entity: the cell from which Fog counts it
	cacheGrid        // key (cell, entity): the entity's player
	numCaches
)

var cacheKinds = [numCaches]cacheKind{
	cacheFog:  {"Fog", "Fog", "viewers", snapshot.U16, 2},
	cachePath: {"PathCost", "Path", "cost", snapshot.U16, 1},
	cacheView: {"Sight", "Sight", "cell", snapshot.U32, 1},
	cacheGrid: {"SpatialGrid", "Entry", "player", snapshot.U8, 2},
}

// Caches returns a copy of the caches as they are, ascending by label.
func (s *Sim) Caches() []snapshot.Table {
	fogTable := s.names.cacheTable(cacheFog)
	for p := range s.fog.viewers {
		for cell, n := range s.fog.viewers[p] {
			appendPair(&fogTable, uint64(p), uint64(cell), uint64(n))
		}
	}
	path := s.names.cacheTable(cachePath)
	for cell, cost := range s.path.cost {
		path.Keys.A = append(path.Keys.A, uint64(cell))
		path.Columns[0].AppendUint(uint64(cost))
	}
	grid := s.names.cacheTable(cacheGrid)
	for cell, list := range s.grid.entries {
		for _, e := range list {
			appendPair(&grid, uint64(cell), e.id, uint64(e.player))
		}
	}
	list := []snapshot.Table{fogTable, path, s.sightTable(), grid}
	lists.SortStable(list, func(a, b snapshot.Table) int { return strings.Compare(a.Label, b.Label) })
	return list
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
	view := s.names.cacheTable(cacheView)
	for _, r := range rows {
		view.Keys.A = append(view.Keys.A, r.id)
		view.Columns[0].AppendUint(uint64(r.cell))
	}
	return view
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
	d := derived{grid: s.grid, fog: s.fog, cost: s.path.cost}
	for a, t := range s.tables {
		d.cells[a] = t.gridCell.v
	}
	s.derive(&d)
	s.path.invalid = s.path.invalid[:0]
	for a, t := range s.tables {
		t.gridCell = cells[uint32]{v: d.cells[a]}
		t.sightCell = cells[uint32]{v: append(t.sightCell.v[:0], d.cells[a]...)}
	}
}

// derived is what follows from a state: the caches as they should be.
type derived struct {
	grid  spatialGrid
	fog   fog
	cost  []uint16             // of the paths, by cell
	cells [archetypes][]uint32 // the grid cell of each row, zeroes for tables that are not in the grid
}

// derive computes d from the state. Its previous content does not matter.
func (s *Sim) derive(d *derived) {
	if d.grid.entries == nil {
		d.grid.init(s.cells)
		d.fog.init(s.config.Players, s.cells)
		d.cost = make([]uint16, s.cells)
	}
	d.grid.clear()
	d.fog.clear()
	for cell, cost := range s.terrain {
		d.cost[cell] = uint16(cost)
	}
	for a, t := range s.tables {
		cells := resize(d.cells[a], t.rows())
		d.cells[a] = cells
		if !t.solid() {
			clear(cells)
			continue
		}
		structure := t.structure()
		for i, id := range t.id {
			p, cell := t.owner.Player.v[i], s.cellOf(t, i)
			cells[i] = cell
			d.grid.add(cell, id, p)
			d.fog.outline(s.width, p, cell, t.sight)
			switch {
			case structure:
				d.cost[cell] += structureCost
			case !t.alive(i):
				d.cost[cell] += wreckCost
			}
		}
	}
	d.fog.fill(s.width)
}

// staleCaches returns the caches that are not what follows from the state, ascending by
// label. It computes that in d.
func (s *Sim) staleCaches(d *derived) ([]string, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	s.derive(d)
	var stale []string
	add := func(cache int) { stale = append(stale, s.names.caches[cacheKinds[cache].label]) }
	if !slices.EqualFunc(s.fog.viewers, d.fog.viewers, slices.Equal) {
		add(cacheFog)
	}
	if !slices.Equal(s.path.cost, d.cost) {
		add(cachePath)
	}
	for a, t := range s.tables {
		if t.solid() && !slices.Equal(t.sightCell.v, d.cells[a]) {
			add(cacheView)
			break
		}
	}
	if !slices.EqualFunc(s.grid.entries, d.grid.entries, slices.Equal) {
		add(cacheGrid)
	}
	slices.Sort(stale)
	return stale, nil
}

// loadCaches replaces the computed caches by w's, as far as w has them: they may be stale, and the saved game continued
// with them.
func (s *Sim) loadCaches(w *snapshot.World) error {
	for i, load := range [numCaches]func(snapshot.Keys, *snapshot.Column) error{
		cacheFog: s.loadFog, cachePath: s.loadPath, cacheView: s.loadSight, cacheGrid: s.loadGrid,
	} {
		c, label := &cacheKinds[i], s.names.caches[cacheKinds[i].label]
		t := w.Table(snapshot.Cache, label)
		if t == nil {
			continue
		}
		if t.Keys.Parts() != c.parts && t.Rows() > 0 || len(t.Columns) != 1 || t.Columns[0].Type != c.typ {
			return fmt.Errorf("cache %s: expected one column of %s and keys of %d parts", label, c.typ, c.parts)
		}
		if err := load(t.Keys, &t.Columns[0]); err != nil {
			return fmt.Errorf("cache %s: %w", label, err)
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
