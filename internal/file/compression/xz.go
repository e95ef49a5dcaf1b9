package compression

import (
	"bufio"
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

// A general xz reader would allocate a dictionary of the size in each block's header, up to 4 GiB, without a check.
// This reader supports streams of any number of blocks with only the LZMA2 filter, which xz uses by default. It checks
// the size first.

const (
	xzMagic  = "\xfd7zXZ\x00"
	xzFooter = "YZ"
)

// xzChecks are the checksums over a block's content, by the second byte of the stream's flags.
var xzChecks = map[byte]func() hash.Hash{
	0:  nil,
	1:  func() hash.Hash { return crc32.NewIEEE() },
	4:  func() hash.Hash { return crc64.New(crc64.MakeTable(crc64.ECMA)) },
	10: sha256.New,
}

type xzReader struct {
	src   *bufio.Reader
	read  int64 // bytes of the current stream
	flags [2]byte
	check hash.Hash     // nil if there is none
	block *lzma.Reader2 // nil between blocks
	begun int64         // start of the current block's data
}

// NewXZ returns the content of r, which consists of xz streams. For files that may be xz, use Unpack: it limits the
// size of the content.
func NewXZ(r io.Reader) (io.Reader, error) { return newXZReader(r) }

func newXZReader(r io.Reader) (*xzReader, error) {
	x := &xzReader{src: bufio.NewReaderSize(r, 64<<10)}
	return x, x.streamHeader()
}

// ReadByte ensures that the decompressor reads no more than it needs.
func (x *xzReader) ReadByte() (byte, error) {
	c, err := x.src.ReadByte()
	if err == nil {
		x.read++
	}
	return c, err
}

// source is the input of the decompressor.
type source struct{ *xzReader }

func (s source) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	s.read += int64(n)
	return n, err
}

func (x *xzReader) full(b []byte) error {
	_, err := io.ReadFull(source{x}, b)
	return unexpected(err)
}

func (x *xzReader) streamHeader() error {
	x.read = 0
	var head [12]byte
	if err := x.full(head[:]); err != nil {
		return err
	}
	if string(head[:6]) != xzMagic {
		return errors.New("expected the magic of a stream")
	}
	if crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return errors.New("stream header has a wrong checksum")
	}
	x.flags = [2]byte(head[6:8])
	newCheck, ok := xzChecks[x.flags[1]]
	if !ok || x.flags[0] != 0 {
		return fmt.Errorf("unknown stream flags %x", x.flags)
	}
	x.check = nil
	if newCheck != nil {
		x.check = newCheck()
	}
	return nil
}

func (x *xzReader) Read(p []byte) (int, error) {
	for {
		if x.block == nil {
			if err := x.nextBlock(); err != nil {
				return 0, err
			}
		}
		n, err := x.block.Read(p)
		if x.check != nil {
			x.check.Write(p[:n])
		}
		if err == io.EOF {
			if err := x.endBlock(); err != nil {
				return n, err
			}
			err = nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// nextBlock reads the header of a block. After the last block, it reads everything up to the next stream.
func (x *xzReader) nextBlock() error {
	for {
		size, err := x.ReadByte()
		if err != nil {
			return unexpected(err)
		}
		if size != 0 {
			return x.blockHeader(size)
		}
		if err := x.endStream(); err != nil {
			return err
		}
	}
}

func (x *xzReader) blockHeader(size byte) error {
	head := make([]byte, 4*(int(size)+1))
	head[0] = size
	if err := x.full(head[1:]); err != nil {
		return err
	}
	body := head[:len(head)-4]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(head[len(body):]) {
		return errors.New("block header has a wrong checksum")
	}
	flags, rest := body[1], body[2:]
	for bit := byte(0x40); bit != 0; bit <<= 1 { // sizes, which are not needed
		if flags&bit != 0 {
			_, n := binary.Uvarint(rest)
			if n <= 0 {
				return errors.New("block header is malformed")
			}
			rest = rest[n:]
		}
	}
	if flags&0x3f != 0 || len(rest) < 3 || rest[0] != 0x21 || rest[1] != 1 || rest[2] > 40 {
		return errors.New("block has other filters than LZMA2")
	}
	dict := int64(2|rest[2]&1) << (rest[2]/2 + 11)
	if dict > maxDict {
		return fmt.Errorf("block has a dictionary of %d bytes, limit is %d", dict, maxDict)
	}
	x.begun = x.read
	block, err := lzma.Reader2Config{DictCap: max(int(dict), lzma.MinDictCap)}.NewReader2(source{x})
	if err != nil {
		return err
	}
	if x.check != nil {
		x.check.Reset()
	}
	x.block = block
	return nil
}

// endBlock reads the padding and the checksum after a block.
func (x *xzReader) endBlock() error {
	x.block = nil
	var pad [4]byte
	n := int((4 - (x.read-x.begun)%4) % 4)
	if err := x.full(pad[:n]); err != nil {
		return err
	}
	if pad != [4]byte{} {
		return errors.New("padding of a block is not zero")
	}
	if x.check == nil {
		return nil
	}
	sum := x.check.Sum(nil)
	if len(sum) < sha256.Size { // smaller ones are written in reverse byte order
		for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
			sum[i], sum[j] = sum[j], sum[i]
		}
	}
	got := make([]byte, len(sum))
	if err := x.full(got); err != nil {
		return err
	}
	if string(got) != string(sum) {
		return errors.New("content of a block has a wrong checksum")
	}
	return nil
}

// endStream reads the index after its first byte, the footer and padding, and begins the next stream. It returns io.EOF
// if there is none.
func (x *xzReader) endStream() error {
	begun := x.read - 1
	index := crc32.NewIEEE()
	index.Write([]byte{0})
	in := &tee{x, index}
	records, err := binary.ReadUvarint(in)
	if err != nil {
		return unexpected(err)
	}
	for range 2 * min(records, 1<<40) {
		if _, err := binary.ReadUvarint(in); err != nil {
			return unexpected(err)
		}
	}
	for (x.read-begun)%4 != 0 {
		switch c, err := in.ReadByte(); {
		case err != nil:
			return unexpected(err)
		case c != 0:
			return errors.New("index is malformed")
		}
	}
	var tail [16]byte // checksum of the index, then the footer
	if err := x.full(tail[:]); err != nil {
		return err
	}
	size := x.read - begun - int64(len(tail)) + 4
	switch le := binary.LittleEndian; {
	case le.Uint32(tail[:]) != index.Sum32():
		return errors.New("index has a wrong checksum")
	case string(tail[14:]) != xzFooter, le.Uint32(tail[4:]) != crc32.ChecksumIEEE(tail[8:14]),
		[2]byte(tail[12:14]) != x.flags, 4*(int64(le.Uint32(tail[8:]))+1) != size:
		return errors.New("stream footer is malformed")
	}
	for padding := 0; ; padding++ {
		c, err := x.src.Peek(1)
		switch {
		case padding%4 != 0 && (err == io.EOF || err == nil && c[0] != 0):
			return fmt.Errorf("%d bytes of padding behind a stream, expected a multiple of 4", padding)
		case err != nil:
			return err
		case c[0] != 0:
			return x.streamHeader()
		}
		if _, err := x.src.Discard(1); err != nil {
			return err
		}
	}
}

// tee hashes the bytes that are read one by one.
type tee struct {
	r io.ByteReader
	h hash.Hash
}

func (t *tee) ReadByte() (byte, error) {
	c, err := t.r.ReadByte()
	if err == nil {
		t.h.Write([]byte{c})
	}
	return c, err
}
