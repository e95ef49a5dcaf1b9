package refsim

// The components. A component has the name of its type; componentFields has the names of fields. Lengths are in world
// units, and a cell has 8 of them. Times are ticks.

type position struct{ X, Y lengths }

// velocity is in 1/65536 units a tick.
type velocity struct{ X, Y column[int32] }

func (c *velocity) stop(row int) {
	c.X.set(row, 0)
	c.Y.set(row, 0)
}

// heading is the direction an entity faces: 65536 is a full turn from east by
// south; turn is the side it last turned to, -1, 0 or 1.
type heading struct {
	Angle column[uint16]
	Turn  column[int8]
}

// altitude is in units above ground.
type altitude struct{ Z column[int16] }

// health: hp is 0…max; armor is what each hit loses, in points.
type health struct {
	HP, Max column[int32]
	Armor   column[uint8]
}

// weapon fires at target, absent if there is none, from tick ready on.
type weapon struct {
	Cooldown, Damage column[uint16]
	Ready            column[uint64]
	Target           refs
}

type owner struct{ Player column[uint8] }

// goal is where an entity is going and why.
type goal struct {
	Kind column[uint8]
	X, Y lengths
}

// The values of Goal.kind.
const (
	goalIdle uint8 = iota
	goalMove
	goalAttack // follows Weapon.target
	goalHarvest
	goalUnload
)

// corpse has the tick in which a dead or spent entity is removed, 0 if it lives.
type corpse struct{ Expires column[uint64] }

// production: a building makes its next unit from tick ready on. Item is the
// archetype that was ordered last, noItem if none is due, and queue how many of
// it; units gather at the rally point.
type production struct {
	Item   column[uint8]
	Queue  column[uint16]
	Ready  column[uint64]
	RallyX lengths `field:"rally_x"`
	RallyY lengths `field:"rally_y"`
}

// noItem is Production.item when nothing is ordered.
const noItem uint8 = 255

// cargo is the ore on board and the field it comes from, absent if none.
type cargo struct {
	Ore    column[int32]
	Source refs
}

type bank struct{ Credits, Spent column[int64] }

// market is the price of ore, about 0.5…1.5.
type market struct{ Index column[float64] }

// morale: value is 0…1; rank, 0…4, is the class it falls into.
type morale struct {
	Value column[float64]
	Rank  column[uint8]
}

// fatigue: level is 0…1.
type fatigue struct{ Level column[float64] }

// member names the squad of its player that an entity belongs to.
type member struct{ Squad column[uint16] }

// formation is where a squad gathers, and the sum of its members' hp.
type formation struct {
	X, Y     lengths
	Stance   column[uint8] // 0 explore, 1 attack, 2 ordered by the player
	Strength column[uint32]
}

// vision is how many cells a player sees.
type vision struct{ Cells column[uint32] }

// deposit is the ore that is left and how much grows back every 64 ticks.
type deposit struct {
	Amount   column[int32]
	Regrowth column[int16]
}

// flight is a projectile's way to its target, which it reaches at tick arrives.
type flight struct {
	Arrives column[uint64]
	Damage  column[uint16]
	Target  refs
}

// power: output is negative for consumers.
type power struct {
	On     switches
	Output column[int16]
}

// sweep: angle is the angle of a radar's dish in radians, 0…2π.
type sweep struct{ Angle column[float32] }

type profile struct{ Name texts }

type score struct{ Kills, Losses column[uint32] }

// rules are what a session was started with.
type rules struct {
	Entities column[uint32]
	Flags    blobs
	Players  column[uint8]
	Seed     column[uint64]
	Width    column[uint16] // cells along each side of the map
}

// serial is the serial number of the next entity.
type serial struct{ Next column[uint64] }
