// Package textsearch finds many short texts in a long one, in one pass. Lines of logs repeat, but for their numbers: what
// is known about lines of one shape need not be searched again.
package textsearch

import (
	"bytes"
	"encoding/binary"
)

// Searcher finds any of many literals, after Wu and Manber. It looks at the last bytes of a window that is as long as
// the shortest literal. Most bytes in a log end no part of any literal, so the window usually moves by almost its
// length. A Searcher does not change after New.
type Searcher struct {
	literals []string
	length   int    // of the shortest literal
	fold     uint32 // makes letters small
	shift    [1 << blockBits]uint8
	ending   [1 << blockBits][]uint16 // literals whose first bytes end in this block, ascending
}

const (
	blockBits = 13
	blockSize = 3 // bytes
	// MinLength is the minimum length of a literal in bytes, MinFolded if its letters are large or small. Shorter
	// literals would slow down the search for all others.
	MinLength, MinFolded = 6, 4
	// strands is how many parts of a text one processor searches at the same time. Otherwise it would wait for each
	// lookup before it knows the position of the next.
	strands   = 4
	minStrand = 256 // bytes; shorter texts are searched as a whole
)

// block returns the number of the three bytes before an end, which must be at least 4.
func (s *Searcher) block(text []byte, end int) uint32 {
	return (binary.LittleEndian.Uint32(text[end-4:end]) | s.fold) >> 8 * 0x9e3779b1 >> (32 - blockBits)
}

// New prepares the search for literals of at least MinLength bytes. It panics if one is shorter.
func New(literals []string) *Searcher { return newSearcher(literals, MinLength, 0) }

// NewFolded prepares the search for literals in small letters of ASCII, which may be large in a text. They have at least
// MinFolded bytes. It panics if one is shorter.
func NewFolded(literals []string) *Searcher { return newSearcher(literals, MinFolded, 0x20202020) }

func newSearcher(literals []string, least int, fold uint32) *Searcher {
	s := &Searcher{literals: literals, length: 255, fold: fold}
	for _, l := range literals {
		s.length = min(s.length, len(l))
	}
	if s.length < least {
		panic("literals: a literal is too short")
	}
	for i := range s.shift {
		s.shift[i] = uint8(s.length - blockSize + 1)
	}
	for n, l := range literals {
		for end := blockSize; end <= s.length; end++ {
			h := s.block([]byte("\x00"+l), end+1)
			s.shift[h] = min(s.shift[h], uint8(s.length-end))
			if end == s.length {
				s.ending[h] = append(s.ending[h], uint16(n))
			}
		}
	}
	return s
}

// At returns the index of the first literal at a position, starting with index from, or -1.
func (s *Searcher) At(text []byte, at, from int) int {
	if at+s.length > len(text) {
		return -1
	}
	first := text[at] | byte(s.fold)
	for _, n := range s.ending[s.block(text, at+s.length)] {
		l := s.literals[n]
		if l[0]|byte(s.fold) == first && int(n) >= from && len(text)-at >= len(l) && s.equal(text[at:at+len(l)], l) {
			return int(n)
		}
	}
	return -1
}

func (s *Searcher) equal(text []byte, literal string) bool {
	return string(text) == literal || s.fold > 0 && bytes.EqualFold(text, []byte(literal))
}

// Places are the positions of literals in a text. They can be reused for the next text.
type Places struct {
	strand [strands][]int
	all    []int
}

// Find returns all positions at which any literal begins, ascending. They are valid until p is used again.
func (s *Searcher) Find(text []byte, p *Places) []int {
	p.all = p.all[:0]
	part := (len(text) - s.length + 1) / strands // positions in a strand
	if part < minStrand {
		p.all = s.rest(text, s.length, len(text), p.all)
		return p.all
	}
	var end, last [strands]int // the end of each window, and of each strand's last one
	for i := range strands {
		end[i], last[i] = i*part+s.length, (i+1)*part+s.length-1
		p.strand[i] = p.strand[i][:0]
	}
	last[strands-1] = len(text)
	a, b, c, d := end[0], end[1], end[2], end[3]
	for a <= last[0] && b <= last[1] && c <= last[2] && d <= last[3] {
		na, nb, nc, nd := s.shift[s.block(text, a)], s.shift[s.block(text, b)], s.shift[s.block(text, c)], s.shift[s.block(text, d)]
		if na == 0 {
			p.strand[0], na = s.take(text, a, p.strand[0]), 1
		}
		if nb == 0 {
			p.strand[1], nb = s.take(text, b, p.strand[1]), 1
		}
		if nc == 0 {
			p.strand[2], nc = s.take(text, c, p.strand[2]), 1
		}
		if nd == 0 {
			p.strand[3], nd = s.take(text, d, p.strand[3]), 1
		}
		a, b, c, d = a+int(na), b+int(nb), c+int(nc), d+int(nd)
	}
	end = [strands]int{a, b, c, d}
	for i := range strands {
		p.all = append(p.all, s.rest(text, end[i], last[i], p.strand[i])...)
	}
	return p.all
}

// rest continues the search, one window after another.
func (s *Searcher) rest(text []byte, end, last int, out []int) []int {
	for end <= last {
		n := s.shift[s.block(text, end)]
		if n == 0 {
			out, n = s.take(text, end, out), 1
		}
		end += int(n)
	}
	return out
}

// take adds the position of a window if a literal begins there.
func (s *Searcher) take(text []byte, end int, out []int) []int {
	if at := end - s.length; s.At(text, at, 0) >= 0 {
		out = append(out, at)
	}
	return out
}
