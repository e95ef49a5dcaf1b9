package refsim

// runAI plans for the squads and sends the idle where their squad gathers.
func (s *Sim) runAI() {
	for i := range s.tables[squad].id {
		if (s.tick+uint64(i))%32 == 0 {
			s.plan(i)
		}
	}
	for _, t := range s.tables {
		if t.moves() && t.cargo == nil && s.inSlot(t, 16) {
			s.rouse(t)
		}
	}
	if s.tick%64 == 21 {
		s.countStrength()
	}
}

// plan picks a squad's next place: the first of three that its player sees,
// else the last one, to explore it.
func (s *Sim) plan(i int) {
	t := s.tables[squad]
	f := t.formation
	if f.Stance.v[i] == 2 {
		f.Stance.set(i, 1) // stays where it was ordered for one more turn
		return
	}
	cell, stance := uint32(0), uint8(0)
	for range 3 {
		cell = s.rng.below(uint32(s.cells))
		if s.visible(uint8(t.id[i]), cell) {
			stance = 1
			break
		}
	}
	f.X.set(i, int64(cell%uint32(s.width))*cellSize+cellSize/2)
	f.Y.set(i, int64(cell/uint32(s.width))*cellSize+cellSize/2)
	f.Stance.set(i, stance)
}

// rouse sends the idle rows of t on.
func (s *Sim) rouse(t *table) {
	f := s.tables[squad].formation
	w := int64(s.width) * cellSize
	for i, kind := range t.goal.Kind.v {
		if kind != goalIdle || !t.alive(i) {
			continue
		}
		if t.member == nil {
			s.send(t, i, goalMove, s.rng.between(0, w), s.rng.between(0, w))
			continue
		}
		q := int(t.owner.Player.v[i])*s.squads() + int(t.member.Squad.v[i])
		x := f.X.v[q] + s.rng.between(-4*cellSize, 4*cellSize)
		y := f.Y.v[q] + s.rng.between(-4*cellSize, 4*cellSize)
		s.send(t, i, goalMove, s.clamp(x), s.clamp(y))
	}
}

// countStrength adds up the hp of each squad.
func (s *Sim) countStrength() {
	sum := s.scratch.strength
	if !s.on(uninitialized, sysAI) {
		clear(sum)
	}
	twice := s.takes(reconverge, sysAI)
	for _, t := range s.tables {
		if t.member == nil {
			continue
		}
		for i, hp := range t.health.HP.v {
			q := int(t.owner.Player.v[i])*s.squads() + int(t.member.Squad.v[i])
			if twice && sum[q] == 0 {
				sum[q] = uint32(hp) // the mistake: a squad's first member counts twice
			}
			sum[q] += uint32(hp)
		}
	}
	for q, n := range sum {
		s.tables[squad].formation.Strength.set(q, n)
	}
}
