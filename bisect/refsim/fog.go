package refsim

import "math"

// fog counts, for each player and cell, the entities that see the cell. It is
// a cache: it follows from positions.
type fog struct {
	viewers [][]uint16 // by player, then cell
}

func (f *fog) init(players, cells int) {
	f.viewers = make([][]uint16, players)
	for p := range f.viewers {
		f.viewers[p] = make([]uint16, cells)
	}
}

// see adds change to the viewers of all cells within radius of cell.
func (f *fog) see(width int, p uint8, cell uint32, radius int32, change uint16) {
	x, y := int(cell)%width, int(cell)/width
	r := int(radius)
	x0, x1 := max(x-r, 0), min(x+r, width-1)
	for cy := max(y-r, 0); cy <= min(y+r, width-1); cy++ {
		row := f.viewers[p][cy*width+x0 : cy*width+x1+1]
		for i := range row {
			row[i] += change
		}
	}
}

// outline notes for fill the change of 1 that see makes, at the corners of the visible area.
func (f *fog) outline(width int, p uint8, cell uint32, radius int32) {
	x, y, r := int(cell)%width, int(cell)/width, int(radius)
	x0, x1 := max(x-r, 0), x+r+1
	y0, y1 := max(y-r, 0), y+r+1
	v := f.viewers[p]
	v[y0*width+x0]++
	if x1 < width {
		v[y0*width+x1]--
	}
	if y1 < width {
		v[y1*width+x0]--
		if x1 < width {
			v[y1*width+x1]++
		}
	}
}

// fill makes of outlines what see would have made, were nothing else noted.
func (f *fog) fill(width int) {
	for _, v := range f.viewers {
		for y := 0; y < len(v); y += width {
			sum, row := uint16(0), v[y:y+width]
			for x := range row {
				sum += row[x]
				row[x] = sum
			}
			if y > 0 {
				above := v[y-width : y]
				for x := range row {
					row[x] += above[x]
				}
			}
		}
	}
}

func (f *fog) clear() {
	for _, v := range f.viewers {
		clear(v)
	}
}

// visible reports whether a player sees a cell.
func (s *Sim) visible(p uint8, cell uint32) bool { return s.fog.viewers[p][cell] > 0 }

// runFog moves the view of the entities that crossed into another cell, and
// counts now and then what each player sees.
func (s *Sim) runFog() {
	for i := range s.scratch.crossed.list {
		c := &s.scratch.crossed.list[i]
		t := s.tables[c.archetype]
		p, from := t.owner.Player.v[c.row], t.sightCell.v[c.row]
		if s.on(staleCache, sysFog) && s.sameColumn(from, c.to) {
			continue // the mistake: only a move to the side counts as a move
		}
		s.fog.see(s.width, p, from, t.sight, ^uint16(0))
		s.fog.see(s.width, p, c.to, t.sight, 1)
		t.sightCell.v[c.row] = c.to
	}
	if s.tick%32 == 9 {
		s.countVisible()
	}
	if s.tick%4 == 3 {
		s.sweep()
	}
}

// sweep turns the radars' dishes on, a full turn in about 500 ticks.
func (s *Sim) sweep() {
	t := s.tables[radar]
	step := float32(0.05)
	if s.on(blindChecksum, sysFog) {
		step = 0.06 // the mistake: a setting of this machine
	}
	for i, angle := range t.sweep.Angle.v {
		if angle += step; angle >= 2*math.Pi {
			angle -= 2 * math.Pi
		}
		t.sweep.Angle.set(i, angle)
	}
}

func (s *Sim) countVisible() {
	enough := uint16(1)
	if s.takes(reconverge, sysFog) {
		enough = 2 // the mistake: what only one entity sees is not counted
	}
	cells := &s.tables[player].vision.Cells
	for p := range s.fog.viewers {
		n := uint32(0)
		for _, v := range s.fog.viewers[p] {
			if v >= enough {
				n++
			}
		}
		cells.set(p, n)
	}
}
