package sums

import (
	"bytes"
	"maps"
	"slices"
)

// Restarts reports whether ticks begin again in the log, as with another match, and it belongs to one peer.
func (p *Pattern) Restarts() bool { return p.restarts && !p.peers }

// A match is another one if fewer than half of the first ticks that two logs have of it are equal.
const (
	firstTicks  = 8
	fewestTicks = 3
)

// Align finds which matches of logs are the same: those that begin with the same checksums. A player who came later has fewer
// of them. It replaces the pattern of a log if the numbers of its matches are not their places in it.
func Align(logs []Sample) {
	matches, most := make([][]map[uint64]string, len(logs)), 0
	for i, log := range logs {
		if matches[i] = log.Pattern.matches(log.Text); len(matches[i]) > len(matches[most]) {
			most = i
		}
	}
	for i, list := range matches {
		epochs := numbers(list, matches[most], uint64((i+1)*len(matches[most])))
		for n, epoch := range epochs {
			if epoch != uint64(n) {
				p := *logs[i].Pattern
				p.epochs, logs[i].Pattern = epochs, &p
				break
			}
		}
	}
}

// numbers returns the numbers of a log's matches: their places in another log. Those that it lacks are called free, and those
// that follow, unless both logs have so many.
func numbers(list, other []map[uint64]string, free uint64) (out []uint64) {
	next := 0
	for i, match := range list {
		at := slices.IndexFunc(other[min(next, len(other)):], func(o map[uint64]string) bool { return begins(match, o) })
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

// matches returns the checksums of each match in a text by their ticks. There is at least one.
func (p *Pattern) matches(text []byte) []map[uint64]string {
	out := []map[uint64]string{{}}
	r := newReader(p, bytes.NewReader(nil), "", -1)
	last := uint64(0)
	for _, line := range linesOf(text) {
		tick, _, sums, ok := r.on(line)
		if !ok {
			continue
		}
		if last > tick && last-tick > rollback {
			out = append(out, map[uint64]string{})
			last = 0
		}
		last = max(last, tick)
		out[len(out)-1][tick] += string(bytes.Join(append(sums, nil), []byte{' '}))
	}
	return out
}
