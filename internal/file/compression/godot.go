package compression

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A compressed file of the Godot engine (FileAccessCompressed), little-endian:
//
//	magic        "GCPF"
//	mode         u32: 0 FastLZ, 1 deflate, 2 zstd, 3 gzip, 4 brotli
//	block size   u32, 4096 unless a program sets another
//	size         u32, of the content
//	sizes        u32 for each block; there are size / block size + 1 blocks
//	blocks       the last one holds size % block size bytes, which may be none
//	magic        again
//
// Only FastLZ is supported, which the engine's programs use unless they request another mode. If the content has fewer
// than 16 bytes, the engine packs 16. Everything is written when the file is closed; sizes of 0 mean that it was never
// closed.
const godotMagic = "GCPF"

var godotModes = [...]string{"FastLZ", "deflate", "zstd", "gzip", "brotli"}

// Limits of a Godot file.
const (
	maxGodotBlock  = 4 << 20  // bytes of a block's content
	maxGodotBlocks = 16 << 20 // blocks of a file
	leastGodot     = 16       // minimum number of bytes that are packed
)

type godotReader struct {
	src       io.Reader
	sizes     []uint32
	blockSize uint32
	size      uint32
	at        int // of the next block
	packed    []byte
	block     []byte // content of a block, and the part that is still to be returned
	rest      []byte
	err       error
}

func newGodotReader(src io.Reader) (io.Reader, error) {
	var head [16]byte
	if _, err := io.ReadFull(src, head[:]); err != nil {
		return nil, unexpected(err)
	}
	mode := binary.LittleEndian.Uint32(head[4:])
	g := &godotReader{src: src, blockSize: binary.LittleEndian.Uint32(head[8:]), size: binary.LittleEndian.Uint32(head[12:])}
	switch {
	case mode > 0 && int(mode) < len(godotModes):
		return nil, fmt.Errorf("blocks of %s, expected FastLZ", godotModes[mode])
	case mode > 0:
		return nil, fmt.Errorf("mode %d, expected 0 for FastLZ", mode)
	case g.blockSize == 0 || g.blockSize > maxGodotBlock:
		return nil, fmt.Errorf("blocks of %d bytes, expected 1 to %d", g.blockSize, maxGodotBlock)
	}
	blocks := uint64(g.size)/uint64(g.blockSize) + 1
	if blocks > maxGodotBlocks {
		return nil, fmt.Errorf("%d blocks, expected at most %d", blocks, maxGodotBlocks)
	}
	var sizes [4 << 10]byte
	for left := int(blocks) * 4; left > 0; {
		part := sizes[:min(left, len(sizes))]
		if _, err := io.ReadFull(src, part); err != nil {
			return nil, unexpected(err)
		}
		for i := 0; i < len(part); i += 4 {
			g.sizes = append(g.sizes, binary.LittleEndian.Uint32(part[i:]))
		}
		left -= len(part)
	}
	return g, nil
}

func (g *godotReader) Read(p []byte) (int, error) {
	for len(g.rest) == 0 {
		if g.err == nil {
			g.err = g.next()
		}
		if g.err != nil {
			return 0, g.err
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// next unpacks the next block. The magic follows the last one.
func (g *godotReader) next() error {
	if g.at == len(g.sizes) {
		var end [len(godotMagic)]byte
		if _, err := io.ReadFull(g.src, end[:]); err != nil {
			return unexpected(err)
		}
		if string(end[:]) != godotMagic {
			return fmt.Errorf("%q after the last block, expected %s", end, godotMagic)
		}
		return io.EOF
	}
	size, want := g.sizes[g.at], int(g.blockSize)
	if g.at == len(g.sizes)-1 {
		want = int(g.size % g.blockSize)
	}
	switch g.at++; {
	case size == 0:
		return fmt.Errorf("block %d has no size, as in a file that was not closed: %w", g.at-1, io.ErrUnexpectedEOF)
	case uint64(size) > 2*uint64(g.blockSize)+128:
		return fmt.Errorf("block %d has %d bytes, more than its content may need", g.at-1, size)
	}
	if g.packed == nil {
		g.packed = make([]byte, 2*int(g.blockSize)+128)
	}
	packed := g.packed[:size]
	if _, err := io.ReadFull(g.src, packed); err != nil {
		return unexpected(err)
	}
	var err error
	if g.block, err = fastLZ(g.block[:0], packed, max(want, leastGodot)); err != nil {
		return fmt.Errorf("block %d: %w", g.at-1, err)
	}
	g.rest = g.block[:want]
	return nil
}

var (
	errFastLZEnd = errors.New("it ends inside an instruction")
	errFastLZRef = errors.New("it refers to what is before its content")
)

// fastLZ appends the content of a FastLZ block to dst, which is empty. The content has size bytes.
//
// A block is a sequence of instructions, each of which begins with a byte. Below 32 it is followed by that many literal
// bytes and one more. Otherwise it copies earlier content: its upper three bits are the length minus 2, and its lower
// five bits the upper bits of the distance. A length of 7 continues in the next byte; at level 1 in one byte, at level
// 2 in all bytes of 255 and one more. The next byte is the lower part of the distance minus 1. At level 2, if the
// distance parts are 31 and 255, two more bytes follow, added to 8191. The first instruction is a literal run; its
// upper bits are the level minus 1.
func fastLZ(dst, src []byte, size int) ([]byte, error) {
	if len(src) == 0 {
		return dst, errFastLZEnd
	}
	level := src[0]>>5 + 1
	if level > 2 {
		return dst, fmt.Errorf("level %d, expected 1 or 2", level)
	}
	pos := 0
	next := func() (int, bool) {
		if pos == len(src) {
			return 0, false
		}
		pos++
		return int(src[pos-1]), true
	}
	for first := true; pos < len(src); first = false {
		c, _ := next()
		if first {
			c &= 31
		}
		if c < 32 {
			n := c + 1
			if n > len(src)-pos {
				return dst, errFastLZEnd
			}
			if n > size-len(dst) {
				return dst, fmt.Errorf("more than %d bytes", size)
			}
			dst = append(dst, src[pos:pos+n]...)
			pos += n
			continue
		}
		n, distance := c>>5+2, c&31<<8
		ok := true
		for more := n == 9; more && ok; {
			var add int
			add, ok = next()
			n += add
			more = level == 2 && add == 255 && n <= size
		}
		low, found := next()
		if ok = ok && found; ok && level == 2 && low == 255 && distance == 31<<8 {
			high, first := next()
			low2, second := next()
			ok = first && second
			distance, low = 8191+high<<8, low2
		}
		if !ok {
			return dst, errFastLZEnd
		}
		distance += low + 1
		switch {
		case distance > len(dst):
			return dst, errFastLZRef
		case n > size-len(dst):
			return dst, fmt.Errorf("more than %d bytes", size)
		}
		for range n { // it may copy bytes that it has just written
			dst = append(dst, dst[len(dst)-distance])
		}
	}
	if len(dst) != size {
		return dst, fmt.Errorf("%d bytes, expected %d", len(dst), size)
	}
	return dst, nil
}
