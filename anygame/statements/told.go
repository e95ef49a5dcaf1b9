package statements

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
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
		p.moments()
	}
	if p.pairs(); len(p.found) == 0 && len(p.told) > 0 {
		p.spread()
	} else if len(p.found) == 0 {
		p.match(votes(p.alike()))
	}
	if log.Claims = p.found; len(p.found) == 0 {
		list := p.ranked()
		log.Claims = list[:min(len(list), mostTold)]
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
	raw string
	at  textsearch.Cursor
}

// Lines of at least wrapped bytes may end within a sentence. A paragraph has at most maxText bytes.
const wrapped = 60

// goesOn reports whether the sentence at the end of a line goes on at the beginning of the next: both have words alone.
func (l *postLine) goesOn(next string) bool {
	isOpen := strings.Count(l.raw, "(") > strings.Count(l.raw, ")")
	if len(l.raw) < wrapped || len(l.raw)+len(next) > maxText || !isOpen && !isPlain(firstWord(next)) || l.lead.program || strings.ContainsAny(next, "={}|<>") {
		return false
	}
	return strings.Count(l.raw, " ") >= maxLabel && strings.Count(next, " ") > 2 && !strings.ContainsAny(l.raw, "={}|<>") && !strings.Contains(".:!?;", l.raw[len(l.raw)-1:])
}

// split reads the lines.
func (p *post) split(text []byte) {
	at := textsearch.Cursor{Line: 1}
	for line := range bytes.Lines(text) {
		for _, part := range plain(bytes.TrimRight([]byte(images.ReplaceAllString(string(line), "")), "\n")) {
			if n := len(p.lines); n > 0 && p.lines[n-1].goesOn(part) {
				p.lines[n-1] = postLine{parse(p.lines[n-1].raw+" "+part, true), p.lines[n-1].raw + " " + part, p.lines[n-1].at}
				continue
			}
			p.lines = append(p.lines, postLine{parse(part, true), part, at})
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
			if l.lead.program && !l.lead.level && l.excluded(t) || l.denied(t) {
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
			if from = end; !l.lead.program && l.comparesSides(begin, end) {
				p.contrast[tracediff.Position{Line: l.at.Line, Offset: l.at.Start}] = true
				p.claim(&p.told, l, &statement{text: l.text[l.units[begin].start:l.units[end-1].end]})
			}
		}
	}
}

// isPlain reports whether a word begins small and has letters alone, but for the marks of a sentence behind it.
func isPlain(w string) bool {
	w = strings.TrimRight(w, ".,)'\"")
	return w != "" && isSmall(w[0]) && !strings.ContainsFunc(w, func(r rune) bool { return r < 'A' && r != '-' && r != '\'' || r > 'Z' && r < 'a' })
}

// chains finds words for the state of a chain of blocks. Its ticks are the numbers of blocks.
var chains = lazyregexp.New(`(?i)\b(?:app ?hash|bank ?hash|(?:state|merkle|trie) ?root|consensus)\b`)

// moments takes sentences that name a tick, if none about a desync does.
func (p *post) moments() {
	if slices.ContainsFunc(p.told, func(c tracediff.Claim) bool { return c.HasTick }) {
		return
	}
	isChained := func(c tracediff.Claim) bool { return chains.MatchString(c.Text) }
	for i := range p.lines {
		l := &p.lines[i]
		if slices.ContainsFunc(p.told, isChained) {
			l.findBlocks()
		}
		for _, t := range l.ticks {
			if t.weak || l.lead.program || oneOf(t.word, "time|round|step") {
				continue
			}
			begin, end := l.sentence(trigger{from: t.at, to: t.at + 1})
			s := &statement{text: l.text[l.units[begin].start:l.units[end-1].end]}
			p.claim(&p.told, l, s)
			break
		}
	}
}

// weight ranks a sentence: those that compare two sides come first, then those with a tick, those of programs, those with a
// number, and the others.
func (p *post) weight(c tracediff.Claim) int {
	isLong := func(u unit) bool {
		isTime := u.kind == other && isDigit(u.text[0]) && strings.Contains(u.text, ":")
		return (u.kind == sum || u.kind == number || isTime) && len(u.text) > 2
	}
	switch {
	case p.contrast[c.Pos]:
		return -1
	case c.HasTick:
		return 0
	case !c.Told:
		return 1
	case slices.ContainsFunc(split(c.Text), isLong):
		return 2
	}
	return 3
}

// ranked returns the sentences by their weights, without the title where it is there again.
func (p *post) ranked() []tracediff.Claim {
	seen := map[string]bool{}
	list := lists.Where(p.told, func(c tracediff.Claim) bool {
		text := strings.TrimRight(c.Text, ".!")
		again := seen[text]
		seen[text] = true
		return !again
	})
	lists.SortStable(list, func(a, b tracediff.Claim) int { return p.weight(a) - p.weight(b) })
	return list
}

// comparesSides reports whether a sentence names two sides, and a word between them that sets them against each other.
func (m *message) comparesSides(from, to int) bool {
	first, against := "", false
	for _, u := range m.units[from:to] {
		switch {
		case u.kind != word:
		case oneOf(u.text, unlike) && first == "":
			against = true
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

// opposing are words between two sides that set them against each other, unlike words before both. Paired are words for a side.
const (
	opposing = "while|whereas|but|unlike"
	unlike   = "discrepancy|discrepancies|differences|mismatches"
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
		} else if end := m.asserts(i); end > 0 {
			return trigger{i, end, true, true}, true
		} else if end := m.longest(phrased(), i); end > 0 && !m.has(stored|elsewhere) {
			return trigger{i, end, true, true}, true
		} else if end := m.longest(varied(), i); end > 0 && m.repeats(trigger{from: i, to: end}) {
			return trigger{i, end, true, true}, true
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

// phrased are phrases that are about a desync in the text of a person.
var phrased = sync.OnceValue(func() phrases {
	return read("moved|moves|moving wrongly", "unmatched|mismatched|mismatching checksum|checksums|hash|hashes", "checksum|checksums issue|issues|problem|problems",
		"rollback should have fired|triggered|happened", "results|runs|outputs|trajectories|simulations|replays are|were not reproducible", "simulation|replay|physics not reproducible", "simulation|replay|physics is not reproducible", "reach|reaches|reached|reproduce|reproduces same|different|identical game|world|simulation state",
		"reach|reaches|reached|reproduce|reproduces the same game|world|simulation state", "identical for|over the first", "in sync until|for|up")
})

// varied are phrases for a difference between two runs, in a sentence about several runs or machines.
var varied = sync.OnceValue(func() phrases {
	const things = "result|results|outcome|outcomes|output|outputs|trajectory|trajectories|reward|rewards|score|scores|state|states"
	return read("different|differing|inconsistent|varying "+things, things+" change|changes|vary|varies|differ|differs|differed", things+" are|is|were|was different|inconsistent",
		"are|is|were|was not the same", "aren't|isn't|weren't|wasn't the same", "divergence|discrepancy between")
})

// repeats reports whether the sentence of a phrase is about a thing that is done again, or by another machine. Nobody expects a
// difference then.
func (m *message) repeats(phrase trigger) bool {
	from, to := m.sentence(phrase)
	has := func(words string) bool {
		for i, u := range m.units[from:to] {
			if inside := from+i >= phrase.from && from+i < phrase.to; !inside && u.kind == word && oneOf(u.text, words) {
				return true
			}
		}
		return false
	}
	return has(again) && !has("expect|expected|seeds|want|should")
}

// again are words of sentences about something that is done twice or more.
const again = "same|identical|repeat|repeated|repeatedly|rerun|reruns|run|runs|again|twice|times|simulation|simulations|processors|threads|cores|machines|platforms|" +
	"architectures|browser|browsers|native|wasm"

// asserts returns where a phrase for a failed assertion about a tick ends that begins at a unit, 0 if there is none: Assertion
// failed: i.frame == next_frame.
func (m *message) asserts(i int) int {
	if i+1 == len(m.units) || !oneOf(m.units[i].text, "assert|assertion") || m.units[i+1].text != "failed" {
		return 0
	}
	for _, u := range m.units[i+2:] {
		if name := u.text[strings.LastIndexByte(u.text, '.')+1:]; u.kind != mark && tickWords()[name] != "" && oneOf(tickWords()[name], "frame|tick|turn") {
			return i + 2
		}
	}
	return 0
}

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
	a, b := values[0].Peer, values[1].Peer
	_, isContrast := m.differs()
	judged := outcomes.has(a) && (outcomes.has(b) || areSums(values, false)) || outcomes.has(b) && areSums(values, false)
	sides := judged || tracediff.IsSide(a) && (versus || areSums(values, false)) || roles.has(a) && roles.has(b) && isContrast
	if !sides {
		return nil
	}
	s := &statement{text: m.around(values), values: values, by: by, of: cmp.Or(m.thing(), m.subjectBefore(values[0].Value))}
	s.tick, s.tickWord = m.tickNear(trigger{to: len(m.units)}, trigger{to: len(m.units)})
	return s
}

// differs finds the first phrase by which two things differ, with or without a word for a checksum.
func (m *message) differs() (trigger, bool) {
	for i := range m.units {
		if end := m.longest(known().weak, i); end > 0 && m.units[i].kind == word && !oneOf(m.units[i].text, "expected|expecting|should") {
			return trigger{from: i, to: end}, true
		}
	}
	return trigger{}, false
}

// around returns the sentences that have values.
func (m *message) around(values []tracediff.ClaimedValue) string {
	from, to := len(m.units), 0
	for i, u := range m.units {
		isValue := func(v tracediff.ClaimedValue) bool { return v.Value == u.text }
		if slices.ContainsFunc(values, isValue) {
			begin, end := m.sentence(trigger{from: i, to: i + 1})
			from, to = min(from, begin), max(to, end)
		}
	}
	if from >= to || m.lead.program {
		return m.text
	}
	t, ok := m.trigger(0)
	if !ok {
		t, ok = m.differs()
	}
	if ok { // the sentence before may name what does not match
		begin, end := m.sentence(t)
		from, to = min(from, begin), max(to, end)
	}
	text := m.text[m.units[from].start:m.units[to-1].end]
	if at := strings.Index(text, values[0].Value); len(text) > maxAround && at > maxAround/2 { // a clause of it
		if clause := strings.LastIndexAny(text[:at-maxAround/4], ",;:—"); clause > 0 {
			text = strings.TrimLeft(text[clause:], ",;: —")
		}
	}
	return text
}

// maxAround is how many bytes of sentences around values are kept whole.
const maxAround = 200

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
const platforms = "windows|win|win32|win64|linux|ubuntu|debian|mac|macos|osx|android|and|ios|iphone|arm|arm64|aarch64|x86|x64|amd64|intel|amd|gcc|clang|msvc|debug|release|web|wasm|native|browser|pc|phone|" +
	"switch|xbox|ps4|ps5|desktop|mobile|laptop"
