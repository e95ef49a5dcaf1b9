package snapshot

import (
	"math"
	"math/big"
)

// Apart says how far the second of two numbers is from the first.
type Apart struct {
	// Difference is the second less the first, with its sign, in the notation of values:
	// exact for whole and fixed numbers, rounded to the type's precision for floats; empty
	// if the values are not two finite numbers.
	Difference string
	// Relative is that difference as a part of the first number's size, nil if the first is
	// zero, or the two have opposite signs, or one of them is zero or not finite.
	Relative *float64
	// Units is, for fixed numbers, how many of their units the difference is.
	Units uint64
}

// Apart returns how far B is from A; booleans, references and what are not numbers are not
// apart.
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
			r := y/x - 1
			if !math.IsInf(r, 0) {
				out.Relative = &r
			}
		}
	case a.Type == Bool || a.Type == Ref || a.Type.Width() == 0:
	default:
		x, y := a.whole(), b.whole()
		d := new(big.Int).Sub(y, x)
		out.Difference = signed(d.String())
		if a.Type == Fixed {
			out.Units = new(big.Int).Abs(d).Uint64() // of two int64, so that it fits
			out.Difference = ""
			if d.IsInt64() {
				out.Difference = signed(string(appendFixed(nil, d.Int64(), a.Scale)))
			}
		}
		if x.Sign() != 0 && x.Sign() == y.Sign() {
			r, _ := new(big.Rat).SetFrac(d, new(big.Int).Abs(x)).Float64()
			if x.Sign() < 0 {
				r = -r // as for floats: more is further from zero
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

// whole returns an integer, or a fixed number's units.
func (v Value) whole() *big.Int {
	if !v.Type.Signed() {
		return new(big.Int).SetUint64(v.bits())
	}
	return big.NewInt(signExtend(v.bits(), v.Type.Width()))
}
