package paste

import (
	"bytes"
	"strings"
)

// unified takes a unified diff:
//
//	--- host/report.log	2020-11-25 12:52:44
//	+++ client/report.log	2020-11-25 12:52:44
//	@@ -1883,8 +1883,8 @@
//	 both
//	-left
//	+right
func (p *peeler) unified(b *body) (bool, error) {
	found := false
	for {
		c := b.clone()
		d := &pair{p: p, kind: "unified", room: p.room(c, 1)}
		if !d.names(c, "--- ", "+++ ") {
			break
		}
		more, err := d.unifiedHunks(c)
		if err != nil {
			return false, err
		}
		if d.hunks == 0 || !d.finish(c, more) {
			break
		}
		c.take()
		*b = *c
		if found = true; !b.between() {
			break
		}
	}
	return found, nil
}

// names takes the two lines that name the files, which may be missing. It is not ok for
// anything else than a diff.
func (d *pair) names(b *body, left, right string) bool {
	line, ok := b.peek()
	if !ok {
		return false
	}
	name, ok := bytes.CutPrefix(line, []byte(left))
	if !ok {
		return true
	}
	b.next()
	second, ok := b.next()
	if !ok {
		return false
	}
	other, ok := bytes.CutPrefix(second, []byte(right))
	d.left.path, d.right.path = fileName(name), fileName(other)
	return ok
}

// fileName returns the name in a line of a diff, without the time after it.
func fileName(text []byte) string {
	name, _, _ := strings.Cut(string(text[:min(len(text), 4096)]), "\t")
	if at := strings.Index(name, "  "); at > 0 { // a tab that became spaces
		name = name[:at]
	}
	if fields := strings.Fields(name); len(fields) > 2 && isClock([]byte(fields[len(fields)-1])) {
		name = strings.Join(fields[:len(fields)-2], " ")
	}
	return strings.TrimSpace(name)
}

// between passes over lines between the files of one diff, and reports whether another one follows.
func (b *body) between() bool {
	c := b.clone()
	for range 8 {
		line, ok := c.peek()
		switch {
		case !ok:
			return false
		case bytes.HasPrefix(line, []byte("--- ")):
			*b = *c
			return true
		case bytes.HasPrefix(line, []byte("diff ")), bytes.HasPrefix(line, []byte("Index: ")), bytes.HasPrefix(line, []byte("index ")),
			bytes.HasPrefix(line, []byte("====")), bytes.HasPrefix(line, []byte("Only in ")), len(line) == 0:
			c.next()
		default:
			return false
		}
	}
	return false
}

// unifiedHunks takes hunks as long as they follow. More is false if the last one shows that
// it is the end of both files.
func (d *pair) unifiedHunks(b *body) (more bool, err error) {
	for {
		line, ok := b.peek()
		left, right, ok2 := unifiedHead(line)
		if !ok || !ok2 {
			return more, nil
		}
		b.next()
		if err := d.hunk(left.at(), right.at()); err != nil {
			return false, err
		}
		more = d.unifiedHunk(b, left.count, right.count)
	}
}

// stretch is where lines of a hunk are in one file.
type stretch struct{ first, count int64 }

// at returns the number of the first line. For a hunk without lines, diff gives the line before.
func (s stretch) at() int64 {
	if s.count == 0 {
		return s.first + 1
	}
	return s.first
}

// unifiedHead reads "@@ -1883,8 +1883,8 @@", which text may follow.
func unifiedHead(line []byte) (left, right stretch, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("@@ -"))
	if !ok {
		return left, right, false
	}
	if left, rest, ok = readStretch(rest, 1); !ok {
		return left, right, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" +")); !ok {
		return left, right, false
	}
	if right, rest, ok = readStretch(rest, 1); !ok {
		return left, right, false
	}
	return left, right, bytes.HasPrefix(rest, []byte(" @@"))
}

// readStretch reads "FIRST,COUNT" or "FIRST".
func readStretch(text []byte, count int64) (s stretch, rest []byte, ok bool) {
	first, n := digits(text)
	if n == 0 {
		return s, text, false
	}
	s, rest = stretch{first, count}, text[n:]
	if len(rest) > 0 && rest[0] == ',' {
		c, n := digits(rest[1:])
		if n == 0 {
			return s, text, false
		}
		s.count, rest = c, rest[1+n:]
	}
	return s, rest, true
}

// digits reads a number of at most 15 digits, and returns how many it has.
func digits(text []byte) (number int64, n int) {
	for n < len(text) && n < 15 && text[n] >= '0' && text[n] <= '9' {
		number = number*10 + int64(text[n]-'0')
		n++
	}
	return number, n
}

// unifiedHunk takes the lines of a hunk of so many lines.
func (d *pair) unifiedHunk(b *body, left, right int64) (more bool) {
	leading, trailing, long, differs := 0, 0, false, false
	l, r := d.left.mark(), d.right.mark()
	for {
		line, ok := b.peek()
		if !ok {
			break
		}
		sign := byte(' ')
		if len(line) > 0 {
			sign = line[0]
			line = line[1:]
		} else if left <= 0 && right <= 0 {
			break
		}
		if left <= 0 && right <= 0 && (sign == '-' || sign == '+' || sign == ' ') {
			if !d.goesOn(b) {
				break
			}
			long = true
		}
		x, y := d.left.mark(), d.right.mark()
		switch sign {
		case ' ':
			d.left.add(line)
			d.right.add(line)
			left, right, trailing = left-1, right-1, trailing+1
			l, r = d.left.mark(), d.right.mark()
			if !differs {
				leading++
			}
		case '-':
			d.left.add(line)
			left, trailing, differs = left-1, 0, true
		case '+':
			d.right.add(line)
			right, trailing, differs = right-1, 0, true
		case '\\':
		default:
			sign = 0
		}
		if sign == 0 {
			break
		}
		if b.next(); b.torn() && (left > 0 || right > 0) {
			d.left.back(x)
			d.right.back(y)
		}
	}
	if long {
		d.long++
	} else if left > 0 || right > 0 {
		d.short++
		if _, ok := b.peek(); !ok {
			d.cut = true
		}
		if trailing == 0 {
			d.breakOff(l, r)
		}
	}
	return d.mayFollow(leading, trailing)
}

// goesOn reports whether a line after a hunk that has all its lines still belongs to it: not
// one that names the next file, and not the signature of a mail.
func (d *pair) goesOn(b *body) bool {
	c := b.clone()
	line, _ := c.next()
	if string(line) == "-- " || string(line) == "--" {
		return false
	}
	if bytes.HasPrefix(line, []byte("--- ")) {
		second, ok := c.next()
		return !ok || !bytes.HasPrefix(second, []byte("+++ "))
	}
	return true
}
