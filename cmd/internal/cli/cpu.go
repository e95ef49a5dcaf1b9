package cli

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// alone reports that the process runs one command, so that the processor time of the process belongs to the command.
var alone atomic.Bool

// Bound ends the context of a command that reads evidence when the command has used the processor time that limits.CPU
// allows. A command that does not look at its context ends after another quarter of that time. given returns the size
// of the evidence in bytes; it is called only if the command uses the time for the smallest evidence. A process that
// runs more than one command is not bounded.
func (e *Env) Bound(given func() int64) {
	least, bounded := limits.ProcessorTime(0)
	if !bounded || !alone.Load() || e.endCPU != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(e.Context)
	running, end := context.WithCancel(context.Background())
	e.Context, e.endCPU = ctx, func() { end(); cancel(nil) }
	go func() {
		if !await(running, least) {
			return
		}
		budget, _ := limits.ProcessorTime(given())
		if !await(running, budget) {
			return
		}
		over := limits.CPU.Reached("", 0)
		cancel(over)
		if await(running, budget+budget/4) {
			e.overdue <- over
		}
	}()
}

// await waits until the process has used some processor time. It returns false if running ends before.
func await(running context.Context, budget time.Duration) bool {
	const often = 20 * time.Millisecond
	for {
		left := budget - processorTime()
		if left <= 0 {
			return true
		}
		select {
		case <-running.Done():
			return false
		case <-time.After(max(often, left/time.Duration(runtime.GOMAXPROCS(0)))):
		}
	}
}
