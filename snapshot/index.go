package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// fileTable is the index of a table in the file.
type fileTable struct {
	Index
	cells   cellTable
	offsets []int64 // of each cell
}

// Index implements State. It reads the index of table i once and checks it against the header. The digests must give
// the leaf hash, and the blocks must give the row count and begin where the rule cuts. The cells must fill the space
// between the table before and the index, without gaps.
func (f *File) Index(i int) (*Index, error) {
	t, err := f.table(i)
	if err != nil {
		return nil, err
	}
	return &t.Index, nil
}

// indexMemory is how many bytes of memory an index takes for each of its bytes in the file.
const indexMemory = 4

func (f *File) table(i int) (*fileTable, error) {
	if f.tables[i] != nil {
		return f.tables[i], nil
	}
	info, place := &f.info.Tables[i], f.places[i]
	if err := f.held.Take(f.name, indexMemory*int64(place.length)); err != nil {
		return nil, err
	}
	b := make([]byte, place.length)
	if err := f.readAt(b, int64(place.offset)); err != nil {
		return nil, err
	}
	payload := b[:len(b)-4]
	where := fmt.Sprintf("index of %s %q: ", info.Class, info.Label)
	if checksum(payload) != binary.LittleEndian.Uint32(b[len(payload):]) {
		return nil, corrupt(f.name, int64(place.offset), where+"checksum does not fit")
	}
	t, err := f.decodeIndex(i, payload)
	if err != nil {
		return nil, refused(f.name, int64(place.offset), where, err)
	}
	f.tables[i] = t
	return t, nil
}

// dataStart returns the offset of table i's cells. They follow the index of the table before, or the header.
func (f *File) dataStart(i int) (int64, error) {
	if i > 0 {
		return int64(f.places[i-1].offset) + int64(f.places[i-1].length), nil
	}
	var pre [preambleSize]byte
	if err := f.readAt(pre[:], 0); err != nil {
		return 0, err
	}
	return preambleSize + int64(binary.LittleEndian.Uint32(pre[12:])), nil
}

func (f *File) decodeIndex(i int, payload []byte) (*fileTable, error) {
	info := &f.info.Tables[i]
	c, err := newCursor(payload)
	if err != nil {
		return nil, err
	}
	t := &fileTable{}
	c.array("index", indexFields)
	data := int64(c.unsigned("data offset", uint64(f.size)))
	t.KeysDigest = c.hash("digest of the keys")
	columns := c.length("columns")
	if limits.Columns.Over(int64(columns)) {
		c.fail("%w", limits.Columns.Reached(f.name, int64(columns)))
	}
	for k := 0; k < columns && c.err == nil; k++ {
		c.array("column", columnFields)
		var ci ColumnInfo
		ci.Component, ci.Field = c.text("component"), c.text("field")
		ci.Type = Type(c.unsigned("type", uint64(len(typeInfo)-1)))
		ci.Scale = uint32(c.unsigned("scale", maxU32))
		ci.Digest = c.hash("column digest")
		if c.err == nil {
			if err := ci.validate(); err != nil {
				c.fail("column %s: %w", ci.Name(), err)
			}
			if k > 0 && t.Columns[k-1].compareName(&ci.Schema) >= 0 {
				c.fail("column %s does not follow %s", ci.Name(), t.Columns[k-1].Name())
			}
		}
		t.Columns = append(t.Columns, ci)
	}
	var arrays [blockFields][]byte
	c.array("blocks", blockFields)
	for k := range arrays {
		arrays[k] = c.bytes("array of blocks", len(payload))
	}
	if c.err != nil {
		return nil, c.err
	}
	if err := t.setBlocks(info, arrays); err != nil {
		return nil, err
	}
	start, err := f.dataStart(i)
	if err != nil {
		return nil, err
	}
	if data != start {
		return nil, fmt.Errorf("cells at %d, expected at %d", data, start)
	}
	if err := t.place(data, int64(f.places[i].offset)); err != nil {
		return nil, err
	}
	return t, f.expand(t)
}

// smallContent is how many bytes of cells a small file may always have, whatever their stored size.
const smallContent = 1 << 20

// expand adds the cells of a table to the total. The total must be in proportion to the file size.
func (f *File) expand(t *fileTable) error {
	allowed := max(f.expanded, smallContent, limits.Ratio.Max()*f.size)
	for _, n := range t.cells.raw {
		f.expanded += int64(n)
	}
	if f.expanded <= allowed {
		return nil
	}
	if f.expanded > limits.Free.Max() && f.expanded/limits.Ratio.Max() > f.size {
		return limits.Ratio.Reached(f.name, (f.expanded+f.size-1)/f.size)
	}
	return limits.Exceed(f.name, f.expanded-allowed)
}

// setBlocks sets blocks and cells and checks the digests.
func (t *fileTable) setBlocks(info *TableInfo, arrays [blockFields][]byte) error {
	n := len(arrays[0]) / 8
	cells := n * (1 + len(t.Columns))
	wantB := 0
	if info.Parts == 2 {
		wantB = 8 * n
	}
	for k, want := range [blockFields]int{8 * n, wantB, 4 * n, merkle.HashSize * cells, 4 * cells, 4 * cells, cells, 4 * cells} {
		if len(arrays[k]) != want {
			return fmt.Errorf("array %d of blocks has %d bytes, expected %d for %d blocks of %d columns", k, len(arrays[k]), want, n, len(t.Columns))
		}
	}
	firstA, firstB := FromLittleEndian[uint64](arrays[0]), FromLittleEndian[uint64](arrays[1])
	rows := FromLittleEndian[uint32](arrays[2])
	t.cells = cellTable{
		digests: arrays[3], raw: FromLittleEndian[uint32](arrays[4]), stored: FromLittleEndian[uint32](arrays[5]),
		codecs: arrays[6], crcs: FromLittleEndian[uint32](arrays[7]),
	}
	t.Blocks = make([]BlockInfo, n)
	for k := range t.Columns {
		t.Columns[k].Blocks = make([]merkle.Hash, n)
	}
	total := uint64(0)
	for b := range t.Blocks {
		first := Key{A: firstA[b], Two: info.Parts == 2}
		if first.Two {
			first.B = firstB[b]
		}
		if rows[b] == 0 || rows[b] > maxBlockRows {
			return fmt.Errorf("block %d has %d rows, expected 1 to %d", b, rows[b], maxBlockRows)
		}
		if b > 0 && t.Blocks[b-1].First.Compare(first) >= 0 {
			return fmt.Errorf("key %s of block %d does not follow %s", first, b, t.Blocks[b-1].First)
		}
		total += uint64(rows[b])
		t.Blocks[b] = BlockInfo{First: first, Rows: int(rows[b]), Keys: t.digest(b, -1)}
		for k := range t.Columns {
			t.Columns[k].Blocks[b] = t.digest(b, k)
		}
		if err := t.checkCut(b); err != nil {
			return err
		}
		if err := t.checkCells(info, b); err != nil {
			return err
		}
	}
	if total != info.Rows {
		return fmt.Errorf("blocks have %d rows, the header has %d", total, info.Rows)
	}
	return t.checkDigests(info)
}

// cell returns the index of the cell for a block and column. Column -1 means the keys.
func (t *fileTable) cell(block, column int) int { return block*(1+len(t.Columns)) + 1 + column }

func (t *fileTable) digest(block, column int) merkle.Hash {
	at := merkle.HashSize * t.cell(block, column)
	return merkle.Hash(t.cells.digests[at : at+merkle.HashSize])
}

// checkCells checks a block's sizes as far as possible before reading it.
func (t *fileTable) checkCells(info *TableInfo, block int) error {
	rows := t.Blocks[block].Rows
	for column := -1; column < len(t.Columns); column++ {
		cell := t.cell(block, column)
		raw, stored := t.cells.raw[cell], t.cells.stored[cell]
		width := 8 * info.Parts
		if column >= 0 {
			width = t.Columns[column].Type.Width()
		}
		fixed := uint32(blockHeader + rows*width)
		bitmap := uint32((rows + 7) / 8)
		ok := raw == fixed || column >= 0 && raw == fixed+bitmap
		if width == 0 {
			ok = raw >= uint32(blockHeader+4*rows)
		}
		if limits.Cell.Over(int64(raw)) {
			return limits.Cell.Reached("", int64(raw))
		}
		if !ok {
			return fmt.Errorf("cell %d of block %d has %d bytes, which %d rows cannot have", column+1, block, raw, rows)
		}
		switch t.cells.codecs[cell] {
		case codecPlain:
			if stored != raw {
				return fmt.Errorf("cell %d of block %d is stored in %d bytes, expected %d", column+1, block, stored, raw)
			}
		case codecZstd:
			if stored >= raw {
				return fmt.Errorf("cell %d of block %d has %d bytes compressed and %d plain", column+1, block, stored, raw)
			}
			if raw > bigCell && raw/maxExpansion > stored {
				return fmt.Errorf("cell %d of block %d: %d bytes expand to %d", column+1, block, stored, raw)
			}
		default:
			return fmt.Errorf("cell %d of block %d has unknown codec %d", column+1, block, t.cells.codecs[cell])
		}
	}
	return nil
}

// checkDigests checks that the block digests give the column digests, and that these give the leaf hash in the header.
func (t *fileTable) checkDigests(info *TableInfo) error {
	var h Hasher
	keys := make([]merkle.Hash, len(t.Blocks))
	for b := range t.Blocks {
		keys[b] = t.Blocks[b].Keys
	}
	if h.keysDigest(info.Parts, keys) != t.KeysDigest {
		return errors.New("digest of the keys does not follow from the digests of the blocks")
	}
	for i := range t.Columns {
		if c := &t.Columns[i]; h.columnDigest(&c.Schema, c.Blocks) != c.Digest {
			return fmt.Errorf("digest of column %s does not follow from the digests of the blocks", c.Name())
		}
	}
	if t.leaf(info.Label, info.Rows) != info.Hash {
		return errors.New("leaf hash in the header does not follow from the digests")
	}
	return nil
}

// place computes the offsets of the cells. The last cell must end where the index begins.
func (t *fileTable) place(start, index int64) error {
	t.offsets = make([]int64, len(t.cells.stored))
	at := start
	for i, n := range t.cells.stored {
		t.offsets[i] = at
		at += int64(n)
	}
	if at != index {
		return fmt.Errorf("cells end at %d, the index begins at %d", at, index)
	}
	return nil
}
