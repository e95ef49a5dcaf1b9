package paste

import (
	"bytes"
	"strings"
)

// normal takes a diff in the format that `diff` writes without an option:
//
//	1872,1880c1872,1880
//	< left
//	---
//	> right
//
// The diff command may come before it, and names the files.
func (p *peeler) normal(b *body) (bool, error) {
	found := false
	for {
		c := b.clone()
		d := &pair{p: p, kind: "normal", room: p.room(c, 2)}
		if line, ok := c.peek(); ok && bytes.HasPrefix(line, []byte("diff ")) {
			d.left.path, d.right.path = command(line)
			c.next()
		}
		if line, _ := c.peek(); !isNormalHead(line) {
			break
		}
		if err := d.normalHunks(c); err != nil {
			return false, err
		}
		if !d.finish(c, true) {
			break
		}
		c.take()
		*b = *c
		found = true
		if line, ok := b.peek(); !ok || !bytes.HasPrefix(line, []byte("diff ")) {
			break
		}
	}
	return found, nil
}

// command returns the files that a command line of diff names: its last two words.
func command(line []byte) (left, right string) {
	words := strings.Fields(string(line[:min(len(line), 4096)]))
	if len(words) < 3 || strings.HasPrefix(words[len(words)-2], "-") {
		return "", ""
	}
	return strings.Trim(words[len(words)-2], `"'`), strings.Trim(words[len(words)-1], `"'`)
}

func isNormalHead(line []byte) bool {
	_, _, _, ok := normalHead(line)
	return ok
}

// normalHead reads "5,7c6", "5,7d4" and "4a5,6".
func normalHead(line []byte) (left, right stretch, what byte, ok bool) {
	left, rest, ok := readRange(line)
	if !ok || len(rest) == 0 {
		return left, right, 0, false
	}
	what = rest[0]
	if right, rest, ok = readRange(rest[1:]); !ok || len(rest) > 0 {
		return left, right, 0, false
	}
	switch what {
	case 'a':
		left.count = 0
	case 'd':
		right.count = 0
	case 'c':
	default:
		return left, right, 0, false
	}
	return left, right, what, left.count >= 0 && right.count >= 0
}

// readRange reads "FIRST,LAST" or "FIRST".
func readRange(text []byte) (s stretch, rest []byte, ok bool) {
	s, rest, ok = readStretch(text, -1)
	switch {
	case s.count == -1:
		s.count = 1
	default:
		s.count -= s.first - 1
	}
	return s, rest, ok
}

// normalHunks takes hunks as long as they follow.
func (d *pair) normalHunks(b *body) error {
	for {
		line, ok := b.peek()
		left, right, what, ok2 := normalHead(line)
		if !ok || !ok2 {
			return nil
		}
		b.next()
		if line, _ := b.clone().peek(); !b.html && (bytes.HasPrefix(line, []byte("&lt;")) || bytes.HasPrefix(line, []byte("&gt;"))) {
			b.html = true
		}
		if err := d.hunk(left.at(), right.at()); err != nil {
			return err
		}
		l, r := d.left.mark(), d.right.mark()
		n := d.signed(b, &d.left, '<', left.count+right.count)
		if what == 'c' {
			if line, ok := b.peek(); ok && string(bytes.TrimRight(line, " ")) == "---" {
				b.next()
			}
		}
		m := d.signed(b, &d.right, '>', right.count)
		d.count(b, left.count-n+right.count-m)
		if what == 'c' && (n < left.count || m < right.count) {
			d.breakOff(l, r)
		}
	}
}

// signed takes the lines that begin with a sign, and returns how many there are. It takes one
// more than limit at most, so that the hunk shows to be wrong.
func (d *pair) signed(b *body, s *side, sign byte, limit int64) (n int64) {
	for {
		line, ok := b.peek()
		switch {
		case ok && len(line) > 0 && line[0] == '\\':
		case !ok || len(line) == 0 || line[0] != sign || len(line) > 1 && line[1] != ' ':
			return n
		default:
			at := s.mark()
			s.add(line[min(2, len(line)):])
			b.next()
			if n++; n < limit && b.torn() {
				s.back(at)
				return n
			}
			continue
		}
		b.next()
	}
}

// count notes that a hunk lacks lines, or has too many if lacks is below 0.
func (d *pair) count(b *body, lacks int64) {
	switch {
	case lacks > 0:
		d.short++
		if _, ok := b.peek(); !ok {
			d.cut = true
		}
	case lacks < 0:
		d.long++
	}
}
