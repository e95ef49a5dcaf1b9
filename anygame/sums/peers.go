package sums

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
)

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
		if i == r.tick || i == r.phase || i == r.pass || r.sums(i) || !few || c.word && c.figures.truths == len(ticks) || !tellsApart(c.values, rowsOf) {
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
	case bestRank < 3 && !r.areReporters(columns, best):
		return // threads and parts of a program
	default:
		if r.peer = best; bestRank == 3 {
			r.peerWord = columns[best].name
		}
	}
	r.repeats = false
}

// areReporters reports whether the values of a column may be peers: each has its ticks once, and half of those that another one has.
func (r *roles) areReporters(columns []column, peer int) bool {
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
	for _, list := range ticks {
		slices.Sort(list)
	}
	names := slices.Collect(maps.Keys(ticks))
	meets := func(a string) bool {
		return slices.ContainsFunc(names, func(b string) bool { return a != b && meet(ticks[a], ticks[b]) })
	}
	return 16*again <= len(columns[peer].values) && len(names) <= mostRelayed && lists.Count(names, meets) == len(names)
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
