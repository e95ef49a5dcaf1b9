package textsearch

import "encoding/binary"

// Shape returns a number that lines have in common which are the same but for the digits of their numbers: these have
// as many digits, and whether they are zero and in base 16 is the same.
func Shape(line []byte) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	for i := 0; i < len(line); {
		c := line[i]
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			h = (h ^ uint64(c)) * prime
			i++
			continue
		}
		begin, digits, zeros := i, 0, 0
		for i < len(line) && (isDigit(line[i]) || line[i]|0x20 >= 'a' && line[i]|0x20 <= 'f') {
			if isDigit(line[i]) {
				digits++
			}
			if line[i] == '0' {
				zeros++
			}
			i++
		}
		hex := begin > 1 && line[begin-1]|0x20 == 'x' && line[begin-2] == '0' && (begin == 2 || !isLetter(line[begin-3]) && !isDigit(line[begin-3]))
		word := i < len(line) && isLetter(line[i]) || begin > 0 && isLetter(line[begin-1]) && !hex
		if digits == 0 || word { // dead, frame, frame2
			for _, c := range line[begin:i] {
				h = (h ^ uint64(c)) * prime
			}
			continue
		}
		n := i - begin
		kind := uint64(n) << 2
		if digits < n {
			kind |= 1
		}
		if zeros == n {
			kind |= 2
		}
		h = (h ^ (kind | 1<<32)) * prime
	}
	return h
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
