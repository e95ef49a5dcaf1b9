package refsim

// spatialGrid lists, for each cell, the entities with health in it, the dead included until they are removed. It is a
// cache: it follows from their positions.
type spatialGrid struct {
	entries [][]gridEntry // by cell; ascending by id
	present []uint8       // by cell; bit p is set if player p has an entity there
}

type gridEntry struct {
	id     uint64
	player uint8
}

func (g *spatialGrid) init(cells int) {
	g.entries = make([][]gridEntry, cells)
	g.present = make([]uint8, cells)
}

func (g *spatialGrid) add(cell uint32, id uint64, player uint8) {
	list := append(g.entries[cell], gridEntry{})
	i := len(list) - 1
	for ; i > 0 && list[i-1].id > id; i-- {
		list[i] = list[i-1]
	}
	list[i] = gridEntry{id, player}
	g.entries[cell] = list
	g.present[cell] |= 1 << player
}

func (g *spatialGrid) remove(cell uint32, id uint64) {
	list := g.entries[cell]
	left := uint8(0)
	n := 0
	for _, e := range list {
		if e.id == id {
			continue
		}
		list[n] = e
		n++
		left |= 1 << e.player
	}
	g.entries[cell] = list[:n]
	g.present[cell] = left
}

func (g *spatialGrid) clear() {
	for cell := range g.entries {
		g.entries[cell] = g.entries[cell][:0]
		g.present[cell] = 0
	}
}

// runSpatialGrid moves the entities that crossed into another cell.
func (s *Sim) runSpatialGrid() {
	for i := range s.scratch.crossed.list {
		c := &s.scratch.crossed.list[i]
		t := s.tables[c.archetype]
		from := t.gridCell.v[c.row]
		if s.on(staleCache, sysSpatialGrid) && s.sameColumn(from, c.to) {
			continue // the mistake: only a move to the side counts as a move
		}
		s.grid.remove(from, c.id)
		s.grid.add(c.to, c.id, t.owner.Player.v[c.row])
		t.gridCell.v[c.row] = c.to
	}
}

// sameColumn reports whether two cells are in the same column.
func (s *Sim) sameColumn(a, b uint32) bool { return a%uint32(s.width) == b%uint32(s.width) }
