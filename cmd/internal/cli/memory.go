package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// headroom is by how many bytes the heap may grow before it is collected, or by
// half of what is live, if that is more. A command is short-lived: most end before
// the first collection, and the work of those that do not stays in proportion to what
// they allocate, however much is live.
const headroom = 48 << 20

// maxRoom is how many times headroom the heap may grow at most.
const maxRoom = 4

// rooms is how many bundles are triaged at once: each has the headroom of a command.
var rooms atomic.Int64

// RoomFor has the heap grow for as many triages at once, from its next collection on until the process ends.
func RoomFor(jobs int) { rooms.Store(int64(min(jobs, maxRoom))) }

// TuneMemory sets when memory is collected. GOGC, if it is set, does so instead;
// GOMEMLIMIT limits memory as it does in any Go program.
func TuneMemory() {
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercent(0))
	runtime.SetFinalizer(&collected{new(atomic.Int64)}, (*collected).again)
}

// collected is collected in every cycle, and comes back.
type collected struct{ percent *atomic.Int64 }

func (c *collected) again() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := gcPercent(live[0].Value.Uint64())
	if c.percent.Swap(int64(percent)) != int64(percent) {
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(c, (*collected).again)
}

// gcPercent returns by how many percent of what is live the heap may grow.
func gcPercent(live uint64) int {
	const floor = 4 << 20 // the runtime takes no heap for smaller
	room := headroom * uint64(max(1, rooms.Load()))
	return int(max(50, room*100/max(live, floor)))
}
