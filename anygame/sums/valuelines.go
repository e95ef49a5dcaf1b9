package sums

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

// valuedLines reads lines with values.
type valuedLines struct {
	parsed parsed
	key    []byte // the text without values
	values [][]byte
	names  []string // empty for values that do not count
	tokens []int    // of the line that they are
	ids    []string // of what the line is about
	table  *records // the names of its columns, if the first line has them, or JSON Lines
	ticks  ticks
	begun  bool
	tick   uint64
	own    bool                 // it is on the line
	word   string               // for a tick
	last   map[string]uint64    // tick of lines that have one
	kinds  map[string]valueKind // by name
	back   bool                 // such ticks went back
	line   []byte               // the last one with its tick
}

// fewestOfTicks is how many lines a log has at least whose ticks no word shows.
const fewestOfTicks = 32

// again reports whether a line with its tick was written twice.
func (l *valuedLines) again(line []byte) bool {
	if !l.own {
		return false
	}
	same := bytes.Equal(l.line, line)
	l.line = append(l.line[:0], line...)
	return same
}

// ofMachines are parts of names of values that belong to a machine or its connection.
const ofMachines = " queue buffer buffered pending rtt jitter loss lost dropped drop resent backlog ahead behind stall wait waiting mem " +
	"memory cpu gpu dt elapsed took heap alloc confirmed predicted ack acked received sent recv packet packets window "

// runs are parts of names of what runs a program, and is never an entity of the game.
const runs = " thread process proc pid tid connection conn socket session trace span "

// valueKind is what the name of a value means.
type valueKind struct {
	meaning     vocabulary.Meaning
	id, machine bool
}

// kindOf returns what a name means.
func (l *valuedLines) kindOf(name string) valueKind {
	kind, ok := l.kinds[name]
	if !ok {
		kind = valueKind{vocabulary.Of(name), hasPart(name, " id uid unit entity actor ") && !hasPart(name, runs), hasPart(name, ofMachines+runs)}
		if l.kinds == nil {
			l.kinds = map[string]valueKind{}
		}
		if len(l.kinds) < maxGroups {
			l.kinds[name] = kind
		}
	}
	return kind
}

var (
	// messageNames are the members of JSON Lines with the message of a logging library, and libraryNames others that it writes.
	messageNames = lazyregexp.New(`^(msg|message|@mt?|event)$`)
	libraryNames = lazyregexp.New(`(?i)^(@.*|time|ts|timestamp|lvl|severity|logger|source_?context|caller|host|hostname|pid|tid|thread|thread_?(id|name)|process_?(id|name))$`)
)

// take takes a line, and reports whether it has values and a tick, or one is above it.
func (l *valuedLines) take(line []byte) bool {
	p := &l.parsed
	if !l.begun {
		for _, r := range formsOf([][]byte{line}) {
			if r.json != nil && !r.lead || len(r.names) > 2 && !strings.ContainsAny(strings.Join(r.names, ""), "=:()[]{}") && slices.ContainsFunc(r.names, func(name string) bool { return vocabulary.Of(name) == vocabulary.Tick }) {
				l.table = r
			}
		}
		l.begun = true
	}
	if l.table != nil {
		var text []byte
		words := false
		if l.table.each(line, func(path, value []byte) {
			words = words || len(value) > 0 && !isDigit(value[0]) && !isSign(value[0])
			switch {
			case l.table.json != nil && messageNames.Match(path):
				text = append(append(text, value...), ';')
			case l.table.json == nil || !libraryNames.Match(path):
				text = append(append(append(append(text, path...), '='), value...), ';')
			}
		}) && !(words && l.table.separator == ' ') {
			line = text
		}
	}
	p.line = withoutPlace(line[:min(len(line), maxLine)])
	p.tokens, p.names, p.peer = quoted(p.line, tokens(p.line, p.tokens[:0])), p.names[:0], -1
	for i, t := range p.tokens {
		if p.names = append(p.names, name{from: -1, qualifier: -1}); t.kind == number {
			p.names[i] = p.member(p.nameOf(i))
			if at := p.before(i - 1); p.names[i].from < 0 && at >= 0 && p.isMark(at, ",") && p.before(at-1) >= 0 {
				p.names[i] = p.names[p.before(at-1)] // the next one of a vector
			} else if p.names[i].from < 0 && at >= 0 && p.tokens[at].kind == number && p.inVector(at) {
				p.names[i] = p.names[at]
			}
		}
	}
	p.findFree()
	l.key, l.values, l.names, l.tokens, l.ids = l.key[:0], l.values[:0], l.names[:0], l.tokens[:0], l.ids[:0]
	own, counts := uint64(0), false
	for i, t := range p.tokens {
		text, name := p.line[t.from:t.to], "text"
		switch {
		case t.kind == number:
			name = p.nameText(p.names[i])
			kind := l.kindOf(name)
			short := l.ticks.short && shortTick(name) && p.line[t.from-1] == '=' || name != "" && name == l.ticks.word
			if tick, err := strconv.ParseUint(string(text), 10, 63); err == nil && (kind.meaning == vocabulary.Tick || short) && !p.hasUnit(i) && own == 0 {
				own, l.key = tick+1, append(l.key, 0)
				if !short {
					l.word = cmp.Or(l.word, name)
				}
				continue
			}
			if kind.id {
				l.ids = append(l.ids, name+" "+string(text))
			}
			clock := isClock(p.line, t.from-1, t.from-2) || isClock(p.line, t.to, t.to+1)
			if name = cmp.Or(name, "value"); clock || p.hasUnit(i) || kind.machine || kind.meaning == vocabulary.Tick || kind.meaning == vocabulary.Measure {
				name = ""
			}
			counts = counts || name != ""
		case p.free[i] || t.kind == label:
			name = cmp.Or(p.wordBefore(i), name)
		default:
			if t.kind != blank {
				l.key = append(l.key, text...)
			}
			continue
		}
		l.key, l.values, l.names, l.tokens = append(l.key, byte(t.kind)), append(l.values, text), append(l.names, name), append(l.tokens, i)
	}
	if place, ok := l.ticks.places[string(l.key)]; ok && own == 0 {
		if tick, err := strconv.ParseUint(string(l.values[place]), 10, 63); err == nil {
			own, l.names[place] = tick+1, ""
		}
	}
	if l.own = own > 0; l.own && l.ticks.passes[string(l.key)] && passOf(line) != tracediff.Confirmed {
		l.own = false
		return false
	} else if l.own {
		if l.last == nil {
			l.last = map[string]uint64{}
		}
		l.back = l.back || own < l.last[string(l.key)]
		if l.tick = max(l.tick, own-1); len(l.last) < maxGroups {
			l.last[string(l.key)] = own
		}
	}
	return counts && len(l.last) > 0
}

// thing returns what the line is about, by the place of a value or by an id: cog 2, #203 Catapult. It is empty if nothing shows it.
func (l *valuedLines) thing(place int) string {
	if len(l.ids) == 1 {
		return l.ids[0]
	} else if place < 0 || place >= len(l.values) {
		return ""
	}
	p, at := &l.parsed, l.tokens[place]
	from, to := at, at
	for i := at - 1; i >= 0 && (p.tokens[i].kind == word || p.tokens[i].kind == blank || p.isMark(i, "#_")); i-- {
		if p.tokens[i].kind != blank {
			from = i
		}
	}
	if to+2 < len(p.tokens) && p.tokens[to+1].kind == blank && p.free[to+2] && p.isMark(to+3, ":") {
		to += 2
	}
	text := strings.ToValidUTF8(string(p.line[p.tokens[from].from:p.tokens[to].to]), "\uFFFD")
	if name := l.names[place]; from == at && name != "" && name != "text" && name != "value" { // cog=2
		text = name + " " + text
	}
	return text[max(0, len(text)-maxScope):]
}

// quoted makes one token of several words in quotes, as names of things are: mob "a grey wolf"
func quoted(line []byte, list []token) []token {
	const longest = 48
	out, open := list[:0], -1
	for _, t := range list {
		if out = append(out, t); t.kind == number || t.kind == literal && strings.IndexByte(`"-'.`, line[t.from]) < 0 {
			open = -1
		}
		if t.kind != literal || line[t.from] != '"' {
			continue
		}
		from := open + 1
		if last := len(out) - 1; open >= 0 && last-from > 1 && t.from-out[from].from <= longest && (t.to == len(line) || isBlank(line[t.to]) || strings.IndexByte(",;)]}", line[t.to]) >= 0) {
			out[from].kind, out[from].to = label, t.from
			out, open = append(out[:from+1], t), -1
		} else {
			open = last
		}
	}
	return out
}

// before returns the last token up to one that is no blank, -1 if there is none.
func (p *parsed) before(i int) int {
	for i >= 0 && p.tokens[i].kind == blank {
		i--
	}
	return i
}

// inVector reports whether only numbers and blanks are before a token, up to an opening bracket: v=[0.5 -1 2]
func (p *parsed) inVector(i int) bool {
	for i >= 0 && (p.tokens[i].kind == number || p.tokens[i].kind == blank || p.isMark(i, "-+")) {
		i--
	}
	return p.isMark(i, "[({")
}

// isMark reports whether a token is one of some marks.
func (p *parsed) isMark(i int, marks string) bool {
	return i >= 0 && i < len(p.tokens) && p.tokens[i].kind == literal && strings.IndexByte(marks, p.line[p.tokens[i].from]) >= 0
}

// member returns the name of a member if its value begins with the name of a type: pos of "pos": Vector2(1, 3).
func (p *parsed) member(n name) name {
	if n.from < 0 || !p.isMark(n.to, "(") {
		return n
	}
	at := p.before(n.from - 1)
	if !p.isMark(at, ":=") {
		return n
	}
	if at = p.before(at - 1); p.isMark(at, `"'`) {
		at--
	}
	switch {
	case at > 0 && p.tokens[at].kind == number && p.tokens[at-1].kind == word && p.tokens[at-1].to == p.tokens[at].from: // hp0
		return p.named(at-1, at+1)
	case at < 0 || p.tokens[at].kind != word:
		return n
	}
	return p.named(at, at+1)
}

// between is a place of lines without a word for a tick. Its numbers may be ticks: they never go back, and lie between the
// ticks of the lines around them.
type between struct {
	last            uint64
	seen, different int
	broken          bool
}

// take takes the number of another line, after the line of a tick.
func (b *between) take(text []byte, tick uint64) {
	n, err := strconv.ParseUint(string(text), 10, 63)
	b.broken = b.broken || err != nil || n < tick || b.seen > 0 && n < b.last
	if b.seen++; b.seen == 1 || n > b.last {
		b.different++
	}
	b.last = n
}

// passOf returns the pass over a tick that words before the values of a line show.
func passOf(line []byte) tracediff.Phase {
	words, _, _ := bytes.Cut(line, []byte("="))
	return passIn(words)
}

// findPasses finds the kinds of lines of which words show which are guesses and which are for good.
func findPasses(logs [][]byte, how ticks) map[string]bool {
	count := map[string]map[tracediff.Phase]int{}
	for _, text := range logs {
		l := valuedLines{ticks: how}
		for _, line := range linesOf(text) {
			if !l.take(line) || !l.own {
				continue
			}
			of := count[string(l.key)]
			if of == nil && len(count) < maxGroups {
				of = map[tracediff.Phase]int{}
				count[string(l.key)] = of
			}
			if of != nil {
				of[passOf(line)]++
			}
		}
	}
	out := map[string]bool{}
	for key, of := range count {
		if of[tracediff.Confirmed] >= fewestEqual && of[tracediff.Predicted] > 0 {
			out[key] = true
		}
	}
	return out
}

// ticksOf finds out how the lines of logs show their ticks.
func ticksOf(logs [][]byte, named []Sample) ticks {
	has := func(with ticks) bool {
		return slices.ContainsFunc(logs, func(text []byte) bool {
			l := valuedLines{ticks: with}
			return slices.ContainsFunc(linesOf(text), func(line []byte) bool { return l.take(line) && l.own })
		})
	}
	if has(ticks{}) {
		return ticks{places: findTicked(logs, nil)}
	}
	out := ticks{short: true}
	for _, log := range named {
		out.word = cmp.Or(out.word, log.Pattern.templates[0].roles.tickWord)
	}
	if !has(out) {
		if grown := findGrown(logs); len(grown) > 0 {
			return ticks{places: findTicked(logs, grown)}
		}
	}
	return out
}

// findGrown finds the places with ticks in logs without any word for them, "[220] hp=9", "220|9|14" or "commit 220 #9f3acc01": one of
// the first numbers of a kind of lines, if it grows by regular steps in all logs.
func findGrown(logs [][]byte) map[string]int {
	const tried = 2 // numbers of a line
	type place struct {
		key string
		at  int
	}
	var found map[place]bool
	for _, text := range logs {
		l, columns := valuedLines{}, map[place][][]byte{}
		for _, line := range linesOf(text) {
			l.take(line)
			for at, n := 0, 0; at < len(l.values) && n < tried && len(l.values) > 1; at++ {
				if !isDigit(l.values[at][0]) {
					continue
				}
				n++
				if p := (place{string(l.key), at}); len(columns) < maxGroups || columns[p] != nil {
					columns[p] = append(columns[p], bytes.Clone(l.values[at]))
				}
			}
		}
		fit := map[place]bool{}
		for p, values := range columns {
			f := figuresOf(values)
			fit[p] = len(values) >= fewestOfTicks && f.integers == len(values) && f.letters == 0 && f.regular && f.falls == 0 && (found == nil || found[p])
		}
		found = fit
	}
	out := map[string]int{}
	for p, fits := range found {
		if other, ok := out[p.key]; fits && (!ok || p.at < other) {
			out[p.key] = p.at
		}
	}
	return out
}

// findTicked finds the places with ticks on lines that have no word for them, "rnd 220 move idx=4", if other lines have one: with a word, or in a known
// place.
func findTicked(logs [][]byte, known map[string]int) map[string]int {
	type place struct {
		key string
		at  int
	}
	const fewestDifferent = 8
	var found map[place]bool
	for _, text := range logs {
		l, places := valuedLines{ticks: ticks{places: known}}, map[place]*between{}
		var since []*between // the last line of a tick
		for _, line := range linesOf(text) {
			switch {
			case !l.take(line) && !l.own:
			case l.own:
				for _, b := range since {
					b.broken = b.broken || b.last > l.tick
				}
				since = since[:0]
			default:
				for i, text := range l.values {
					at := place{string(l.key), i}
					if places[at] == nil && len(places) < maxGroups {
						places[at] = &between{}
					}
					if b := places[at]; b != nil && !b.broken {
						b.take(text, l.tick)
						since = append(since, b)
					}
				}
			}
		}
		fit := map[place]bool{}
		for at, b := range places {
			fit[at] = !b.broken && b.seen >= fewestOfTicks && b.different >= fewestDifferent && (found == nil || found[at])
		}
		found = fit
	}
	out := map[string]int{}
	maps.Copy(out, known)
	for at, fits := range found {
		if other, ok := out[at.key]; fits && (!ok || at.at < other) {
			out[at.key] = at.at
		}
	}
	return out
}

// journal finds what syslog, journalctl, the kernel and Unreal put before a line: Dec 30 23:41:02 host game[411]: or <14>1 TIME
// HOST game 411 - - or [   12.345678] or [2026.01.14-20.41.06:660][129]
var journal = lazyregexp.New(`^(\[ *\d+\.\d{3,}\] *|\[[\d.]+-[\d.]+:\d+\]\[ *\d+\]|<\d+>1 (\S+ ){5}(- ?|\[[^\]]*\] ?)|(<\d+>)?([A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\S+) \S+ [^\s:]+(\[\d+\]|@[^\s:]*)?: *)`)

// maxJournal is how many bytes that has at most.
const maxJournal = 256

// withoutPlace returns a line without what precedes or follows the message in another way on each machine: times, numbers of
// processes and threads, levels, a host, and the place in the source code, main.js:88:12.
func withoutPlace(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if len(line) > 16 && (line[0] == '<' || line[0] == '[' || line[3] == ' ' && line[6] == ' ' && line[9] == ':' && line[12] == ':' || line[4] == '-' && line[7] == '-' && line[10] == 'T') {
		line = line[len(journal.FindString(string(line[:min(len(line), maxJournal)]))):]
	}
	// Numbers and texts in brackets belong to it between such words, or after a time and before one: 12:00:01 4242 4260 I Sim: hp=3
	timed := false
	for from, words := 0, 0; words < maxHead; words++ {
		end := from + bytes.IndexAny(line[from:], " |")
		if end < from {
			break
		}
		word := line[from:end]
		time := isTime(word) || isStamp(word) || len(word) > 4 && strings.IndexByte("IWEF", word[0]) >= 0 && isWhole(word[1:])
		head := time || isSource(word) || isLevel(word, timed)
		timed = timed || time
		for end < len(line) && (line[end] == ' ' || line[end] == '|') {
			end++
		}
		if from = end; head {
			line, from = line[end:], 0
		} else if word = bytes.Trim(word, "[]()-:"); len(word) > 0 && !isWhole(word) && line[0] != '[' && !isDay(word) {
			break
		}
	}
	if at := bytes.LastIndexByte(line, ' '); at > 0 && isSource(line[at+1:]) {
		line = line[:at]
	}
	return line
}

// maxHead is how many words precede the message of a line at most.
const maxHead = 10

// isWhole reports whether a word is digits.
func isWhole(word []byte) bool {
	return len(word) > 0 && !bytes.ContainsFunc(word, func(c rune) bool { return c < '0' || c > '9' })
}

// isDay reports whether a word is a day of a month: 04-01
func isDay(word []byte) bool {
	return len(word) == 5 && strings.IndexByte("-/.", word[2]) >= 0 && isWhole(word[:2]) && isWhole(word[3:])
}

// isLevel reports whether a word is how grave a message is: INFO, [info], and after a time info or I
func isLevel(word []byte, timed bool) bool {
	name := bytes.Trim(word, "[]<>()-:,")
	var upper [12]byte
	if len(name) == 0 || len(name) > len(upper) || !isLetter(name[0]) {
		return false
	}
	capital := true
	for i, c := range name {
		upper[i] = c &^ 0x20
		capital = capital && c == upper[i]
	}
	switch string(upper[:len(name)]) {
	case "TRACE", "VERBOSE", "DEBUG", "INFO", "INFORMATION", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "CRITICAL", "FATAL", "SEVERE", "FINE":
		return timed || capital || len(name) < len(word)
	case "V", "D", "I", "W", "E", "F":
		return timed && capital
	}
	return false
}

// isTime reports whether a word is a time or a date: 12:00:01.250
func isTime(word []byte) bool {
	marks := 0
	for i, c := range word {
		if isClock(word, i, i-1) && isClock(word, i, i+1) {
			marks++
		} else if !isDigit(c) && strings.IndexByte("[].,:+-TZ", c) < 0 {
			return false
		}
	}
	return marks >= 2
}

// isStamp reports whether a word is the time since 1970 or, in brackets, since a start: [1690000013.059287], 1690000013059, [12.345]
func isStamp(word []byte) bool {
	const second, millisecond, fraction = 10, 13, 3 // digits
	inner := bytes.Trim(word, "[]")
	whole, rest, point := bytes.Cut(inner, []byte("."))
	switch {
	case !isWhole(whole) || point && (!isWhole(rest) || len(rest) < fraction):
		return false
	case whole[0] == '1' && (len(whole) == second || len(whole) == millisecond):
		return point || len(inner) < len(word) || len(whole) == millisecond
	}
	return point && len(inner)+2 == len(word)
}

// isSource reports whether a word is a place in source code: main.js:88:12
func isSource(word []byte) bool {
	word = bytes.Trim(word, "[]():")
	name := bytes.TrimRight(word, "0123456789:")
	dot := bytes.LastIndexByte(name, '.')
	return len(name) < len(word) && word[len(name)] == ':' && dot > 0 && len(name)-dot <= 5 && dot+1 < len(name) && !bytes.ContainsFunc(name[dot+1:], func(c rune) bool {
		return c > 0x7f || !isLetter(byte(c))
	})
}

// isClock reports whether a mark and a digit are at places, as in a time or date.
func isClock(line []byte, mark, digit int) bool {
	return min(mark, digit) >= 0 && max(mark, digit) < len(line) && strings.IndexByte(":/-", line[mark]) >= 0 && isDigit(line[digit])
}
