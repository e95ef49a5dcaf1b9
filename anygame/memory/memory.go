// Package memory reads raw memory of a game, such as a struct that was written to a file as it is, with a description of
// its type: the game's own debug information, or a text like the declaration of a struct in C.
//
// A [Layout] is the type, flat: each value with its place, and the bytes that are no value.
package memory

import (
	"fmt"
	"math/bits"
	"slices"
)

// Kind is the kind of a value in memory.
type Kind uint8

// The kinds of values.
const (
	Bool     Kind = iota
	Signed        // integer, two's complement
	Unsigned      // integer
	Float         // IEEE 754 of 4 or 8 bytes
	Fixed         // signed integer in units of 1/Scale
	Enum          // integer with names
	Pointer       // address
	Text          // array of char, up to a zero
	Opaque        // bytes of a type that is none of these
	Array         // elements
	Union         // alternatives; memory does not show which one it contains
	Variant       // alternatives; a tag shows which one it is
)

// Layout is how a type lies in memory.
type Layout struct {
	Name      string
	Size      int64 // bytes
	BigEndian bool

	Fields  []Field   // by offset
	Padding []Padding // by offset

	cells float64 // values of all elements of all arrays
	print string  // equal for equal layouts
}

// Field is one value, or an array of values.
type Field struct {
	Path           string // names of members with dots between them; "" for the type itself
	Struct, Member string // the innermost struct with a name that it lies in, and the path in there

	Offset, Size int64 // bytes
	Kind         Kind
	Bit, Bits    int64 // of a bit field: where it begins, counted from Offset, and its bits; else 0

	Scale  uint32            // of Fixed
	Names  map[uint64]string // of Enum, by the value's bits
	Signed bool              // of Enum

	Count   int64   // of Array
	Element *Layout // of Array

	Tag          *Field // of Variant, nil if there is one alternative only
	Alternatives []Alternative
}

// Alternative is one of the types that a value may have.
type Alternative struct {
	Name   string
	Tags   []uint64 // of Variant
	Others bool     // of Variant: it has all tags that no alternative has
	Layout *Layout
}

// Padding is a range of bytes, or some bits of a byte, that belong to no value.
type Padding struct {
	Offset, Size int64
	Mask         byte // the bits of each byte that belong to no value

	Struct string // the innermost struct that it lies in
	At     int64  // its offset in there
	After  string // the member before it, "" if there is none
}

// name returns the name of a field for people. In is the name of the array that it is an element of.
func (f *Field) name(in string) string {
	switch {
	case f.Struct != "" && f.Member != "":
		return f.Struct + "." + f.Member
	case in != "":
		return in
	}
	return f.Struct + f.Member
}

// amount returns how much a padding is, for people.
func (p *Padding) amount() string {
	amount := fmt.Sprintf("%d bytes", p.Size)
	switch n := bits.OnesCount8(p.Mask); {
	case n == 1:
		amount = "1 bit"
	case n < 8:
		amount = fmt.Sprintf("%d bits", n)
	case p.Size == 1:
		amount = "1 byte"
	}
	return amount
}

// place returns where a padding lies, for people.
func (p *Padding) place() string {
	if p.After == "" {
		return "in " + p.Struct
	}
	return "after " + p.Struct + "." + p.After
}

// bytes returns how many bytes have bits of a field.
func (f *Field) bytes() int64 {
	if f.Bits > 0 {
		return (f.Bit + f.Bits + 7) / 8
	}
	return f.Size
}

// span returns the bits of a field.
func (f *Field) span() span {
	if f.Bits > 0 {
		return span{8*f.Offset + f.Bit, 8*f.Offset + f.Bit + f.Bits}
	}
	return span{8 * f.Offset, 8 * (f.Offset + f.Size)}
}

// raw returns the bits of an integer of at most 64 bits. Base is where its struct begins.
func (f *Field) raw(memory []byte, base int64, big bool) uint64 {
	b := memory[base+f.Offset : base+f.Offset+f.bytes()]
	var value, over uint64 // a bit field may reach into a ninth byte
	if big {
		for _, c := range b {
			over = over<<8 | value>>56
			value = value<<8 | uint64(c)
		}
	} else {
		for _, c := range slices.Backward(b) {
			over = over<<8 | value>>56
			value = value<<8 | uint64(c)
		}
	}
	if f.Bits == 0 {
		return value
	}
	shift := f.Bit
	if big {
		shift = 8*int64(len(b)) - f.Bit - f.Bits
	}
	return (value>>shift | over<<(64-shift)) & (1<<f.Bits - 1)
}

// width returns the bits of an integer.
func (f *Field) width() int64 {
	if f.Bits > 0 {
		return f.Bits
	}
	return 8 * f.Size
}

// signed returns the bits of a signed integer as 64.
func (f *Field) signed(raw uint64) int64 {
	shift := 64 - f.width()
	return int64(raw<<shift) >> shift
}

// active returns the alternative of a Variant that memory holds; nil if its tag belongs to none, or there is no memory.
func (f *Field) active(memory []byte, base int64, big bool) *Alternative {
	if f.Tag == nil {
		return &f.Alternatives[0]
	}
	if base+f.Offset+f.Size > int64(len(memory)) {
		return nil
	}
	tag := f.Tag.raw(memory, base+f.Offset, big)
	var others *Alternative
	for i := range f.Alternatives {
		a := &f.Alternatives[i]
		if slices.Contains(a.Tags, tag) {
			return a
		}
		if a.Others {
			others = a
		}
	}
	return others
}
