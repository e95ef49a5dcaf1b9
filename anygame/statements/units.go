package statements

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

// kind is what a unit is.
type kind uint8

const (
	word   kind = iota // letters, in lower case
	number             // digits
	sum                // digits in base 16 that are no number, or begin with 0x
	value              // a number with a sign or a decimal point
	other              // a version, a time, an address
	mark               // one character, or an operator
)

// unit is the smallest part of a text that means something: a word of an identifier, a number, a mark.
type unit struct {
	kind       kind
	text       string // a word in lower case
	start, end int    // in the text
	joined     bool   // with the one before it, in one identifier
}

// maxUnits is how many units of a line are read.
const maxUnits = 1024

// split returns the units of a text.
func split(text string) (out []unit) {
	for i := 0; i < len(text) && len(out) < maxUnits; {
		c := text[i]
		switch {
		case c == ' ':
			i++
		case isLetter(c) || isDigit(c) || c == '_' || (c == '-' || c == '+') && signed(text, i):
			end := listEnd(text, i)
			if bytes := bytesEnd(text, i); end > 0 {
				out = append(out, unit{kind: value, text: text[i:end], start: i, end: end})
			} else if end = max(bytes, paddedEnd(text, i)); end > 0 {
				out = append(out, unit{kind: sum, text: text[i:end], start: i, end: end})
			} else {
				end = tokenEnd(text, i)
				out = token(out, text, i, end)
			}
			i = end
		case c == '[' && decimalBytes(text[i:]) != nil:
			end := i + strings.IndexByte(text[i:], ']') + 1
			out = append(out, unit{kind: sum, text: fmt.Sprintf("%x", decimalBytes(text[i:])), start: i, end: end})
			i = end
		case c == '(' && vectorEnd(text, i) > 0:
			end := vectorEnd(text, i)
			out = append(out, unit{kind: value, text: text[i:end], start: i, end: end})
			i = end
		default:
			n := 1
			for _, op := range []string{"!==", "!=", "===", "==", "<>", "=>", "->", "&&", "||", "::", "--", "//"} {
				if strings.HasPrefix(text[i:], op) {
					n = len(op)
					break
				}
			}
			out = append(out, unit{kind: mark, text: text[i : i+n], start: i, end: i + n})
			i += n
		}
	}
	return out
}

// listEnd returns where a checksum of several numbers ends that begins at a place: 1120,44,30. It is 0 if there is none:
// numbers between brackets are a list of other things, and 1,120,440 is one number.
func listEnd(text string, i int) int {
	end, commas, plain := i, 0, true
	for from := i; end < len(text); end++ {
		if text[end] == ',' && end > from && end+1 < len(text) && isDigit(text[end+1]) {
			plain = plain && (commas == 0 || end-from == 3)
			commas, from = commas+1, end+1
		} else if !isDigit(text[end]) {
			plain = plain && end-from == 3
			break
		}
	}
	before := strings.TrimRight(text[:i], " ")
	if commas < 2 || plain || end < len(text) && (isLetter(text[end]) || text[end] == '.') || before != "" && strings.IndexByte("[({,", before[len(before)-1]) >= 0 {
		return 0
	}
	return end
}

// vectorEnd returns where the components of a vector end that begins at a parenthesis: (10.00, 5.00, 3.21). It is 0 if there is
// none: whole numbers are one only after a name, pos=(12,7).
func vectorEnd(text string, i int) int {
	length := strings.IndexByte(text[i:min(len(text), i+maxVector)], ')')
	if length < 0 {
		return 0
	}
	parts := strings.Split(text[i+1:i+length], ",")
	whole := true
	for _, part := range parts {
		if part = strings.TrimLeft(strings.TrimSpace(part), "+-"); part == "" || strings.Trim(part, "0123456789.") != "" || part[0] == '.' {
			return 0
		}
		whole = whole && digitsOnly(part)
	}
	if len(parts) < 2 || len(parts) > 4 || whole && (i == 0 || text[i-1] != '=') {
		return 0
	}
	return i + length + 1
}

// maxVector is how many bytes a vector has at most.
const maxVector = 96

// fewestBytes is how many bytes between blanks are a checksum.
const fewestBytes = 4

// bytesEnd returns where a checksum in bytes ends that begins at a place: 78 12 AA 0F. It is 0 if there is none.
func bytesEnd(text string, i int) int {
	n, letters := 0, false
	isPair := func(at int) bool {
		return at+1 < len(text) && isHex(text[at]) && isHex(text[at+1]) && (at+2 == len(text) || !isLetter(text[at+2]) && !isDigit(text[at+2]))
	}
	for at := i; isPair(at); n++ {
		letters = letters || isLetter(text[at]) || isLetter(text[at+1])
		if at+2 == len(text) || text[at+2] != ' ' {
			n++
			break
		}
		at += 3
	}
	if n < fewestBytes || !letters && n < 2*fewestBytes {
		return 0
	}
	return min(len(text), i+3*n-1)
}

// decimalBytes returns the bytes of a checksum that a text begins with as a list of numbers, nil if it does not:
// [142 79 194 197 …], [142, 79, 194, 197, …].
func decimalBytes(text string) (out []byte) {
	list, _, ok := strings.Cut(text[1:min(len(text), 400)], "]")
	large := false
	for _, field := range strings.FieldsFunc(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.ParseUint(field, 10, 8)
		if err != nil {
			return nil
		}
		out, large = append(out, byte(n)), large || n > 127
	}
	if n := len(out); !ok || !large || n != 16 && n != 20 && n != 32 && n != 64 {
		return nil
	}
	return out
}

// signed reports whether there is a sign before a number at a place.
func signed(text string, i int) bool {
	if i+1 >= len(text) || !isDigit(text[i+1]) {
		return false
	}
	return i == 0 || !isLetter(text[i-1]) && !isDigit(text[i-1]) && text[i-1] != ')'
}

// tokenEnd returns where the letters and digits end that begin at a place, with the points, colons and slashes of
// numbers, versions, times and addresses.
func tokenEnd(text string, i int) int {
	begin, digits := i, true
	if text[i] == '-' || text[i] == '+' {
		i++
	}
	for i < len(text) {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case isDigit(c):
		case isLetter(c) || c == '_':
			digits = false
		case i == begin:
			return i
		case c == '\'' && next|0x20 == 't': // don't
		case digits && isDigit(next) && (c == '.' || c == '/' || c == ':' && isTime(text[begin:], i-begin)):
		case !digits && c == '.' && isLetter(next) && (isLetter(text[i-1]) || isDigit(text[i-1])): // a file, or a member
		default:
			return i
		}
		i++
	}
	return i
}

// isTime reports whether a colon is part of a time, such as 12:04, or of an address with a port.
func isTime(text string, colon int) bool {
	d := 0
	for colon+1+d < len(text) && isDigit(text[colon+1+d]) {
		d++
	}
	return colon < 3 && d == 2 || strings.IndexByte(text[:colon], '.') >= 0 || strings.IndexByte(text[:colon], ':') >= 0
}

// token adds the units of one run of letters and digits.
func token(out []unit, text string, start, end int) []unit {
	t := text[start:end]
	u := unit{kind: other, text: t, start: start, end: end}
	bare := strings.TrimLeft(t, "+-")
	switch {
	case strings.Trim(bare, "0123456789") == "":
		if u.kind = number; bare != t {
			u.kind = value
		}
		return append(out, u)
	case len(bare) > 2 && (bare[:2] == "0x" || bare[:2] == "0X") && strings.Trim(bare[2:], hexDigits) == "":
		u.kind = sum
		return append(out, u)
	case isDigit(bare[0]) && strings.Trim(bare, "0123456789.") == "" && strings.Count(bare, ".") == 1:
		u.kind = value
		return append(out, u)
	case isSum(bare, start > 0 && strings.IndexByte(":=", text[start-1]) >= 0):
		u.kind = sum
		return append(out, u)
	case isDigit(bare[0]):
		return append(out, u)
	case strings.IndexByte(t, '.') >= 0:
		last := start + strings.LastIndexByte(t, '.') + 1
		if strings.Count(t, ".") > 1 && vocabulary.Of(text[last:end]) == vocabulary.Sum { // Block.Header.AppHash
			return identifier(out, text, last, end)
		}
		return append(out, u)
	}
	return identifier(out, text, start, end)
}

const hexDigits = "0123456789abcdefABCDEF"

// isSum reports whether a token is a checksum rather than a word: digits in base 16, and so many or so mixed that no
// word is like it. Where a mark is before it, fewer are enough.
func isSum(t string, marked bool) bool {
	if isMixed(t) {
		return true
	}
	few := len(t) < 2 || len(t) < 4 && !isDigit(t[0]) && !(marked && len(t) > 2)
	if few || strings.Trim(t, hexDigits) != "" {
		return false
	}
	return strings.ContainsAny(t, "0123456789") || len(t) >= 8 && len(t)%8 == 0
}

// The checksums that have letters of both cases, in base 58 or 64, have at least fewestMixed characters: one of 16 bytes has 22.
// Names of that length have longer words, or fewer digits.
const (
	fewestMixed, mostMixed = 22, 96
	longestSmall           = 8
)

// isMixed reports whether a token is a checksum in base 58 or 64.
func isMixed(t string) bool {
	if len(t) < fewestMixed || len(t) > mostMixed {
		return false
	}
	large, small, digits, run := 0, 0, 0, 0
	for i := range len(t) {
		switch c := t[i]; {
		case isSmall(c):
			if small, run = small+1, run+1; run > longestSmall {
				return false
			}
			continue
		case isUpper(c):
			large++
		case isDigit(c):
			digits++
		case c != '+' && c != '/' && c != '=':
			return false
		}
		run = 0
	}
	return large > 3 && small > 3 && digits > 1
}

// paddedEnd returns where a checksum in base 64 ends that begins at a place: q83vEjRWeJASNFZ4kBI0Vg==. It is 0 if there is none.
// A slash is part of one only if it is padded, as paths are not.
func paddedEnd(text string, i int) int {
	end := i
	for end < len(text) && (isUpper(text[end]) || isSmall(text[end]) || isDigit(text[end]) || text[end] == '+' || text[end] == '/') {
		end++
	}
	digits := end
	for end < len(text) && text[end] == '=' && end < digits+2 {
		end++
	}
	if end == digits || (end-i)%4 != 0 || !isMixed(text[i:end]) || end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
		return 0
	}
	return end
}

// identifier adds the words of a name such as serverCRC, local_hash or player2.
func identifier(out []unit, text string, start, end int) []unit {
	first := len(out)
	for i := start; i < end; {
		if text[i] == '_' || text[i] == '\'' {
			i++
			continue
		}
		from := i
		if isDigit(text[i]) {
			for i < end && isDigit(text[i]) {
				i++
			}
			if n := len(out); n > first && digested.has(out[n-1].text) { // crc32, sha1
				continue
			}
			out = append(out, unit{kind: number, text: text[from:i], start: from, end: i, joined: len(out) > first})
			continue
		}
		for i < end && (isLetter(text[i]) || text[i] == '\'') && !humped(text, from, i, end) {
			i++
		}
		u := unit{kind: word, text: english(spell(strings.ToLower(text[from:i]))), start: from, end: i, joined: len(out) > first}
		out = append(out, u)
	}
	return out
}

// humped reports whether another word of an identifier begins at a place: a capital after a small letter, or the last
// of several capitals before small letters.
func humped(text string, from, i, end int) bool {
	if i == from || !isUpper(text[i]) {
		return false
	}
	return !isUpper(text[i-1]) || i+2 < end && isSmall(text[i+1]) && isSmall(text[i+2])
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isSmall(c byte) bool { return c >= 'a' && c <= 'z' }

// capital reports whether a text begins with a capital, as names of peers do.
func capital(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r >= 'A' && r <= 'Z' || r >= 0x80
}
