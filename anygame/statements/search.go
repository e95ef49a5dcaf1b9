package statements

import (
	"bytes"
	"strings"
	"sync"
)

// stems are what a word for desync has in it, in lower case, of four letters at least. Each is found in either case.
var stems = []string{"sync", "match", "differ", "diverg", "consisten", "determinis", "expect", "should be", "not equal"}

// short are those that are too short to be found together with the others.
var short = []string{"OOS", "oos", "!="}

// numSearches is how many searches run: one for all stems, and one for each of the short ones.
const numSearches = 4

// least is how many letters of a stem are searched for. The others are compared after that.
const least = 4

// find returns the place of the first stem from a place on, -1 if there is none. Next keeps how far each search came in
// the same text, zero at first.
func find(text []byte, from int, next *[numSearches]int) int {
	best := len(text)
	for i := range next {
		if next[i] < from || next[i] == 0 {
			next[i] = len(text)
			if i == 0 {
				next[i] = findStem(text, from)
			} else if at := bytes.Index(text[min(from, len(text)):], []byte(short[i-1])); at >= 0 {
				next[i] = from + at
			}
		}
		best = min(best, next[i])
	}
	if best >= len(text) {
		return -1
	}
	return best
}

// shifts has for two letters how far a search may move on after them, by the algorithm of Wu and Manber.
var shifts = sync.OnceValue(func() *[1 << 16]uint8 {
	var table [1 << 16]uint8
	for i := range table {
		table[i] = least - 1
	}
	for _, s := range stems {
		for end := 2; end <= least; end++ {
			for _, a := range cases(s[end-2]) {
				for _, b := range cases(s[end-1]) {
					i := int(a)<<8 | int(b)
					table[i] = min(table[i], uint8(least-end))
				}
			}
		}
	}
	return &table
})

// cases returns both cases of a letter.
func cases(c byte) []byte { return []byte{c, strings.ToUpper(string(c))[0]} }

// firm are the stems that alone may be a word for a desync. With another stem, a line has one of the vague parts of
// words.
var (
	firm  = []string{"sync", "oos", "consisten", "determinis"}
	vague = []string{"sum", "crc", "hash", "digest", "state", "rng", "rand", "seed", "diverg", "mismatch", "differ"}
)

// isPromising reports whether a line with a stem is worth being read.
func isPromising(line []byte) bool {
	var room [512]byte
	low := room[:0]
	for _, c := range line {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low = append(low, c)
	}
	for _, s := range firm {
		for from := 0; ; {
			at := bytes.Index(low[from:], []byte(s))
			if at < 0 {
				break
			}
			if from += at; s != "sync" || from == 0 || low[from-1] != 'a' { // async
				return true
			}
			from += len(s)
		}
	}
	for _, s := range vague {
		if bytes.Contains(low, []byte(s)) {
			return true
		}
	}
	return false
}

// findStem returns the first place from one on where a stem of four letters or more stands, the text's length if there
// is none.
func findStem(text []byte, from int) int {
	table := shifts()
	for at := from + least; at <= len(text); {
		shift := table[int(text[at-2])<<8|int(text[at-1])]
		if shift > 0 {
			at += int(shift)
			continue
		}
		for _, s := range stems {
			begin := at - least
			if len(text)-begin >= len(s) && text[begin]|0x20 == s[0] && bytes.EqualFold(text[begin:begin+len(s)], []byte(s)) {
				return begin
			}
		}
		at++
	}
	return len(text)
}
