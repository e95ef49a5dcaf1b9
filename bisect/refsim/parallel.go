package refsim

import (
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

// each divides a system's work among goroutines and returns the workers in the
// order in which their results are to be gathered: as they finished, since what
// is gathered is sorted anyway. With the fault unstable-sort that order shows; then
// it is from the last worker to the first, so that a peer agrees with itself.
func (s *Sim) each(in system, task func(worker int)) []int {
	done := s.scratch.pool.each(task)
	if s.on(unstableSort, in) {
		slices.SortFunc(done, func(a, b int) int { return b - a })
	}
	return done
}

// chunk is by what the fault unstable-sort sorts: entities are numbered in
// chunks of 1024.
func chunk(id uint64) uint64 { return id >> (archetypeBits + 10) }
