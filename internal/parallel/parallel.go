// Package parallel runs functions side by side. A panic in one of them reaches the caller, who can recover from it; a
// panic in an ordinary goroutine ends the program.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Group is a set of functions that run side by side. The zero value has none.
type Group struct {
	all   sync.WaitGroup
	mu    sync.Mutex
	first *Panic
}

// Panic is the panic of a function; Wait panics with it.
type Panic struct {
	Value any
	Stack []byte // of the function
}

func (p *Panic) Error() string { return fmt.Sprintf("%v\n\n%s", p.Value, p.Stack) }

// Go runs a function in a goroutine.
func (g *Group) Go(f func()) {
	g.all.Go(func() {
		defer func() {
			if v := recover(); v != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				if g.first == nil {
					g.first = &Panic{v, debug.Stack()}
				}
			}
		}()
		f()
	})
}

// Wait waits until all functions have returned. If one has panicked, Wait panics with a *Panic.
func (g *Group) Wait() {
	g.all.Wait()
	if g.first != nil {
		panic(g.first)
	}
}

// Each calls a function with each of 0…n-1, with at most workers calls at a time. 0 means the number of processors.
func Each(workers, n int, f func(i int)) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var g Group
	for range min(workers, n) {
		g.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				f(int(i))
			}
		})
	}
	g.Wait()
}
