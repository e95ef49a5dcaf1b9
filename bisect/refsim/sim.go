package refsim

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/desynctool/desynctool/orderlog"
)

type system uint8

// The systems, in the order in which a step runs them.
const (
	sysOrders system = iota
	sysProduction
	sysEconomy
	sysPathCost
	sysMovement
	sysSpatialGrid
	sysCombat
	sysProjectiles
	sysMorale
	sysFog
	sysAI
	sysCleanup
	numSystems
)

var systemNames = [numSystems]string{
	"Orders", "Production", "Economy", "PathCost", "Movement", "SpatialGrid",
	"Combat", "Projectiles", "Morale", "Fog", "AI", "Cleanup",
}

var systemFuncs = [numSystems]func(*Sim){
	(*Sim).runOrders, (*Sim).runProduction, (*Sim).runEconomy, (*Sim).runPathCost,
	(*Sim).runMovement, (*Sim).runSpatialGrid, (*Sim).runCombat, (*Sim).runProjectiles,
	(*Sim).runMorale, (*Sim).runFog, (*Sim).runAI, (*Sim).runCleanup,
}

// Systems returns the systems' own names in the order in which they run.
func Systems() []string { return slices.Clone(systemNames[:]) }

// workers is the number of goroutines that systems divide their work among.
// Results do not depend on it.
const workers = 4

// Sim is one peer's game. A Sim is used by one goroutine at a time.
type Sim struct {
	// AfterSystem, if not nil, is called when a system has run. It may look
	// at the Sim and must not change it.
	AfterSystem func(system string)

	config   Config
	names    *names
	mistakes []Fault // as requested
	faults   *faults // their state
	rng      rng

	// cosmetic drives what is only seen: dust, smoke, flashes. It is not part
	// of the state.
	cosmetic rng

	tick    uint64 // the state point, or during a step its tick
	running system // the next system of a step; numSystems between steps
	orders  []orderlog.Order
	late    []orderlog.Order // orders that Receive has held back for the next tick

	tables  [archetypes]*table
	byLabel [archetypes]*table // the same, as the state's leaves are ordered

	width, cells int // of the map, along each side and in all
	terrain      []uint8
	grid         spatialGrid
	path         pathCost
	fog          fog

	clock   clock
	scratch scratch

	// base is nil until a save is restored.
	base *base
}

// scratch is memory that systems reuse. None of it outlives a tick.
type scratch struct {
	pool     pool
	hashSome func(worker int)
	hashed   atomic.Int32 // tables that goroutines have taken to hash
	rows     []int

	crossed actions          // who moved into another cell
	shots   actions          // who fires
	hits    map[uint64]int32 // damage by target
	targets []uint64
	hauls   actions          // who carries ore
	mining  map[uint64][]int // indexes into hauls, by ore field
	fields  []uint64

	wanted   map[demand]int
	demands  []demand
	marked   []bool   // by cell
	strength []uint32 // by squad
}

// New returns the game at state point 0, with a peer's mistakes if any.
func New(config Config, mistakes ...Fault) (*Sim, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := newSim(config, 0, mistakes)
	if err != nil {
		return nil, err
	}
	s.rng = newRNG(config.Seed, 1)
	s.populate()
	return s, nil
}

// newSim returns a sim without entities.
func newSim(config Config, point uint64, mistakes []Fault) (*Sim, error) {
	s := &Sim{config: config, names: namesOf(config.Names), mistakes: mistakes}
	for a := range s.tables {
		s.tables[a] = newTable(archetype(a))
		s.tables[a].rename(s.names)
	}
	s.byLabel = s.tables
	slices.SortFunc(s.byLabel[:], func(t, u *table) int { return strings.Compare(t.label, u.label) })
	s.width = mapWidth(config.Entities)
	s.cells = s.width * s.width
	s.terrain = newTerrain(config.Seed, s.width)
	s.grid.init(s.cells)
	s.path.init(s.cells)
	s.fog.init(config.Players, s.cells)
	if err := s.begin(point); err != nil {
		return nil, err
	}
	if s.faults.uncovered != "" {
		s.uncover(s.faults.uncovered)
	}
	return s, nil
}

// begin makes s equal to a new sim at a state point, except for its entities and caches, which the caller sets. Fields
// that are not named here are reset, above all the data that systems keep from tick to tick outside of the state.
func (s *Sim) begin(point uint64) error {
	fs, err := resolveFaults(s.mistakes, s.config.Seed, point)
	if err != nil {
		return err
	}
	*s = Sim{
		AfterSystem: s.AfterSystem,

		config: s.config, names: s.names, mistakes: s.mistakes, faults: fs,
		cosmetic: newRNG(s.config.Seed, 2),
		tick:     point, running: numSystems,
		tables: s.tables, byLabel: s.byLabel,
		width: s.width, cells: s.cells, terrain: s.terrain,
		grid: s.grid, path: s.path, fog: s.fog,
		base: s.base,
	}
	s.scratch.crossed.init(s.moveTable)
	s.scratch.shots.init(s.aimTable)
	s.scratch.hauls.init(s.planTable)
	s.scratch.hashSome = s.hashSome
	s.scratch.strength = make([]uint32, s.config.Players*s.squads())
	s.scratch.hits = make(map[uint64]int32)
	s.scratch.mining = make(map[uint64][]int)
	s.scratch.wanted = make(map[demand]int)
	s.scratch.marked = make([]bool, s.cells)
	s.scratch.pool.init()
	return nil
}

// Config returns the configuration that the game was started with, with defaults filled in.
func (s *Sim) Config() Config { return s.config }

// Point returns the state point: how many ticks have been stepped through. In
// AfterSystem it is the tick of the step.
func (s *Sim) Point() uint64 { return s.tick }

// Step plays one tick. All orders must belong to tick Point(); they are applied in the given order. The network layer
// brings them in the order of sub-tick time, player and sequence.
func (s *Sim) Step(orders []orderlog.Order) error {
	if err := s.Begin(orders); err != nil {
		return err
	}
	for {
		if _, more := s.Next(); !more {
			return nil
		}
	}
}

// Begin begins a step that Next continues. It is for playing several sims
// side by side; Step does the same in one go.
func (s *Sim) Begin(orders []orderlog.Order) error {
	if s.running != numSystems {
		return s.unfinished()
	}
	for i := range orders {
		if orders[i].Tick != s.tick {
			return fmt.Errorf("order of tick %d in the step of tick %d", orders[i].Tick, s.tick)
		}
	}
	s.patch()
	s.orders = append(s.orders[:0], orders...)
	s.running = 0
	return nil
}

// unfinished is the error of calls that are only possible between two steps.
func (s *Sim) unfinished() error {
	return fmt.Errorf("tick %d is not finished, %s comes next", s.tick, s.names.systems[s.running])
}

// Next runs the next system of a step and returns its name. After the last
// one more is false and the step is finished.
func (s *Sim) Next() (name string, more bool) {
	if s.running == numSystems {
		return "", false
	}
	sys := s.running
	systemFuncs[sys](s)
	s.flipBit(sys)
	if s.AfterSystem != nil {
		s.AfterSystem(s.names.systems[sys])
	}
	if s.running++; s.running == numSystems {
		s.tick++
	}
	return s.names.systems[sys], s.running < numSystems
}

// slots is how many ticks lie between two ticks in which a table gains or
// loses rows. Production and Cleanup take the tables in turn, so that few of
// them change their shape in any one tick.
const slots = 16

// inSlot reports whether this tick comes round to a table, every n ticks.
func (s *Sim) inSlot(t *table, n uint64) bool { return (s.tick+uint64(t.archetype))%n == 0 }

// newID returns the next id of an archetype. Ids ascend for ever.
func (s *Sim) newID(a archetype) uint64 {
	next := &s.tables[match].serial.Next
	id := next.v[0]
	next.set(0, id+1)
	return id<<archetypeBits | uint64(a)
}

// find returns the table and row of an entity that is there, dead or alive.
func (s *Sim) find(id uint64) (t *table, row int, ok bool) {
	a := id & (1<<archetypeBits - 1)
	if a >= archetypes {
		return nil, 0, false
	}
	t = s.tables[a]
	if t.index != nil {
		return nil, 0, false
	}
	row, ok = t.find(id)
	return t, row, ok
}

// findTarget returns the table and row of a living entity with health.
func (s *Sim) findTarget(id uint64) (t *table, row int, ok bool) {
	t, row, ok = s.find(id)
	return t, row, ok && t.health != nil && t.alive(row)
}

// cellAt returns the cell of a position, which must be on the map.
func (s *Sim) cellAt(x, y int64) uint32 {
	return uint32(int(y>>cellShift)*s.width + int(x>>cellShift))
}

func (s *Sim) cellOf(t *table, row int) uint32 {
	return s.cellAt(t.position.X.v[row], t.position.Y.v[row])
}

// clamp moves a coordinate onto the map.
func (s *Sim) clamp(v int64) int64 { return min(max(v, 0), int64(s.width)*cellSize-1) }

// flipBit is the fault bit-flip: after a system has run, a bit flips in the data of that system.
func (s *Sim) flipBit(sys system) {
	if !s.on(bitFlip, sys) || !s.faults.once[bitFlip][sys] {
		return
	}
	bit := int(mix(s.config.Seed) % 16)
	switch sys {
	case sysMovement:
		if t := s.tables[infantry]; t.rows() > 0 && s.takes(bitFlip, sys) {
			t.position.X.flip(s.living(t), bit)
		}
	case sysCombat:
		if t := s.tables[tank]; t.rows() > 0 && s.takes(bitFlip, sys) {
			t.health.HP.flip(s.living(t), bit%8)
		}
	case sysEconomy:
		if t := s.tables[oreField]; s.takes(bitFlip, sys) {
			t.deposit.Amount.flip(t.rows()/2, bit)
		}
	case sysMorale:
		if t := s.tables[infantry]; t.rows() > 0 && s.takes(bitFlip, sys) {
			t.morale.Value.flip(s.living(t), 30+bit)
		}
	}
}

// living returns a row in the middle of t, one that is alive if there is one
// after it.
func (s *Sim) living(t *table) int {
	for i := t.rows() / 2; i < t.rows(); i++ {
		if t.alive(i) {
			return i
		}
	}
	return t.rows() / 2
}
