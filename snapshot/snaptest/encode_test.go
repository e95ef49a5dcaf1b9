// Package snaptest makes states for tests: files with correct checksums and digests but hostile content. It has its own
// writer of .snap files. This writer compresses any content, and a test can change what the file states about itself.
package snaptest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Cell is a block of a column, or of the keys: its description in the index and its stored bytes.
type Cell struct {
	Table, Block, Column int // the column is -1 for the keys
	Digest               merkle.Hash
	Raw                  uint32 // bytes of the content
	Codec                byte   // 0 plain, 1 zstd
	Stored               []byte
}

// Edit changes cells as they are written; nil changes none. The checksums are computed from the result.
type Edit func(*Cell)

// Encode returns w as a .snap.
func Encode(w *snapshot.World, edit Edit) ([]byte, error) {
	state, err := snapshot.Hold(w)
	if err != nil {
		return nil, err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, err
	}
	info := state.Info()
	head, err := header(info, make([]place, len(w.Tables)))
	if err != nil {
		return nil, err
	}
	out := make([]byte, 32+len(head))
	places := make([]place, len(w.Tables))
	for i := range w.Tables {
		ix, err := state.Index(i)
		if err != nil {
			return nil, err
		}
		start, row := len(out), 0
		var cells []Cell
		for b := range ix.Blocks {
			end := row + ix.Blocks[b].Rows
			for k := -1; k < len(ix.Columns); k++ {
				c := Cell{Table: i, Block: b, Column: k, Codec: 1}
				var raw []byte
				if k < 0 {
					c.Digest, raw = ix.Blocks[b].Keys, keysBlock(w.Tables[i].Keys, row, end)
				} else {
					c.Digest, raw = ix.Columns[k].Blocks[b], valueBlock(&w.Tables[i].Columns[k], row, end)
				}
				c.Raw = uint32(len(raw))
				c.Stored = enc.EncodeAll(planes(raw), nil)
				if len(c.Stored) >= len(raw) {
					c.Stored, c.Codec = raw, 0
				}
				if edit != nil {
					edit(&c)
				}
				out = append(out, c.Stored...)
				cells = append(cells, c)
			}
			row = end
		}
		payload, err := index(ix, cells, info.Tables[i].Parts, uint64(start))
		if err != nil {
			return nil, err
		}
		places[i] = place{uint64(len(out)), uint32(len(payload) + 4)}
		out = binary.LittleEndian.AppendUint32(append(out, payload...), sum(payload))
	}
	out = append(out, "SNAP.END"...)
	if head, err = header(info, places); err != nil {
		return nil, err
	}
	copy(out, "\x89SNAP\r\n\x1a\x01\x00\x00\x00")
	binary.LittleEndian.PutUint32(out[12:], uint32(len(head)))
	binary.LittleEndian.PutUint32(out[16:], sum(head))
	binary.LittleEndian.PutUint64(out[20:], uint64(len(out)))
	binary.LittleEndian.PutUint32(out[28:], sum(out[:28]))
	copy(out[32:], head)
	return out, nil
}

func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// place is the position of an index.
type place struct {
	offset uint64
	length uint32
}

func keysBlock(keys snapshot.Keys, from, to int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{3, byte(keys.Parts()), 0, 0}, uint32(to-from))
	for _, part := range [][]uint64{keys.A, keys.B} {
		for i := from; i < to && part != nil; i++ {
			b = binary.LittleEndian.AppendUint64(b, part[i])
		}
	}
	return b
}

// valueBlock has no bitmap: nothing is absent here.
func valueBlock(c *snapshot.Column, from, to int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{4, 0, 0, 0}, uint32(to-from))
	if c.Type.Width() == 0 {
		for i := from; i < to; i++ {
			b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Raw(i))))
		}
	}
	for i := from; i < to; i++ {
		b = append(b, c.Raw(i)...)
	}
	return b
}

// planes shuffles: byte 0 of every group of 8, then byte 1, and so on.
func planes(b []byte) []byte {
	out, n := make([]byte, 0, len(b)), len(b)/8
	for k := range 8 {
		for i := range n {
			out = append(out, b[8*i+k])
		}
	}
	return append(out, b[8*n:]...)
}

func header(info *snapshot.Info, places []place) ([]byte, error) {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	err := errors.Join(e.EncodeArrayLen(11), e.EncodeUint64(info.Seed), e.EncodeUint64(info.Point.Tick), e.EncodeString(info.Point.Phase),
		e.EncodeString(""), e.EncodeString(info.Peer), e.EncodeUint32(info.Epoch), e.EncodeBytes(info.RNG), e.EncodeNil(),
		e.EncodeBytes(info.Root[:]), e.EncodeMapLen(0), e.EncodeArrayLen(len(info.Tables)))
	for i, t := range info.Tables {
		err = errors.Join(err, e.EncodeArrayLen(7), e.EncodeUint8(uint8(t.Class)), e.EncodeString(t.Label), e.EncodeUint64(t.Rows),
			e.EncodeUint8(uint8(t.Parts)), e.EncodeBytes(t.Hash[:]), e.EncodeUint64(places[i].offset), e.EncodeUint32(places[i].length))
	}
	return b.Bytes(), err
}

func index(ix *snapshot.Index, cells []Cell, parts int, data uint64) ([]byte, error) {
	var b bytes.Buffer
	e := msgpack.NewEncoder(&b)
	err := errors.Join(e.EncodeArrayLen(4), e.EncodeUint64(data), e.EncodeBytes(ix.KeysDigest[:]), e.EncodeArrayLen(len(ix.Columns)))
	for _, c := range ix.Columns {
		err = errors.Join(err, e.EncodeArrayLen(5), e.EncodeString(c.Component), e.EncodeString(c.Field), e.EncodeUint8(uint8(c.Type)),
			e.EncodeUint32(c.Scale), e.EncodeBytes(c.Digest[:]))
	}
	arrays := make([][]byte, 8)
	for k := range arrays {
		arrays[k] = []byte{} // never nil
	}
	for _, block := range ix.Blocks {
		arrays[0] = binary.LittleEndian.AppendUint64(arrays[0], block.First.A)
		if parts == 2 {
			arrays[1] = binary.LittleEndian.AppendUint64(arrays[1], block.First.B)
		}
		arrays[2] = binary.LittleEndian.AppendUint32(arrays[2], uint32(block.Rows))
	}
	for _, c := range cells {
		arrays[3] = append(arrays[3], c.Digest[:]...)
		arrays[4] = binary.LittleEndian.AppendUint32(arrays[4], c.Raw)
		arrays[5] = binary.LittleEndian.AppendUint32(arrays[5], uint32(len(c.Stored)))
		arrays[6] = append(arrays[6], c.Codec)
		arrays[7] = binary.LittleEndian.AppendUint32(arrays[7], sum(c.Stored))
	}
	err = errors.Join(err, e.EncodeArrayLen(len(arrays)))
	for _, a := range arrays {
		err = errors.Join(err, e.EncodeBytes(a))
	}
	return b.Bytes(), err
}
