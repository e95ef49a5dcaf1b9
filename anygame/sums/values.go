package sums

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// Values are the lines of logs without checksums that have the same values in all logs for long: tick 100 Random(0) = 4711.
// A tick on a line also belongs to the lines below.
type Values struct {
	lines map[string]*valued // by their texts without values
	ticks ticks              // how ticks are found
	word  string             // for a tick
	whole bool               // no value differs of the lines that all logs have at the same ticks, except on machines
	apart bool               // a value that counts differs
}

// Sampled reports that the logs have more than was learned from.
func (v *Values) Sampled() { v.whole = false }

// Deny reports whether values differ between logs although their checksums are always equal.
func (v *Values) Deny(logs []Sample) bool {
	return v.apart && !slices.ContainsFunc(logs, func(log Sample) bool {
		return slices.ContainsFunc(log.Pattern.templates, func(t template) bool {
			first, other := logs[0].Pattern.valuesOf(&t, logs[0].Text), log.Pattern.valuesOf(&t, log.Text)
			for tick, value := range other {
				if mine, ok := first[tick]; ok && mine != value {
					return true
				}
			}
			return false
		})
	})
}

// ticks is how lines without a word for a tick show it.
type ticks struct {
	short  bool           // a letter is the word, t=30: no line has another one
	places map[string]int // of the ticks on lines that have no word for them, by their texts without values
}

// valued is a kind of lines, of one log until all are known.
type valued struct {
	scope  string
	names  []string // of the values, empty for those that do not count
	ticks  []uint64 // of each line
	values [][][]byte
}

const (
	fewestEqual    = 32 // ticks with a value that is new and equal in two logs, before it counts
	fewestDistinct = 8  // such values
	fewestNews     = 5  // such ticks of a value on a line with another one that counts
	fewestLasting  = 3  // ticks in which a value differs that was hardly new before
	maxScope       = 48 // bytes of the names of values that are the name of a line
)

// LearnValues returns the lines of the beginnings of logs, nil if there are none. A value counts in a place in which it
// changes often, not only up as counters do, and is equal in all logs until it differs again and again; and so does
// another value of such a line, also one that hardly changes, if it differs to the end. Ticks that go back, as in a game with
// rollback, show no values.
func LearnValues(logs [][]byte) *Values {
	var all []map[string]*valued
	v := &Values{lines: map[string]*valued{}, ticks: ticksOf(logs)}
	for _, text := range logs {
		l, lines := valuedLines{ticks: v.ticks}, map[string]*valued{}
		for _, line := range linesOf(text) {
			if !l.take(line) {
				continue
			}
			one := lines[string(l.key)]
			if one == nil {
				one = &valued{names: slices.Clone(l.names)}
				lines[string(l.key)] = one
			}
			one.ticks, one.values = append(one.ticks, l.tick), append(one.values, slices.Clone(l.values))
		}
		if v.word = cmp.Or(v.word, l.word); l.back || len(lines) > maxGroups {
			return nil
		}
		all = append(all, lines)
	}
	scopes := map[string]bool{}
	v.whole = areWhole(all)
	for _, key := range slices.Sorted(maps.Keys(all[0])) {
		one, counts := all[0][key], false
		scope := scopeOf(one.names)
		for place, name := range one.names {
			least := simulation
			if name == "" {
				least = unrelated
			}
			decided := false
			for _, other := range all[1:] {
				if role := one.role(other[key], place); role != undecided {
					least, decided = min(least, role), true
				}
			}
			if !decided {
				least = unrelated
			}
			v.apart = v.apart || least == simulation && slices.ContainsFunc(all[1:], func(lines map[string]*valued) bool { return one.differs(lines[key], place) })
			if one.names[place] = ""; least > unrelated {
				one.names[place] = unused(name, func(name string) bool { return slices.Contains(one.names[:place], name) })
			}
			counts = counts || least == simulation
		}
		if counts {
			one.scope = unused(strings.ToValidUTF8(scope[:min(len(scope), maxScope)], ""), func(name string) bool { return scopes[name] })
			scopes[one.scope], v.lines[key] = true, one
			one.ticks, one.values = nil, nil
		}
	}
	if len(v.lines) == 0 {
		return nil
	}
	return v
}

// areWhole reports whether all values are equal of the lines that all logs have at the same ticks, and these are several values.
// Where logs have half of some lines at the same ticks, the others may be missing because the states differ.
func areWhole(all []map[string]*valued) bool {
	const fewest = 3
	from, to := commonTicks(all)
	values := 0
	for key, one := range all[0] {
		for _, other := range all[1:] {
			if other[key] == nil {
				continue
			}
			switch together, equal := one.compare(other[key], from, to); {
			case together && equal:
				values += lists.Count(one.names, func(name string) bool { return name != "" && name != "text" })
			case together || equal:
				return false
			}
		}
	}
	return values >= fewest*(len(all)-1)
}

// commonTicks returns the first and the last tick that all logs may have.
func commonTicks(all []map[string]*valued) (from, to uint64) {
	to = math.MaxUint64
	for _, lines := range all {
		first, last := uint64(math.MaxUint64), uint64(0)
		for _, one := range lines {
			first, last = min(first, one.ticks[0]), max(last, one.ticks[len(one.ticks)-1])
		}
		from, to = max(from, first), min(to, last)
	}
	return from, to
}

// compare reports whether two logs have lines at the same of some ticks, and the same values on them. If they have only some at
// the same ticks, it reports whether these are half of them.
func (v *valued) compare(other *valued, from, to uint64) (together, equal bool) {
	a, b := v.within(from, to), other.within(from, to)
	fewer := min(a[1]-a[0], b[1]-b[0])
	if fewer == 0 {
		return false, false
	}
	if slices.Equal(v.ticks[a[0]:a[1]], other.ticks[b[0]:b[1]]) {
		for i := range fewer {
			for place, name := range v.names {
				if name != "" && !bytes.Equal(v.values[a[0]+i][place], other.values[b[0]+i][place]) {
					return true, false
				}
			}
		}
		return true, true
	}
	at := map[uint64]bool{}
	for _, tick := range v.ticks[a[0]:a[1]] {
		at[tick] = true
	}
	same := lists.Count(other.ticks[b[0]:b[1]], func(tick uint64) bool { return at[tick] })
	return false, 2*same >= fewer
}

// differs reports whether the last values in a place of two logs' lines differ, at the last tick that both have.
func (v *valued) differs(other *valued, place int) bool {
	from, to := max(v.ticks[0], other.ticks[0]), min(v.ticks[len(v.ticks)-1], other.ticks[len(other.ticks)-1])
	a, b := v.within(from, to), other.within(from, to)
	n := min(a[1]-a[0], b[1]-b[0])
	return n > 0 && !bytes.Equal(v.values[a[1]-1][place], other.values[b[1]-1][place])
}

// within returns where the lines of some ticks begin and end.
func (v *valued) within(from, to uint64) [2]int {
	a, _ := slices.BinarySearch(v.ticks, from)
	b := sort.Search(len(v.ticks), func(i int) bool { return v.ticks[i] > to })
	return [2]int{a, max(a, b)}
}

// scopeOf returns the name of a line by the names of its values: Random value of Random(0) = 4711, hp0 hp1 of hp0=3 hp1=4.
func scopeOf(names []string) string {
	var kept []string
	for i, name := range names {
		part := slices.ContainsFunc(names, func(other string) bool { // hp of hp0
			return len(other) > len(name) && strings.HasPrefix(other, name) && isDigit(other[len(name)])
		})
		if name != "" && name != "text" && !part && (i == 0 || names[i-1] != name) {
			kept = append(kept, name)
		}
	}
	return strings.Join(kept, " ")
}

// valueRole is what the values in one place of lines belong to, as far as two logs show.
type valueRole int

const (
	unrelated  valueRole = iota // perhaps to something else
	together                    // to the simulation if another value of the lines does
	simulation                  // to the simulation
	undecided                   // these logs do not show it, since the values are equal and change in no way that does
)

// role returns the role of the values in one place of the lines of two logs.
func (v *valued) role(other *valued, place int) valueRole {
	var before [2][]byte
	distinct := map[string]bool{}
	equal, differ, healed, rises, falls, least := 0, 0, 0, 0, 0, fewestNews
	calm, ends, rare := 0, false, false // ticks before the first difference, it lasts to the end, and values before it were rarely new
	for i, k := 0, 0; other != nil && i < len(v.ticks) && k < len(other.ticks); {
		tick, same, news := v.ticks[i], true, false
		if with := other.ticks[k]; with != tick {
			if with < tick {
				k++
			} else {
				i++
			}
			continue
		}
		for ; i < len(v.ticks) && v.ticks[i] == tick && k < len(other.ticks) && other.ticks[k] == tick; i, k = i+1, k+1 {
			old := before[0]
			before = [2][]byte{v.values[i][place], other.values[k][place]}
			same = same && bytes.Equal(before[0], before[1])
			if !same || old == nil || bytes.Equal(before[0], old) {
				continue
			}
			distinct[string(before[0])], news = true, true
			x, _ := strconv.ParseFloat(string(before[0]), 64)
			if y, _ := strconv.ParseFloat(string(old), 64); x > y && bytes.IndexByte(before[0], '.') < 0 {
				rises++ // perhaps what a counter of the network does
			} else {
				falls++
			}
		}
		if isLetter(before[0][0]) {
			least = 2 // of a word fewer are enough
		}
		switch over := i == len(v.ticks) || k == len(other.ticks); {
		case !same || !over && (v.ticks[i] == tick || other.ticks[k] == tick):
			if differ++; equal < least && calm < fewestEqual {
				return unrelated
			}
			ends, rare = true, rare || equal < least
		case differ > 0:
			if ends = false; news {
				healed++
			}
		default:
			if calm++; news {
				equal++
			}
		}
	}
	switch {
	case rare && ends && differ >= fewestLasting && healed == 0:
		return together
	case differ == 0 && other != nil && (falls*8 < rises+falls || equal < least || len(distinct) < min(3, least)):
		return undecided
	case falls*8 < rises+falls, equal < least, len(distinct) < min(3, least), healed > 6*differ && healed > fewestNews && differ > 0:
		return unrelated
	case equal >= fewestEqual && len(distinct) >= fewestDistinct:
		return simulation
	case differ == 1 && healed > 0:
		return unrelated
	}
	return together
}

// valuedLines reads lines with values.
type valuedLines struct {
	parsed parsed
	key    []byte // the text without values
	values [][]byte
	names  []string // empty for values that do not count
	ids    []string // of what the line is about
	table  *records // the names of its columns, if the first line has them
	ticks  ticks
	begun  bool
	tick   uint64
	own    bool                 // it is on the line
	word   string               // for a tick
	last   map[string]uint64    // tick of lines that have one
	kinds  map[string]valueKind // by name
	back   bool                 // such ticks went back
}

// ofMachines are parts of names of values that belong to a machine or its connection.
const ofMachines = " queue buffer buffered pending rtt jitter loss lost dropped drop resent backlog ahead behind stall wait waiting mem " +
	"memory cpu gpu dt elapsed took heap alloc confirmed predicted ack acked received sent recv packet packets window "

// valueKind is what the name of a value means.
type valueKind struct {
	meaning     vocabulary.Meaning
	id, machine bool
}

// kindOf returns what a name means.
func (l *valuedLines) kindOf(name string) valueKind {
	kind, ok := l.kinds[name]
	if !ok {
		kind = valueKind{vocabulary.Of(name), hasPart(name, " id uid unit entity actor "), hasPart(name, ofMachines)}
		if l.kinds == nil {
			l.kinds = map[string]valueKind{}
		}
		if len(l.kinds) < maxGroups {
			l.kinds[name] = kind
		}
	}
	return kind
}

// take takes a line, and reports whether it has values and a tick, or one is above it.
func (l *valuedLines) take(line []byte) bool {
	p := &l.parsed
	if !l.begun {
		for _, r := range formsOf([][]byte{line}) {
			if r.json == nil && len(r.names) > 2 && r.separator != ' ' && !strings.ContainsAny(strings.Join(r.names, ""), "=:()[]{}") && slices.ContainsFunc(r.names, func(name string) bool { return vocabulary.Of(name) == vocabulary.Tick }) {
				l.table = r
			}
		}
		l.begun = true
	}
	if l.table != nil {
		var text []byte
		if l.table.each(line, func(path, value []byte) { text = append(append(append(append(text, path...), '='), value...), ';') }) {
			line = text
		}
	}
	p.line = withoutPlace(line[:min(len(line), maxLine)])
	p.tokens, p.names, p.peer = tokens(p.line, p.tokens[:0]), p.names[:0], -1
	for i, t := range p.tokens {
		if p.names = append(p.names, name{from: -1, qualifier: -1}); t.kind == number {
			p.names[i] = p.member(p.nameOf(i))
			if at := p.before(i - 1); p.names[i].from < 0 && at >= 0 && p.isMark(at, ",") && p.before(at-1) >= 0 {
				p.names[i] = p.names[p.before(at-1)] // the next one of a vector
			}
		}
	}
	p.findFree()
	l.key, l.values, l.names, l.ids = l.key[:0], l.values[:0], l.names[:0], l.ids[:0]
	own, counts := uint64(0), false
	for i, t := range p.tokens {
		text, name := p.line[t.from:t.to], "text"
		switch {
		case t.kind == number:
			name = p.nameText(p.names[i])
			kind := l.kindOf(name)
			short := l.ticks.short && shortTick(name) && p.line[t.from-1] == '='
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
		case p.free[i]:
			name = cmp.Or(p.wordBefore(i), name)
		default:
			if t.kind != blank {
				l.key = append(l.key, text...)
			}
			continue
		}
		l.key, l.values, l.names = append(l.key, byte(t.kind)), append(l.values, text), append(l.names, name)
	}
	if place, ok := l.ticks.places[string(l.key)]; ok && own == 0 {
		if tick, err := strconv.ParseUint(string(l.values[place]), 10, 63); err == nil {
			own, l.names[place] = tick+1, ""
		}
	}
	if l.own = own > 0; l.own {
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

// before returns the last token up to one that is no blank, -1 if there is none.
func (p *parsed) before(i int) int {
	for i >= 0 && p.tokens[i].kind == blank {
		i--
	}
	return i
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

// ticksOf finds out how the lines of logs show their ticks.
func ticksOf(logs [][]byte) ticks {
	words := func(text []byte) bool {
		l := valuedLines{}
		return slices.ContainsFunc(linesOf(text), func(line []byte) bool { return l.take(line) && l.own })
	}
	if !slices.ContainsFunc(logs, words) {
		return ticks{short: true}
	}
	return ticks{places: findTicked(logs)}
}

// findTicked finds the places with ticks on lines that have no word for them, "rnd 220 move idx=4", if other lines have one.
func findTicked(logs [][]byte) map[string]int {
	type place struct {
		key string
		at  int
	}
	const fewestDifferent = 8
	var found map[place]bool
	for _, text := range logs {
		l, places := valuedLines{}, map[place]*between{}
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
			fit[at] = !b.broken && b.seen >= fewestEqual && b.different >= fewestDifferent && (found == nil || found[at])
		}
		found = fit
	}
	out := map[string]int{}
	for at, fits := range found {
		if other, ok := out[at.key]; fits && (!ok || at.at < other) {
			out[at.key] = at.at
		}
	}
	return out
}

// journal finds what syslog and journalctl put before a line: Dec 30 23:41:02 host game[411]:
var journal = lazyregexp.New(`^[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d \S+ [^\s:]+: *`)

// maxJournal is how many bytes that has at most.
const maxJournal = 256

// withoutPlace returns a line without what precedes or follows the message in another way on each machine: a time, a host, and the
// place in the source code, main.js:88:12.
func withoutPlace(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if len(line) > 16 && line[3] == ' ' && line[6] == ' ' && line[9] == ':' && line[12] == ':' {
		line = line[len(journal.FindString(string(line[:min(len(line), maxJournal)]))):]
	}
	for {
		end := bytes.IndexByte(line, ' ')
		if end < 0 || !isTime(line[:end]) && !isSource(line[:end]) {
			break
		}
		line = bytes.TrimLeft(line[end:], " ")
	}
	if at := bytes.LastIndexByte(line, ' '); at > 0 && isSource(line[at+1:]) {
		line = line[:at]
	}
	return line
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

// isSource reports whether a word is a place in source code: main.js:88:12
func isSource(word []byte) bool {
	word = bytes.TrimRight(word, ":")
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

// Format returns the format of logs with the values.
func (v *Values) Format() tracediff.Format {
	f := engine.Lines{
		Name: "values", Title: "log with values of ticks", Sniff: func([]byte) bool { return false },
		Dialect: func(int) tracediff.Dialect {
			return tracediff.Dialect{
				Engine: "any game", File: "log with values", TickName: messages.TickName(cmp.Or(strings.ToLower(v.word), "tick")), Values: true, Partial: !v.whole, Endless: true, Lossy: true, Detail: tracediff.Path,
				Covers: "values that change often and are equal in all logs for long; the first line that differs is no cause, and no checksum was found",
			}
		},
		Parser: func(int) func([]byte, *tracediff.Checkpoint) bool {
			l := &valuedLines{ticks: v.ticks}
			return func(line []byte, to *tracediff.Checkpoint) bool {
				takes := l.take(plain(line))
				one := v.lines[string(l.key)]
				if !takes || l.back || one == nil {
					return false
				}
				*to = tracediff.Checkpoint{Tick: l.tick, Scope: one.scope, Sums: to.Sums[:0]}
				if len(l.ids) == 1 {
					to.Scope += " of " + l.ids[0]
				}
				for i, name := range one.names {
					if name != "" {
						to.Sums = append(to.Sums, tracediff.Sum{Name: name, Value: l.values[i]})
					}
				}
				return true
			}
		},
	}.Format()
	f.Narrow = v.narrow
	return f
}

// differ reports whether the values of one place differ between lines of one kind.
func differ(lines []valuedLines, place int) bool {
	return slices.ContainsFunc(lines, func(l valuedLines) bool { return !bytes.Equal(l.values[place], lines[0].values[place]) })
}

func valid(words []string) string { return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD") }

// sharedOf returns the words that some lines have and that are no names of values: they show what the program did. Without
// words it is the first value, if it is equal: it may be the number of a thing.
func sharedOf(lines []valuedLines) (out []string) {
	first := &lines[0]
	for place, value := range first.values {
		if name := first.names[place]; isLetter(value[0]) && (name == "text" || name == "") && !differ(lines, place) {
			out = append(out, string(value))
		}
	}
	if len(out) == 0 && len(first.names) > 1 && first.names[0] != "" && !differ(lines, 0) {
		out = append(out, first.names[0], string(first.values[0]))
	}
	return out
}

// narrow adds to the first difference what its lines share, "A_Chase", and then the values that differ, "mobj 1".
func (v *Values) narrow(sides []tracediff.Side) ([][]tracediff.Detail, error) {
	lines := make([]valuedLines, len(sides))
	for i := range sides {
		if err := sides[i].SkipTo(sides[i].Value.Pos.Offset); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(sides[i].In, maxLine))
		if err != nil {
			return nil, err
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		lines[i].ticks = v.ticks
		lines[i].take(plain(bytes.TrimRight(line, "\r")))
		if i > 0 && !bytes.Equal(lines[i].key, lines[0].key) {
			return nil, nil
		}
	}
	shared := sharedOf(lines)
	if len(shared) == 0 {
		return nil, nil
	}
	out := make([][]tracediff.Detail, len(sides))
	for i := range lines {
		var text []string
		for place, name := range lines[i].names {
			if name != "" && differ(lines, place) {
				text = append(text, name, string(lines[i].values[place]))
			}
		}
		out[i] = []tracediff.Detail{{Text: valid(shared)}, {Text: valid(text)}}
	}
	return out, nil
}
