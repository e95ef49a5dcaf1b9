package refsim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// Fault is one mistake that a peer makes.
type Fault struct {
	Name string // of a FaultKind

	// Place is where the mistake is made: a system, or for initial-state an
	// archetype. Empty means that the seed chooses.
	Place string

	// From is the first tick in which the mistake is made. It means nothing to
	// initial-state.
	From uint64
}

// String returns the form that ParseFault parses.
func (f Fault) String() string {
	s := f.Name
	if f.Place != "" {
		s += "/" + f.Place
	}
	if f.From != 0 {
		s += "@" + strconv.FormatUint(f.From, 10)
	}
	return s
}

// FaultKind describes a kind of mistake.
type FaultKind struct {
	Name   string
	Places []string // where it is available: systems, or archetypes for initial-state
	Doc    string   // the mechanism, one line
}

type fault uint8

const (
	rngLeak fault = iota
	mapOrder
	unsortedMerge
	floatFMA
	staleCache
	initialState
	orderDropped
	bitFlip
	reconverge
	orderAltered
	orderLate
	impureValidation
	saveOmitsField
	dataMismatch
	uninitialized
	unstableSort
	floatReassoc
	localeSort
	wallClock
	predictionLeak
	orderDuplicated
	orderReordered
	checksumOnly
	blindChecksum
	numFaults
)

// faultKinds is the only table of faults. A new fault is a constant above, a row here, and an s.on (or s.takes, if it
// happens once) where a system should make the mistake.
var faultKinds = [numFaults]FaultKind{
	rngLeak: {
		"rng-leak", []string{"Movement", "Combat", "Projectiles", "Production"},
		"a cosmetic effect draws from the sim's RNG",
	},
	mapOrder: {
		"map-order", []string{"Combat", "Economy", "Production"},
		"the results of a Go map are applied in iteration order",
	},
	unsortedMerge: {
		"unsorted-merge", []string{"Combat", "Movement", "Economy"},
		"results of goroutines are applied in the order of their completion",
	},
	floatFMA: {
		"float-fma", []string{"Movement", "Morale", "Economy"},
		"a multiply and an add are fused on one peer",
	},
	staleCache: {
		"stale-cache", []string{"SpatialGrid", "PathCost", "Fog"},
		"the invalidation of a cache is forgotten",
	},
	initialState: {
		"initial-state", []string{"OreField", "Player", "Headquarters"},
		"a lobby flag is set on one peer only",
	},
	orderDropped: {
		"order-dropped", []string{"Movement", "Combat", "Production"},
		"the network loses one order: a move, an attack or a train order",
	},
	bitFlip: {
		"bit-flip", []string{"Movement", "Combat", "Economy", "Morale"},
		"one bit in memory flips once",
	},
	reconverge: {
		"reconverge", []string{"Morale", "Fog", "AI"},
		"a value that nothing reads is computed wrongly once, and from scratch later",
	},
	orderAltered: {
		"order-altered", []string{"Movement", "Combat", "Production"},
		"one bit of an order flips on its way: of the place to move to, the target to attack or the unit to train",
	},
	orderLate: {
		"order-late", []string{"Movement", "Combat", "Production"},
		"the network hands one order on a tick late: a move, an attack or a train order",
	},
	impureValidation: {
		"impure-validation", []string{"Movement", "Combat", "Production"},
		"the test whether an order is possible already turns the unit, resets its weapon or the factory; only its player's machine tests",
	},
	saveOmitsField: {
		"save-omits-field", []string{"Movement", "Combat", "Production"},
		"a saved game lacks a field: fatigue, when weapons are ready, or when factories are; the peer loads its own save in that tick",
	},
	dataMismatch: {
		"data-mismatch", []string{"Movement", "Combat", "Production"},
		"the peer plays with another unit table: a tank's speed, the infantry's reach or the scout's cost",
	},
	uninitialized: {
		"uninitialized", []string{"Combat", "Production", "AI"},
		"a buffer is used again without clearing it, so that values of an earlier tick leak into a result",
	},
	unstableSort: {
		"unstable-sort", []string{"Movement", "Combat", "Economy"},
		"a list is sorted by chunks of 1024 entities instead of by entity; the entities of a chunk stay as they were gathered, table by table",
	},
	floatReassoc: {
		"float-reassoc", []string{"Movement", "Morale", "Economy"},
		"a sum of floats is added in another order, as a compiler may that takes addition for associative",
	},
	localeSort: {
		"locale-sort", []string{"Movement", "Combat", "Projectiles"},
		"a list is sorted by the tags of entities as the machine's locale has it, upper and lower case alike, instead of by bytes",
	},
	wallClock: {
		"wall-clock", []string{"Movement", "Combat", "Economy"},
		"the sim reads the machine's clock: for how much fatigue grows, how long weapons reload, how far prices move",
	},
	predictionLeak: {
		"prediction-leak", []string{"Movement", "Combat", "Production"},
		"when the prediction of a player's own orders is taken back, one field is forgotten: velocity, when a weapon is ready, or a factory's queue",
	},
	orderDuplicated: {
		"order-duplicated", []string{"Movement", "Combat", "Production"},
		"the network delivers an order a second time in the next tick, after the one that replaced it: a move, an attack or a train order",
	},
	orderReordered: {
		"order-reordered", []string{"Movement", "Combat", "Production"},
		"two orders of one entity in one tick overtake each other on their way, and the peer applies them as they arrive: moves, attacks or train orders",
	},
	checksumOnly: {
		"checksum-only", []string{"Movement", "Combat", "Economy"},
		"a column is written without marking it, so that its digest of before stays in the peer's checksum",
	},
	blindChecksum: {
		"blind-checksum", []string{"Movement", "Morale", "Fog"},
		"the game's checksum leaves out a column that nothing reads, on all peers, and one peer computes it otherwise",
	},
}

// Faults returns the kinds of mistakes that a sim can make.
func Faults() []FaultKind {
	list := slices.Clone(faultKinds[:])
	for i := range list {
		list[i].Places = slices.Clone(list[i].Places)
	}
	return list
}

// ParseFault parses NAME[/PLACE][@TICK][:PEER]. The peer is returned as written, empty if there is none. Upper and
// lower case count.
func ParseFault(s string) (f Fault, peer string, err error) {
	rest, peer, hasPeer := strings.Cut(s, ":")
	if hasPeer && peer == "" {
		return Fault{}, "", fmt.Errorf("fault %q names no peer after its colon", s)
	}
	rest, from, hasFrom := strings.Cut(rest, "@")
	if hasFrom {
		if f.From, err = strconv.ParseUint(from, 10, 64); err != nil {
			return Fault{}, "", fmt.Errorf("fault %q: tick is %q, expected a number", s, from)
		}
	}
	f.Name, f.Place, _ = strings.Cut(rest, "/")
	if _, _, err = f.resolve(0); err != nil {
		return Fault{}, "", err
	}
	return f, peer, nil
}

// Resolve returns f with its place, which the seed chooses if f has none.
func (f Fault) Resolve(seed uint64) (Fault, error) {
	k, place, err := f.resolve(seed)
	if err == nil {
		f.Place = faultKinds[k].Places[place]
	}
	return f, err
}

func (f Fault) resolve(seed uint64) (k fault, place int, err error) {
	i := slices.IndexFunc(faultKinds[:], func(k FaultKind) bool { return k.Name == f.Name })
	if i < 0 {
		names := make([]string, numFaults)
		for i := range faultKinds {
			names[i] = faultKinds[i].Name
		}
		if hint := prose.DidYouMean(f.Name, names); hint != "" {
			return 0, 0, fmt.Errorf("unknown fault %q%s", f.Name, hint)
		}
		return 0, 0, fmt.Errorf("unknown fault %q, available are %s", f.Name, strings.Join(names, ", "))
	}
	places := faultKinds[i].Places
	if f.Place == "" {
		return fault(i), int(mix(seed^mix(uint64(i))) % uint64(len(places))), nil
	}
	place = slices.Index(places, f.Place)
	if place < 0 {
		return 0, 0, fmt.Errorf("fault %s is not available in %q, only in %s", f.Name, f.Place, strings.Join(places, ", "))
	}
	return fault(i), place, nil
}

// faults has the mistakes that a sim makes, each with its first tick.
type faults struct {
	from [numFaults][numSystems]uint64
	once [numFaults][numSystems]bool // still to come, for faults that happen once
	// lobby is the archetype of initial-state.
	lobby string
	// uncovered is the column that blind-checksum leaves out of the checksum.
	uncovered string
}

// resolveFaults prepares the mistakes of a sim that starts at point.
func resolveFaults(list []Fault, seed, point uint64) (*faults, error) {
	fs := new(faults)
	for k := range fs.from {
		for s := range fs.from[k] {
			fs.from[k][s] = math.MaxUint64
		}
	}
	for _, f := range list {
		k, place, err := f.resolve(seed)
		if err != nil {
			return nil, err
		}
		if k == initialState {
			fs.lobby = faultKinds[k].Places[place]
			continue
		}
		s := slices.Index(systemNames[:], faultKinds[k].Places[place])
		fs.from[k][s] = min(fs.from[k][s], f.From)
		fs.once[k][s] = f.From >= point
		if k == blindChecksum {
			fs.uncovered = blindTo[s]
		}
	}
	return fs, nil
}

// on reports whether the sim makes mistake k in a system during this tick.
func (s *Sim) on(k fault, in system) bool { return s.tick >= s.faults.from[k][in] }

// columnsBySystem are the columns, by their own names, that a fault affects in each of its places.
type columnsBySystem [numSystems]string

// faulty returns the columns in which the sim makes mistake k during this tick.
func (s *Sim) faulty(k fault, columns *columnsBySystem) (list []string) {
	for in, column := range columns {
		if column != "" && s.on(k, system(in)) {
			list = append(list, column)
		}
	}
	return list
}

// takes is on for mistakes that happen once: it does not report true a second time.
// A sim that was loaded after the mistake's tick does not make it.
func (s *Sim) takes(k fault, in system) bool {
	if !s.on(k, in) || !s.faults.once[k][in] {
		return false
	}
	s.faults.once[k][in] = false
	return true
}
