package refsim

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
)

// Predict shows the effect of a player's own orders of the current tick before all peers have confirmed them: units
// turn and go, weapons fire, factories begin. All changes are undone, so that the state is the same as before.
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

// lead does more than the order itself: it does the first work of the systems.
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

// leaks are the fields that the fault prediction-leak forgets to restore, by its place.
var leaks = columnsBySystem{sysMovement: "Velocity.x", sysCombat: "Weapon.ready", sysProduction: "Production.queue"}

// remember returns a function that restores the current content of a row. The fault prediction-leak forgets a field.
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
