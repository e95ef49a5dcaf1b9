package zeroad

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/ulikunitz/xz/lzma"
)

const (
	// maxText is the largest size of a dump. One of a large match is some
	// megabytes.
	maxText = 256 << 20

	// A compressed dump may expand to freeText bytes, and beyond that maxRatio
	// times. Real ones expand 20 times.
	freeText = 16 << 20
	maxRatio = 256

	// maxDict is the dictionary of the highest preset of xz, 9.
	maxDict = 64 << 20
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	xzMagic   = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
)

// unpack reads a file and decompresses it if it is compressed.
func unpack(r io.ReaderAt, size int64) ([]byte, error) {
	if size > maxText {
		return nil, fmt.Errorf("file of %d bytes, expected at most %d", size, maxText)
	}
	content, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, err
	}
	limit := min(maxText, freeText+maxRatio*len(content))
	switch {
	case bytes.HasPrefix(content, gzipMagic):
		content, err = unpackGzip(content, limit)
	case bytes.HasPrefix(content, xzMagic):
		content, err = unpackXZ(content, limit)
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return content, err
}

func readLimited(r io.Reader, limit int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if len(text) > limit {
		return nil, fmt.Errorf("expands to more than %d bytes", limit)
	}
	return text, err
}

func unpackGzip(content []byte, limit int) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	defer z.Close()
	text, err := readLimited(z, limit)
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	return text, nil
}

// xzChecks are the kinds of checksums over the text, by the second byte of
// the stream's flags.
var xzChecks = map[byte]func() hash.Hash{
	0:  func() hash.Hash { return nil },
	1:  func() hash.Hash { return crc32.NewIEEE() },
	4:  func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) },
	10: sha256.New,
}

// unpackXZ reads one stream of one block with the LZMA2 filter, which is what
// xz writes of a file of this size. A general reader would allocate the
// dictionary that each block's header asks for, up to 4 GiB.
func unpackXZ(content []byte, limit int) ([]byte, error) {
	text, err := xzBlock(content, limit)
	if err != nil {
		return nil, fmt.Errorf("xz: %w", err)
	}
	return text, nil
}

func xzBlock(content []byte, limit int) ([]byte, error) {
	const headerSize, footerSize = 12, 12
	if len(content) < headerSize+footerSize+8 {
		return nil, io.ErrUnexpectedEOF
	}
	newCheck := xzChecks[content[7]]
	if newCheck == nil {
		return nil, fmt.Errorf("unknown stream flags %x", content[6:8])
	}
	footer := content[len(content)-footerSize:]
	if string(footer[10:]) != "YZ" || !bytes.Equal(footer[8:10], content[6:8]) {
		return nil, fmt.Errorf("no footer at the end: %w", io.ErrUnexpectedEOF)
	}

	block := content[headerSize : len(content)-footerSize]
	size := (int(block[0]) + 1) * 4
	if size > len(block) || block[0] == 0 {
		return nil, errors.New("expected a block")
	}
	header, sum := block[:size-4], block[size-4:size]
	if crc32.ChecksumIEEE(header) != binary.LittleEndian.Uint32(sum) {
		return nil, errors.New("block header has a wrong checksum")
	}
	dict, err := xzDictionary(header)
	if err != nil {
		return nil, err
	}
	file := bytes.NewReader(block[size:])
	lzma2, err := lzma.Reader2Config{DictCap: max(dict, lzma.MinDictCap)}.NewReader2(file)
	if err != nil {
		return nil, err
	}
	text, err := readLimited(lzma2, limit)
	if err != nil {
		return nil, err
	}

	rest := block[len(block)-file.Len():]
	padding := -(len(block) - len(rest)) & 3
	check := newCheck()
	if check == nil {
		return text, nil
	}
	check.Write(text)
	want := check.Sum(nil)
	if check.Size() < sha256.Size { // CRCs are little-endian
		slices.Reverse(want)
	}
	if len(rest) < padding+len(want) || !bytes.Equal(rest[padding:padding+len(want)], want) {
		return nil, errors.New("the text has a wrong checksum")
	}
	// The index comes next: a zero and the number of blocks.
	if index := rest[padding+len(want):]; len(index) < 2 || index[0] != 0 || index[1] != 1 {
		return nil, errors.New("more than one block")
	}
	return text, nil
}

// xzDictionary returns the size of the dictionary from a block's header: its
// size, flags, the sizes of the block if the flags say so, the one filter.
func xzDictionary(header []byte) (int, error) {
	const hasPackedSize, hasSize = 0x40, 0x80
	flags, filter := header[1], header[2:]
	for _, present := range []byte{hasPackedSize, hasSize} {
		if flags&present != 0 {
			_, n := binary.Uvarint(filter)
			if n <= 0 {
				return 0, errors.New("expected the block's sizes in its header")
			}
			filter = filter[n:]
		}
	}
	if flags&^(hasPackedSize|hasSize) != 0 || len(filter) < 3 || filter[0] != 0x21 || filter[1] != 1 {
		return 0, errors.New("expected LZMA2 as the only filter")
	}
	dict, err := lzma.DecodeDictCap(filter[2])
	if err != nil {
		return 0, err
	}
	if dict > maxDict {
		return 0, fmt.Errorf("dictionary of %d bytes, expected at most %d", dict, maxDict)
	}
	return int(dict), nil
}
