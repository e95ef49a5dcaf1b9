package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/vmihailenco/msgpack/v5"
)

// Encode returns w as the bytes of a .snap.
func Encode(w *World, opts WriteOptions) ([]byte, error) {
	var m memory
	err := Write(&m, w, opts)
	return m.b, err
}

// memory is a file in memory.
type memory struct {
	b  []byte
	at int64
}

func (m *memory) Write(p []byte) (int, error) {
	if grow := int(m.at) + len(p) - len(m.b); grow > 0 {
		m.b = append(m.b, make([]byte, grow)...)
	}
	n := copy(m.b[m.at:], p)
	m.at += int64(n)
	return n, nil
}

func (m *memory) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += m.at
	case io.SeekEnd:
		offset += int64(len(m.b))
	}
	m.at = offset
	return offset, nil
}

// encodeHeader encodes the header. Integers have a fixed size, so the length depends only on names and on the number of
// tables.
func encodeHeader(info *Info, places []indexPlace) ([]byte, error) {
	var buf bytes.Buffer
	e := msgpack.NewEncoder(&buf)
	var history []byte
	if !info.History.IsZero() {
		history = info.History[:]
	}
	err := errors.Join(
		e.EncodeArrayLen(headerFields),
		e.EncodeUint64(info.Seed),
		e.EncodeUint64(info.Point.Tick),
		e.EncodeString(info.Point.Phase),
		e.EncodeString(info.Point.Words()),
		e.EncodeString(info.Peer),
		e.EncodeUint32(info.Epoch),
		e.EncodeBytes(info.RNG), // nil if there is none
		e.EncodeBytes(history),
		e.EncodeBytes(info.Root[:]),
		e.EncodeMapLen(len(info.Meta)),
	)
	for _, k := range slices.Sorted(maps.Keys(info.Meta)) {
		if long := checkText(k); long != nil {
			return nil, fmt.Errorf("property name: %w", long)
		}
		err = errors.Join(err, e.EncodeString(k), e.EncodeString(info.Meta[k]))
	}
	err = errors.Join(err, e.EncodeArrayLen(len(info.Tables)))
	for i := range info.Tables {
		t := &info.Tables[i]
		err = errors.Join(err,
			e.EncodeArrayLen(tableFields),
			e.EncodeUint8(uint8(t.Class)),
			e.EncodeString(t.Label),
			e.EncodeUint64(t.Rows),
			e.EncodeUint8(uint8(t.Parts)),
			e.EncodeBytes(t.Hash[:]),
			e.EncodeUint64(places[i].offset),
			e.EncodeUint32(places[i].length),
		)
	}
	return buf.Bytes(), err
}

func encodeIndex(ix *Index, cells *cellTable, parts int, data int64) ([]byte, error) {
	var buf bytes.Buffer
	e := msgpack.NewEncoder(&buf)
	err := errors.Join(
		e.EncodeArrayLen(indexFields),
		e.EncodeUint64(uint64(data)),
		e.EncodeBytes(ix.KeysDigest[:]),
		e.EncodeArrayLen(len(ix.Columns)),
	)
	for i := range ix.Columns {
		c := &ix.Columns[i]
		err = errors.Join(err,
			e.EncodeArrayLen(columnFields),
			e.EncodeString(c.Component),
			e.EncodeString(c.Field),
			e.EncodeUint8(uint8(c.Type)),
			e.EncodeUint32(c.Scale),
			e.EncodeBytes(c.Digest[:]),
		)
	}
	n := len(ix.Blocks)
	firstA, firstB, rows := make([]uint64, n), []uint64{}, make([]uint32, n)
	if parts == 2 {
		firstB = make([]uint64, n)
	}
	for i, b := range ix.Blocks {
		firstA[i], rows[i] = b.First.A, uint32(b.Rows)
		if parts == 2 {
			firstB[i] = b.First.B
		}
	}
	err = errors.Join(err, e.EncodeArrayLen(blockFields))
	for _, array := range [blockFields][]byte{
		LittleEndianBytes(firstA), LittleEndianBytes(firstB), LittleEndianBytes(rows),
		cells.digests, LittleEndianBytes(cells.raw), LittleEndianBytes(cells.stored), cells.codecs, LittleEndianBytes(cells.crcs),
	} {
		if array == nil {
			array = []byte{}
		}
		err = errors.Join(err, e.EncodeBytes(array))
	}
	return buf.Bytes(), err
}
