package snapshot

import (
	"math"
	"math/big"
)

// Apart is the distance from the first of two numbers to the second.
type Apart struct {
	// Difference is the second number minus the first, in the notation of values. It is exact for whole and fixed
	// numbers, and rounded to the type's precision for floats. It is empty unless both values are finite numbers.
	Difference string
	// Relative is the difference divided by the size of the first number. It is nil if either number is zero or not
	// finite, or if their signs differ.
	Relative *float64
	// Units is the difference in units, for fixed numbers.
	Units uint64
}

// Apart returns the distance from A to B. It is empty for booleans, references and values that are not numbers.
func (c *Change) Apart() (out Apart) {
	a, b := c.A, c.B
	if a.Absent || b.Absent || c.Excerpt != nil || a.Type != b.Type || a.Scale != b.Scale {
		return out
	}
	switch {
	case a.Type.Float():
		x, y := a.float(), b.float()
		if math.IsNaN(x-y) || math.IsInf(x, 0) || math.IsInf(y, 0) {
			return out
		}
		if d := y - x; !math.IsInf(d, 0) {
			if a.Type == F64 || !math.IsInf(float64(float32(d)), 0) {
				out.Difference = signed(string(appendFinite(nil, d, 8*a.Type.Width())))
			}
		}
		if x != 0 && y != 0 && (x < 0) == (y < 0) {
			if r := y/x - 1; !math.IsInf(r, 0) {
				out.Relative = &r
			}
		}
	case a.Type == Bool || a.Type == Ref || a.Type.Width() == 0:
	default:
		x, y := a.whole(), b.whole()
		d := new(big.Int).Sub(y, x)
		out.Difference = signed(d.String())
		if a.Type == Fixed {
			out.Units = new(big.Int).Abs(d).Uint64() // difference of two int64, so it fits
			out.Difference = ""
			if d.IsInt64() {
				out.Difference = signed(string(appendFixed(nil, d.Int64(), a.Scale)))
			}
		}
		if x.Sign() != 0 && x.Sign() == y.Sign() {
			r, _ := new(big.Rat).SetFrac(d, new(big.Int).Abs(x)).Float64()
			if x.Sign() < 0 {
				r = -r // as for floats, positive means away from zero
			}
			out.Relative = &r
		}
	}
	return out
}

func signed(s string) string {
	if s[0] == '-' {
		return s
	}
	return "+" + s
}

// whole returns an integer, or the units of a fixed number.
func (v Value) whole() *big.Int {
	if !v.Type.Signed() {
		return new(big.Int).SetUint64(v.bits())
	}
	return big.NewInt(signExtend(v.bits(), v.Type.Width()))
}
