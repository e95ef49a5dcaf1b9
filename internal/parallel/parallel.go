// Package parallel runs functions side by side, so that a mistake in one is one of whoever waits for it:
// there it can be recovered from, while a panic of a goroutine by itself ends the program.
package parallel

import (
	"fmt"
	"runtime/debug"
	"sync"
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
