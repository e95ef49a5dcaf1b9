package prose

import (
	"strings"
	"unicode"
)

// longWord is the maximum length of a word that is not broken. Such a word fits into a line on a phone.
const longWord = 14

// Pieces splits a text where a line may end within a long word: after dots, slashes and similar characters, and between
// the words of a compound name. The pieces together are the text.
func Pieces(text string) (pieces []string) {
	from := 0 // start of the piece
	for at := 0; at < len(text); {
		end := at + wordLength(text[at:])
		if word := text[at:end]; len([]rune(word)) > longWord {
			for _, i := range joints(word) {
				pieces = append(pieces, text[from:at+i])
				from = at + i
			}
		}
		at = end + len(text[end:]) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
	}
	return append(pieces, text[from:])
}

// wordLength returns how many bytes precede the first space.
func wordLength(text string) int {
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return i
	}
	return len(text)
}

// joints returns where a line may end in a word: in UnitAI.targetX before AI, target and X.
func joints(word string) (list []int) {
	runes := []rune(word)
	i := 0
	for at := range word {
		if i > 0 {
			last, r := runes[i-1], runes[i]
			mark := unicode.IsLetter(r) && strings.ContainsRune(`.:,;/\_`, last) || unicode.IsDigit(r) && strings.ContainsRune(`/\_`, last) // not in 1.4.10 and 10:30:00
			hump := unicode.IsUpper(r) && (unicode.IsLower(last) || unicode.IsUpper(last) && i+1 < len(runes) && unicode.IsLower(runes[i+1]))
			if mark || hump {
				list = append(list, at)
			}
		}
		i++
	}
	return list
}
