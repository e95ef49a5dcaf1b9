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

// smallScratch is the size in bytes up to which a scratch file is in memory.
const smallScratch = 1 << 20

// Scratch returns a file that is in memory while it is small, and then becomes a temporary file. If no temporary file
// can be created, it stays in memory, so it is meant for content of limited size.
func Scratch() ScratchFile { return &scratch{now: new(Memory)} }

// Spool is Scratch for content of any size. If no temporary file can be created, content that is not small is an error.
func Spool() ScratchFile { return &scratch{now: new(Memory), large: true} }

// scratch is a file in memory, or the temporary file that replaced it.
type scratch struct {
	now   ScratchFile
	stays bool // it stays where it is
	large bool // content that is not small may not stay in memory
}

// Write appends bytes to the file.
func (s *scratch) Write(b []byte) (int, error) {
	if m, ok := s.now.(*Memory); ok && !s.stays && m.size+int64(len(b)) > smallScratch {
		if err := s.move(m); err != nil {
			return 0, err
		}
	}
	return s.now.Write(b)
}

// move moves the content from memory to a temporary file, if one can be created.
func (s *scratch) move(m *Memory) error {
	if m.closed {
		return nil // writing reports it
	}
	f, err := Temporary()
	if err != nil && s.large {
		return err
	}
	s.stays = true
	if err != nil {
		return nil // Scratch allows it
	}
	for _, block := range m.blocks {
		if _, err := f.Write(block); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	s.now = f
	return m.Close()
}

// ReadFrom is used by io.Copy.
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
	blocks [][]byte // of memoryBlock bytes each, except the last
	size   int64
	at     int64
	closed bool
}

const (
	memoryBlock = 256 << 10
	firstBlock  = 32 << 10 // maximum size of the first one while it grows, because most files are small
)

// memoryBlocks are reused, because clearing new ones is often slower than using them.
var memoryBlocks = sync.Pool{New: func() any { return new([memoryBlock]byte) }}

// Write appends bytes to the file.
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

// Read continues after the last read or write.
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
