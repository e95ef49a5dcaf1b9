// Package compression reads files that may be compressed with gzip, zstd or xz, or in the format of the Godot engine.
// It recognizes them by their first bytes. It limits the size of their content and the memory for decompression.
package compression

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// Limits of a decompressor's memory. Package limits restricts the content of a compressed file to File, and to
// StreamRatio times its size beyond Free. Traces of constant checksums reach a ratio of several hundred.
const (
	maxDict = 64 << 20 // for zstd and xz, the largest preset of xz
)

// MagicLen is how many bytes at the start of a file show how it is compressed.
const MagicLen = len(xzMagic)

// packings are the known kinds of compression, by magic.
var packings = [...]struct {
	name, suffix, magic string
	open                func(io.Reader) (io.Reader, error)
}{
	{"gzip", ".gz", "\x1f\x8b\x08", openGzip},
	{"zstd", ".zst", "\x28\xb5\x2f\xfd", openZstd},
	{"xz", ".xz", xzMagic, openXZ},
	{"Godot", "", godotMagic, openGodot}, // not visible in names
}

// readAhead is how many bytes of a compressed file are read at a time.
const readAhead = 64 << 10

func openGodot(r io.Reader) (io.Reader, error) {
	return newGodotReader(bufio.NewReaderSize(r, readAhead))
}

func openXZ(r io.Reader) (io.Reader, error) { return newXZReader(bufio.NewReaderSize(r, readAhead)) }

func openZstd(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(bufio.NewReaderSize(r, readAhead), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxDict))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// Suffixes returns the endings of compressed files' names: ".gz", ".zst", ".xz".
func Suffixes() []string {
	var out []string
	for _, p := range packings {
		if p.suffix != "" {
			out = append(out, p.suffix)
		}
	}
	return out
}

// PlainName returns a file's name without the ending for its compression.
func PlainName(name string) string {
	for _, p := range packings {
		if plain, ok := strings.CutSuffix(name, p.suffix); ok && p.suffix != "" {
			return plain
		}
	}
	return name
}

// Packing returns the name of the compression of a file with these first bytes: "gzip", "zstd", "xz", "Godot", or "" if
// there is none.
func Packing(head []byte) string {
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.magic)) {
			return p.name
		}
	}
	return ""
}

// Unpack returns the content of r, which may be compressed in any known way, and the name of the compression, "" if
// there is none. The content ends with an error if it has more than limit bytes, where 0 means limits.File, or is out
// of proportion to the file. If the content is an io.Closer, closing it frees the decompressor's resources.
func Unpack(r io.Reader, limit int64) (content io.Reader, packing string, err error) {
	in := &counted{r: r}
	head := bufio.NewReaderSize(in, 512) // larger reads bypass it
	magic, err := head.Peek(len(xzMagic))
	if err != nil && err != io.EOF {
		return nil, "", err
	}
	for _, p := range packings {
		if !bytes.HasPrefix(magic, []byte(p.magic)) {
			continue
		}
		out, err := p.open(head)
		if err != nil {
			return nil, p.name, fmt.Errorf("%s: %w", p.name, unexpected(err))
		}
		content := &unpacked{name: p.name, packed: in, r: out, limit: limit}
		if limit == 0 {
			content.limit, content.over = limits.File.Max(), limits.File
		}
		return content, p.name, nil
	}
	return head, "", nil
}

// freeState is the part of limits.Free that a state may have, which takes many times its text in memory.
const freeState = 16

// UnpackState is Unpack for a file of size bytes that contains a state. It may expand to limits.Ratio times its size
// beyond a sixteenth of limits.Free, up to limits.State.
func UnpackState(r io.Reader, size int64) (content io.Reader, packing string, err error) {
	limit, over := limits.State.Max(), limits.State
	if expanded := limits.Free.Max()/freeState + limits.Ratio.Max()*size; expanded < limit {
		limit, over = expanded, limits.Ratio
	}
	if content, packing, err = Unpack(r, limit); err == nil && packing != "" {
		content.(*unpacked).over = over
	}
	return content, packing, err
}

// Check reads content to its end and verifies the checksum that follows compressed content. It returns nil for content
// that is not compressed. It also returns nil for truncated content, because that is noticed anyway.
func Check(r io.Reader, limit int64) error {
	content, packing, err := Unpack(r, limit)
	if err != nil || packing == "" {
		return err
	}
	_, err = io.Copy(io.Discard, content)
	if c, ok := content.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// Whole reads the first bytes of the content, at most so many, and returns an error if they cannot be unpacked. If the
// content ends before, its checksum is verified; content that is cut off is an error, also if only the checksum is
// missing. It returns nil for content that is not compressed.
func Whole(r io.Reader, most int64) error {
	content, packing, err := Unpack(r, 0)
	if err != nil || packing == "" {
		return err
	}
	_, err = io.CopyN(io.Discard, content, most)
	if c, ok := content.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// counted counts the bytes that are read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// unpacked is the limited content of a compressed stream.
type unpacked struct {
	name   string
	packed *counted
	r      io.Reader
	n      int64
	limit  int64
	over   *limits.Limit // limit that applies; nil for a number from the caller
	failed bool
	excess int64 // bytes beyond StreamRatio that were already counted
}

// beyond reports that the content is longer than allowed.
func (u *unpacked) beyond() error {
	if u.over == nil {
		return fmt.Errorf("expands to more than %d bytes", u.limit)
	}
	return u.over.Reached("", 0)
}

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.n += int64(n)
	if excess := u.n - limits.StreamRatio.Max()*u.packed.n; excess > u.excess {
		if over := limits.ExceedStream("", excess-u.excess); over != nil {
			return 0, fmt.Errorf("%s: %w", u.name, over)
		}
		u.excess = excess
	}
	switch {
	case u.n > u.limit:
		return 0, fmt.Errorf("%s: %w", u.name, u.beyond())
	case u.n > limits.Free.Max() && u.n/limits.StreamRatio.Max() > u.packed.n:
		return 0, fmt.Errorf("%s: %w", u.name, limits.StreamRatio.Reached("", u.n/max(1, u.packed.n)))
	case err != nil && err != io.EOF:
		u.failed = true
		err = fmt.Errorf("%s: %w", u.name, unexpected(err))
	}
	return n, err
}

// Close frees the decompressor's resources. It returns no errors about the content; Read has returned them.
func (u *unpacked) Close() error {
	if c, ok := u.r.(io.Closer); ok {
		if err := c.Close(); err != nil && !u.failed {
			return fmt.Errorf("%s: %w", u.name, err)
		}
	}
	return nil
}

// unexpected turns io.EOF inside a compressed stream into io.ErrUnexpectedEOF.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
