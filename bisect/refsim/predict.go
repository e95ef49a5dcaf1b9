package refsim

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
)

// Predict shows what a player's own orders of the tick at hand will do before all
// peers have confirmed them: units turn and go, weapons fire, factories begin.
// Whatever that touches is put back, so that the state is what it was.
func (s *Sim) Predict(player uint32, orders []orderlog.Order) {
	var touched []memento
	for i := range orders {
		o := &orders[i]
		if o.Player != player {
			continue
		}
		k, ok := s.task(o)
		if !ok {
			continue
		}
		if o.Kind == OrderRegroup {
			k.table, k.row = s.tables[squad], int(o.Player)*s.squads()+int(k.args[0])
		}
		touched = append(touched, remember(k.table, k.row))
		s.apply(o)
		s.lead(o.Kind, k.table, k.row)
	}
	for _, m := range slices.Backward(touched) {
		s.putBack(&m)
	}
}

// lead goes beyond what an order sets: it does what the systems will do first.
func (s *Sim) lead(kind uint32, t *table, row int) {
	switch kind {
	case OrderMove, OrderAttack:
		dx, dy := t.goal.x.v[row]-t.position.x.v[row], t.goal.y.v[row]-t.position.y.v[row]
		if far := distance(dx, dy); far > 0 {
			t.velocity.x.set(row, int32(dx*int64(t.speed)/far))
			t.velocity.y.set(row, int32(dy*int64(t.speed)/far))
			s.turn(t, row)
		}
		if kind == OrderAttack && t.weapon.ready.v[row] <= s.tick {
			t.weapon.ready.set(row, s.tick+uint64(t.weapon.cooldown.v[row]))
		}
	case OrderTrain:
		t.production.ready.set(row, s.tick+kinds[t.production.item.v[row]].build)
	}
}

// memento is what a prediction may touch of one entity, as it was.
type memento struct {
	table *table
	row   int

	goalKind, item, stance                       uint8
	goalX, goalY, rallyX, rallyY, squadX, squadY int64
	vx, vy                                       int32
	angle, queue                                 uint16
	turn                                         int8
	target, fires, makes                         uint64
}

func remember(t *table, row int) memento {
	m := memento{table: t, row: row}
	if t.goal != nil {
		m.goalKind, m.goalX, m.goalY = t.goal.kind.v[row], t.goal.x.v[row], t.goal.y.v[row]
		m.vx, m.vy = t.velocity.x.v[row], t.velocity.y.v[row]
		m.angle, m.turn = t.heading.angle.v[row], t.heading.turn.v[row]
	}
	if t.weapon != nil {
		m.target, m.fires = t.weapon.target.v[row], t.weapon.ready.v[row]
	}
	if p := t.production; p != nil {
		m.item, m.queue, m.makes = p.item.v[row], p.queue.v[row], p.ready.v[row]
		m.rallyX, m.rallyY = p.rallyX.v[row], p.rallyY.v[row]
	}
	if f := t.formation; f != nil {
		m.squadX, m.squadY, m.stance = f.x.v[row], f.y.v[row], f.stance.v[row]
	}
	return m
}

// putBack takes a prediction back. The fault prediction-leak forgets a field.
func (s *Sim) putBack(m *memento) {
	t, row := m.table, m.row
	if t.goal != nil {
		t.goal.kind.set(row, m.goalKind)
		t.goal.x.set(row, m.goalX)
		t.goal.y.set(row, m.goalY)
		if !s.on(predictionLeak, sysMovement) {
			t.velocity.x.set(row, m.vx)
		}
		t.velocity.y.set(row, m.vy)
		t.heading.angle.set(row, m.angle)
		t.heading.turn.set(row, m.turn)
	}
	if t.weapon != nil {
		t.weapon.target.set(row, m.target)
		if !s.on(predictionLeak, sysCombat) {
			t.weapon.ready.set(row, m.fires)
		}
	}
	if p := t.production; p != nil {
		p.item.set(row, m.item)
		if !s.on(predictionLeak, sysProduction) {
			p.queue.set(row, m.queue)
		}
		p.ready.set(row, m.makes)
		p.rallyX.set(row, m.rallyX)
		p.rallyY.set(row, m.rallyY)
	}
	if f := t.formation; f != nil {
		f.x.set(row, m.squadX)
		f.y.set(row, m.squadY)
		f.stance.set(row, m.stance)
	}
}
