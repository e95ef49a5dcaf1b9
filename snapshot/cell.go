package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// cellBuffers are the buffers that cells are read into.
type cellBuffers struct{ stored, mixed, raw []byte }

// loadCell returns the canonical bytes of a cell. They are valid until buf is used again.
func (f *File) loadCell(t *fileTable, buf *cellBuffers, what func() string, block, column int) ([]byte, error) {
	cell := t.cell(block, column)
	rawLen, storedLen := int(t.cells.raw[cell]), int(t.cells.stored[cell])
	offset := t.offsets[cell]
	if err := f.hold(buf, storedLen, rawLen, t.cells.codecs[cell]); err != nil {
		return nil, err
	}
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
	if err := checkFrame(buf.stored); err != nil {
		return nil, corrupt(f.name, offset, what()+": "+err.Error())
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

// hold reserves the memory that a cell needs in addition to buf.
func (f *File) hold(buf *cellBuffers, stored, raw int, codec byte) error {
	need := max(0, stored-cap(buf.stored))
	if codec != codecPlain {
		need += max(0, raw-cap(buf.mixed)) + max(0, raw-cap(buf.raw))
	}
	return f.held.Take(f.name, int64(need))
}

// checkFrame checks by the lengths that b is exactly one zstd frame (RFC 8878, 3.1.1). A decoder accepts several frames
// and skips some, so the same content could have many forms.
func checkFrame(b []byte) error {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return err
	}
	if h.Skippable {
		return errors.New("skippable frame")
	}
	at, last := h.HeaderSize, false
	for !last {
		if len(b)-at < 3 {
			return io.ErrUnexpectedEOF
		}
		// A block: a u24 with last block (1 bit), type (2) and size (21), then the content.
		block := uint32(b[at]) | uint32(b[at+1])<<8 | uint32(b[at+2])<<16
		last = block&1 != 0
		size := int(block >> 3)
		if kind := block >> 1 & 3; kind == 1 { // one repeated byte
			size = 1
		}
		if at += 3; len(b)-at < size {
			return io.ErrUnexpectedEOF
		}
		at += size
	}
	if h.HasCheckSum {
		at += 4
	}
	switch {
	case at > len(b):
		return io.ErrUnexpectedEOF
	case at < len(b):
		return fmt.Errorf("%d bytes after the zstd frame", len(b)-at)
	}
	return nil
}

// resize returns a slice of n bytes. It reuses b if b is large enough.
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

// checkKeys checks the keys of a block. They must ascend, begin as the index states, and end before the next block
// begins. None but the first may begin a block.
func (t *fileTable) checkKeys(keys Keys, block int) error {
	n := len(keys.A)
	if keys.At(0) != t.Blocks[block].First {
		return fmt.Errorf("first key is %s, the index has %s", keys.At(0), t.Blocks[block].First)
	}
	if i := keys.unordered(); i > 0 {
		return fmt.Errorf("key %s of row %d does not follow %s", keys.At(i), i, keys.At(i-1))
	}
	if block+1 < len(t.Blocks) && keys.At(n-1).Compare(t.Blocks[block+1].First) >= 0 {
		return fmt.Errorf("last key %s is not below %s, the first of the next block", keys.At(n-1), t.Blocks[block+1].First)
	}
	return checkUncut(keys)
}

// LoadBlock implements State.
func (f *File) LoadBlock(i, block, column int) (Column, error) {
	t, err := f.table(i)
	if err != nil {
		return Column{}, err
	}
	info, ci := &f.info.Tables[i], &t.Columns[column]
	what := func() string {
		return fmt.Sprintf("%s of %s %q, block %d", ci.Name(), info.Class, info.Label, block)
	}
	raw, err := f.loadCell(t, &f.values, what, block, column)
	if err != nil {
		return Column{}, err
	}
	c := Column{Schema: ci.Schema}
	if err := decodeValueBlock(&c, raw, t.Blocks[block].Rows); err != nil {
		return Column{}, refused(f.name, t.offsets[t.cell(block, column)], what()+": ", err)
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
		return fmt.Errorf("block has %d rows, the index has %d", n, rows)
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

// decodeValueBlock fills c from a value block. c already has its schema. The column aliases raw.
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
		end, longest := uint64(0), limits.String.Max()
		for i, n := range c.Ends {
			if end += uint64(n); end > uint64(len(body)) {
				return fmt.Errorf("value of row %d ends at %d", i, end)
			}
			if int64(n) > longest {
				return limits.String.Reached("", int64(n))
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
