package statements

import (
	"bytes"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/internal/textsearch"
)

// stems are parts of the words that a search stops at, in lower case. Each is found in either case. The first ones are of
// words for a desync, the others of words for one of two peers.
var stems = append(desyncStems, "remote", "client", "replay", "their", "guest", "peer", "player", "yours", "comput", "actual", "receiv", "local")

var desyncStems = []string{"sync", "match", "mism", "differ", "diverg", "consist", "determin", "expect", "should be", "not equal", "check failed", "sum error", "crc error",
	"hash error", "instead ", "sum failure", "crc failure", "hash failure", "apphash", "state root", "merkle root", "trie root", "root hash", "trie root", "root hash",
	"sincron", "асинхр", "ассинхр", "есинхр", "同步", "同期", "校验"}

// oddStem is a part of the one stem that may be a part of a number with the text before it: should be12. Each line of a
// shape has it, or none.
const oddStem = "should "

// hasOddStem reports whether a line has it, in either case.
func hasOddStem(line []byte) bool {
	for i := range max(0, len(line)-len(oddStem)+1) {
		if line[i]|0x20 == oddStem[0] && bytes.EqualFold(line[i:i+len(oddStem)], []byte(oddStem)) {
			return true
		}
	}
	return false
}

var stemSearch = sync.OnceValue(func() *textsearch.Searcher { return textsearch.NewFolded(stems) })

// short are those that are too short to be found together with the others.
var short = [...]string{"OOS", "oos", "!="}

// finder finds the places of stems in a text.
type finder struct {
	text  []byte
	stems []int           // places of those that come
	short [len(short)]int // the next place of each, -1 before the search, the text's length if there is none
}

// find begins the search in a text. Places is used until it ends.
func find(text []byte, places *textsearch.Places) finder {
	return finder{text: text, stems: stemSearch().Find(text, places), short: [len(short)]int{-1, -1, -1}}
}

// next returns the first place from one on, -1 if there is none.
func (f *finder) next(from int) int {
	for len(f.stems) > 0 && f.stems[0] < from {
		f.stems = f.stems[1:]
	}
	best := len(f.text)
	if len(f.stems) > 0 {
		best = f.stems[0]
	}
	for i := range f.short {
		if f.short[i] < from {
			f.short[i] = len(f.text)
			if at := bytes.Index(f.text[min(from, len(f.text)):], []byte(short[i])); at >= 0 {
				f.short[i] = from + at
			}
		}
		best = min(best, f.short[i])
	}
	if best == len(f.text) {
		return -1
	}
	return best
}

// onlyPeers reports whether a line has words for peers and none for a desync. The line is the text around the next stem,
// which is the first in it, up to an end in the text that is searched.
func (f *finder) onlyPeers(line []byte, end int) bool {
	if end > len(f.text) {
		return false
	}
	for _, at := range f.stems {
		if at >= end {
			break
		}
		if stemSearch().At(f.text, at, 0) < len(desyncStems) {
			return false
		}
	}
	return min(f.short[0], f.short[1], f.short[2]) >= end && bytes.IndexByte(line, 'O') < 0 && !bytes.Contains(line, []byte("ooS"))
}

// firm are the stems that alone may be a word for a desync. With one of the loose stems, a line has one of the vague
// parts of words.
var (
	firm  = []string{"sync", "oos", "consist", "determin", "apphash", "state root", "merkle root", "sincron", "асинхр", "ассинхр", "есинхр", "同步", "同期", "校验"}
	loose = []string{"match", "mism", "differ", "diverg", "expect", "should be", "not equal", "check failed", "sum error", "crc error", "hash error", "failure", "instead", "!="}
	vague = []string{"sum", "crc", "hash", "digest", "state", "rng", "rand", "seed", "diverg", "mismatch", "differ", "replay"}
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
	return hasOne(low, loose) && hasOne(low, vague) || hasSums(line, equal)
}

func hasOne(text []byte, parts []string) bool {
	return slices.ContainsFunc(parts, func(s string) bool { return bytes.Contains(text, []byte(s)) })
}

// minSum is how many digits a sum has at least that only its label shows to be one.
const minSum = 6

// hasSums reports whether a line has two sums or more. If equal is not wanted, they are not all equal.
func hasSums(line []byte, equal bool) bool {
	var first []byte
	for at := minSum - 1; at < len(line); at += minSum {
		if !isHex(line[at]) && line[at]|0x20 != 'x' {
			continue // no sum is around this place
		}
		from := at
		for from > 0 && (isHex(line[from-1]) || line[from-1]|0x20 == 'x') {
			from--
		}
		for at = from; at < len(line) && (isHex(line[at]) || line[at]|0x20 == 'x'); at++ {
			begin, digits := at, false
			for at < len(line) && (isHex(line[at]) || line[at]|0x20 == 'x' && at == begin+1) {
				digits = digits || isDigit(line[at])
				at++
			}
			if at-begin < minSum || !digits || at < len(line) && isLetter(line[at]) || begin > 0 && isLetter(line[begin-1]) {
				continue
			}
			switch one := line[begin:at]; {
			case first == nil:
				first = one
			case equal || !bytes.EqualFold(one, first):
				return true
			}
		}
		at-- // not a place of the run
	}
	return false
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
