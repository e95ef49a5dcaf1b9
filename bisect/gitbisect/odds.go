package gitbisect

import "math"

// MaxOdds is the highest accepted probability that a bad commit passes all runs and is taken for good.
const MaxOdds = 1.0 / 1000

// Prior is the assumed share of breaks that show only in some runs, before any run; every rate at which such a break
// shows is assumed to be equally likely.
const Prior = 1.0 / 100

// Odds returns how likely it is that a bad commit passes that many runs in a row, if runs of known bad commits failed
// and passed so often. While all of them failed, the break is steady except for the share Prior; once one has passed it
// is known not to be.
func Odds(failed, passed, runs int) float64 {
	if passed > 0 {
		// The rate has a beta distribution then, and the runs a beta-binomial one.
		return math.Exp(logBeta(1+failed, 1+passed+runs) - logBeta(1+failed, 1+passed))
	}
	seen := 1 - Prior + Prior*math.Exp(logBeta(1+failed, 1))
	return Prior * math.Exp(logBeta(1+failed, 1+runs)) / seen
}

// OddsAlone returns how likely it is that a commit fails in some runs, for a reason that only it has, and passes that
// many in a row.
func OddsAlone(runs int) float64 { return Odds(0, 0, runs) }

// runsFor returns how many runs in a row bring odds below MaxOdds, most at most.
func runsFor(odds func(runs int) float64, most int) int {
	n := 1
	for n < most && odds(n) >= MaxOdds*(1-1e-9) {
		n++
	}
	return n
}

func logBeta(a, b int) float64 {
	x, _ := math.Lgamma(float64(a))
	y, _ := math.Lgamma(float64(b))
	z, _ := math.Lgamma(float64(a + b))
	return x + y - z
}
