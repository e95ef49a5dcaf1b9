package paste

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/file/partial"
)

// sideLines is how many lines show the columns of a side-by-side diff. maxColumn is the last column in which its signs
// may be.
const (
	sideLines = 400
	maxColumn = 1000
)

// sideBySide takes the output of `diff -y`: the lines of both files side by side, with a sign between them where they
// differ.
//
//	log of a game                     log of a game
//	tick 1                          | tick 2
//	tick 3                          <
//
// Lines are cut to half of the width, which leaves no trace but their length: one that is as
// long as the widest is left out on both sides. Blanks at the ends of the left lines are lost.
func (p *peeler) sideBySide(b *body) (bool, error) {
	g, ok := findGutter(b.clone())
	if !ok {
		return false, nil
	}
	d := &pair{p: p, kind: "side-by-side", room: p.room(b, 2)}
	c := b.clone()
	if err := d.hunk(1, 1); err != nil {
		return false, err
	}
	cut := 0
	for {
		line, ok := c.next()
		if !ok {
			break
		}
		left, sign, right, whole := g.split(line)
		if !whole {
			cut++
			next := d.left.next
			if sign != '>' {
				next++
				d.left.gap(next)
			}
			if sign != '<' {
				d.right.gap(next)
			}
			continue
		}
		switch sign {
		case ' ', '(', ')':
			d.left.add(left)
			if sign == ' ' || len(right) > 0 {
				d.right.add(right)
			} else {
				d.right.add(left)
			}
		case '<':
			d.left.add(left)
		case '>':
			d.right.add(right)
		default:
			d.left.add(left)
			d.right.add(right)
		}
	}
	if !d.finish(c, true) {
		return false, nil
	}
	if cut > 0 {
		p.note("lines left out that may be cut to the width of the diff: %d", cut)
	}
	c.take()
	return true, nil
}

// IsSideBySide reports whether a text begins as a side-by-side diff does. The first line may look like the first line
// of a file that the text is not.
func IsSideBySide(head []byte) bool {
	_, ok := findGutter(&body{ls: lines{text: head[:bytes.LastIndexByte(head, '\n')+1]}})
	return ok
}

// gap adds a gap of one line to a side; next is the number of the left line that follows.
func (s *side) gap(next int64) {
	s.text = partial.Gap{First: s.next, Last: s.next, Next: next}.Append(s.text)
	s.next++
}

// gutter is where the signs are.
type gutter struct {
	column int // of the sign, from 0
	right  int // where the right half begins
	half   int // how wide each half may be
}

// findGutter finds the column that contains all signs. At least one line must have a sign, and one the same text on
// both sides.
func findGutter(b *body) (g gutter, ok bool) {
	var list [][]byte
	for range sideLines {
		line, ok := b.next()
		if !ok {
			break
		}
		list = append(list, expand(line))
	}
	signs := map[int]int{}
	for _, line := range list {
		for at := 1; at < min(len(line), maxColumn); at++ {
			if bytes.IndexByte([]byte("|<>"), line[at]) >= 0 && line[at-1] == ' ' && (at+1 == len(line) || line[at+1] == ' ' || line[at+1] == '\t') {
				signs[at]++
			}
		}
	}
	most := 0
	for column := range maxColumn {
		if signs[column] == 0 {
			continue
		}
		for gap := 2; gap < 10; gap++ { // more than 3 where the right half begins at a tab stop
			t := gutter{column: column, right: column + gap, half: column + 1 - gap}
			if same := t.same(list); same >= 0 && same+signs[column] > most && same > 0 {
				g, ok, most = t, true, same+signs[column]
			}
		}
	}
	return g, ok
}

// same returns how many lines have the same text on both sides, below 0 if a line has neither that
// nor a sign.
func (g gutter) same(list [][]byte) (n int) {
	for _, line := range list {
		left := bytes.TrimRight(line[:min(len(line), g.column)], " ")
		sign := byte(' ')
		if len(line) > g.column {
			sign = line[g.column]
		}
		right := bytes.TrimRight(line[min(len(line), g.right):], " ")
		switch sign {
		case '|', '<', '>', '(', ')', '/', '\\':
		case ' ':
			if !bytes.Equal(left, right) {
				return -1
			}
			if len(left) > 0 {
				n++
			}
		default:
			return -1
		}
	}
	return n
}

// split cuts a line in two. It is not whole if one half may be cut off.
func (g gutter) split(line []byte) (left []byte, sign byte, right []byte, whole bool) {
	sign = ' '
	column, first, at := 0, -1, -1
	for i, c := range line {
		if column >= g.column && first < 0 {
			if first = i; column == g.column && c != '\t' {
				sign = c
			}
		}
		if column >= g.right && at < 0 {
			at = i
		}
		column += width(c, column)
	}
	if first < 0 {
		return bytes.TrimRight(line, " \t"), ' ', nil, true
	}
	left = bytes.TrimRight(line[:first], " \t")
	if at >= 0 {
		right = line[at:]
	}
	wide := 0
	for _, c := range left {
		wide += width(c, wide)
	}
	return left, sign, right, wide < g.half-1 && column-g.right < g.half-1
}

// width returns how many columns a byte takes. The bytes of a character after its first take none.
func width(c byte, column int) int {
	switch {
	case c == '\t':
		return 8 - column%8
	case c&0xc0 == 0x80:
		return 0
	}
	return 1
}

// expand puts spaces in place of tabs, and one byte in place of each character.
func expand(line []byte) []byte {
	out := make([]byte, 0, len(line)+16)
	for _, c := range line[:min(len(line), 4*maxColumn)] {
		switch n := width(c, len(out)); {
		case c == '\t':
			out = append(out, "        "[:n]...)
		case n == 1:
			out = append(out, c)
		}
	}
	return out
}
