package limits

import "sync/atomic"

// inUse is how many bytes of content are held by all of the process, and mostUsed how many there
// have been at most.
var inUse, mostUsed atomic.Int64

// Held is the memory that one reader has taken of what [Memory] allows. The zero value has none. It
// is not safe for concurrent use; several are.
type Held struct{ bytes int64 }

// Take takes n more bytes, before they are allocated. The error is an *[Error] for the file at path,
// and nothing is taken.
func (h *Held) Take(path string, n int64) error {
	if n <= 0 {
		return nil
	}
	used := inUse.Add(n)
	if Memory.Over(used) {
		inUse.Add(-n)
		return Memory.Reached(path, used)
	}
	h.bytes += n
	for {
		most := mostUsed.Load()
		if used <= most || mostUsed.CompareAndSwap(most, used) {
			return nil
		}
	}
}

// Resize takes or gives back what is between what is held and n bytes.
func (h *Held) Resize(path string, n int64) error {
	if n >= h.bytes {
		return h.Take(path, n-h.bytes)
	}
	inUse.Add(n - h.bytes)
	h.bytes = n
	return nil
}

// Bytes returns how much is held.
func (h *Held) Bytes() int64 { return h.bytes }

// Free gives back all that is held.
func (h *Held) Free() {
	inUse.Add(-h.bytes)
	h.bytes = 0
}

// exceeded is how much content beyond [Ratio] was met.
var exceeded atomic.Int64

// Exceed adds n bytes of content beyond [Ratio], of the file at path, to those of all files that the
// process has read. The error is an *[Error].
func Exceed(path string, n int64) error {
	if all := exceeded.Add(n); Excess.Over(all) {
		return Excess.Reached(path, all)
	}
	return nil
}

// streamed is how much content beyond [StreamRatio] was met.
var streamed atomic.Int64

// ExceedStream adds n bytes of content beyond [StreamRatio], of the log or trace at path, to those of all that the process
// has read, each time that it reads one. Together they may be twice as much as [Free]: many small files that unpack to
// much are one large one. The error is an *[Error].
func ExceedStream(path string, n int64) error {
	if all := streamed.Add(n); all > 2*Free.Max() {
		return StreamRatio.Reached(path, 0)
	}
	return nil
}

// InUse returns how many bytes are held, and how many there have been at most.
func InUse() (now, most int64) { return inUse.Load(), mostUsed.Load() }
