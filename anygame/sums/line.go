package sums

import (
	"bytes"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// fillers are words that may be between a number and its name.
const fillers = " is for at of the was no number nr value equals on to now changed "

// filler reports whether a token is such a word.
func (p *parsed) filler(i int) bool {
	t := &p.tokens[i]
	return t.to-t.from <= len("changed") && strings.Contains(fillers, " "+strings.ToLower(p.text(i))+" ")
}

// parsed is a line that was taken apart.
type parsed struct {
	line    []byte
	tokens  []token
	names   []name // of each token that is a number
	lexicon vocabulary.Lexicon
	alone   bool // the log is the only one
	peer    int  // the token before the message that names a peer, -1 if there is none
	main    int  // the token at which the part with the tick and checksums begins
	// first and last are the tokens of that part with the peers around it, and free those in it that are words which
	// may be others.
	first, last int
	free        []bool
}

// meaning returns the meaning of a token.
func (p *parsed) meaning(t int) vocabulary.Meaning {
	return p.lexicon.Of(p.line[p.tokens[t].from:p.tokens[t].to])
}

// name is the word next to a number.
type name struct {
	from, to  int // tokens; from is -1 if there is none
	qualifier int // a token, -1 if there is none
}

func (p *parsed) text(t int) string { return string(p.line[p.tokens[t].from:p.tokens[t].to]) }

// nameOf finds the name of a number: the word before it, or for a checksum an earlier word that no other number has.
func (p *parsed) nameOf(at int) name {
	if i := at - 1; i >= 0 && p.tokens[i].kind == word && p.meaning(i) == vocabulary.Sum { // crc32
		return name{from: -1, qualifier: -1}
	}
	for i := at - 1; i >= 0 && at-i <= 10; i-- {
		t := &p.tokens[i]
		switch t.kind {
		case blank:
			continue
		case literal:
			if strings.IndexByte(`=:#([{"'<>@-\`, p.line[t.from]) < 0 {
				return name{from: -1, qualifier: -1}
			}
			continue
		case number: // crc32=
			if i > 0 && p.tokens[i-1].kind == word && p.tokens[i-1].to == t.from && i < at-1 && !(shortTick(p.text(i-1)) && p.isShort(i-1)) {
				return p.named(i-1, i+1)
			}
			return name{from: -1, qualifier: -1}
		}
		if p.filler(i) {
			continue
		}
		if shortTick(p.text(i)) && !bytes.ContainsAny(p.line[t.to:p.tokens[at].from], "=:#") && !p.isShort(i) && !p.isLead(i, at) { // T12:30
			break
		}
		return p.named(i, i+1)
	}
	return name{from: -1, qualifier: -1}
}

// isShort reports whether a number directly follows a letter that begins a word and is no part of a time: T0001
func (p *parsed) isShort(i int) bool {
	begins := i == 0 || p.tokens[i-1].kind == blank || p.tokens[i-1].kind == literal
	next := i + 1
	return begins && next < len(p.tokens) && p.tokens[next].kind == number && p.tokens[next].from == p.tokens[i].to &&
		p.tokens[next].whole && !isClock(p.line, p.tokens[next].to, p.tokens[next].to+1)
}

// isLead reports whether a letter begins a message and a number follows after a blank: T 0001 CRC 9f3acc01
func (p *parsed) isLead(i, at int) bool {
	return at == i+2 && p.tokens[i+1].kind == blank && (i == 0 || i > 1 && p.tokens[i-1].kind == blank && p.isMark(i-2, ":]|>"))
}

// named returns a name with the word before it.
func (p *parsed) named(from, to int) name {
	if meaning := p.meaning(from); meaning == vocabulary.Other || meaning == vocabulary.WeakSum { // checksum of the state
		of := false
		for i := from - 1; i >= 0 && from-i <= 6; i-- {
			if t := &p.tokens[i]; t.kind != blank && (t.kind != word || !p.filler(i)) {
				if of && t.kind == word && p.meaning(i) == vocabulary.Sum {
					from = i
				}
				break
			}
			of = of || p.text(i) == "of" || p.text(i) == "for"
		}
	}
	n := name{from: from, to: to, qualifier: -1}
	if i := from - 2; i >= 0 && p.tokens[i].kind == word && strings.IndexByte("./: \t", p.line[p.tokens[i+1].from]) >= 0 {
		n.qualifier = i
	}
	return n
}

func (p *parsed) nameText(n name) string {
	if n.from < 0 {
		return ""
	}
	return string(p.line[p.tokens[n.from].from:p.tokens[n.to-1].to])
}

// take takes a line apart, and reports whether it has a part with a tick and checksums.
func (p *parsed) take(line []byte) bool {
	p.line = line[:min(len(line), maxLine)]
	p.tokens = tokens(p.line, p.tokens[:0])
	p.joinNames()
	p.names = p.names[:0]
	p.peer = -1
	first, last, slots, telling := -1, -1, 0, 0
	front, back := -1, -1    // of the peers
	plain, counter := -1, -1 // a short number without a name, before the rest, and the name of one that is called n
	spare, bare := -1, false // a word for a checksum before the first number, and a number without a name
	for i := 0; i < len(p.tokens); i++ {
		t := &p.tokens[i]
		if t.kind != number {
			p.names = append(p.names, name{from: -1, qualifier: -1})
			if t.kind == word && first < 0 && p.meaning(i) == vocabulary.Sum {
				spare = i
			}
			if before := p.wordAt(i); t.kind == handle && before >= 0 && p.meaning(before) == vocabulary.Player {
				if front < 0 {
					front = before
				}
				back = i
			}
			if t.kind == word && first < 0 && front < 0 && p.isPeer(i) {
				for front, p.peer = i-1, i; front > 0 && (p.tokens[front].kind == blank || p.tokens[front].kind == number); {
					front-- // to what can be looked for
				}
				front = max(front, 0)
			}
			continue
		}
		slots++
		n := p.nameOf(i)
		p.names = append(p.names, n)
		if !t.whole || p.hasUnit(i) {
			continue
		}
		text := p.line[0:0]
		if n.from >= 0 {
			text = p.line[p.tokens[n.from].from:p.tokens[n.to-1].to]
		}
		begin := i
		if n.from >= 0 {
			begin = n.from
		}
		long := t.to - t.from
		switch meaning := p.lexicon.Of(text); {
		case meaning == vocabulary.Player:
			if front < 0 {
				front = begin
			}
			back = i
			continue
		case meaning == vocabulary.Tick, meaning == vocabulary.Sum, meaning == vocabulary.WeakSum, shortTick(string(text)):
			if telling++; first < 0 && counter >= 0 {
				begin = counter
			} else if first < 0 && plain >= 0 && meaning == vocabulary.Sum && plain < 3 && headTick.Match(p.line) { // [   12] hash=9f3acc01
				begin, bare = plain, true
			}
		case meaning == vocabulary.Other && telling == 0 && first < 0 && plain >= 0 && p.isDigest(i): // #12 => 9f3acc01
			telling, begin = 1, plain
			p.names[plain] = name{from: -1, qualifier: -1} // a word before it may be another one
		case long < 6 && telling == 0 && !p.glued(i) && (n.from < 0 || n.from == i-2 && p.tokens[i-1].kind == blank):
			plain = i
			continue
		case counter < 0 && telling == 0 && string(text) == "n":
			counter, plain = n.from, -1
			continue
		case meaning == vocabulary.Other && !p.glued(i) && (long >= 6 || spare >= 0 && n.from < 0 && long >= 4 || p.another(i, last)):
		default:
			plain = -1
			continue
		}
		bare = bare || n.from < 0
		if first < 0 {
			first = begin
		}
		last = i
	}
	if telling == 0 || slots < 2 || slots > maxSlots {
		return false
	}
	if spare >= 0 && spare < first && bare {
		first = spare
	}
	p.main = first
	if front >= 0 {
		first, last = min(first, front), max(last, back)
	}
	if p.tokens[first].kind == number { // without a name: the text before it shows where it is
		first = 0
	}
	p.first, p.last = first, last
	p.findFree()
	return last-first > 1
}

// headTick is a number in brackets at the begin of a line.
var headTick = lazyregexp.New(`^[\[(<][ \t]*[0-9]+[ \t]*[\])>]`)

// isDigest reports whether a number has the form of a checksum in hexadecimal.
func (p *parsed) isDigest(i int) bool {
	text := p.line[p.tokens[i].from:p.tokens[i].to]
	digits, letters, ok := integer(text)
	return ok && letters && len(digits) >= 8 && len(digits)%8 == 0 && !p.glued(i)
}

// another reports whether a number without a name follows a checksum with as many digits, after a blank: sum 60701 19940
func (p *parsed) another(i, last int) bool {
	return last >= 0 && last == i-2 && p.tokens[i-1].kind == blank && p.names[i].from < 0 && p.tokens[i].to-p.tokens[i].from >= 4 &&
		p.tokens[i].to-p.tokens[i].from == p.tokens[last].to-p.tokens[last].from
}

// glued reports whether a number is a part of a longer name, such as the name of a file.
func (p *parsed) glued(i int) bool {
	t := &p.tokens[i]
	if t.from > 1 && p.line[t.from-1] == '-' && (isLetter(p.line[t.from-2]) || isDigit(p.line[t.from-2])) {
		return true
	}
	return t.from > 0 && isLetter(p.line[t.from-1]) || t.to < len(p.line) && isLetter(p.line[t.to]) ||
		t.to+1 < len(p.line) && p.line[t.to] == '.' && isLetter(p.line[t.to+1])
}

// hasUnit reports whether letters follow a number: 16ms. The identity of an object is no value either.
func (p *parsed) hasUnit(i int) bool { return goesOn(p.line, p.tokens[i].to) || p.isIdentity(i) }

// isIdentity reports whether a number only shows which object of a process was printed: GameState@2a055e6d[tick=6], Car@1b2c3d
func (p *parsed) isIdentity(i int) bool {
	t := &p.tokens[i]
	if i < 2 || p.line[t.from-1] != '@' || p.tokens[i-2].to != t.from-1 || p.meaning(i-2) == vocabulary.Tick {
		return false
	}
	name := p.line[p.tokens[i-2].from:p.tokens[i-2].to]
	isClass := p.tokens[i-2].kind == word && name[0] >= 'A' && name[0] <= 'Z' && !bytes.Equal(bytes.ToUpper(name), name) && p.meaning(i-2) != vocabulary.Sum
	return isClass || t.to < len(p.line) && strings.IndexByte("[{(", p.line[t.to]) >= 0
}

// isPeer reports whether a word names a peer or a phase before a message, as in "[client2] tick 5", or in the only log a peer
// as in "remote hash of tick 5". It makes one token of its digits.
func (p *parsed) isPeer(i int) bool {
	next := i + 1
	digits := next < len(p.tokens) && p.tokens[next].kind == number && p.tokens[next].from == p.tokens[i].to
	if digits {
		next++
	}
	if p.alone && sideOf(p.text(i)) != "" && next < len(p.tokens) && p.tokens[next].kind == blank {
		return true
	}
	if i > 0 && p.tokens[i-1].kind != literal || next == len(p.tokens) || !peerWord(p.text(i)) && !isPhase(p.text(i)) {
		return false
	}
	if strings.IndexByte(":]>)|", p.line[p.tokens[next].from]) < 0 {
		return false
	}
	if digits {
		p.tokens[i].to = p.tokens[i+1].to
		p.tokens = slices.Delete(p.tokens, i+1, i+2)
	}
	return true
}

// joinNames makes one token of a name that follows a word for a peer and is not a single word: peer ann-2, peer Anna K,
// player="Anna K"
func (p *parsed) joinNames() {
	for i := 0; i < len(p.tokens); i++ {
		if p.tokens[i].kind != word || p.meaning(i) != vocabulary.Player {
			continue
		}
		at := i + 1
		for at < len(p.tokens) && at-i <= 4 && (p.tokens[at].kind == blank || p.isMark(at, `=:"'`)) {
			at++
		}
		if at == i+1 || at >= len(p.tokens) || p.tokens[at].kind != word && p.tokens[at].kind != number || p.meaning(at) != vocabulary.Other && p.meaning(at) != vocabulary.Player {
			continue
		}
		from := p.tokens[at].from
		end := p.nameEnd(from, at)
		next := at
		for next < len(p.tokens) && p.tokens[next].to <= end {
			next++
		}
		if name := p.line[from:end]; next > at+1 && p.tokens[next-1].to == end && (isLetter(name[0]) || bytes.Count(name, []byte("-")) > 1) {
			p.tokens[at] = token{kind: handle, from: from, to: end}
			p.tokens = slices.Delete(p.tokens, at+1, next)
		}
	}
}

// nameEnd returns the end of the name that begins with a token: in quotes it goes up to the next one, else it may have several
// words that begin with capital letters.
func (p *parsed) nameEnd(from, at int) int {
	if p.isMark(at-1, `"'`) {
		if n := bytes.IndexByte(p.line[from:min(len(p.line), from+maxLabel)], p.line[from-1]); n > 0 {
			return from + n
		}
	}
	end := handleEnd(p.line, from)
	for capital := p.line[from]; capital >= 'A' && capital <= 'Z' && end+1 < len(p.line) && p.line[end] == ' '; {
		if capital = p.line[end+1]; capital >= 'A' && capital <= 'Z' {
			last := handleEnd(p.line, end+1)
			if p.lexicon.Of(p.line[end+1:last]) != vocabulary.Other || shortTick(string(p.line[end+1:last])) {
				break
			}
			end = last
		}
	}
	return end
}

// key appends what lines of one template have in common: all but numbers, and words that are no name of a number.
func (p *parsed) key(to []byte) []byte {
	for i := p.first; i <= p.last; i++ {
		t := &p.tokens[i]
		switch {
		case t.kind == number:
			to = append(to, 0, 1)
		case p.free[i]:
			to = append(to, 0, 2)
		case p.line[t.from] == 0: // no sign of these
			to = append(to, 0, 0)
		case t.kind == blank:
			if !p.mute(i) {
				to = append(to, ' ')
			}
		default:
			to = append(to, p.line[t.from:t.to]...)
		}
	}
	return to
}

// mute reports whether a blank is left out: the one before a number may be there or not.
func (p *parsed) mute(i int) bool { return i+1 < len(p.tokens) && p.tokens[i+1].kind == number }

// findFree finds which tokens are words that may be others: those that are no name of a number.
func (p *parsed) findFree() {
	p.free = slices.Grow(p.free[:0], len(p.tokens))[:len(p.tokens)]
	for i := range p.tokens {
		p.free[i] = i == p.peer || p.tokens[i].kind == handle || p.tokens[i].kind == word && p.mayVary(i)
	}
	for i := range p.tokens {
		if p.tokens[i].kind != number {
			continue
		}
		for t := max(p.names[i].from, 0); t < p.names[i].to; t++ {
			p.free[t] = false
		}
		if i > 0 && p.tokens[i-1].kind == word {
			p.free[i-1] = false
		}
	}
}

// mayVary reports whether a word may be another one on lines that are alike: it has no meaning, or is the name of a
// part of the state: system=rng.
func (p *parsed) mayVary(i int) bool {
	if p.meaning(i) == vocabulary.Other {
		return !p.filler(i)
	}
	if i == 0 || p.tokens[i-1].kind == word || p.peer >= 0 && i == p.peer+2 {
		return false
	}
	before := p.wordBefore(i)
	return isScope(before) || vocabulary.Of(before) == vocabulary.Player
}

// columns returns the columns of a template: its numbers and free words.
func (p *parsed) columns() []column {
	var list []column
	spare, gap := "", 0 // a word for a checksum that no number has, and words since the last number
	said := slices.IndexFunc(p.tokens, func(t token) bool { return t.kind == word && p.lexicon.Of(p.line[t.from:t.to]) == vocabulary.Sum })
	for i := p.first; i <= p.last; i++ {
		t := &p.tokens[i]
		switch {
		case t.kind == number:
			name := p.names[i]
			c := column{name: p.nameText(name), gap: gap, glued: p.glued(i), placed: true, unit: p.hasUnit(i)}
			if name.qualifier >= 0 {
				c.qualifier = p.text(name.qualifier)
			}
			c.followed = p.followed(i)
			c.said = said >= 0 && !p.owned(said) && oneSided(c.name)
			if name.from >= 0 {
				c.index = p.line[p.tokens[name.to-1].to] == '['
			}
			if c.name == "" && spare != "" && t.whole && !c.glued {
				c.name, c.loose, spare = spare, true, ""
			}
			list = append(list, c)
			gap = 0
		case p.free[i]:
			list = append(list, column{word: true, name: p.wordBefore(i)})
			if !p.isMark(i+1, "=") { // else the value counts
				gap++
			}
		case t.kind == word && !p.owned(i):
			gap++
			if p.meaning(i) == vocabulary.Sum {
				spare = p.text(i)
			}
		case t.kind == literal && strings.IndexByte(",;|", p.line[t.from]) >= 0:
			spare = ""
		}
	}
	return list
}

// followed reports whether a word follows a number that may be its unit. A name of the next number is none, if a sign
// or a long number is after it.
func (p *parsed) followed(i int) bool {
	if i += 2; i >= len(p.tokens) || p.tokens[i-1].kind != blank || p.tokens[i].kind != word {
		return false
	}
	next := slices.IndexFunc(p.names[i:], func(n name) bool { return n.from == i })
	if next > 0 && p.isMark(i+1, "=") { // v=123456789 rtt=98
		return false
	}
	if next < 0 || p.meaning(i) == vocabulary.Measure {
		return true
	}
	t := &p.tokens[i+next]
	return p.tokens[i+1].kind == blank && t.to-t.from < 6
}

// owned reports whether a word is the name of a number.
func (p *parsed) owned(i int) bool {
	return slices.ContainsFunc(p.names, func(n name) bool { return n.from <= i && i < n.to && n.from >= 0 })
}

// wordBefore returns the word before another one, empty if there is none.
func (p *parsed) wordBefore(i int) string {
	if i = p.wordAt(i); i < 0 {
		return ""
	}
	return p.text(i)
}

// wordAt returns the number of the word before a token, -1 if there is none.
func (p *parsed) wordAt(i int) int {
	for i--; i >= 0 && p.tokens[i].kind != word; i-- {
		if t := p.tokens[i]; t.kind == number || t.kind == literal && strings.IndexByte(`=:"'`, p.line[t.from]) < 0 {
			return -1
		}
	}
	return i
}

// add adds the values of a line to its group.
func (p *parsed) add(g *group) {
	c := 0
	for i := p.first; i <= p.last; i++ {
		if p.tokens[i].kind == number || p.free[i] {
			g.columns[c].values = append(g.columns[c].values, p.line[p.tokens[i].from:p.tokens[i].to])
			if p.tokens[i].kind == handle {
				g.template.elements[g.template.element(c)].kind = handle
			}
			c++
		}
	}
}
