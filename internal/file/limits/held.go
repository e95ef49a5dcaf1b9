package limits

import "sync/atomic"

// inUse is how many bytes of content the whole process holds.
var inUse atomic.Int64

// Held is the memory that one reader has taken of the amount in [Memory]. The zero value has none. A Held is not safe
// for concurrent use, but different ones are.
type Held struct{ bytes int64 }

// Take takes n more bytes, before they are allocated. On error, which is an *[Error] for the file at path, it takes
// nothing.
func (h *Held) Take(path string, n int64) error {
	if n <= 0 {
		return nil
	}
	if used := inUse.Add(n); Memory.Over(used) {
		inUse.Add(-n)
		return Memory.Reached(path, used)
	}
	h.bytes += n
	return nil
}

// Resize takes or returns memory so that n bytes are held.
func (h *Held) Resize(path string, n int64) error {
	if n >= h.bytes {
		return h.Take(path, n-h.bytes)
	}
	inUse.Add(n - h.bytes)
	h.bytes = n
	return nil
}

// Bytes returns how many bytes are held.
func (h *Held) Bytes() int64 { return h.bytes }

// Free returns all memory.
func (h *Held) Free() {
	inUse.Add(-h.bytes)
	h.bytes = 0
}

// exceeded is how much content beyond [Ratio] was read.
var exceeded atomic.Int64

// Exceed adds n bytes of content beyond [Ratio], from the file at path, to the total of all files that the process has
// read. The error is an *[Error].
func Exceed(path string, n int64) error {
	if all := exceeded.Add(n); Excess.Over(all) {
		return Excess.Reached(path, all)
	}
	return nil
}

// streamed is how much content beyond [StreamRatio] was read.
var streamed atomic.Int64

// ExceedStream adds n bytes of content beyond [StreamRatio], from the log or trace at path, to the total of all that
// the process has read; a file counts each time it is read. The total may be half of [Free], because many small files
// with a high ratio are like one large file. The error is an *[Error].
func ExceedStream(path string, n int64) error {
	if all := streamed.Add(n); all > Free.Max()/2 {
		return StreamRatio.Reached(path, 0)
	}
	return nil
}

// InUse returns how many bytes are held.
func InUse() int64 { return inUse.Load() }
