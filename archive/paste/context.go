package paste

import (
	"bytes"
	"github.com/desynctool/desynctool/internal/lists"
)

const hunkStars = "***************"

// context takes a diff in context format:
//
//	*** host/report.log	2020-11-25 12:52:44
//	--- client/report.log	2020-11-25 12:52:44
//	***************
//	*** 1883,1890 ****
//	  both
//	! left
//	--- 1883,1890 ----
//	  both
//	! right
//
// If nothing differs on a side, its lines are left out: they are the lines of the other side that are in both.
func (p *peeler) context(b *body) (bool, error) {
	found := false
	for {
		c := b.clone()
		d := &pair{p: p, kind: "context", room: p.room(c, 2)}
		if line, _ := c.peek(); !bytes.HasPrefix(line, []byte(hunkStars)) && !d.names(c, "*** ", "--- ") {
			break
		}
		more, err := d.contextHunks(c)
		if err != nil {
			return false, err
		}
		if !d.finish(c, more) {
			break
		}
		c.take()
		*b = *c
		found = true
		for range 4 {
			if line, ok := b.peek(); ok && (bytes.HasPrefix(line, []byte("diff ")) || bytes.HasPrefix(line, []byte("Only in "))) {
				b.next()
			}
		}
		if line, ok := b.peek(); !ok || !bytes.HasPrefix(line, []byte("*** ")) {
			break
		}
	}
	return found, nil
}

// contextHead reads "*** 1883,1890 ****" and "--- 1883,1890 ----".
func contextHead(line []byte, sign string) (s stretch, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(sign[:3]+" "))
	if !ok {
		return s, false
	}
	if s, rest, ok = readRange(rest); !ok {
		return s, false
	}
	return s, string(bytes.TrimRight(rest, " ")) == " "+sign
}

// contextHunks takes hunks as long as they follow.
func (d *pair) contextHunks(b *body) (more bool, err error) {
	for {
		c := b.clone()
		if line, ok := c.next(); !ok || !bytes.HasPrefix(line, []byte(hunkStars)) {
			return more, nil
		}
		line, _ := c.peek()
		left, ok := contextHead(line, "****")
		if !ok {
			return more, nil
		}
		c.next()
		lines := d.section(c, "!- ")
		line, _ = c.peek()
		right, ok := contextHead(line, "----")
		if ok {
			c.next()
		} else {
			right = left // cut off before it
		}
		others := d.section(c, "!+ ")
		*b = *c
		if torn := c.torn(); torn && !ok {
			lines = lines[:max(0, len(lines)-1)]
		} else if torn && int64(len(others)) < right.count {
			others = others[:max(0, len(others)-1)]
		}
		if len(lines) == 0 && ok {
			lines = shared(others)
		} else if len(others) == 0 && ok {
			others = shared(lines)
		}
		if err := d.hunk(empty(left, lines), empty(right, others)); err != nil {
			return false, err
		}
		for _, l := range lines {
			d.left.add(l.text)
		}
		for _, l := range others {
			d.right.add(l.text)
		}
		lacks := left.count - int64(len(lines)) + right.count - int64(len(others))
		if len(lines) == 0 && left.count == 1 {
			lacks--
		}
		if len(others) == 0 && right.count == 1 {
			lacks--
		}
		d.count(b, lacks)
		d.cut = d.cut || !ok
		d.open = d.open || lacks > 0 || !ok
		more = d.mayFollow(min(lead(lines), lead(others)), min(trail(lines), trail(others)))
	}
}

// empty returns where a section begins. One line and none are given alike.
func empty(s stretch, lines []signedLine) int64 {
	if len(lines) == 0 && s.count == 1 {
		return s.first + 1
	}
	return s.first
}

type signedLine struct {
	sign byte
	text []byte
}

// section takes the lines of one side of a hunk.
func (d *pair) section(b *body, signs string) (list []signedLine) {
	for {
		line, ok := b.peek()
		switch {
		case ok && len(line) > 0 && line[0] == '\\':
			b.next()
			continue
		case !ok, len(line) == 1, len(line) > 1 && (line[1] != ' ' || bytes.IndexByte([]byte(signs), line[0]) < 0):
			return list
		case len(line) == 0 && !d.follows(b, signs):
			return list
		case len(line) == 0:
			list = append(list, signedLine{' ', nil})
		default:
			list = append(list, signedLine{line[0], bytes.Clone(line[2:])})
		}
		b.next()
	}
}

// follows reports whether the line after an empty one belongs to the section too, so that the empty one is a line that
// lost its blanks.
func (d *pair) follows(b *body, signs string) bool {
	c := b.clone()
	c.next()
	line, ok := c.next()
	if _, head := contextHead(line, "----"); head || bytes.HasPrefix(line, []byte(hunkStars)) {
		return true
	}
	return ok && len(line) > 1 && line[1] == ' ' && bytes.IndexByte([]byte(signs), line[0]) >= 0
}

func trail(list []signedLine) (n int) {
	for i := len(list) - 1; i >= 0 && list[i].sign == ' '; i-- {
		n++
	}
	return n
}

func lead(list []signedLine) (n int) {
	for n < len(list) && list[n].sign == ' ' {
		n++
	}
	return n
}

// shared returns the lines that are in both sides.
func shared(list []signedLine) []signedLine {
	return lists.Where(list, func(l signedLine) bool { return l.sign == ' ' })
}
