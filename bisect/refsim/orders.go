package refsim

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/orderlog"
)

// The kinds of orders, as orderlog.Order.Kind numbers them. A payload is one MessagePack array of integers, for chat of
// one string. Coordinates are in 1/65536 units.
const (
	OrderMove    uint32 = iota // [unit id, x, y]
	OrderAttack                // [unit id, target id]
	OrderStop                  // [unit id]
	OrderTrain                 // [building id, archetype]
	OrderRally                 // [building id, x, y]
	OrderRegroup               // [squad, x, y]; squads of each player count from 0
	OrderChat                  // [text]; not the same on all peers, and not applied
	numOrderKinds
)

var orderKinds = [numOrderKinds]struct {
	name  string
	args  int // integers in the payload
	local bool
}{
	OrderMove: {"move", 3, false}, OrderAttack: {"attack", 2, false}, OrderStop: {"stop", 1, false},
	OrderTrain: {"train", 2, false}, OrderRally: {"rally", 3, false}, OrderRegroup: {"regroup", 3, false},
	OrderChat: {"chat", 1, true},
}

// OrderKinds returns the table of kinds for an order log's header, under their own names.
func OrderKinds() []orderlog.OrderKind {
	list := make([]orderlog.OrderKind, numOrderKinds)
	for i, k := range orderKinds {
		list[i] = orderlog.OrderKind{Name: k.name, Local: k.local}
	}
	return list
}

func compareOrders(a, b orderlog.Order) int {
	return cmp.Or(cmp.Compare(a.SubTick, b.SubTick), cmp.Compare(a.Player, b.Player), cmp.Compare(a.Sequence, b.Sequence))
}

// appendPayload appends the payload of an order.
func appendPayload(dst []byte, args ...int64) []byte {
	buf := bytes.NewBuffer(dst)
	e := msgpack.NewEncoder(buf)
	e.UseCompactInts(true)
	// A bytes.Buffer never fails.
	_ = e.EncodeArrayLen(len(args))
	for _, a := range args {
		_ = e.EncodeInt(a)
	}
	return buf.Bytes()
}

// DecodeOrder returns the integers of an order's payload. Chat has none.
func DecodeOrder(o *orderlog.Order) ([]int64, error) {
	if o.Kind >= numOrderKinds {
		return nil, fmt.Errorf("unknown kind %d", o.Kind)
	}
	k := orderKinds[o.Kind]
	if k.local {
		return nil, nil
	}
	r := bytes.NewReader(o.Payload)
	d := msgpack.NewDecoder(r)
	n, err := d.DecodeArrayLen()
	if err != nil {
		return nil, fmt.Errorf("payload of %s: %w", k.name, err)
	}
	if n != k.args {
		return nil, fmt.Errorf("payload of %s has %d values, expected %d", k.name, n, k.args)
	}
	args := make([]int64, n)
	for i := range args {
		if args[i], err = d.DecodeInt64(); err != nil {
			return nil, fmt.Errorf("payload of %s, value %d: %w", k.name, i, err)
		}
	}
	if r.Len() > 0 {
		return nil, fmt.Errorf("payload of %s: %d bytes too many", k.name, r.Len())
	}
	return args, nil
}

// runOrders applies the tick's orders. It ignores orders that are malformed, or that name entities that are dead,
// unable or another player's.
func (s *Sim) runOrders() {
	for i := range s.orders {
		s.apply(&s.orders[i])
	}
}

// task is an order that can be carried out.
type task struct {
	args []int64
	// who carries it out; no table for regroup.
	table *table
	row   int
	// the enemy to attack
	enemy    *table
	enemyRow int
}

// task returns what an order asks for, false if it cannot be carried out.
func (s *Sim) task(o *orderlog.Order) (k task, ok bool) {
	if o.Kind == OrderChat || o.Player >= uint32(s.config.Players) {
		return k, false
	}
	args, err := DecodeOrder(o)
	if err != nil {
		return k, false
	}
	k.args = args
	if o.Kind == OrderRegroup {
		return k, args[0] >= 0 && args[0] < int64(s.squads())
	}
	if k.table, k.row, ok = s.findTarget(uint64(args[0])); !ok || uint32(k.table.owner.Player.v[k.row]) != o.Player {
		return k, false
	}
	switch t := k.table; o.Kind {
	case OrderAttack:
		k.enemy, k.enemyRow, ok = s.findTarget(uint64(args[1]))
		return k, ok && t.moves() && t.weapon != nil
	case OrderTrain:
		return k, args[1] >= 0 && args[1] < archetypes && t.archetype.trains(archetype(args[1]))
	case OrderRally:
		return k, t.production != nil
	default:
		return k, t.moves()
	}
}

// Test reports whether an order can be carried out in the current state. A peer tests its own players' orders, as the
// buttons on its screen do.
func (s *Sim) Test(o *orderlog.Order) bool {
	k, ok := s.task(o)
	if !ok {
		return false
	}
	switch t := k.table; {
	case o.Kind == OrderMove && t.heading != nil && s.on(impureValidation, sysMovement):
		t.heading.Angle.set(k.row, angle(k.args[1]-t.position.X.v[k.row], k.args[2]-t.position.Y.v[k.row]))
	case o.Kind == OrderAttack && s.on(impureValidation, sysCombat):
		t.weapon.Ready.set(k.row, s.tick+uint64(t.weapon.Cooldown.v[k.row]))
	case o.Kind == OrderTrain && s.on(impureValidation, sysProduction):
		t.production.Ready.set(k.row, s.tick)
	}
	return true
}

func (s *Sim) apply(o *orderlog.Order) {
	k, ok := s.task(o)
	if !ok {
		return
	}
	switch t, row, args := k.table, k.row, k.args; o.Kind {
	case OrderRegroup:
		s.regroup(o.Player, args)
	case OrderMove:
		s.send(t, row, goalMove, s.clamp(args[1]), s.clamp(args[2]))
	case OrderAttack:
		s.send(t, row, goalAttack, k.enemy.position.X.v[k.enemyRow], k.enemy.position.Y.v[k.enemyRow])
		t.weapon.Target.set(row, uint64(args[1]))
	case OrderStop:
		t.goal.Kind.set(row, goalIdle)
	case OrderTrain:
		s.enqueue(t, row, uint8(args[1]))
	case OrderRally:
		t.production.RallyX.set(row, s.clamp(args[1]))
		t.production.RallyY.set(row, s.clamp(args[2]))
	}
}

// enqueue orders one more of an archetype, or the first of another.
func (s *Sim) enqueue(t *table, row int, a uint8) {
	queue := uint16(1)
	if t.production.Item.v[row] == a {
		queue = max(t.production.Queue.v[row]+1, 1)
	}
	t.production.Item.set(row, a)
	t.production.Queue.set(row, queue)
}

func (s *Sim) regroup(p uint32, args []int64) {
	f, q := s.tables[squad].formation, int(p)*s.squads()+int(args[0])
	f.X.set(q, s.clamp(args[1]))
	f.Y.set(q, s.clamp(args[2]))
	f.Stance.set(q, 2)
}
