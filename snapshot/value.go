package snapshot

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Value is one value of one row.
type Value struct {
	Type   Type
	Scale  uint32 // for Fixed
	Absent bool
	Raw    []byte // as in a column; empty or zero if absent
}

// At returns row i's value. Its Raw aliases the column.
func (c *Column) At(i int) Value {
	return Value{Type: c.Type, Scale: c.Scale, Absent: !c.Has(i), Raw: c.Raw(i)}
}

// absentText represents a missing value.
const absentText = "absent"

// String returns the value in the notation of the text twin:
//
//	bool           true, false
//	integers       decimal
//	f32, f64       the shortest decimal that reads back as the same bits, with
//	               an exponent below 1e-06 and from 1e+21 on; inf, -inf; -0; a
//	               NaN by its bits, nan(0x7ff8000000000001)
//	fixed          the exact decimal if Scale has no factors but two and five,
//	               else units/scale
//	string         a Go string literal: quoted, with \n, \", \\, \xNN, \uNNNN …
//	bytes          0x and hex digits
//	ref            @ and the key
//	scalar         true, false, null, a decimal number, inf, -inf or nan; text as a string, raw bytes as bytes
//	no value       absent
func (v Value) String() string { return string(v.Append(nil)) }

// Append appends v.String() to dst.
func (v Value) Append(dst []byte) []byte {
	if v.Absent {
		return append(dst, absentText...)
	}
	switch v.Type {
	case Bool:
		return strconv.AppendBool(dst, v.bits() != 0)
	case F32, F64:
		return v.appendFloat(dst)
	case Fixed:
		return appendFixed(dst, int64(v.bits()), v.Scale)
	case String:
		return strconv.AppendQuote(dst, string(v.Raw))
	case Bytes:
		return hex.AppendEncode(append(dst, "0x"...), v.Raw)
	case Ref:
		return strconv.AppendUint(append(dst, '@'), v.bits(), 10)
	case Scalar:
		return appendScalar(dst, v.Raw)
	}
	if v.Type.Signed() {
		return strconv.AppendInt(dst, signExtend(v.bits(), v.Type.Width()), 10)
	}
	return strconv.AppendUint(dst, v.bits(), 10)
}

// bits returns a fixed-width value, zero-extended.
func (v Value) bits() uint64 {
	var b [8]byte
	copy(b[:], v.Raw)
	return binary.LittleEndian.Uint64(b[:])
}

func (v Value) appendFloat(dst []byte) []byte {
	f := v.float()
	switch {
	case math.IsNaN(f):
		return append(strconv.AppendUint(append(dst, "nan(0x"...), v.bits(), 16), ')')
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	}
	return appendFinite(dst, f, 8*v.Type.Width())
}

// appendFinite appends a finite float with size bits.
func appendFinite(dst []byte, f float64, size int) []byte {
	form := byte('f')
	if magnitude := math.Abs(f); magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21) {
		form = 'e'
	}
	return strconv.AppendFloat(dst, f, form, -1, size)
}

// float returns an F32 or F64 as a float.
func (v Value) float() float64 { return floatOf(v.bits(), v.Type) }

// decimals returns how many decimal places units of 1/scale need, or -1 if no number of places suffices.
func decimals(scale uint32) int {
	twos, fives := 0, 0
	for ; scale%2 == 0; scale /= 2 {
		twos++
	}
	for ; scale%5 == 0; scale /= 5 {
		fives++
	}
	if scale != 1 {
		return -1
	}
	return max(twos, fives)
}

func appendFixed(dst []byte, units int64, scale uint32) []byte {
	places := decimals(scale)
	if scale == 0 || places < 0 {
		return strconv.AppendUint(append(strconv.AppendInt(dst, units, 10), '/'), uint64(scale), 10)
	}
	magnitude := uint64(units)
	if units < 0 {
		dst = append(dst, '-')
		magnitude = -magnitude
	}
	dst = strconv.AppendUint(dst, magnitude/uint64(scale), 10)
	rest := magnitude % uint64(scale)
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for ; places > 0 && rest != 0; places-- {
		rest *= 10
		dst = append(dst, '0'+byte(rest/uint64(scale)))
		rest %= uint64(scale)
	}
	return dst
}

// ParseValue parses the output of Value.String for a value of that type.
func ParseValue(typ Type, scale uint32, s string) (Value, error) {
	v := Value{Type: typ, Scale: scale}
	var bits uint64
	var err error
	switch {
	case s == absentText:
		v.Absent = true
		v.Raw = make([]byte, typ.Width())
		return v, nil
	case typ == Bool:
		switch s {
		case "true":
			bits = 1
		case "false":
		default:
			err = strconv.ErrSyntax
		}
	case typ.Float():
		bits, err = parseFloat(typ, s)
	case typ == Fixed:
		var units int64
		units, err = parseFixed(s, scale)
		bits = uint64(units)
	case typ == String:
		var text string
		if !strings.HasPrefix(s, `"`) {
			err = strconv.ErrSyntax
		} else {
			text, err = strconv.Unquote(s)
		}
		v.Raw = []byte(text)
	case typ == Bytes:
		if digits, ok := strings.CutPrefix(s, "0x"); !ok {
			err = strconv.ErrSyntax
		} else {
			v.Raw, err = hex.DecodeString(digits)
		}
	case typ == Ref:
		if digits, ok := strings.CutPrefix(s, "@"); !ok {
			err = strconv.ErrSyntax
		} else {
			bits, err = strconv.ParseUint(digits, 10, 64)
		}
	case typ == Scalar:
		v.Raw, err = parseScalar(s)
	case typ.Signed():
		var n int64
		n, err = strconv.ParseInt(s, 10, 8*typ.Width())
		bits = uint64(n)
	default:
		bits, err = strconv.ParseUint(s, 10, 8*typ.Width())
	}
	if err != nil {
		return Value{}, fmt.Errorf("%.40q is not a value of type %s", s, typ)
	}
	if w := typ.Width(); w > 0 {
		v.Raw = binary.LittleEndian.AppendUint64(nil, bits)[:w]
	}
	return v, nil
}

func parseFloat(typ Type, s string) (uint64, error) {
	size := 8 * typ.Width()
	if digits, ok := strings.CutPrefix(s, "nan(0x"); ok {
		digits, ok = strings.CutSuffix(digits, ")")
		bits, err := strconv.ParseUint(digits, 16, size)
		if err != nil || !ok || !math.IsNaN(floatOf(bits, typ)) {
			return 0, strconv.ErrSyntax
		}
		return bits, nil
	}
	if s != "inf" && s != "-inf" && strings.Trim(s, "0123456789+-.e") != "" {
		return 0, strconv.ErrSyntax // other forms that ParseFloat accepts
	}
	f, err := strconv.ParseFloat(s, size)
	if err != nil {
		return 0, err
	}
	return floatBits(f, typ), nil
}

// maxFixedText is the length in bytes of the longest decimal that is read as a fixed value. The longest that is written
// has 53.
const maxFixedText = 64

func parseFixed(s string, scale uint32) (int64, error) {
	if units, of, ok := strings.Cut(s, "/"); ok {
		if of != strconv.FormatUint(uint64(scale), 10) {
			return 0, strconv.ErrSyntax
		}
		return strconv.ParseInt(units, 10, 64)
	}
	if len(s) > maxFixedText || strings.Trim(s, "0123456789+-.") != "" {
		return 0, strconv.ErrSyntax
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, strconv.ErrSyntax
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(scale)))
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, strconv.ErrRange
	}
	return r.Num().Int64(), nil
}
