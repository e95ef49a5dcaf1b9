package refsim

import (
	"cmp"
	"math"
	"slices"
)

// haul is what a harvester, miner or truck does next.
type haul struct {
	id        uint64
	row       int32
	archetype archetype
	act       haulAct
	luck      int32 // ore that a miner digs beyond the field's yield
}

type haulAct uint8

const (
	chooseField haulAct = iota
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

// runHauls lets everyone who carries ore do one thing. The tables are divided
// among goroutines; what was decided is done by id.
func (s *Sim) runHauls() {
	due := s.scratch.due[:0]
	for _, t := range s.tables {
		if t.cargo != nil {
			due = append(due, t)
		}
	}
	s.scratch.due = due
	done := s.each(sysEconomy, s.scratch.planSome)

	hauls := s.scratch.hauls[:0]
	for _, w := range done {
		hauls = append(hauls, s.scratch.haulsBy[w]...)
	}
	s.scratch.hauls = hauls
	switch {
	case s.on(unsortedMerge, sysEconomy): // the mistake: not sorted
	case s.on(unstableSort, sysEconomy): // the mistake: several have the same key
		slices.SortFunc(hauls, func(a, b haul) int { return cmp.Compare(chunk(a.id), chunk(b.id)) })
	default:
		slices.SortFunc(hauls, func(a, b haul) int { return cmp.Compare(a.id, b.id) })
	}
	for i := range hauls {
		s.haul(i)
	}
	s.dig()
}

// planSome is one goroutine's part of deciding what to do next.
func (s *Sim) planSome(worker int) {
	hauls := s.scratch.haulsBy[worker][:0]
	for i := worker; i < len(s.scratch.due); i += workers {
		t := s.scratch.due[i]
		for row, kind := range t.goal.kind.v {
			if kind != goalIdle || !t.alive(row) {
				continue
			}
			h := haul{id: t.id[row], row: int32(row), archetype: t.archetype}
			full, atField := t.cargo.ore.v[row] >= t.hauls, t.cargo.source.v[row] != 0
			switch {
			case full && atField:
				h.act = goHome
			case full:
				h.act = unloadOre
			case atField:
				h.act = mineOre
			default:
				h.act = chooseField
			}
			hauls = append(hauls, h)
		}
	}
	s.scratch.haulsBy[worker] = hauls
}

func (s *Sim) haul(i int) {
	h := &s.scratch.hauls[i]
	t, row := s.tables[h.archetype], int(h.row)
	switch h.act {
	case chooseField:
		s.chooseField(t, row)
	case mineOre:
		h.luck = int32(s.rng.below(8))
		field := t.cargo.source.v[row]
		s.scratch.mining[field] = append(s.scratch.mining[field], i)
	case goHome:
		x, y := s.home(t.owner.player.v[row])
		s.send(t, row, goalUnload, x, y)
		t.cargo.source.set(row, 0)
	case unloadOre:
		p := int(t.owner.player.v[row])
		bank, price := s.tables[player].bank, int64(s.tables[player].market.index.v[p]*one)
		tip := int64(s.rng.below(8))
		bank.credits.set(p, bank.credits.v[p]+int64(t.cargo.ore.v[row])*price/one+tip)
		t.cargo.ore.set(row, 0)
	}
}

// chooseField sends row of t to the nearest of three ore fields.
func (s *Sim) chooseField(t *table, row int) {
	fields := s.tables[oreField]
	best, near := 0, int64(math.MaxInt64)
	for range 3 {
		i := int(s.rng.below(uint32(fields.rows())))
		d := distance(fields.position.x.v[i]-t.position.x.v[row], fields.position.y.v[i]-t.position.y.v[row])
		if d < near {
			best, near = i, d
		}
	}
	t.cargo.source.set(row, fields.id[best])
	s.send(t, row, goalHarvest, fields.position.x.v[best], fields.position.y.v[best])
}

func (s *Sim) send(t *table, row int, kind uint8, x, y int64) {
	t.goal.kind.set(row, kind)
	t.goal.x.set(row, x)
	t.goal.y.set(row, y)
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
			h := &s.scratch.hauls[i]
			t := s.tables[h.archetype]
			if !ok || deposits.deposit.amount.v[row] == 0 {
				t.cargo.source.set(int(h.row), 0)
				continue
			}
			dug := min(yield+h.luck, deposits.deposit.amount.v[row])
			deposits.deposit.amount.set(row, deposits.deposit.amount.v[row]-dug)
			t.cargo.ore.set(int(h.row), t.cargo.ore.v[h.row]+dug)
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
	for i, index := range t.market.index.v {
		wealth := float64(t.bank.credits.v[i]) / float64(100*s.config.Entities)
		pull := float64(gain * (0.5 + 1/(1+wealth)))
		if clocked {
			pull *= frames // the mistake
		}
		switch {
		case fused:
			t.market.index.set(i, math.FMA(index, keep, pull)) // the mistake
		case reordered: // the mistake: (a + b) + c for a + (b + c)
			t.market.index.set(i, float64(float64(index*keep)+float64(gain*0.5))+float64(gain*(1/(1+wealth))))
		default:
			t.market.index.set(i, float64(index*keep)+pull)
		}
	}
}

// payIncome gives every player something to live on, and taxes what they have.
func (s *Sim) payIncome() {
	credits := &s.tables[player].bank.credits
	for i, have := range credits.v {
		credits.set(i, have-have/256+int64(4*s.config.Entities/s.config.Players))
	}
}

func (s *Sim) regrow() {
	t := s.tables[oreField]
	for i, amount := range t.deposit.amount.v {
		amount = min(amount+int32(t.deposit.regrowth.v[i]), 20000)
		if s.on(checksumOnly, sysEconomy) {
			t.deposit.amount.v[i] = amount // the mistake: not marked
			continue
		}
		t.deposit.amount.set(i, amount)
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
		for i, output := range t.power.output.v {
			if t.alive(i) {
				balance[t.owner.player.v[i]] += int(output)
			}
		}
	}
	for _, t := range s.tables {
		if t.power == nil || t.output > 0 {
			continue
		}
		for i, p := range t.owner.player.v {
			on := uint8(0)
			if balance[p] >= 0 {
				on = 1
			}
			t.power.on.set(i, on)
		}
	}
}
