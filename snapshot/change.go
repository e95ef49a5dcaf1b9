package snapshot

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Kind classifies a changed value: by the type of number, and for floats also by special cases of the change.
type Kind string

// The kinds of change.
const (
	KindInteger    Kind = "integer" // booleans too
	KindFixed      Kind = "fixed"
	KindFloat      Kind = "float"
	KindSignOfZero Kind = "sign-of-zero" // 0 and -0
	KindNaN        Kind = "nan"          // a NaN on either side
	KindText       Kind = "text"
	KindBytes      Kind = "bytes"
	KindReference  Kind = "reference"
	KindAbsent     Kind = "absent" // one side has no value
)

// Change is a value that differs between two states.
type Change struct {
	Key              Key
	Component, Field string
	A, B             Value
	Kind             Kind

	// BitsChanged is the number of bits that differ between two numbers, or between two Bytes values of the same
	// length. In all other cases it is 0.
	BitsChanged int

	// ULP is, for KindFloat, the distance from A to B in representable values.
	ULP uint64

	// Excerpt is set if A and B contain only a part of long values.
	Excerpt *Excerpt
}

// Excerpt describes which part of two long values a Change contains.
type Excerpt struct {
	Offset     int // of the first byte of the excerpt, which is shortly before the first difference
	LenA, LenB int // lengths of the values in bytes
}

// Values longer than longValue bytes are reduced to excerptLen bytes around their first difference. Once a comparison
// keeps wholeValues bytes of values, this applies to all values longer than excerptLen.
const (
	longValue   = 64 << 10
	wholeValues = 16 << 20
	excerptLen  = 256
)

// shortened returns the parts of two values that a Change keeps, if either has more than long bytes.
func shortened(a, b []byte, long int) ([]byte, []byte, *Excerpt) {
	if len(a) <= long && len(b) <= long {
		return a, b, nil
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	e := &Excerpt{Offset: max(0, same-excerptLen/8), LenA: len(a), LenB: len(b)}
	part := func(v []byte) []byte { return v[min(e.Offset, len(v)):min(e.Offset+excerptLen, len(v))] }
	return part(a), part(b), e
}

// newChange describes how a value changed. The result aliases a and b. It contains an excerpt if either has more than
// long bytes.
func newChange(key Key, component, field string, a, b Value, long int) Change {
	c := Change{Key: key, Component: component, Field: field}
	if a.Type == Scalar && !a.Absent && !b.Absent {
		a, b = typed(a, b)
	}
	if !a.Absent && !b.Absent && (a.Type.Width() > 0 || a.Type == Bytes && len(a.Raw) == len(b.Raw)) {
		for i := range a.Raw {
			c.BitsChanged += bits.OnesCount8(a.Raw[i] ^ b.Raw[i])
		}
	}
	a.Raw, b.Raw, c.Excerpt = shortened(a.Raw, b.Raw, long)
	c.A, c.B = a, b
	if a.Absent || b.Absent {
		c.Kind = KindAbsent
		return c
	}
	switch a.Type {
	case String:
		c.Kind = KindText
	case Bytes:
		c.Kind = KindBytes
	case Ref:
		c.Kind = KindReference
	case Scalar:
		c.Kind = scalarKind(a.Raw, b.Raw)
	case Fixed:
		c.Kind = KindFixed
	case F32, F64:
		c.classifyFloat()
	default:
		c.Kind = KindInteger
	}
	return c
}

func (c *Change) classifyFloat() {
	width := c.A.Type.Width()
	a, b := orderedFloat(c.A.bits(), width), orderedFloat(c.B.bits(), width)
	switch {
	case math.IsNaN(c.A.float()) || math.IsNaN(c.B.float()):
		c.Kind = KindNaN
	case a == b: // only 0 and -0 map to the same integer
		c.Kind = KindSignOfZero
	default:
		c.Kind = KindFloat
		if c.ULP = uint64(a) - uint64(b); a < b {
			c.ULP = uint64(b) - uint64(a)
		}
	}
}

// orderedFloat maps the bits of a float to an integer that grows with the value by one for each representable value. 0
// and -0 map to the same integer.
func orderedFloat(bits uint64, width int) int64 {
	if sign := uint64(1) << (8*width - 1); bits&sign != 0 {
		return -int64(bits &^ sign)
	}
	return int64(bits)
}

// Denormal reports whether v is a float that is not zero and smaller than the smallest normal float. Some machines
// flush such floats to zero.
func (v Value) Denormal() bool {
	if v.Absent {
		return false
	}
	switch v.Type {
	case F32:
		bits := uint32(v.bits())
		return bits>>23&0xff == 0 && bits<<9 != 0
	case F64:
		bits := v.bits()
		return bits>>52&0x7ff == 0 && bits<<12 != 0
	}
	return false
}

// prefilter is how many bytes ChangedRows compares at once before it examines single values.
const prefilter = 512

// ChangedRows appends to dst the rows in which two columns differ, in value or in presence. The columns must have the
// same type and number of rows.
func ChangedRows(dst []int32, a, b *Column) []int32 {
	width := a.Type.Width()
	if a.Present != nil || b.Present != nil || width == 0 {
		for i := range a.Rows() {
			if a.Has(i) != b.Has(i) || string(a.Raw(i)) != string(b.Raw(i)) {
				dst = append(dst, int32(i))
			}
		}
		return dst
	}
	x, y := a.Data, b.Data[:len(a.Data)]
	rows := int32(0)
	for len(x) > 0 {
		n := min(prefilter, len(x))
		if string(x[:n]) != string(y[:n]) {
			dst = changedIn(dst, x[:n], y[:n], width, rows)
		}
		x, y = x[n:], y[n:]
		rows += int32(n / width)
	}
	return dst
}

// changedIn appends the rows that differ in a piece of at most prefilter bytes. It writes every row and keeps the ones
// that differ, so that many differences cause no mispredicted branches.
func changedIn(dst []int32, x, y []byte, width int, row int32) []int32 {
	n := len(dst)
	rows := len(x) / width
	if cap(dst) < n+rows {
		dst = append(make([]int32, 0, 2*(n+rows)), dst...)
	}
	out := dst[n : n+rows]
	k := 0
	switch width {
	case 8:
		for i := range rows {
			out[k] = row + int32(i)
			k += differ(binary.LittleEndian.Uint64(x[8*i:]) ^ binary.LittleEndian.Uint64(y[8*i:]))
		}
	case 4:
		for i := range rows {
			out[k] = row + int32(i)
			k += differ(uint64(binary.LittleEndian.Uint32(x[4*i:]) ^ binary.LittleEndian.Uint32(y[4*i:])))
		}
	case 2:
		for i := range rows {
			out[k] = row + int32(i)
			k += differ(uint64(binary.LittleEndian.Uint16(x[2*i:]) ^ binary.LittleEndian.Uint16(y[2*i:])))
		}
	default:
		for i := range rows {
			out[k] = row + int32(i)
			k += differ(uint64(x[i] ^ y[i]))
		}
	}
	return dst[:n+k]
}

// differ returns 1 if x is not 0, without a branch.
func differ(x uint64) int { return int((x | -x) >> 63) }
