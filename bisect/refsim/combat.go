package refsim

import "slices"

// corpseTicks is how long dead and spent entities stay at least.
const corpseTicks = 8

// runCombat finds targets and fires. The tables that are due are divided among
// goroutines; the shots are fired by id.
func (s *Sim) runCombat() {
	shots := s.gather(sysCombat, &s.scratch.shots, func(t *table) bool { return t.weapon != nil && s.inSlot(t, 4) })
	for i := range shots {
		s.fire(&shots[i])
	}
	s.applyHits()
}

// aimTable lets the rows of a table aim, and appends those that are about to fire.
func (s *Sim) aimTable(shots []action, t *table) []action {
	for row, expires := range t.corpse.Expires.v {
		if expires != 0 {
			continue
		}
		if target := s.aim(t, row); target != 0 && t.weapon.Ready.v[row] <= s.tick {
			shots = append(shots, action{id: t.id[row], row: int32(row), archetype: t.archetype, target: target})
		}
	}
	return shots
}

// aim returns what row of t may fire at now, 0 if nothing.
func (s *Sim) aim(t *table, row int) uint64 {
	target := t.weapon.Target.v[row]
	x, y := t.position.X.v[row], t.position.Y.v[row]
	hunts := t.goal != nil && t.goal.Kind.v[row] == goalAttack
	if target != 0 {
		if enemy, i, ok := s.findTarget(target); ok {
			ex, ey := enemy.position.X.v[i], enemy.position.Y.v[i]
			if distance(ex-x, ey-y) <= t.reach {
				return target // holds on to it
			}
			if hunts {
				t.goal.X.set(row, ex)
				t.goal.Y.set(row, ey)
				return 0
			}
		} else if hunts {
			t.goal.Kind.set(row, goalIdle)
		}
	}
	if t.weapon.Ready.v[row] > s.tick {
		return 0 // no use in looking around yet
	}
	target = s.nearestEnemy(x, y, t.reach, t.owner.Player.v[row])
	t.weapon.Target.set(row, target)
	return target
}

// nearestEnemy returns the nearest living entity of another player within
// reach; of two as near the one that the grid lists first.
func (s *Sim) nearestEnemy(x, y, reach int64, p uint8) uint64 {
	best, found := reach+1, uint64(0)
	x0, x1 := s.clamp(x-reach)>>cellShift, s.clamp(x+reach)>>cellShift
	y0, y1 := s.clamp(y-reach)>>cellShift, s.clamp(y+reach)>>cellShift
	others := ^(uint8(1) << p)
	for cy := y0; cy <= y1; cy++ {
		for cell := int(cy)*s.width + int(x0); cell <= int(cy)*s.width+int(x1); cell++ {
			if s.grid.present[cell]&others == 0 {
				continue
			}
			for _, e := range s.grid.entries[cell] {
				if e.player == p {
					continue
				}
				t, i, ok := s.findTarget(e.id)
				if !ok {
					continue
				}
				if d := distance(t.position.X.v[i]-x, t.position.Y.v[i]-y); d < best {
					best, found = d, e.id
				}
			}
		}
	}
	return found
}

// fire fires one shot: a hit is noted, a projectile starts.
func (s *Sim) fire(sh *action) {
	t, row := s.tables[sh.archetype], int(sh.row)
	spread := uint64(s.rng.below(8))
	if s.on(wallClock, sysCombat) {
		spread = jitter() // the mistake
	}
	t.weapon.Ready.set(row, s.tick+uint64(t.weapon.Cooldown.v[row])+spread)
	s.show(sysCombat)
	if t.shells {
		s.launch(t, row, sh.target)
		return
	}
	chance := uint32(600)
	if t.morale != nil {
		chance += uint32(t.morale.Value.v[row] * 400)
	}
	if s.rng.below(1024) < chance {
		s.scratch.hits[sh.target] += int32(t.weapon.Damage.v[row])
	}
}

// applyHits deals the damage of this tick's direct hits, one target at a time.
func (s *Sim) applyHits() {
	hits := s.scratch.hits
	targets := s.scratch.targets[:0]
	for id := range hits {
		targets = append(targets, id)
	}
	if !s.on(mapOrder, sysCombat) {
		slices.Sort(targets)
	}
	for _, id := range targets {
		s.damage(id, hits[id]*int32(192+s.rng.below(128))/256)
	}
	s.scratch.targets = targets
	if !s.on(uninitialized, sysCombat) {
		clear(hits)
	}
}

// damage takes points off an entity's health and kills it at none left.
// Headquarters are never destroyed.
func (s *Sim) damage(id uint64, points int32) {
	t, row, ok := s.findTarget(id)
	if !ok {
		return
	}
	hp := t.health.HP.v[row] - max(points-int32(t.health.Armor.v[row]), 1)
	switch {
	case t.archetype == headquarters:
		hp = max(hp, 1)
	case hp <= 0:
		hp = 0
		t.corpse.Expires.set(row, s.tick+corpseTicks)
		if t.moves() {
			t.velocity.stop(row)
		}
		losses := &s.tables[player].score.Losses
		p := int(t.owner.Player.v[row])
		losses.set(p, losses.v[p]+1)
		if !s.on(staleCache, sysPathCost) { // the mistake: wrecks do not count
			s.path.invalidate(s.cellOf(t, row))
		}
	}
	if s.on(checksumOnly, sysCombat) {
		t.health.HP.v[row] = hp // the mistake: not marked
		return
	}
	t.health.HP.set(row, hp)
}
