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
	m.serial.Next.set(0, 1)
	m.rules.Entities.set(0, uint32(s.config.Entities))
	m.rules.Players.set(0, uint8(s.config.Players))
	m.rules.Seed.set(0, s.config.Seed)
	m.rules.Width.set(0, uint16(s.width))
	m.rules.Flags.set(0, "\x01\x00\x02\xff")

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
	t.profile.Name.set(row, fmt.Sprintf("%s %d", playerNames[p], p+1))
	t.bank.Credits.set(row, int64(400*s.config.Entities/s.config.Players))
	t.market.Index.set(row, 1)

	// Headquarters are placed around the middle, a third of the map's width off.
	w := int64(s.width) * cellSize
	corners := [MaxPlayers][2]int64{{-1, -1}, {1, 1}, {1, -1}, {-1, 1}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}}
	s.spawn(headquarters, uint8(p), w/2+corners[p][0]*w/3, w/2+corners[p][1]*w/3)

	q := s.tables[squad]
	for i := range s.squads() {
		row := q.add(uint64(p))
		q.index = append(q.index, uint64(i))
		q.formation.X.set(row, s.rng.between(0, w))
		q.formation.Y.set(row, s.rng.between(0, w))
	}
}

func (s *Sim) addOreField() {
	t := s.tables[oreField]
	w := int64(s.width) * cellSize
	row := t.add(s.newID(oreField))
	t.position.X.set(row, s.rng.between(0, w))
	t.position.Y.set(row, s.rng.between(0, w))
	t.deposit.Amount.set(row, 2000+int32(s.rng.below(6000)))
	t.deposit.Regrowth.set(row, 200+int16(s.rng.below(200)))
}

// home returns the position of a player's headquarters.
func (s *Sim) home(p uint8) (x, y int64) {
	hq := s.tables[headquarters]
	return hq.position.X.v[p], hq.position.Y.v[p]
}

// spawn adds an entity of an archetype with health.
func (s *Sim) spawn(a archetype, p uint8, x, y int64) (row int) {
	t := s.tables[a]
	x, y = s.clamp(x), s.clamp(y)
	id := s.newID(a)
	row = t.add(id)
	t.position.X.set(row, x)
	t.position.Y.set(row, y)
	t.owner.Player.set(row, p)
	t.health.Max.set(row, t.hp)
	t.health.HP.set(row, t.hp)
	t.health.Armor.set(row, t.armor)
	if t.weapon != nil {
		t.weapon.Cooldown.set(row, t.reload)
		t.weapon.Damage.set(row, t.damage)
		t.weapon.Ready.set(row, s.tick+uint64(s.rng.below(uint32(t.reload))))
	}
	if t.member != nil {
		t.member.Squad.set(row, uint16(s.rng.below(uint32(s.squads()))))
	}
	if t.altitude != nil {
		t.altitude.Z.set(row, 20+int16(s.rng.below(40)))
	}
	if t.morale != nil {
		t.morale.Value.set(row, float64(512+s.rng.below(256))/1024)
		t.morale.Rank.set(row, 2)
	}
	if t.production != nil {
		t.production.Item.set(row, noItem)
		t.production.RallyX.set(row, s.clamp(x+s.rng.between(-4*cellSize, 4*cellSize)))
		t.production.RallyY.set(row, s.clamp(y+s.rng.between(-4*cellSize, 4*cellSize)))
	}
	if t.power != nil {
		t.power.Output.set(row, t.kind.output)
		t.power.On.set(row, 1)
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
			s.tables[oreField].deposit.Amount.set(i, 2*s.tables[oreField].deposit.Amount.v[i])
		}
	case "Player":
		for i := range s.tables[player].id {
			s.tables[player].bank.Credits.set(i, s.tables[player].bank.Credits.v[i]+5000)
		}
	case "Headquarters":
		for i := range s.tables[headquarters].id {
			s.tables[headquarters].health.HP.set(i, kinds[headquarters].hp/2)
		}
	}
}
