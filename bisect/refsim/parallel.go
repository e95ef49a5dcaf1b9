package refsim

import "sync"

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
