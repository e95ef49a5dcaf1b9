package sums

import (
	"bytes"
	"strings"
)

// kind is the kind of a token.
type kind uint8

const (
	literal kind = iota // a byte that is neither a letter nor a digit
	blank               // blanks and tabs
	word                // letters and underscores
	number              // a slot
	label               // all up to a blank
	handle              // the name of a peer: letters, digits and signs between them, such as ann-2 or 10.0.0.4:4000
)

// token is a piece of a line.
type token struct {
	kind     kind
	from, to int
	whole    bool // of a number: it has no fraction
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isSign(c byte) bool   { return c == '-' || c == '+' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }

// tokens appends the tokens of a line.
func tokens(line []byte, to []token) []token {
	for i := 0; i < len(line); {
		begin := i
		switch c := line[i]; {
		case isBlank(c):
			for i < len(line) && isBlank(line[i]) {
				i++
			}
			to = append(to, token{kind: blank, from: begin, to: i})
		case isDigit(c) && addressEnd(line, i) > i:
			i = addressEnd(line, i)
			to = append(to, token{kind: handle, from: begin, to: i})
		case isLetter(c) || isDigit(c) || c == '-' && i+1 < len(line) && isDigit(line[i+1]) && !follows(line[:i]):
			if end, whole, ok := numeral(line, i); ok {
				to = append(to, token{kind: number, from: begin, to: end, whole: whole})
				i = end
				continue
			}
			for i < len(line) && isLetter(line[i]) {
				i++
			}
			to = append(to, token{kind: word, from: begin, to: i})
		default:
			i++
			to = append(to, token{kind: literal, from: begin, to: i})
		}
	}
	return to
}

// addressEnd returns the end of an IPv4 address at i, with its port if it has one, and i if there is none.
func addressEnd(line []byte, i int) int {
	end := i
	for part := range 4 {
		from := end
		for end < len(line) && isDigit(line[end]) {
			end++
		}
		if n := end - from; n == 0 || n > 3 {
			return i
		}
		if part < 3 {
			if end == len(line) || line[end] != '.' {
				return i
			}
			end++
		}
	}
	if end+1 < len(line) && line[end] == ':' && isDigit(line[end+1]) {
		return handleEnd(line, end+1)
	}
	if goesOn(line, end) || end+1 < len(line) && line[end] == '.' && isDigit(line[end+1]) {
		return i
	}
	return end
}

// handleEnd returns the end of the name of a peer at i.
func handleEnd(line []byte, i int) int {
	part := func(c byte) bool { return isLetter(c) || isDigit(c) }
	for ; i < len(line) && part(line[i]); i++ {
		if next := i + 2; next < len(line) && (strings.IndexByte("-.#@", line[i+1]) >= 0 && part(line[next]) || line[i+1] == ':' && isDigit(line[next])) {
			i++
		}
	}
	return i
}

// follows reports whether a minus after the text is no sign.
func follows(before []byte) bool {
	if len(before) == 0 {
		return false
	}
	c := before[len(before)-1]
	return isLetter(c) || isDigit(c) || c == ')' || c == ']'
}

// numeral returns the end of the number at i: decimal with a sign and fractions, or hexadecimal of at least three
// digits.
func numeral(line []byte, i int) (end int, whole, ok bool) {
	begin := i
	if end := hexFloat(line, i); end > i {
		return end, false, true
	}
	for end = i; end < len(line) && (isLetter(line[end]) || isDigit(line[end])); end++ {
	}
	if inWord := i > 0 && isLetter(line[i-1]) && line[i-1] != '_'; !inWord && end > i {
		digits, letters, ok := integer(line[i:end])
		long := len(digits) >= 8 || len(digits) >= 3 && bytes.ContainsAny(digits, "0123456789")
		if ok && letters && (long || len(digits) < end-i || isByte(line, i, end)) {
			return end, true, true
		}
	}
	if line[i] == '-' {
		i++
	}
	whole = true
	for end = i; end < len(line) && isDigit(line[end]); end++ {
	}
	if end == i {
		return begin, false, false
	}
	for end+1 < len(line) && line[end] == '.' && isDigit(line[end+1]) {
		whole = false
		for end++; end < len(line) && isDigit(line[end]); end++ {
		}
	}
	if !whole && end+2 < len(line) && line[end]|0x20 == 'e' && isSign(line[end+1]) && isDigit(line[end+2]) {
		for end += 2; end < len(line) && isDigit(line[end]); end++ {
		}
	}
	return end, whole, true
}

// isByte reports whether two hexadecimal digits are a byte, as inputs are: in=0a/ff
func isByte(line []byte, from, to int) bool {
	if to-from != 2 || from == 0 {
		return false
	}
	slash := line[from-1] == '/' || to < len(line) && line[to] == '/'
	return slash || strings.IndexByte("=[,", line[from-1]) >= 0 && bytes.ContainsAny(line[from:to], "0123456789")
}

// hexFloat returns the end of a float in hexadecimal at i, 0x1.91eb86p+1, and i if there is none.
func hexFloat(line []byte, i int) int {
	digits := func(at int, hex bool) int {
		for at < len(line) && (isDigit(line[at]) || hex && line[at]|0x20 >= 'a' && line[at]|0x20 <= 'f') {
			at++
		}
		return at
	}
	begin := i
	if i < len(line) && line[i] == '-' {
		begin++
	}
	if begin+4 >= len(line) || line[begin] != '0' || line[begin+1]|0x20 != 'x' {
		return i
	}
	end := digits(begin+2, true)
	if end < len(line) && line[end] == '.' {
		end = digits(end+1, true)
	}
	if end == len(line) || line[end]|0x20 != 'p' {
		return i
	}
	if end++; end < len(line) && isSign(line[end]) {
		end++
	}
	if last := digits(end, false); last > end {
		return last
	}
	return i
}

// goesOn reports whether a letter or digit follows the end of a number, or more of it after a minus.
func goesOn(line []byte, end int) bool {
	if end+1 < len(line) && line[end] == '-' {
		end++
	}
	return end < len(line) && line[end] < 0x80 && (isLetter(line[end]) || isDigit(line[end]))
}
