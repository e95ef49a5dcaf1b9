package openttd

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

	"github.com/ulikunitz/xz/lzma"
)

// The game writes one xz stream of one block with the LZMA2 filter. Only that
// is read here. A general xz reader would take the size of the dictionary, up
// to 4 GiB, from each block's header and allocate it unseen.

// maxDict is the dictionary of the highest preset of xz, 9.
const maxDict = 64 << 20

var (
	xzMagic       = []byte{0xfd, '7', 'z', 'X', 'Z', 0}
	xzFooterMagic = []byte("YZ")
)

// xzChecks are the kinds of checksums over the decompressed data, by the
// second byte of the stream's flags.
var xzChecks = map[byte]func() hash.Hash{
	0:  func() hash.Hash { return nil },
	1:  func() hash.Hash { return crc32.NewIEEE() },
	4:  func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) },
	10: sha256.New,
}

func unpackXZ(file *bytes.Reader, out *limitedBuffer) error {
	var head [12]byte
	if _, err := io.ReadFull(file, head[:]); err != nil {
		return fmt.Errorf("expected a stream header of %d bytes: %w", len(head), io.ErrUnexpectedEOF)
	}
	if !bytes.HasPrefix(head[:], xzMagic) {
		return errors.New("expected the magic of xz")
	}
	flags := head[6:8]
	newCheck := xzChecks[flags[1]]
	if flags[0] != 0 || newCheck == nil {
		return fmt.Errorf("unknown stream flags %x", flags)
	}
	if crc32.ChecksumIEEE(flags) != binary.LittleEndian.Uint32(head[8:]) {
		return errors.New("stream header has a wrong checksum")
	}

	blockStart := file.Len()
	dict, err := readXZBlockHeader(file)
	if err != nil {
		return err
	}
	lzma2, err := lzma.Reader2Config{DictCap: max(dict, lzma.MinDictCap)}.NewReader2(file)
	if err != nil {
		return err
	}
	out.check = newCheck()
	if err := out.readFrom(lzma2); err != nil {
		return err
	}
	blockSize := blockStart - file.Len() // without padding, until the checksum is added

	// Everything after the data follows from what was read.
	tail := make([]byte, padding(blockSize))
	if check := out.check; check != nil {
		sum := check.Sum(nil)
		if check.Size() < sha256.Size { // CRCs are little-endian
			for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
				sum[i], sum[j] = sum[j], sum[i]
			}
		}
		tail = append(tail, sum...)
		blockSize += len(sum)
	}
	index := []byte{0, 1}
	index = binary.AppendUvarint(index, uint64(blockSize))
	index = binary.AppendUvarint(index, uint64(out.size))
	index = append(index, make([]byte, padding(len(index)))...)
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	footer := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1))
	footer = append(footer, flags...)
	tail = append(tail, index...)
	tail = binary.LittleEndian.AppendUint32(tail, crc32.ChecksumIEEE(footer))
	tail = append(tail, footer...)
	tail = append(tail, xzFooterMagic...)
	got := make([]byte, len(tail))
	if _, err := io.ReadFull(file, got); err != nil {
		return fmt.Errorf("expected %d bytes of checksum, index and footer: %w", len(tail), io.ErrUnexpectedEOF)
	}
	if !bytes.Equal(got, tail) {
		return errors.New("checksum, index or footer do not fit the data")
	}
	return nil
}

// readXZBlockHeader reads a block header: its size / 4 - 1, flags, the sizes
// of the block if the flags say so, the one filter, padding, a CRC-32. It
// returns the size of the dictionary.
func readXZBlockHeader(file *bytes.Reader) (dict int, err error) {
	size, err := file.ReadByte()
	if err != nil {
		return 0, fmt.Errorf("expected a block header: %w", io.ErrUnexpectedEOF)
	}
	if size == 0 {
		return 0, errors.New("expected a block")
	}
	header := make([]byte, (int(size)+1)*4)
	header[0] = size
	if _, err := io.ReadFull(file, header[1:]); err != nil {
		return 0, fmt.Errorf("expected a block header of %d bytes: %w", len(header), io.ErrUnexpectedEOF)
	}
	content, sum := header[:len(header)-4], header[len(header)-4:]
	if crc32.ChecksumIEEE(content) != binary.LittleEndian.Uint32(sum) {
		return 0, errors.New("block header has a wrong checksum")
	}
	const hasPackedSize, hasSize = 0x40, 0x80
	flags := content[1]
	filter := bytes.NewReader(content[2:])
	for _, present := range []byte{hasPackedSize, hasSize} {
		if flags&present != 0 {
			if _, err := binary.ReadUvarint(filter); err != nil {
				return 0, errors.New("expected the block's sizes in its header")
			}
		}
	}
	var lzma2 [3]byte // id, size of its properties, dictionary
	io.ReadFull(filter, lzma2[:])
	if flags&^(hasPackedSize|hasSize) != 0 || lzma2[0] != 0x21 || lzma2[1] != 1 {
		return 0, errors.New("expected LZMA2 as the only filter")
	}
	capacity, err := lzma.DecodeDictCap(lzma2[2])
	if err != nil {
		return 0, err
	}
	if capacity > maxDict {
		return 0, fmt.Errorf("dictionary of %d bytes, expected at most %d", capacity, maxDict)
	}
	return int(capacity), nil
}

// padding is how many bytes are missing to a multiple of 4.
func padding(n int) int { return -n & 3 }
