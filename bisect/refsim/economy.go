package refsim

import (
	"math"
	"slices"
)

// haul is what a harvester, miner or truck does next.
type haul uint8

const (
	chooseField haul = iota
	mineOre
	goHome
	unloadOre
)

// runEconomy digs, carries and sells ore, pays the players, and lets it grow
// back.
func (s *Sim) runEconomy() {
	switch {
	case s.tick%4 == 0:
		s.runHauls()
	case s.tick%4 == 2:
		s.trade()
	case s.tick%16 == 5:
		s.payIncome()
	case s.tick%64 == 7:
		s.regrow()
	case s.tick%32 == 13:
		s.switchPower()
	}
}

// runHauls lets everyone who carries ore do one thing. The tables are divided among goroutines; the decisions are
// carried out by id.
func (s *Sim) runHauls() {
	hauls := s.gather(sysEconomy, &s.scratch.hauls, func(t *table) bool { return t.cargo != nil })
	for i := range hauls {
		s.haul(i)
	}
	s.dig()
}

// planTable decides what the idle rows of a table do next.
func (s *Sim) planTable(hauls []action, t *table) []action {
	for row, kind := range t.goal.Kind.v {
		if kind != goalIdle || !t.alive(row) {
			continue
		}
		h := action{id: t.id[row], row: int32(row), archetype: t.archetype, haul: chooseField}
		full, atField := t.cargo.Ore.v[row] >= t.hauls, t.cargo.Source.v[row] != 0
		switch {
		case full && atField:
			h.haul = goHome
		case full:
			h.haul = unloadOre
		case atField:
			h.haul = mineOre
		}
		hauls = append(hauls, h)
	}
	return hauls
}

func (s *Sim) haul(i int) {
	h := &s.scratch.hauls.list[i]
	t, row := s.tables[h.archetype], int(h.row)
	switch h.haul {
	case chooseField:
		s.chooseField(t, row)
	case mineOre:
		h.luck = int32(s.rng.below(8))
		field := t.cargo.Source.v[row]
		s.scratch.mining[field] = append(s.scratch.mining[field], i)
	case goHome:
		x, y := s.home(t.owner.Player.v[row])
		s.send(t, row, goalUnload, x, y)
		t.cargo.Source.set(row, 0)
	case unloadOre:
		p := int(t.owner.Player.v[row])
		bank, price := s.tables[player].bank, int64(s.tables[player].market.Index.v[p]*one)
		tip := int64(s.rng.below(8))
		bank.Credits.set(p, bank.Credits.v[p]+int64(t.cargo.Ore.v[row])*price/one+tip)
		t.cargo.Ore.set(row, 0)
	}
}

// chooseField sends row of t to the nearest of three ore fields.
func (s *Sim) chooseField(t *table, row int) {
	fields := s.tables[oreField]
	best, near := 0, int64(math.MaxInt64)
	for range 3 {
		i := int(s.rng.below(uint32(fields.rows())))
		d := distance(fields.position.X.v[i]-t.position.X.v[row], fields.position.Y.v[i]-t.position.Y.v[row])
		if d < near {
			best, near = i, d
		}
	}
	t.cargo.Source.set(row, fields.id[best])
	s.send(t, row, goalHarvest, fields.position.X.v[best], fields.position.Y.v[best])
}

func (s *Sim) send(t *table, row int, kind uint8, x, y int64) {
	t.goal.Kind.set(row, kind)
	t.goal.X.set(row, x)
	t.goal.Y.set(row, y)
}

// dig shares out each field's yield among those who mine it.
func (s *Sim) dig() {
	mining := s.scratch.mining
	fields := s.scratch.fields[:0]
	for id, list := range mining {
		if len(list) > 0 {
			fields = append(fields, id)
		}
	}
	if !s.on(mapOrder, sysEconomy) {
		slices.Sort(fields)
	}
	deposits := s.tables[oreField]
	for _, id := range fields {
		row, ok := deposits.find(id)
		yield := int32(4 + s.rng.below(8))
		for _, i := range mining[id] {
			h := &s.scratch.hauls.list[i]
			t := s.tables[h.archetype]
			if !ok || deposits.deposit.Amount.v[row] == 0 {
				t.cargo.Source.set(int(h.row), 0)
				continue
			}
			dug := min(yield+h.luck, deposits.deposit.Amount.v[row])
			deposits.deposit.Amount.set(row, deposits.deposit.Amount.v[row]-dug)
			t.cargo.Ore.set(int(h.row), t.cargo.Ore.v[h.row]+dug)
		}
		mining[id] = mining[id][:0]
	}
	s.scratch.fields = fields
}

// trade moves each player's price of ore: the poorer, the better.
func (s *Sim) trade() {
	const keep, gain = 0.98, 0.02
	fused, reordered := s.on(floatFMA, sysEconomy), s.on(floatReassoc, sysEconomy)
	clocked, frames := s.on(wallClock, sysEconomy), s.frames(sysEconomy)
	t := s.tables[player]
	for i, index := range t.market.Index.v {
		wealth := float64(t.bank.Credits.v[i]) / float64(100*s.config.Entities)
		pull := float64(gain * (0.5 + 1/(1+wealth)))
		if clocked {
			pull *= frames // the mistake
		}
		switch {
		case fused:
			t.market.Index.set(i, math.FMA(index, keep, pull)) // the mistake
		case reordered: // the mistake: (a + b) + c for a + (b + c)
			t.market.Index.set(i, float64(float64(index*keep)+float64(gain*0.5))+float64(gain*(1/(1+wealth))))
		default:
			t.market.Index.set(i, float64(index*keep)+pull)
		}
	}
}

// payIncome gives every player something to live on, and taxes what they have.
func (s *Sim) payIncome() {
	credits := &s.tables[player].bank.Credits
	for i, have := range credits.v {
		credits.set(i, have-have/256+int64(4*s.config.Entities/s.config.Players))
	}
}

func (s *Sim) regrow() {
	t := s.tables[oreField]
	for i, amount := range t.deposit.Amount.v {
		amount = min(amount+int32(t.deposit.Regrowth.v[i]), 20000)
		if s.on(checksumOnly, sysEconomy) {
			t.deposit.Amount.v[i] = amount // the mistake: not marked
			continue
		}
		t.deposit.Amount.set(i, amount)
	}
}

// switchPower switches a player's consumers off while they take more power
// than there is.
func (s *Sim) switchPower() {
	var balance [MaxPlayers]int
	for _, t := range s.tables {
		if t.power == nil {
			continue
		}
		for i, output := range t.power.Output.v {
			if t.alive(i) {
				balance[t.owner.Player.v[i]] += int(output)
			}
		}
	}
	for _, t := range s.tables {
		if t.power == nil || t.output > 0 {
			continue
		}
		for i, p := range t.owner.Player.v {
			on := uint8(0)
			if balance[p] >= 0 {
				on = 1
			}
			t.power.On.set(i, on)
		}
	}
}
