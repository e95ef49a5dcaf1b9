package sums

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// rooms finds the matches that a log of several at once names on the lines of their checksums: match=M-4849 turn=1 client=ada
// hash=4427468a. Peers are only compared within one.
type rooms struct {
	word string
	find *regexp.Regexp
}

// roomWords finds words for a match that several peers play.
var roomWords = lazyregexp.New(`(?i)\b(match|game|room|session|lobby|shard|arena|battle|instance|realm|table)(?:[ _-]?(?:id|no|name))?["']?[=:# ]`)

// of returns the match of a line in words, empty if it names none.
func (m *rooms) of(line []byte) string {
	if found := m.find.FindSubmatch(line[:min(len(line), maxLine)]); found != nil {
		return m.word + " " + string(found[1])
	}
	return ""
}

// NamesMatch reports whether a log may be one for [Divide].
func NamesMatch(text []byte) bool { return roomWords.Match(text) }

// Divide finds the matches in logs of several at once: the peers in one match have the same checksums, and those of another
// match have others at the same ticks. It returns them with other patterns then.
func Divide(logs []Sample) []Sample {
	var words []string
	for _, log := range logs {
		for _, m := range roomWords.FindAllSubmatchIndex(log.Text, -1) {
			if word := strings.ToLower(string(log.Text[m[2]:m[3]])); !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	for _, word := range words {
		m := &rooms{word, regexp.MustCompile(`(?i)\b` + word + `(?:[ _-]?(?:id|no|name))?["']?[=:# ]+["'(\[]*([0-9a-z][0-9a-z_-]*)`)}
		divided := slices.Clone(logs)
		for i := range divided {
			p := *divided[i].Pattern
			p.rooms, divided[i].Pattern = m, &p
		}
		if divides(divided) {
			return divided
		}
	}
	return logs
}

// mostSeats is how many a log has at most.
const mostSeats = 4 * mostRelayed

// seat is what a peer reports in one match.
type seat struct {
	peer int
	room string
	sums map[uint64]string
}

// divides reports whether the values of a word are matches.
func divides(logs []Sample) bool {
	var seats []*seat
	peers, lines, without := 0, 0, 0
	for _, log := range logs {
		names, _ := log.Pattern.peersOf(bytes.NewReader(log.Text), "")
		for n := range max(1, len(names)) {
			peers++
			r := newReader(log.Pattern, bytes.NewReader(log.Text), "", n)
			of := map[string]*seat{}
			for rec, err := r.Next(); err == nil; rec, err = r.Next() {
				c := rec.Checkpoint
				if c == nil {
					continue
				}
				room, _, _ := strings.Cut(c.Scope, ".")
				if lines++; !strings.HasPrefix(room, log.Pattern.rooms.word+" ") {
					without++
					continue
				}
				if of[room] == nil {
					if len(seats) == mostSeats {
						return false
					}
					of[room] = &seat{peers, room, map[uint64]string{}}
					seats = append(seats, of[room])
				}
				for _, sum := range c.Sums {
					of[room].sums[c.Tick] += string(sum.Value) + " "
				}
			}
		}
	}
	if 16*without > lines {
		return false
	}
	var common, equal [2]int // in other matches, and in the same one
	for i, a := range seats {
		for _, b := range seats[:i] {
			if a.peer == b.peer {
				continue
			}
			same := 0
			if a.room == b.room {
				same = 1
			}
			for tick, sum := range a.sums {
				if other, ok := b.sums[tick]; ok {
					if common[same]++; sum == other {
						equal[same]++
					}
				}
			}
		}
	}
	return equal[1] >= fewestAlike && common[0] >= fewestAlike && 8*equal[0] <= common[0]
}
