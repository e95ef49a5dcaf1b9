package refsim

import (
	"cmp"
	"slices"
	"sync"
)

// pool runs the same function on several goroutines and gathers in which
// order they were done.
type pool struct {
	task  func(worker int)
	run   [workers]func()
	group sync.WaitGroup

	mu   sync.Mutex
	done [workers]int // workers in the order in which they finished
	n    int
}

// init prepares the functions once, so that starting them allocates nothing.
func (p *pool) init() {
	for w := range p.run {
		p.run[w] = func() {
			p.task(w)
			p.mu.Lock()
			p.done[p.n] = w
			p.n++
			p.mu.Unlock()
			p.group.Done()
		}
	}
}

// each calls task once for each worker, at the same time, and returns the
// workers in the order in which they finished. It stays valid until the next
// call.
func (p *pool) each(task func(worker int)) []int {
	p.task, p.n = task, 0
	p.group.Add(workers)
	for w := range p.run {
		go p.run[w]()
	}
	p.group.Wait()
	return p.done[:]
}

// action is what a system found to do for an entity.
type action struct {
	id        uint64
	row       int32
	archetype archetype

	to     uint32 // of Movement: the cell that the entity moved into
	target uint64 // of Combat: the entity that it is about to fire at
	haul   haul   // of Economy: the next action of a harvester, miner or truck
	luck   int32  // of Economy: ore that a miner digs beyond the field's yield
}

// actions are what goroutines find for a system to do.
type actions struct {
	list []action // all of them, in the order in which the system does them
	by   [workers][]action
	due  []*table                              // the work that is divided among the goroutines
	find func(dst []action, t *table) []action // appends a table's
	some func(worker int)                      // one goroutine's part
}

func (a *actions) init(find func(dst []action, t *table) []action) {
	a.find = find
	a.some = func(worker int) {
		found := a.by[worker][:0]
		for i := worker; i < len(a.due); i += workers {
			found = a.find(found, a.due[i])
		}
		a.by[worker] = found
	}
}

// gather divides the tables that are due among goroutines and lists what they find by id. The
// results come as the workers finish, since they are sorted anyway. With the fault unstable-sort
// that order shows; then it is from the last worker to the first, so that a peer agrees with itself.
func (s *Sim) gather(in system, a *actions, due func(t *table) bool) []action {
	a.due = a.due[:0]
	for _, t := range s.tables {
		if due(t) {
			a.due = append(a.due, t)
		}
	}
	done := s.scratch.pool.each(a.some)
	if s.on(unstableSort, in) {
		slices.SortFunc(done, func(a, b int) int { return b - a })
	}
	a.list = a.list[:0]
	for _, worker := range done {
		a.list = append(a.list, a.by[worker]...)
	}
	switch {
	case s.on(unsortedMerge, in): // the mistake: not sorted
	case s.on(unstableSort, in): // the mistake: several have the same key
		slices.SortFunc(a.list, func(a, b action) int { return cmp.Compare(chunk(a.id), chunk(b.id)) })
	case s.on(localeSort, in): // the mistake: tags as text
		slices.SortFunc(a.list, func(a, b action) int { return collate(a.id, b.id) })
	default:
		slices.SortFunc(a.list, func(a, b action) int { return cmp.Compare(a.id, b.id) })
	}
	return a.list
}

// chunk is the key by which the fault unstable-sort sorts: entities are numbered in chunks of 1024.
func chunk(id uint64) uint64 { return id >> (archetypeBits + 10) }
