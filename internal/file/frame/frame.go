// Package frame reads and writes the framing of desynctool's binary files, and checks MessagePack before it is decoded.
//
// # Format
//
// A file is a preamble, any number of frames, and an end marker with nothing after it. All integers are little-endian;
// every checksum is CRC-32C (Castagnoli).
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
// A file from a crashed writer must differ from a file that was damaged later, and neither may seem complete. So
// reading ends in one of three ways:
//
//   - cleanly, with [io.EOF], after the end marker;
//   - torn, with [ErrTorn]: the file ends inside a frame or without an end marker, or contains only zero bytes, at
//     least 16, from some point inside a frame on, as after a crash of the file system;
//   - corrupt, with [ErrCorrupt]: anything else that is not as written.
//
// In all cases the frames before that place are returned first.
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

// DefaultMaxPayload is the maximum length in bytes of a payload that is read or written, unless a Format sets another
// one.
const DefaultMaxPayload = 64 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Format describes one type of file to both its reader and its writer.
type Format struct {
	Name       string // noun for error messages, such as "order log"
	Magic      string // exactly 8 bytes
	Version    uint16 // the version that is written, and the newest one that can be read; at least 1
	MaxPayload int    // in bytes; 0 means DefaultMaxPayload
}

func (f Format) maxPayload() uint64 {
	if f.MaxPayload > 0 {
		return uint64(f.MaxPayload)
	}
	return DefaultMaxPayload
}

// The errors that an [Error] or another error about a file wraps.
var (
	// ErrTorn reports that the writer never finished. The returned data is complete, but more was to follow.
	ErrTorn = errors.New("torn")
	// ErrCorrupt reports that the file was damaged or written incorrectly.
	ErrCorrupt = errors.New("corrupt")
	// ErrUnrecognized reports that the file has another type.
	ErrUnrecognized = errors.New("not recognized")
	// ErrLacking reports that a file is complete but does not contain the evidence that it should. Errors of readers of
	// engines' files wrap it.
	ErrLacking = errors.New("evidence is lacking")
	// ErrVersion reports a file with an unknown version.
	ErrVersion = errors.New("unknown version")
)

// Error reports where and why a file could not be read any further. An error of the underlying reader is not an Error.
type Error struct {
	Name   string // of the file, as given to NewReader
	Offset int64  // in bytes; if torn, the end of the last complete frame
	Lost   int64  // if torn, number of bytes after Offset
	Msg    string
	Err    error // ErrTorn, ErrCorrupt, ErrUnrecognized, ErrVersion or a *limits.Error

	// The fields below are set by readers that can continue after an error.
	Rule string // rule that the file breaks, as in docs/rules.md
	In   string // the wrong record or value, such as "merkle_nodes[3]"; empty for the whole file
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

// Fault returns the cause for an Error about a file that cannot be read any further: the *limits.Error among the
// arguments of its message, else ErrCorrupt.
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
