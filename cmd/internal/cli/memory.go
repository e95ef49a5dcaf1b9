package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// The heap grows by headroom before garbage collection, or by half of the live bytes if that is more, at most by
// mostGrowth unless that is less than a quarter. A command is short-lived: most end before the first collection. For
// longer ones, the cost stays in proportion to the bytes that they allocate, however much is live.
const (
	headroom   = 48 << 20
	mostGrowth = 104 << 20
)

// TuneProcess prepares a process for one command. It sets when garbage is collected; if GOGC is set, it decides instead.
// GOMEMLIMIT limits memory as in any Go program. The processor time of the process is then the time of its command.
func TuneProcess() {
	alone.Store(true)
	if os.Getenv("GOGC") != "" {
		return
	}
	c := &collected{new(atomic.Int64)}
	c.percent.Store(int64(gcPercent(0)))
	debug.SetGCPercent(gcPercent(0))
	runtime.SetFinalizer(c, (*collected).again)
}

// collected is collected in every cycle, and then allocated again.
type collected struct{ percent *atomic.Int64 }

func (c *collected) again() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	live := stats.NextGC * 100 / uint64(100+c.percent.Load()) // the runtime collects when the heap has grown so far
	if percent := gcPercent(live); c.percent.Swap(int64(percent)) != int64(percent) {
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(c, (*collected).again)
}

// gcPercent returns by how many percent of the live bytes the heap may grow.
func gcPercent(live uint64) int {
	const floor = 4 << 20 // the runtime treats no heap as smaller
	least := min(50, max(25, mostGrowth*100/max(live, floor)))
	return int(max(least, headroom*100/max(live, floor)))
}
