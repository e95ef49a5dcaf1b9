package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"unsafe"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// The canonical bytes of a table are split into blocks of rows. A .snap stores the same bytes that a block digest
// covers, so a reader of the format can check a digest by hashing the bytes it read. docs/snapshot.md repeats these
// layouts, byte by byte. Any change here requires a new version of the format.
//
//	keys block    u8 0x03 ‖ u8 parts ‖ u16 0 ‖ u32 rows ‖ u64 A × rows [‖ u64 B × rows]
//	value block   u8 0x04 ‖ u8 bitmap? ‖ u16 0 ‖ u32 rows [‖ ⌈rows/8⌉ bytes of bitmap] ‖ values
//	  values      rows × width bytes, or u32 length × rows ‖ the contents back to back
//	keys digest   SHA-256(u8 0x05 ‖ u8 parts ‖ u16 0 ‖ u32 blocks ‖ block digests)
//	column digest SHA-256(u8 0x06 ‖ u8 type ‖ u16 0 ‖ u32 scale ‖ u32 len component
//	              ‖ u32 len field ‖ u32 blocks ‖ component ‖ field ‖ block digests)
//
// A block has a bitmap only if a value in it is absent.
const (
	domainKeysBlock  = 0x03
	domainValueBlock = 0x04
	domainKeys       = 0x05
	domainColumn     = 0x06

	blockHeader = 8 // bytes before a block's bitmap, keys or values
)

// meanBlockRows and maxBlockRows determine where a table is cut into blocks: before each row with a key whose cutHash
// is a multiple of meanBlockRows, and after maxBlockRows rows. The cut depends only on keys, so inserting or removing a
// row moves no other row to another block. Runs of more than maxBlockRows rows are the exception; there is one in e¹⁶.
const (
	meanBlockRows = 4096
	maxBlockRows  = 65536
)

// cutHash mixes the bits of a key. B is 0 for keys of one part.
func cutHash(a, b uint64) uint64 {
	h := a*0x9E3779B97F4A7C15 + b*0xC2B2AE3D27D4EB4F
	h ^= h >> 32
	h *= 0xD6E8FEB86659FD93
	return h ^ h>>32
}

// cutBefore reports whether a block begins at row i, whatever the length of the block before it.
func (k Keys) cutBefore(i int) bool {
	b := uint64(0)
	if k.B != nil {
		b = k.B[i]
	}
	return cutHash(k.A[i], b)%meanBlockRows == 0
}

// BlockStarts appends to dst the index of the first row of each block. A table without rows has no blocks.
func BlockStarts(dst []int, keys Keys) []int {
	start := 0
	for i := range keys.A {
		if i == 0 || keys.cutBefore(i) || i-start == maxBlockRows {
			start = i
			dst = append(dst, i)
		}
	}
	return dst
}

// Hasher computes block and column digests. It reuses its buffers; the zero
// Hasher is ready for use.
type Hasher struct {
	sha hash.Hash
	buf []byte
	sum []merkle.Hash
}

func (h *Hasher) reset() {
	if h.sha == nil {
		h.sha = sha256.New()
	}
	h.sha.Reset()
}

func (h *Hasher) digest() (d merkle.Hash) {
	h.sha.Sum(d[:0])
	return d
}

// oneShot is a length in bytes. Input up to this length is assembled first, because that is faster than hashing it
// piece by piece.
const oneShot = 4096

// sumWith returns the digest of h.buf followed by the pieces.
func (h *Hasher) sumWith(pieces ...[]byte) merkle.Hash {
	n := len(h.buf)
	for _, p := range pieces {
		n += len(p)
	}
	if n <= oneShot {
		for _, p := range pieces {
			h.buf = append(h.buf, p...)
		}
		return sha256.Sum256(h.buf)
	}
	h.reset()
	h.sha.Write(h.buf)
	for _, p := range pieces {
		h.sha.Write(p)
	}
	return h.digest()
}

// hashBytes returns the concatenated bytes of hashes.
func hashBytes(hashes []merkle.Hash) []byte {
	if len(hashes) == 0 {
		return nil
	}
	return unsafe.Slice(&hashes[0][0], merkle.HashSize*len(hashes))
}

// Keys returns the digest of keys that are cut at starts, and the digests of the blocks. The latter are valid until the
// next call.
func (h *Hasher) Keys(keys Keys, starts []int) (digest merkle.Hash, blocks []merkle.Hash) {
	h.sum = h.sum[:0]
	for i, start := range starts {
		end := blockEnd(starts, i, len(keys.A))
		h.buf = append(h.buf[:0], domainKeysBlock, byte(keys.Parts()), 0, 0)
		h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(end-start))
		var second []byte
		if keys.B != nil {
			second = LittleEndianBytes(keys.B[start:end])
		}
		h.sum = append(h.sum, h.sumWith(LittleEndianBytes(keys.A[start:end]), second))
	}
	return h.keysDigest(keys.Parts(), h.sum), h.sum
}

func (h *Hasher) keysDigest(parts int, blocks []merkle.Hash) merkle.Hash {
	h.buf = append(h.buf[:0], domainKeys, byte(parts), 0, 0)
	h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(len(blocks)))
	return h.sumWith(hashBytes(blocks))
}

// Column returns the digest of a column that is cut at starts, and the digests of the blocks. The latter are valid
// until the next call.
func (h *Hasher) Column(c *Column, starts []int) (digest merkle.Hash, blocks []merkle.Hash) {
	rows := c.Rows()
	h.sum = h.sum[:0]
	for i, start := range starts {
		h.sum = append(h.sum, h.block(c, start, blockEnd(starts, i, rows)))
	}
	return h.columnDigest(&c.Schema, h.sum), h.sum
}

// block hashes rows start to end of a column without assembling them.
func (h *Hasher) block(c *Column, start, end int) merkle.Hash {
	h.buf = appendBlockHead(h.buf[:0], c, start, end)
	return h.sumWith(c.values(start, end))
}

func (h *Hasher) columnDigest(s *Schema, blocks []merkle.Hash) merkle.Hash {
	b := append(h.buf[:0], domainColumn, byte(s.Type), 0, 0)
	b = binary.LittleEndian.AppendUint32(b, s.Scale)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Component)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Field)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(blocks)))
	b = append(b, s.Component...)
	b = append(b, s.Field...)
	h.buf = b
	return h.sumWith(hashBytes(blocks))
}

// appendBlockHead appends everything in a value block before the values: header, bitmap, lengths.
func appendBlockHead(dst []byte, c *Column, start, end int) []byte {
	rows := end - start
	bitmap := byte(0)
	if c.absentIn(start, end) {
		bitmap = 1
	}
	dst = append(dst, domainValueBlock, bitmap, 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(rows))
	if bitmap == 1 {
		base := len(dst)
		dst = append(dst, make([]byte, (rows+7)/8)...)
		for i := range rows {
			if c.Has(start + i) {
				dst[base+i/8] |= 1 << (i % 8)
			}
		}
	}
	if c.Type.Width() == 0 {
		for i := start; i < end; i++ {
			dst = binary.LittleEndian.AppendUint32(dst, c.Ends[i]-c.valueStart(i))
		}
	}
	return dst
}

func (c *Column) absentIn(start, end int) bool {
	if c.Present == nil {
		return false
	}
	for i := start; i < end; i++ {
		if !c.Has(i) {
			return true
		}
	}
	return false
}

// valueStart returns the offset in Data of row i's value in a String or Bytes column. For i == Rows() it returns the
// end of Data.
func (c *Column) valueStart(i int) uint32 {
	if i == 0 {
		return 0
	}
	return c.Ends[i-1]
}

// values returns the part of Data with rows start to end.
func (c *Column) values(start, end int) []byte {
	if w := c.Type.Width(); w > 0 {
		return c.Data[start*w : end*w : end*w]
	}
	first, last := c.valueStart(start), c.valueStart(end)
	return c.Data[first:last:last]
}

func blockEnd(starts []int, i, rows int) int {
	if i+1 < len(starts) {
		return starts[i+1]
	}
	return rows
}

// appendKeysBlock appends the bytes of a keys block.
func appendKeysBlock(dst []byte, keys Keys, start, end int) []byte {
	dst = append(dst, domainKeysBlock, byte(keys.Parts()), 0, 0)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(end-start))
	dst = append(dst, LittleEndianBytes(keys.A[start:end])...)
	if keys.B != nil {
		dst = append(dst, LittleEndianBytes(keys.B[start:end])...)
	}
	return dst
}

// appendValueBlock appends the bytes of a value block.
func appendValueBlock(dst []byte, c *Column, start, end int) []byte {
	return append(appendBlockHead(dst, c, start, end), c.values(start, end)...)
}
