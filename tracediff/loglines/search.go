package loglines

// searcher finds any of many literals in one pass, after Wu and Manber: it looks at
// the last bytes of a window as long as the shortest literal. Most bytes of a log end no
// part of any literal, so that the window moves on by almost its length.
type searcher struct {
	literals []string
	length   int // of the shortest literal
	shift    [1 << blockBits]uint8
	ending   [1 << blockBits][]uint16 // literals whose first bytes end in such a block, ascending
}

const (
	blockBits = 13
	blockSize = 3 // bytes
	minLength = 8 // of a literal: what is shorter would make all others slow
)

func block(b []byte) uint32 {
	x := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16
	return x * 0x9e3779b1 >> (32 - blockBits)
}

// newSearcher prepares the search for literals of minLength bytes at least.
func newSearcher(literals []string) *searcher {
	s := &searcher{literals: literals, length: 255}
	for _, l := range literals {
		s.length = min(s.length, len(l))
	}
	if s.length < minLength {
		panic("loglines: a literal is too short")
	}
	for i := range s.shift {
		s.shift[i] = uint8(s.length - blockSize + 1)
	}
	for n, l := range literals {
		for end := blockSize; end <= s.length; end++ {
			h := block([]byte(l[end-blockSize : end]))
			s.shift[h] = min(s.shift[h], uint8(s.length-end))
			if end == s.length {
				s.ending[h] = append(s.ending[h], uint16(n))
			}
		}
	}
	return s
}

// next returns the first place from an offset on at which a literal stands, and the
// number of the first such literal, -1 if there is none.
func (s *searcher) next(text []byte, from int) (at, literal int) {
	for end := from + s.length; end <= len(text); {
		h := block(text[end-blockSize : end : end])
		if n := s.shift[h]; n > 0 {
			end += int(n)
			continue
		}
		at := end - s.length
		for _, n := range s.ending[h] {
			if l := s.literals[n]; len(text)-at >= len(l) && string(text[at:at+len(l)]) == l {
				return at, int(n)
			}
		}
		end++
	}
	return -1, -1
}
