package snapshot

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// A Scalar column contains values of a notation without declared types, such as JSON. The first byte of each value
// gives its type:
//
//	"…    text: a quotation mark and the text, which may be any bytes
//	x…    raw bytes: the letter and the bytes
//	true, false, null
//	else  a decimal number in canonical form, or inf, -inf, nan
//
// The canonical form of a number has no more digits than it needs, no plus sign and no leading zeros: 3.0 is 3, and
// 1.50 is 1.5. It has an exponent, as in 1.5e+21, from 1e+21 on and below 1e-06. No digit is rounded away. The sign of
// zero is kept. Equal numbers have one form, so an integer in one dump and 3.0 in the next are equal.

// Numbers have an exponent from this many digits before the point on, or this many zeros after it.
const (
	longestWhole = 21
	mostZeros    = 5
	maxExponent  = 1 << 30
)

// AppendNumber appends the canonical form of a decimal number to dst, as in a Scalar. It returns false if the text is
// not a number, inf, -inf or nan.
func AppendNumber(dst, text []byte) ([]byte, bool) {
	switch string(text) {
	case "inf", "-inf", "nan":
		return append(dst, text...), true
	}
	rest, negative := bytes.CutPrefix(text, []byte("-"))
	whole := digitsOf(rest)
	tail := rest[len(whole):]
	if len(whole) > 0 && len(whole) <= longestWhole && (whole[0] != '0' || len(whole) == 1) && len(tail) == 0 {
		if negative && len(whole) == 1 && whole[0] == '0' {
			return append(dst, "-0"...), true
		}
		return append(dst, text...), true
	}
	var fraction []byte
	if len(tail) > 0 && tail[0] == '.' {
		fraction = digitsOf(tail[1:])
		tail = tail[1+len(fraction):]
	}
	if len(whole)+len(fraction) == 0 {
		return dst, false
	}
	exponent := 0
	if len(tail) > 0 && tail[0]|0x20 == 'e' {
		sign := 1
		tail = tail[1:]
		if len(tail) > 0 && (tail[0] == '+' || tail[0] == '-') {
			if tail[0] == '-' {
				sign = -1
			}
			tail = tail[1:]
		}
		digits := digitsOf(tail)
		if len(digits) == 0 {
			return dst, false
		}
		for _, d := range digits {
			exponent = min(maxExponent, 10*exponent+int(d-'0'))
		}
		exponent *= sign
		tail = tail[len(digits):]
	}
	if len(tail) > 0 {
		return dst, false
	}
	return appendDigits(dst, negative, whole, fraction, exponent), true
}

func digitsOf(text []byte) []byte {
	n := 0
	for n < len(text) && text[n]-'0' <= 9 {
		n++
	}
	return text[:n]
}

// appendDigits appends the number whole.fraction × 10^exponent.
func appendDigits(dst []byte, negative bool, whole, fraction []byte, exponent int) []byte {
	if negative {
		dst = append(dst, '-')
	}
	digits := make([]byte, 0, 64)
	digits = append(append(digits, whole...), fraction...)
	point := len(whole) + exponent // digits before the point
	leading := len(digits) - len(bytes.TrimLeft(digits, "0"))
	digits, point = bytes.TrimRight(digits[leading:], "0"), point-leading
	switch {
	case len(digits) == 0:
		return append(dst, '0')
	case point > longestWhole || point < -mostZeros:
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'e')
		if point > 0 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(point-1), 10)
	case point <= 0:
		dst = append(dst, "0."...)
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	case point >= len(digits):
		dst = append(dst, digits...)
		for n := len(digits); n < point; n++ {
			dst = append(dst, '0')
		}
		return dst
	}
	return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
}

// appendScalar appends a Scalar in the notation of the text twin.
func appendScalar(dst, raw []byte) []byte {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		return strconv.AppendQuote(dst, string(raw[1:]))
	case len(raw) > 0 && raw[0] == 'x':
		return hex.AppendEncode(append(dst, "0x"...), raw[1:])
	}
	return append(dst, raw...)
}

// parseScalar parses the output of appendScalar.
func parseScalar(s string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		raw, err := hex.DecodeString(digits)
		return append([]byte("x"), raw...), err
	}
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		return append([]byte(`"`), text...), err
	}
	if s == "true" || s == "false" || s == "null" {
		return []byte(s), nil
	}
	number, ok := AppendNumber(nil, []byte(s))
	if !ok || string(number) != s {
		return nil, strconv.ErrSyntax
	}
	return number, nil
}

// typed returns two Scalars as values of the narrowest type that fits both. For numbers that is I64 or U64 if both are
// whole, or F64 if it keeps all digits. Otherwise they stay Scalars.
func typed(a, b Value) (Value, Value) {
	for _, typ := range []Type{Bool, I64, U64, F64, String, Bytes} {
		x, ok := a.as(typ)
		if !ok {
			continue
		}
		if y, ok := b.as(typ); ok {
			return x, y
		}
	}
	return a, b
}

// as returns a Scalar as a value of another type, false if the conversion loses something.
func (v Value) as(typ Type) (Value, bool) {
	if len(v.Raw) == 0 {
		return v, false
	}
	text := string(v.Raw)
	first := v.Raw[0]
	switch typ {
	case String, Bytes:
		return Value{Type: typ, Raw: v.Raw[1:]}, first == '"' && typ == String || first == 'x' && typ == Bytes
	case I64, U64:
		if text == "-0" {
			return v, false
		}
	case F64:
		if text == "nan" {
			text = "nan(0x7ff8000000000001)"
		}
	}
	out, err := ParseValue(typ, 0, text)
	if err != nil {
		return v, false
	}
	if f := out.float(); typ == F64 && !math.IsNaN(f) {
		return out, sameNumber(f, text)
	}
	return out, true
}

// sameNumber reports whether the shortest text of a float is the same number as text.
func sameNumber(f float64, text string) bool {
	number, _ := AppendNumber(nil, strconv.AppendFloat(nil, f, 'e', -1, 64))
	return math.IsInf(f, 0) || string(number) == text
}

// scalarKind returns the kind of change for two Scalars that fit no other type.
func scalarKind(a, b []byte) Kind {
	number := func(raw []byte) bool {
		_, ok := AppendNumber(nil, raw)
		return ok
	}
	switch {
	case string(a) == "null" || string(b) == "null":
		return KindAbsent
	case !number(a) || !number(b):
		return KindText
	case bytes.ContainsAny(a, ".e") || bytes.ContainsAny(b, ".e"):
		return KindFloat
	}
	return KindInteger
}
