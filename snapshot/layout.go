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
// without gaps. Integers are little-endian and every CRC is CRC-32C. A cell is one block of one column (or of the
// keys). It contains the canonical bytes of the block, plain or shuffled and compressed. Cells are ordered block by
// block: the keys first, then the columns in order. docs/snapshot.md has the details.
const (
	magic        = "\x89SNAP\r\n\x1a"
	endMarker    = "SNAP.END"
	version      = 1
	preambleSize = 32

	codecPlain = 0 // the canonical bytes
	codecZstd  = 1 // shuffled, then one zstd frame
)

// Limits of the format, for writers. Readers use package limits, with the same values or lower ones, unless a user
// changes them.
const (
	maxHeader    = 16 << 20  // bytes of the header
	maxIndex     = 256 << 20 // bytes of a table's index
	maxCell      = 256 << 20 // bytes of a cell
	bigCell      = 16 << 20  // bytes; larger cells may not expand more than maxExpansion times
	maxExpansion = 1000
	freeContent  = 64 << 20 // bytes; beyond this, all cells together may not exceed maxRatio times the file size
	maxRatio     = 200
	maxTables    = 1 << 16
	maxColumns   = 1 << 16
	maxMeta      = 1 << 12
	maxRNG       = 1 << 16 // bytes of RNG state
)

// headerFields and the other constants are the lengths of the header's arrays.
const (
	headerFields = 11
	tableFields  = 7
	indexFields  = 4
	columnFields = 5
	blockFields  = 8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// IsSnap reports whether head, the first bytes of a file, begins a .snap.
func IsSnap(head []byte) bool { return len(head) >= len(magic) && string(head[:len(magic)]) == magic }

func corrupt(name string, offset int64, msg string) error {
	return &frame.Error{Name: name, Offset: offset, Msg: msg, Err: frame.ErrCorrupt}
}

// refused returns the error for a part of a file; where names the part. The error reports corruption, or a limit that
// was reached, which is not the file's fault.
func refused(name string, offset int64, where string, err error) error {
	if over := (*limits.Error)(nil); errors.As(err, &over) {
		return &limits.Error{Limit: over.Limit, Path: name, Got: over.Got}
	}
	return corrupt(name, offset, where+err.Error())
}
