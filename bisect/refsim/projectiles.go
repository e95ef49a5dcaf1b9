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
	x, y := t.position.x.v[row], t.position.y.v[row]
	spread := int64(3 * one)
	tx := enemy.position.x.v[e] + s.rng.between(-spread, spread)
	ty := enemy.position.y.v[e] + s.rng.between(-spread, spread)
	ticks := distance(tx-x, ty-y)/pace + 1

	i := shells.add(s.newID(projectile))
	shells.position.x.set(i, x)
	shells.position.y.set(i, y)
	shells.velocity.x.set(i, int32((tx-x)/ticks))
	shells.velocity.y.set(i, int32((ty-y)/ticks))
	shells.owner.player.set(i, t.owner.player.v[row])
	shells.flight.arrives.set(i, s.tick+uint64(ticks))
	shells.flight.damage.set(i, t.weapon.damage.v[row])
	shells.flight.target.set(i, target)
}

// runProjectiles moves the projectiles and lets them strike.
func (s *Sim) runProjectiles() {
	t := s.tables[projectile]
	arrived := s.scratch.rows[:0]
	for i := range t.id {
		if !t.alive(i) {
			continue
		}
		t.position.x.set(i, s.clamp(t.position.x.v[i]+int64(t.velocity.x.v[i])))
		t.position.y.set(i, s.clamp(t.position.y.v[i]+int64(t.velocity.y.v[i])))
		if t.flight.arrives.v[i] <= s.tick {
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
	t.corpse.expires.set(i, s.tick+corpseTicks/2)
	if s.on(rngLeak, sysProjectiles) {
		s.show(&s.rng) // the mistake
	} else {
		s.show(&s.cosmetic)
	}
	target := t.flight.target.v[i]
	enemy, e, ok := s.findTarget(target)
	if !ok {
		return
	}
	off := distance(enemy.position.x.v[e]-t.position.x.v[i], enemy.position.y.v[e]-t.position.y.v[i])
	if off > 6*one {
		return
	}
	points := int32(t.flight.damage.v[i]) * int32(192+s.rng.below(128)) / 256
	s.damage(target, points*int32(12*one-off)/(12*one))
	if enemy.health.hp.v[e] == 0 {
		kills := &s.tables[player].score.kills
		p := int(t.owner.player.v[i])
		kills.set(p, kills.v[p]+1)
	}
}
