package statements

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// statement is a sentence of a program about a desync.
type statement struct {
	text     string
	tick     uint64
	tickWord string // empty if it names no tick
	peers    []string
	values   []tracediff.ClaimedValue
	of       string // what the values are
	by       string
	reported bool // by the peers
	data     bool // the values are of data before the game
	replay   bool // by is the replay of what the other value was recorded from
	quoted   bool
	pair     bool // there is no word for a desync, see message.pair
}

// message is a line that is read.
type message struct {
	head    string // its lead
	text    string // without it
	units   []unit
	lead    lead
	used    []bool // of units: it is part of a tick, or of the name of a peer
	ticks   []tickAt
	above   *tickAt  // of the line before, which begins with it
	before  []string // the lines before, if they may belong to it
	member  string   // that values belong to, see byMember
	ofSides string   // the field of values with their sides behind them, see sidesBehind
	named   []named  // peers by number or name, with their places
}

// tickAt is a tick where a text names it.
type tickAt struct {
	number uint64
	word   string
	at     int // of the unit
	weak   bool
}

// trigger is the place of a phrase for a desync.
type trigger struct {
	from, to int // units
	strong   bool
	noun     bool // a weak one has a noun
}

// readBlock reads the statements in a line, between the text before it and the rest of the text. Used is how many bytes
// of the rest belong to the last statement. Dull reports that no line of this shape is a statement, see textsearch.Shape.
func readBlock(previous, first, rest []byte) (found []*statement, used int, dull bool) {
	lines := plain(first)
	dull = true
	own := len(lines)
	var ends []int // of each line of the rest
	for i := 0; i < own; i++ {
		m := parse(lines[i], false)
		t, ok := m.trigger(0)
		if !ok {
			if s := m.pair(); s != nil {
				found, dull = append(found, s), false
			}
			continue
		}
		for ok && m.keyed(t) == nil && m.excluded(t) {
			t, ok = m.trigger(t.to)
		}
		if !ok {
			continue
		}
		dull = false
		if ends == nil {
			lines, ends = following(lines, rest)
		}
		if m.before = linesAbove(previous); i > 0 {
			m.heading(lines[i-1])
		} else if n := len(m.before); n > 0 {
			m.heading(m.before[n-1])
			m.blockAbove()
		}
		s, n := m.state(t, lines[i+1:])
		if s == nil {
			continue
		}
		found = append(found, s)
		if i += n; i >= own {
			used = ends[i-own]
		}
	}
	return found, used, dull
}

// linesAbove returns the last lines of a text, from the first whole one on.
func linesAbove(text []byte) (list []string) {
	for n := 0; n < maxContext && len(text) > 0; n++ {
		at := bytes.LastIndexByte(text, '\n')
		list = append(list, plain(text[at+1:])...)
		text = text[:max(at, 0)]
	}
	slices.Reverse(list)
	return list
}

// following adds the lines of the rest that may belong to a statement.
func following(lines []string, rest []byte) (all []string, ends []int) {
	all, ends = lines, []int{}
	at := 0
	for n := 0; n < maxFollow && at < len(rest); n++ {
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			end = len(rest) - at
		}
		if end > after {
			break
		}
		for _, line := range plain(rest[at : at+end]) {
			all, ends = append(all, line), append(ends, at+end)
		}
		at = min(at+end+1, len(rest))
	}
	return all, ends
}

// parse reads a line, perhaps of values that belong to one before it.
func parse(line string, values bool) *message {
	text := withoutStack(unquoted(line))
	m := &message{lead: leadOf(text, values)}
	m.head, m.text = text[:m.lead.size], strings.TrimSpace(text[m.lead.size:])
	m.units = split(m.text)
	m.lead.program = m.lead.program || m.fields() > 1 || isThrown(m.text)
	m.used = make([]bool, len(m.units))
	m.findNames()
	m.findTicks()
	m.roleValues()
	return m
}

// heading takes the tick with which the line before begins. Where ticks are headings, the next heading does not
// belong to the lines above it.
func (m *message) heading(line string) {
	if l := parse(line, true); len(l.ticks) > 0 && l.ticks[0].at == 0 && !l.ticks[0].weak {
		m.above = &l.ticks[0]
	}
}

// blockAbove takes the number of a block from the fields above its checksums: Number: 1, Hash: 0x5f3a….
func (m *message) blockAbove() {
	sums := m.chained() || hasSums([]byte(m.text), false)
	if m.above != nil || !sums && m.wordAt("block") < 0 {
		return
	}
	near := 0
	for _, line := range slices.Backward(m.before) {
		l := parse(line, true)
		if len(l.units) > 0 {
			near++
		}
		if m.lead.program && l.lead.program && near < 3 && (l.failedBlock() || l.ofBlock() || l.rejectedBlock()) {
			m.above = &l.ticks[len(l.ticks)-1]
			return
		}
		if !m.chained() {
			continue
		}
		if len(l.units) == 0 {
			continue
		}
		if len(l.units) < 3 || l.units[0].kind != word || l.units[1].text != ":" {
			return
		}
		if oneOf(l.units[0].text, "number|"+blockWords) {
			l.ticks = nil
			if l.tickAfter(0, strings.ReplaceAll(l.units[0].text, "number", "block")); len(l.ticks) > 0 {
				m.above = &l.ticks[0]
			}
			return
		}
	}
}

// ofBlock reports whether a line of a program has the number and the checksum of one block: Bad block #455321 (f9114368…).
func (m *message) ofBlock() bool {
	n := len(m.ticks)
	return n > 0 && m.chained() && oneOf(m.ticks[n-1].word, blockWords) && !m.ticks[n-1].weak && m.wordAt("last|previous|parent|next") < 0
}

// failedBlock takes the number with a sign behind a word for a block, as a line about its checks has: block check failed for #4698.
func (m *message) failedBlock() bool {
	k := m.wordAt(blockWords)
	for i := k + 1; k >= 0 && i+1 < len(m.units); i++ {
		if m.units[i].text == "#" && m.units[i+1].kind == number && len(m.units[i+1].text) <= maxTick {
			m.tickAfter(i, m.units[k].text)
			return true
		}
	}
	return false
}

// rejectedBlock takes the number of a block that is wrong, by a line about it: Processed block 7 (0x321749...70e6ac) is invalid.
func (m *message) rejectedBlock() bool {
	return m.wordAt("invalid|bad|rejected|wrong") >= 0 && m.wordAt("last|previous|parent|next") < 0 && m.findBlocks()
}

// fields counts pairs such as tick=4410, which programs write and people do not.
func (m *message) fields() (n int) {
	for i := 1; i+1 < len(m.units); i++ {
		name, equal := m.units[i-1], m.units[i]
		if equal.text == "=" && name.kind == word && name.end == equal.start && m.units[i+1].start == equal.end {
			n++
		}
	}
	return n
}

// state makes a statement of a message with a phrase for a desync, and of the lines that follow. It returns how many of
// these belong to it, and nil if it is none.
func (m *message) state(t trigger, next []string) (s *statement, n int) {
	if len(next) > 0 && isTrace(next[0]) {
		m.lead.program = true
	}
	prose := m.prosaic(t)
	whole := trigger{from: 0, to: len(m.units)}
	if prose > 0 && !m.lead.program {
		whole.from, whole.to = m.sentence(t)
	}
	s = &statement{text: m.text}
	if hasSums([]byte(m.text), false) {
		m.blocked()
	}
	s.tick, s.tickWord = m.tickNear(t, whole)
	if keyed := m.keyed(t); keyed != nil {
		s.values = keyed
		return s, 0
	}
	var below []string
	if s.values, s.by = m.values(whole.from, whole.to); len(s.values) > 0 {
		s.of = cmp.Or(m.member, m.thing(), m.fieldAfter(t), m.ofSides)
	} else if s.values, s.of, below = m.ofChanges(t, next); s.of == "" {
		s.of = cmp.Or(m.fieldAfter(t), m.thing())
	}
	if s.tickWord == "" && m.above != nil {
		s.tick, s.tickWord = m.above.number, m.above.word
	}
	parts, n := append([]string{m.text}, below...), len(below)
	if len(s.values) == 0 || s.tickWord == "" {
		if n = max(n, m.follow(s, t, next, &parts)); len(s.values) > 0 && s.tickWord == "" && areSums(s.values, true) && m.blocked() {
			s.tick, s.tickWord = m.tickNear(t, whole)
		}
	}
	listed := ""
	if s.of == "" && s.tickWord == "" {
		listed = m.partBehind()
		s.of = listed
	}
	heading := len(s.values) > 0 && s.of == "" && t.to == len(m.units)-1 && m.isHeading(t.from)
	if heading {
		s.of = strings.TrimSpace(m.text[:m.units[t.from].start])
	}
	if len(s.values) == 0 && s.tickWord != "" {
		var below int
		if s.values, below = assertion(next[:min(len(next), maxContext)]); s.values == nil {
			s.values, _ = assertion(m.before)
		}
		n = max(n, below)
	}
	if in := t.to < len(m.units) && m.units[t.to].joined || m.units[t.from].joined; !in && (prose == 0 || m.lead.program) {
		s.peers = m.accused(s, t, whole)
	}
	s.reported = len(s.peers) > 0 && m.isReported(t)
	m.assign(s)
	if by, ok := m.isReplay(t, s.values); ok {
		s.by, s.replay = by, true
	}
	if s.by == "" && m.lead.role != "" {
		for _, v := range s.values {
			if v.Peer == m.lead.role {
				s.by = v.Peer
			}
		}
	}
	isMachine := func(v tracediff.ClaimedValue) bool { return !tracediff.IsSide(v.Peer) }
	if s.by == "" && len(s.values) > 0 && !slices.ContainsFunc(s.values, isMachine) {
		s.by = ownerAbove(m.before)
	}
	s.quoted = m.lead.chat && (n == 0 || len(s.values) == 0) || !m.lead.program && (prose > 0 || len(s.values) == 0)
	if heading && s.tickWord == "" && !t.strong || listed != "" {
		s.quoted = true
	} else if !m.counts(s, t, prose) {
		return nil, 0
	}
	if prose > 0 && !m.lead.program && n == 0 {
		parts[0] = m.text[m.units[whole.from].start:m.units[whole.to-1].end]
	}
	s.data = m.aboutData(t, s)
	if s.text = strings.Join(parts, " "); len(s.text) > maxText {
		s.text = strings.ToValidUTF8(s.text[:maxText], "") + "\u2026"
	}
	return s, n
}

// isReported reports whether the verb before a phrase makes its subject the reporter: bob reported a desync.
func (m *message) isReported(t trigger) bool {
	k := t.from - 1
	for k >= 0 && m.units[k].kind == word && oneOf(m.units[k].text, "a|an|the") {
		k--
	}
	return k >= 0 && m.units[k].kind == word && oneOf(m.units[k].text, "reports|reported|reporting")
}

// isTrace reports whether a line belongs to the trace of calls that a program writes after a message.
func isTrace(line string) bool {
	line = strings.TrimLeft(line, " ")
	return slices.ContainsFunc([]string{"at ", "UnityEngine.", "Traceback ", "goroutine ", "stack ", "Stack trace"}, func(begin string) bool {
		return strings.HasPrefix(line, begin)
	})
}

// maxNaming is how many units a sentence has at most that names a peer and neither a tick nor sums.
const maxNaming = 12

// counts reports whether a statement is one: by its values, and by how strict its words make it.
func (m *message) counts(s *statement, t trigger, prose int) bool {
	if !t.strong {
		switch tick, sums := s.tickWord != "", len(s.values) > 0; {
		case m.lead.file || m.hasBefore(stored, t.to+4) || len(m.ticks) == 0 && m.has(elsewhere):
			return false
		case sums && outcomes.has(s.values[0].Peer) && !(tick && t.noun):
			s.quoted = s.quoted || !tick && !m.has(playful)
			return areSums(s.values, true) && (tick || !m.has(elsewhere) && (prose == 0 || m.lead.program) && (m.has(playful) || m.plain(t)))
		case tick && sums:
			return true
		case !t.noun && s.of == "" || m.has(elsewhere) || prose > 0 && !m.lead.program:
			return false
		case sums:
			return m.has(playful) || m.plain(t)
		default:
			program := m.lead.program && m.near(playful&^peerNouns, t.from-3, t.from) && m.near(nouns, t.from-2, t.from)
			return tick && (program || m.plain(t) || s.of != "" && m.lead.program)
		}
	}
	heading := t.to < len(m.units) && oneOf(m.units[t.to].text, "report|log|dump|details|info")
	switch {
	case len(s.values) > 0:
		return !heading || s.tickWord != ""
	case heading:
		return false
	case s.tickWord != "" && (prose == 0 || m.lead.program):
		return true
	case s.tickWord != "":
		return m.adjacent(t)
	case len(s.peers) > 0 && (len(m.named) > 0 || m.gamely(t)):
		from, to := m.sentence(t)
		return m.lead.program || to-from <= maxNaming
	}
	return prose == 0 && (m.bare(t) || m.configured(t) || m.ofPart(t) || m.twice(t))
}

// ofPart reports whether a phrase has a field as its subject that the message names, or a thing of a game that a program writes
// about.
func (m *message) ofPart(t trigger) bool {
	subject := m.subjectOf(t)
	return !m.has(stored|elsewhere) && (m.fieldAfter(t) != "" || m.lead.program && oneOf(subject, "unit|entity|actor") && m.fields() > 1)
}

// twice reports whether a short message has two phrases for a desync: Hash mismatch! State divergence detected.
func (m *message) twice(t trigger) bool {
	if len(m.units) > maxNaming || m.has(stored|elsewhere) || !events.has(m.units[t.to-1].text) {
		return false
	}
	for i := range t.from {
		if end := m.longest(known().weak, i); end > 0 && end <= t.from && m.near(nouns, i-2, i) {
			return true
		}
	}
	return false
}

// gamely reports whether a phrase is one that only games have: other things are out of sync, too.
func (m *message) gamely(t trigger) bool {
	w := m.units[t.from].text
	if t.to < len(m.units) && oneOf(m.units[t.to].text, "error|errors") {
		return true
	}
	return strings.HasPrefix(w, "desync") || w == "oos" || w == "de" || w == "consistency"
}

// follow adds the values and ticks of the lines after a message, as long as these contain nothing else.
func (m *message) follow(s *statement, t trigger, next []string, parts *[]string) (n int) {
	var joined strings.Builder
	var sides sides
	var columns columns
	var previous *message
	taken, short := 0, len(m.units)-t.to < 3 && t.from < 3
	for i, line := range next {
		l := parse(line, true)
		if len(l.units) == 0 && (i == 0 || short && i == 1) {
			continue
		}
		if l.partBehind() != "" || l.lead.place && !m.lead.place {
			break // another message
		}
		if l.isFrame() || columns.row(l) {
			taken = max(taken, i+1)
			continue
		}
		like := previous != nil && taken == i && l.isAlike(previous)
		if sides.add(l) || like || l.isKey() || l.isValues() {
			joined.WriteString(l.text + " ; ")
			taken, previous = i+1, l
			continue
		}
		if !(short && isField(line)) {
			break
		}
	}
	if taken == 0 {
		return 0
	}
	l := &message{text: joined.String(), lead: m.lead}
	l.units = split(l.text)
	l.used = make([]bool, len(l.units))
	l.findNames()
	l.findTicks()
	if len(s.values) == 0 {
		of := s.of
		if s.values, s.by, s.of = sides.values(); len(s.values) == 0 {
			if s.values, s.by, s.of = columns.values(); s.of != "" {
				joined.WriteString(s.of + ": " + s.values[0].Value + ", " + s.values[1].Value)
			}
		}
		s.of = cmp.Or(s.of, of)
		if len(s.values) == 0 {
			s.values = l.byKeys()
		}
		if len(s.values) == 0 {
			if s.values, s.by = l.values(0, len(l.units)); len(s.values) > 0 && l.units[0].kind == other && taken > 0 {
				s.of = l.units[0].text // world.units.x server=1 client=2
			}
		}
		if len(s.values) > 0 {
			n = taken
		}
	}
	if s.tickWord == "" {
		if s.tick, s.tickWord = l.tickNear(trigger{}, trigger{to: len(l.units)}); s.tickWord != "" {
			n = taken
		}
	}
	if n > 0 {
		*parts = append(*parts, strings.ReplaceAll(strings.TrimSuffix(joined.String(), " ; "), " ; ", " "))
	}
	return n
}

// isField reports whether a line is a name and a text, as a report has below its heading: Game: Robo Siege 1.22.
func isField(line string) bool {
	name, text, ok := strings.Cut(strings.TrimSpace(line), ":")
	return ok && name != "" && len(name) <= maxFieldName && len(strings.Fields(name)) < 4 && strings.HasPrefix(text, " ") && isLetter(name[0])
}

// maxFieldName is how many bytes the name of such a field has at most.
const maxFieldName = 24

// isValues reports whether a line holds values with names, and nothing else: no more than a few words with each.
func (m *message) isValues() bool {
	words, values := 0, 0
	for i, u := range m.units {
		switch {
		case u.kind == word && !u.joined:
			words++
		case u.kind == number || u.kind == sum || u.kind == value:
			values++
		}
		if u.kind == word && (prosaic.has(u.text) && !writers.has(u.text) || hasStem(u.text) && i > 0) {
			return false
		}
	}
	if t, ok := m.trigger(0); ok && t.strong || strings.HasSuffix(m.text, "?") {
		return false
	}
	if n := len(m.units); n > 2 && (m.units[n-1].kind == sum || n == 4 && m.units[n-1].kind == number && len(m.units[n-1].text) >= minSum) &&
		m.units[n-2].kind == mark && words < 3 {
		return true // Bob: 5f3a91c7
	}
	labelled := len(m.ticks) > 0 || m.has(roles) || m.has(outcomes) || m.has(nouns) || len(m.named) > 0
	return values > 0 && words > 0 && words <= 5*values && len(m.units) < 64 && labelled
}

// has reports whether a message has one of some words.
func (m *message) has(words class) bool { return m.hasBefore(words, len(m.units)) }

// hasBefore reports whether one of some words is among the units before a place.
func (m *message) hasBefore(words class, to int) bool {
	for i, u := range m.units[:min(to, len(m.units))] {
		k := m.after(i)
		field := k < len(m.units) && oneOf(m.units[k].text, ":|=") && words == stored
		if u.kind != mark && (words.has(u.text) && !field || u.kind == other && elsewhereName(u.text) && (words == elsewhere || words == stored)) {
			return true
		}
	}
	return false
}

// elsewhereName reports whether a token is the name of a file.
func elsewhereName(t string) bool {
	dot := strings.LastIndexByte(t, '.')
	return dot > 0 && len(t)-dot > 2 && len(t)-dot < 6 && isLetter(t[dot+1])
}

// after returns the next unit that is no hyphen and no quote.
func (m *message) after(i int) int {
	for i++; i < len(m.units) && oneOf(m.units[i].text, "-|'|\""); i++ {
	}
	return i
}

// match returns where a phrase ends that begins at a unit, 0 if it does not.
func (m *message) match(p phrase, i int) int {
	for n, alternatives := range p {
		if i >= len(m.units) || !oneOf(m.units[i].text, alternatives) || m.units[i].kind == other {
			return 0
		}
		if n == len(p)-1 {
			return i + 1
		}
		i = m.pastTick(m.after(i))
	}
	return 0
}

// pastTick returns the unit after a tick within a phrase: sync check of turn 7 failed.
func (m *message) pastTick(i int) int {
	to := i
	for to < len(m.units) && (m.used[to] || to == i && oneOf(m.units[i].text, "at|for|of|on|in")) {
		to++
	}
	if slices.ContainsFunc(m.ticks, func(t tickAt) bool { return i <= t.at && t.at < to }) {
		return to
	}
	return i
}

// oneOf reports whether a word is one of those between bars.
func oneOf(w, alternatives string) bool {
	for {
		one, rest, more := strings.Cut(alternatives, "|")
		if one == w {
			return true
		}
		if !more {
			return false
		}
		alternatives = rest
	}
}

// longest returns where the longest of some phrases ends that begin at a unit, 0 if none does.
func (m *message) longest(list phrases, i int) (end int) {
	for _, p := range list[m.units[i].text] {
		end = max(end, m.match(p, i))
	}
	return end
}

// trigger finds the first phrase for a desync from a unit on: a strong one, else a weak one near a noun, else one with
// a tick.
func (m *message) trigger(from int) (trigger, bool) {
	for i := from; i < len(m.units); i++ {
		if end := max(m.longest(known().strong, i), m.thrown(i)); end > 0 {
			return trigger{i, end, true, true}, true
		}
	}
	rooted := m.chained() && slices.ContainsFunc(m.units, func(u unit) bool { return u.text == "root" && u.kind == word }) // of a tree of hashes
	for i := from; i < len(m.units); i++ {
		if end := m.longest(known().weak, i); end > 0 && rooted {
			return trigger{i, end, true, true}, true
		} else if end > 0 && (m.near(nouns, i-14, end+3) || m.ofReplay()) {
			return trigger{i, end, false, true}, true
		}
		if end := m.longest(known().apart, i); end > 0 && (len(m.ticks) > 0 || end == len(m.units)-1 && m.isHeading(i)) {
			return trigger{i, end, false, strings.HasPrefix(m.units[i].text, "div") || m.units[i].text == "first"}, true
		}
	}
	return trigger{}, false
}

// thrown returns where the name of an error about determinism ends that begins at a unit, such as NonDeterministicReplayError,
// 0 if there is none.
func (m *message) thrown(i int) int {
	if m.units[i].joined || !oneOf(m.units[i].text, "non|nondeterminism|nondeterministic") {
		return 0
	}
	end, about := i+1, m.units[i].text != "non"
	for end < len(m.units) && m.units[end].joined {
		about = about || oneOf(m.units[end].text, "determinism|deterministic")
		end++
	}
	if !about || !oneOf(m.units[end-1].text, "error|exception") {
		return 0
	}
	return end
}

// isHeading reports whether a phrase before a colon says of what the values below are: unit 17 hp mismatch:
func (m *message) isHeading(i int) bool {
	return i > 0 && i <= maxNaming && m.units[len(m.units)-1].text == ":" && !m.has(stored|elsewhere) && m.prosaic(trigger{from: i, to: i + 1}) == 0
}

// near reports whether one of some words is among the units between two places.
func (m *message) near(words class, from, to int) bool {
	for i := max(0, from); i < min(to, len(m.units)); i++ {
		if m.units[i].kind == word && words.has(m.units[i].text) {
			return true
		}
	}
	return false
}

// sentence returns the units of the sentence around a phrase.
func (m *message) sentence(t trigger) (from, to int) {
	ends := func(i int) bool {
		u := m.units[i]
		if u.text == "." && i > 0 && oneOf(m.units[i-1].text, "vs|eg|ie|cf|no|approx|e.g|i.e") {
			return false
		}
		return u.kind == mark && strings.Contains(".!?;", u.text) && (u.end == len(m.text) || m.text[u.end] == ' ')
	}
	from, to = t.from, t.to
	for from > 0 && !ends(from-1) {
		from--
	}
	for to < len(m.units) && !ends(to) {
		to++
	}
	return from, min(to+1, len(m.units))
}

// prosaic counts the words of people in the sentence of a phrase.
func (m *message) prosaic(t trigger) (n int) {
	from, to := m.sentence(t)
	for i := from; i < to; i++ {
		u := m.units[i]
		if u.kind != word || u.joined || !prosaic.has(u.text) || i >= t.from && i < t.to {
			continue
		}
		next := ""
		if k := m.after(i); k < to {
			next = m.units[k].text
		}
		switch { // I have: 5f3a, should be 216, my hash
		case oneOf(next, "have|expected|:"), next == "be" && u.text == "should", writers.has(u.text) && nouns.has(next):
		default:
			n++
		}
	}
	return n
}

// bare reports whether a message with nothing but a phrase for a desync is one of a program: short, of words that
// programs use, and about something that happened.
func (m *message) bare(t trigger) bool {
	words, event := 0, m.lead.program
	from, to := m.sentence(t)
	for i := from; i < to; i++ {
		u := m.units[i]
		if i >= t.from && i < t.to {
			event = event || events.has(u.text)
			continue
		}
		switch {
		case u.kind == mark:
			event = event || u.text == "!"
			if strings.ContainsAny(u.text, "=/#@{}<>") {
				return false
			}
		case u.kind != word || !programs.has(u.text):
			return false
		default:
			event = event || events.has(u.text)
			words++
		}
	}
	return event && words <= 12 && !m.units[t.from].joined && (t.to >= len(m.units) || !m.units[t.to].joined)
}

// plain reports whether a message with a weak phrase has no other words than programs use.
func (m *message) plain(t trigger) bool {
	for i, u := range m.units {
		if u.kind == other || u.kind == word && !(i >= t.from && i < t.to) && !m.used[i] &&
			!(programs|nouns|playful|roles|outcomes|peerNouns|connecting|modules|few).has(u.text) && tickWords()[u.text] == "" {
			return false
		}
	}
	return true
}
