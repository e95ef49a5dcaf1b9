package extsim

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// lengthSize is how many bytes the length in front of a frame takes.
const lengthSize = 4

// message builds a frame.
type message struct {
	b   []byte
	enc *msgpack.Encoder
}

func (m *message) Write(b []byte) (int, error) { m.b = append(m.b, b...); return len(b), nil }
func (m *message) WriteByte(c byte) error      { m.b = append(m.b, c); return nil }

// begin empties the message except for the room of its length.
func (m *message) begin() {
	if m.enc == nil {
		m.enc = msgpack.NewEncoder(m)
	}
	m.b = append(m.b[:0], make([]byte, lengthSize)...)
}

// Writing to memory cannot fail, so these drop the encoder's errors.
func (m *message) array(n int)     { _ = m.enc.EncodeArrayLen(n) }
func (m *message) uint(n uint64)   { _ = m.enc.EncodeUint(n) }
func (m *message) int(n int64)     { _ = m.enc.EncodeInt(n) }
func (m *message) str(s string)    { _ = m.enc.EncodeString(s) }
func (m *message) bool(b bool)     { _ = m.enc.EncodeBool(b) }
func (m *message) null()           { _ = m.enc.EncodeNil() }
func (m *message) mapping(n int)   { _ = m.enc.EncodeMapLen(n) }
func (m *message) raw(b []byte)    { m.b = append(m.b, b...) }
func (m *message) uint32(n uint32) { m.uint(uint64(n)) }

func (m *message) bin(b []byte) {
	_ = m.enc.EncodeBytesLen(len(b))
	m.raw(b)
}

func (m *message) strs(list []string) {
	m.array(len(list))
	for _, s := range list {
		m.str(s)
	}
}

// accept begins the reply to a request that succeeded, which its result ends.
func (m *message) accept(id uint64) {
	m.begin()
	m.array(3)
	m.uint(id)
	m.null()
}

// refuse makes the reply to a request that failed.
func (m *message) refuse(id uint64, method string, err error) {
	m.begin()
	m.array(3)
	m.uint(id)
	m.str(fmt.Sprintf("%s: %v", method, err))
	m.null()
}

// frame fills in the length and returns the whole frame.
func (m *message) frame() []byte {
	binary.LittleEndian.PutUint32(m.b, uint32(len(m.b)-lengthSize))
	return m.b
}

// body is the value without its length.
func (m *message) body() []byte { return m.b[lengthSize:] }

// readFrame reads a frame into buf. A length is trusted only as far as bytes come.
func readFrame(r *bufio.Reader, buf *bytes.Buffer, limit uint32) ([]byte, error) {
	var head [lengthSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err // io.EOF between frames
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > limit {
		return nil, fmt.Errorf("a frame of %d bytes, at most %d were expected", n, limit)
	}
	buf.Reset()
	if got, err := io.CopyN(buf, r, int64(n)); err != nil {
		if err == io.EOF {
			return nil, fmt.Errorf("a frame of %d bytes ends after %d: %w", n, got, io.ErrUnexpectedEOF)
		}
		return nil, err
	}
	return buf.Bytes(), nil
}

// values reads a value that has been scanned. After the first error all methods return
// zero values.
type values struct {
	r   *bytes.Reader
	b   []byte
	dec *msgpack.Decoder
	err error
}

// read begins a value, which is scanned first: the decoder trusts lengths.
func (v *values) read(b []byte) error {
	if err := frame.ScanMsgpack(b, frame.Limits{}); err != nil {
		return err
	}
	if v.dec == nil {
		v.r = bytes.NewReader(nil)
		v.dec = msgpack.NewDecoder(v.r)
	}
	v.b, v.err = b, nil
	v.r.Reset(b)
	v.dec.Reset(v.r)
	return nil
}

func (v *values) fail(what string, err error) {
	if v.err == nil {
		v.err = fmt.Errorf("%s: %w", what, err)
	}
}

// tuple reads the length of an array that must have n elements.
func (v *values) tuple(n int, what string) {
	if got := v.array(what); v.err == nil && got != n {
		v.err = fmt.Errorf("%s: %d elements, expected %d", what, got, n)
	}
}

func (v *values) array(what string) int {
	return v.length(what, "an array", (*msgpack.Decoder).DecodeArrayLen)
}

func (v *values) mapping(what string) int {
	return v.length(what, "a map", (*msgpack.Decoder).DecodeMapLen)
}

// length reads the length of an array or of a map, which nil does not have.
func (v *values) length(what, expected string, read func(*msgpack.Decoder) (int, error)) int {
	if v.err != nil {
		return 0
	}
	n, err := read(v.dec)
	if err == nil && n < 0 {
		err = errors.New("expected " + expected)
	}
	if err != nil {
		v.fail(what, err)
		return 0
	}
	return n
}

// decode decodes a value that begins with a code that fits.
func decode[T any](v *values, what string, fits func(code byte) bool, expected string, value func() (T, error)) T {
	var none T
	if v.err != nil {
		return none
	}
	code, err := v.dec.PeekCode()
	if err == nil && !fits(code) {
		err = fmt.Errorf("code 0x%02x, expected %s", code, expected)
	}
	if err == nil {
		var decoded T
		if decoded, err = value(); err == nil {
			return decoded
		}
	}
	v.fail(what, err)
	return none
}

// uint takes a signed form as well, if it is not negative.
func (v *values) uint(what string) uint64 {
	fits := func(c byte) bool { return c <= 0x7f || c >= 0xcc && c <= 0xd3 }
	return decode(v, what, fits, "an unsigned integer", func() (uint64, error) {
		if c, err := v.dec.PeekCode(); err != nil || c < 0xd0 {
			return v.dec.DecodeUint64()
		}
		n, err := v.dec.DecodeInt64()
		if err == nil && n < 0 {
			err = fmt.Errorf("%d, expected an unsigned integer", n)
		}
		return uint64(n), err
	})
}

// uint32 is uint of 32 bits.
func (v *values) uint32(what string) uint32 {
	n := v.uint(what)
	if v.err == nil && n > math.MaxUint32 {
		v.fail(what, fmt.Errorf("%d, expected a number of 32 bits", n))
	}
	return uint32(n)
}

func (v *values) int(what string) int64 {
	fits := func(c byte) bool { return c <= 0x7f || c >= 0xe0 || c >= 0xcc && c <= 0xd3 }
	return decode(v, what, fits, "a whole number", func() (int64, error) {
		if c, err := v.dec.PeekCode(); err != nil || c != 0xcf {
			return v.dec.DecodeInt64()
		}
		n, err := v.dec.DecodeUint64()
		if err == nil && n > math.MaxInt64 {
			err = fmt.Errorf("%d, expected at most %d", n, int64(math.MaxInt64))
		}
		return int64(n), err
	})
}

func (v *values) bool(what string) bool {
	return decode(v, what, func(byte) bool { return true }, "", v.dec.DecodeBool)
}

func (v *values) str(what string) string {
	fits := func(c byte) bool { return c >= 0xa0 && c <= 0xbf || c >= 0xd9 && c <= 0xdb }
	return decode(v, what, fits, "a string", v.dec.DecodeString)
}

func (v *values) strs(what string) []string {
	var list []string
	for range v.array(what) {
		if list = append(list, v.str(what)); v.err != nil {
			return nil
		}
	}
	return list
}

// bin returns bytes of the message itself.
func (v *values) bin(what string) []byte {
	n := decode(v, what, func(c byte) bool { return c >= 0xc4 && c <= 0xc6 }, "bin", v.dec.DecodeBytesLen)
	if v.err != nil {
		return nil
	}
	at := len(v.b) - v.r.Len()
	_, _ = v.r.Seek(int64(n), io.SeekCurrent)
	return v.b[at : at+n : at+n]
}

func (v *values) hash(what string) merkle.Short {
	b := v.bin(what)
	if v.err == nil && len(b) != merkle.ShortSize {
		v.err = fmt.Errorf("%s: %d bytes, expected %d", what, len(b), merkle.ShortSize)
	}
	if v.err != nil {
		return merkle.Short{}
	}
	return merkle.Short(b)
}

// null reports whether the next value is nil, and skips it if so.
func (v *values) null(what string) bool {
	if v.err != nil {
		return false
	}
	c, err := v.dec.PeekCode()
	if err != nil {
		v.fail(what, err)
		return false
	}
	if c != 0xc0 {
		return false
	}
	if err := v.dec.DecodeNil(); err != nil {
		v.fail(what, err)
	}
	return true
}

// raw returns the bytes of the next value, whatever it is.
func (v *values) raw(what string) []byte {
	if v.err != nil {
		return nil
	}
	at := len(v.b) - v.r.Len()
	if err := v.dec.Skip(); err != nil {
		v.fail(what, err)
		return nil
	}
	end := len(v.b) - v.r.Len()
	return v.b[at:end:end]
}

// skip skips the next value.
func (v *values) skip(what string) { v.raw(what) }

func quote(s string) string { return strconv.Quote(s) }
