package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// headroom is how many bytes the heap may grow before garbage collection, or half of the live bytes if that is more. A
// command is short-lived: most end before the first collection. For longer ones, the cost stays in proportion to the
// bytes that they allocate, however much is live.
const headroom = 48 << 20

// maxRoom is the maximum multiple of headroom by which the heap may grow.
const maxRoom = 4

// rooms is how many bundles are triaged at once. Each has the headroom of a command.
var rooms atomic.Int64

// RoomFor lets the heap grow for this many triages at once, from its next collection until the process ends.
func RoomFor(jobs int) { rooms.Store(int64(min(jobs, maxRoom))) }

// TuneProcess prepares a process for one command. It sets when garbage is collected; if GOGC is set, it decides instead.
// GOMEMLIMIT limits memory as in any Go program. The processor time of the process is then the time of its command.
func TuneProcess() {
	alone.Store(true)
	if os.Getenv("GOGC") != "" {
		return
	}
	debug.SetGCPercent(gcPercent(0))
	runtime.SetFinalizer(&collected{new(atomic.Int64)}, (*collected).again)
}

// collected is collected in every cycle, and then allocated again.
type collected struct{ percent *atomic.Int64 }

func (c *collected) again() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	percent := gcPercent(live[0].Value.Uint64())
	if size := evidence.Load(); size != nil && live[0].Value.Uint64() > room/2 && evidence.CompareAndSwap(size, nil) {
		go within(*size)
	}
	if c.percent.Swap(int64(percent)) != int64(percent) {
		debug.SetGCPercent(percent)
	}
	runtime.SetFinalizer(c, (*collected).again)
}

// room is how many bytes the memory of a process may have that reads little, and roomEach how many for each byte of
// evidence if that is more. From there on garbage is collected more often: no content is left out.
const (
	room     = 464 << 20
	roomEach = 30
)

// evidence returns the size in bytes of what a command was given, nil if it is not known or was taken.
var evidence atomic.Pointer[func() int64]

// within sets the memory of the process for evidence of a size, unless GOMEMLIMIT sets less.
func within(size func() int64) {
	if most := max(room, roomEach*size()); most < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(most)
	}
}

// gcPercent returns by how many percent of the live bytes the heap may grow.
func gcPercent(live uint64) int {
	const floor = 4 << 20 // the runtime treats no heap as smaller
	grows := headroom * uint64(max(1, rooms.Load()))
	return int(max(50, grows*100/max(live, floor)))
}
