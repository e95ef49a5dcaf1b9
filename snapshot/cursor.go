package snapshot

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// cursor decodes a scanned MessagePack value and keeps the first error.
type cursor struct {
	*msgpack.Decoder
	err error
}

// newCursor checks that b is exactly one value and returns a cursor for it.
func newCursor(b []byte) (*cursor, error) {
	if err := frame.ScanMsgpack(b, frame.Limits{}); err != nil {
		return nil, err
	}
	return &cursor{Decoder: msgpack.NewDecoder(bytes.NewReader(b))}, nil
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// array enters an array, which must have n elements.
func (c *cursor) array(what string, n int) {
	if got := c.length(what); c.err == nil && got != n {
		c.fail("%s has %d elements, expected %d", what, got, n)
	}
}

// length enters an array and returns its length.
func (c *cursor) length(what string) int {
	if c.err != nil {
		return 0
	}
	n, err := c.DecodeArrayLen()
	if err != nil {
		c.fail("%s: %v", what, err)
	} else if n < 0 {
		c.fail("%s is nil", what)
	}
	return max(n, 0)
}

// unsigned reads an integer from 0 to limit.
func (c *cursor) unsigned(what string, limit uint64) uint64 {
	if c.err != nil {
		return 0
	}
	v, err := c.DecodeInterface()
	if err != nil {
		c.fail("%s: %v", what, err)
		return 0
	}
	number := reflect.ValueOf(v)
	switch {
	case number.CanUint() && number.Uint() <= limit:
		return number.Uint()
	case number.CanInt() && number.Int() >= 0 && uint64(number.Int()) <= limit:
		return uint64(number.Int())
	}
	c.fail("%s is %v, expected an integer from 0 to %d", what, v, limit)
	return 0
}

func (c *cursor) text(what string) string {
	if c.err != nil {
		return ""
	}
	s, err := c.DecodeString()
	if err == nil {
		err = checkText(s)
	}
	if err != nil {
		c.fail("%s: %v", what, err)
	}
	return s
}

func (c *cursor) bytes(what string, limit int) []byte {
	if c.err != nil {
		return nil
	}
	b, err := c.DecodeBytes()
	if err != nil {
		c.fail("%s: %v", what, err)
	} else if len(b) > limit {
		c.fail("%s has %d bytes, at most %d are allowed", what, len(b), limit)
	}
	return b
}

func (c *cursor) hash(what string) (h merkle.Hash) {
	if b := c.bytes(what, len(h)); c.err == nil && len(b) != len(h) {
		c.fail("%s has %d bytes, expected %d", what, len(b), len(h))
	} else {
		copy(h[:], b)
	}
	return h
}

const maxU64, maxU32 = 1<<64 - 1, 1<<32 - 1
