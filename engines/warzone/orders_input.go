package warzone

import (
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// input is a stream that can return some bytes in one piece. It allocates only for bytes that have arrived, whatever a
// length may claim.
type input struct {
	name     string
	r        io.Reader
	buf      []byte
	pos, end int
	base     int64 // offset of buf in the file
	err      error // of r
}

const inputSize = 64 << 10

func newInput(r io.Reader, name string) *input {
	return &input{name: name, r: r, buf: make([]byte, inputSize)}
}

// offset returns the offset of the next byte.
func (in *input) offset() int64 { return in.base + int64(in.pos) }

// peek returns the next n bytes, or fewer if the file ends before.
func (in *input) peek(n int) []byte {
	for in.end-in.pos < n && in.err == nil {
		in.fill(n)
	}
	return in.buf[in.pos:min(in.end, in.pos+n)]
}

// fill reads again, and makes room for n bytes as they come.
func (in *input) fill(n int) {
	if in.pos > 0 {
		copy(in.buf, in.buf[in.pos:in.end])
		in.base += int64(in.pos)
		in.pos, in.end = 0, in.end-in.pos
	}
	if in.end == len(in.buf) {
		grown := make([]byte, min(2*len(in.buf), max(n, len(in.buf)+inputSize)))
		copy(grown, in.buf)
		in.buf = grown
	}
	// A reader that gives neither bytes nor an error is asked again a few times.
	for range 100 {
		got, err := in.r.Read(in.buf[in.end:])
		in.end += got
		if in.err = err; got > 0 || err != nil {
			return
		}
	}
	in.err = io.ErrNoProgress
}

// take passes n bytes that peek has shown.
func (in *input) take(n int) { in.pos += n }

// skip passes n bytes of any number. It reports false if the file ends before.
func (in *input) skip(n int64) bool {
	for n > 0 {
		got := int64(len(in.peek(int(min(n, inputSize)))))
		if got == 0 {
			return false
		}
		in.take(int(got))
		n -= got
	}
	return true
}

// short is the error if the file ends inside of something at offset at.
func (in *input) short(at int64, format string, args ...any) error {
	if in.err != io.EOF && !errors.Is(in.err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: reading at offset %d: %w", in.name, in.base+int64(in.end), in.err)
	}
	return &frame.Error{
		Name: in.name, Offset: at, Lost: in.base + int64(in.end) - at, Err: frame.ErrTorn,
		Msg: fmt.Sprintf(format, args...),
	}
}

func (in *input) corrupt(at int64, format string, args ...any) error {
	return &frame.Error{Name: in.name, Offset: at, Err: frame.Fault(args), Msg: fmt.Sprintf(format, args...)}
}

func (in *input) unrecognized(format string, args ...any) error {
	return &frame.Error{Name: in.name, Err: frame.ErrUnrecognized, Msg: fmt.Sprintf(format, args...)}
}
