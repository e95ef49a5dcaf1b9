package sums

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

// fileSums are parts of names of checksums that lists of files have.
const fileSums = " sha sha1 sha256 sha512 sha2 md5 etag "

// counted is the form of logs with checksums and no tick on any line: nothing but a checksum on each line, or one form of lines
// with a word for it, "state hash: 9f3acc01". Such lines are counted, and the count is the tick.
type counted struct {
	parsed parsed
	name   string // of the checksum, empty if lines have nothing else
	n      int
	buffer []byte
}

func (c *counted) fork() lineForm { return &counted{name: c.name} }

// line returns the checksum of a line and its number, which is valid until the next call. Other lines are empty.
func (c *counted) line(line []byte) []byte {
	sum, _ := c.find(line)
	if sum == nil {
		return nil
	}
	c.n++
	c.buffer = append(strconv.AppendInt(append(c.buffer[:0], "tick="...), int64(c.n), 10), " hash="...)
	return append(c.buffer, sum...)
}

// find returns the checksum of a line, nil if there is none, and reports whether the line has a tick.
func (c *counted) find(line []byte) (sum []byte, ticked bool) {
	p := &c.parsed
	p.line = withoutPlace(line[:min(len(line), maxLine)])
	p.tokens = tokens(p.line, p.tokens[:0])
	sums := 0
	for i, t := range p.tokens {
		if t.kind != number {
			continue
		}
		name := p.nameText(p.nameOf(i))
		switch meaning := p.lexicon.Of([]byte(name)); {
		case meaning == vocabulary.Tick || shortTick(name):
			ticked = true
		case c.name == "" && t.whole && len(p.tokens) == 1, c.name != "" && name == c.name && t.whole && !p.hasUnit(i):
			sums++
			sum = p.line[t.from:t.to]
		}
	}
	if sums != 1 || ticked {
		return nil, ticked
	}
	return sum, false
}

// nameIn returns the name of the first checksum of a log, empty if nothing has a word for one.
func (c *counted) nameIn(lines [][]byte) string {
	p := &c.parsed
	for _, line := range lines {
		p.line = withoutPlace(line[:min(len(line), maxLine)])
		p.tokens = tokens(p.line, p.tokens[:0])
		for i := range p.tokens {
			if p.tokens[i].kind != number {
				continue
			}
			name := p.nameText(p.nameOf(i))
			if p.lexicon.Of([]byte(name)) == vocabulary.Sum && !remote(name) && !hasPart(name, fileSums) && p.line[0] != '"' && !p.loads() {
				return name
			}
		}
	}
	return ""
}

// learnCounted finds the checksums of a log that has no ticks.
func learnCounted(lines [][]byte, how choice) (lineForm, []template) {
	const fewest, longest = 8, 64 // such lines, and digits of a checksum
	c := &counted{}
	c.name = c.nameIn(lines)
	var texts, values [][]byte
	for _, line := range lines {
		sum, ticked := c.find(line)
		if ticked || sum == nil && c.name == "" && len(texts) > 0 {
			return nil, nil
		}
		if sum != nil {
			texts, values = append(texts, bytes.Clone(c.line(line))), append(values, bytes.Clone(sum))
		}
	}
	least := 4 // digits
	if c.name == "" {
		least = 8
	}
	if f := figuresOf(values); len(values) < fewest || !f.scattered(len(values), len(values), least, least) || f.long > longest {
		return nil, nil
	} else if c.name == "" && slices.ContainsFunc(values, func(v []byte) bool { return bytes.Contains(v, []byte("00000000")) }) { // bytes of a file
		return nil, nil
	}
	list := learnText(texts, how)
	for i := range list {
		list[i].vague = true // until two logs have a checksum with one number
	}
	return c.fork(), list
}

// shifted reports whether two logs with counted checksums have the same ones at other numbers, from one on: a line is missing.
func shifted(a, b map[uint64]string) bool {
	const farthest, fewest = 64, 3
	first := uint64(1)
	for ; a[first] != "" && a[first] == b[first]; first++ {
	}
	again := func(x, y map[uint64]string) bool {
		for by := uint64(1); by <= farthest; by++ {
			n := uint64(0)
			for n < fewest && x[first+n] != "" && x[first+n] == y[first+by+n] {
				n++
			}
			if n == fewest {
				return true
			}
		}
		return false
	}
	return a[first] != "" && b[first] != "" && (again(a, b) || again(b, a))
}
