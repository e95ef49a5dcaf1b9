package refsim

import "slices"

// launch starts a projectile from row of t to a target that lives.
func (s *Sim) launch(t *table, row int, target uint64) {
	shells := s.tables[projectile]
	enemy, e, ok := s.findTarget(target)
	if !ok || shells.rows() >= s.maxProjectiles() {
		return
	}
	const pace = 3 * one
	x, y := t.position.X.v[row], t.position.Y.v[row]
	spread := int64(3 * one)
	tx := enemy.position.X.v[e] + s.rng.between(-spread, spread)
	ty := enemy.position.Y.v[e] + s.rng.between(-spread, spread)
	ticks := distance(tx-x, ty-y)/pace + 1

	i := shells.add(s.newID(projectile))
	shells.position.X.set(i, x)
	shells.position.Y.set(i, y)
	shells.velocity.X.set(i, int32((tx-x)/ticks))
	shells.velocity.Y.set(i, int32((ty-y)/ticks))
	shells.owner.Player.set(i, t.owner.Player.v[row])
	shells.flight.Arrives.set(i, s.tick+uint64(ticks))
	shells.flight.Damage.set(i, t.weapon.Damage.v[row])
	shells.flight.Target.set(i, target)
}

// runProjectiles moves the projectiles and lets them strike.
func (s *Sim) runProjectiles() {
	t := s.tables[projectile]
	arrived := s.scratch.rows[:0]
	for i := range t.id {
		if !t.alive(i) {
			continue
		}
		t.position.X.set(i, s.clamp(t.position.X.v[i]+int64(t.velocity.X.v[i])))
		t.position.Y.set(i, s.clamp(t.position.Y.v[i]+int64(t.velocity.Y.v[i])))
		if t.flight.Arrives.v[i] <= s.tick {
			arrived = append(arrived, i)
		}
	}
	s.scratch.rows = arrived
	if s.on(localeSort, sysProjectiles) { // the mistake: tags as text
		slices.SortFunc(arrived, func(i, j int) int { return collate(t.id[i], t.id[j]) })
	}
	for _, i := range arrived {
		s.strike(t, i)
	}
}

// strike ends a projectile's flight: it hits its target if that is near.
func (s *Sim) strike(t *table, i int) {
	t.corpse.Expires.set(i, s.tick+corpseTicks/2)
	s.show(sysProjectiles)
	target := t.flight.Target.v[i]
	enemy, e, ok := s.findTarget(target)
	if !ok {
		return
	}
	off := distance(enemy.position.X.v[e]-t.position.X.v[i], enemy.position.Y.v[e]-t.position.Y.v[i])
	if off > 6*one {
		return
	}
	points := int32(t.flight.Damage.v[i]) * int32(192+s.rng.below(128)) / 256
	s.damage(target, points*int32(12*one-off)/(12*one))
	if enemy.health.HP.v[e] == 0 {
		kills := &s.tables[player].score.Kills
		p := int(t.owner.Player.v[i])
		kills.set(p, kills.v[p]+1)
	}
}
