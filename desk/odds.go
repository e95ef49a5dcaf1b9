package desk

import "math"

// Table counts how many reports have a value, in a group and in the other reports.
type Table struct {
	With       int64 `json:"matches"` // in the group, of Of reports with a known value
	Of         int64 `json:"of"`
	OthersWith int64 `json:"others"` // in all others
	OthersOf   int64 `json:"of_others"`
}

// Odds is how much more often a group has a value than others.
type Odds struct {
	// Ratio is the odds ratio, and Low to High its 95 % confidence interval. The interval uses the logarithm's standard
	// error (Woolf 1955), with one half added to each cell if one of them is 0 (Haldane 1956, Anscombe 1956).
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// P is the probability of a table that is at least as unlikely as this one, if the value made no difference. It is
	// two-sided, by Fisher's exact test if fewer than 5 are expected in a cell, otherwise by the normal approximation
	// of the ratio's logarithm.
	P     float64 `json:"p"`
	Exact bool    `json:"exact"` // P comes from Fisher's test
}

// Bound for 95 %: the 0.975 quantile of the normal distribution.
const z95 = 1.959963984540054

// Odds computes the odds ratio. The table must have 0 ≤ With ≤ Of and Of > 0 on both sides.
func (t Table) Odds() Odds {
	a, b := float64(t.With), float64(t.Of-t.With)
	c, d := float64(t.OthersWith), float64(t.OthersOf-t.OthersWith)
	if a == 0 || b == 0 || c == 0 || d == 0 {
		a, b, c, d = a+.5, b+.5, c+.5, d+.5
	}
	log, se := math.Log(a*d/(b*c)), math.Sqrt(1/a+1/b+1/c+1/d)
	o := Odds{Ratio: math.Exp(log), Low: math.Exp(log - z95*se), High: math.Exp(log + z95*se), P: math.Erfc(math.Abs(log) / se / math.Sqrt2)}
	if o.Exact = t.leastExpected() < 5; o.Exact {
		o.P = t.fisher()
	}
	return o
}

// leastExpected is the smallest expected count in a cell if the value made no difference.
func (t Table) leastExpected() float64 {
	with, all := float64(t.With+t.OthersWith), float64(t.Of+t.OthersOf)
	return min(float64(t.Of), float64(t.OthersOf)) * min(with, all-with) / all
}

// fisher returns the two-sided P of Fisher's exact test: the sum of the probabilities of all tables with the same sums
// that are at most as probable as this one.
func (t Table) fisher() float64 {
	n, with, all := t.Of, t.With+t.OthersWith, t.Of+t.OthersOf
	choose := func(n, k int64) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c
	}
	log := func(k int64) float64 { return choose(n, k) + choose(all-n, with-k) - choose(all, with) }
	const same = 1e-7 // relative; probabilities that differ only by rounding
	limit := log(t.With) + same
	sum := 0.0
	for k := max(0, with-(all-n)); k <= min(n, with); k++ {
		if p := log(k); p <= limit {
			sum += math.Exp(p)
		}
	}
	return min(sum, 1)
}

// Far is the distance of the interval from 1, as a factor. It is 0 if the interval contains 1.
func (o Odds) Far() float64 {
	switch {
	case o.Low > 1:
		return o.Low
	case o.High < 1:
		return 1 / o.High
	}
	return 0
}

// apartAt is the significance level in total, for any number of examined facts.
const apartAt = 0.05

// SetsApart reports whether a difference is not by chance, if this many were examined (Bonferroni). The interval that
// holds with 95 % for all of them at once must exclude 1, and P must be small enough.
func (o Odds) SetsApart(looked int) bool { return o.Far() > 0 && o.P*float64(looked) < apartAt }
