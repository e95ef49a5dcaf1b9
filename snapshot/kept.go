package snapshot

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Some states must be read whole to learn their point, and would be read again for the comparison. A folder with few
// such files keeps them in memory, up to a total size. Small states are kept wherever they are opened.
const (
	maxKeptFiles = 16        // in one folder
	maxKept      = 256 << 20 // bytes in memory in the whole process, or an eighth of limits.Memory
	smallState   = 4 << 20   // bytes in memory of the largest state that counts as small
	maxSmall     = 64 << 20  // bytes of all kept states up to which small ones are kept
)

// keptBytes is the size of all kept states.
var keptBytes atomic.Int64

// keeping contains the state of an entry that was read whole. All clones of the entry share it.
type keeping struct{ atomic.Pointer[held] }

// newKeeping returns a keeping for states of a format, nil for a format that need not be read whole.
func newKeeping(format *Format) *keeping {
	if format.Light {
		return nil
	}
	return &keeping{}
}

// state returns the state, nil if it must be read again.
func (k *keeping) state() State {
	if k != nil {
		if s := k.Load(); s != nil {
			return staysOpen{s}
		}
	}
	return nil
}

// keep keeps a state that was read whole in memory as long as its entry is used, if there is room for it.
func (k *keeping) keep(s State) { k.keepWithin(s, maxKept, maxKept) }

// keepSmall is keep for small states.
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

// Bytes that a state, a table and a column take in memory besides their data, with their digests.
const (
	stateMemory  = 1024
	tableMemory  = int64(unsafe.Sizeof(Table{}) + unsafe.Sizeof(TableInfo{}) + unsafe.Sizeof(Index{}) + unsafe.Sizeof(BlockInfo{}))
	columnMemory = int64(unsafe.Sizeof(Column{}) + unsafe.Sizeof(ColumnInfo{}) + unsafe.Sizeof(merkle.Hash{}))
)

// memory returns the approximate size of a state in bytes.
func (w *World) memory() int64 {
	bytes := stateMemory + tableMemory*int64(len(w.Tables))
	for i := range w.Tables {
		t := &w.Tables[i]
		bytes += 8*int64(len(t.Keys.A)+len(t.Keys.B)) + columnMemory*int64(len(t.Columns))
		for k := range t.Columns {
			c := &t.Columns[k]
			bytes += int64(cap(c.Data) + 4*cap(c.Ends) + cap(c.Present))
		}
	}
	return bytes
}
