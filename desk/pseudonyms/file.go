package pseudonyms

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxParts is the maximum number of words of a player's name in a file name.
const maxParts = 5

// File returns the name of a file without the names of players, given by their pseudonyms: alice-vs-bob.zip becomes
// player-31a8cf9ebf-vs-bob.zip if Alice, or alice, is one of them. It finds words as written, in lower case, in upper
// case, and with initial capitals; and several words with the characters between them, or blanks instead. The parts
// that show the file type stay.
func (k *Key) File(name string, pseudonyms []string) string {
	if len(pseudonyms) == 0 {
		return name
	}
	stem := stemOf(name)
	parts := words(stem)
	var out strings.Builder
	last := 0
next:
	for i := 0; i < len(parts); i++ {
		for n := min(maxParts, len(parts)-i); n > 0; n-- {
			from, to := parts[i][0], parts[i+n-1][1]
			if with := k.of(stem[from:to], pseudonyms); with != "" {
				out.WriteString(stem[last:from] + with)
				last = to
				i += n - 1
				continue next
			}
		}
		word := stem[parts[i][0]:parts[i][1]]
		if now := k.within(word, pseudonyms); now != word {
			out.WriteString(stem[last:parts[i][0]] + now)
			last = parts[i][1]
		}
	}
	return out.String() + stem[last:] + name[len(stem):]
}

// maxWord is how many characters of a word are searched for names.
const maxWord = 40

// within returns a word without the names that are parts of it, because players and games write two names as one word,
// or append numbers. A part ends where [goesOn] says, where the script changes, and, in scripts without capitals,
// anywhere.
func (k *Key) within(word string, pseudonyms []string) string {
	runes := []rune(word)
	if len(runes) > maxWord {
		return word
	}
	ends := func(i int) bool {
		if i == 0 || i == len(runes) {
			return true
		}
		a, b := runes[i-1], runes[i]
		return !unicode.Is(unicode.M, b) && (!goesOn(a, b, true) || unicode.Is(unicode.Lo, b) || unicode.In(a, unicode.Lo, unicode.M) || otherScript(a, b))
	}
	for n := len(runes); n >= 2; n-- { // the longest first
		for at := 0; at+n <= len(runes); at++ {
			if !ends(at) || !ends(at+n) {
				continue
			}
			if with := k.of(string(runes[at:at+n]), pseudonyms); with != "" {
				return k.within(string(runes[:at]), pseudonyms) + with + k.within(string(runes[at+n:]), pseudonyms)
			}
		}
	}
	return word
}

// otherScript reports whether two letters belong to different scripts, as far as these have lower case.
func otherScript(a, b rune) bool {
	return slices.ContainsFunc([]*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Georgian}, func(script *unicode.RangeTable) bool {
		return unicode.Is(script, a) != unicode.Is(script, b)
	})
}

// of returns the pseudonym for a text in a file name, empty if there is none.
func (k *Key) of(text string, pseudonyms []string) string {
	if IsRole(text) {
		return ""
	}
	blanks := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return ' '
		}
		return r
	}, text)
	for _, t := range []string{text, blanks} {
		first, size := utf8.DecodeRuneInString(t)
		lower := strings.ToLower(t)
		for _, form := range []string{t, lower, strings.ToUpper(t), string(unicode.ToUpper(first)) + lower[min(size, len(lower)):], string(unicode.ToUpper(first)) + t[size:], capitals(lower)} {
			with := k.Player(form)
			if slices.ContainsFunc(pseudonyms, func(p string) bool { return p == with || strings.HasPrefix(p, with+"#") }) {
				return with
			}
		}
	}
	return ""
}

// capitals returns a lower-case text with a capital letter at the beginning of each word.
func capitals(lower string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		now := r
		if !unicode.IsLetter(before) {
			now = unicode.ToUpper(r)
		}
		before = r
		return now
	}, lower)
}

// words returns the starts and ends of the words in a text: letters, marks and digits.
func words(text string) (list [][2]int) {
	from := -1
	for i, r := range text {
		switch in := unicode.In(r, unicode.L, unicode.M, unicode.Nd); {
		case in && from < 0:
			from = i
		case !in && from >= 0:
			list, from = append(list, [2]int{from, i}), -1
		}
	}
	if from >= 0 {
		list = append(list, [2]int{from, len(text)})
	}
	return list
}
