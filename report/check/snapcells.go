package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

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
	if width := columnTypes[c.typ].width; width > 0 {
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
