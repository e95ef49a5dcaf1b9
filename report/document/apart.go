package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// tellingULP is the largest number of float steps, or units of a fixed-point number, for which the count shows more
// than the size of the difference.
const tellingULP = 64

// slight is the fraction of a number below which a difference is shown as it is: 0.000006 % means nothing to a reader.
const slight = 1e-5

// Apart returns in a few words how far the second peer's value is from the first peer's: "3 ulp", "+12", "1.02 % more
// on client", "3.05e-05 more on client".
func (f *FieldDocument) Apart(peers [2]string) string {
	return f.apart(peers, " on "+prose.Name(peers[1]))
}

// apart is Apart with on after what is more or less.
func (f *FieldDocument) apart(peers [2]string, on string) string {
	a, b := f.Values[peers[0]], f.Values[peers[1]]
	switch f.Kind {
	case snapshot.KindAbsent:
		for i, v := range []string{a, b} {
			if v == "absent" {
				return "missing on " + prose.Name(peers[i])
			}
		}
	case snapshot.KindNaN:
		var on []string
		for i, v := range []string{a, b} {
			if strings.HasPrefix(v, "nan") {
				on = append(on, prose.Name(peers[i]))
			}
		}
		if len(on) == 2 {
			return "not a number on both, by other bits"
		}
		return "not a number on " + strings.Join(on, "")
	case snapshot.KindSignOfZero:
		return "zero of the other sign"
	case snapshot.KindFloat:
		for i, v := range []string{a, b} {
			if strings.HasSuffix(v, "inf") {
				return "infinite on " + prose.Name(peers[i])
			}
		}
		if f.near() {
			return fmt.Sprintf("%d ulp", *f.ULP)
		}
		return f.relative(peers, on)
	case snapshot.KindFixed:
		if f.Units > 0 && f.Units <= tellingULP {
			return prose.Count(f.Units, "unit of the last place", "units of the last place")
		}
		return f.relative(peers, on)
	case snapshot.KindInteger:
		if f.Difference != "" {
			return f.Difference
		}
	case snapshot.KindBytes:
		if f.Bits > 0 {
			return prose.Count(f.Bits, "bit", "bits")
		}
	}
	return string(f.Kind)
}

// relative returns the size of a difference relative to the value, or the difference itself where it is slight.
func (f *FieldDocument) relative(peers [2]string, on string) string {
	if f.Relative == nil {
		for i, peer := range peers {
			if v := f.Values[peer]; v == "0" || v == "-0" {
				return "zero on " + prose.Name(peers[i])
			}
		}
		if strings.HasPrefix(f.Values[peers[0]], "-") != strings.HasPrefix(f.Values[peers[1]], "-") {
			return "of opposite sign"
		}
		return string(f.Kind)
	}
	r := *f.Relative
	more, less := "more", "less"
	if strings.HasPrefix(f.Values[peers[0]], "-") {
		more, less = "further from zero", "nearer to zero"
	}
	difference, err := strconv.ParseFloat(f.Difference, 64)
	switch {
	case math.IsNaN(r) || math.IsInf(r, 0) || r <= -1:
		return string(f.Kind)
	case math.Abs(r) < slight && err == nil && r < 0:
		return figures(math.Abs(difference)) + " " + less + on
	case math.Abs(r) < slight && err == nil:
		return figures(math.Abs(difference)) + " " + more + on
	case r >= 9:
		return figures(r+1) + " times as much" + on
	case r < 0:
		return figures(-100*r) + " % " + less + on
	}
	return figures(100*r) + " % " + more + on
}

// figures writes a positive number with three figures.
func figures(x float64) string {
	if x >= 1000 || x < 0.001 {
		return strconv.FormatFloat(x, 'g', 3, 64)
	}
	digits := 2 - int(math.Floor(math.Log10(x)))
	s := strconv.FormatFloat(x, 'f', max(digits, 0), 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// near reports whether two floats are so near each other that the steps between them show more than a percentage would.
func (f *FieldDocument) near() bool {
	const tiny, steps = 1e-6, 1_000_000
	return f.ULP != nil && (*f.ULP <= tellingULP || *f.ULP < steps && f.Relative != nil && math.Abs(*f.Relative) < tiny)
}

// float describes how far a float changed: in steps where they are few, else relatively.
func (f *FieldDocument) float(peers [2]string) string {
	switch {
	case f.near():
		return fmt.Sprintf("%s, %d ulp", f.Kind, *f.ULP)
	case f.Relative != nil:
		return string(f.Kind) + ", " + f.relative(peers, "")
	}
	return string(f.Kind)
}
