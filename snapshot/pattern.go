package snapshot

import (
	"math"
	"math/bits"
	"strconv"
)

// PatternKind is a relation between the two sides of a column.
type PatternKind string

// The kinds of patterns, the most specific first. A and B are the two sides.
const (
	PatternAbsent   PatternKind = "absent"   // one side has no values
	PatternSame     PatternKind = "same"     // one side has the same value in all rows, or both have
	PatternZero     PatternKind = "zero"     // one side has 0, false or an empty value in at least three of four rows
	PatternStale    PatternKind = "stale"    // one side has the other side's values of the tick before
	PatternOffset   PatternKind = "offset"   // B − A is the same number
	PatternNegated  PatternKind = "negated"  // B = −A
	PatternFactor   PatternKind = "factor"   // B ÷ A is the same number
	PatternSwapped  PatternKind = "swapped"  // pairs of rows have each other's values
	PatternPermuted PatternKind = "permuted" // both sides have the same values, in other rows
	PatternBit      PatternKind = "bit"      // the same bit differs
	PatternOneBit   PatternKind = "one-bit"  // one bit differs in each row, not always the same
	PatternULP      PatternKind = "ulp"      // floats differ by a few units in the last place
	PatternTotal    PatternKind = "total"    // whole numbers differ up and down, and their sum is the same
	PatternHigher   PatternKind = "higher"   // B is higher
	PatternLower    PatternKind = "lower"    // B is lower
	PatternNone     PatternKind = "none"
)

// Pattern is what the differing values of a column have in common. It holds in all rows of a Tally, except for
// PatternZero.
type Pattern struct {
	Kind PatternKind

	// Side is the side, 0 or 1, that PatternAbsent, PatternSame, PatternZero and PatternStale are about.
	Side int

	// Values are the values of the sides that have the same value in all rows, in the notation of Value.String.
	Values [2]string

	// Rows counts the rows in which the pattern holds.
	Rows uint64

	// Low and High are the range of each side, empty unless all values are numbers.
	Low, High [2]string

	// Least and Most are the range of the differences B − A, as in Apart.Difference. They are empty unless all values
	// are finite numbers.
	Least, Most string

	// Factor is B ÷ A: a whole number, a fraction like 1/2, or a decimal number with at most six digits.
	Factor string

	// Bit is the bit that differs, from 0 for the least significant.
	Bit int

	// ULP is the range of distances between floats, in representable values.
	ULP [2]uint64
}

// fewULPs is the largest distance that PatternULP is for.
const fewULPs = 1 << 12

// Pattern returns the most specific pattern that holds. A single row has no pattern but PatternAbsent and PatternULP,
// since any two values have a difference and a ratio. Patterns of bits take three rows, and are not for booleans.
func (t *Tally) Pattern() Pattern {
	p := Pattern{Kind: PatternNone, Rows: t.Rows}
	several := t.Rows > 1
	for i := range t.side {
		s := &t.side[i]
		if !s.varied && several {
			p.Values[i] = s.first.String()
		}
		if t.numbers == t.Rows && t.Rows > 0 {
			p.Low[i], p.High[i] = s.low.value(t.scale).String(), s.high.value(t.scale).String()
		}
	}
	if t.numbers == t.Rows && t.Rows > 0 {
		p.Least, p.Most = t.least.difference(t.scale), t.most.difference(t.scale)
	}
	if t.floats.rows == t.Rows {
		p.ULP = t.ulps
	}
	zero := 0
	if t.side[1].zero > t.side[0].zero {
		zero = 1
	}
	whole := t.whole.rows == t.Rows && !t.mixed || t.floats.rows == t.Rows
	r := &t.whole
	if t.floats.rows > 0 {
		r = &t.floats
	}
	switch {
	case t.Rows == 0:
	case t.side[0].absent == t.Rows, t.side[1].absent == t.Rows:
		p.Kind, p.Side = PatternAbsent, btoi(t.side[1].absent == t.Rows)
	case p.Values[0] != "" || p.Values[1] != "":
		p.Kind, p.Side = PatternSame, btoi(p.Values[0] == "")
	case several && t.Rows >= 8 && 4*t.side[zero].zero >= 3*t.Rows && 2*t.side[1-zero].zero < t.Rows:
		p.Kind, p.Side, p.Rows = PatternZero, zero, t.side[zero].zero
	case several && (t.stale == 1 || t.stale == 2):
		p.Kind, p.Side = PatternStale, int(t.stale-1)
	case several && whole && r.offset && r.telling():
		p.Kind = PatternOffset
	case several && t.numbers == t.Rows && t.same:
		p.Kind = PatternNegated
	case several && whole && r.factor && r.ratio(t.typ) != "":
		p.Kind, p.Factor = PatternFactor, r.ratio(t.typ)
	case several && t.pairs[0] == t.pairs[1] && !t.mixed:
		p.Kind = PatternSwapped
	case several && t.side[0].sum == t.side[1].sum && !t.mixed:
		p.Kind = PatternPermuted
	case t.floats.rows == t.Rows && t.ulps[1] <= fewULPs:
		p.Kind = PatternULP
	case t.Rows > 2 && t.bits == t.Rows && t.oneBit == t.Rows && bits.OnesCount64(t.flipped) == 1:
		p.Kind, p.Bit = PatternBit, bits.TrailingZeros64(t.flipped)
	case t.Rows > 2 && t.bits == t.Rows && t.oneBit == t.Rows:
		p.Kind = PatternOneBit
	case t.Rows > 2 && t.whole.rows == t.Rows && !t.mixed && t.net == 0:
		p.Kind = PatternTotal
	case several && t.up == t.Rows:
		p.Kind = PatternHigher
	case several && t.down == t.Rows:
		p.Kind = PatternLower
	}
	return p
}

// difference returns B − A, in the notation of Apart.Difference.
func (s *step) difference(scale uint32) string {
	c := Change{A: s.a.value(scale), B: s.b.value(scale)}
	return c.Apart().Difference
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// telling reports whether an offset is more than rounding.
func (r *relation) telling() bool {
	return !r.a.typ.Float() || math.Abs(r.b.f-r.a.f) > 0x1p-16*r.size
}

// ratio returns B ÷ A as a text, "" for a ratio that is too close to 1 to be more than rounding or that is no simple
// fraction of whole numbers.
func (r *relation) ratio(typ Type) string {
	const most = 1000 // of the parts of a fraction
	sign := ""
	if (r.a.f < 0) != (r.b.f < 0) {
		sign = "-"
	}
	if r.a.typ.Float() {
		q := math.Abs(r.b.f / r.a.f)
		if math.Abs(q-1) < 1e-3 {
			return ""
		}
		if n := math.Round(q); n > 1 && n <= most && math.Abs(q-n) <= roundingOf(typ)*n {
			return sign + strconv.FormatFloat(n, 'f', -1, 64)
		}
		if n := math.Round(1 / q); n > 1 && n <= most && math.Abs(1/q-n) <= roundingOf(typ)*n {
			return sign + "1/" + strconv.FormatFloat(n, 'f', -1, 64)
		}
		return sign + strconv.FormatFloat(q, 'g', 6, 64)
	}
	d := gcd(r.a.size(), r.b.size())
	num, den := r.b.size()/d, r.a.size()/d
	switch {
	case num > most || den > most:
		return ""
	case den == 1:
		return sign + strconv.FormatUint(num, 10)
	}
	return sign + strconv.FormatUint(num, 10) + "/" + strconv.FormatUint(den, 10)
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
