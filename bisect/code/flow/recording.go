package flow

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// Module is a program or library in which branches were taken.
type Module struct {
	Path    string
	BuildID []byte // empty if the linker wrote none
}

// Same reports whether two modules are the same file by their build ids.
func (m *Module) Same(other *Module) bool {
	return len(m.BuildID) > 0 && string(m.BuildID) == string(other.BuildID)
}

// Address is a place in one of a recording's modules: its number in the upper 16 bits, the offset from where it was
// loaded in the lower 48.
type Address uint64

// Module returns the module's number in Recording.Modules. Code of no module has 65535.
func (a Address) Module() int { return int(a >> 48) }

// Offset returns the offset in the module, which is the virtual address of the file.
func (a Address) Offset() uint64 { return uint64(a) & (1<<48 - 1) }

// Recording is a file of branches, as docs/code.md specifies it.
type Recording struct {
	Name    string
	Modules []Module
	Threads []Thread  // ascending
	Stack   []Address // at the branch that was asked for, the innermost first

	file io.ReaderAt
	size int64
}

// Thread is the part of a recording that belongs to one numbered thread.
type Thread struct {
	Number uint32
	Count  uint64 // branches
	Hash   uint64
	chunks []extent
}

// extent is a part of the file.
type extent struct{ from, size int64 }

// Bounds of a recording.
const (
	maxModules = 256
	maxThreads = 64
	maxFrames  = 64
	maxCount   = 1 << 33 // branches of a thread
	maxPath    = 4096
)

// noThread ends the chunks of a recording.
const noThread = 0xffffffff

var magic = [8]byte{'D', 'S', 'B', 'R', 1}

// Open opens the recording in a file, which the caller closes. The branches themselves are checked when they are read.
func Open(f *os.File) (*Recording, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return Read(f, info.Size(), f.Name())
}

// Read opens the recording in size bytes. The errors have its name and the offset.
func Read(file io.ReaderAt, size int64, name string) (*Recording, error) {
	r := &Recording{Name: name, file: file, size: size}
	h := &headReader{r: bufio.NewReader(io.NewSectionReader(file, 0, size))}
	if err := r.head(h); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("the file ends before its end mark: the simulator ended before the recording did")
		}
		return nil, fmt.Errorf("%s: offset %d: %w", name, h.at, err)
	}
	return r, nil
}

// headReader reads numbers and counts bytes.
type headReader struct {
	r  *bufio.Reader
	at int64
}

func (h *headReader) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	got, err := io.ReadFull(h.r, b)
	h.at += int64(got)
	return b, err
}

func (h *headReader) uint(n int) (uint64, error) {
	b, err := h.bytes(n)
	var eight [8]byte
	copy(eight[:], b)
	return binary.LittleEndian.Uint64(eight[:]), err
}

func (h *headReader) skip(n int64) error {
	got, err := io.CopyN(io.Discard, h.r, n)
	h.at += got
	return err
}

// count reads a number of things with a bound.
func (h *headReader) count(n int, limit uint64, what string) (uint64, error) {
	v, err := h.uint(n)
	if err == nil && v > limit {
		err = fmt.Errorf("%d %s, expected at most %d", v, what, limit)
	}
	return v, err
}

func (r *Recording) head(h *headReader) error {
	b, err := h.bytes(len(magic))
	if err != nil {
		return err
	}
	if [8]byte(b) != magic {
		return errors.New("not a recording of branches: expected \"DSBR\" and version 1")
	}
	n, err := h.count(4, maxModules, "modules")
	if err != nil {
		return err
	}
	for range n {
		var m Module
		length, err := h.count(2, maxPath, "bytes of a module's path")
		if err != nil {
			return err
		}
		path, err := h.bytes(int(length))
		if err != nil {
			return err
		}
		if length, err = h.uint(1); err != nil {
			return err
		}
		if m.BuildID, err = h.bytes(int(length)); err != nil {
			return err
		}
		m.Path = string(path)
		r.Modules = append(r.Modules, m)
	}
	chunks, err := h.chunks()
	if err != nil {
		return err
	}
	return r.end(h, chunks)
}

// chunks reads where the chunks of each thread are.
func (h *headReader) chunks() (map[uint32][]extent, error) {
	chunks := map[uint32][]extent{}
	for {
		thread, err := h.uint(4)
		if err != nil {
			return nil, err
		}
		if thread == noThread {
			return chunks, nil
		}
		if thread >= maxThreads {
			return nil, fmt.Errorf("branches of thread %d, expected less than %d", thread, maxThreads)
		}
		size, err := h.uint(4)
		if err != nil {
			return nil, err
		}
		chunks[uint32(thread)] = append(chunks[uint32(thread)], extent{h.at, int64(size)})
		if err := h.skip(int64(size)); err != nil {
			return nil, err
		}
	}
}

// end reads the flow of each thread, and the stack.
func (r *Recording) end(h *headReader, chunks map[uint32][]extent) error {
	n, err := h.count(4, maxThreads, "threads")
	if err != nil {
		return err
	}
	for range n {
		number, err1 := h.count(4, maxThreads-1, "as the number of a thread")
		count, err2 := h.count(8, maxCount, "branches of a thread")
		hash, err3 := h.uint(8)
		if err := errors.Join(err1, err2, err3); err != nil {
			return err
		}
		if k := len(r.Threads); k > 0 && r.Threads[k-1].Number >= uint32(number) {
			return fmt.Errorf("thread %d after thread %d, expected them to ascend", number, r.Threads[k-1].Number)
		}
		r.Threads = append(r.Threads, Thread{Number: uint32(number), Count: count, Hash: hash, chunks: chunks[uint32(number)]})
	}
	if n, err = h.count(4, maxFrames, "frames of a stack"); err != nil {
		return err
	}
	for range n {
		at, err := h.uint(8)
		if err != nil {
			return err
		}
		r.Stack = append(r.Stack, Address(at))
	}
	if h.at != r.size {
		return fmt.Errorf("%d bytes after the end of the recording", r.size-h.at)
	}
	return nil
}

// Thread returns the thread with a number. One that took no branch has none.
func (r *Recording) Thread(number uint32) *Thread {
	for i := range r.Threads {
		if r.Threads[i].Number == number {
			return &r.Threads[i]
		}
	}
	return &Thread{Number: number}
}
