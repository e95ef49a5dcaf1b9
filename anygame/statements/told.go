package statements

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// MaxTold is how many bytes a text has at most that a person wrote.
	MaxTold = 64 << 10
	// mostTold is how many sentences of a person, and how many pairs of values, are kept.
	mostTold = 3
)

// Told reads a text that a person wrote about a desync. It is for a text in which [Scan] finds nothing: it takes
// values of two sides that no word for a desync is near, and else sentences about a desync that do not deny it. All claims
// are quoted. A text without a word for a desync has none.
func Told(text []byte, name string) *tracediff.ClaimLog {
	log := &tracediff.ClaimLog{File: name}
	isOwn := func(verdict string) bool { return bytes.HasPrefix(text, []byte(verdict+" ")) }
	if len(text) > MaxTold || bytes.IndexByte(text, 0) >= 0 || slices.ContainsFunc(verdicts, isOwn) {
		return log
	}
	p := post{name: name}
	p.split(text)
	p.sentences()
	if len(p.told) > 0 {
		p.contrasts()
	}
	p.pairs()
	if log.Claims = p.found; len(p.found) == 0 {
		of, others := p.apart()
		log.Claims = slices.Concat(of, others)
		log.Claims = log.Claims[:min(len(log.Claims), mostTold)]
	}
	if len(log.Claims) > 0 {
		log.Lost = linked(images.ReplaceAllString(string(text), ""))
	}
	if p.word != "" {
		log.Dialect.TickName = tickName(p.word)
	}
	return log
}

// verdicts are what desynctool's own answers begin with.
var verdicts = []string{"DIVERGED", "IN SYNC", "INCONCLUSIVE"}

// post is such a text.
type post struct {
	name  string
	lines []postLine
	told  []tracediff.Claim // its sentences about a desync
	found []tracediff.Claim // those with values
	word  string            // for a tick, of the first claim that has one
	// contrast has the places of sentences about two sides that differ.
	contrast map[tracediff.Position]bool
}

// images are pictures in Markdown. Their names are no sentences.
var images = lazyregexp.New(`!\[[^\]]*\]\([^)]*\)`)

// links are addresses of possible evidence: files with such names, and shared files.
var links = lazyregexp.New(`https?://[^\s()<>"\]]+\.(?:zip|7z|rar|tgz|tar\.[gx]z|gz|log|txt|rep|replay|sav|save|json|csv)\b|` +
	`https?://(?:drive\.google|www\.dropbox|dropbox|mega|www\.mediafire|pastebin|gist\.github|paste\.[a-z]+|1drv|we\.tl|transfer|fromsmash|hastebin)\.[^\s()<>"\]]+`)

// linked describes the files that a text links to, which are not in it. It is empty if there are none.
func linked(text string) string {
	var list []string
	for _, found := range links.FindAllStringSubmatch(text, -1) {
		if l := strings.TrimRight(found[0], ".,;:!?'`*"); !slices.Contains(list, l) {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return ""
	}
	out := "what it links to is not here: " + strings.Join(list[:min(len(list), mostTold)], ", ")
	if len(list) > mostTold {
		out += ", and more"
	}
	return out
}

// postLine is a line of it, or a part of one.
type postLine struct {
	*message
	at textsearch.Cursor
}

// split reads the lines.
func (p *post) split(text []byte) {
	at := textsearch.Cursor{Line: 1}
	for line := range bytes.Lines(text) {
		for _, part := range plain(bytes.TrimRight([]byte(images.ReplaceAllString(string(line), "")), "\n")) {
			p.lines = append(p.lines, postLine{parse(part, true), at})
		}
		at.Line++
		at.Start += int64(len(line))
	}
}

// claim adds a claim to a list.
func (p *post) claim(list *[]tracediff.Claim, l *postLine, s *statement) {
	if s.text = strings.TrimSpace(s.text); len(s.text) > maxText {
		s.text = strings.ToValidUTF8(s.text[:maxText], "") + "\u2026"
	}
	c := tracediff.Claim{
		File: p.name, Pos: tracediff.Position{Line: l.at.Line, Offset: l.at.Start}, Text: s.text, Tick: s.tick, HasTick: s.tickWord != "",
		Values: s.values, Of: s.of, By: s.by, Quoted: true, Told: len(s.values) == 0 && !l.lead.program,
	}
	if p.word == "" {
		p.word = s.tickWord
	}
	*list = append(*list, c)
}

// sentences finds the sentences about a desync. Those that ask, deny or explain count as well: people do so.
func (p *post) sentences() {
	for i := range p.lines {
		l := &p.lines[i]
		for from := 0; from < len(l.units); {
			t, ok := l.talk(from)
			if !ok {
				break
			}
			begin, end := l.sentence(t)
			from = max(end, t.to)
			if l.lead.program && l.excluded(t) || l.denied(t) {
				continue
			}
			s := &statement{text: l.text[l.units[begin].start:l.units[end-1].end]}
			if l.adjacent(t) {
				s.tick, s.tickWord = l.tickNear(t, trigger{from: begin, to: end})
			}
			p.claim(&p.told, l, s)
		}
	}
}

// contrasts finds sentences that compare two sides without a word for a desync: the client thought that I had passed the line,
// while the server thought that I had missed it.
func (p *post) contrasts() {
	p.contrast = map[tracediff.Position]bool{}
	for i := range p.lines {
		l := &p.lines[i]
		for from := 0; from < len(l.units); {
			begin, end := l.sentence(trigger{from: from, to: from + 1})
			from = end
			if l.lead.program || !l.comparesSides(begin, end) {
				continue
			}
			p.contrast[tracediff.Position{Line: l.at.Line, Offset: l.at.Start}] = true
			known := slices.ContainsFunc(p.told, func(c tracediff.Claim) bool { return c.Pos.Line == l.at.Line })
			if !known {
				p.claim(&p.told, l, &statement{text: l.text[l.units[begin].start:l.units[end-1].end]})
			}
		}
	}
}

// apart returns the sentences that compare two sides, and the others.
func (p *post) apart() (of, others []tracediff.Claim) {
	for _, c := range p.told {
		if p.contrast[c.Pos] {
			of = append(of, c)
		} else {
			others = append(others, c)
		}
	}
	return of, others
}

// comparesSides reports whether a sentence names two sides, and a word between them that sets them against each other.
func (m *message) comparesSides(from, to int) bool {
	first, against := "", false
	for _, u := range m.units[from:to] {
		switch {
		case u.kind != word:
		case oneOf(u.text, opposing):
			against = first != ""
		case oneOf(u.text, paired) && first == "":
			first = u.text
		case oneOf(u.text, paired) && against && u.text != first:
			return true
		}
	}
	return false
}

// opposing are words that set two sides against each other, paired words for a side.
const (
	opposing = "while|whereas|but|unlike"
	paired   = "client|server|host|guest|local|remote|peer|opponent|left|right|one|other|replay|recording|linux|windows|mac|android|debug|release"
)

// talk finds the first phrase from a unit on by which a person speaks of a desync.
func (m *message) talk(from int) (trigger, bool) {
	t, ok := m.trigger(from)
	ok = ok && (t.strong || t.noun && !m.has(stored|elsewhere) && !m.lead.file)
	for i, u := range m.units[from:] {
		begins := func(stem string) bool { return strings.HasPrefix(u.text, stem) }
		if i += from; ok && i >= t.from {
			break
		} else if u.kind == word && !u.joined && slices.ContainsFunc(spoken, begins) {
			return trigger{i, i + 1, true, true}, true
		}
	}
	return t, ok
}

// denied reports whether a word right before a phrase denies it.
func (m *message) denied(t trigger) bool {
	return slices.ContainsFunc(m.units[max(0, t.from-2):t.from], func(u unit) bool { return oneOf(u.text, "no|never|without|isn't|aren't|wasn't|didn't|doesn't|don't") })
}

// spoken are beginnings of words that are about a desync wherever a person uses them.
var spoken = []string{"desync", "unsync", "determinis", "nondetermin", "indetermin"}

// pairs finds values of two sides: on one line, or on two lines of one shape.
func (p *post) pairs() {
	for i := range p.lines {
		l := &p.lines[i]
		if len(l.units) == 0 || len(p.found) == mostTold {
			continue
		}
		var s *statement
		if len(p.told) > 0 || l.wordAt(differing) >= 0 {
			s = l.loose()
		}
		if next := p.after(i); s == nil && next != nil && len(p.told) > 0 {
			s = l.sideBySide(next)
			if _, of := l.talk(0); s == nil && of {
				s = l.heads(next, p.after(i+1))
			}
		}
		if s == nil {
			continue
		}
		if s.tickWord == "" {
			s.tick, s.tickWord = p.tickAbove(i)
		}
		p.claim(&p.found, l, s)
	}
}

// differing are words of a line with two values that were to be equal.
const differing = "mismatch|mismatched|differs|differ|diverged|diverges"

// after returns the next line, or the one after it if that is empty; nil if there is none.
func (p *post) after(i int) *message {
	for _, l := range p.lines[min(i+1, len(p.lines)):min(i+3, len(p.lines))] {
		if len(l.units) > 0 {
			return l.message
		}
	}
	return nil
}

// heads returns the two sums on the lines below a message, which have nothing else: Hash not equal.
func (m *message) heads(a, b *message) *statement {
	if b == nil || len(a.units) != 1 || len(b.units) != 1 || a.units[0].kind != sum || b.units[0].kind != sum || tracediff.EqualSums(a.units[0].text, b.units[0].text) {
		return nil
	}
	return &statement{text: m.text + " " + a.text + " " + b.text, values: []tracediff.ClaimedValue{
		{Peer: tracediff.OneSide, Value: a.units[0].text}, {Peer: tracediff.OtherSide, Value: b.units[0].text},
	}}
}

// tickAbove returns the tick of a line, or of the lines right above it.
func (p *post) tickAbove(i int) (n uint64, name string) {
	for k := i; k >= max(0, i-2); k-- {
		for _, t := range slices.Backward(p.lines[k].ticks) {
			if !t.weak {
				return t.number, t.word
			}
		}
	}
	return 0, ""
}

// loose returns the two values of a line that are to be equal: expected 4306038, got 4306037; be29dcf0 vs 3e29dcf0.
func (m *message) loose() *statement {
	if m.lead.file || !(hasSums([]byte(m.text), false) && m.blocked()) && m.has(stored) {
		return nil
	}
	values, by := m.values(0, len(m.units))
	if len(values) != 2 || tracediff.EqualSums(values[0].Value, values[1].Value) {
		return nil
	}
	versus := m.wordAt("vs|versus") >= 0
	sides := outcomes.has(values[0].Peer) && outcomes.has(values[1].Peer) || tracediff.IsSide(values[0].Peer) && (versus || areSums(values, false))
	if !sides {
		return nil
	}
	s := &statement{text: m.text, values: values, by: by, of: cmp.Or(m.thing(), m.subjectBefore(values[0].Value))}
	s.tick, s.tickWord = m.tickNear(trigger{to: len(m.units)}, trigger{to: len(m.units)})
	return s
}

// subjectBefore returns the name of the values of a message: the word before one for a mismatch, or the identifier before
// the first value: ticks mismatch; vel.x bit patterns be29dcf0.
func (m *message) subjectBefore(first string) string {
	if k := m.wordAt(differing); k > 0 && m.units[k-1].kind == word && !(nouns | prosaic).has(m.units[k-1].text) {
		return m.token(k - 1)
	}
	k := slices.IndexFunc(m.units, func(u unit) bool { return u.text == first })
	for i := k - 1; i >= max(0, k-3); i-- {
		if m.units[i].kind == word || m.units[i].kind == other {
			if name := m.token(i); isIdentifier(name) {
				return name
			}
		}
	}
	if k = m.wordAt("path|field|member|property|variable"); k >= 0 {
		for _, w := range strings.Fields(m.text[m.units[k].end:]) {
			if w = strings.Trim(w, ":=,.;()"); isIdentifier(w) {
				return w
			}
		}
	}
	return ""
}

// sideBySide returns the values of two lines of one shape, the lines of two sides: Local hash: 87, Remote hash: 88; Seed 1: 5, Seed 2: 6.
func (m *message) sideBySide(next *message) *statement {
	a, b := m.labelled(), next.labelled()
	if a == nil || b == nil || a.of != b.of || a.side == b.side || a.kind != b.kind || len(a.values) != len(b.values) || len(a.values) == 0 || !slices.Equal(a.names, b.names) {
		return nil
	}
	for i, v := range a.values {
		if tracediff.EqualSums(v, b.values[i]) {
			continue
		}
		of := a.of
		if a.names[i] != "" {
			of = strings.TrimSpace(of + " " + a.names[i])
		}
		return &statement{
			text: m.text + " " + next.text, of: of,
			values: []tracediff.ClaimedValue{{Peer: a.side, Value: v}, {Peer: b.side, Value: b.values[i]}},
		}
	}
	return nil
}

// labelled is a line of the values of one side.
type labelled struct {
	side   string
	kind   string   // "role", "machine" or "number"
	of     string   // the rest of the label
	names  []string // before each value
	values []string
}

// labelled reads such a line, nil if it is none.
func (m *message) labelled() *labelled {
	colon := slices.IndexFunc(m.units, func(u unit) bool { return u.kind == mark && (u.text == ":" || u.text == "=") })
	if colon < 1 || colon > maxLabel || colon+1 == len(m.units) {
		return nil
	}
	l := &labelled{}
	var rest []string
	depth := 0
	for i, u := range m.units[:colon] {
		switch {
		case u.kind == mark && u.text == "(":
			depth++
		case u.kind == mark && u.text == ")":
			depth--
		case depth > 0:
		case l.side == "" && u.kind == word && roles.has(u.text):
			l.side, l.kind = called(u.text), "role"
		case l.side == "" && u.kind == word && oneOf(u.text, platforms):
			l.side, l.kind = m.text[u.start:u.end], "machine"
		case l.side == "" && i == colon-1 && i > 0 && (u.text == "1" || u.text == "2"):
			l.side, l.kind = []string{tracediff.OneSide, tracediff.OtherSide}[u.text[0]-'1'], "number"
			if n := len(rest) - 1; n >= 0 && (peerNouns.has(strings.ToLower(rest[n])) || strings.EqualFold(rest[n], "run")) {
				l.side, rest = rest[n]+" "+u.text, rest[:n]
			}
		case u.kind == word || u.kind == other:
			rest = append(rest, m.text[u.start:u.end])
		default:
			return nil
		}
	}
	if l.side == "" || depth != 0 || (roles | peerNouns | outcomes).has(strings.ToLower(strings.Join(rest, " "))) {
		return nil
	}
	l.of = strings.Join(rest, " ")
	name := ""
	for _, u := range m.units[colon+1:] {
		switch u.kind {
		case word:
			name = m.text[u.start:u.end]
		case number, sum, value:
			l.names, l.values = append(l.names, name), append(l.values, u.text)
		case other:
			return nil
		}
	}
	return l
}

// platforms are words for the machine or the compiler of a build.
const platforms = "windows|win|win32|win64|linux|ubuntu|debian|mac|macos|osx|android|and|ios|iphone|arm|arm64|aarch64|x86|x64|amd64|intel|amd|gcc|clang|msvc|debug|release|web|wasm|pc|phone|" +
	"switch|xbox|ps4|ps5|desktop|mobile|laptop"
