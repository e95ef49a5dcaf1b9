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

// column is what the lines of one template have in one place.
type column struct {
	name      string // the word next to it, empty if there is none
	qualifier string // the word before the name
	loose     bool   // the name is not directly next to it
	word      bool   // the values are words
	glued     bool   // the value is a part of a longer name
	unit      bool   // letters follow the value
	index     bool   // it is the number of an element: hash[3]
	followed  bool   // a word follows the value
	placed    bool   // its place on the line counts
	gap       int    // words between the column before and this one that are no name
	values    [][]byte
	figures   figures
}

// roles are what the values of a template are.
type roles struct {
	tick     int // number of the slot
	tickWord string
	rivals   []string // names of columns that may be the tick
	tickHex  bool
	restarts bool // ticks go back by more than most rollbacks do
	points   []point
	peer     int // number of the slot, -1 if there is none
	peerWord string
	scope    int
	// scopeWord precedes the values of scope that are numbers.
	scopeWord string
	// repeats reports that a tick has several lines, in the order of execution.
	repeats bool
	// steady is set if only their form makes the values checksums: they hardly change.
	steady  bool
	again   bool   // some ticks have a second line
	bare    bool   // only the values show what they are: the line has no word for a tick or a checksum
	phase   int    // -1 if there is none
	phaseOf string // the word before a truth value, empty if the value itself is the word
	final   string // the value of the confirmed lines, where words do not show it
}

// point is one checkpoint of a line.
type point struct {
	scope string
	sums  []sum
}

// sum is one checksum of a line.
type sum struct {
	slot int
	name string
	word string // of the log
	hex  bool
	text int  // so many digits are the bytes of a text, see [encoded]
	shy  bool // only its form makes it one, next to others. See [Confirm].
}

// all returns the checksums of a line.
func (r *roles) all() (out []sum) {
	for _, p := range r.points {
		out = append(out, p.sums...)
	}
	return out
}

func (r *roles) shy() bool { return slices.ContainsFunc(r.all(), func(s sum) bool { return s.shy }) }

// without returns the checkpoints without some checksums, and the names of these.
func (r *roles) without(these func(s sum) bool) (out []point, names []string) {
	for _, p := range r.points {
		kept := lists.Where(p.sums, func(s sum) bool { return !these(s) })
		for _, s := range lists.Where(p.sums, these) {
			names = append(names, s.word)
		}
		if len(kept) > 0 {
			out = append(out, point{p.scope, kept})
		}
	}
	return out, names
}

// named reports whether a checksum has a name.
func (r *roles) named() bool {
	return slices.ContainsFunc(r.points, func(p point) bool {
		return slices.ContainsFunc(p.sums, func(s sum) bool { return s.word != "" })
	})
}

// title describes the roles in words.
func (r *roles) title() string {
	tick := "the first number that grows"
	if r.tickWord != "" {
		tick = fmt.Sprintf("the number at %q", r.tickWord)
	}
	var sums []string
	for _, p := range r.points {
		for _, s := range p.sums {
			if s.word == "" {
				sums = append(sums, "an unnamed value")
			} else {
				sums = append(sums, strconv.Quote(s.word))
			}
		}
	}
	out := fmt.Sprintf("tick is %s, checksum is %s", tick, strings.Join(sums, ", "))
	if r.peer >= 0 {
		out += ", peer is " + cmp.Or(strings.Trim(strconv.Quote(r.peerWord), `"`), "the word before the message")
	}
	if r.scope >= 0 {
		out += ", each for a " + cmp.Or(r.scopeWord, "name")
	}
	return out
}

// resolve finds the roles of columns.
func resolve(columns []column, how choice) (roles, bool) {
	r := roles{tick: -1, peer: -1, scope: -1, phase: -1}
	rows := len(columns[0].values)
	for i := range columns {
		columns[i].figures = figuresOf(columns[i].values)
	}
	r.tick, r.rivals = findTick(columns, rows, how)
	if r.tick < 0 {
		return r, false
	}
	tick := &columns[r.tick]
	r.tickHex, r.restarts = tick.figures.letters > 0, tick.figures.back > fewestUnsettled
	named := false // there is a word for a tick
	if vocabulary.Of(tick.name) == vocabulary.Tick || shortTick(tick.name) {
		named = true
		r.tickWord = tick.name
	} else if tick.name != "" { // checksum(617) = 577090037
		lend(columns, r.tick)
	}
	sums, worded := findSums(columns, r.tick, rows, named)
	if len(sums) == 0 && named {
		sums = findSteady(columns, r.tick, rows)
		r.steady, worded = true, true
	}
	r.bare = !named && !worded && rows >= fewestBare && tick.figures.regular && !slices.ContainsFunc(sums, func(i int) bool { return !columns[i].figures.fixed(rows) })
	if len(sums) == 0 || !named && !worded && !r.bare || rows < 3 && (!named || !worded) {
		return r, false
	}
	for i := range sums { // a line with the checksums of several peers
		for _, other := range sums[:i] {
			a, b := columns[sums[i]].values, columns[other].values
			if alikeValues(a, b) >= fewestAlike || rows >= 3 && 2*alikeRows(a, b) >= rows {
				return r, false
			}
		}
	}
	firm := len(sums)
	if !r.steady {
		sums = append(sums, findShy(columns, r.tick, rows, sums)...)
	}
	r.points = pointsOf(columns, sums, firm)
	for i := range columns {
		if phase := phaseWord(columns[i].name); phase != "" && i != r.tick && columns[i].figures.truths == rows {
			r.phase, r.phaseOf = i, phase
		} else if columns[i].word && arePhases(columns[i].values) {
			r.phase, r.phaseOf = i, ""
		}
	}
	r.discriminate(columns, how.alone)
	return r, true
}

// fewestBare is how many lines show what they are by their values alone.
const fewestBare = 8

// redoes reports whether ticks go back or come twice, and lines of one tick have no names that tell them apart.
func (r *roles) redoes(columns []column) bool {
	f := &columns[r.tick].figures
	return (f.falls > 1 || r.again) && f.back <= window && !r.repeats && r.scope < 0 && r.peer < 0 && r.phase < 0
}

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
		if c := &columns[i]; len(list) == 0 && !c.unit && shortTick(c.name) && c.figures.isTick(rows) && c.figures.regular {
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
		list = others
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
			if f.scattered(rows, ticks, 4, 4) {
				sums, worded = append(sums, i), true
			}
		case vocabulary.Other:
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

// siblings adds the columns next to a checksum, without another word between them, whose values have the same form and
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

// locally are parts of names of checksums that a peer computed itself, where the line has those of others.
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
				return !strings.Contains(" state sum sync check root ", " "+part+" ")
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

// rowsByTick returns the rows of each tick: those that follow each other, and all.
func rowsByTick(ticks [][]byte) (runs, all [][]int) {
	number := map[string]int{}
	rows := make([]int, len(ticks))
	from := 0
	for i, tick := range ticks {
		if rows[i] = i; i > 0 && !bytes.Equal(tick, ticks[i-1]) {
			runs, from = append(runs, rows[from:i:i]), i
		}
		n, ok := number[string(tick)]
		if !ok {
			n = len(all)
			number[string(tick)] = n
			all = append(all, rows[i:i+1:i+1])
			continue
		}
		all[n] = append(all[n], i)
	}
	return append(runs, rows[from:]), all
}

// varies reports whether a value changes as a match goes on, while the lines of one tick are of different matches: where ticks
// fall far, another match begins.
func varies(values [][]byte, rowsOf [][]int, ticks [][]byte) bool {
	number := func(row int) uint64 {
		n, _ := strconv.ParseUint(string(ticks[row]), 0, 63)
		return n
	}
	match, changes := make([]int, len(ticks)), 0
	for i := 1; i < len(ticks); i++ {
		switch match[i] = match[i-1]; {
		case number(i-1) > number(i)+fewestUnsettled:
			match[i]++
		case !bytes.Equal(values[i], values[i-1]):
			changes++
		}
	}
	inMatch := lists.Count(rowsOf, func(rows []int) bool {
		n := 0
		for i, row := range rows {
			if i == 0 || match[row] != match[rows[i-1]] {
				n++
			}
		}
		return n < len(rows)
	})
	return changes > match[len(match)-1] && 8*inMatch < len(rowsOf)
}

// several reports whether many ticks have more than one row.
func several(rowsOf [][]int) bool {
	n := lists.Count(rowsOf, func(rows []int) bool { return len(rows) > 1 })
	return n > 0 && 3*n >= len(rowsOf)
}

// maxNames is how many different scopes and peers a log has.
const maxNames = 256

// discriminate finds the column that tells the lines of one tick apart: a peer or a scope.
func (r *roles) discriminate(columns []column, alone bool) {
	ticks := columns[r.tick].values
	runs, all := rowsByTick(ticks)
	again := len(ticks) - len(runs) // lines of the same tick as the one before
	r.repeats, r.again = 2*again > len(ticks)-1 && again > 0, again > 1 && 4*again < len(ticks)
	rowsOf := runs
	if !several(runs) {
		if rowsOf = all; !several(all) {
			return
		}
	}
	best, bestRank := -1, 0
	for i := range columns {
		c := &columns[i]
		few := c.figures.distinct >= 2 && c.figures.distinct <= maxNames
		if i == r.tick || i == r.phase || r.sums(i) || !few || c.word && c.figures.truths == len(ticks) || !tellsApart(c.values, rowsOf) {
			continue
		}
		rank := 0
		switch meaning := vocabulary.Of(c.name); {
		case r.restarts && varies(c.values, rowsOf, ticks): // a value of one of several matches
		case alone && c.word && !slices.ContainsFunc(c.values, func(v []byte) bool { return sideOf(string(v)) == "" }):
			rank = 4
		case meaning == vocabulary.Player || c.word && peerWords(c.values):
			rank = 3
		case c.word:
			rank = 2
		case meaning == vocabulary.Other && c.name != "" && c.figures.integers == len(ticks) && !c.figures.counts():
			rank = 1
		}
		if rank == 1 || rank == 2 {
			if final := r.finalPass(columns, c.values); final != "" {
				r.phase, r.final = i, final
				continue
			}
		}
		if rank > bestRank {
			best, bestRank = i, rank
		}
	}
	back := columns[r.tick].figures.back
	switch {
	case best < 0:
		return
	case bestRank < 3 && back > 0 && back <= window && !onMost(columns[best].values, all):
		return // passes over ticks that are simulated again: neither peers nor parts of the state
	case bestRank < 4 && !r.agree(columns, best, rowsOf, bestRank == 3):
		r.scope = best
		if !columns[best].word {
			r.scopeWord = columns[best].name
		}
	case bestRank < 3 && !r.report(columns, best):
		return // threads and parts of a program
	default:
		if r.peer = best; bestRank == 3 {
			r.peerWord = columns[best].name
		}
	}
	r.repeats = false
}

// report reports whether the values of a column may be peers: each has its ticks once, and half of those that another one has.
func (r *roles) report(columns []column, peer int) bool {
	ticks := map[string][]string{} // of each
	again := 0
	for i, name := range columns[peer].values {
		at := fmt.Sprintf("%020s", columns[r.tick].values[i])
		if of := ticks[string(name)]; slices.Contains(of[max(0, len(of)-window):], at) {
			again++
			continue
		}
		ticks[string(name)] = append(ticks[string(name)], at)
	}
	if 16*again > len(columns[peer].values) || len(ticks) > mostRelayed {
		return false
	}
	for _, list := range ticks {
		slices.Sort(list)
	}
	for a, list := range ticks {
		met := false
		for b, other := range ticks {
			met = met || a != b && meet(list, other)
		}
		if !met {
			return false
		}
	}
	return true
}

// onMost reports whether each of some names is on lines of most ticks.
func onMost(names [][]byte, rowsOf [][]int) bool {
	ticks := map[string]int{}
	for _, rows := range rowsOf {
		seen := map[string]bool{}
		for _, row := range rows {
			if name := string(names[row]); !seen[name] {
				seen[name] = true
				ticks[name]++
			}
		}
	}
	for _, n := range ticks {
		if 4*n < 3*len(rowsOf) {
			return false
		}
	}
	return true
}

func (r *roles) sums(slot int) bool {
	return slices.ContainsFunc(r.points, func(p point) bool {
		return slices.ContainsFunc(p.sums, func(s sum) bool { return s.slot == slot })
	})
}

// tellsApart reports whether most lines of one tick have different values.
func tellsApart(values [][]byte, rowsOf [][]int) bool {
	alike, all := 0, 0
	for _, rows := range rowsOf {
		seen := map[string]bool{}
		for _, row := range rows {
			if seen[string(values[row])] {
				alike++
			}
			seen[string(values[row])] = true
		}
		all += len(rows)
	}
	return 5*alike <= all
}

// agree reports whether lines of one tick often have the same checksum, as peers have and parts of a state have not. If
// their names are no words for peers, a quarter of the ticks has one that no other tick has.
func (r *roles) agree(columns []column, peer int, rowsOf [][]int, named bool) bool {
	sums, peers := columns[r.points[len(r.points)-1].sums[0].slot].values, columns[peer].values
	ticks := map[string]int{} // of a checksum
	for _, rows := range rowsOf {
		seen := map[string]bool{}
		for _, row := range rows {
			if sum := string(sums[row]); !seen[sum] {
				seen[sum] = true
				ticks[sum]++
			}
		}
	}
	equal, own, all := 0, 0, 0
	for _, rows := range rowsOf {
		other := slices.IndexFunc(rows, func(row int) bool { return !bytes.Equal(peers[row], peers[rows[0]]) })
		if other < 0 {
			continue
		}
		all++
		switch sum := sums[rows[0]]; {
		case bytes.Equal(sum, sums[rows[other]]):
			equal++
			if ticks[string(sum)] == 1 {
				own++
			}
		case named && inTwo(sums, peers, rows): // the first one is the odd one out
			equal++
		}
	}
	if named {
		return 10*equal >= all && equal > 0
	}
	return 4*own >= all && own > 0
}

// inTwo reports whether two peers have the same checksum in some rows.
func inTwo(sums, peers [][]byte, rows []int) bool {
	of := map[string][]byte{}
	for _, row := range rows {
		if peer, ok := of[string(sums[row])]; ok && !bytes.Equal(peer, peers[row]) {
			return true
		}
		of[string(sums[row])] = peers[row]
	}
	return false
}

// peerWords reports whether all values are words for peers.
func peerWords(values [][]byte) bool {
	return !slices.ContainsFunc(values, func(v []byte) bool { return !peerWord(string(v)) })
}

// peerWord reports whether a word names a peer: client2.
func peerWord(word string) bool {
	word = strings.TrimRight(strings.ToLower(word), "0123456789")
	return word != "" && strings.Contains(" host client server peer player local guest ", " "+word+" ")
}

// finalPass returns the one of a column's values that a tick's last line has, if the values are passes of one peer over the
// ticks: the checksums of two of them differ at a tick and are equal at the next that both have, again and again. It is empty
// for others.
func (r *roles) finalPass(columns []column, names [][]byte) string {
	of := map[string]map[string]string{} // the checksums by pass and tick, the last ones
	last := map[string]string{}          // passes by tick
	ticks := columns[r.tick].values
	for i, name := range names {
		all := ""
		for _, p := range r.points {
			for _, s := range p.sums {
				all += string(columns[s.slot].values[i]) + " "
			}
		}
		if of[string(name)] == nil {
			of[string(name)] = map[string]string{}
		}
		of[string(name)][string(ticks[i])] = all
		last[string(ticks[i])] = string(name)
	}
	for a, mine := range of {
		for b, other := range of {
			differing, healed, differ := 0, 0, false
			for i, tick := range ticks {
				x, y := mine[string(tick)], other[string(tick)]
				if a >= b || x == "" || y == "" || i > 0 && bytes.Equal(tick, ticks[i-1]) {
					continue
				}
				if x == y && differ {
					healed++
				}
				if differ = x != y; differ {
					differing++
				}
			}
			if guesses(differing, healed) {
				return mostCommon(last)
			}
		}
	}
	return ""
}

// guesses reports whether a value is the guess of another one, that so often differed and was equal again: it is corrected
// within some ticks.
func guesses(differing, healed int) bool {
	const mostHealed, longest = 2, 8
	return healed > mostHealed && differing <= longest*healed
}

// mostCommon returns the value that most keys have.
func mostCommon(values map[string]string) (best string) {
	count := map[string]int{}
	for _, v := range values {
		if count[v]++; count[v] > count[best] {
			best = v
		}
	}
	return best
}

// settled and guessed are words for the pass in which a tick is computed, next to those that phaseWord knows.
const (
	settled = " confirm final finalized finalised committed verified settled authoritative "
	guessed = " predict prediction speculate speculated guess guessed tentative provisional unconfirmed pending resim resims " +
		"resimulate resimulated resimulation resimulating rollback replay replayed rerun forward advance "
)

// arePhases reports whether words are phases: one is a word for a guess or a confirmed value, and the others may be.
func arePhases(values [][]byte) bool {
	certain := false
	for _, v := range values {
		if phaseWord(string(v)) != "" {
			certain = true
		} else if !isPhase(string(v)) {
			return false
		}
	}
	return certain
}

// isPhase reports whether a word may be a phase.
func isPhase(text string) bool { return phaseWord(text) != "" || hasPart(text, settled+guessed) }

// phaseWord returns the word for a phase in a name, empty if there is none.
func phaseWord(name string) string {
	for _, part := range vocabulary.Parts(name) {
		if part == "predicted" || part == "confirmed" || part == "speculative" {
			return part
		}
	}
	return ""
}
