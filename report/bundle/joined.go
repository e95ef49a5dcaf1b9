package bundle

import (
	"slices"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// joinPeers gives traces the names of the peers that left states, where the traces and states name the same peers in other
// words: anna_game.csv and anna.zip.
func (s *Session) joinPeers(list []*tracediff.Trace) {
	known := s.PeerNames()
	names := lists.Map(list, func(t *tracediff.Trace) string { return t.Name })
	for i, of := range sameNames(lists.Map(names, s.names.plain), lists.Map(known, s.names.plain)) {
		if of >= 0 {
			list[i].Name = known[of]
		}
	}
}

// plain returns the name that a name replaced.
func (n *naming) plain(name string) string {
	if n == nil {
		return name
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	plain := name
	for old, now := range n.known {
		if now == name && (plain == name || old < plain) {
			plain = old
		}
	}
	return plain
}

// sameNames returns for each name the number of the other name that means the same peer, -1 if there is none or it is the same
// name. Words that all names of one list have in common do not count. All words of one name are words of the other one, and
// of no third name. Names of digits alone are the same only if both lists have the same ones.
func sameNames(names, others []string) []int {
	const most = 256 // as many peers are compared
	if len(names) > most || len(others) > most {
		return slices.Repeat([]int{-1}, len(names))
	}
	a, b := ownWords(names), ownWords(others)
	fits := func(i, j int) bool { return contains(a[i], b[j]) || contains(b[j], a[i]) }
	digits := len(names) == len(others) && !slices.ContainsFunc(a, func(words []string) bool {
		return lists.Count(b, func(other []string) bool { return slices.Equal(words, other) }) != 1
	})
	out := make([]int, len(names))
	for i := range names {
		out[i] = -1
		if slices.Contains(others, names[i]) {
			continue
		}
		for j := range others {
			same := stem(names[i]) == stem(others[j])
			sure := same || digits && slices.Equal(a[i], b[j]) || slices.ContainsFunc(a[i], func(word string) bool {
				return unicode.IsLetter([]rune(word)[0]) && slices.Contains(b[j], word)
			})
			if !sure || !same && !fits(i, j) || slices.Contains(names, others[j]) {
				continue
			}
			one := true
			for k := range names {
				one = one && (k == i || (same || !fits(k, j)) && stem(names[k]) != stem(names[i]))
			}
			for k := range others {
				one = one && (k == j || same || !fits(i, k))
			}
			if one {
				out[i] = j
			}
		}
	}
	return out
}

// stem returns a name in lower case without the extension of an archive or a compression.
func stem(name string) string { return compression.PlainName(archive.Stem(strings.ToLower(name))) }

// contains reports whether some words are among others.
func contains(words, some []string) bool {
	return len(some) > 0 && !slices.ContainsFunc(some, func(word string) bool { return !slices.Contains(words, word) })
}

// ownWords returns the words and numbers of each name without those that all names have.
func ownWords(names []string) [][]string {
	all := lists.Map(names, wordsOf)
	return lists.Map(all, func(words []string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
			return len(all) > 1 && !slices.ContainsFunc(all, func(other []string) bool { return !slices.Contains(other, word) })
		})
	})
}

// wordsOf returns the words and numbers of a name, in lower case.
func wordsOf(name string) (out []string) {
	last := ' '
	for _, c := range strings.ToLower(name) {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
		case len(out) == 0 || unicode.IsLetter(c) != unicode.IsLetter(last) || unicode.IsDigit(c) != unicode.IsDigit(last):
			out = append(out, string(c))
		default:
			out[len(out)-1] += string(c)
		}
		last = c
	}
	return out
}
