package snapshot

import (
	"runtime"
	"sync/atomic"

	"github.com/desynctool/desynctool/orderlog/limits"
)

// What is read whole to learn of which moment it is would be read again when it is compared. A
// folder of few such files keeps them, up to a size of all of them together.
const (
	maxKeptFiles = 16        // of one folder
	maxKept      = 256 << 20 // bytes in memory, of all of the process, or an eighth of limits.Memory
)

// keptBytes is how large the states are that are kept.
var keptBytes atomic.Int64

// keep has a state that was read whole stay in memory as long as its entry is used, if there is
// room for it.
func (e *Entry) keep(s State) {
	whole, ok := s.(*closing)
	if !ok {
		return
	}
	world, ok := whole.State.(*held)
	if !ok {
		return
	}
	size := world.world.memory()
	if keptBytes.Add(size) > min(maxKept, limits.Memory.Max()/8) {
		keptBytes.Add(-size)
		return
	}
	runtime.AddCleanup(world, func(size int64) { keptBytes.Add(-size) }, size)
	e.kept = world
}

// memory returns about how many bytes the tables take.
func (w *World) memory() (bytes int64) {
	for i := range w.Tables {
		t := &w.Tables[i]
		bytes += 8 * int64(len(t.Keys.A)+len(t.Keys.B))
		for k := range t.Columns {
			c := &t.Columns[k]
			bytes += int64(cap(c.Data) + 4*cap(c.Ends) + cap(c.Present))
		}
	}
	return bytes
}
