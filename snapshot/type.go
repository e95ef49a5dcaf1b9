package snapshot

import "fmt"

// Type is the type of a column's values. The numbers are part of the .snap
// format.
type Type uint8

// The types of values. Signed and unsigned integers are two's complement and
// little-endian; floats are IEEE 754 and are compared and hashed by their bits.
const (
	Bool   Type = 1 // one byte, 0 or 1
	I8     Type = 2
	I16    Type = 3
	I32    Type = 4
	I64    Type = 5
	U8     Type = 6
	U16    Type = 7
	U32    Type = 8
	U64    Type = 9
	F32    Type = 10
	F64    Type = 11
	Fixed  Type = 12 // i64, in units of 1/Scale
	String Type = 13 // meant as UTF-8 text, but any bytes are kept
	Bytes  Type = 14
	Ref    Type = 15 // u64, the key of another entity
	Scalar Type = 16 // a value without a declared type in its file: see scalar.go
)

// typeInfo contains each type's name in the text twin and its width in bytes, 0 for variable lengths.
var typeInfo = [...]struct {
	name  string
	width int
}{
	Bool: {"bool", 1}, I8: {"i8", 1}, I16: {"i16", 2}, I32: {"i32", 4}, I64: {"i64", 8},
	U8: {"u8", 1}, U16: {"u16", 2}, U32: {"u32", 4}, U64: {"u64", 8}, F32: {"f32", 4}, F64: {"f64", 8},
	Fixed: {"fixed", 8}, String: {"string", 0}, Bytes: {"bytes", 0}, Ref: {"ref", 8}, Scalar: {"scalar", 0},
}

// Valid reports whether t is one of the types above.
func (t Type) Valid() bool { return t >= Bool && int(t) < len(typeInfo) }

// Width returns the size of a value in bytes, or 0 for String, Bytes and Scalar.
func (t Type) Width() int {
	if !t.Valid() {
		return 0
	}
	return typeInfo[t].width
}

// Signed reports whether t is a signed integer or Fixed.
func (t Type) Signed() bool { return t >= I8 && t <= I64 || t == Fixed }

// Float reports whether t is F32 or F64.
func (t Type) Float() bool { return t == F32 || t == F64 }

func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("type(%d)", uint8(t))
	}
	return typeInfo[t].name
}

// ParseType returns the type of that name.
func ParseType(name string) (Type, error) {
	for t := Bool; t.Valid(); t++ {
		if typeInfo[t].name == name {
			return t, nil
		}
	}
	return 0, fmt.Errorf("unknown type %q", name)
}

// Class is the role of a table in the sim.
type Class uint8

// The classes, in the order in which a World lists its tables. The numbers are
// part of the .snap format.
const (
	Archetype Class = 0 // authoritative state; a leaf of the Merkle tree
	Cache     Class = 1 // derived data that can be recomputed; not covered by the root
	Noise     Class = 2 // known to differ between peers in sync; not covered by the root
)

var classNames = [...]string{Archetype: "archetype", Cache: "cache", Noise: "noise"}

// Valid reports whether c is one of the classes above.
func (c Class) Valid() bool { return int(c) < len(classNames) }

func (c Class) String() string {
	if !c.Valid() {
		return fmt.Sprintf("class(%d)", uint8(c))
	}
	return classNames[c]
}

// ParseClass returns the class of that name.
func ParseClass(name string) (Class, error) {
	for c, n := range classNames {
		if n == name {
			return Class(c), nil
		}
	}
	return 0, fmt.Errorf("unknown class %q", name)
}
