package refsim

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
)

// Predict shows what a player's own orders of the tick at hand will do before all
// peers have confirmed them: units turn and go, weapons fire, factories begin.
// Whatever that touches is put back, so that the state is what it was.
func (s *Sim) Predict(player uint32, orders []orderlog.Order) {
	var touched []func()
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
		touched = append(touched, s.remember(k.table, k.row))
		s.apply(o)
		s.lead(o.Kind, k.table, k.row)
	}
	for _, putBack := range slices.Backward(touched) {
		putBack()
	}
}

// lead goes beyond what an order sets: it does what the systems will do first.
func (s *Sim) lead(kind uint32, t *table, row int) {
	switch kind {
	case OrderMove, OrderAttack:
		dx, dy := t.goal.X.v[row]-t.position.X.v[row], t.goal.Y.v[row]-t.position.Y.v[row]
		if far := distance(dx, dy); far > 0 {
			t.velocity.X.set(row, int32(dx*int64(t.speed)/far))
			t.velocity.Y.set(row, int32(dy*int64(t.speed)/far))
			s.turn(t, row)
		}
		if kind == OrderAttack && t.weapon.Ready.v[row] <= s.tick {
			t.weapon.Ready.set(row, s.tick+uint64(t.weapon.Cooldown.v[row]))
		}
	case OrderTrain:
		t.production.Ready.set(row, s.tick+kinds[t.production.Item.v[row]].build)
	}
}

// leaks is what the fault prediction-leak forgets to put back, by its place.
var leaks = columnsBySystem{sysMovement: "Velocity.x", sysCombat: "Weapon.ready", sysProduction: "Production.queue"}

// remember returns what puts a row back as it is now. The fault prediction-leak forgets a field.
func (s *Sim) remember(t *table, row int) (putBack func()) {
	forgotten := s.faulty(predictionLeak, &leaks)
	var fields []func()
	for i := range t.fields {
		if f := &t.fields[i]; !slices.Contains(forgotten, f.own) {
			fields = append(fields, f.remember(row))
		}
	}
	return func() {
		for _, putBack := range fields {
			putBack()
		}
	}
}
