package snapshot

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// WriteOptions configures how a .snap is written.
type WriteOptions struct {
	Plain bool // store cells uncompressed
}

// WriteFile writes w to a new .snap at path. It uses a temporary file next to it, so that path never contains an
// incomplete snapshot.
func WriteFile(path string, w *World, opts WriteOptions) error {
	return files.Replace(path, func(f *os.File) error {
		if err := Write(f, w, opts); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	})
}

// Write writes w as a .snap. The same World gives the same bytes.
func Write(ws io.WriteSeeker, w *World, opts WriteOptions) error {
	if err := w.Validate(); err != nil {
		return err
	}
	sw, err := NewWriter(ws, w.Head, w.Tables, opts)
	if err != nil {
		return err
	}
	for i := range w.Tables {
		if err := sw.appendRows(i, &w.Tables[i], true); err != nil {
			return err
		}
	}
	return sw.Close()
}

// Writer writes a .snap piece by piece, so that a World larger than memory can be saved. It keeps the rows of one block
// and the index of one table in memory.
type Writer struct {
	ws       io.WriteSeeker
	base     int64 // where the snapshot starts in ws
	offset   int64 // of the next byte, from base
	expanded int64 // uncompressed bytes of all cells
	info     Info
	places   []indexPlace
	outline

	hasher Hasher
	zstd   *zstd.Encoder
	raw    []byte
	mixed  []byte
	packed []byte
	cut    []int
	err    error
}

// outline is the Writer's data about the current table.
type outline struct {
	schemas []Table // without rows
	current int
	pending Table // rows of the block that is not yet complete
	index   Index
	cells   cellTable
	data    int64 // where the table's cells begin
}

// cellTable describes the cells of a table, block by block.
type cellTable struct {
	digests []byte // 32 bytes each
	raw     []uint32
	stored  []uint32
	codecs  []byte
	crcs    []uint32
}

type indexPlace struct {
	offset uint64
	length uint32
}

// NewWriter starts a .snap. tables contains the tables in order, with their columns. Rows in them are ignored; Keys.B
// determines whether keys have two parts.
func NewWriter(ws io.WriteSeeker, head Head, tables []Table, opts WriteOptions) (*Writer, error) {
	base, err := ws.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	w := &Writer{ws: ws, base: base, places: make([]indexPlace, len(tables))}
	w.info.Head = head
	w.info.Tables = make([]TableInfo, len(tables))
	w.schemas = make([]Table, len(tables))
	for i := range tables {
		w.schemas[i] = emptyLike(&tables[i])
		w.info.Tables[i] = TableInfo{Label: tables[i].Label, Class: tables[i].Class, Parts: tables[i].Keys.Parts()}
	}
	shape := World{Head: head, Tables: w.schemas}
	if err := shape.Validate(); err != nil {
		return nil, err
	}
	if len(head.RNG) > maxRNG || len(head.Meta) > maxMeta || len(tables) > maxTables {
		return nil, fmt.Errorf("head is too large: %d bytes of RNG state, %d properties, %d tables", len(head.RNG), len(head.Meta), len(tables))
	}
	if !opts.Plain {
		w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
		if err != nil {
			return nil, err
		}
	}
	// The header's length does not depend on its numbers and hashes. It is written last, so that an unfinished file has
	// no magic.
	header, err := encodeHeader(&w.info, w.places)
	if err != nil {
		return nil, err
	}
	if len(header) > maxHeader {
		return nil, fmt.Errorf("header has %d bytes, at most %d are allowed", len(header), maxHeader)
	}
	w.write(make([]byte, preambleSize+len(header)))
	w.begin(0)
	return w, w.err
}

// emptyLike returns t without its rows.
func emptyLike(t *Table) Table {
	e := Table{Label: t.Label, Class: t.Class, Columns: make([]Column, len(t.Columns))}
	if t.Keys.B != nil {
		e.Keys.B = []uint64{}
	}
	for i := range t.Columns {
		e.Columns[i].Schema = t.Columns[i].Schema
	}
	return e
}

// Append writes the next rows of a table. Rows must be in the order of their keys, tables in the order of the outline,
// and columns the same as in the outline. The caller may reuse rows afterwards.
func (w *Writer) Append(rows *Table) error {
	for i := w.current; i < len(w.schemas); i++ {
		if s := &w.schemas[i]; s.Class == rows.Class && s.Label == rows.Label {
			if err := w.checkRows(i, rows); err != nil {
				return err
			}
			return w.appendRows(i, rows, false)
		}
	}
	return fmt.Errorf("%s %q is not in the rest of the outline", rows.Class, rows.Label)
}

func (w *Writer) checkRows(i int, rows *Table) error {
	if err := rows.validate(); err != nil {
		return fmt.Errorf("%s %q: %w", rows.Class, rows.Label, err)
	}
	s := &w.schemas[i]
	same := slices.EqualFunc(s.Columns, rows.Columns, func(a, b Column) bool { return a.Schema == b.Schema })
	if !same || s.Keys.Parts() != rows.Keys.Parts() {
		return fmt.Errorf("%s %q: columns or keys do not match the outline", rows.Class, rows.Label)
	}
	if n := w.pending.Rows(); i == w.current && n > 0 && rows.Rows() > 0 {
		if last, next := w.pending.Keys.At(n-1), rows.Keys.At(0); last.Compare(next) >= 0 {
			return fmt.Errorf("%s %q: key %s does not follow %s", rows.Class, rows.Label, next, last)
		}
	}
	return nil
}

// appendRows appends rows to table i and finishes the tables before it. all means that these are the table's last rows.
func (w *Writer) appendRows(i int, rows *Table, all bool) error {
	for w.current < i {
		w.finish()
		w.begin(w.current + 1)
	}
	if w.pending.Rows() > 0 || !all {
		w.pending.appendRows(rows)
		rows = &w.pending
	}
	w.cut = BlockStarts(w.cut[:0], rows.Keys)
	blocks := len(w.cut)
	if !all {
		blocks = max(0, blocks-1) // the last block may still grow
	}
	for b := range blocks {
		w.block(rows, w.cut[b], blockEnd(w.cut, b, rows.Rows()))
	}
	if !all && blocks > 0 {
		rest := emptyLike(&w.pending)
		rest.appendRange(&w.pending, w.cut[blocks], w.pending.Rows())
		w.pending = rest
	}
	return w.err
}

// Close writes the indexes and the header. It does not close the file.
func (w *Writer) Close() error {
	for w.current < len(w.schemas) {
		w.finish()
		w.begin(w.current + 1)
	}
	w.write([]byte(endMarker))
	length := w.offset
	w.info.Root = merkle.Root(w.info.Leaves())
	header, err := encodeHeader(&w.info, w.places)
	if err != nil {
		return err
	}
	w.seek(0)
	w.write(withPreamble(header, length))
	w.seek(length)
	if w.zstd != nil {
		w.zstd.Close()
	}
	err = w.err
	w.err = errors.New("snapshot writer is closed")
	return err
}

// withPreamble returns a preamble and the header for a file with this length.
func withPreamble(header []byte, length int64) []byte {
	pre := make([]byte, 0, preambleSize+len(header))
	pre = append(pre, magic...)
	pre = binary.LittleEndian.AppendUint16(pre, version)
	pre = binary.LittleEndian.AppendUint16(pre, 0)
	pre = binary.LittleEndian.AppendUint32(pre, uint32(len(header)))
	pre = binary.LittleEndian.AppendUint32(pre, checksum(header))
	pre = binary.LittleEndian.AppendUint64(pre, uint64(length))
	pre = binary.LittleEndian.AppendUint32(pre, checksum(pre))
	return append(pre, header...)
}

func (w *Writer) seek(offset int64) {
	if w.err == nil {
		_, w.err = w.ws.Seek(w.base+offset, io.SeekStart)
	}
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.ws.Write(b)
		w.offset += int64(len(b))
	}
}

// begin enters table i.
func (w *Writer) begin(i int) {
	w.current = i
	w.data = w.offset
	w.index = Index{}
	w.cells = cellTable{}
	if i < len(w.schemas) {
		w.pending = emptyLike(&w.schemas[i])
		w.index.Columns = make([]ColumnInfo, len(w.pending.Columns))
		for k, c := range w.pending.Columns {
			w.index.Columns[k] = ColumnInfo{Schema: c.Schema}
		}
	}
}

// finish writes the pending rows of the current table, and its index.
func (w *Writer) finish() {
	if n := w.pending.Rows(); n > 0 {
		w.block(&w.pending, 0, n)
	}
	info := &w.info.Tables[w.current]
	keyBlocks := make([]merkle.Hash, len(w.index.Blocks))
	for b := range w.index.Blocks {
		keyBlocks[b] = w.index.Blocks[b].Keys
	}
	w.index.KeysDigest = w.hasher.keysDigest(info.Parts, keyBlocks)
	for i := range w.index.Columns {
		c := &w.index.Columns[i]
		c.Digest = w.hasher.columnDigest(&c.Schema, c.Blocks)
	}
	info.Hash = w.index.leaf(info.Label, info.Rows)
	payload, err := encodeIndex(&w.index, &w.cells, info.Parts, w.data)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	if len(payload)+4 > maxIndex {
		w.err = errors.Join(w.err, fmt.Errorf("%s %q: index has %d bytes, at most %d are allowed", info.Class, info.Label, len(payload)+4, maxIndex))
		return
	}
	w.places[w.current] = indexPlace{uint64(w.offset), uint32(len(payload) + 4)}
	w.write(binary.LittleEndian.AppendUint32(payload, checksum(payload)))
}

// block writes the cells of rows start to end.
func (w *Writer) block(t *Table, start, end int) {
	if w.err != nil {
		return
	}
	w.info.Tables[w.current].Rows += uint64(end - start)
	w.raw = appendKeysBlock(w.raw[:0], t.Keys, start, end)
	keys := w.cell()
	w.index.Blocks = append(w.index.Blocks, BlockInfo{First: t.Keys.At(start), Rows: end - start, Keys: keys})
	for i := range t.Columns {
		w.raw = appendValueBlock(w.raw[:0], &t.Columns[i], start, end)
		if len(w.raw) > maxCell {
			w.err = fmt.Errorf("%s %q: rows %s to %s of %s have %d bytes, at most %d are allowed in one block", t.Class, t.Label,
				t.Keys.At(start), t.Keys.At(end-1), t.Columns[i].Name(), len(w.raw), maxCell)
			return
		}
		w.index.Columns[i].Blocks = append(w.index.Columns[i].Blocks, w.cell())
	}
}

// mayExpand reports whether readers accept a cell with these stored and raw sizes, after the cells written so far.
func (w *Writer) mayExpand(stored, raw int) bool {
	all := w.expanded + int64(raw)
	return (raw <= bigCell || raw/maxExpansion <= stored) && (all <= freeContent || all/maxRatio <= w.offset+int64(stored))
}

// cell writes the cell whose canonical bytes are in w.raw.
func (w *Writer) cell() merkle.Hash {
	digest := merkle.Hash(sha256.Sum256(w.raw))
	stored, codec := w.raw, byte(codecPlain)
	if w.zstd != nil {
		w.mixed = append(w.mixed[:0], w.raw...)
		shuffle(w.mixed, w.raw)
		w.packed = w.zstd.EncodeAll(w.mixed, w.packed[:0])
		if len(w.packed) < len(w.raw) && w.mayExpand(len(w.packed), len(w.raw)) {
			stored, codec = w.packed, codecZstd
		}
	}
	w.expanded += int64(len(w.raw))
	w.cells.digests = append(w.cells.digests, digest[:]...)
	w.cells.raw = append(w.cells.raw, uint32(len(w.raw)))
	w.cells.stored = append(w.cells.stored, uint32(len(stored)))
	w.cells.codecs = append(w.cells.codecs, codec)
	w.cells.crcs = append(w.cells.crcs, checksum(stored))
	w.write(stored)
	return digest
}
