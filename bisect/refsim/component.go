package refsim

// The components. Lengths are in world units of which a cell has 8; they are
// fixed-point numbers with 16 fractional bits. Times are ticks.

type position struct{ x, y column[int64] }

func (c *position) fields() []field {
	return []field{fixedPoint("Position", "x", &c.x), fixedPoint("Position", "y", &c.y)}
}

// velocity is in 1/65536 units a tick.
type velocity struct{ x, y column[int32] }

func (c *velocity) fields() []field {
	return []field{number("Velocity", "x", &c.x), number("Velocity", "y", &c.y)}
}

// heading is the direction an entity faces: 65536 is a full turn from east by
// south; turn is the side it last turned to, -1, 0 or 1.
type heading struct {
	angle column[uint16]
	turn  column[int8]
}

func (c *heading) fields() []field {
	return []field{number("Heading", "angle", &c.angle), number("Heading", "turn", &c.turn)}
}

// altitude is in units above ground.
type altitude struct{ z column[int16] }

func (c *altitude) fields() []field { return []field{number("Altitude", "z", &c.z)} }

// health: hp is 0…max; armor is what each hit loses, in points.
type health struct {
	hp, max column[int32]
	armor   column[uint8]
}

func (c *health) fields() []field {
	return []field{number("Health", "armor", &c.armor), number("Health", "hp", &c.hp), number("Health", "max", &c.max)}
}

// weapon fires at target, absent if there is none, from tick ready on.
type weapon struct {
	cooldown, damage column[uint16]
	ready            column[uint64]
	target           refs
}

func (c *weapon) fields() []field {
	return []field{
		number("Weapon", "cooldown", &c.cooldown), number("Weapon", "damage", &c.damage),
		number("Weapon", "ready", &c.ready), reference("Weapon", "target", &c.target),
	}
}

type owner struct{ player column[uint8] }

func (c *owner) fields() []field { return []field{number("Owner", "player", &c.player)} }

// goal is where an entity is going and why.
type goal struct {
	kind column[uint8]
	x, y column[int64]
}

// The values of Goal.kind.
const (
	goalIdle uint8 = iota
	goalMove
	goalAttack // follows Weapon.target
	goalHarvest
	goalUnload
)

func (c *goal) fields() []field {
	return []field{number("Goal", "kind", &c.kind), fixedPoint("Goal", "x", &c.x), fixedPoint("Goal", "y", &c.y)}
}

// corpse says when a dead or spent entity is removed, 0 if it lives.
type corpse struct{ expires column[uint64] }

func (c *corpse) fields() []field { return []field{number("Corpse", "expires", &c.expires)} }

// production: a building makes its next unit from tick ready on. Item is the
// archetype that was ordered last, noItem if none is due, and queue how many of
// it; units gather at the rally point.
type production struct {
	item           column[uint8]
	queue          column[uint16]
	ready          column[uint64]
	rallyX, rallyY column[int64]
}

// noItem is Production.item when nothing is ordered.
const noItem uint8 = 255

func (c *production) fields() []field {
	return []field{
		number("Production", "item", &c.item), number("Production", "queue", &c.queue),
		fixedPoint("Production", "rally_x", &c.rallyX), fixedPoint("Production", "rally_y", &c.rallyY),
		number("Production", "ready", &c.ready),
	}
}

// cargo is the ore on board and the field it comes from, absent if none.
type cargo struct {
	ore    column[int32]
	source refs
}

func (c *cargo) fields() []field {
	return []field{number("Cargo", "ore", &c.ore), reference("Cargo", "source", &c.source)}
}

type bank struct{ credits, spent column[int64] }

func (c *bank) fields() []field {
	return []field{number("Bank", "credits", &c.credits), number("Bank", "spent", &c.spent)}
}

// market is the price of ore, about 0.5…1.5.
type market struct{ index column[float64] }

func (c *market) fields() []field { return []field{number("Market", "index", &c.index)} }

// morale: value is 0…1; rank, 0…4, is the class it falls into.
type morale struct {
	value column[float64]
	rank  column[uint8]
}

func (c *morale) fields() []field {
	return []field{number("Morale", "rank", &c.rank), number("Morale", "value", &c.value)}
}

// fatigue: level is 0…1.
type fatigue struct{ level column[float64] }

func (c *fatigue) fields() []field { return []field{number("Fatigue", "level", &c.level)} }

// member names the squad of its player that an entity belongs to.
type member struct{ squad column[uint16] }

func (c *member) fields() []field { return []field{number("Member", "squad", &c.squad)} }

// formation is where a squad gathers, and the sum of its members' hp.
type formation struct {
	x, y     column[int64]
	stance   column[uint8] // 0 explore, 1 attack, 2 ordered by the player
	strength column[uint32]
}

func (c *formation) fields() []field {
	return []field{
		number("Formation", "stance", &c.stance), number("Formation", "strength", &c.strength),
		fixedPoint("Formation", "x", &c.x), fixedPoint("Formation", "y", &c.y),
	}
}

// vision is how many cells a player sees.
type vision struct{ cells column[uint32] }

func (c *vision) fields() []field { return []field{number("Vision", "cells", &c.cells)} }

// deposit is the ore that is left and how much grows back every 64 ticks.
type deposit struct {
	amount   column[int32]
	regrowth column[int16]
}

func (c *deposit) fields() []field {
	return []field{number("Deposit", "amount", &c.amount), number("Deposit", "regrowth", &c.regrowth)}
}

// flight is a projectile's way to its target, which it reaches at tick arrives.
type flight struct {
	arrives column[uint64]
	damage  column[uint16]
	target  refs
}

func (c *flight) fields() []field {
	return []field{
		number("Flight", "arrives", &c.arrives), number("Flight", "damage", &c.damage),
		reference("Flight", "target", &c.target),
	}
}

// power: output is negative for what consumes power.
type power struct {
	on     column[uint8]
	output column[int16]
}

func (c *power) fields() []field {
	return []field{boolean("Power", "on", &c.on), number("Power", "output", &c.output)}
}

// sweep: angle is that of a radar's dish in radians, 0…2π.
type sweep struct{ angle column[float32] }

func (c *sweep) fields() []field { return []field{number("Sweep", "angle", &c.angle)} }

type profile struct{ name texts }

func (c *profile) fields() []field { return []field{text("Profile", "name", &c.name)} }

type score struct{ kills, losses column[uint32] }

func (c *score) fields() []field {
	return []field{number("Score", "kills", &c.kills), number("Score", "losses", &c.losses)}
}

// rules are what a session was started with.
type rules struct {
	entities column[uint32]
	flags    texts
	players  column[uint8]
	seed     column[uint64]
	width    column[uint16] // cells along each side of the map
}

func (c *rules) fields() []field {
	return []field{
		number("Rules", "entities", &c.entities), blob("Rules", "flags", &c.flags),
		number("Rules", "players", &c.players), number("Rules", "seed", &c.seed), number("Rules", "width", &c.width),
	}
}

// serial is the serial number of the next entity.
type serial struct{ next column[uint64] }

func (c *serial) fields() []field { return []field{number("Serial", "next", &c.next)} }
