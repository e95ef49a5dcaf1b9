package files

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// ScratchFile is a file for content that is written once and then read.
type ScratchFile interface {
	File
	io.Writer
}

// Scratch returns a temporary file, or where none can be made one in memory: for content of a bounded
// size.
func Scratch() ScratchFile {
	if f, err := Temporary(); err == nil {
		return f
	}
	return new(Memory)
}

// Memory is a regular file in memory, empty at first.
type Memory struct {
	blocks [][]byte // of memoryBlock bytes each, but for the last
	size   int64
	at     int64
	closed bool
}

const memoryBlock = 256 << 10

// Write puts bytes at the end of the file.
func (m *Memory) Write(b []byte) (int, error) {
	if m.closed {
		return 0, fs.ErrClosed
	}
	for left := b; len(left) > 0; {
		if m.size == int64(len(m.blocks))*memoryBlock {
			m.blocks = append(m.blocks, make([]byte, 0, memoryBlock))
		}
		last := &m.blocks[len(m.blocks)-1]
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
