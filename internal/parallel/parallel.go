// Package parallel runs functions side by side, so that a mistake in one is one of whoever waits for it:
// there it can be recovered from, while a panic of a goroutine by itself ends the program.
package parallel

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Group is functions that run side by side. The zero value has none.
type Group struct {
	all   sync.WaitGroup
	mu    sync.Mutex
	first *Panic
}

// Panic is a panic of a function, which Wait panics with.
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

// Wait waits until all have returned. If one of them has panicked so does Wait, with a *Panic.
func (g *Group) Wait() {
	g.all.Wait()
	if g.first != nil {
		panic(g.first)
	}
}

// Each calls a function with each of 0…n-1, so many at a time as there are workers; 0 means as many as there are processors.
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
