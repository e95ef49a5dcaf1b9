package sums

import (
	"bytes"
	"slices"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/tracediff"
)

// pair finds the forms of lines that have one checksum at different times: when a tick was simulated at first, again, and for
// good. The values differ at some ticks and are equal at later ones, again and again. The checksums of two peers, or of two
// parts of the state, do not.
func pair(list []template, groups []*group) {
	const fewestHealed = 3
	for i := range list {
		for k := range i {
			a, b := &list[k], &list[i]
			if !a.alike(b) {
				continue
			}
			if groups[k].healed(groups[i], a, b) >= fewestHealed || groups[k].simulatedAgain(groups[i], a, b) || groups[i].simulatedAgain(groups[k], b, a) {
				a.twin = max(a.twin, k+1)
				b.twin = a.twin
				break
			}
		}
	}
	for i := range list {
		confirmed := func(k int) bool {
			return list[k].twin == list[i].twin && passIn(groups[k].line) == tracediff.Confirmed
		}
		list[i].final = list[i].twin > 0 && confirmed(i)
		for k := range list {
			list[i].guess = list[i].guess || list[i].twin > 0 && !confirmed(i) && confirmed(k)
		}
	}
}

// passIn returns the phase that a part of a line names by any word for a pass over the tick: Predict, Resim, Confirm. The last one
// counts, since an earlier one may be the name of the logger.
func passIn(part []byte) tracediff.Phase {
	phase := phaseIn(part)
	if phase != unknown {
		return phase
	}
	for _, t := range tokens(part[:min(len(part), maxLine)], nil) {
		if text := string(part[t.from:t.to]); t.kind == word && isPhase(text) {
			if phase = tracediff.Predicted; hasPart(text, settled) {
				phase = tracediff.Confirmed
			}
		}
	}
	return phase
}

// alike reports whether the lines of two templates have the same checksums, each under the same name and in the same order.
func (t *template) alike(o *template) bool {
	a, b := &t.roles, &o.roles
	if a.peer >= 0 || a.scope >= 0 || b.peer >= 0 || b.scope >= 0 || len(a.points) != len(b.points) || len(a.points) == 0 {
		return false
	}
	for i := range a.points {
		x, y := &a.points[i], &b.points[i]
		same := func(s, o sum) bool {
			return s.name == o.name && (len(a.points) == 1 && len(x.sums) == 1 || s.word == o.word)
		}
		if x.scope != y.scope || !slices.EqualFunc(x.sums, y.sums, same) {
			return false
		}
	}
	return true
}

// sumsOf returns the checksums of a row.
func (g *group) sumsOf(row int, t *template) string {
	if g.sums == nil {
		slots := t.roles.all()
		g.sums = make([]string, len(g.columns[t.roles.tick].values))
		var all []byte
		for i := range g.sums {
			all = all[:0]
			for _, s := range slots {
				all = append(append(all, g.columns[s.slot].values[i]...), ' ')
			}
			g.sums[i] = string(all)
		}
	}
	return g.sums[row]
}

// healed returns how often the checksums of two forms of lines differ at a tick and are equal at the next one that both have.
func (g *group) healed(o *group, a, b *template) (n int) {
	values := map[string]string{}
	for i, tick := range g.columns[a.roles.tick].values {
		values[string(tick)] = g.sumsOf(i, a)
	}
	differ := false
	for i, tick := range o.columns[b.roles.tick].values {
		if value, ok := values[string(tick)]; ok {
			same := value == o.sumsOf(i, b)
			if differ && same {
				n++
			}
			differ = !same
		}
	}
	return n
}

// simulatedAgain reports whether the lines of another form are about ticks that lines of this one are about before, and most of
// them about older ticks than the newest one: these are simulated again, or for good.
func (g *group) simulatedAgain(o *group, a, b *template) bool {
	const fewest = 8
	before, older, newest, i := 0, 0, uint64(0), 0
	seen := map[uint64]bool{}
	for k, at := range o.at {
		for ; i < len(g.at) && g.at[i] < at; i++ {
			if tick, ok := a.roles.tickOf(g.columns[a.roles.tick].values[i]); ok {
				seen[tick], newest = true, max(newest, tick)
			}
		}
		tick, ok := b.roles.tickOf(o.columns[b.roles.tick].values[k])
		if !ok || !seen[tick] {
			continue
		}
		if before++; tick < newest && newest-tick <= window {
			older++
		}
	}
	return before >= fewest && 10*before >= 9*len(o.at) && 2*older >= before
}

// redoes reports whether ticks go back or come twice, and lines of one tick have no names that tell them apart.
func (r *roles) redoes(columns []column) bool {
	f := &columns[r.tick].figures
	return (f.falls > 1 || r.again) && f.back <= window && !r.repeats && r.scope < 0 && r.peer < 0 && r.phase < 0
}

// finalPass returns the one of a column's values that the last line of most ticks has, if the values are passes of one peer over the
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
				return onMostTicks(last)
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

// onMostTicks returns the pass of the last line of most ticks, empty if there is none.
func onMostTicks(last map[string]string) string {
	count := map[string]int{}
	for _, pass := range last {
		if count[pass]++; 4*count[pass] >= 3*len(last) {
			return pass
		}
	}
	return ""
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

// areSettled reports whether some words are of passes for good, or none is of one that follows a guess.
func areSettled(values [][]byte) bool {
	return slices.ContainsFunc(values, func(v []byte) bool { return phaseWord(string(v)) == "confirmed" || hasPart(string(v), settled) }) ||
		!slices.ContainsFunc(values, func(v []byte) bool { return phaseWord(string(v)) == "" && hasPart(string(v), guessed) })
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
