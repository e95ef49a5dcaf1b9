package pseudonyms

import (
	"slices"
	"strings"
	"unicode"
)

// maxName is how many characters of a file name are searched for one name, which may also be the whole.
const maxName = 128

// File returns the name of a file without the names of players, given by texts that begin with their pseudonyms:
// alice-vs-bob.zip becomes player-26594131a8-vs-bob.zip if Alice, or alice, is one of them. It finds names with any
// capitals, and with signs instead of their blanks. The parts that show the file type stay.
func (k *Key) File(name string, pseudonyms []string) string {
	if len(pseudonyms) == 0 {
		return name
	}
	stem := stemOf(name)
	runes, known := []rune(stem), map[string]string{}
	of := func(text string) string {
		with, ok := known[text]
		if !ok {
			with = k.of(text, pseudonyms)
			known[text] = with
		}
		return with
	}
	return without(runes, ends(runes), of) + name[len(stem):]
}

// without returns a part of a file name without the names in it. ends are the places where names may begin and end, of
// returns the pseudonym for a text that is a name.
func without(part []rune, ends []bool, of func(string) string) string {
	for n := len(part); n > 0; n = min(n-1, maxName) { // the longest first
		for at := 0; at+n <= len(part); at++ {
			end := at + n
			if !ends[at] || !ends[end] || n == 1 && (at > 0 && goesOn(part[at-1], part[at], false) || end < len(part) && goesOn(part[at], part[end], false)) {
				continue
			}
			with := of(string(part[at:end]))
			if with == "" {
				with = two(part[at:end], ends[at:end], of)
			}
			if with != "" {
				return without(part[:at], ends[:at+1], of) + with + without(part[end:], ends[end:], of)
			}
		}
	}
	return string(part)
}

// two returns the pseudonyms of a word that consists of two names and does not show where the first one ends, empty if
// there are none.
func two(word []rune, ends []bool, of func(string) string) string {
	for i := 2; i <= len(word)-2; i++ {
		if ends[i] {
			continue
		}
		if first := of(string(word[:i])); first != "" {
			if second := of(string(word[i:])); second != "" {
				return first + second
			}
		}
	}
	return ""
}

// besideNames are words that players and games write next to names without a sign: alicevsbob, desyncAlice.
var besideNames = []string{"vs", "and", "desync", "replay", "report", "match", "game", "save", "state", "trace", "log"}

// ends returns for each place in a file name whether a player's name may begin or end there, because players and games
// write two names as one word, or append numbers: see [goesOn], where the script changes, next to besideNames, before
// the last s of a word, between digits, before the last of several capitals, and, in scripts without capitals,
// anywhere.
func ends(name []rune) []bool {
	out := make([]bool, len(name)+1)
	out[0], out[len(name)] = true, true
	for i := 1; i < len(name); i++ {
		a, b, c := name[i-1], name[i], ' '
		if i+1 < len(name) {
			c = name[i+1]
		}
		out[i] = !unicode.Is(unicode.M, b) && (!goesOn(a, b, true) || unicode.Is(unicode.Lo, b) || unicode.In(a, unicode.Lo, unicode.M) || otherScript(a, b) ||
			b == 's' && !goesOn(b, c, false) || unicode.IsDigit(a) && unicode.IsDigit(b) || unicode.IsUpper(a) && unicode.IsUpper(b) && !unicode.IsUpper(c))
	}
	lower := []rune(strings.Map(unicode.ToLower, string(name)))
	for i := range lower {
		for _, word := range besideNames {
			if strings.HasPrefix(string(lower[i:min(len(lower), i+len(word))]), word) {
				out[i], out[i+len(word)] = true, true
			}
		}
	}
	return out
}

// otherScript reports whether two letters belong to different scripts, as far as these have lower case.
func otherScript(a, b rune) bool {
	return slices.ContainsFunc([]*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Georgian}, func(script *unicode.RangeTable) bool {
		return unicode.Is(script, a) != unicode.Is(script, b)
	})
}

// of returns the pseudonym for a text in a file name, empty if there is none. If two players' names differ only in
// capitals, it is the player whose name has the same ones.
func (k *Key) of(text string, pseudonyms []string) string {
	if IsRole(text) || strings.TrimSpace(text) != text { // blanks at the ends have no effect on a pseudonym
		return ""
	}
	exact := k.Player(text)
	like := exact[:len(player)+likeDigits]
	found := ""
	for _, p := range pseudonyms {
		if strings.HasPrefix(p, exact) {
			return exact
		}
		if found == "" && strings.HasPrefix(p, like) && len(p) >= len(exact) {
			found = p[:len(exact)]
		}
	}
	return found
}
