package snapshot

import (
	"runtime"
	"sync/atomic"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// What is read whole to learn of which moment it is would be read again when it is compared. A
// folder of few such files keeps them, up to a size of all of them together. States that are small
// are kept wherever they are opened.
const (
	maxKeptFiles = 16        // of one folder
	maxKept      = 256 << 20 // bytes in memory, of all of the process, or an eighth of limits.Memory
	smallState   = 4 << 20   // bytes in memory of the largest state that is small
	maxSmall     = 64 << 20  // bytes up to which small ones are kept, of all that is
)

// keptBytes is how large the states are that are kept.
var keptBytes atomic.Int64

// keeping holds the state of an entry that was read whole, for all clones of the entry.
type keeping struct{ atomic.Pointer[held] }

// newKeeping returns what keeps states of a format, nil for one that need not be read whole.
func newKeeping(format *Format) *keeping {
	if format.Light {
		return nil
	}
	return &keeping{}
}

// state returns the state, nil if it has to be read again.
func (k *keeping) state() State {
	if k != nil {
		if s := k.Load(); s != nil {
			return staysOpen{s}
		}
	}
	return nil
}

// keep has a state that was read whole stay in memory as long as its entry is used, if there is
// room for it.
func (k *keeping) keep(s State) { k.keepWithin(s, maxKept, maxKept) }

// keepSmall is keep for states that are small.
func (k *keeping) keepSmall(s State) { k.keepWithin(s, smallState, maxSmall) }

func (k *keeping) keepWithin(s State, most, all int64) {
	world := heldOf(s)
	if world == nil || k == nil {
		return
	}
	size := world.world.memory()
	if size > most {
		return
	}
	if keptBytes.Add(size) > min(all, limits.Memory.Max()/8) {
		keptBytes.Add(-size)
		return
	}
	runtime.AddCleanup(world, func(size int64) { keptBytes.Add(-size) }, size)
	k.Store(world)
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
