package snapshot

import (
	"errors"
	"hash/crc32"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// A .snap file is
//
//	preamble   32 bytes: magic[8] ‖ u16 version ‖ u16 flags, 0 ‖ u32 header length
//	           ‖ u32 CRC of the header ‖ u64 file length ‖ u32 CRC of these 28 bytes
//	header     one MessagePack array
//	tables     of each table its cells, then its index: one MessagePack value
//	           and the u32 CRC of it
//	end        8 bytes, endMarker
//
// without gaps. Integers are little-endian and every CRC is CRC-32C. A cell is
// one block of one column (or of the keys), in the canonical bytes of a block,
// stored as they are or shuffled and compressed. Cells stand block by block,
// the keys first, then the columns in order. docs/snapshot.md has the rest.
const (
	magic        = "\x89SNAP\r\n\x1a"
	endMarker    = "SNAP.END"
	version      = 1
	preambleSize = 32

	codecPlain = 0 // a cell as it is
	codecZstd  = 1 // shuffled, then one zstd frame
)

// Bounds of the format, which a writer keeps. A reader has package limits instead, whose values
// are these, or lower ones, unless a user changes them.
const (
	maxHeader    = 16 << 20  // bytes of the header
	maxIndex     = 256 << 20 // bytes of a table's index
	maxCell      = 256 << 20 // bytes of a cell
	bigCell      = 16 << 20  // bytes from which on a cell may not expand more than maxExpansion times
	maxExpansion = 1000
	freeContent  = 64 << 20 // bytes from which on all cells may not have more than maxRatio times those of the file
	maxRatio     = 200
	maxTables    = 1 << 16
	maxColumns   = 1 << 16
	maxMeta      = 1 << 12
	maxRNG       = 1 << 16 // bytes of RNG state
)

// headerFields and so on are the lengths of the header's arrays.
const (
	headerFields = 11
	tableFields  = 7
	indexFields  = 4
	columnFields = 5
	blockFields  = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// IsSnap reports whether head, the leading bytes of a file, are a .snap's.
func IsSnap(head []byte) bool { return len(head) >= len(magic) && string(head[:len(magic)]) == magic }

func corrupt(name string, offset int64, msg string) error {
	return &frame.Error{Name: name, Offset: offset, Msg: msg, Err: frame.ErrCorrupt}
}

// refused returns the error of a part of a file, which where names: that it is corrupt, or that a
// limit is reached, which is no fault of the file.
func refused(name string, offset int64, where string, err error) error {
	if over := (*limits.Error)(nil); errors.As(err, &over) {
		return &limits.Error{Limit: over.Limit, Path: name, Got: over.Got}
	}
	return corrupt(name, offset, where+err.Error())
}
