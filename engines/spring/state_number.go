package spring

import (
	"math"
	"strconv"
)

// parseFloat returns the bits of the f32 that is printed as a number: with however many decimals, or with as many
// digits as distinguish it from all others. A number that is not the printed form of an f32, such as a longer one that
// is only close to one, is refused.
func parseFloat(b []byte) (bits uint32, ok bool) {
	if f, ok := parseDecimal(b); ok {
		return math.Float32bits(f), true
	}
	switch string(b) {
	case "nan":
		return 0x7fc00000, true
	case "-nan":
		return 0xffc00000, true
	case "inf":
		return 0x7f800000, true
	case "-inf":
		return 0xff800000, true
	}
	if len(b) == 0 || len(b) > 64 || b[0] > '9' {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(b), 32)
	if err != nil {
		return 0, false
	}
	var buf [96]byte
	decimals := 0
	for i, c := range b {
		if c == '.' {
			decimals = len(b) - i - 1
		}
	}
	ok = string(strconv.AppendFloat(buf[:0], v, 'f', decimals, 64)) == string(b) ||
		string(strconv.AppendFloat(buf[:0], v, 'g', -1, 32)) == string(b)
	return math.Float32bits(float32(v)), ok
}

// parseDecimal is parseFloat for up to 15 digits and up to nine after the point,
// where it is exact.
func parseDecimal(b []byte) (float32, bool) {
	digits := b
	if len(b) > 0 && b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 16 || digits[0] == '0' && len(digits) > 1 && digits[1] != '.' {
		return 0, false
	}
	mantissa, point := uint64(0), len(digits)
	for i, c := range digits {
		if d := c - '0'; d <= 9 {
			mantissa = 10*mantissa + uint64(d)
			continue
		}
		if c != '.' || point < len(digits) || i == 0 || i == len(digits)-1 {
			return 0, false
		}
		point = i
	}
	decimals := max(0, len(digits)-point-1)
	if decimals >= len(powers) || mantissa >= 1<<53 {
		return 0, false
	}
	f := float64(mantissa) / powers[decimals] // rounded once
	// A value halfway between two f32 may have been rounded to that point.
	if math.Float64bits(f)<<35 == 1<<63 {
		return 0, false
	}
	// 24 bits times 21: exact, and so is the difference. Of two prints that are
	// equally near, engines take either.
	v := float32(f)
	if off := float64(v)*powers[decimals] - float64(mantissa); off > 0.5 || off < -0.5 {
		return 0, false
	}
	if len(digits) != len(b) {
		v = -v
	}
	return v, true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}
