package notation

import (
	"math"
	"strconv"
)

// maxDigits is how many digits an integer in another base may have.
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
