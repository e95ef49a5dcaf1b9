package sums

import (
	"math"
	"slices"
	"strconv"
)

// rollback is by how many ticks a log may go back in one match, as comparisons have it.
const rollback = 256

// window is by how many ticks a log may go back to simulate them again.
const window = 64

// figures are what the values of a column have in common.
type figures struct {
	integers int // values that are whole numbers, decimal or hexadecimal
	letters  int // of them those that have 0x or a letter
	prefixed int // of them those that have 0x
	negative int
	truths   int // true, false, 0, 1, yes, no
	short    int // the shortest value
	long     int
	median   int // of the lengths, without 0x and sign
	distinct int
	rises    int // steps to a larger value
	falls    int
	coarse   bool   // many different values end with the same digits, as multiples of a number do
	unlike   int    // steps to a value that is larger or smaller by more than a sixteenth
	far      int    // of them those by more than a quarter
	back     uint64 // the largest step to a smaller value
	cycles   bool   // goes back through most of its range again and again
	regular  bool   // grows by regular steps, and goes back by at most a window or to its begin
}

func figuresOf(values [][]byte) figures {
	f := figures{short: math.MaxInt}
	seen := map[string]struct{}{}
	numbers := make([]uint64, 0, len(values))
	var lengths []int
	hex := slices.ContainsFunc(values, hasLetters)
	for _, v := range values {
		seen[string(v)] = struct{}{}
		if isTruth(v) {
			f.truths++
		}
		digits, letters, ok := integer(v)
		if !ok {
			continue
		}
		f.integers++
		if letters {
			f.letters++
		}
		if v[0] == '-' {
			f.negative++
		} else if len(v) > len(digits) {
			f.prefixed++
		}
		f.short, f.long = min(f.short, len(digits)), max(f.long, len(digits))
		lengths = append(lengths, len(digits))
		numbers = append(numbers, leading(digits, hex))
	}
	f.distinct, f.coarse = len(seen), areCoarse(seen)
	if len(lengths) > 0 {
		slices.Sort(lengths)
		f.median = lengths[len(lengths)/2]
	}
	f.steps(numbers)
	return f
}

// areCoarse reports whether a quarter of different values end with the same two digits. A hash function gives one of 256, or of
// 100, the same; positions in fixed point, 00c8f800, often have zeros.
func areCoarse(values map[string]struct{}) bool {
	const fewest = 8
	ends, most := map[string]int{}, 0
	for v := range values {
		end := v[max(0, len(v)-2):]
		ends[end]++
		most = max(most, ends[end])
	}
	return len(values) >= fewest && most >= fewest/2 && 4*most >= len(values)
}

// steps counts how the numbers go on.
func (f *figures) steps(numbers []uint64) {
	strides := map[uint64]int{}
	far, least := false, slices.Min(append(numbers[:len(numbers):len(numbers)], math.MaxUint64))
	for i := 1; i < len(numbers); i++ {
		a, b := numbers[i-1], numbers[i]
		if b > a {
			f.rises++
			strides[b-a]++
		} else if b < a {
			f.falls++
			f.back = max(f.back, a-b)
			far = far || a-b > window && b > least+1
		}
		if diff := max(a, b) - min(a, b); diff > max(a, b)/16 {
			f.unlike++
			if diff > max(a, b)/4 {
				f.far++
			}
		}
	}
	if len(numbers) > 0 {
		half, again := (slices.Max(numbers)-least)/2, 0
		for i := 1; i < len(numbers); i++ {
			if numbers[i] < numbers[i-1] && numbers[i-1]-numbers[i] > half {
				again++
			}
		}
		f.cycles = again > 1
	}
	f.regular = len(numbers) >= 3 && f.distinct >= 3 && regular(strides, f.rises) && f.rises > f.falls && !far
}

// regular reports whether half of some steps are the same one, and nearly all others a few of these, as where lines are
// missing.
func regular(strides map[uint64]int, steps int) bool {
	const mostMissing = 8
	stride, most := uint64(0), 0
	for d, n := range strides {
		if n > most || n == most && d < stride {
			stride, most = d, n
		}
	}
	fit := 0
	for d, n := range strides {
		if d%stride == 0 && d/stride <= mostMissing {
			fit += n
		}
	}
	return 10*fit >= 9*steps && 2*most >= steps
}

// counts reports whether many values grow and hardly ever fall, as the last tick with all inputs does.
func (f *figures) counts() bool {
	const many = 8
	return f.distinct >= many && f.rises >= 8*f.falls
}

// isTick reports whether values can be ticks.
func (f *figures) isTick(rows int) bool {
	if f.integers < rows || f.negative > 0 || f.long > 19 || f.falls > f.rises {
		return false
	}
	return f.letters == 0 || f.prefixed == f.integers || f.short == f.long && (f.long >= 6 || f.long >= 4 && f.regular) && f.long <= 16
}

// isLate reports whether values can be ticks of several peers that may be late.
func (f *figures) isLate(rows int) bool {
	one := *f
	one.falls = 0
	return one.isTick(rows) && f.back <= window && f.rises > 0
}

// scattered reports whether a hash function may have computed the values: without order, mostly different, and mostly
// of so many digits.
func (f *figures) scattered(rows, ticks, hex, decimal int) bool {
	digits := decimal
	if f.letters > 0 {
		digits = hex
	}
	steps := max(rows-1, 1)
	switch {
	case rows < 3 || f.integers < rows || f.median < digits || f.regular:
		return false
	case 2*f.distinct < ticks || f.distinct < 2:
		return false
	case 2*f.unlike < f.rises+f.falls:
		return false
	}
	return rows < 8 || 10*f.rises <= 9*steps
}

// fixed reports whether values have the form of a checksum in hexadecimal: all of 8, 16 or more such digits, and no
// counter or addresses near each other.
func (f *figures) fixed(rows int) bool {
	return rows >= 3 && f.integers == rows && f.letters > 0 && f.short == f.long && f.short%8 == 0 && !f.regular &&
		2*f.unlike >= f.rises+f.falls
}

// digests reports whether values have the form of a checksum in hexadecimal and are mostly different, though perhaps near each
// other, as those of a weak function are.
func (f *figures) digests(rows, ticks int) bool {
	return rows >= fewestBare && f.integers == rows && f.letters > 0 && f.short == f.long && f.short%8 == 0 && !f.regular && 2*f.distinct >= ticks
}

// shaped reports whether values have the form of a checksum and may be the same for long: nearly all of at least so many digits,
// and without order where they change.
func (f *figures) shaped(rows, digits int) bool {
	return rows >= 3 && f.integers == rows && f.median >= digits && f.negative < rows && !f.regular && !f.coarse && 2*f.unlike >= f.rises+f.falls
}

// integer returns the digits of a whole number, and whether it is hexadecimal for sure.
func integer(v []byte) (digits []byte, letters, ok bool) {
	digits = v
	if len(digits) > 1 && digits[0] == '-' {
		digits = digits[1:]
	}
	if len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x' {
		digits, letters = digits[2:], true
	}
	for _, c := range digits {
		if c >= '0' && c <= '9' {
			continue
		}
		if c|0x20 < 'a' || c|0x20 > 'f' {
			return nil, false, false
		}
		letters = true
	}
	if letters && v[0] == '-' {
		return nil, false, false
	}
	return digits, letters, len(digits) > 0
}

func hasLetters(v []byte) bool {
	_, letters, ok := integer(v)
	return ok && letters
}

// leading returns the number of the first digits, at most 16.
func leading(digits []byte, hex bool) uint64 {
	base := 10
	if hex {
		base = 16
	}
	n, _ := strconv.ParseUint(string(digits[:min(len(digits), 16)]), base, 64)
	return n
}

func isTruth(v []byte) bool {
	switch string(v) {
	case "0", "1", "true", "false", "True", "False", "TRUE", "FALSE", "yes", "no":
		return true
	}
	return false
}
