package textsearch

import (
	"encoding/binary"
	"iter"
	"strings"
)

// Shape returns a number that lines have in common which are the same but for the digits of their numbers: these have
// as many digits, and whether they are zero and in base 16 is the same.
func Shape(line []byte) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	at := 0
	for from, to := range numbers(line) {
		for _, c := range line[at:from] {
			h = (h ^ uint64(c)) * prime
		}
		h = (h ^ (uint64(to-from)<<2 | uint64(kindOf(line[from:to])-zeroKind) | 1<<32)) * prime
		at = to
	}
	for _, c := range line[at:] {
		h = (h ^ uint64(c)) * prime
	}
	return h
}

// numbers returns where the numbers of a line begin and end: digits, hexadecimal ones too, that are no part of a word.
func numbers(line []byte) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(line); {
			if digitKinds[line[i]] == noDigit {
				i++
				continue
			}
			begin := i
			for i < len(line) && digitKinds[line[i]] != noDigit {
				i++
			}
			hex := begin > 1 && line[begin-1]|0x20 == 'x' && line[begin-2] == '0' && (begin == 2 || !isLetter(line[begin-3]) && !isDigit(line[begin-3]))
			word := i < len(line) && isLetter(line[i]) || begin > 0 && isLetter(line[begin-1]) && !hex
			if !word && kindOf(line[begin:i]) != noNumber && !yield(begin, i) { // not dead, frame, frame2
				return
			}
		}
	}
}

// Alike reports whether two texts are as long and differ in digits only.
func Alike(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for ; i+8 <= len(a); i += 8 {
		const high, low, six = 0xf0f0f0f0f0f0f0f0, 0x0f0f0f0f0f0f0f0f, 0x0606060606060606
		x, y := binary.LittleEndian.Uint64(a[i:]), binary.LittleEndian.Uint64(b[i:])
		if x == y {
			continue
		}
		if (x^y)&high != 0 {
			return false
		}
		differ := (((x ^ y) + low) & high >> 4) * 0xff
		over := (x&low + six) | (y&low + six)
		if ((x^0x3030303030303030)&high|over&high)&differ != 0 {
			return false
		}
	}
	for ; i < len(a); i++ {
		if a[i] != b[i] && (!isDigit(a[i]) || !isDigit(b[i])) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// IsPlain reports whether a literal is in all lines of one shape or in none of them: no part of it may be a part of a
// number, whatever is next to it.
func IsPlain(literal string) bool {
	for i := 0; i < len(literal); i++ {
		begin := i
		for i < len(literal) && digitKinds[literal[i]] != noDigit {
			i++
		}
		switch {
		case begin == i:
		case i < len(literal) && isLetter(literal[i]), begin > 0 && isLetter(literal[begin-1]) && literal[begin-1]|0x20 != 'x':
			// a word
		case begin == 0 || i == len(literal) || strings.ContainsAny(literal[begin:i], "0123456789"):
			return false
		}
	}
	return true
}

// IsFirm reports whether all numbers of the shape of a line end where a reader of fractions and signs expects it: none in
// base 16 is next to a sign or a point.
func IsFirm(line []byte) bool {
	const signs = ".-+_"
	for from, to := range numbers(line) {
		if kindOf(line[from:to]) == hexKind && (from > 0 && strings.IndexByte(signs, line[from-1]) >= 0 || to < len(line) && strings.IndexByte(signs, line[to]) >= 0) {
			return false
		}
	}
	return true
}

// IsDecimal reports whether the first bytes of all lines of the shape of a line differ in digits only: no number in them is
// in base 16.
func IsDecimal(line []byte, first int) bool {
	for from, to := range numbers(line) {
		if from < first && kindOf(line[from:to]) == hexKind {
			return false
		}
	}
	return true
}
