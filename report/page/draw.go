package page

import (
	"fmt"
	"math"
	"strconv"
)

// num returns a coordinate with at most three decimals.
func num(v float64) string {
	v = math.Round(v*1000) / 1000
	if v == 0 {
		v = 0 // not -0
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// shapes is the number of shapes that shape knows.
const shapes = 4

// shape returns the path of a peer's mark around (x, y): peers differ in shape as well as in
// colour.
func shape(kind int, x, y, r float64) string {
	switch kind % shapes {
	case 0: // circle
		return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0z", num(x-r), num(y), num(r), num(r), num(2*r), num(r), num(r), num(-2*r))
	case 1: // diamond
		r *= 1.25
		return fmt.Sprintf("M%s %sl%s %s %s %s %s %sz", num(x), num(y-r), num(r), num(r), num(-r), num(r), num(-r), num(-r))
	case 2: // square
		r *= 0.9
		return fmt.Sprintf("M%s %sh%sv%sh%sz", num(x-r), num(y-r), num(2*r), num(2*r), num(-2*r))
	}
	r *= 1.15 // triangle
	return fmt.Sprintf("M%s %sl%s %sh%sz", num(x), num(y-r), num(r), num(1.8*r), num(-2*r))
}

// niceStep returns a round number, 1, 2 or 5 times a power of ten, so that a span has about n of
// them.
func niceStep(span float64, n int) float64 {
	if !(span > 0) || math.IsInf(span, 0) {
		return 1
	}
	raw := span / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power {
			return m * power
		}
	}
	return 10 * power
}

// anchor returns on which side of a place its text fits.
func anchor(x float64) string {
	switch {
	case x < 8:
		return "start"
	case x > 92:
		return "end"
	}
	return "middle"
}
