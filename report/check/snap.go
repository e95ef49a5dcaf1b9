package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

const (
	snapMagic    = "\x89SNAP\r\n\x1a"
	snapEnd      = "SNAP.END"
	snapPreamble = 32

	maxName       = 1024
	maxSnapHeader = 16 << 20
	maxIndex      = 256 << 20
	maxCell       = 256 << 20
	bigCell       = 16 << 20
	maxExpansion  = 1000
	maxWindow     = 8 << 20
	maxRows       = 1 << 48
	maxProperties = 4096
	maxRNG        = 65536
	maxBlockRows  = 65536

	archetypeClass, cacheClass, noiseClass = 0, 1, 2
)

// columnType is a type of columns.
type columnType struct {
	name  string
	width int // bytes of a value; 0 if they vary
}

// columnTypes are the types by their numbers.
var columnTypes = map[uint64]columnType{
	1: {"bool", 1},
	2: {"i8", 1}, 3: {"i16", 2}, 4: {"i32", 4}, 5: {"i64", 8},
	6: {"u8", 1}, 7: {"u16", 2}, 8: {"u32", 4}, 9: {"u64", 8},
	10: {"f32", 4}, 11: {"f64", 8},
	12: {"fixed", 8}, 13: {"string", 0}, 14: {"bytes", 0}, 15: {"ref", 8}, 16: {"scalar", 0},
}

const (
	typeBool, typeFixed, typeString = 1, 12, 13
)

// snapTable is a table as the header has it.
type snapTable struct {
	class, rows, parts  uint64
	label               string
	leaf                []byte
	indexAt, indexBytes uint64
	name                string // for people
}

// snapColumn is a column of an index.
type snapColumn struct {
	component, field string
	typ              uint64
	scale            uint32
	digest           []byte
}

type snapChecker struct {
	c    *checker
	in   io.ReaderAt
	size int64
	base int64 // where the snapshot begins in the file; it is within a report otherwise
	what string

	known  facts
	whole  bool // the header could be read to its end
	tables []snapTable
	raw    uint64 // bytes of all cells when they are not compressed
	zstd   *zstd.Decoder
}

func checkSnap(c *checker, in *input) (facts, error) {
	at, size := in.at, in.size
	if at == nil {
		b, err := io.ReadAll(io.LimitReader(in.content, maxSnapInMemory+1))
		if err != nil {
			return facts{}, err
		}
		if len(b) > maxSnapInMemory {
			return facts{}, fmt.Errorf("a compressed snapshot of more than %d MiB; unpack it first", maxSnapInMemory>>20)
		}
		at, size = bytes.NewReader(b), int64(len(b))
	}
	s := &snapChecker{c: c, in: at, size: size}
	err := s.check()
	s.close()
	if err != nil {
		return facts{}, err
	}
	snapName(c, in.name, s.known)
	return s.known, nil
}

func (s *snapChecker) close() {
	if s.zstd != nil {
		s.zstd.Close()
	}
}

func (s *snapChecker) place(at int64, in string) place {
	if s.what != "" && in != "" {
		in = s.what + ", " + in
	} else {
		in = s.what + in
	}
	if s.base < 0 {
		return place{in: in}
	}
	return offsetAt(s.base+at, in)
}

// read returns n bytes at an offset, which are there.
func (s *snapChecker) read(at, n int64) ([]byte, error) {
	b := make([]byte, n)
	if k, err := s.in.ReadAt(b, at); int64(k) < n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return b, nil
}

// check checks the whole file. The error is one of reading.
func (s *snapChecker) check() error {
	le := binary.LittleEndian
	s.known.snap = &snapFacts{}
	if s.size < snapPreamble {
		s.c.add("snap-length", s.place(s.size, ""), "the file ends inside the preamble of %d bytes", snapPreamble)
		return nil
	}
	pre, err := s.read(0, snapPreamble)
	if err != nil {
		return err
	}
	if sum := le.Uint32(pre[28:]); sum != crc(pre[:28]) {
		s.c.add("snap-preamble-sum", s.place(28, ""), "the checksum of the preamble is 0x%08x, its 28 bytes give 0x%08x", sum, crc(pre[:28]))
	}
	if v := le.Uint16(pre[8:]); v != 1 {
		s.c.add("snap-version", s.place(8, ""), "the version is %d, expected 1", v)
		return nil
	}
	if flags := le.Uint16(pre[10:]); flags != 0 {
		s.c.add("snap-flags", s.place(10, ""), "the flags are 0x%04x, expected 0", flags)
	}
	if length := le.Uint64(pre[20:]); length != uint64(s.size) {
		s.c.add("snap-length", s.place(20, ""), "the length of the file is given as %d, it has %d bytes", length, s.size)
	}
	if s.size >= int64(len(snapEnd)) {
		end, err := s.read(s.size-int64(len(snapEnd)), int64(len(snapEnd)))
		if err != nil {
			return err
		}
		if string(end) != snapEnd {
			s.c.add("snap-end", s.place(s.size-int64(len(snapEnd)), ""), "the file ends with %q, expected %q", end, snapEnd)
		}
	}
	length := int64(le.Uint32(pre[12:]))
	switch {
	case length > maxSnapHeader:
		s.c.add("snap-limit", s.place(12, ""), "the header has %d bytes, at most %d are allowed", length, maxSnapHeader)
		return nil
	case snapPreamble+length+int64(len(snapEnd)) > s.size:
		s.c.add("snap-length", s.place(12, ""), "a header of %d bytes in a file of %d", length, s.size)
		return nil
	}
	header, err := s.read(snapPreamble, length)
	if err != nil {
		return err
	}
	if sum := le.Uint32(pre[16:]); sum != crc(header) {
		s.c.add("snap-header-sum", s.place(16, ""), "the checksum of the header is 0x%08x, its %d bytes give 0x%08x", sum, length, crc(header))
	}
	if !s.header(header) {
		return nil
	}
	at := snapPreamble + length // where the cells of the next table begin
	for i := range s.tables {
		t := &s.tables[i]
		next, err := s.table(t, at)
		if err != nil {
			return err
		}
		if at = next; at < 0 {
			return nil
		}
	}
	if want := s.size - int64(len(snapEnd)); at != want {
		s.c.add("snap-gaps", s.place(at, ""), "the tables end at %d, the end begins at %d", at, want)
	}
	return nil
}

func (s *snapChecker) walker(b []byte, base int64, in string) *walker {
	p := s.place(base, in)
	return &walker{
		c: s.c, b: b, base: p.offset, unplaced: !p.at, in: p.in, most: maxName, wide: true,
		value: "snap-value", shape: "snap-type", text: "snap-limit", utf8: "snap-text",
	}
}

// header reads the header, and reports whether the tables can be read.
func (s *snapChecker) header(b []byte) bool {
	w := s.walker(b, snapPreamble, "header")
	f := s.known.snap
	w.tuple(11, "the header")
	s.known.seed, s.known.seeded = w.uint(math.MaxUint64, "the seed"), true
	f.tick = w.uint(math.MaxUint64, "the tick")
	at := w.at
	f.phase = w.str("the phase")
	if !w.bad && f.phase != "" && f.phase != "after-orders" {
		w.note("snap-phase", at, "the phase is %s", quoted(f.phase))
	}
	f.native = w.str("the native name")
	f.peer = w.str("the peer")
	if !w.bad && f.peer == "" {
		w.note("record-snap-peer", at, "no peer")
	}
	f.epoch = uint32(w.uint(math.MaxUint32, "the epoch"))
	at = w.at
	rng, hasRNG := w.nilOrBin("the RNG state")
	if len(rng) > maxRNG {
		w.note("snap-limit", at, "the RNG state has %d bytes, at most %d are allowed", len(rng), maxRNG)
	}
	f.rng, f.hasRNG = slices.Clone(rng), hasRNG
	at = w.at
	if history, ok := w.nilOrBin("the history hash"); ok {
		if len(history) != hashSize {
			w.fail("snap-type", at, "the history hash has %d bytes, expected %d", len(history), hashSize)
		}
		f.history = slices.Clone(history)
	}
	rootAt := w.at
	f.root = slices.Clone(w.fixed(hashSize, "the root"))
	s.properties(w)
	at = w.at
	n := w.array("the tables")
	if n > maxList {
		w.note("snap-limit", at, "%d tables, at most %d are allowed", n, maxList)
	}
	for i := range n {
		at := w.at
		t := s.tableEntry(w, i)
		if w.bad {
			return false
		}
		if i > 0 {
			if p := &s.tables[i-1]; p.class > t.class || p.class == t.class && p.label >= t.label {
				w.note("snap-tables-order", at, "%s follows %s", t.name, p.name)
			}
		}
		s.tables = append(s.tables, t)
		f.tables = append(f.tables, fmt.Sprintf("%d/%s", t.class, t.label))
	}
	w.finish()
	if w.bad {
		return false
	}
	s.whole = true
	var leaves [][]byte
	if hasRNG {
		leaves = append(leaves, rngLeaf(rng))
	}
	for i := range s.tables {
		if t := &s.tables[i]; t.class == archetypeClass {
			leaves = append(leaves, t.leaf)
			f.leaves = append(f.leaves, snapLeaf{t.label, t.leaf})
		}
	}
	if got := rootOf(leaves); !bytes.Equal(got, f.root) {
		w.note("snap-root", rootAt, "the root is %x, the leaves give %x", f.root, got)
	}
	return true
}

func (s *snapChecker) properties(w *walker) {
	at := w.at
	n := w.mapping("the properties")
	if n > maxProperties {
		w.note("snap-limit", at, "%d properties, at most %d are allowed", n, maxProperties)
	}
	last, known := "", map[string]bool{}
	for i := range n {
		at := w.at
		key := w.str(fmt.Sprintf("the name of property %d", i))
		valid := w.utf8
		w.utf8, w.most = "", math.MaxInt // values are any bytes
		w.str(fmt.Sprintf("the value of property %d", i))
		w.utf8, w.most = valid, maxName
		if w.bad {
			return
		}
		if i > 0 && key <= last {
			w.note("snap-properties", at, "%s follows %s", quoted(key), quoted(last))
		}
		last = key
		known[key] = true
		factName(s.c, w.place(at), key)
	}
	if !w.bad && s.base >= 0 && s.what == "" && !known["build"] && !known["version"] && !known["engine_version"] {
		w.note("record-build", at, "no build among the properties")
	}
}

func (s *snapChecker) tableEntry(w *walker, i int) snapTable {
	var t snapTable
	what := fmt.Sprintf("table %d", i)
	w.tuple(7, what)
	at := w.at
	t.class = w.uint(math.MaxUint64, "the class of "+what)
	if !w.bad && t.class > noiseClass {
		w.note("snap-class", at, "the class of %s is %d", what, t.class)
	}
	at = w.at
	t.label = w.str("the label of " + what)
	if !w.bad && t.label == "" {
		w.note("snap-name", at, "the label of %s is empty", what)
	}
	classes := []string{"archetype", "cache", "noise"}
	t.name = fmt.Sprintf("%s %s", classes[min(t.class, noiseClass)], quoted(t.label))
	at = w.at
	if t.rows = w.uint(math.MaxUint64, "the rows of "+what); t.rows > maxRows {
		w.note("snap-limit", at, "%s has %d rows, at most 2^48 are allowed", t.name, t.rows)
	}
	at = w.at
	if t.parts = w.uint(math.MaxUint64, "the parts of "+what); !w.bad && t.parts != 1 && t.parts != 2 {
		w.fail("snap-type", at, "keys of %s have %d parts, expected 1 or 2", t.name, t.parts)
	}
	t.leaf = slices.Clone(w.fixed(hashSize, "the leaf hash of "+what))
	t.indexAt = w.uint(math.MaxUint64, "the offset of the index of "+what)
	at = w.at
	t.indexBytes = w.uint(math.MaxUint32, "the length of the index of "+what)
	if !w.bad && t.indexBytes > maxIndex {
		w.fail("snap-limit", at, "the index of %s has %d bytes, at most %d are allowed", t.name, t.indexBytes, maxIndex)
	}
	if end := uint64(s.size) - uint64(len(snapEnd)); !w.bad && (t.indexBytes < 4 || t.indexAt > end || t.indexBytes > end-t.indexAt) {
		w.fail("snap-gaps", at, "the index of %s is %d bytes at %d, in a file of %d", t.name, t.indexBytes, t.indexAt, s.size)
	}
	return t
}

// table checks one table. Its cells should begin at start. It returns where the next table's cells should begin, or a
// negative number if that cannot be known.
func (s *snapChecker) table(t *snapTable, start int64) (int64, error) {
	indexAt := int64(t.indexAt)
	next := indexAt + int64(t.indexBytes)
	b, err := s.read(indexAt, int64(t.indexBytes))
	if err != nil {
		return -1, err
	}
	in := "index of " + t.name
	payload := b[:len(b)-4]
	if sum := binary.LittleEndian.Uint32(b[len(payload):]); sum != crc(payload) {
		s.c.add("snap-index-sum", s.place(next-4, in), "the checksum is 0x%08x, its %d bytes give 0x%08x", sum, len(payload), crc(payload))
	}
	x, ok := s.index(t, payload, indexAt, start)
	if !ok {
		return next, nil
	}
	return next, s.cells(t, x)
}

// snapIndex is the index of a table.
type snapIndex struct {
	at      int64 // of the first cell
	columns []snapColumn
	blocks  int
	arrays  [8][]byte
}

func (x *snapIndex) u64(array, i int) uint64 {
	return binary.LittleEndian.Uint64(x.arrays[array][8*i:])
}
func (x *snapIndex) u32(array, i int) uint32 {
	return binary.LittleEndian.Uint32(x.arrays[array][4*i:])
}

func (x *snapIndex) digest(cell int) []byte { return x.arrays[3][hashSize*cell : hashSize*(cell+1)] }

func (s *snapChecker) index(t *snapTable, payload []byte, indexAt, start int64) (*snapIndex, bool) {
	w := s.walker(payload, indexAt, "index of "+t.name)
	x := &snapIndex{}
	w.tuple(4, "the index")
	at := w.at
	first := w.uint(math.MaxUint64, "the offset of the first cell")
	if !w.bad && first != uint64(start) {
		w.fail("snap-gaps", at, "the cells begin at %d, expected %d", first, start)
	}
	x.at = start
	keysAt := w.at
	keysDigest := w.fixed(hashSize, "the digest of the keys")
	at = w.at
	n := w.array("the columns")
	if n > maxList {
		w.fail("snap-limit", at, "%d columns, at most %d are allowed", n, maxList)
	}
	var columnsAt []int
	for i := range n {
		at := w.at
		what := fmt.Sprintf("column %d", i)
		w.tuple(5, what)
		c := snapColumn{component: w.str("the component of " + what), field: w.str("the field of " + what)}
		typeAt := w.at
		c.typ = w.uint(math.MaxUint64, "the type of "+what)
		scaleAt := w.at
		c.scale = uint32(w.uint(math.MaxUint32, "the scale of "+what))
		c.digest = w.fixed(hashSize, "the digest of "+what)
		if w.bad {
			return nil, false
		}
		name := c.component + "." + c.field
		if c.component == "" || c.field == "" {
			w.note("snap-name", at, "%s is named %s, expected a component and a field", what, quoted(name))
		}
		if columnTypes[c.typ].name == "" {
			w.fail("snap-column-type", typeAt, "%s has type %d, expected 1 to 15", quoted(name), c.typ)
			return nil, false
		}
		if (c.typ == typeFixed) != (c.scale != 0) {
			w.note("snap-scale", scaleAt, "%s of type %s has scale %d", quoted(name), columnTypes[c.typ].name, c.scale)
		}
		if i > 0 {
			p := &x.columns[i-1]
			if o := strings.Compare(p.component, c.component); o > 0 || o == 0 && p.field >= c.field {
				w.note("snap-columns-order", at, "%s follows %s", quoted(name), quoted(p.component+"."+p.field))
			}
		}
		x.columns = append(x.columns, c)
		columnsAt = append(columnsAt, at)
	}
	blocksAt := w.at
	w.tuple(8, "the blocks")
	for k := range x.arrays {
		x.arrays[k] = w.bin(fmt.Sprintf("bin %d of the blocks", k))
	}
	w.finish()
	if w.bad {
		return nil, false
	}
	x.blocks = len(x.arrays[0]) / 8
	cells := x.blocks * (1 + len(x.columns))
	second := 0
	if t.parts == 2 {
		second = 8 * x.blocks
	}
	for k, want := range [8]int{8 * x.blocks, second, 4 * x.blocks, hashSize * cells, 4 * cells, 4 * cells, cells, 4 * cells} {
		if len(x.arrays[k]) != want {
			w.fail("snap-bins", blocksAt, "bin %d has %d bytes, expected %d for %d blocks of %d columns", k, len(x.arrays[k]), want, x.blocks, len(x.columns))
			return nil, false
		}
	}
	total := uint64(0)
	for b := range x.blocks {
		total += uint64(x.u32(2, b))
	}
	if total != t.rows {
		w.note("snap-rows", blocksAt, "the blocks have %d rows, the header has %d", total, t.rows)
	}
	// Digests of blocks up to the leaf.
	var list []byte
	for b := range x.blocks {
		list = append(list, x.digest(b*(1+len(x.columns)))...)
	}
	head := append(binary.LittleEndian.AppendUint32([]byte{0x05, byte(t.parts), 0, 0}, uint32(x.blocks)), list...)
	if got := sha256.Sum256(head); !bytes.Equal(got[:], keysDigest) {
		w.note("snap-keys-digest", keysAt, "the digest of the keys is %x, the blocks give %x", keysDigest, got)
	}
	digests := slices.Clone(keysDigest)
	for k := range x.columns {
		c := &x.columns[k]
		le := binary.LittleEndian
		head := le.AppendUint32([]byte{0x06, byte(c.typ), 0, 0}, c.scale)
		head = le.AppendUint32(head, uint32(len(c.component)))
		head = le.AppendUint32(head, uint32(len(c.field)))
		head = le.AppendUint32(head, uint32(x.blocks))
		head = append(append(head, c.component...), c.field...)
		for b := range x.blocks {
			head = append(head, x.digest(b*(1+len(x.columns))+1+k)...)
		}
		if got := sha256.Sum256(head); !bytes.Equal(got[:], c.digest) {
			w.note("snap-column-digest", columnsAt[k], "the digest of %s is %x, the blocks give %x", quoted(c.component+"."+c.field), c.digest, got)
		}
		digests = append(digests, c.digest...)
	}
	if got := archetypeLeaf(t.label, t.rows, digests); !bytes.Equal(got, t.leaf) {
		s.c.add("snap-leaf", s.place(indexAt, "index of "+t.name), "the leaf hash in the header is %x, the digests give %x", t.leaf, got)
	}
	return x, true
}

// cells checks the cells of a table.
func (s *snapChecker) cells(t *snapTable, x *snapIndex) error {
	at := x.at
	var before []byte // the last key of the block before
	for b := range x.blocks {
		rows := x.u32(2, b)
		in := fmt.Sprintf("%s, block %d", t.name, b)
		if rows == 0 || rows > maxBlockRows {
			s.c.add("snap-block-rows", s.place(at, in), "the block has %d rows, expected 1 to %d", rows, maxBlockRows)
			return nil
		}
		for k := -1; k < len(x.columns); k++ {
			cell := b*(1+len(x.columns)) + 1 + k
			where := in + ", keys"
			if k >= 0 {
				where = fmt.Sprintf("%s, column %s", in, quoted(x.columns[k].component+"."+x.columns[k].field))
			}
			stored := int64(x.u32(5, cell))
			if at+stored > int64(t.indexAt) {
				s.c.add("snap-gaps", s.place(at, where), "the cell has %d bytes, the index begins at %d", stored, t.indexAt)
				return nil
			}
			raw, err := s.cell(x, cell, at, where)
			if err != nil {
				return err
			}
			if raw != nil {
				if got := sha256.Sum256(raw); !bytes.Equal(got[:], x.digest(cell)) {
					s.c.add("snap-block-digest", s.place(at, where), "the digest is %x, the content gives %x", x.digest(cell), got)
				}
				if k < 0 {
					before = s.keys(t, x, b, raw, before, at, where)
				} else {
					s.values(&x.columns[k], raw, int(rows), at, where)
				}
			} else if k < 0 {
				before = nil
			}
			at += stored
		}
	}
	if at != int64(t.indexAt) {
		s.c.add("snap-gaps", s.place(at, t.name), "the cells end at %d, the index begins at %d", at, t.indexAt)
	}
	return nil
}

// cell returns the canonical bytes of a cell, nil if they cannot be had.
func (s *snapChecker) cell(x *snapIndex, cell int, at int64, where string) ([]byte, error) {
	raw, storedLen, codec := x.u32(4, cell), x.u32(5, cell), x.arrays[6][cell]
	s.raw += uint64(raw)
	if raw > maxCell || storedLen > maxCell {
		s.c.add("snap-limit", s.place(at, where), "the cell has %d bytes, at most %d are allowed", max(raw, storedLen), maxCell)
		return nil, nil
	}
	stored, err := s.read(at, int64(storedLen))
	if err != nil {
		return nil, err
	}
	if sum := x.u32(7, cell); sum != crc(stored) {
		s.c.add("snap-cell-sum", s.place(at, where), "the checksum is 0x%08x, the %d bytes give 0x%08x", sum, storedLen, crc(stored))
	}
	switch codec {
	case 0:
		if storedLen != raw {
			s.c.add("snap-cell-size", s.place(at, where), "the cell is stored plain in %d bytes, its canonical form is said to have %d", storedLen, raw)
			return nil, nil
		}
		return stored, nil
	case 1:
	default:
		s.c.add("snap-codec", s.place(at, where), "the codec is %d, expected 0 or 1", codec)
		return nil, nil
	}
	if storedLen >= raw {
		s.c.add("snap-shorter", s.place(at, where), "the cell has %d bytes compressed and %d plain", storedLen, raw)
	}
	if raw > bigCell && raw/maxExpansion > storedLen {
		s.c.add("snap-limit", s.place(at, where), "%d bytes expand to %d, at most %d times as many are allowed", storedLen, raw, maxExpansion)
		return nil, nil
	}
	mixed, err := s.unpack(stored, int(raw))
	if err != nil {
		s.c.add("snap-zstd", s.place(at, where), "%v", err)
		return nil, nil
	}
	out := make([]byte, raw)
	n := len(mixed) / 8
	for i := range n {
		for p := range 8 {
			out[8*i+p] = mixed[p*n+i]
		}
	}
	copy(out[8*n:], mixed[8*n:])
	return out, nil
}

// unpack unpacks exactly one zstd frame (RFC 8878, 3.1.1).
func (s *snapChecker) unpack(b []byte, size int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return nil, err
	}
	if h.Skippable {
		return nil, errors.New("a skippable frame")
	}
	if h.DictionaryID != 0 {
		return nil, errors.New("a frame with a dictionary")
	}
	if window := h.WindowSize; window > max(maxWindow, uint64(size)) {
		return nil, fmt.Errorf("a window of %d bytes, at most %d are allowed", window, max(maxWindow, size))
	}
	at, last := h.HeaderSize, false
	for !last {
		if len(b)-at < 3 {
			return nil, io.ErrUnexpectedEOF
		}
		block := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
		last = block&1 != 0
		n := int(block >> 3)
		if block>>1&3 == 1 { // one byte, repeated
			n = 1
		}
		at += 3 + n
	}
	if h.HasCheckSum {
		at += 4
	}
	if at != len(b) {
		return nil, fmt.Errorf("the zstd frame has %d bytes, the cell %d", at, len(b))
	}
	if s.zstd == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
		s.zstd = d
	}
	out, err := s.zstd.DecodeAll(b, make([]byte, 0, size))
	if err != nil {
		return nil, err
	}
	if len(out) != size {
		return nil, fmt.Errorf("it unpacks to %d bytes, its canonical form is said to have %d", len(out), size)
	}
	return out, nil
}

// blockHead checks the first 8 bytes of a block.
func (s *snapChecker) blockHead(raw []byte, domain byte, rows int, at int64, where string) bool {
	switch {
	case len(raw) < 8:
		s.c.add("snap-block-size", s.place(at, where), "the block has %d bytes", len(raw))
		return false
	case raw[0] != domain || raw[2] != 0 || raw[3] != 0:
		s.c.add("snap-block-head", s.place(at, where), "the block begins with % x, expected %02x .. 00 00", raw[:4], domain)
		return false
	}
	if n := binary.LittleEndian.Uint32(raw[4:]); n != uint32(rows) {
		s.c.add("snap-block-head", s.place(at, where), "the block has %d rows, the index has %d", n, rows)
		return false
	}
	return true
}

func cut(a, b uint64) uint64 {
	h := a*0x9e3779b97f4a7c15 + b*0xc2b2ae3d27d4eb4f
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// keys checks the keys of a block. It returns the last one, as the 16 bytes that keys are
// compared by.
func (s *snapChecker) keys(t *snapTable, x *snapIndex, block int, raw, before []byte, at int64, where string) []byte {
	rows := int(x.u32(2, block))
	if !s.blockHead(raw, 0x03, rows, at, where) {
		return nil
	}
	if uint64(raw[1]) != t.parts {
		s.c.add("snap-block-head", s.place(at, where), "the keys have %d parts, the header has %d", raw[1], t.parts)
		return nil
	}
	if want := 8 + 8*int(t.parts)*rows; len(raw) != want {
		s.c.add("snap-block-size", s.place(at, where), "%d rows of keys of %d parts in %d bytes, expected %d", rows, t.parts, len(raw), want)
		return nil
	}
	part := func(i, p int) uint64 {
		if p >= int(t.parts) {
			return 0
		}
		return binary.LittleEndian.Uint64(raw[8+8*(p*rows+i):])
	}
	name := func(a, b uint64) string {
		if t.parts == 2 {
			return fmt.Sprintf("%d:%d", a, b)
		}
		return fmt.Sprint(a)
	}
	first := [2]uint64{x.u64(0, block), 0}
	if t.parts == 2 {
		first[1] = x.u64(1, block)
	}
	if a, b := part(0, 0), part(0, 1); a != first[0] || b != first[1] {
		s.c.add("snap-first-key", s.place(at, where), "the first key is %s, the index has %s", name(a, b), name(first[0], first[1]))
	}
	disorder, cuts := false, false
	var last []byte
	for i := range rows {
		a, b := part(i, 0), part(i, 1)
		key := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, a), b)
		if i == 0 {
			last = before
		}
		if last != nil && bytes.Compare(last, key) >= 0 && !disorder {
			disorder = true
			s.c.add("snap-keys", s.place(at, where), "key %s of row %d follows %s", name(a, b), i, name(binary.BigEndian.Uint64(last), binary.BigEndian.Uint64(last[8:])))
		}
		begins := cut(a, b)%4096 == 0
		switch {
		case i == 0 && block > 0 && !begins && x.u32(2, block-1) < maxBlockRows:
			s.c.add("snap-cuts", s.place(at, where), "no block begins at key %s", name(a, b))
		case i > 0 && begins && !cuts:
			cuts = true
			s.c.add("snap-cuts", s.place(at, where), "a block begins at key %s, row %d", name(a, b), i)
		}
		last = key
	}
	return last
}

// values checks the values of a block.
func (s *snapChecker) values(c *snapColumn, raw []byte, rows int, at int64, where string) {
	if !s.blockHead(raw, 0x04, rows, at, where) {
		return
	}
	where0 := s.place(at, where)
	body := raw[8:]
	has := func(int) bool { return true }
	switch raw[1] {
	case 0:
	case 1:
		n := (rows + 7) / 8
		if len(body) < n {
			s.c.add("snap-block-size", where0, "%d bytes are too few for the bitmap of %d rows", len(body), rows)
			return
		}
		bitmap := body[:n]
		body = body[n:]
		has = func(i int) bool { return bitmap[i/8]>>(i%8)&1 != 0 }
		absent := false
		for i := range rows {
			absent = absent || !has(i)
		}
		if !absent {
			s.c.add("snap-bitmap", where0, "a bitmap, and no value is absent")
		}
		if spare := rows % 8; spare != 0 && bitmap[n-1]>>spare != 0 {
			s.c.add("snap-spare-bits", where0, "the last byte of the bitmap is 0x%02x, of %d rows in it", bitmap[n-1], spare)
		}
	default:
		s.c.add("snap-bitmap", where0, "the bitmap is %d, expected 0 or 1", raw[1])
		return
	}
	width := columnTypes[c.typ].width
	if width > 0 {
		if len(body) != width*rows {
			s.c.add("snap-block-size", where0, "%d rows of type %s in %d bytes, expected %d", rows, columnTypes[c.typ].name, len(body), width*rows)
			return
		}
		absent, wrong := false, false
		for i := range rows {
			v := body[width*i : width*(i+1)]
			if !has(i) && !allZero(v) && !absent {
				absent = true
				s.c.add("snap-absent", where0, "row %d is absent and has the bytes % x", i, v)
			}
			if c.typ == typeBool && v[0] > 1 && !wrong {
				wrong = true
				s.c.add("snap-bool", where0, "row %d has the value %d", i, v[0])
			}
		}
		return
	}
	if len(body) < 4*rows {
		s.c.add("snap-block-size", where0, "%d bytes are too few for the lengths of %d values", len(body), rows)
		return
	}
	content := body[4*rows:]
	end, absent, text := uint64(0), false, false
	for i := range rows {
		n := binary.LittleEndian.Uint32(body[4*i:])
		if !has(i) && n != 0 && !absent {
			absent = true
			s.c.add("snap-absent", where0, "row %d is absent and has %d bytes", i, n)
		}
		if end+uint64(n) > uint64(len(content)) {
			s.c.add("snap-block-size", where0, "the value of row %d ends after the block", i)
			return
		}
		if v := content[end : end+uint64(n)]; c.typ == typeString && !text && !utf8.Valid(v) {
			text = true
			s.c.add("snap-utf8", where0, "row %d is %s", i, quoted(string(v)))
		}
		end += uint64(n)
	}
	if end != uint64(len(content)) {
		s.c.add("snap-block-size", where0, "%d bytes follow the last value", uint64(len(content))-end)
	}
}

func padded(b []byte) []byte { return append(b, make([]byte, (8-len(b)%8)%8)...) }

func rngLeaf(state []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0x01}, uint32(len(state)))
	b = append(b, 0, 0, 0, 0)
	sum := sha256.Sum256(append(b, padded(slices.Clone(state))...))
	return sum[:]
}

// archetypeLeaf returns the leaf hash of a table with these digests, back to back.
func archetypeLeaf(label string, rows uint64, digests []byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32([]byte{0x02}, uint32(len(label)))
	b = le.AppendUint32(b, uint32(len(digests)/hashSize))
	b = le.AppendUint64(b, rows)
	sum := sha256.Sum256(append(append(b, padded([]byte(label))...), digests...))
	return sum[:]
}

func rootOf(level [][]byte) []byte {
	if len(level) == 0 {
		sum := sha256.Sum256(nil)
		return sum[:]
	}
	for len(level) > 1 {
		var above [][]byte
		for i := 0; i < len(level); i += 2 {
			if i+1 == len(level) {
				above = append(above, level[i])
				continue
			}
			sum := sha256.Sum256(append(slices.Clone(level[i]), level[i+1]...))
			above = append(above, sum[:])
		}
		level = above
	}
	return level[0]
}
