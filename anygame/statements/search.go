package statements

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// stems are parts of the words that a search stops at, in lower case, of four letters at least. Each is found in either
// case. The first ones are of words for a desync, the others of words for one of two peers.
var stems = append([]string{"sync", "match", "mism", "differ", "diverg", "consist", "determin", "expect", "should be", "not equal"},
	"remote", "client", "replay", "their", "guest", "peer", "player", "yours", "comput", "actual", "receiv", "local")

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

// firm are the stems that alone may be a word for a desync. With one of the loose stems, a line has one of the vague
// parts of words.
var (
	firm  = []string{"sync", "oos", "consist", "determin"}
	loose = []string{"match", "mism", "differ", "diverg", "expect", "should be", "not equal", "!="}
	vague = []string{"sum", "crc", "hash", "digest", "state", "rng", "rand", "seed", "diverg", "mismatch", "differ"}
)

// isPromising reports whether a line with a stem is worth being read. Such is a line with two sums, too. If equal is not
// wanted, the sums differ.
func isPromising(line []byte, equal bool) bool {
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
	if hasOne(low, loose) && hasOne(low, vague) {
		return true
	}
	return hasSums(low, equal)
}

func hasOne(text []byte, parts []string) bool {
	return slices.ContainsFunc(parts, func(s string) bool { return bytes.Contains(text, []byte(s)) })
}

// minSum is how many digits a sum has at least that only its label shows to be one.
const minSum = 6

// hasSums reports whether a line in lower case has two sums or more. If equal is not wanted, they are not all equal.
func hasSums(low []byte, equal bool) bool {
	var first []byte
	for i := 0; i < len(low); i++ {
		begin, digits := i, false
		for i < len(low) && (isDigit(low[i]) || low[i] >= 'a' && low[i] <= 'f' || low[i] == 'x' && i == begin+1) {
			digits = digits || isDigit(low[i])
			i++
		}
		if i-begin < minSum || !digits || i < len(low) && isLetter(low[i]) || begin > 0 && isLetter(low[begin-1]) {
			continue
		}
		switch one := low[begin:i]; {
		case first == nil:
			first = one
		case equal || !bytes.Equal(one, first):
			return true
		}
	}
	return false
}

// findStem returns the place of the first stem of four letters or more from a place on, the text's length if there is
// none.
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
