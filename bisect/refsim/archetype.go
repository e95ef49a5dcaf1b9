package refsim

// archetype numbers the archetypes in the order of their labels. It is the
// lowest 5 bits of an entity's id.
type archetype uint8

const (
	airfield archetype = iota
	antiAir
	artillery
	barracks
	destroyer
	engineer
	gunboat
	harvester
	headquarters
	heavyTank
	helicopter
	infantry
	jet
	match
	miner
	oreField
	player
	powerPlant
	projectile
	radar
	refinery
	rocketeer
	scout
	shipyard
	squad
	submarine
	tank
	transport
	truck
	turret
	warFactory
	archetypes = iota
)

// archetypeBits is how much of an id names the archetype.
const archetypeBits = 5

// kind is the data of one archetype. It is the same on every peer, except with the fault data-mismatch.
type kind struct {
	label string
	share int32     // of Config.Entities, in 1/1000; 0 if numbers follow another rule
	maker archetype // what produces it
	cost  int64     // credits
	build uint64    // ticks until its maker is ready again

	hp     int32
	armor  uint8
	speed  int32 // 1/65536 units a tick; 0 if it cannot move
	flies  bool
	reach  int64  // of its weapon, in 1/65536 units; 0 if it has none
	damage uint16 // of one hit
	reload uint16 // ticks
	shells bool   // fires projectiles
	sight  int32  // cells around its own
	hauls  int32  // how much ore it carries
	nerve  bool   // has morale
	tires  bool   // has fatigue
	output int16  // power that it gives, or takes if negative
}

func (k *kind) structure() bool { return k.hp > 0 && k.speed == 0 }

var kinds = [archetypes]kind{
	airfield:     {label: "Airfield", share: 10, maker: headquarters, cost: 900, build: 32, hp: 1500, armor: 4, sight: 2, output: -3},
	antiAir:      {label: "AntiAir", share: 30, maker: warFactory, cost: 260, build: 40, hp: 260, armor: 3, speed: 26000, reach: 22 * one, damage: 30, reload: 16, sight: 2, nerve: true, tires: true},
	artillery:    {label: "Artillery", share: 40, maker: warFactory, cost: 420, build: 48, hp: 180, armor: 2, speed: 18000, reach: 23 * one, damage: 70, reload: 48, shells: true, sight: 1, nerve: true, tires: true},
	barracks:     {label: "Barracks", share: 18, maker: headquarters, cost: 500, build: 32, hp: 1200, armor: 3, sight: 2, output: -2},
	destroyer:    {label: "Destroyer", share: 20, maker: shipyard, cost: 640, build: 56, hp: 700, armor: 6, speed: 24000, reach: 22 * one, damage: 60, reload: 32, shells: true, sight: 2, tires: true},
	engineer:     {label: "Engineer", share: 30, maker: barracks, cost: 90, build: 24, hp: 90, armor: 0, speed: 28000, reach: 10 * one, damage: 8, reload: 24, sight: 1, nerve: true, tires: true},
	gunboat:      {label: "Gunboat", share: 30, maker: shipyard, cost: 320, build: 40, hp: 320, armor: 3, speed: 36000, reach: 16 * one, damage: 24, reload: 16, sight: 2, tires: true},
	harvester:    {label: "Harvester", share: 40, maker: warFactory, cost: 200, build: 32, hp: 400, armor: 4, speed: 36000, sight: 1, hauls: 240},
	headquarters: {label: "Headquarters", hp: 6000, armor: 8, sight: 3, output: 6},
	heavyTank:    {label: "HeavyTank", share: 50, maker: warFactory, cost: 520, build: 48, hp: 620, armor: 8, speed: 20000, reach: 18 * one, damage: 64, reload: 40, shells: true, sight: 2, nerve: true, tires: true},
	helicopter:   {label: "Helicopter", share: 40, maker: airfield, cost: 380, build: 40, hp: 220, armor: 2, speed: 60000, flies: true, reach: 16 * one, damage: 26, reload: 20, sight: 3},
	infantry:     {label: "Infantry", share: 180, maker: barracks, cost: 60, build: 8, hp: 110, armor: 1, speed: 26000, reach: 13 * one, damage: 14, reload: 16, sight: 1, nerve: true, tires: true},
	jet:          {label: "Jet", share: 30, maker: airfield, cost: 560, build: 56, hp: 200, armor: 2, speed: 100000, flies: true, reach: 18 * one, damage: 50, reload: 36, shells: true, sight: 3},
	match:        {label: "Match"},
	miner:        {label: "Miner", share: 25, maker: warFactory, cost: 150, build: 32, hp: 250, armor: 2, speed: 22000, sight: 1, hauls: 120},
	oreField:     {label: "OreField", share: 40},
	player:       {label: "Player"},
	powerPlant:   {label: "PowerPlant", share: 10, maker: headquarters, cost: 400, build: 32, hp: 800, armor: 2, sight: 1, output: 8},
	projectile:   {label: "Projectile"},
	radar:        {label: "Radar", share: 6, maker: headquarters, cost: 700, build: 32, hp: 700, armor: 2, sight: 3, output: -4},
	refinery:     {label: "Refinery", share: 10, maker: headquarters, cost: 800, build: 32, hp: 1400, armor: 4, sight: 1, output: -2},
	rocketeer:    {label: "Rocketeer", share: 90, maker: barracks, cost: 120, build: 16, hp: 100, armor: 1, speed: 24000, reach: 17 * one, damage: 36, reload: 36, shells: true, sight: 1, nerve: true, tires: true},
	scout:        {label: "Scout", share: 40, maker: barracks, cost: 80, build: 16, hp: 90, armor: 1, speed: 52000, reach: 11 * one, damage: 8, reload: 16, sight: 3, nerve: true, tires: true},
	shipyard:     {label: "Shipyard", share: 10, maker: headquarters, cost: 900, build: 32, hp: 1500, armor: 4, sight: 2, output: -3},
	squad:        {label: "Squad"},
	submarine:    {label: "Submarine", share: 20, maker: shipyard, cost: 580, build: 56, hp: 380, armor: 3, speed: 22000, reach: 17 * one, damage: 80, reload: 52, shells: true, sight: 1, tires: true},
	tank:         {label: "Tank", share: 110, maker: warFactory, cost: 300, build: 24, hp: 380, armor: 5, speed: 30000, reach: 16 * one, damage: 40, reload: 28, shells: true, sight: 1, nerve: true, tires: true},
	transport:    {label: "Transport", share: 20, maker: shipyard, cost: 240, build: 40, hp: 450, armor: 3, speed: 40000, sight: 2, tires: true},
	truck:        {label: "Truck", share: 25, maker: warFactory, cost: 120, build: 24, hp: 160, armor: 1, speed: 44000, sight: 1, hauls: 160},
	turret:       {label: "Turret", share: 24, maker: headquarters, cost: 250, build: 16, hp: 700, armor: 6, reach: 21 * one, damage: 34, reload: 20, sight: 2, output: -1},
	warFactory:   {label: "WarFactory", share: 20, maker: headquarters, cost: 800, build: 32, hp: 1600, armor: 5, sight: 2, output: -3},
}

// makes reports whether a has a Production component.
func (a archetype) makes() bool {
	switch a {
	case airfield, barracks, headquarters, shipyard, warFactory:
		return true
	}
	return false
}

// trains reports whether a building a makes b, once it is ordered to.
func (a archetype) trains(b archetype) bool {
	return b != oreField && kinds[b].share > 0 && kinds[b].maker == a && a != headquarters
}

// Archetypes returns the archetypes' own labels in order. An archetype's place in it is the lowest 5 bits of its
// entities' ids, and a train order names it.
func Archetypes() []string {
	labels := make([]string, archetypes)
	for a := range kinds {
		labels[a] = kinds[a].label
	}
	return labels
}
