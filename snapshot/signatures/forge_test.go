package signatures_test

import (
	"encoding/binary"
	"hash/crc32"
)

// The tests forge files by their bytes alone: a preamble of 16, then frames of 16 and a payload.

type piece struct {
	kind    uint32
	payload []byte
}

// pieces splits a file without its end marker.
func pieces(file []byte) (preamble []byte, list []piece) {
	preamble, file = file[:16], file[16:]
	for len(file) > 0 {
		n := binary.LittleEndian.Uint32(file)
		kind := binary.LittleEndian.Uint32(file[4:])
		if kind != 0xffffffff {
			list = append(list, piece{kind, append([]byte(nil), file[16:16+n]...)})
		}
		file = file[16+n:]
	}
	return preamble, list
}

// join puts a file together, with all checksums and the end marker right.
func join(preamble []byte, list []piece) []byte {
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	out := append([]byte(nil), preamble...)
	add := func(p piece) {
		h := binary.LittleEndian.AppendUint32(nil, uint32(len(p.payload)))
		h = binary.LittleEndian.AppendUint32(h, p.kind)
		h = binary.LittleEndian.AppendUint32(h, sum(p.payload))
		h = binary.LittleEndian.AppendUint32(h, sum(h))
		out = append(append(out, h...), p.payload...)
	}
	for _, p := range list {
		add(p)
	}
	add(piece{0xffffffff, binary.LittleEndian.AppendUint64(nil, uint64(len(list)))})
	return out
}

// without takes an entry out of a file.
func without(file []byte, entry int) []byte {
	preamble, list := pieces(file)
	return join(preamble, append(list[:1+entry:1+entry], list[2+entry:]...))
}
