package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// File is a .snap that is read piece by piece. It is not safe for concurrent
// use.
type File struct {
	r      io.ReaderAt
	size   int64
	name   string
	info   Info
	places []indexPlace
	tables []*fileTable
	zstd   *zstd.Decoder
	keys   cellBuffers
	values cellBuffers
	read   int64
}

// cellBuffers is the memory that cells are read into.
type cellBuffers struct{ stored, mixed, raw []byte }

// fileTable is the index of a table as it stands in the file.
type fileTable struct {
	Index
	cells   cellTable
	offsets []int64 // of each cell
}

// headSize is how much of a file one read fetches for the header.
const headSize = 16 << 10

// Open reads the head of a .snap of size bytes: one read of at most 16 KiB,
// and a second one where the header is longer. Name is for errors, which are a
// *frame.Error where the file is at fault.
func Open(r io.ReaderAt, size int64, name string) (*File, error) {
	f := &File{r: r, size: size, name: name}
	head := make([]byte, min(size, headSize))
	if err := f.readAt(head, 0); err != nil {
		return nil, err
	}
	if !IsSnap(head) {
		msg := fmt.Sprintf("expected the magic of a snapshot, got %q", head[:min(len(head), len(magic))])
		if size == 0 {
			msg = "empty file, expected a snapshot"
		}
		return nil, &frame.Error{Name: name, Msg: msg, Err: frame.ErrUnrecognized}
	}
	if len(head) < preambleSize {
		return nil, f.torn(fmt.Sprintf("file of %d bytes ends inside the preamble of %d", size, preambleSize))
	}
	if sum := binary.LittleEndian.Uint32(head[28:]); sum != checksum(head[:28]) {
		return nil, corrupt(name, 0, "checksum of the preamble does not fit")
	}
	if v := binary.LittleEndian.Uint16(head[8:]); v != version {
		return nil, &frame.Error{Name: name, Offset: 8, Msg: fmt.Sprintf("snapshot of version %d, expected %d", v, version), Err: frame.ErrVersion}
	}
	if flags := binary.LittleEndian.Uint16(head[10:]); flags != 0 {
		return nil, corrupt(name, 10, fmt.Sprintf("flags are %#x, expected 0", flags))
	}
	if length := binary.LittleEndian.Uint64(head[20:]); length != uint64(size) {
		if length > uint64(size) {
			return nil, f.torn(fmt.Sprintf("file ends at %d of %d bytes", size, length))
		}
		return nil, corrupt(name, int64(length), fmt.Sprintf("%d bytes behind the end", uint64(size)-length))
	}
	length := int64(binary.LittleEndian.Uint32(head[12:]))
	if length > maxHeader || preambleSize+length+int64(len(endMarker)) > size {
		return nil, corrupt(name, 12, fmt.Sprintf("header of %d bytes in a file of %d", length, size))
	}
	header := head[preambleSize:]
	if int64(len(header)) < length {
		header = make([]byte, length)
		if err := f.readAt(header, preambleSize); err != nil {
			return nil, err
		}
	}
	header = header[:length]
	if checksum(header) != binary.LittleEndian.Uint32(head[16:]) {
		return nil, corrupt(name, preambleSize, "checksum of the header does not fit")
	}
	if err := f.decodeHeader(header); err != nil {
		return nil, corrupt(name, preambleSize, "header: "+err.Error())
	}
	f.tables = make([]*fileTable, len(f.info.Tables))
	return f, nil
}

// OpenFile opens the .snap at path. Closing the File closes the file.
func OpenFile(path string) (*File, error) {
	osFile, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	stat, err := osFile.Stat()
	if err != nil {
		osFile.Close()
		return nil, err
	}
	f, err := Open(osFile, stat.Size(), path)
	if err != nil {
		osFile.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) torn(msg string) error {
	return &frame.Error{Name: f.name, Offset: f.size, Msg: msg, Err: frame.ErrTorn}
}

// readAt fills b from offset.
func (f *File) readAt(b []byte, offset int64) error {
	n, err := f.r.ReadAt(b, offset)
	f.read += int64(n)
	if n == len(b) {
		return nil
	}
	if err == io.EOF {
		return &frame.Error{Name: f.name, Offset: offset + int64(n), Msg: "file became shorter while it was read", Err: frame.ErrTorn}
	}
	return err
}

// Info implements State.
func (f *File) Info() *Info { return &f.info }

// BytesRead returns how many bytes have been read from the file so far.
func (f *File) BytesRead() int64 { return f.read }

// Close closes the underlying reader if it can be closed.
func (f *File) Close() error {
	if f.zstd != nil {
		f.zstd.Close()
		f.zstd = nil
	}
	if c, ok := f.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// cursor decodes a scanned MessagePack value, keeping the first error.
type cursor struct {
	*msgpack.Decoder
	err error
}

// newCursor checks that b is one value and returns a cursor on it.
func newCursor(b []byte) (*cursor, error) {
	if err := frame.ScanMsgpack(b, frame.Limits{}); err != nil {
		return nil, err
	}
	return &cursor{Decoder: msgpack.NewDecoder(bytes.NewReader(b))}, nil
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// array enters an array, which must have n elements.
func (c *cursor) array(what string, n int) {
	if got := c.length(what); c.err == nil && got != n {
		c.fail("%s has %d elements, expected %d", what, got, n)
	}
}

// length enters an array and returns its length.
func (c *cursor) length(what string) int {
	if c.err != nil {
		return 0
	}
	n, err := c.DecodeArrayLen()
	if err != nil {
		c.fail("%s: %v", what, err)
	} else if n < 0 {
		c.fail("%s is nil", what)
	}
	return max(n, 0)
}

// unsigned reads an integer from 0 to limit.
func (c *cursor) unsigned(what string, limit uint64) uint64 {
	if c.err != nil {
		return 0
	}
	v, err := c.DecodeInterface()
	if err != nil {
		c.fail("%s: %v", what, err)
		return 0
	}
	number := reflect.ValueOf(v)
	switch {
	case number.CanUint() && number.Uint() <= limit:
		return number.Uint()
	case number.CanInt() && number.Int() >= 0 && uint64(number.Int()) <= limit:
		return uint64(number.Int())
	}
	c.fail("%s is %v, expected an integer from 0 to %d", what, v, limit)
	return 0
}

func (c *cursor) text(what string) string {
	if c.err != nil {
		return ""
	}
	s, err := c.DecodeString()
	if err == nil {
		err = checkText(s)
	}
	if err != nil {
		c.fail("%s: %v", what, err)
	}
	return s
}

func (c *cursor) bytes(what string, limit int) []byte {
	if c.err != nil {
		return nil
	}
	b, err := c.DecodeBytes()
	if err != nil {
		c.fail("%s: %v", what, err)
	} else if len(b) > limit {
		c.fail("%s has %d bytes, at most %d are allowed", what, len(b), limit)
	}
	return b
}

func (c *cursor) hash(what string) (h merkle.Hash) {
	if b := c.bytes(what, len(h)); c.err == nil && len(b) != len(h) {
		c.fail("%s has %d bytes, expected %d", what, len(b), len(h))
	} else {
		copy(h[:], b)
	}
	return h
}

const maxU64, maxU32 = 1<<64 - 1, 1<<32 - 1

func (f *File) decodeHeader(b []byte) error {
	c, err := newCursor(b)
	if err != nil {
		return err
	}
	info := &f.info
	c.array("header", headerFields)
	info.Seed = c.unsigned("seed", maxU64)
	info.Point.Tick = c.unsigned("tick", maxU64)
	info.Point.Phase = c.text("phase")
	info.Point.Native = c.text("native name")
	if err := info.Point.check(); err != nil {
		c.fail("%w", err)
	}
	info.Peer = c.text("peer")
	info.Epoch = uint32(c.unsigned("epoch", maxU32))
	info.RNG = c.bytes("RNG state", maxRNG)
	if h := c.bytes("history hash", merkle.HashSize); c.err == nil && h != nil {
		if len(h) != merkle.HashSize {
			c.fail("history hash has %d bytes, expected %d", len(h), merkle.HashSize)
		} else {
			copy(info.History[:], h)
		}
	}
	info.Root = c.hash("root")
	c.meta(info)
	n := c.length("tables")
	if n > maxTables {
		c.fail("%d tables, at most %d are allowed", n, maxTables)
	}
	for i := 0; i < n && c.err == nil; i++ {
		var t TableInfo
		var place indexPlace
		c.array("table", tableFields)
		t.Class = Class(c.unsigned("class", uint64(len(classNames)-1)))
		t.Label = c.text("label")
		t.Rows = c.unsigned("row count", 1<<48)
		t.Parts = int(c.unsigned("key parts", 2))
		t.Hash = c.hash("leaf hash")
		place.offset = c.unsigned("index offset", uint64(f.size))
		place.length = uint32(c.unsigned("index length", maxIndex))
		if c.err == nil {
			c.err = f.checkTable(&t, place)
		}
		info.Tables = append(info.Tables, t)
		f.places = append(f.places, place)
	}
	if c.err != nil {
		return c.err
	}
	if root := merkle.Root(info.Leaves()); root != info.Root {
		return fmt.Errorf("root %s does not follow from the leaves, which give %s", info.Root, root)
	}
	return nil
}

func (c *cursor) meta(info *Info) {
	if c.err != nil {
		return
	}
	n, err := c.DecodeMapLen()
	switch {
	case err != nil:
		c.fail("properties: %v", err)
		return
	case n > maxMeta:
		c.fail("%d properties, at most %d are allowed", n, maxMeta)
		return
	case n > 0:
		info.Meta = make(map[string]string, n)
	}
	last := ""
	for i := 0; i < n && c.err == nil; i++ {
		k := c.text("property name")
		v, err := c.DecodeString()
		if err != nil {
			c.fail("property %q: %v", k, err)
		}
		if i > 0 && k <= last {
			c.fail("property %q does not follow %q", k, last)
		}
		info.Meta[k] = v
		last = k
	}
}

// checkTable checks t, the next table of the header, and where its index is.
func (f *File) checkTable(t *TableInfo, place indexPlace) error {
	if err := checkName(t.Label); err != nil {
		return fmt.Errorf("label: %w", err)
	}
	if t.Parts == 0 {
		return fmt.Errorf("%s %q: keys of 0 parts", t.Class, t.Label)
	}
	if n := len(f.info.Tables); n > 0 {
		prev := &f.info.Tables[n-1]
		if prev.Class > t.Class || prev.Class == t.Class && prev.Label >= t.Label {
			return fmt.Errorf("%s %q does not follow %s %q", t.Class, t.Label, prev.Class, prev.Label)
		}
	}
	if end := place.offset + uint64(place.length) + uint64(len(endMarker)); place.length < 4 || end > uint64(f.size) {
		return fmt.Errorf("%s %q: index of %d bytes at %d in a file of %d", t.Class, t.Label, place.length, place.offset, f.size)
	}
	return nil
}

// Index implements State. It reads the index of table i once and checks it
// against the header: the leaf hash must follow from the digests, the row
// count from the blocks, and the cells must lie without gaps between the table
// before and the index.
func (f *File) Index(i int) (*Index, error) {
	t, err := f.table(i)
	if err != nil {
		return nil, err
	}
	return &t.Index, nil
}

func (f *File) table(i int) (*fileTable, error) {
	if f.tables[i] != nil {
		return f.tables[i], nil
	}
	info, place := &f.info.Tables[i], f.places[i]
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
		return nil, corrupt(f.name, int64(place.offset), where+err.Error())
	}
	f.tables[i] = t
	return t, nil
}

// dataStart returns where the cells of table i begin: behind the index of the
// table before, or behind the header.
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
	if columns > maxColumns {
		c.fail("%d columns, at most %d are allowed", columns, maxColumns)
	}
	for k := 0; k < columns && c.err == nil; k++ {
		c.array("column", columnFields)
		ci := ColumnInfo{Component: c.text("component"), Field: c.text("field")}
		ci.Type = Type(c.unsigned("type", uint64(len(typeInfo)-1)))
		ci.Scale = uint32(c.unsigned("scale", maxU32))
		ci.Digest = c.hash("column digest")
		if c.err == nil {
			column := NewColumn(ci.Component, ci.Field, ci.Type, ci.Scale)
			if err := column.validateSchema(); err != nil {
				c.fail("column %s: %w", column.Name(), err)
			}
			if k > 0 {
				prev := NewColumn(t.Columns[k-1].Component, t.Columns[k-1].Field, 0, 0)
				if prev.compareName(&column) >= 0 {
					c.fail("column %s does not follow %s", column.Name(), prev.Name())
				}
			}
		}
		t.Columns = append(t.Columns, ci)
	}
	var arrays [blockFields][]byte
	c.array("blocks", blockFields)
	for k := range arrays {
		arrays[k] = c.bytes("array of blocks", maxIndex)
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
	return t, t.place(data, int64(f.places[i].offset))
}

// setBlocks fills in blocks and cells and checks digests against them.
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
		if err := t.checkCells(info, b); err != nil {
			return err
		}
	}
	if total != info.Rows {
		return fmt.Errorf("blocks have %d rows, the header says %d", total, info.Rows)
	}
	return t.checkDigests(info)
}

// cell returns the number of the cell of a block and column, -1 for the keys.
func (t *fileTable) cell(block, column int) int { return block*(1+len(t.Columns)) + 1 + column }

func (t *fileTable) digest(block, column int) merkle.Hash {
	at := merkle.HashSize * t.cell(block, column)
	return merkle.Hash(t.cells.digests[at : at+merkle.HashSize])
}

// checkCells checks what can be known of a block's sizes before reading it.
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
			ok = raw >= uint32(blockHeader+4*rows) && raw <= maxCell
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

// checkDigests checks that the block digests lead to the column digests and
// these to the leaf hash in the header.
func (t *fileTable) checkDigests(info *TableInfo) error {
	var h Hasher
	keys := make([]merkle.Hash, len(t.Blocks))
	for b := range t.Blocks {
		keys[b] = t.Blocks[b].Keys
	}
	if h.keysDigest(info.Parts, keys) != t.KeysDigest {
		return errors.New("digest of the keys does not follow from those of the blocks")
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if h.columnDigest(c.Component, c.Field, c.Type, c.Scale, c.Blocks) != c.Digest {
			return fmt.Errorf("digest of column %s.%s does not follow from those of the blocks", c.Component, c.Field)
		}
	}
	if t.leaf(info.Label, info.Rows) != info.Hash {
		return errors.New("leaf hash in the header does not follow from the digests")
	}
	return nil
}

// place computes the offsets of the cells, which must end where the index begins.
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

// loadCell returns the canonical bytes of a cell, valid until buf is used again.
func (f *File) loadCell(t *fileTable, buf *cellBuffers, what func() string, block, column int) ([]byte, error) {
	cell := t.cell(block, column)
	rawLen, storedLen := int(t.cells.raw[cell]), int(t.cells.stored[cell])
	offset := t.offsets[cell]
	buf.stored = resize(buf.stored, storedLen)
	if err := f.readAt(buf.stored, offset); err != nil {
		return nil, err
	}
	if checksum(buf.stored) != t.cells.crcs[cell] {
		return nil, corrupt(f.name, offset, what()+": checksum does not fit")
	}
	if t.cells.codecs[cell] == codecPlain {
		return buf.stored, nil
	}
	if f.zstd == nil {
		var err error
		f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
	}
	buf.mixed = resize(buf.mixed, rawLen)
	out, err := f.zstd.DecodeAll(buf.stored, buf.mixed[:0:rawLen])
	if err != nil {
		return nil, corrupt(f.name, offset, what()+": "+err.Error())
	}
	if len(out) != rawLen {
		return nil, corrupt(f.name, offset, fmt.Sprintf("%s: decompresses to %d bytes, expected %d", what(), len(out), rawLen))
	}
	buf.raw = resize(buf.raw, rawLen)
	unshuffle(buf.raw, buf.mixed)
	return buf.raw, nil
}

// resize returns a slice of n bytes, b's memory if that is enough.
func resize(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// LoadKeys implements State.
func (f *File) LoadKeys(i, block int) (Keys, error) {
	t, err := f.table(i)
	if err != nil {
		return Keys{}, err
	}
	info := &f.info.Tables[i]
	what := func() string { return fmt.Sprintf("keys of %s %q, block %d", info.Class, info.Label, block) }
	raw, err := f.loadCell(t, &f.keys, what, block, -1)
	if err != nil {
		return Keys{}, err
	}
	keys, err := decodeKeysBlock(raw, t.Blocks[block].Rows, info.Parts)
	if err == nil {
		err = t.checkKeys(keys, block)
	}
	if err != nil {
		return Keys{}, corrupt(f.name, t.offsets[t.cell(block, -1)], what()+": "+err.Error())
	}
	return keys, nil
}

// checkKeys checks that the keys of a block ascend, begin where the index says
// and end before the next block.
func (t *fileTable) checkKeys(keys Keys, block int) error {
	n := len(keys.A)
	if keys.At(0) != t.Blocks[block].First {
		return fmt.Errorf("first key is %s, the index says %s", keys.At(0), t.Blocks[block].First)
	}
	if i := keys.unordered(); i > 0 {
		return fmt.Errorf("key %s of row %d does not follow %s", keys.At(i), i, keys.At(i-1))
	}
	if block+1 < len(t.Blocks) && keys.At(n-1).Compare(t.Blocks[block+1].First) >= 0 {
		return fmt.Errorf("last key %s is not below %s, the first of the next block", keys.At(n-1), t.Blocks[block+1].First)
	}
	return nil
}

// LoadBlock implements State.
func (f *File) LoadBlock(i, block, column int) (Column, error) {
	t, err := f.table(i)
	if err != nil {
		return Column{}, err
	}
	info, ci := &f.info.Tables[i], &t.Columns[column]
	what := func() string {
		return fmt.Sprintf("%s.%s of %s %q, block %d", ci.Component, ci.Field, info.Class, info.Label, block)
	}
	raw, err := f.loadCell(t, &f.values, what, block, column)
	if err != nil {
		return Column{}, err
	}
	c := NewColumn(ci.Component, ci.Field, ci.Type, ci.Scale)
	if err := decodeValueBlock(&c, raw, t.Blocks[block].Rows); err != nil {
		return Column{}, corrupt(f.name, t.offsets[t.cell(block, column)], what()+": "+err.Error())
	}
	return c, nil
}

func checkBlockHead(raw []byte, domain byte, rows int) error {
	if len(raw) < blockHeader {
		return fmt.Errorf("%d bytes, too few for a block", len(raw))
	}
	if raw[0] != domain || raw[2] != 0 || raw[3] != 0 {
		return fmt.Errorf("block begins with % x", raw[:4])
	}
	if n := binary.LittleEndian.Uint32(raw[4:]); n != uint32(rows) {
		return fmt.Errorf("block has %d rows, the index says %d", n, rows)
	}
	return nil
}

func decodeKeysBlock(raw []byte, rows, parts int) (Keys, error) {
	if err := checkBlockHead(raw, domainKeysBlock, rows); err != nil {
		return Keys{}, err
	}
	if int(raw[1]) != parts || len(raw) != blockHeader+8*parts*rows {
		return Keys{}, fmt.Errorf("%d rows of keys of %d parts in %d bytes", rows, raw[1], len(raw))
	}
	body := raw[blockHeader:]
	keys := Keys{A: FromLittleEndian[uint64](body[:8*rows])}
	if parts == 2 {
		keys.B = FromLittleEndian[uint64](body[8*rows:])
	}
	return keys, nil
}

// decodeValueBlock fills c, which has its schema, from a value block. The
// column aliases raw.
func decodeValueBlock(c *Column, raw []byte, rows int) error {
	if err := checkBlockHead(raw, domainValueBlock, rows); err != nil {
		return err
	}
	body := raw[blockHeader:]
	switch raw[1] {
	case 0:
	case 1:
		n := (rows + 7) / 8
		if len(body) < n {
			return fmt.Errorf("%d bytes, too few for the bitmap of %d rows", len(body), rows)
		}
		c.Present = body[:n:n]
		body = body[n:]
	default:
		return fmt.Errorf("bitmap flag is %d", raw[1])
	}
	if w := c.Type.Width(); w > 0 {
		c.Data = body
	} else {
		if len(body) < 4*rows {
			return fmt.Errorf("%d bytes, too few for the lengths of %d values", len(body), rows)
		}
		c.Ends = FromLittleEndian[uint32](body[:4*rows])
		end := uint64(0)
		for i, n := range c.Ends {
			if end += uint64(n); end > maxCell {
				return fmt.Errorf("value of row %d ends at %d", i, end)
			}
			c.Ends[i] = uint32(end)
		}
		c.Data = body[4*rows:]
	}
	if err := c.validate(rows); err != nil {
		return err
	}
	if c.Present != nil && !c.absentIn(0, rows) {
		return errors.New("bitmap in a block without absent values")
	}
	return nil
}
