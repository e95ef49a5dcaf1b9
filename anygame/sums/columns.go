package sums

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
)

// oneSided reports whether a name means something else in the log of each peer.
func oneSided(name string) bool { return hasPart(name, locally+remotely) }

// sideOf returns the part of a name that is a role, empty if none is.
func sideOf(name string) string {
	for _, part := range vocabulary.Parts(name) {
		if peerWord(part) || oneSided(part) && !strings.Contains(" expected received recv incoming reported ", " "+part+" ") {
			return part
		}
	}
	return ""
}

// alikeRows returns how many rows have the same value in two columns.
func alikeRows(a, b [][]byte) (n int) {
	for i := range a {
		if bytes.Equal(a[i], b[i]) {
			n++
		}
	}
	return n
}

// alikeValues returns how many different values two columns have in the same rows.
func alikeValues(a, b [][]byte) int {
	values := map[string]bool{}
	for i := range a {
		if bytes.Equal(a[i], b[i]) {
			values[string(a[i])] = true
		}
	}
	return len(values)
}

// shortTick reports whether a name is a letter for a tick.
func shortTick(name string) bool { return name == "t" || name == "f" || name == "T" || name == "F" }

// lend gives the name of a tick to the column after it that has none: checksum(617) = 577090037.
func lend(columns []column, tick int) {
	if next := tick + 1; next < len(columns) && columns[next].name == "" {
		columns[next].name, columns[next].loose = columns[tick].name, true
		columns[tick].name = ""
	}
}

// findTick returns the number of the column with ticks, -1 if there is none, and the names of all that it may be.
func findTick(columns []column, rows int, how choice) (tick int, rivals []string) {
	firstSum := len(columns)
	for i := range columns {
		if vocabulary.Of(columns[i].name) == vocabulary.Sum {
			firstSum = min(firstSum, i)
		}
	}
	var list []int
	for i := range columns {
		c := &columns[i]
		if !c.unit && vocabulary.Of(c.name) == vocabulary.Tick && (c.figures.isTick(rows) || how.alone && c.figures.isLate(rows)) {
			list = append(list, i)
		}
	}
	lists.SortStable(list, func(a, b int) int { // of equal ones the last before the checksum
		x, y := &columns[a], &columns[b]
		before := func(i int) int { return max(0, i-firstSum+1)*2*len(columns) - i }
		return cmp.Or(y.figures.distinct-x.figures.distinct, x.distance()-y.distance(), before(a)-before(b))
	})
	for i := range columns { // a letter, with its sign of equality
		if c := &columns[i]; len(list) == 0 && !c.unit && (shortTick(c.name) || c.name == "n") && c.figures.isTick(rows) && c.figures.regular {
			list = append(list, i)
		}
	}
	var others []int
	for i := range columns {
		c := &columns[i]
		meaning := vocabulary.Of(c.name)
		call := (meaning == vocabulary.Sum || meaning == vocabulary.WeakSum) && i+1 < len(columns) && columns[i+1].name == ""
		alone := !c.glued && !c.word && !c.unit && c.figures.regular && c.figures.isTick(rows)
		if alone && (c.name == "" || call && !(c.index && c.figures.falls > 0)) {
			others = append(others, i)
		}
	}
	if len(list) == 0 {
		if list = others; firstSum == len(columns) && columns[0].placed { // without any word, the one next to the checksum
			slices.Reverse(list)
		}
	}
	tick = -1
	for n, i := range list {
		name := cmp.Or(strings.TrimSpace(columns[i].qualifier+" "+columns[i].name), "#"+strconv.Itoa(n))
		if rivals = append(rivals, name); n == 0 || name == how.tick {
			tick = i
		}
	}
	return tick, rivals
}

// distance is the distance of a column's name.
func (c *column) distance() int { return max(distance(c.name), distance(c.qualifier)) }

// findSums returns the numbers of the columns with checksums, and whether one has a word for it. Named is set if there
// is a word for the tick.
func findSums(columns []column, tick, rows int, named bool) (sums []int, worded bool) {
	ticks := columns[tick].figures.distinct
	for i := range columns {
		c := &columns[i]
		if i == tick || c.word || c.unit || remote(c.name) || remote(c.qualifier) || predicted(c.name) {
			continue
		}
		f := &c.figures
		switch vocabulary.Of(c.name) {
		case vocabulary.Sum:
			if (c.loose || !named) && rows >= 3 && !f.scattered(rows, ticks, 4, 4) {
				continue
			}
			if 5*f.integers >= 4*rows && (named || !f.regular) {
				sums, worded = append(sums, i), true
			}
		case vocabulary.WeakSum:
			if f.scattered(rows, ticks, 4, 4) || named && f.digests(rows, ticks) {
				sums, worded = append(sums, i), true
			}
		case vocabulary.Other:
			if c.said && f.shaped(rows, 8) {
				sums, worded = append(sums, i), true
				continue
			}
			near := !c.placed || i > tick && c.gap <= 1 || i == tick-1 && columns[tick].gap <= 1
			counted := c.followed && f.letters == 0 // 123456789 bytes
			random := f.scattered(rows, ticks, 6, 8) && 2*f.far >= f.rises+f.falls && f.distinct*5 >= ticks*4
			if near && random && !counted && !c.glued && !f.coarse && ticks >= 3 {
				sums = append(sums, i)
			}
		}
	}
	return siblings(columns, sums, tick, rows), worded
}

// siblings adds the columns next to a checksum, without another word between them, if their values have the same form and
// change as often: a checksum of a part of the state that hardly changes has a value near the one before.
func siblings(columns []column, sums []int, tick, rows int) []int {
	for i := range 2 * len(columns) { // forward, and back
		at, beside := i, i-1
		if i >= len(columns) {
			at, beside = 2*len(columns)-1-i, 2*len(columns)-i
		}
		c := &columns[at]
		f := &c.figures
		if at == tick || c.unit || c.glued || remote(c.name) || predicted(c.name) || slices.Contains(sums, at) || !slices.Contains(sums, beside) {
			continue
		}
		near, form := columns[max(at, beside)].gap == 0, &columns[beside].figures
		alike := f.letters > 0 && form.letters > 0 && f.short == f.long && form.short == form.long && f.short == form.short
		alike = alike && 2*alikeRows(c.values, columns[beside].values) < rows
		changes := f.integers == rows && !f.coarse && 2*f.distinct >= columns[tick].figures.distinct && !f.regular && (rows < 8 || 10*f.rises <= 9*rows)
		if near && alike && changes && f.short >= 8 && vocabulary.Of(c.name) == vocabulary.Other {
			sums = append(sums, at)
		}
	}
	slices.Sort(sums)
	return sums
}

// findShy returns the numbers of the columns that have a name, and values of the form of those in a column with checksums,
// which need not change: a checksum of a part of the state is the same as long as that part is.
func findShy(columns []column, tick, rows int, sums []int) (shy []int) {
	for i := range columns {
		c := &columns[i]
		meaning, f, least := vocabulary.Of(c.name), &c.figures, 8
		switch {
		case meaning == vocabulary.WeakSum:
			least = 4
		case c.name == "" && c.gap == 0 && slices.Contains(sums, i-1) && f.short == f.long && f.short == columns[i-1].figures.long:
			least = 4 // sum 60701 19940
		case meaning != vocabulary.Other || c.name == "":
			continue
		}
		if i == tick || c.word || c.unit || c.glued || c.index || remote(c.name) || remote(c.qualifier) || predicted(c.name) || slices.Contains(sums, i) {
			continue
		}
		alike := func(of int) bool {
			form := &columns[of].figures
			return 2*alikeRows(c.values, columns[of].values) < rows && (f.letters > 0) == (form.letters > 0) && f.prefixed == form.prefixed && form.median <= f.median+1 && f.long <= form.long
		}
		if f.shaped(rows, least) && slices.ContainsFunc(sums, alike) {
			shy = append(shy, i)
		}
	}
	return shy
}

// generators are parts of names of values that may be constant in a session in which the states differ.
const generators = " rng random rand rnd prng seed "

// findSteady returns the numbers of the columns in which a weak word for a checksum precedes values that only have the
// form of checksums, because the state hardly changes.
func findSteady(columns []column, tick, rows int) (sums []int) {
	for i := range columns {
		c := &columns[i]
		if i == tick || c.word || c.unit || c.loose || remote(c.name) || remote(c.qualifier) || predicted(c.name) ||
			vocabulary.Of(c.name) != vocabulary.WeakSum || !c.figures.fixed(rows) || hasPart(c.name, generators) {
			continue
		}
		sums = append(sums, i)
	}
	return sums
}

// remotely are parts of names of checksums that another peer computed.
const remotely = " remote theirs their other others expected received recv incoming reported "

func remote(name string) bool { return hasPart(name, remotely) }

// hasPart reports whether a part of a name is in a list of words.
func hasPart(name, words string) bool {
	return slices.ContainsFunc(vocabulary.Parts(name), func(part string) bool {
		return strings.Contains(words, " "+part+" ")
	})
}

// predicted reports whether a name is for a value that its peer predicted: frame 5 predicted 9f3acc01 confirmed 5d1c22aa.
func predicted(name string) bool {
	phase := phaseWord(name)
	return phase == "predicted" || phase == "speculative"
}

// locally are parts of names of checksums that a peer computed itself, on lines with the checksums of others.
const locally = " local own my mine our ours self "

// own reports whether a name or qualifier of a checksum has such a word.
func (r *roles) own(columns []column) bool {
	for i := range columns {
		for _, part := range append(vocabulary.Parts(columns[i].name), vocabulary.Parts(columns[i].qualifier)...) {
			if r.sums(i) && strings.Contains(locally, " "+part+" ") {
				return true
			}
		}
	}
	return false
}

// general are parts of names of checksums that do not tell which part of the state they cover.
const general = " the a of local own my our current cur game world sim full final net value val u i x frame tick turn " +
	"step cycle simulation lockstep desync for at is "

// pointsOf returns the checkpoints of a line. If the name of a checksum has more than a word for it, the rest is the
// part of the state that it covers. Those after the firm ones are shy.
func pointsOf(columns []column, sums []int, firm int) []point {
	type labelled struct {
		sum
		scope string
		part  bool // of the state
	}
	var list []labelled
	count := map[string]int{}
	for _, i := range sums {
		count[columns[i].name]++
	}
	scoped := false
	for n, i := range sums {
		c := &columns[i]
		one := labelled{sum: sum{slot: i, name: c.name, word: c.name, hex: c.figures.letters > 0, shy: n >= firm}}
		meaning := vocabulary.Of(c.name)
		var rest []string
		for _, part := range vocabulary.Parts(c.name) {
			m := vocabulary.Of(part)
			if m != vocabulary.Sum && m != vocabulary.WeakSum && !strings.Contains(general, " "+part+" ") {
				rest = append(rest, part)
			}
		}
		switch {
		case meaning == vocabulary.Other && (len(c.name) == 1 || len(rest) == 0): // local=5f3a91c7
		case meaning == vocabulary.Other:
			one.scope, one.name = c.name, ""
		case count[c.name] > 1 && c.qualifier != "":
			one.scope, one.name = c.qualifier, ""
			one.word = c.qualifier + " " + c.name
		case len(rest) > 0 && meaning == vocabulary.Sum:
			one.scope, one.name = strings.Join(rest, "_"), ""
		case meaning == vocabulary.WeakSum:
			one.part = slices.ContainsFunc(vocabulary.Parts(c.name), func(part string) bool {
				return !strings.Contains(" state sum sync check root cs chk ", " "+part+" ")
			})
		}
		scoped = scoped || one.scope != ""
		list = append(list, one)
	}
	whole := point{}
	var points []point
	for i := range list {
		one := &list[i]
		if one.part && (scoped || len(list) == 1) {
			one.scope, one.name = one.name, ""
		}
		if one.scope != "" {
			scope := unused(one.scope, func(name string) bool {
				return slices.ContainsFunc(points, func(p point) bool { return p.scope == name })
			})
			points = append(points, point{scope: scope, sums: []sum{one.sum}})
		} else {
			whole.sums = append(whole.sums, one.sum)
		}
	}
	// the same in each log, whichever of them look like checksums there
	lists.SortStable(points, func(a, b point) int { return a.sums[0].slot - b.sums[0].slot })
	lists.SortStable(whole.sums, func(a, b sum) int { return a.slot - b.slot })
	whole.main()
	for i := range whole.sums {
		whole.sums[i].name = unused(whole.sums[i].name, func(name string) bool {
			return slices.ContainsFunc(whole.sums[:i], func(s sum) bool { return s.name == name })
		})
	}
	if len(whole.sums) > 0 {
		points = append(points, whole)
	}
	return points
}

// main makes the main checksum the first and takes its name away, so that it is the same one in a log without the
// others.
func (p *point) main() {
	i := slices.IndexFunc(p.sums, func(s sum) bool { return vocabulary.Of(s.name) == vocabulary.Sum })
	if i = max(i, 0); i < len(p.sums) {
		main := p.sums[i]
		main.name = ""
		p.sums = slices.Insert(slices.Delete(p.sums, i, i+1), 0, main)
	}
}

// unused returns a name with a number if it is taken.
func unused(name string, taken func(name string) bool) string {
	one := name
	for n := 2; taken(one); n++ {
		one = fmt.Sprintf("%s#%d", name, n)
	}
	return one
}
