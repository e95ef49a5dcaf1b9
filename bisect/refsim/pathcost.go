package refsim

// pathCost is what it costs to cross each cell: its terrain, and the buildings
// and wrecks in it. It is a cache; what changes a cell's buildings or wrecks
// invalidates it.
type pathCost struct {
	cost    []uint16 // by cell
	invalid []uint32 // cells, with repetitions
}

// The cost of a cell in addition to its terrain, which costs 0…15.
const (
	structureCost = 12
	wreckCost     = 6
)

func (p *pathCost) init(cells int) {
	p.cost = make([]uint16, cells)
	for c := range cells {
		p.invalidate(uint32(c))
	}
}

func (p *pathCost) invalidate(cell uint32) { p.invalid = append(p.invalid, cell) }

// newTerrain returns what each cell's ground costs: smooth hills, 0…15.
func newTerrain(seed uint64, width int) []uint8 {
	terrain := make([]uint8, width*width)
	for i := range terrain {
		x, y := i%width, i/width
		sum := uint64(0)
		for dy := range 2 {
			for dx := range 2 {
				sum += mix(seed^uint64((y+dy)/2*width+(x+dx)/2)) % 16
			}
		}
		terrain[i] = uint8(sum / 4)
	}
	return terrain
}

// runPathCost updates the cells with changed buildings or wrecks.
func (s *Sim) runPathCost() { s.settlePath() }

// settlePath computes the invalid cells from the state. Cleanup also calls it, so that the cache is complete at every
// state point.
func (s *Sim) settlePath() {
	if len(s.path.invalid) == 0 {
		return
	}
	marked := s.scratch.marked
	for _, c := range s.path.invalid {
		marked[c] = true
		s.path.cost[c] = uint16(s.terrain[c])
	}
	for _, t := range s.tables {
		switch {
		case !t.solid():
		case t.structure():
			for i := range t.id {
				if c := s.cellOf(t, i); marked[c] {
					s.path.cost[c] += structureCost
				}
			}
		default:
			for i, expires := range t.corpse.Expires.v {
				if expires == 0 {
					continue
				}
				if c := s.cellOf(t, i); marked[c] {
					s.path.cost[c] += wreckCost
				}
			}
		}
	}
	for _, c := range s.path.invalid {
		marked[c] = false
	}
	s.path.invalid = s.path.invalid[:0]
}
