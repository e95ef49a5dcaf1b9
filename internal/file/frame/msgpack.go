package frame

import (
	"encoding/binary"
	"fmt"
)

// MaxDepth is how deep arrays and maps may be nested in a scanned value.
const MaxDepth = 64

// DefaultMaxElements is the default maximum number of values for ScanMsgpack.
const DefaultMaxElements = 1 << 24

// Limits limits the input of ScanMsgpack.
type Limits struct {
	Elements int  // values in total, including containers and map keys; 0 means DefaultMaxElements
	Ext      bool // accept extension types
}

// ScanError reports where a buffer is not one MessagePack value.
type ScanError struct {
	Offset int // in bytes from the start of the buffer
	Msg    string
}

func (e *ScanError) Error() string { return fmt.Sprintf("msgpack at byte %d: %s", e.Offset, e.Msg) }

// ScanMsgpack checks that b is exactly one MessagePack value, with no byte after it, no nesting beyond MaxDepth, no
// length that exceeds the remaining bytes, and no more values than the limit. It neither recurses nor allocates. A
// buffer that passes is safe for a decoder that trusts lengths. Any error is a [*ScanError].
func ScanMsgpack(b []byte, limits Limits) error {
	budget := uint64(DefaultMaxElements)
	if limits.Elements > 0 {
		budget = uint64(limits.Elements)
	}
	var (
		outer [MaxDepth]uint64 // remaining values in each enclosing container
		depth int
		open  = uint64(1) // remaining values in the innermost one
		at    int
	)
	budget-- // for the value itself; a container's values are deducted when it opens
	for {
		if at >= len(b) {
			return &ScanError{at, fmt.Sprintf("buffer ends, %d more values expected", open)}
		}
		item, msg := readItem(b[at:], limits.Ext)
		if msg != "" {
			return &ScanError{at, msg}
		}
		start := at
		left := uint64(len(b) - at)
		if item.size > left {
			return &ScanError{start, fmt.Sprintf("value of %d bytes, %d left", item.size, left)}
		}
		at += int(item.size)
		open--
		if item.children > 0 {
			if left -= item.size; item.children > left {
				return &ScanError{start, fmt.Sprintf("container of %d values, %d bytes left", item.children, left)}
			}
			if item.children > budget {
				return &ScanError{start, "too many values"}
			}
			if depth == MaxDepth {
				return &ScanError{start, fmt.Sprintf("nested deeper than %d", MaxDepth)}
			}
			budget -= item.children
			outer[depth] = open
			depth++
			open = item.children
		}
		for open == 0 {
			if depth == 0 {
				if at < len(b) {
					return &ScanError{at, fmt.Sprintf("%d bytes after the value", len(b)-at)}
				}
				return nil
			}
			depth--
			open = outer[depth]
		}
	}
}

// item is the head of a value: its size without its children, and the number of values that follow as its children.
type item struct{ size, children uint64 }

// readItem reads the head of the value at the start of b, which is not empty.
func readItem(b []byte, ext bool) (it item, msg string) {
	c := b[0]
	switch {
	case c <= 0x7f || c >= 0xe0: // fixint
		return item{size: 1}, ""
	case c <= 0x8f: // fixmap
		return item{1, 2 * uint64(c&0x0f)}, ""
	case c <= 0x9f: // fixarray
		return item{1, uint64(c & 0x0f)}, ""
	case c <= 0xbf: // fixstr
		return item{size: 1 + uint64(c&0x1f)}, ""
	}
	head := heads[c-0xc0]
	if c == 0xc1 {
		return item{}, "reserved code 0xc1"
	}
	if head.form == formExt && !ext {
		return item{}, fmt.Sprintf("extension type, code %#x", c)
	}
	if len(b) < 1+int(head.width) {
		return item{}, "buffer ends inside a length"
	}
	var n uint64
	switch head.width {
	case 1:
		n = uint64(b[1])
	case 2:
		n = uint64(binary.BigEndian.Uint16(b[1:]))
	case 4:
		n = uint64(binary.BigEndian.Uint32(b[1:]))
	}
	size := 1 + uint64(head.width) + uint64(head.fixed)
	switch head.form {
	case formArray:
		return item{size, n}, ""
	case formMap:
		return item{size, 2 * n}, ""
	}
	return item{size: size + n}, ""
}

// head describes a code from 0xc0 to 0xdf: the width of its length, the fixed
// number of bytes after it, and what the length counts.
type head struct {
	width, fixed uint8
	form         uint8
}

const (
	formData  = iota // length counts bytes
	formArray        // length counts values
	formMap          // length counts pairs
	formExt          // length counts bytes of an extension type
)

var heads = [32]head{
	0xc4 - 0xc0: {width: 1}, 0xc5 - 0xc0: {width: 2}, 0xc6 - 0xc0: {width: 4}, // bin
	0xc7 - 0xc0: {1, 1, formExt}, 0xc8 - 0xc0: {2, 1, formExt}, 0xc9 - 0xc0: {4, 1, formExt},
	0xca - 0xc0: {fixed: 4}, 0xcb - 0xc0: {fixed: 8}, // float
	0xcc - 0xc0: {fixed: 1}, 0xcd - 0xc0: {fixed: 2}, 0xce - 0xc0: {fixed: 4}, 0xcf - 0xc0: {fixed: 8}, // uint
	0xd0 - 0xc0: {fixed: 1}, 0xd1 - 0xc0: {fixed: 2}, 0xd2 - 0xc0: {fixed: 4}, 0xd3 - 0xc0: {fixed: 8}, // int
	0xd4 - 0xc0: {0, 2, formExt}, 0xd5 - 0xc0: {0, 3, formExt}, 0xd6 - 0xc0: {0, 5, formExt},
	0xd7 - 0xc0: {0, 9, formExt}, 0xd8 - 0xc0: {0, 17, formExt}, // fixext
	0xd9 - 0xc0: {width: 1}, 0xda - 0xc0: {width: 2}, 0xdb - 0xc0: {width: 4}, // str
	0xdc - 0xc0: {2, 0, formArray}, 0xdd - 0xc0: {4, 0, formArray},
	0xde - 0xc0: {2, 0, formMap}, 0xdf - 0xc0: {4, 0, formMap},
}
