package frame

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
)

const (
	// readStep is how much memory is allocated for a length before the bytes have arrived.
	readStep = 1 << 20
	// zeroTail is the minimum number of zero bytes that count as the tail from a crashed file system. The count in an
	// end marker has at most 8.
	zeroTail = 16
)

// Reader reads one file, frame by frame, from a stream.
type Reader struct {
	src     *bufio.Reader
	name    string
	format  Format
	version uint16
	offset  int64 // of the current frame
	end     int64 // of the last complete frame
	frames  uint64
	header  [headerSize]byte
	payload []byte
	err     error // set when reading has ended
}

// NewReader reads the preamble from r. Errors contain name.
func NewReader(r io.Reader, name string, f Format) (*Reader, error) {
	if len(f.Magic) != magicSize || f.Version == 0 {
		panic("frame: a format needs a magic of 8 bytes and a version")
	}
	fr := &Reader{src: bufio.NewReaderSize(r, readAhead(r)), name: name, format: f}
	if err := fr.readPreamble(); err != nil {
		return nil, err
	}
	return fr, nil
}

// readAhead is how many bytes are read at once. If r is smaller, it is all of r.
func readAhead(r io.Reader) int {
	const most = 64 << 10
	if sized, ok := r.(interface{ Size() int64 }); ok {
		return int(max(0, min(most, sized.Size())))
	}
	return most
}

func (r *Reader) readPreamble() error {
	n, err := io.ReadFull(r.src, r.header[:preambleSize])
	if err != nil && !ended(err) {
		return r.failed(err)
	}
	p := r.header[:n]
	refuse := func(kind error, format string, args ...any) error {
		return &Error{Name: r.name, Msg: fmt.Sprintf(format, args...), Err: kind}
	}
	switch {
	case n == 0:
		return refuse(ErrUnrecognized, "empty file, expected magic %q (%s)", r.format.Magic, r.format.Name)
	case n < magicSize:
		return refuse(ErrUnrecognized, "file of %d bytes, expected magic %q (%s)", n, r.format.Magic, r.format.Name)
	case string(p[:magicSize]) != r.format.Magic:
		return refuse(ErrUnrecognized, "file begins with %q, expected magic %q (%s)", p[:magicSize], r.format.Magic, r.format.Name)
	case n < preambleSize:
		return &Error{Name: r.name, Lost: int64(n), Msg: "file ends inside the preamble", Err: ErrTorn}
	}
	r.end = preambleSize
	if got, want := binary.LittleEndian.Uint32(p[12:]), checksum(p[:12]); got != want {
		return refuse(ErrCorrupt, "preamble checksum is 0x%08x, expected 0x%08x", got, want)
	}
	r.version = binary.LittleEndian.Uint16(p[8:])
	if r.version == 0 || r.version > r.format.Version {
		expected := "1"
		if r.format.Version > 1 {
			expected = fmt.Sprintf("1 to %d", r.format.Version)
		}
		return &Error{Name: r.name, Offset: magicSize, Msg: fmt.Sprintf("%s of version %d, expected %s", r.format.Name, r.version, expected), Err: ErrVersion}
	}
	if flags := binary.LittleEndian.Uint16(p[10:]); flags != 0 {
		return refuse(ErrCorrupt, "preamble has flags %#04x, expected none", flags)
	}
	return nil
}

// Version returns the version in the file's preamble.
func (r *Reader) Version() uint16 { return r.version }

// Offset returns the offset in bytes at which the current frame begins.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the next frame. The payload is valid until the next call. Next returns io.EOF after the end marker, a
// [*Error] if the file is torn or corrupt, and any error of the underlying reader with name and offset. After an error
// it returns the same error again.
func (r *Reader) Next() (kind uint32, payload []byte, err error) {
	if r.err != nil {
		return 0, nil, r.err
	}
	kind, err = r.next()
	if err != nil {
		r.err = err
		return 0, nil, err
	}
	return kind, r.payload, nil
}

func (r *Reader) next() (kind uint32, err error) {
	r.offset = r.end
	n, err := io.ReadFull(r.src, r.header[:])
	switch {
	case err == io.EOF:
		return 0, r.torn(0, "no end marker")
	case ended(err):
		return 0, r.torn(n, "file ends inside a frame header")
	case err != nil:
		return 0, r.failed(err)
	}
	h := r.header[:]
	if got, want := binary.LittleEndian.Uint32(h[12:]), checksum(h[:12]); got != want {
		return 0, r.damaged(h, 0, "frame header checksum is 0x%08x, expected 0x%08x", got, want)
	}
	length := binary.LittleEndian.Uint32(h)
	kind = binary.LittleEndian.Uint32(h[4:])
	if limits.Frame.Over(int64(length)) && uint64(length) <= r.format.maxPayload() {
		return 0, r.Corrupt(-headerSize, "%v", limits.Frame.Reached("", int64(length)))
	}
	if uint64(length) > r.format.maxPayload() {
		return 0, r.Corrupt(-headerSize, "frame of %d bytes, limit is %d", length, r.format.maxPayload())
	}
	if err := r.readPayload(int(length)); ended(err) {
		return 0, r.torn(headerSize+len(r.payload), "file ends inside a frame of %d bytes", length)
	} else if err != nil {
		return 0, r.failed(err)
	}
	if got, want := binary.LittleEndian.Uint32(h[8:]), checksum(r.payload); got != want {
		return 0, r.damaged(r.payload, headerSize, "payload checksum is 0x%08x, expected 0x%08x", got, want)
	}
	r.end += headerSize + int64(length)
	if kind == EndKind {
		return 0, r.finish()
	}
	r.frames++
	return kind, nil
}

// readPayload reads n bytes. It never allocates more than readStep bytes beyond the data that has arrived.
func (r *Reader) readPayload(n int) error {
	r.payload = r.payload[:0]
	for len(r.payload) < n {
		have := len(r.payload)
		step := min(n-have, readStep)
		r.payload = slices.Grow(r.payload, step)
		got, err := io.ReadFull(r.src, r.payload[have:have+step])
		r.payload = r.payload[:have+got]
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish checks the end marker and that nothing follows it.
func (r *Reader) finish() error {
	if len(r.payload) != 8 {
		return r.Corrupt(-headerSize, "end marker of %d bytes, expected 8", len(r.payload))
	}
	if count := binary.LittleEndian.Uint64(r.payload); count != r.frames {
		return r.Corrupt(-headerSize, "end marker counts %d frames, the file has %d", count, r.frames)
	}
	switch _, err := r.src.ReadByte(); {
	case err == nil:
		return r.Corrupt(8, "bytes after the end marker")
	case err != io.EOF:
		return r.failed(err)
	}
	return io.EOF
}

// damaged distinguishes a zero tail from corruption. part, which begins at byte skip of the current frame, has failed
// its checksum.
func (r *Reader) damaged(part []byte, skip int, format string, args ...any) error {
	zeros := len(part) - len(bytes.TrimRight(part, "\x00"))
	if zeros == 0 {
		return r.Corrupt(-headerSize, format, args...)
	}
	lost := skip + len(part)
	var chunk [4096]byte
	for {
		n, err := r.src.Read(chunk[:])
		if len(bytes.TrimLeft(chunk[:n], "\x00")) > 0 {
			return r.Corrupt(-headerSize, format, args...)
		}
		zeros += n
		lost += n
		if ended(err) {
			break
		} else if err != nil {
			return r.failed(err)
		}
	}
	if zeros < zeroTail {
		return r.Corrupt(-headerSize, format, args...)
	}
	return r.torn(lost, "%d zero bytes at the end of the file", zeros)
}

// Corrupt returns an ErrCorrupt for byte at of the current frame's payload. Readers that use this one call it for
// malformed content with a correct checksum.
func (r *Reader) Corrupt(at int, format string, args ...any) *Error {
	return &Error{
		Name:   r.name,
		Offset: r.offset + headerSize + int64(at),
		Msg:    fmt.Sprintf(format, args...),
		Err:    Fault(args),
	}
}

func (r *Reader) torn(lost int, format string, args ...any) error {
	return &Error{
		Name:   r.name,
		Offset: r.end,
		Lost:   int64(lost),
		Msg:    fmt.Sprintf(format, args...),
		Err:    ErrTorn,
	}
}

func (r *Reader) failed(err error) error {
	return fmt.Errorf("%s: reading at offset %d: %w", r.name, r.end, err)
}

// ended reports whether the stream has ended. A truncated compressed stream returns io.ErrUnexpectedEOF and is torn
// too.
func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// PreambleSize is the number of bytes before the first frame.
const PreambleSize = preambleSize

// FirstEnd returns the offset at which the first frame of a file ends. It does not check the frame's content.
func FirstEnd(r io.ReaderAt) (int64, error) {
	var b [4]byte
	if _, err := r.ReadAt(b[:], preambleSize); err != nil {
		return 0, err
	}
	return preambleSize + headerSize + int64(binary.LittleEndian.Uint32(b[:])), nil
}
