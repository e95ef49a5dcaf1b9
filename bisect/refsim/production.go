package refsim

import (
	"cmp"

	"github.com/desynctool/desynctool/internal/lists"
)

// demand is what a player may want more of.
type demand struct {
	archetype archetype
	player    uint8
}

// runProduction replaces losses. The archetypes take turns; within a tick, players and archetypes compete for credits
// and buildings.
func (s *Sim) runProduction() {
	wanted := s.scratch.wanted
	for _, t := range s.tables {
		if t.share > 0 && t.archetype != oreField && s.inSlot(t, slots) {
			s.count(t, wanted)
		}
	}
	demands := s.scratch.demands[:0]
	for d := range wanted {
		demands = append(demands, d)
	}
	if !s.on(mapOrder, sysProduction) {
		lists.SortStable(demands, func(a, b demand) int {
			return cmp.Or(cmp.Compare(a.archetype, b.archetype), cmp.Compare(a.player, b.player))
		})
	}
	for _, d := range demands {
		s.produce(d, wanted[d])
	}
	s.scratch.demands = demands
	if !s.on(uninitialized, sysProduction) {
		clear(wanted)
	}
	s.repair()
}

// count notes how many entities of t each player lacks, negative if there are
// more than the quota.
func (s *Sim) count(t *table, wanted map[demand]int) {
	var lacks [MaxPlayers]int
	for i, p := range t.owner.Player.v {
		if t.alive(i) {
			lacks[p]--
		}
	}
	for p := range s.config.Players {
		wanted[demand{t.archetype, uint8(p)}] = lacks[p] + s.quota(t.archetype)
	}
}

// produce lets a player's buildings make up to n entities. A building that was
// ordered to makes one beyond the quota, up to a quarter more.
func (s *Sim) produce(d demand, n int) {
	a, p := d.archetype, d.player
	k, quota := s.tables[a].kind, s.quota(a)
	if a.structure() {
		for range min(n, quota/8+1) {
			s.build(a, p)
		}
		return
	}
	makers := s.tables[k.maker]
	made := &makers.production.Ready
	for i, by := range makers.owner.Player.v {
		ordered := makers.production.Item.v[i] == uint8(a)
		if by != p || made.v[i] > s.tick || !makers.alive(i) || n <= 0 && !(ordered && n > -quota/4-1) {
			continue
		}
		if !s.pay(p, k.cost) {
			return
		}
		n--
		made.set(i, s.tick+k.build)
		if ordered {
			s.dequeue(makers, i)
		}
		row := s.spawn(a, p, makers.position.X.v[i], makers.position.Y.v[i])
		t := s.tables[a]
		t.goal.Kind.set(row, goalMove)
		t.goal.X.set(row, s.clamp(makers.production.RallyX.v[i]+s.rng.between(-2*cellSize, 2*cellSize)))
		t.goal.Y.set(row, s.clamp(makers.production.RallyY.v[i]+s.rng.between(-2*cellSize, 2*cellSize)))
		s.show(sysProduction)
	}
}

func (s *Sim) dequeue(makers *table, i int) {
	left := makers.production.Queue.v[i] - 1
	makers.production.Queue.set(i, left)
	if left == 0 {
		makers.production.Item.set(i, noItem)
	}
}

func (a archetype) structure() bool { return kinds[a].structure() }

// build sets up a building somewhere around the headquarters.
func (s *Sim) build(a archetype, p uint8) {
	if !s.pay(p, s.tables[a].cost) {
		return
	}
	x, y := s.home(p)
	spread := int64(s.width) * cellSize / 3
	s.spawn(a, p, x+s.rng.between(-spread, spread), y+s.rng.between(-spread, spread))
	s.show(sysProduction)
}

// pay takes credits from a player's bank if there are enough.
func (s *Sim) pay(p uint8, cost int64) bool {
	bank := s.tables[player].bank
	if bank.Credits.v[p] < cost {
		return false
	}
	bank.Credits.set(int(p), bank.Credits.v[p]-cost)
	bank.Spent.set(int(p), bank.Spent.v[p]+cost)
	return true
}

// repair mends the headquarters.
func (s *Sim) repair() {
	if s.tick%8 != 3 {
		return
	}
	t := s.tables[headquarters]
	for i, hp := range t.health.HP.v {
		t.health.HP.set(i, min(hp+40, t.health.Max.v[i]))
	}
}
