package sums

import (
	"bytes"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/textsearch"
)

// carried is the form of logs that have a tick on one line and its checksum on a later one:
//
//	DEBUG frame 15120 completed              === Turn 120 ===
//	TRACE frame has checksum C3387452A3C84267   Units: 9a3b22ff
//	                                            Map: 11223344
//
// A line with a checksum and no tick is read with the last tick before it: "TRACE frame has frame=15120 checksum C338". Without
// a word for a checksum it is one number in hexadecimal with a name.
type carried struct {
	parsed parsed
	kinds  map[uint64]carriedKind // of lines by their shapes
	tick   []byte                 // with its name
	age    int                    // lines since then
	name   string                 // of the checksum of the last line
	buffer []byte
}

// carriedKind is what a line has.
type carriedKind uint8

const (
	hasNeither carriedKind = iota
	hasTick
	hasSum
	hasBoth
)

// maxAge is how many lines after its tick a checksum is at most, and maxShapes how many shapes of lines are remembered.
const (
	maxAge    = 64
	maxShapes = 1 << 12
)

func (c *carried) fork() lineForm { return &carried{} }

// line returns a line with a checksum and the tick before it, which is valid until the next call. Other lines are empty.
func (c *carried) line(line []byte) []byte {
	c.age++
	line = line[:min(len(line), maxLine)]
	shape := textsearch.Shape(line)
	kind, known := c.kinds[shape]
	if known && (kind == hasNeither || kind == hasBoth) {
		return nil
	}
	tick, sum := c.find(line)
	if !known {
		switch {
		case tick != nil && sum >= 0:
			kind = hasBoth
		case tick != nil:
			kind = hasTick
		case sum >= 0:
			kind = hasSum
		}
		if c.kinds == nil || len(c.kinds) == maxShapes {
			c.kinds = map[uint64]carriedKind{}
		}
		c.kinds[shape] = kind
	}
	switch {
	case kind == hasTick && tick != nil:
		c.tick, c.age = append(c.tick[:0], tick...), 0
	case kind == hasSum && sum >= 0 && c.tick != nil && c.age <= maxAge:
		c.buffer = append(append(append(append(c.buffer[:0], line[:sum]...), c.tick...), ' '), line[sum:]...)
		return c.buffer
	}
	return nil
}

// find returns the tick of a line with its name, nil if it has none, and where the name of a checksum begins, -1 if there
// is none.
func (c *carried) find(line []byte) (tick []byte, sum int) {
	p := &c.parsed
	p.line, p.tokens, sum = line, tokens(line, p.tokens[:0]), -1
	numbers, named := 0, -1 // the begin of the name of a number that may be a checksum by its form
	for i := range p.tokens {
		t := &p.tokens[i]
		if t.kind != number {
			continue
		}
		if numbers++; !t.whole || p.hasUnit(i) {
			continue
		}
		n := p.nameOf(i)
		name := []byte(p.nameText(n))
		switch p.lexicon.Of(name) {
		case vocabulary.Other, vocabulary.WeakSum:
			if digits, letters, _ := integer(line[t.from:t.to]); n.from >= 0 && len(digits) >= 8 && letters {
				named = p.tokens[n.from].from
				c.name = string(name)
			}
		case vocabulary.Tick:
			if tick == nil {
				tick = bytes.Join([][]byte{name, line[t.from:t.to]}, []byte{'='})
			}
		case vocabulary.Sum:
			if sum < 0 && t.to-t.from >= 4 && !p.loads() {
				sum = p.tokens[n.from].from
				c.name = string(name)
			}
		}
	}
	if sum < 0 && tick == nil && numbers == 1 {
		sum = named
	}
	return tick, sum
}

// loads reports whether a line is about a file that a game loads: two peers may load different files at one tick.
func (p *parsed) loads() bool {
	return slices.ContainsFunc(p.tokens, func(t token) bool {
		return t.kind == word && strings.Contains(" asset assets file files texture textures shader sound mod mods plugin download downloaded loaded loading ", " "+strings.ToLower(string(p.line[t.from:t.to]))+" ")
	})
}

// fewLines is how many lines an excerpt of a log has at most in which two checksums are enough.
const fewLines = 16

// learnCarried finds the templates of a log in which checksums are on other lines than their ticks. A tick has one checksum
// of a name at most, and most ticks have one, or they come at regular steps.
func learnCarried(lines [][]byte, how choice) (lineForm, []template) {
	c := &carried{}
	var texts, used [][]byte
	ticks := 0
	var last []byte
	seen := map[string]bool{} // names of checksums of the tick
	for _, line := range lines {
		text := c.line(line)
		switch {
		case c.age == 0 && !bytes.Equal(last, c.tick):
			ticks++
			last = append(last[:0], c.tick...)
			clear(seen)
		case len(text) > 0:
			if seen[c.name] {
				return nil, nil
			}
			texts = append(texts, bytes.Clone(text))
			if len(seen) == 0 {
				used = append(used, bytes.Clone(c.tick[bytes.IndexByte(c.tick, '=')+1:]))
			}
			seen[c.name] = true
		}
	}
	if len(used) < 2 || len(used) == 2 && len(lines) > fewLines || 2*len(used) < ticks && (len(used) < 5 || !figuresOf(used).regular) {
		return nil, nil
	}
	if list := learnText(texts, how); len(list) > 0 {
		return c.fork(), list
	}
	return nil, nil
}
