package desk

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within*math.Abs(b) }

// TestOdds compares ratios with tables of the literature.
func TestOdds(t *testing.T) {
	for _, x := range []struct {
		name             string
		table            Table
		ratio, low, high float64
		p, within        float64
		exact            bool
	}{
		// Doll and Hill 1950: men who smoke, of those with lung cancer and of others; 14.04 (3.33 to 59.3).
		{"smoking", Table{647, 649, 622, 649}, 14.04, 3.33, 59.3, 0.00033, .03, false},
		// The lady who tastes tea (Fisher 1935): 17/35.
		{"tea", Table{3, 4, 1, 4}, 9, .367, 220.9, 17.0 / 35, .001, true},
		// A cell of 0, by hand: 17.5*217.5/(0.5*3.5), its logarithm ± 1.96 √(1/17.5+1/0.5+1/3.5+1/217.5).
		{"zero", Table{17, 17, 3, 220}, 2175, 107.97, 43815, 3.1079e-23, .001, true},
	} {
		o := x.table.Odds()
		if !near(o.Ratio, x.ratio, .005) || !near(o.Low, x.low, .005) || !near(o.High, x.high, .005) || !near(o.P, x.p, x.within) || o.Exact != x.exact {
			t.Errorf("%s: %+v", x.name, o)
		}
	}
	// Convictions of twins (Fisher 1962), as in the manual of R's fisher.test.
	if p := (Table{2, 17, 10, 13}).fisher(); !near(p, 0.0005367, .001) {
		t.Errorf("twins: %v", p)
	}
}

// TestFisher: the sum equals the sum of exact fractions.
func TestFisher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := Table{Of: rapid.Int64Range(1, 40).Draw(t, "of"), OthersOf: rapid.Int64Range(1, 60).Draw(t, "others")}
		x.With = rapid.Int64Range(0, x.Of).Draw(t, "with")
		x.OthersWith = rapid.Int64Range(0, x.OthersOf).Draw(t, "others with")
		with := x.With + x.OthersWith
		ways := func(k int64) *big.Int {
			return new(big.Int).Mul(new(big.Int).Binomial(x.Of, k), new(big.Int).Binomial(x.OthersOf, with-k))
		}
		sum := new(big.Int)
		for k := max(0, with-x.OthersOf); k <= min(x.Of, with); k++ {
			if ways(k).Cmp(ways(x.With)) <= 0 {
				sum.Add(sum, ways(k))
			}
		}
		want, _ := new(big.Rat).SetFrac(sum, new(big.Int).Binomial(x.Of+x.OthersOf, with)).Float64()
		if got := x.fisher(); !near(got, want, 1e-6) {
			t.Fatalf("%+v: %v, expected %v", x, got, want)
		}
	})
}
