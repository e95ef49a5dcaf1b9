package sums

import (
	"bytes"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

// Limits of a sample.
const (
	maxSlots     = 64      // values of a line
	maxGroups    = 1 << 12 // templates that are looked at
	maxRows      = 1 << 12 // lines of one template that are looked at
	maxLine      = 1 << 12 // bytes of a line that are looked at
	maxTemplates = 32      // templates of one log
)

// kind is the kind of a token.
type kind uint8

const (
	literal kind = iota // a byte that is neither a letter nor a digit
	blank               // blanks and tabs
	word                // letters and underscores
	number              // a slot
	label               // all up to a blank
)

// token is a piece of a line.
type token struct {
	kind     kind
	from, to int
	whole    bool // of a number: it has no fraction
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isSign(c byte) bool   { return c == '-' || c == '+' }
func isBlank(c byte) bool  { return c == ' ' || c == '\t' }

// tokens appends the tokens of a line.
func tokens(line []byte, to []token) []token {
	for i := 0; i < len(line); {
		begin := i
		switch c := line[i]; {
		case isBlank(c):
			for i < len(line) && isBlank(line[i]) {
				i++
			}
			to = append(to, token{kind: blank, from: begin, to: i})
		case isLetter(c) || isDigit(c) || c == '-' && i+1 < len(line) && isDigit(line[i+1]) && !follows(line[:i]):
			if end, whole, ok := numeral(line, i); ok {
				to = append(to, token{kind: number, from: begin, to: end, whole: whole})
				i = end
				continue
			}
			for i < len(line) && isLetter(line[i]) {
				i++
			}
			to = append(to, token{kind: word, from: begin, to: i})
		default:
			i++
			to = append(to, token{kind: literal, from: begin, to: i})
		}
	}
	return to
}

// follows reports whether a minus after the text is no sign.
func follows(before []byte) bool {
	if len(before) == 0 {
		return false
	}
	c := before[len(before)-1]
	return isLetter(c) || isDigit(c) || c == ')' || c == ']'
}

// numeral returns the end of the number at i: decimal with a sign and fractions, or hexadecimal of at least three
// digits.
func numeral(line []byte, i int) (end int, whole, ok bool) {
	begin := i
	if end := hexFloat(line, i); end > i {
		return end, false, true
	}
	for end = i; end < len(line) && (isLetter(line[end]) || isDigit(line[end])); end++ {
	}
	if inWord := i > 0 && isLetter(line[i-1]) && line[i-1] != '_'; !inWord && end > i {
		digits, letters, ok := integer(line[i:end])
		long := len(digits) >= 8 || len(digits) >= 3 && bytes.ContainsAny(digits, "0123456789")
		if ok && letters && (long || len(digits) < end-i || isByte(line, i, end)) {
			return end, true, true
		}
	}
	if line[i] == '-' {
		i++
	}
	whole = true
	for end = i; end < len(line) && isDigit(line[end]); end++ {
	}
	if end == i {
		return begin, false, false
	}
	for end+1 < len(line) && line[end] == '.' && isDigit(line[end+1]) {
		whole = false
		for end++; end < len(line) && isDigit(line[end]); end++ {
		}
	}
	if !whole && end+2 < len(line) && line[end]|0x20 == 'e' && isSign(line[end+1]) && isDigit(line[end+2]) {
		for end += 2; end < len(line) && isDigit(line[end]); end++ {
		}
	}
	return end, whole, true
}

// isByte reports whether two hexadecimal digits are a byte, as inputs are: in=0a/ff
func isByte(line []byte, from, to int) bool {
	if to-from != 2 || from == 0 {
		return false
	}
	slash := line[from-1] == '/' || to < len(line) && line[to] == '/'
	return slash || strings.IndexByte("=[,", line[from-1]) >= 0 && bytes.ContainsAny(line[from:to], "0123456789")
}

// hexFloat returns the end of a float in hexadecimal at i, 0x1.91eb86p+1, and i if there is none.
func hexFloat(line []byte, i int) int {
	digits := func(at int, hex bool) int {
		for at < len(line) && (isDigit(line[at]) || hex && line[at]|0x20 >= 'a' && line[at]|0x20 <= 'f') {
			at++
		}
		return at
	}
	begin := i
	if i < len(line) && line[i] == '-' {
		begin++
	}
	if begin+4 >= len(line) || line[begin] != '0' || line[begin+1]|0x20 != 'x' {
		return i
	}
	end := digits(begin+2, true)
	if end < len(line) && line[end] == '.' {
		end = digits(end+1, true)
	}
	if end == len(line) || line[end]|0x20 != 'p' {
		return i
	}
	if end++; end < len(line) && isSign(line[end]) {
		end++
	}
	if last := digits(end, false); last > end {
		return last
	}
	return i
}

// fillers are words that may be between a number and its name.
const fillers = " is for at of the was no number nr value equals on "

// filler reports whether a token is such a word.
func (p *parsed) filler(i int) bool {
	t := &p.tokens[i]
	return t.to-t.from <= len("number") && strings.Contains(fillers, " "+strings.ToLower(p.text(i))+" ")
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

// group is lines that are alike.
type group struct {
	template text
	line     []byte // the first one
	columns  []column
	seen     int
	at       []int // number of the line of each row
	leads    leads
	sums     []string // of each row, nil until they are needed
	good     int      // lines without a complaint
	others   int      // lines with checksums of other peers
}

// take takes a line apart, and reports whether it has a part with a tick and checksums.
func (p *parsed) take(line []byte) bool {
	p.line = line[:min(len(line), maxLine)]
	p.tokens = tokens(p.line, p.tokens[:0])
	p.names = p.names[:0]
	p.peer = -1
	first, last, slots, telling := -1, -1, 0, 0
	front, back := -1, -1    // of the peers
	plain := -1              // a short number without a name, before the rest
	spare, bare := -1, false // a word for a checksum before the first number, and a number without a name
	for i := 0; i < len(p.tokens); i++ {
		t := &p.tokens[i]
		if t.kind != number {
			p.names = append(p.names, name{from: -1, qualifier: -1})
			if t.kind == word && first < 0 && p.meaning(i) == vocabulary.Sum {
				spare = i
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
			telling++
		case meaning == vocabulary.Other && telling == 0 && first < 0 && plain >= 0 && p.isDigest(i): // #12 => 9f3acc01
			telling, begin = 1, plain
		case n.from < 0 && long < 6 && telling == 0 && !p.glued(i):
			plain = i
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

// hasUnit reports whether letters follow a number: 16ms.
func (p *parsed) hasUnit(i int) bool { return goesOn(p.line, p.tokens[i].to) }

// goesOn reports whether a letter or digit follows the end of a number, or more of it after a minus.
func goesOn(line []byte, end int) bool {
	if end+1 < len(line) && line[end] == '-' {
		end++
	}
	return end < len(line) && line[end] < 0x80 && (isLetter(line[end]) || isDigit(line[end]))
}

// learnText finds the templates of lines with ticks and checksums.
func learnText(lines [][]byte, how choice) []template {
	groups := map[string]*group{}
	var list []*group
	p := parsed{alone: how.alone}
	var key []byte
	known := map[uint64]*group{} // of lines by their shapes, nil for those that have none
	for n, line := range lines {
		shape := textsearch.Shape(line[:min(len(line), maxLine)])
		if g, ok := known[shape]; ok && (g == nil || g.seen >= maxRows) {
			if g != nil {
				g.seen++
			}
			continue
		}
		if !p.take(line) {
			known[shape] = nil
			continue
		}
		key = p.key(key[:0])
		g := groups[string(key)]
		if g == nil {
			if len(groups) == maxGroups {
				continue
			}
			g = &group{line: line, template: p.template(), columns: p.columns()}
			groups[string(key)] = g
			list = append(list, g)
		}
		known[shape] = g
		if g.seen++; g.seen > maxRows {
			continue
		}
		switch complains(line) {
		case fine:
			g.good++
		case others:
			g.others++
		}
		p.add(g)
		g.at = append(g.at, n)
		g.leads.add(&p)
	}
	return accept(list, len(lines), how)
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
		p.free[i] = i == p.peer || p.tokens[i].kind == word && p.mayVary(i)
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
			gap++
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

// wordBefore returns the word before another one.
func (p *parsed) wordBefore(i int) string {
	for i--; i >= 0 && p.tokens[i].kind != word; i-- {
		if t := p.tokens[i]; t.kind == number || t.kind == literal && strings.IndexByte(`=:"'`, p.line[t.from]) < 0 {
			return ""
		}
	}
	if i < 0 {
		return ""
	}
	return p.text(i)
}

// add adds the values of a line to its group.
func (p *parsed) add(g *group) {
	c := 0
	for i := p.first; i <= p.last; i++ {
		if p.tokens[i].kind == number || p.free[i] {
			g.columns[c].values = append(g.columns[c].values, p.line[p.tokens[i].from:p.tokens[i].to])
			c++
		}
	}
}

// accept returns the templates that are checkpoints.
func accept(list []*group, lines int, how choice) []template {
	lists.SortStable(list, func(a, b *group) int { return b.seen - a.seen })
	var out []template
	var groups []*group // of out
	taken := map[string]*group{}
	for _, g := range list {
		few := g.seen < 3 && lines > 2
		most := min(g.seen, maxRows)
		if few || 2*(g.good+g.others) < most || len(out) == maxTemplates {
			continue
		}
		fixed := g.fix()
		r, ok := resolve(g.columns, how)
		told := 2*g.good < most
		if !ok || told && r.peer < 0 && !r.own(g.columns) {
			continue
		}
		form := g.template.trim(&r)
		if form == nil {
			continue
		}
		if !form.match(g.line, newMatched()) { // numbers and words run into each other
			continue
		}
		key := form.String()
		if same := taken[key]; same != nil { // only the words before its values are others
			i := slices.Index(groups, same)
			a, b := passIn(same.line), passIn(g.line)
			out[i].passes = out[i].passes || a != b && a != unknown && b != unknown
			continue
		}
		taken[key] = g
		out = append(out, template{text: form, roles: r, fixed: fixed, others: told, vague: r.steady || r.bare || isVague(g.line), crowded: isCrowded(g.line, &r), redoes: r.redoes(g.columns)})
		if g.passes(&out[len(out)-1]) {
			out[len(out)-1].passes, out[len(out)-1].guess = true, true
		}
		out[len(out)-1].apart = g.apart(&out[len(out)-1])
		groups = append(groups, g)
	}
	pair(out, groups)
	if slices.ContainsFunc(out, func(t template) bool { return !t.vague }) { // values without any name are other things
		out = slices.DeleteFunc(out, func(t template) bool { return t.vague && !t.roles.named() })
	}
	return separate(out)
}

// pair finds the forms of lines that have one checksum at different times: when a tick was simulated at first, again, and for
// good. The values differ at some ticks and are equal at later ones, again and again. The checksums of two peers, or of two
// parts of the state, do not.
func pair(list []template, groups []*group) {
	const fewestHealed = 3
	for i := range list {
		for k := range i {
			a, b := &list[k], &list[i]
			if !a.alike(b) {
				continue
			}
			if groups[k].healed(groups[i], a, b) >= fewestHealed || groups[k].simulatedAgain(groups[i], a, b) || groups[i].simulatedAgain(groups[k], b, a) {
				a.twin = max(a.twin, k+1)
				b.twin = a.twin
				break
			}
		}
	}
	for i := range list {
		confirmed := func(k int) bool {
			return list[k].twin == list[i].twin && passIn(groups[k].line) == tracediff.Confirmed
		}
		list[i].final = list[i].twin > 0 && confirmed(i)
		for k := range list {
			list[i].guess = list[i].guess || list[i].twin > 0 && !confirmed(i) && confirmed(k)
		}
	}
}

// passIn returns the phase that a part of a line names by any word for a pass over the tick: Predict, Resim, Confirm. The last one
// counts, since an earlier one may be the name of the logger.
func passIn(part []byte) tracediff.Phase {
	phase := phaseIn(part)
	if phase != unknown {
		return phase
	}
	for _, t := range tokens(part[:min(len(part), maxLine)], nil) {
		if text := string(part[t.from:t.to]); t.kind == word && isPhase(text) {
			if phase = tracediff.Predicted; hasPart(text, settled) {
				phase = tracediff.Confirmed
			}
		}
	}
	return phase
}

// alike reports whether the lines of two templates have the same checksums, each under the same name and in the same order.
func (t *template) alike(o *template) bool {
	a, b := &t.roles, &o.roles
	if a.peer >= 0 || a.scope >= 0 || b.peer >= 0 || b.scope >= 0 || len(a.points) != len(b.points) || len(a.points) == 0 {
		return false
	}
	for i := range a.points {
		x, y := &a.points[i], &b.points[i]
		same := func(s, o sum) bool {
			return s.name == o.name && (len(a.points) == 1 && len(x.sums) == 1 || s.word == o.word)
		}
		if x.scope != y.scope || !slices.EqualFunc(x.sums, y.sums, same) {
			return false
		}
	}
	return true
}

// sumsOf returns the checksums of a row.
func (g *group) sumsOf(row int, t *template) string {
	if g.sums == nil {
		slots := t.roles.all()
		g.sums = make([]string, len(g.columns[t.roles.tick].values))
		var all []byte
		for i := range g.sums {
			all = all[:0]
			for _, s := range slots {
				all = append(append(all, g.columns[s.slot].values[i]...), ' ')
			}
			g.sums[i] = string(all)
		}
	}
	return g.sums[row]
}

// healed returns how often the checksums of two forms of lines differ at a tick and are equal at the next one that both have.
func (g *group) healed(o *group, a, b *template) (n int) {
	values := map[string]string{}
	for i, tick := range g.columns[a.roles.tick].values {
		values[string(tick)] = g.sumsOf(i, a)
	}
	differ := false
	for i, tick := range o.columns[b.roles.tick].values {
		if value, ok := values[string(tick)]; ok {
			same := value == o.sumsOf(i, b)
			if differ && same {
				n++
			}
			differ = !same
		}
	}
	return n
}

// simulatedAgain reports whether the lines of another form are about ticks that lines of this one are about before, and most of
// them about older ticks than the newest one: these are simulated again, or for good.
func (g *group) simulatedAgain(o *group, a, b *template) bool {
	const fewest = 8
	before, older, newest, i := 0, 0, uint64(0), 0
	seen := map[uint64]bool{}
	for k, at := range o.at {
		for ; i < len(g.at) && g.at[i] < at; i++ {
			if tick, ok := a.roles.tickOf(g.columns[a.roles.tick].values[i]); ok {
				seen[tick], newest = true, max(newest, tick)
			}
		}
		tick, ok := b.roles.tickOf(o.columns[b.roles.tick].values[k])
		if !ok || !seen[tick] {
			continue
		}
		if before++; tick < newest && newest-tick <= window {
			older++
		}
	}
	return before >= fewest && 10*before >= 9*len(o.at) && 2*older >= before
}

// isVague reports whether a line has words, and none for a checksum.
func isVague(line []byte) bool {
	words := false
	for _, t := range tokens(line, nil) {
		if t.kind != word {
			continue
		}
		switch vocabulary.Of(string(line[t.from:t.to])) {
		case vocabulary.Sum, vocabulary.WeakSum:
			return false
		case vocabulary.Other:
			words = words || t.to-t.from > 1
		}
	}
	return words
}

// isCrowded reports whether a line has no word for a checksum, and many other numbers with names than those that are read.
func isCrowded(line []byte, r *roles) bool {
	const many = 8
	p, n := parsed{line: line, tokens: tokens(line, nil)}, 0
	for _, point := range r.points {
		n -= len(point.sums)
	}
	for i, t := range p.tokens {
		if t.kind == word && vocabulary.Of(p.text(i)) == vocabulary.Sum {
			return false
		}
		if t.kind == number && p.nameOf(i).from >= 0 {
			n++
		}
	}
	return n >= many
}

// separate names templates with the same checkpoints after their words. Of those without such words, the first one
// stays.
func separate(list []template) []template {
	count := map[string]int{}
	twins := map[int]bool{}
	for i := range list {
		for _, p := range list[i].roles.points {
			if !twins[list[i].twin] {
				count[p.scope]++
			}
		}
		twins[list[i].twin] = list[i].twin > 0
	}
	var out []template
	taken := map[string]bool{}
	for _, t := range list {
		if t.roles.scope >= 0 || t.twin > 0 {
			out = append(out, t)
			continue
		}
		if points := t.roles.points; len(points) == 1 && t.fixed != "" && count[points[0].scope] > 1 {
			points[0].scope = t.fixed
		}
		if slices.ContainsFunc(t.roles.points, func(p point) bool { return taken[p.scope] }) {
			continue
		}
		for _, p := range t.roles.points {
			taken[p.scope] = true
		}
		out = append(out, t)
	}
	return out
}

// complaint is the other news in a line with a checksum.
type complaint uint8

const (
	fine    complaint = iota
	others            // a checksum of another peer
	differs           // a difference
)

// complaints are words of lines that report a difference, and of those that have a checksum of another peer.
var complaints = [...][]string{
	differs: {
		"mismatch", "!=", "desync detected", "desyncdetected", "desync at", "desync in", "desync!", "desynced", "out of sync",
		"differ", "diverg", "not match", "correct", "wrong", "rollback to",
	},
	others: {"remote", "received", "recv", "expected"},
}

// isTraffic reports whether a line with a checksum also counts what was sent and received: hash=9f3acc01 sent=684 recv=340.
func isTraffic(line []byte) bool {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(line, []byte(w)) })
	}
	return has("hash", "checksum", "crc", "digest") && has("sent", "bytes", "packets") && !has("remote")
}

// complains returns the complaint in a part of a line.
func complains(part []byte) complaint {
	if len(part) < 2 {
		return fine
	}
	var lower [256]byte
	part = part[:min(len(part), len(lower))]
	for i, c := range part {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	for _, told := range []complaint{differs, others} {
		for _, text := range complaints[told] {
			if bytes.Contains(lower[:len(part)], []byte(text)) && !(told == others && isTraffic(lower[:len(part)])) {
				return told
			}
		}
	}
	return fine
}
