package refsim

import "fmt"

// mapWidth returns the cells along each side of the map for a number of
// entities: about one entity to a cell.
func mapWidth(entities int) int {
	w := 12
	for w*w < entities {
		w++
	}
	return w
}

// quota returns how many entities of an archetype each player keeps up.
func (s *Sim) quota(a archetype) int {
	return max(1, (s.config.Entities*int(kinds[a].share)/1000+s.config.Players/2)/s.config.Players)
}

// squads returns how many squads each player has.
func (s *Sim) squads() int { return max(2, s.config.Entities/(100*s.config.Players)) }

// maxProjectiles bounds how many projectiles fly at a time.
func (s *Sim) maxProjectiles() int { return s.config.Entities/8 + 8 }

var playerNames = [MaxPlayers]string{"Ada", "Bertil", "Chloé", "Dmitri", "Eun-ji", "Farah", "Güneş", "Hana"}

// populate sets up state point 0.
func (s *Sim) populate() {
	m := s.tables[match]
	m.add(uint64(match))
	m.serial.next.set(0, 1)
	m.rules.entities.set(0, uint32(s.config.Entities))
	m.rules.players.set(0, uint8(s.config.Players))
	m.rules.seed.set(0, s.config.Seed)
	m.rules.width.set(0, uint16(s.width))
	m.rules.flags.set(0, "\x01\x00\x02\xff")

	for p := range s.config.Players {
		s.addPlayer(p)
	}
	for range s.config.Entities * int(kinds[oreField].share) / 1000 {
		s.addOreField()
	}
	for a := range kinds {
		for range s.initial(archetype(a)) {
			for p := range s.config.Players {
				hx, hy := s.home(uint8(p))
				spread := int64(s.width) * cellSize * 2 / 5
				s.spawn(archetype(a), uint8(p), hx+s.rng.between(-spread, spread), hy+s.rng.between(-spread, spread))
			}
		}
	}
	s.settlePath()
	s.lobby()
}

// initial returns how many entities of an archetype each player starts with.
func (s *Sim) initial(a archetype) int {
	if a == oreField || kinds[a].share == 0 {
		return 0
	}
	return s.quota(a)
}

func (s *Sim) addPlayer(p int) {
	t := s.tables[player]
	row := t.add(s.newID(player))
	t.profile.name.set(row, fmt.Sprintf("%s %d", playerNames[p], p+1))
	t.bank.credits.set(row, int64(400*s.config.Entities/s.config.Players))
	t.market.index.set(row, 1)

	// Headquarters stand around the middle, a third of the map's width off.
	w := int64(s.width) * cellSize
	corners := [MaxPlayers][2]int64{{-1, -1}, {1, 1}, {1, -1}, {-1, 1}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}}
	s.spawn(headquarters, uint8(p), w/2+corners[p][0]*w/3, w/2+corners[p][1]*w/3)

	q := s.tables[squad]
	for i := range s.squads() {
		row := q.add(uint64(p))
		q.index = append(q.index, uint64(i))
		q.formation.x.set(row, s.rng.between(0, w))
		q.formation.y.set(row, s.rng.between(0, w))
	}
}

func (s *Sim) addOreField() {
	t := s.tables[oreField]
	w := int64(s.width) * cellSize
	row := t.add(s.newID(oreField))
	t.position.x.set(row, s.rng.between(0, w))
	t.position.y.set(row, s.rng.between(0, w))
	t.deposit.amount.set(row, 2000+int32(s.rng.below(6000)))
	t.deposit.regrowth.set(row, 200+int16(s.rng.below(200)))
}

// home returns where a player's headquarters stand.
func (s *Sim) home(p uint8) (x, y int64) {
	hq := s.tables[headquarters]
	return hq.position.x.v[p], hq.position.y.v[p]
}

// spawn adds an entity of an archetype with health.
func (s *Sim) spawn(a archetype, p uint8, x, y int64) (row int) {
	t := s.tables[a]
	x, y = s.clamp(x), s.clamp(y)
	id := s.newID(a)
	row = t.add(id)
	t.position.x.set(row, x)
	t.position.y.set(row, y)
	t.owner.player.set(row, p)
	t.health.max.set(row, t.hp)
	t.health.hp.set(row, t.hp)
	t.health.armor.set(row, t.armor)
	if t.weapon != nil {
		t.weapon.cooldown.set(row, t.reload)
		t.weapon.damage.set(row, t.damage)
		t.weapon.ready.set(row, s.tick+uint64(s.rng.below(uint32(t.reload))))
	}
	if t.member != nil {
		t.member.squad.set(row, uint16(s.rng.below(uint32(s.squads()))))
	}
	if t.altitude != nil {
		t.altitude.z.set(row, 20+int16(s.rng.below(40)))
	}
	if t.morale != nil {
		t.morale.value.set(row, float64(512+s.rng.below(256))/1024)
		t.morale.rank.set(row, 2)
	}
	if t.production != nil {
		t.production.item.set(row, noItem)
		t.production.rallyX.set(row, s.clamp(x+s.rng.between(-4*cellSize, 4*cellSize)))
		t.production.rallyY.set(row, s.clamp(y+s.rng.between(-4*cellSize, 4*cellSize)))
	}
	if t.power != nil {
		t.power.output.set(row, t.kind.output)
		t.power.on.set(row, 1)
	}
	cell := s.cellAt(x, y)
	s.grid.add(cell, id, p)
	t.gridCell.v[row] = cell
	s.fog.see(s.width, p, cell, t.sight, 1)
	t.sightCell.v[row] = cell
	if t.structure() {
		s.path.invalidate(cell)
	}
	return row
}

// lobby is the fault initial-state: an option that only this peer has set.
func (s *Sim) lobby() {
	switch s.faults.lobby {
	case "OreField":
		for i := range s.tables[oreField].id {
			s.tables[oreField].deposit.amount.set(i, 2*s.tables[oreField].deposit.amount.v[i])
		}
	case "Player":
		for i := range s.tables[player].id {
			s.tables[player].bank.credits.set(i, s.tables[player].bank.credits.v[i]+5000)
		}
	case "Headquarters":
		for i := range s.tables[headquarters].id {
			s.tables[headquarters].health.hp.set(i, kinds[headquarters].hp/2)
		}
	}
}
