// Package refsim is the reference sim: a small deterministic real-time strategy game that can break its determinism on
// purpose.
//
// It has 31 archetypes and one random number generator, so its Merkle tree has 32 leaves; it has twelve systems and
// three caches, and plays with 100 to 100,000 entities. Two Sims with the same Config that are stepped with the same
// orders have the same state at every state point, on any machine:
//
//	sim, err := refsim.New(refsim.Config{Seed: 1})
//	script := refsim.NewScript(1)
//	for range 1000 {
//		err := sim.Step(script.Orders(sim))
//		hash := sim.SyncHash()
//	}
//
// # State
//
// An archetype is a table of typed columns, ascending by id. Ids ascend for ever; the lowest 5 bits of an id are its
// archetype's place in [Archetypes]. Positions are fixed-point numbers. The only floats are Market.index, Morale.value,
// Fatigue.level and Sweep.angle; their arithmetic converts each product, so that no compiler may fuse it. Code that
// writes to a column marks it, and [Sim.SyncHash] hashes only marked ones.
//
// The caches, SpatialGrid, PathCost and Fog, follow from the state. Code that changes their inputs keeps them up to
// date, and other systems read them. [Sim.FreshCaches] computes them from scratch.
//
// [Sim.World] is a dump of the whole state. [Sim.Save] is a saved game, and lacks the fields that the fault
// save-omits-field leaves out. [Sim.Restore] loads one in place: the outcome is the same as with [Load], but parts that
// are the same as in the save before are not hashed again.
//
// Some systems divide their work among goroutines. These only decide; the decisions are gathered, sorted by id and then
// carried out, because that draws from the RNG or uses up things that others also want.
//
// # Mistakes
//
// A [Fault] makes one peer go wrong from some tick on, by a mechanism from real games, in the line of code where it
// would occur. The healthy and the faulty path differ only in the mistake. Faults lists them. To add one, add a
// constant and a row to the table in fault.go, and call s.on(fault, system) where a system should make the mistake, or
// s.takes if it happens once. TestFaultsBite then requires that it shows soon.
//
// docs/refsim.md describes the archetypes, orders, parameters and faults.
package refsim
