package cli

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/sandbox"
)

// alone reports that the process runs one command, so that the processor time of the process belongs to the command.
var alone atomic.Bool

// Bound ends the context of a command that reads evidence when the command has used the processor time that limits.CPU
// allows, or the memory that limits.Heap allows. A command that does not look at its context ends after another fifth
// of that time, or sixteenth of that memory. given returns the size of the evidence in bytes; it is called only if the
// command uses what the smallest evidence may use. A process that runs more than one command is not bounded.
func (e *Env) Bound(given func() int64) {
	if !alone.Load() || e.endBound != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(e.Context)
	running, end := context.WithCancel(context.Background())
	e.Context, e.endBound = ctx, func() { end(); cancel(nil) }
	Watch(running, sync.OnceValue(given), func(over error, hard func() bool) {
		cancel(over)
		if hard() {
			e.overdue <- over
		}
	})
}

// Watch calls reached if, while a context is running, the process uses the processor time from now on, or has the
// memory, that limits.CPU and limits.Heap allow a command for evidence of that size. hard waits until it has a fifth or
// a sixteenth more.
func Watch(running context.Context, size func() int64, reached func(over error, hard func() bool)) {
	begun := processorTime()
	go func() {
		if least, bounded := limits.ProcessorTime(0); !bounded || !await(running, begun+least) {
			return
		}
		if budget, _ := limits.ProcessorTime(size()); await(running, begun+budget) {
			reached(limits.CPU.Reached("", 0), func() bool { return await(running, begun+budget+budget/5) })
		}
	}()
	go func() {
		if !sandbox.Grown(running, limits.Space(0)/2) {
			return
		}
		budget := limits.Space(size())
		debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), budget-budget/16))
		if sandbox.Grown(running, budget) {
			reached(limits.Heap.Reached("", 0), func() bool { return sandbox.Grown(running, budget+budget/16) })
		}
	}()
}

// await waits until the process has used some processor time. It returns false if running ends before.
func await(running context.Context, budget time.Duration) bool {
	const often = 20 * time.Millisecond
	for left := budget - processorTime(); left > 0; left = budget - processorTime() {
		select {
		case <-running.Done():
			return false
		case <-time.After(max(often, left/time.Duration(runtime.GOMAXPROCS(0)))):
		}
	}
	return true
}
