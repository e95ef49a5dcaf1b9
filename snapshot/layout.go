package snapshot

import (
	"hash/crc32"

	"github.com/desynctool/desynctool/orderlog/frame"
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

// Caps on what a file may declare, checked before anything is allocated.
const (
	maxHeader    = 16 << 20  // bytes of the header
	maxIndex     = 256 << 20 // bytes of a table's index
	maxCell      = 256 << 20 // bytes of a cell
	bigCell      = 16 << 20  // bytes from which on a cell may not expand more than maxExpansion times
	maxExpansion = 1000
	maxRows      = 1 << 48 // of a table
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
