package warzone

import (
	"github.com/desynctool/desynctool/snapshot"
)

// powerScale is the largest power of two that a column's scale can be. Power is a 32.32 fixed-point number; its lowest
// bit is kept in a separate column.
const powerScale = 1 << 31

// economyAmounts are the amounts of power in the lines about a player, as
// component and field, in the order of the lines: the last one is the state.
var economyAmounts = [...][2]string{{"before", "power"}, {"updatePlayerPower", "from"}, {"updatePlayerPower", "to"}, {"economy", "power"}}

func amountColumns(component, field string) []snapshot.Column {
	return []snapshot.Column{
		snapshot.NewColumn(component, field, snapshot.Fixed, powerScale),
		snapshot.NewColumn(component, field+".lowest bit", snapshot.U8, 0),
	}
}

// Lines of an economy row that have been read, builder.power.
const (
	powerBefore  = 1
	powerUpdated = 2
	powerAfter   = 3
)

// addEconomy takes the power of a player before or after its update.
func (b *builder) addEconomy(e *Entry) bool {
	units, ok := e.Values[0].Int()
	if !ok || len(e.Values) != 1 || e.Values[0].Name != "" {
		return false
	}
	player := uint64(e.ID)
	switch {
	case !b.economy.has(player):
		after := b.begin(KindEconomy, player)
		b.economy.row(player)
		b.economy.to(0).AppendBytes(after)
		b.power = powerBefore
		b.amount(0, units)
	case b.key == player && (b.power == powerBefore || b.power == powerUpdated):
		b.power = powerAfter
		b.amount(3, units)
	default:
		return false
	}
	return true
}

// addPower takes the update of a player's power.
func (b *builder) addPower(e *Entry) bool {
	if len(e.Values) != 2 || b.key != uint64(e.ID) || b.power != powerBefore {
		return false
	}
	from, ok1 := e.Values[0].Int()
	to, ok2 := e.Values[1].Int()
	if !ok1 || !ok2 || e.Values[0].Name != "from" {
		return false
	}
	b.power = powerUpdated
	b.amount(1, from)
	b.amount(2, to)
	return true
}

func (b *builder) amount(n int, units int64) {
	b.economy.to(1 + 2*n).AppendInt(units >> 1)
	b.economy.to(2 + 2*n).AppendInt(units & 1)
}
