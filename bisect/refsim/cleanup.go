package refsim

// runCleanup removes dead and spent entities when their time is over. Tables take turns.
func (s *Sim) runCleanup() {
	for _, t := range s.tables {
		switch {
		case t.corpse == nil:
		case t.archetype == projectile && s.inSlot(t, slots/2), s.inSlot(t, slots):
			s.bury(t)
		}
	}
	s.settlePath()
	s.scratch.crossed.list = s.scratch.crossed.list[:0]
}

func (s *Sim) bury(t *table) {
	rows := s.scratch.rows[:0]
	for i, expires := range t.corpse.Expires.v {
		if expires != 0 && expires <= s.tick {
			rows = append(rows, i)
		}
	}
	s.scratch.rows = rows
	if len(rows) == 0 {
		return
	}
	if t.solid() {
		for _, i := range rows {
			s.grid.remove(t.gridCell.v[i], t.id[i])
			s.fog.see(s.width, t.owner.Player.v[i], t.sightCell.v[i], t.sight, ^uint16(0))
			s.path.invalidate(s.cellOf(t, i))
		}
	}
	t.remove(rows)
}
