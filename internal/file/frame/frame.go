// Package frame reads and writes the framing that the binary files of
// desynctool share, and checks MessagePack before anything decodes it.
//
// # Format
//
// A file is a preamble, any number of frames, and an end marker with nothing
// after it. All integers are little-endian; every checksum is CRC-32C
// (Castagnoli).
//
//	preamble, 16 bytes
//	+-----------------+-------------+------------+------------------+
//	| magic, 8 bytes  | version u16 | flags u16  | checksum u32     |
//	|                 |             | always 0   | of 12 bytes      |
//	+-----------------+-------------+------------+------------------+
//
//	frame, 16 + length bytes
//	+------------+------------+--------------+--------------+---------+
//	| length u32 | kind u32   | checksum u32 | checksum u32 | payload |
//	| of payload |            | of payload   | of 12 bytes  |         |
//	+------------+------------+--------------+--------------+---------+
//
//	end marker: a frame of kind 0xFFFFFFFF whose payload is a u64, the
//	number of frames before it
//
// # Three ways to end
//
// A writer that crashed must not look like a file that was damaged later, and
// neither may look complete. So reading ends in one of three ways:
//
//   - cleanly, with [io.EOF], after the end marker;
//   - torn, with [ErrTorn]: the file ends inside a frame or without an end
//     marker, or from some point inside a frame on it holds nothing but zero
//     bytes, 16 at least, as a crashed file system leaves them;
//   - corrupt, with [ErrCorrupt]: anything else that is not as written.
//
// All frames before the trouble are delivered first.
package frame

import (
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// Sizes and the kind of the end marker are part of the format.
const (
	preambleSize = 16
	headerSize   = 16
	magicSize    = 8

	// EndKind is the kind of the end marker; no other frame may have it.
	EndKind uint32 = 0xFFFFFFFF
)

// DefaultMaxPayload is the longest payload in bytes that is read or written
// unless a Format says otherwise.
const DefaultMaxPayload = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Format describes one type of file to both its reader and its writer.
type Format struct {
	Name       string // noun for error messages, such as "order log"
	Magic      string // exactly 8 bytes
	Version    uint16 // the version written, and the newest one read; at least 1
	MaxPayload int    // in bytes; 0 means DefaultMaxPayload
}

func (f Format) maxPayload() uint64 {
	if f.MaxPayload > 0 {
		return uint64(f.MaxPayload)
	}
	return DefaultMaxPayload
}

// What an [Error] wraps, or another error about a file.
var (
	// ErrTorn says that the writer never finished: what is delivered is whole,
	// but more was to follow.
	ErrTorn = errors.New("torn")
	// ErrCorrupt says that the file was damaged or badly written.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnrecognized says that the file is of another type.
	ErrUnrecognized = errors.New("not recognized")
	// ErrLacking says that a file is whole but lacks the evidence that it is
	// for. It is wrapped by the errors of readers of engines' files.
	ErrLacking = errors.New("evidence is lacking")
	// ErrVersion says that the file is of a version not known here.
	ErrVersion = errors.New("unknown version")
)

// Error says where and why a file could not be read any further. An error of
// the underlying reader is not an Error.
type Error struct {
	Name   string // of the file, as given to NewReader
	Offset int64  // in bytes; if torn, where the last whole frame ends
	Lost   int64  // if torn, number of bytes after Offset
	Msg    string
	Err    error // ErrTorn, ErrCorrupt, ErrUnrecognized, ErrVersion or a *limits.Error

	// Readers that can go on after an error set these.
	Rule string // that the file breaks, as docs/rules.md names it
	In   string // the record or value at fault, such as "merkle_nodes[3]"; empty for the whole file
}

func (e *Error) Error() string {
	switch e.Err {
	case ErrTorn:
		if e.Lost == 0 {
			return fmt.Sprintf("%s: torn at offset %d: %s", e.Name, e.Offset, e.Msg)
		}
		return fmt.Sprintf("%s: torn at offset %d, bytes lost: %d: %s", e.Name, e.Offset, e.Lost, e.Msg)
	case ErrCorrupt:
		return fmt.Sprintf("%s: corrupt at offset %d: %s", e.Name, e.Offset, e.Msg)
	case ErrVersion:
		return fmt.Sprintf("%s: at offset %d: %s", e.Name, e.Offset, e.Msg)
	}
	return fmt.Sprintf("%s: %s", e.Name, e.Msg)
}

// Fault returns what an Error wraps that says that a file cannot be read any further: the
// *limits.Error among the arguments of its message, else ErrCorrupt.
func Fault(args []any) error {
	for _, arg := range args {
		if over, ok := arg.(*limits.Error); ok {
			return over
		}
	}
	return ErrCorrupt
}

// Unwrap returns e.Err, so that errors.Is(err, ErrTorn) works.
func (e *Error) Unwrap() error { return e.Err }
