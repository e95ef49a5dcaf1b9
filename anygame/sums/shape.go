package sums

import (
	"bytes"
	"slices"
	"strings"
)

// template is one form of lines.
type template struct {
	text  *text
	roles roles
	fixed string // words of it that belong to no value
	// others is set if the lines also have checksums of other peers.
	others bool
	// vague is set if no word of the lines means a checksum, and some words mean something else, or if only the form of
	// the values makes them checksums. See [Confirm].
	vague bool
	// crowded is set if no word means a checksum, and the lines have many other values.
	crowded bool
	// twin is the same number, above 0, for forms of lines that have one checksum at different times. If guess is set,
	// another of these forms has it when it is confirmed.
	twin  int
	guess bool
	final bool // it has the confirmed one
	// apart describes lines with two checksums for a tick, empty if there are none.
	apart string
	// redoes is set if ticks go back and have one such line each time: a tick that comes twice is simulated again.
	redoes bool
	// passes is set if words before the values show the pass over the tick.
	passes bool
}

// matched is a line that has a template.
type matched struct {
	values        [][]byte // by slot
	whole         []whole  // of checksums, by slot
	before, after []byte   // the rest of the line
}

func newMatched() *matched {
	return &matched{values: make([][]byte, maxSlots), whole: make([]whole, maxSlots)}
}

// whole is a whole number, see integer.
type whole struct {
	digits  []byte
	letters bool
}

// text is the shape of lines with words between their values.
type text struct {
	elements []element
	begin    bool   // it is at the begin of a line
	head     bool   // its first line began with it
	anchor   []byte // what it begins with, empty if that is a value
	slots    int
}

// element is a piece of a text.
type element struct {
	kind kind   // literal with a text, word or number
	main bool   // a literal at which the values begin, unless a peer precedes it
	text []byte // a blank in it is one or more
	slot int    // of the value, -1 of a literal
	// exact demands that neither letters nor digits follow the value.
	exact bool
}

// template returns the elements of a line.
func (p *parsed) template() text {
	t := text{begin: p.first == 0 && (p.tokens[0].kind == number || p.peer == 0), head: p.first == 0}
	add := func(b []byte, main bool) {
		if n := len(t.elements); n > 0 && t.elements[n-1].kind == literal && !main {
			t.elements[n-1].text = append(t.elements[n-1].text, b...)
			return
		}
		t.elements = append(t.elements, element{kind: literal, text: bytes.Clone(b), slot: -1, main: main})
	}
	for i := p.first; i <= p.last; i++ {
		one := &p.tokens[i]
		switch {
		case one.kind == number || p.free[i]:
			t.elements = append(t.elements, element{kind: one.kind, slot: t.slots})
			t.slots++
		case one.kind == blank:
			if !p.mute(i) {
				add([]byte(" "), false)
			}
		default:
			add(p.line[one.from:one.to], i == p.main)
		}
	}
	return t
}

// element returns the number of the element of a slot.
func (t *text) element(slot int) int {
	return slices.IndexFunc(t.elements, func(e element) bool { return e.slot == slot })
}

// fix turns free words that are always the same into literals, and returns them.
func (g *group) fix() string {
	var columns []column
	var elements []element
	var fixed []string
	for _, e := range g.template.elements {
		if e.slot < 0 {
			elements = append(elements, e)
			continue
		}
		c := g.columns[e.slot]
		if c.word && same(c.values) {
			elements = append(elements, element{kind: literal, text: bytes.Clone(c.values[0]), slot: -1})
			fixed = append(fixed, string(c.values[0]))
			continue
		}
		e.slot = len(columns)
		columns = append(columns, c)
		elements = append(elements, e)
	}
	g.columns, g.template.elements, g.template.slots = columns, elements, len(columns)
	return strings.Join(fixed, " ")
}

func same(values [][]byte) bool {
	return !slices.ContainsFunc(values, func(v []byte) bool { return !bytes.Equal(v, values[0]) })
}

// trim returns the template without values before and after the ones that have a role, nil if too little is left.
func (t *text) trim(r *roles) *text {
	has := func(slot int) bool {
		return slot >= 0 && (slot == r.tick || slot == r.peer || slot == r.scope || slot == r.phase || r.sums(slot))
	}
	first, last := -1, -1
	for i, e := range t.elements {
		if has(e.slot) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	out := &text{slots: t.slots, begin: t.begin}
	begin := first
	for begin > 0 && t.elements[begin-1].slot < 0 && !(begin < first && t.elements[begin].main) {
		begin--
	}
	if begin > 0 && begin < first {
		out.begin = false
	}
	if begin == first { // nothing precedes the value that could be looked for
		begin = 0
	}
	for _, e := range t.elements[begin : last+1] {
		if n := len(out.elements); n > 0 && e.kind == literal && out.elements[n-1].kind == literal {
			out.elements[n-1].text = append(bytes.Clone(out.elements[n-1].text), e.text...)
			continue
		}
		e.exact = e.slot >= 0 && (e.slot == r.tick || r.sums(e.slot))
		out.elements = append(out.elements, e)
	}
	if head := &out.elements[0]; head.kind == literal {
		head.text = bytes.TrimLeft(head.text, " ")
		out.anchor, _, _ = bytes.Cut(head.text, []byte(" "))
		if len(out.anchor) == 0 {
			return nil
		}
	} else if out.begin = out.begin || t.head && begin == 0; !out.begin {
		return nil
	}
	return out
}

// String returns the template as text, for comparison.
func (t *text) String() string {
	var b strings.Builder
	for _, e := range t.elements {
		switch e.kind {
		case literal:
			b.Write(e.text)
		case word:
			b.WriteByte(1)
		default:
			b.WriteByte(0)
		}
	}
	return b.String()
}

func (t *text) match(line []byte, to *matched) bool {
	if t.begin {
		end, ok := t.parse(line, 0, to.values)
		if ok {
			to.before, to.after = nil, line[end:]
		}
		return ok
	}
	for from := 0; ; {
		i := 0
		if from > 0 || !bytes.HasPrefix(line, t.anchor) {
			i = bytes.Index(line[from:], t.anchor)
		}
		if i < 0 {
			return false
		}
		at := from + i
		if at == 0 || !isLetter(t.anchor[0]) || !isLetter(line[at-1]) {
			if end, ok := t.parse(line, at, to.values); ok {
				to.before, to.after = line[:at], line[end:]
				return true
			}
		}
		from = at + 1
	}
}

// parse reads the values that follow, and returns where they end.
func (t *text) parse(line []byte, i int, values [][]byte) (end int, ok bool) {
	for n := range t.elements {
		e := &t.elements[n]
		switch e.kind {
		case literal:
			if i, ok = e.skip(line, i); !ok {
				return 0, false
			}
			continue
		case word:
			end = i
			for end < len(line) && (isLetter(line[end]) || isDigit(line[end])) {
				end++
			}
		case handle:
			if end = handleEnd(line, i); n+1 < len(t.elements) && t.elements[n+1].slot < 0 {
				end = i + max(bytes.Index(line[i:min(len(line), i+maxLabel)], t.elements[n+1].text), 0)
			}
		case label:
			for end = i; end < len(line) && !isBlank(line[end]); end++ {
			}
		default:
			for i < len(line) && isBlank(line[i]) {
				i++
			}
			end = numberEnd(line, i)
		}
		if end == i || e.exact && goesOn(line, end) {
			return 0, false
		}
		values[e.slot] = line[i:end]
		i = end
	}
	return i, true
}

// skip passes over a literal.
func (e *element) skip(line []byte, i int) (end int, ok bool) {
	if end = i + len(e.text); end <= len(line) && string(line[i:end]) == string(e.text) && e.text[len(e.text)-1] != ' ' {
		return end, true
	}
	for _, c := range e.text {
		if i == len(line) {
			return i, false
		}
		if c == ' ' && isBlank(line[i]) {
			for i < len(line) && isBlank(line[i]) {
				i++
			}
			continue
		}
		if line[i] != c {
			return i, false
		}
		i++
	}
	return i, true
}

// numberEnd returns the end of a number at i, i if there is none: digits, hexadecimal digits, or a fraction.
func numberEnd(line []byte, i int) int {
	begin := i
	if i+1 < len(line) && line[i] == '-' && isDigit(line[i+1]) {
		i++
	}
	if i+2 < len(line) && line[i] == '0' && line[i+1]|0x20 == 'x' {
		i += 2
	}
	digits := i
	for i < len(line) && (isDigit(line[i]) || line[i]|0x20 >= 'a' && line[i]|0x20 <= 'f') {
		i++
	}
	if i < len(line) && isLetter(line[i]) { // 16ms
		for i = digits; i < len(line) && isDigit(line[i]); i++ {
		}
	}
	if i == digits {
		return begin
	}
	for i+1 < len(line) && line[i] == '.' && isDigit(line[i+1]) {
		for i++; i < len(line) && isDigit(line[i]); i++ {
		}
	}
	if i+2 < len(line) && line[i]|0x20 == 'e' && isSign(line[i+1]) {
		for i += 2; i < len(line) && isDigit(line[i]); i++ {
		}
	}
	return i
}
