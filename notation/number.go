package notation

import (
	"math"
	"math/big"
	"strconv"
)

// maxDigits is how many digits an integer in another base may have. A longer one is text.
const maxDigits = 1 << 10

// appendFloat appends the shortest number that reads as f, which has 32 or 64 bits: 0.1, 1e+21, nan, -inf.
func appendFloat(out []byte, f float64, bits int) []byte {
	switch a := math.Abs(f); {
	case f != f:
		return append(out, "nan"...)
	case f < -math.MaxFloat64:
		return append(out, "-inf"...)
	case a > math.MaxFloat64:
		return append(out, "inf"...)
	case a != 0 && (a < 1e-6 || a >= 1e21):
		return strconv.AppendFloat(out, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(out, f, 'f', -1, bits)
}

// plainNumber returns a number as JSON has it, if the whole text is a number as programs write it: also +5, .5, 5.,
// 0x1f, 0o17 and 0b11. A number with a leading zero, such as 007, is none: readers do not agree on its base.
func plainNumber(text []byte) ([]byte, bool) {
	unsigned := text
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	if len(unsigned) == 0 || unsigned[0] > '9' {
		return nil, false
	}
	if text[0] == '+' {
		text = unsigned
	}
	if unsigned[0] == '0' && len(unsigned) > 1 && unsigned[1] != '.' && unsigned[1]|0x20 != 'e' {
		return otherBase(text[:len(text)-len(unsigned)], unsigned)
	}
	if n := numberLen(text); n > 0 && n == len(text) {
		return text, true
	}
	for i, c := range unsigned { // a point without digits before or after it
		if c != '.' {
			continue
		}
		before, after := unsigned[:i], unsigned[i+1:]
		out := append([]byte{}, text[:len(text)-len(unsigned)]...)
		switch {
		case i == 0 && len(after) > 0 && after[0]-'0' <= 9:
			out = append(append(out, "0."...), after...)
		case i > 0 && (len(after) == 0 || after[0]|0x20 == 'e'):
			out = append(append(out, before...), after...)
		}
		return out, numberLen(out) == len(out) && len(out) > 0
	}
	return nil, false
}

// otherBase returns a number that has a prefix for its base as a decimal one.
func otherBase(sign, text []byte) ([]byte, bool) {
	base := map[byte]int{'x': 16, 'o': 8, 'b': 2}[text[1]|0x20]
	if base == 0 || len(text) < 3 || len(text) > maxDigits || text[2] == '-' || text[2] == '+' {
		return nil, false
	}
	n, ok := new(big.Int).SetString(string(text[2:]), base)
	if !ok {
		return nil, false
	}
	return n.Append(append([]byte{}, sign...), 10), true
}
