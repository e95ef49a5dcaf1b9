package sums

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
)

// Restarts reports whether ticks begin again in the log, as with another match, and it belongs to one peer.
func (p *Pattern) Restarts() bool { return p.restarts && !p.peers }

// A match is another one if fewer than half of the first ticks that two logs have of it are equal.
const (
	firstTicks  = 8
	fewestTicks = 3
)

// match is what a log has of a match.
type match struct {
	id   string // that a line before it has, or empty
	sums map[uint64]string
}

// Align finds which matches of logs are the same: those with one id, or those that begin with the same checksums. A player who
// came later has fewer of them. It replaces the pattern of a log if the numbers of its matches are not their places in it, or
// if its ticks go back only where another match begins. It reports whether a log has several matches.
func Align(logs []Sample) (several bool) {
	matches, most := make([][]match, len(logs)), 0
	only := true // all steps back are to another match
	for i := 0; i < len(logs); i++ {
		again := false
		if matches[i], again = logs[i].Pattern.matches(logs[i].Text, !only); only && !again {
			i, most, only = -1, 0, false
			continue
		}
		if len(matches[i]) > len(matches[most]) {
			most = i
		}
	}
	several = len(matches[most]) > 1
	names := lists.Map(matches[most], func(m match) string { return m.id })
	for i, list := range matches {
		epochs := numbers(list, matches[most], uint64((i+1)*len(matches[most])))
		other := epochs[len(epochs)-1] != uint64(len(epochs)-1)
		if other || several && only {
			p := *logs[i].Pattern
			if p.epochs = epochs; only {
				p.names = names
			}
			logs[i].Pattern = &p
		}
	}
	return several
}

// Part returns the pattern of one of the files that a log consists of, the first of which is 1. Whole is the pattern of all.
func (p *Pattern) Part(n int, whole *Pattern) *Pattern {
	one := *p
	one.epochs, one.names, one.part = whole.epochs, whole.names, n
	return &one
}

// matchName returns the function that names matches, nil if ticks may go back for other reasons.
func (p *Pattern) matchName() func(epoch uint64) string {
	if p.names == nil {
		return nil
	}
	return func(epoch uint64) string {
		switch {
		case epoch >= uint64(len(p.names)):
			return "another match"
		case p.names[epoch] != "":
			return "match " + p.names[epoch]
		}
		return fmt.Sprintf("match %d", epoch+1)
	}
}

// numbers returns the numbers of a log's matches: their places in another log. Those that it lacks are called free, and those
// that follow, unless both logs have so many.
func numbers(list, other []match, free uint64) (out []uint64) {
	next := 0
	for i, m := range list {
		rest := other[min(next, len(other)):]
		at := slices.IndexFunc(rest, func(o match) bool { return m.id != "" && m.id == o.id })
		if at < 0 {
			at = slices.IndexFunc(rest, func(o match) bool { return (m.id == "" || o.id == "") && begins(m.sums, o.sums) })
		}
		switch {
		case at >= 0:
			out = append(out, uint64(next+at))
			next += at + 1
		case len(list) == len(other) && next <= i:
			out = append(out, uint64(i))
			next = i + 1
		default:
			next = len(other)
			out = append(out, free+uint64(i))
		}
	}
	return out
}

// begins reports whether two matches begin with the same checksums.
func begins(a, b map[uint64]string) bool {
	same, ticks := 0, 0
	for _, tick := range slices.Sorted(maps.Keys(a)) {
		if value, ok := b[tick]; ok && ticks < firstTicks {
			if ticks++; value == a[tick] {
				same++
			}
		}
	}
	return ticks >= fewestTicks && 2*same >= ticks
}

// beginning finds the id of a match that begins, on a line without checksums.
var beginning = lazyregexp.New(`(?i)\b(?:match|game|session|lobby|room)(?:[ _-]?id)?[ #:='"_-]+([0-9a-z-]*\d[0-9a-z-]*)\b.*\b(?:start|begin|begun|creat|load|enter|join)`)

// matches returns the checksums of each match in a text by their ticks. There is at least one. Another one begins where a tick
// is far below the last one; unless strict also where the text says so, or where ticks begin again with the first. Again
// reports whether there is no other step back.
func (p *Pattern) matches(text []byte, strict bool) (out []match, again bool) {
	const shortestID = 4 // a shorter one may be a number that each machine counts for itself
	out, again = []match{{sums: map[uint64]string{}}}, true
	r := newReader(p, bytes.NewReader(nil), "", -1)
	last, id := uint64(0), ""
	for _, line := range linesOf(text) {
		tick, _, sums, ok := r.on(line)
		if !ok {
			if m := beginning.FindSubmatch(line[:min(len(line), maxLine)]); !strict && m != nil && len(m[1]) >= shortestID {
				id = string(m[1])
			}
			continue
		}
		first := len(out[len(out)-1].sums) == 0
		if last > tick {
			if last-tick > rollback || !strict && (id != "" || tick <= 1 && last-tick > fewestUnsettled) {
				out = append(out, match{sums: map[uint64]string{}})
				last, first = 0, true
			} else {
				again = false
			}
		}
		if first {
			out[len(out)-1].id = id
		}
		id, last = "", max(last, tick)
		out[len(out)-1].sums[tick] += string(bytes.Join(append(sums, nil), []byte{' '}))
	}
	return out, again
}
