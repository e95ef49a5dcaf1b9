package sums

import (
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
	said      bool   // the name is a side, and another word of the line means a checksum
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
	pass    int    // the column with the pass over a tick, where no line is for good and the last one counts, -1 if there is none
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
	r := roles{tick: -1, peer: -1, scope: -1, phase: -1, pass: -1}
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
	r.bare = !named && !worded && rows >= fewestBare && tick.figures.regular && !tick.figures.cycles && !slices.ContainsFunc(sums, func(i int) bool { return !columns[i].figures.fixed(rows) })
	for _, i := range sums {
		c := &columns[i]
		r.bare = r.bare || !c.said && vocabulary.Of(c.name) == vocabulary.WeakSum && !c.figures.scattered(rows, tick.figures.distinct, 4, 4)
	}
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
			if r.phase, r.phaseOf = i, ""; tick.figures.falls > 1 && !areSettled(columns[i].values) {
				r.phase, r.pass = -1, i
			}
		}
	}
	r.discriminate(columns, how.alone)
	return r, true
}

// fewestBare is how many lines show what they are by their values alone.
const fewestBare = 8
