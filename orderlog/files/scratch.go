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
	content []byte
	at      int
	closed  bool
}

// Write puts bytes at the end of the file.
func (m *Memory) Write(b []byte) (int, error) {
	if m.closed {
		return 0, fs.ErrClosed
	}
	m.content = append(m.content, b...)
	m.at = len(m.content)
	return len(b), nil
}

// Read reads on from the last read or write.
func (m *Memory) Read(b []byte) (int, error) {
	n, err := m.ReadAt(b, int64(m.at))
	m.at += n
	if n > 0 || len(b) == 0 {
		err = nil
	}
	return n, err
}

// ReadAt reads from an offset.
func (m *Memory) ReadAt(b []byte, at int64) (int, error) {
	switch {
	case m.closed:
		return 0, fs.ErrClosed
	case at < 0:
		return 0, errors.New("negative offset")
	case at >= int64(len(m.content)):
		return 0, io.EOF
	}
	n := copy(b, m.content[at:])
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
	m.content, m.closed = nil, true
	return nil
}

// Stat describes the file.
func (m *Memory) Stat() (fs.FileInfo, error) { return memoryInfo(len(m.content)), nil }

// memoryInfo is the size of a file in memory.
type memoryInfo int64

func (i memoryInfo) Name() string     { return "memory" }
func (i memoryInfo) Size() int64      { return int64(i) }
func (memoryInfo) Mode() fs.FileMode  { return 0o600 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }
