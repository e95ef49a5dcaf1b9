package openttd

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/anchore/go-lzo"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/limits"
)

const (
	headerSize = 8

	// freeBody is how many bytes a container may expand to, whatever its size. An empty map of the largest size expands
	// about 1000 times.
	freeBody = 2 << 20

	// lzoBlock is the largest size of a decompressed LZO block, lzoPacked the size of a compressed one.
	lzoBlock  = 8192
	lzoPacked = lzoBlock + lzoBlock/16 + 64 + 3
)

// A container unpacks what follows the header. It leaves file after the last
// byte that it read, which is where errors are reported.
type container func(file *bytes.Reader, out *limitedBuffer) error

// rawTag is the tag of the container that carries no checksum.
const rawTag = "OTTN"

var containers = map[string]container{
	rawTag: func(file *bytes.Reader, out *limitedBuffer) error { return out.readFrom(file) },
	"OTTZ": unpackZlib,
	"OTTX": unpackXZ,
	"OTTD": unpackLZO,
}

// unpack reads the header and the container. The body is s.body.
func (s *scratch) unpack(r io.ReaderAt, size int64, name string) (version uint16, body []byte, err error) {
	if limits.State.Over(size) {
		return 0, nil, limits.State.Reached(name, size)
	}
	content, err := readAll(io.NewSectionReader(r, 0, size), s.content[:0])
	s.content = content
	if err != nil {
		return 0, nil, &Error{Name: name, Offset: int64(len(content)), Err: err}
	}
	if len(content) < headerSize {
		return 0, nil, &Error{
			Name: name, Offset: int64(len(content)),
			Err: fmt.Errorf("expected a header of %d bytes: %w", headerSize, io.ErrUnexpectedEOF),
		}
	}
	tag := string(content[:4])
	unpackBody := containers[tag]
	if unpackBody == nil {
		return 0, nil, &Error{Name: name, Err: fmt.Errorf("tag %q, expected OTTN, OTTZ, OTTX or OTTD", tag)}
	}
	version = binary.BigEndian.Uint16(content[4:])

	file := bytes.NewReader(content)
	file.Seek(headerSize, io.SeekStart)
	out := &limitedBuffer{data: s.body[:0], limit: int(limits.State.Max()), over: limits.State, keep: keptBody}
	if expanded := freeBody + limits.StreamRatio.Max()*int64(len(content)); expanded < int64(out.limit) {
		out.limit, out.over = int(expanded), limits.StreamRatio
	}
	if err = unpackBody(file, out); err == nil && out.size > len(out.data) {
		out = &limitedBuffer{data: make([]byte, 0, out.size), limit: out.size, over: limits.State, keep: out.size}
		file.Seek(headerSize, io.SeekStart)
		err = unpackBody(file, out)
	}
	if err == nil && file.Len() > 0 {
		err = fmt.Errorf("%d bytes after the compressed data", file.Len())
	}
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		offset := int64(len(content) - file.Len())
		return 0, nil, &Error{Name: name, Offset: offset, Err: fmt.Errorf("%s container: %w", tag, err)}
	}
	s.body = out.data
	return version, out.data, nil
}

// readAll appends what r has to b.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = slices.Grow(b, max(4<<10, len(b)))
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, err
		}
	}
}

// keptBody is the size above which a save is unpacked twice, the first time to learn its size: a buffer that grows as
// it fills takes up to three times as much memory as its content.
const keptBody = 64 << 20

// limitedBuffer collects bytes, at most limit, and keeps them as long as there are no
// more than keep.
type limitedBuffer struct {
	data  []byte
	size  int // bytes that came, kept or not
	limit int
	over  *limits.Limit // that limit comes from
	keep  int
}

// partSize is how much of a body is read at a time.
const partSize = 64 << 10

var parts = sync.Pool{New: func() any { return new([partSize]byte) }}

// readFrom reads r to its end.
func (b *limitedBuffer) readFrom(r io.Reader) error {
	part := parts.Get().(*[partSize]byte)
	defer parts.Put(part)
	for {
		n, err := r.Read(part[:])
		if err := b.append(part[:n]); err != nil {
			return err
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *limitedBuffer) append(p []byte) error {
	if len(p) > b.limit-b.size {
		return b.tooLarge()
	}
	if b.size += len(p); b.size > b.keep {
		b.data = nil
		return nil
	}
	if more := 2 * cap(b.data); cap(b.data)-len(b.data) < len(p) {
		b.data = append(make([]byte, 0, min(b.keep, max(more, b.size))), b.data...)
	}
	b.data = append(b.data, p...)
	return nil
}

func (b *limitedBuffer) tooLarge() error {
	return b.over.Reached("", 0)
}

// inflater is a decompressor of zlib, nil before its first file, and its input.
type inflater struct {
	from bytes.Reader
	zlib io.ReadCloser
}

// inflaters are reused: their cost is the window.
var inflaters = sync.Pool{New: func() any { return new(inflater) }}

func unpackZlib(file *bytes.Reader, out *limitedBuffer) (err error) {
	z := inflaters.Get().(*inflater)
	z.from = *file
	defer func() {
		*file = z.from
		z.from = bytes.Reader{}
		inflaters.Put(z)
	}()
	if z.zlib == nil {
		z.zlib, err = zlib.NewReader(&z.from)
	} else {
		err = z.zlib.(zlib.Resetter).Reset(&z.from, nil)
	}
	if err != nil {
		return err
	}
	return out.readFrom(z.zlib)
}

// aheads are the buffers that are read ahead of xz.
var aheads = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

func unpackXZ(file *bytes.Reader, out *limitedBuffer) error {
	in := aheads.Get().(*bufio.Reader)
	in.Reset(file)
	defer func() {
		file.Seek(-int64(in.Buffered()), io.SeekCurrent) // errors name the offset
		in.Reset(nil)
		aheads.Put(in)
	}()
	z, err := compression.NewXZ(in)
	if err != nil {
		return err
	}
	return out.readFrom(z)
}

// unpackLZO unpacks blocks of: a checksum u32, the size u32 of the compressed
// data, the data. The checksum covers size and data.
func unpackLZO(file *bytes.Reader, out *limitedBuffer) error {
	var packed [8 + lzoPacked]byte
	var block [lzoBlock]byte
	for file.Len() > 0 {
		if _, err := io.ReadFull(file, packed[:8]); err != nil {
			return fmt.Errorf("expected checksum and size of a block: %w", io.ErrUnexpectedEOF)
		}
		size := binary.BigEndian.Uint32(packed[4:])
		if size > lzoPacked {
			return fmt.Errorf("block of %d bytes, expected at most %d", size, lzoPacked)
		}
		data := packed[8 : 8+size]
		if _, err := io.ReadFull(file, data); err != nil {
			return fmt.Errorf("expected a block of %d bytes: %w", size, io.ErrUnexpectedEOF)
		}
		want, got := binary.BigEndian.Uint32(packed[:]), lzoChecksum(packed[4:8+size])
		if got != want {
			return fmt.Errorf("block of %d bytes has checksum %08x, expected %08x", size, got, want)
		}
		n, err := lzo.Decompress(data, block[:])
		if err != nil {
			return err
		}
		if err := out.append(block[:n]); err != nil {
			return err
		}
	}
	return nil
}

// lzoChecksum is Adler-32 that begins with 0 instead of 1.
func lzoChecksum(p []byte) uint32 {
	const prime = 65521
	var a, b uint32
	for _, c := range p {
		a += uint32(c)
		if a >= prime {
			a -= prime
		}
		b += a
		if b >= prime {
			b -= prime
		}
	}
	return b<<16 | a
}
