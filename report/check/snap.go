package check

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

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
