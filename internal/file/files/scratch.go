package files

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"time"
)

// ScratchFile is a file for content that is written once and then read.
type ScratchFile interface {
	File
	io.Writer
}

// smallScratch is how many bytes of a scratch file are in memory before they are moved to the disk.
const smallScratch = 1 << 20

// Scratch returns a file that is in memory while it is small, and then a temporary file, or stays in memory
// where none can be made: for content of a bounded size.
func Scratch() ScratchFile { return &scratch{now: new(Memory)} }

// Spool is Scratch for content of any size: where no temporary file can be made, more than is small is an
// error.
func Spool() ScratchFile { return &scratch{now: new(Memory), large: true} }

// scratch is a file in memory, or what it was moved to.
type scratch struct {
	now   ScratchFile
	stays bool // where it is
	large bool // what is not small may not stay in memory
}

// Write puts bytes at the end of the file.
func (s *scratch) Write(b []byte) (int, error) {
	if m, ok := s.now.(*Memory); ok && !s.stays && m.size+int64(len(b)) > smallScratch {
		if err := s.move(m); err != nil {
			return 0, err
		}
	}
	return s.now.Write(b)
}

// move moves what is in memory to a temporary file, if one can be made.
func (s *scratch) move(m *Memory) error {
	if m.closed {
		return nil // which writing says
	}
	f, err := Temporary()
	if err != nil && s.large {
		return err
	}
	s.stays = true
	if err != nil {
		return nil // Scratch has said so
	}
	for _, block := range m.blocks {
		if _, err := f.Write(block); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	s.now = f
	return m.Close()
}

// ReadFrom is for io.Copy.
func (s *scratch) ReadFrom(r io.Reader) (n int64, err error) {
	buf := copyBuffers.Get().(*[copyBuffer]byte)
	defer copyBuffers.Put(buf)
	for {
		got, err := r.Read(buf[:])
		wrote, failed := s.Write(buf[:got])
		if n += int64(wrote); failed != nil {
			return n, failed
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

const copyBuffer = 32 << 10

var copyBuffers = sync.Pool{New: func() any { return new([copyBuffer]byte) }}

func (s *scratch) Read(b []byte) (int, error)             { return s.now.Read(b) }
func (s *scratch) ReadAt(b []byte, at int64) (int, error) { return s.now.ReadAt(b, at) }
func (s *scratch) Stat() (fs.FileInfo, error)             { return s.now.Stat() }
func (s *scratch) Close() error                           { return s.now.Close() }

// Memory is a regular file in memory, empty at first.
type Memory struct {
	blocks [][]byte // of memoryBlock bytes each, but for the last
	size   int64
	at     int64
	closed bool
}

const (
	memoryBlock = 256 << 10
	firstBlock  = 32 << 10 // up to which the first one grows: most files are small
)

// memoryBlocks are reused: clearing them takes longer than much of what is done with them.
var memoryBlocks = sync.Pool{New: func() any { return new([memoryBlock]byte) }}

// Write puts bytes at the end of the file.
func (m *Memory) Write(b []byte) (int, error) {
	if m.closed {
		return 0, fs.ErrClosed
	}
	for left := b; len(left) > 0; {
		if m.size == int64(len(m.blocks))*memoryBlock {
			m.blocks = append(m.blocks, nil)
		}
		last := &m.blocks[len(m.blocks)-1]
		if cap(*last) < memoryBlock && (len(m.blocks) > 1 || len(*last)+len(left) > firstBlock) {
			block := memoryBlocks.Get().(*[memoryBlock]byte)
			*last = block[:copy(block[:], *last)]
		}
		n := min(len(left), memoryBlock-len(*last))
		*last = append(*last, left[:n]...)
		left = left[n:]
		m.size += int64(n)
	}
	m.at = m.size
	return len(b), nil
}

// Read reads on from the last read or write.
func (m *Memory) Read(b []byte) (int, error) {
	n, err := m.ReadAt(b, m.at)
	m.at += int64(n)
	if n > 0 || len(b) == 0 {
		err = nil
	}
	return n, err
}

// ReadAt reads from an offset.
func (m *Memory) ReadAt(b []byte, at int64) (n int, err error) {
	switch {
	case m.closed:
		return 0, fs.ErrClosed
	case at < 0:
		return 0, errors.New("negative offset")
	}
	for n < len(b) && at < m.size {
		part := copy(b[n:], m.blocks[at/memoryBlock][at%memoryBlock:])
		n += part
		at += int64(part)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// Close frees the memory.
func (m *Memory) Close() error {
	if m.closed {
		return fs.ErrClosed
	}
	for _, block := range m.blocks {
		if cap(block) == memoryBlock {
			memoryBlocks.Put((*[memoryBlock]byte)(block[:memoryBlock]))
		}
	}
	m.blocks, m.closed = nil, true
	return nil
}

// Stat describes the file.
func (m *Memory) Stat() (fs.FileInfo, error) { return memoryInfo(m.size), nil }

// memoryInfo is the size of a file in memory.
type memoryInfo int64

func (i memoryInfo) Name() string     { return "memory" }
func (i memoryInfo) Size() int64      { return int64(i) }
func (memoryInfo) Mode() fs.FileMode  { return 0o600 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }
