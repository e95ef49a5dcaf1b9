package desk

import (
	"cmp"
	"strconv"
	"strings"
)

// Build is a build of a game.
type Build struct {
	Name string
	Day  int64 // first day on which it is known to have been played, in days since 1970; 0 if unknown
}

// CompareBuilds compares the ages of two builds of a game. Builds with a version in their names are ordered as in
// Semantic Versioning 2.0.0, section 11, with any number of numbers. Others follow, ordered by the first day on which
// they were played, then by name.
func CompareBuilds(a, b Build) int {
	va, okA := parseVersion(a.Name)
	vb, okB := parseVersion(b.Name)
	switch {
	case okA != okB && okA:
		return -1
	case okA != okB:
		return 1
	case okA:
		return cmp.Or(va.compare(vb), strings.Compare(a.Name, b.Name))
	}
	return cmp.Or(cmp.Compare(a.Day, b.Day), strings.Compare(a.Name, b.Name))
}

// version is the first part of a build's name: 1.4.3-rc.1.
type version struct {
	numbers []uint64
	before  string // the part after a dash; such a version precedes the one without it
}

// parseVersion parses a version: an optional v, at least two numbers separated by dots, then a dash and more, or text
// that is not part of the version: "+5f2c1e0", " (r4711)".
func parseVersion(name string) (v version, ok bool) {
	rest := strings.TrimPrefix(strings.TrimPrefix(name, "v"), "V")
	for {
		n := 0
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			n++
		}
		number, err := strconv.ParseUint(rest[:n], 10, 64)
		if err != nil {
			return v, false
		}
		v.numbers = append(v.numbers, number)
		rest = rest[n:]
		if len(rest) < 2 || rest[0] != '.' || rest[1] < '0' || rest[1] > '9' {
			break
		}
		rest = rest[1:]
	}
	if before, found := strings.CutPrefix(rest, "-"); found {
		v.before, _, _ = strings.Cut(before, "+")
	} else if rest != "" && strings.ContainsRune("abcdefghijklmnopqrstuvwxyz", rune(rest[0])) {
		if len(v.numbers) < 2 {
			return v, false // a word or a hash that begins with digits
		}
		v.before = rest // 0.26alpha
	}
	return v, len(v.numbers) > 1
}

func (v version) compare(w version) int {
	for i := range max(len(v.numbers), len(w.numbers)) {
		var a, b uint64
		if i < len(v.numbers) {
			a = v.numbers[i]
		}
		if i < len(w.numbers) {
			b = w.numbers[i]
		}
		if c := cmp.Compare(a, b); c != 0 {
			return c
		}
	}
	switch {
	case v.before == w.before:
		return 0
	case v.before == "":
		return 1
	case w.before == "":
		return -1
	}
	as, bs := strings.Split(v.before, "."), strings.Split(w.before, ".")
	for i := range min(len(as), len(bs)) {
		a, errA := strconv.ParseUint(as[i], 10, 64)
		b, errB := strconv.ParseUint(bs[i], 10, 64)
		var c int
		switch {
		case errA == nil && errB == nil:
			c = cmp.Compare(a, b)
		case errA == nil:
			c = -1
		case errB == nil:
			c = 1
		default:
			c = strings.Compare(as[i], bs[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}
