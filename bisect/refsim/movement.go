package refsim

import "math"

// moveEvery is how many ticks lie between two moves of a table. Each move covers the distance of that many ticks. The
// tables take turns.
const moveEvery = 2

// runMovement steers and moves everything that has a goal. The tables are
// divided among goroutines; what needs the RNG comes after, by id.
func (s *Sim) runMovement() {
	s.clock.frames = s.frames(sysMovement)
	crossed := s.gather(sysMovement, &s.scratch.crossed, func(t *table) bool { return t.moves() && s.inSlot(t, moveEvery) })
	for i := range crossed {
		s.stumble(&crossed[i])
	}
}

// moveTable steers and moves the rows of a table, and appends those that cross into another cell.
func (s *Sim) moveTable(crossed []action, t *table) []action {
	if s.inSlot(t, 4) {
		s.steer(t)
	}
	if t.fatigue != nil && s.inSlot(t, 16) {
		s.tire(t)
	}
	return s.move(t, crossed)
}

// move moves each row on by its velocity.
func (s *Sim) move(t *table, crossed []action) []action {
	limit := int64(s.width)*cellSize - 1
	vx, vy := t.velocity.X.v, t.velocity.Y.v
	px, py := t.position.X.v, t.position.Y.v
	moved := false
	for i := range px {
		if vx[i]|vy[i] == 0 {
			continue
		}
		x := min(max(px[i]+moveEvery*int64(vx[i]), 0), limit)
		y := min(max(py[i]+moveEvery*int64(vy[i]), 0), limit)
		if ((x^px[i])|(y^py[i]))>>cellShift != 0 {
			crossed = append(crossed, action{id: t.id[i], row: int32(i), to: s.cellAt(x, y), archetype: t.archetype})
		}
		moved = moved || x != px[i] || y != py[i]
		px[i], py[i] = x, y
	}
	if moved && !s.on(checksumOnly, sysMovement) {
		t.position.X.mark()
		t.position.Y.mark()
	}
	return crossed
}

// steer sets each row's velocity towards its goal and away from crowds.
func (s *Sim) steer(t *table) {
	for i, kind := range t.goal.Kind.v {
		if kind == goalIdle || !t.alive(i) {
			t.velocity.stop(i)
			continue
		}
		x, y := t.position.X.v[i], t.position.Y.v[i]
		dx, dy := t.goal.X.v[i]-x, t.goal.Y.v[i]-y
		far := distance(dx, dy)
		if far < cellSize/2 {
			t.goal.Kind.set(i, goalIdle)
			t.velocity.stop(i)
			continue
		}
		speed := int64(s.paceAt(t, i, s.cellAt(x, y)))
		vx, vy := int32(dx*speed/far), int32(dy*speed/far)
		cx, cy := s.crowd(s.cellAt(x, y))
		t.velocity.X.set(i, vx+cx)
		t.velocity.Y.set(i, vy+cy)
		s.turn(t, i)
	}
}

// paceAt returns the speed of row i of t in a cell, in 1/65536 units a tick.
func (s *Sim) paceAt(t *table, i int, cell uint32) int32 {
	pace := t.speed
	if !t.flies {
		pace = pace * 32 / (32 + int32(s.path.cost[cell]))
	}
	if t.fatigue != nil && t.fatigue.Level.v[i] > 0.75 {
		pace = pace * 3 / 4
	}
	return pace
}

// crowd returns the velocity by which a cell's neighbours push an entity to where there are fewer.
func (s *Sim) crowd(cell uint32) (vx, vy int32) {
	w := uint32(s.width)
	if x, y := cell%w, cell/w; x == 0 || y == 0 || x == w-1 || y == w-1 {
		return 0, 0
	}
	g := s.grid.entries
	vx = int32(len(g[cell-1])) - int32(len(g[cell+1]))
	vy = int32(len(g[cell-w])) - int32(len(g[cell+w]))
	return vx * 512, vy * 512
}

// turn makes row i of t face where it goes.
func (s *Sim) turn(t *table, i int) {
	a := angle(int64(t.velocity.X.v[i]), int64(t.velocity.Y.v[i]))
	side := int8(0)
	switch d := int16(a - t.heading.Angle.v[i]); {
	case d > 0:
		side = 1
	case d < 0:
		side = -1
	}
	if s.on(blindChecksum, sysMovement) {
		side = -side // the mistake: another machine's idea of left and right
	}
	t.heading.Angle.set(i, a)
	t.heading.Turn.set(i, side)
}

// tire moves each row's fatigue towards how fast it goes.
func (s *Sim) tire(t *table) {
	const keep, gain = 0.97, 0.03
	fused, reordered := s.on(floatFMA, sysMovement), s.on(floatReassoc, sysMovement)
	clocked := s.on(wallClock, sysMovement)
	for i, level := range t.fatigue.Level.v {
		effort := float64(abs(t.velocity.X.v[i])+abs(t.velocity.Y.v[i])) / float64(t.speed)
		strain := float64(gain * min(effort, 1))
		if clocked {
			strain *= s.clock.frames // the mistake
		}
		switch {
		case fused:
			t.fatigue.Level.set(i, math.FMA(level, keep, strain)) // the mistake
		case reordered && effort < 1: // the mistake: (a + b) + c for a + (b + c)
			x, y := float64(abs(t.velocity.X.v[i]))/float64(t.speed), float64(abs(t.velocity.Y.v[i]))/float64(t.speed)
			t.fatigue.Level.set(i, float64(float64(level*keep)+float64(gain*x))+float64(gain*y))
		default:
			t.fatigue.Level.set(i, float64(level*keep)+strain)
		}
	}
}

// stumble shakes an entity that enters a cell, the more the rougher it is, and
// raises dust.
func (s *Sim) stumble(c *action) {
	t := s.tables[c.archetype]
	if !t.alive(int(c.row)) {
		return
	}
	rough := int64(64 + 64*int(s.terrain[c.to]))
	i := int(c.row)
	t.velocity.X.set(i, t.velocity.X.v[i]+int32(s.rng.between(-rough, rough+1)))
	s.show(sysMovement)
}

// show draws an effect that nothing in the game depends on.
func (s *Sim) show(in system) {
	r := &s.cosmetic
	if s.on(rngLeak, in) {
		r = &s.rng // the mistake
	}
	r.below(8)
}
