package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// The window for writing, which limits a writer's memory to about one mebibyte, and the largest window for reading.
const (
	window    = 256 << 10
	maxWindow = 8 << 20
)

// pieces is the size of the pieces in which content is read.
const pieces = 64 << 10

// encoders and decoders are reused, because their tables are expensive.
var (
	encoders = sync.Pool{New: func() any {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	}}
	decoders = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			panic(err) // the options are constants
		}
		return d
	}}
	buffers = sync.Pool{New: func() any { return new([pieces]byte) }}
)

// pour writes the content of r to w, compressed, and returns its description.
func pour(ctx context.Context, w io.Writer, r io.Reader, limit int64) (Kept, error) {
	if limit <= 0 {
		limit = limits.File.Max()
	}
	out := &counter{w: w}
	enc := encoders.Get().(*zstd.Encoder)
	buf := buffers.Get().(*[pieces]byte)
	defer buffers.Put(buf)
	enc.Reset(out)
	defer func() {
		enc.Reset(nil)
		encoders.Put(enc)
	}()
	sum := sha256.New()
	var k Kept
	for {
		if ctx.Err() != nil {
			return Kept{}, context.Cause(ctx)
		}
		n, err := r.Read(buf[:])
		if k.Bytes += int64(n); k.Bytes > limit {
			return Kept{}, fmt.Errorf("more than %d bytes: %w", limit, ErrTooLarge)
		}
		sum.Write(buf[:n])
		if _, err := enc.Write(buf[:n]); err != nil {
			return Kept{}, err
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return Kept{}, &ReadError{err}
		}
	}
	if err := enc.Close(); err != nil {
		return Kept{}, err
	}
	k.Hash, k.Stored = hex.EncodeToString(sum.Sum(nil)), out.n
	return k, nil
}

// counter counts the bytes written.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// content reads a blob and compares it with its name.
type content struct {
	where, want string
	in          *source
	dec         *zstd.Decoder // nil after Close
	sum         hash.Hash
	left        int64 // bytes left until limits.File
	err         error // error that ended reading
}

func newContent(where, want string, in io.ReadCloser) (*content, error) {
	c := &content{where: where, want: want, in: &source{ReadCloser: in}, sum: sha256.New(), left: limits.File.Max()}
	c.dec = decoders.Get().(*zstd.Decoder)
	if err := c.dec.Reset(c.in); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.dec.Read(p)
	c.sum.Write(p[:n])
	c.left -= int64(n)
	switch got := ""; {
	case c.in.err != nil && err != nil:
		c.err = c.in.err
	case err == io.EOF:
		if got = hex.EncodeToString(c.sum.Sum(nil)); got == c.want {
			c.err = io.EOF
		} else {
			c.err = c.damaged("its content has the SHA-256 " + got)
		}
	case err != nil:
		c.err = c.damaged(err.Error())
	case c.left < 0:
		c.err = limits.File.Reached(c.where+": bundle "+c.want, 0)
	}
	return n, c.err
}

func (c *content) damaged(why string) error {
	return fmt.Errorf("%s: bundle %s: %w: %s", c.where, c.want, ErrDamaged, why)
}

func (c *content) Close() error {
	if c.dec == nil {
		return nil
	}
	if c.err == nil {
		c.err = io.ErrClosedPipe
	}
	_ = c.dec.Reset(nil)
	decoders.Put(c.dec)
	c.dec = nil
	return c.in.Close()
}

// source remembers a read error, which belongs to the storage and not to the content.
type source struct {
	io.ReadCloser
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
