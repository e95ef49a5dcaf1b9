package notation

import (
	"bytes"
	"slices"
	"strconv"
)

// rowsNotation is lines of words and values in whatever order a game prints them, each for one thing:
//
//	Unit 7: hp=41 pos=(1033, 220) state=Idle
//	[8] Unit (hp 12, pos 1000/210) Move
//	[01] Tank id=0040 hp=94/100
//	gold 500
//
// The first word is the kind of the thing, and the first number its id. The word before a value is its name: further
// values of one name have a number, pos#2. Other words of a line are its text. A line with one word and one value is a member,
// if no other line has the word. Lines that are indented more belong to the one before.
func rowsNotation() Notation {
	return Notation{Name: "rows", Repeats: true, Title: "lines of words and values", Extensions: []string{".txt", ".log", ".dump", ".state"},
		Lines: true, Loose: true, Sniff: sniffTextRows, Parse: func(text []byte, to Sink) error {
			p := rowsParser{text: text, document: document{to: to}}
			p.run()
			return nil
		}}
}

// sniffTextRows reports whether nearly all lines are values with names, and few kinds of lines or no other words: a log has many
// other words, and a time before them.
func sniffTextRows(head []byte, whole bool) bool {
	const most = 8 << 10 // bytes that are looked at
	if len(head) > most {
		head, whole = head[:most], false
	}
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	p := rowsParser{text: head, document: document{to: discard{}}, measured: measures.Match(head)}
	p.run()
	if p.titles < 3 && 3*p.titles <= p.lines { // Units:
		p.lines -= p.titles
	}
	if rest := p.lines - p.ticks; p.ticks > 0 && !p.measured && p.formed > 2 && 4*p.fits >= 3*p.lines && 4*p.formed >= 3*rest {
		return true
	}
	few := p.lines < 8 && len(p.kinds) < p.lines
	return p.lines >= 2 && 10*p.fits >= 9*p.lines && 4*(p.wide+p.drawn) >= p.rows && p.wide+p.drawn > 0 && 3*p.spare <= p.values && (few || 2*len(p.kinds) <= p.lines || 8*p.spare <= p.values)
}

type rowsParser struct {
	document
	text   []byte
	single map[string]single // lines of members and labelled values, by the words of the lines that they are below, and their own
	outer  []outerLine
	row    row
	forms  map[string]*lineForm // of lines, by their marks
	names  [][]byte             // of the columns of a table, which are a line of words
	header *lineHeld            // that line, until the next one shows that it has as many values

	sections *sections
	heads    map[int]bool // the offsets of the lines with ticks, of sections

	place         int             // of the row before
	measured      bool            // what a machine measured is in the text
	lines, fits   int             // lines, and those with a value
	ticks, formed int             // lines with the tick, and those of a form that comes again
	titles        int             // lines of a few words
	drawn         int             // lines of a tree
	rows, wide    int             // lines that are no member, and those with several values
	values, spare int             // values with names, and words that are none
	kinds         map[string]bool // of rows, by their names
}

// lineHeld is a line that is given with the next one.
type lineHeld struct {
	at, indent int
	line       []byte
}

// row is one line.
type row struct {
	kind     []byte
	fields   []field
	spare    [][]byte // other words
	nameless bool     // a value has no name
	marked   bool     // the id is after #
	below    bool     // a line above has the tick, so that it is not the first number
	numbered bool     // a kind with digits at its end is the id: U017, heli_5
	colons   int      // values that are after a colon
}

// listPlace is the name of a place in a list, before the id of a row.
const listPlace = "index"

// field is a value with its name.
type field struct {
	name  []byte
	value []byte
}

// run reads the lines.
func (p *rowsParser) run() {
	p.single, p.kinds, p.forms = map[string]single{}, map[string]bool{}, map[string]*lineForm{}
	state := 0
	p.each(func(at, indent int, line []byte) {
		if _, tick := tickLine(line); p.heads[at] || tick != nil {
			state++
			p.row.below = true
		}
		if p.heads[at] {
			p.outer = p.outer[:0]
			return
		}
		key, parent := p.below(indent, p.row.read(line))
		if parent < 0 {
			parent -= state
		}
		p.count(line, state)
		if one, ok := p.single[key]; (p.row.isMember() || p.row.isLabelled()) && (ok || len(p.single) < maxKinds) {
			p.single[key] = single{parent, one.again || ok && one.parent == parent}
		}
		if len(p.outer) < MaxDepth {
			p.outer = append(p.outer, outerLine{indent: indent, at: at, key: key})
		}
	})
	p.outer, p.drawn, p.row.below = p.outer[:0], 0, p.sections != nil
	p.each(p.line)
	if p.header != nil {
		p.give(p.header.at, p.header.indent, p.header.line)
	}
	p.document.end(len(p.text))
}

// single is where lines of one word and one value are.
type single struct {
	parent int  // the offset of the line that the last one is below, a negative number for each state if there is none
	again  bool // two are below one line
}

// below takes lines off that a line is not below. It returns the words of those that it is below and its own, and the offset of
// the last, -1 if there is none.
func (p *rowsParser) below(indent int, kind []byte) (key string, parent int) {
	for len(p.outer) > 0 && p.outer[len(p.outer)-1].indent >= indent {
		p.outer = p.outer[:len(p.outer)-1]
	}
	key = string(kind[:min(len(kind), maxWord)])
	if n := len(p.outer); n > 0 {
		return p.outer[n-1].key + "/" + key, p.outer[n-1].at
	}
	return key, -1
}

// maxKinds is how many kinds of lines are counted.
const maxKinds = 1 << 16

// maxWord is how many bytes of a word tell kinds of lines apart.
const maxWord = 64

// each gives the lines that are not empty, without blanks around them.
func (p *rowsParser) each(do func(at, indent int, line []byte)) {
	for at := 0; at < len(p.text); {
		begin := at
		var line []byte
		line, at = lineAt(p.text, at)
		indent := indentOf(line)
		if branch := branchLen(line); branch > 0 {
			indent, line = branch, line[branch:]
			p.drawn++
		}
		line = bytes.TrimSpace(line)
		if numbered := len(line) > 1 && line[0] == '#' && line[1]-'0' <= 9; numbered || !isEmpty(line) && !rules.Match(line) || isDrawn(line) || remarked(line) { // #7 Archer
			do(begin, indent, line)
		}
	}
}

// branchLen returns the length of the lines of a tree before a text: "|  `- ". It is 0 if there are none.
func branchLen(line []byte) int {
	rest := bytes.TrimLeft(line, " \t|`+-\\\u2500\u2502\u251c\u2514")
	if n := len(line) - len(rest); bytes.ContainsAny(line[:n], "|`\u2502\u251c\u2514") {
		return n
	}
	return 0
}

// line gives a line, unless it is a row of a table, or may be the names of its columns.
func (p *rowsParser) line(at, indent int, line []byte) {
	head := p.heads[at]
	if !head && p.column(at, line) {
		return
	}
	if p.names = nil; p.header != nil {
		held := *p.header
		p.header = nil
		p.give(held.at, held.indent, held.line)
	}
	if head {
		p.giveHead(line, at)
		return
	}
	if p.row.read(line); len(p.row.fields) == 0 && len(p.row.spare) > 0 {
		p.names = append([][]byte{p.row.kind}, p.row.spare...)
		p.header = &lineHeld{at, indent, line}
		return
	}
	p.give(at, indent, line)
}

// column gives a row of a table, and reports whether a line is one: it has a value for each name.
func (p *rowsParser) column(at int, line []byte) bool {
	list := cellsOf(line, len(p.names))
	if list == nil {
		return false
	}
	p.header = nil
	p.lines, p.fits, p.formed, p.rows, p.wide, p.values = p.lines+1, p.fits+1, p.formed+1, p.rows+1, p.wide+1, p.values+len(list)
	p.kinds["row"] = true
	p.enter([]step{{name: []byte("row"), item: at + 1}}, at)
	for i, name := range p.names {
		p.to.Name(name)
		giveValue(p.to, list[i], at)
	}
	return true
}

// cellsOf returns the values of a row of a table of n columns, nil for another line. At least half of the values are numbers.
func cellsOf(line []byte, n int) (list [][]byte) {
	if n < 3 {
		return nil
	}
	numbers := 0
	for i := 0; i < len(line) && len(list) <= n; {
		end := tokenEnd(line, i)
		if end == i {
			i++
			continue
		}
		list = append(list, line[i:end])
		if line[i] != '"' && isValueBegin(line[i:end]) {
			numbers++
		}
		i = end
	}
	if 2*numbers < len(list) || len(list) != n {
		return nil
	}
	return list
}

// give gives a line.
func (p *rowsParser) give(at, indent int, line []byte) {
	p.lines++
	if name, tick := tickLine(line); tick != nil && indent == 0 && p.sections == nil {
		p.fits++
		p.ticks++
		p.row.below = true
		p.values++
		p.outer = p.outer[:0]
		if p.repeats([]step{{name: name}}, true) {
			p.document.end(at)
		}
		p.enter(nil, at)
		p.to.Name(name)
		p.to.Scalar(Bare, tick)
		return
	}
	r := &p.row
	key, _ := p.below(indent, r.read(line))
	again := p.settle(line)
	var path []step
	if n := len(p.outer); n > 0 {
		path = p.outer[n-1].steps
	}
	if p.values, p.spare = p.values+len(r.fields), p.spare+len(r.spare); len(r.fields) == 0 && len(r.spare) < 4 {
		p.titles++
	}
	if again && len(r.fields) > 0 && !r.has("id#2") && p.counts() && !isStamp(line) && bytes.IndexByte([]byte("@<>+"), line[0]) < 0 { // nor is it a diff
		p.fits++
	}
	if one, ok := p.single[key]; r.isMember() && ok && !one.again || len(path)+2 >= MaxDepth {
		p.enter(path, at)
		p.to.Item(r.kind)
		giveValue(p.to, r.value(), at)
		return
	}
	if p.rows++; len(r.fields) > 2 {
		p.wide++
	}
	kind := bytes.Clone(r.kind)
	if one, ok := p.single[key]; r.isLabelled() && ok && !one.again {
		r.fields[0].name = r.kind
		path = append(path[:len(path):len(path)], step{name: kind[:len(kind):len(kind)]})
	} else if fields := r.fields; p.sections != nil && len(fields) > 1 && string(fields[0].name) == "id" { // a table even with one row
		path = append(path[:len(path):len(path)], step{name: kind[:len(kind):len(kind)]}, step{name: bytes.Clone(fields[0].value)})
	} else {
		path = append(path[:len(path):len(path)], step{name: kind[:len(kind):len(kind)], item: at + 1})
	}
	p.enter(path, at)
	for _, f := range r.fields {
		kind = append(append(kind, ' '), f.name...)
		if info := infoFields(f.value); info != nil && string(f.name) == "name" { // ent 64 "\\classname\\item\\origin\\1 2 3"
			giveInfo(p.to, info, at)
			continue
		}
		p.to.Name(f.name)
		giveValue(p.to, f.value, at)
	}
	if len(r.spare) > 0 {
		p.to.Name([]byte("text"))
		p.to.Scalar(Text, bytes.Join(r.spare, []byte{' '}))
	}
	if len(p.kinds) < maxKinds {
		p.kinds[string(kind)] = true
	}
	p.outer = append(p.outer, outerLine{indent: indent, steps: path, at: at, key: key})
}

// isStamp reports whether a line begins with a time or a date, as lines of logs do.
func isStamp(line []byte) bool {
	line = bytes.TrimLeft(line, "[(")
	n := 0
	for n < len(line) && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	return (n == 2 || n == 4) && n+2 < len(line) && (line[n] == ':' || line[n] == '-' || line[n] == '/') && line[n+1] >= '0' && line[n+1] <= '9'
}

// isMember reports whether a row is one word and one value.
func (r *row) isMember() bool {
	return len(r.fields) == 1 && len(r.spare) == 0 && string(r.fields[0].name) == "id"
}

// isLabelled reports whether a row is values with names before colons. The first name and value may be the kind and its id:
// "Wood: 10  Food: 49", "Player: 1  Gold: 500".
func (r *row) isLabelled() bool {
	return len(r.fields) > 1 && len(r.spare) == 0 && r.colons == len(r.fields) && string(r.fields[0].name) == "id"
}

// counts reports whether the place of a row, if it has one before its id, is the next one, or begins again: a log may have other
// numbers in brackets.
func (p *rowsParser) counts() bool {
	if len(p.row.fields) < 2 || string(p.row.fields[1].name) != listPlace {
		return true
	}
	before := p.place
	place, err := strconv.Atoi(string(withoutZeros(p.row.fields[1].value)))
	p.place = place
	return err == nil && (place <= 1 || place == before+1)
}

// has reports whether a row has a value of a name.
func (r *row) has(name string) bool {
	return slices.ContainsFunc(r.fields, func(f field) bool { return string(f.name) == name })
}

// value returns the value of a member, and the text of a row that is too deep.
func (r *row) value() []byte {
	if len(r.fields) == 0 {
		return bytes.Join(r.spare, []byte{' '})
	}
	return r.fields[0].value
}

// read takes a line apart, and returns its kind.
func (r *row) read(line []byte) (kind []byte) {
	r.kind, r.fields, r.spare, r.nameless, r.marked, r.colons = nil, r.fields[:0], r.spare[:0], false, false, 0
	if isDrawn(line) {
		r.kind, r.fields = []byte("line"), append(r.fields, field{[]byte("text"), line})
		return r.kind
	}
	if r.cells(line) {
		return r.kind
	}
	var name, last []byte // the word before, if no value has it yet, and the name of the value before
	equal := false        // a sign of equality is after that word
	seen := map[string]int{}
	placed := len(line) > 0 && line[0] == '[' // [01] Tank id=0040
	digits := len(line) - len(bytes.TrimLeft(line, "0123456789"))
	timed := digits > 0 && digits+1 < len(line) && line[digits] == ' ' && !r.below && isLetterByte(line[digits+1]) // 100 unit 7
	give := func(n, value []byte) {
		last, name, equal = n, nil, false
		if placed && string(n) == "id" && seen["id"] == 1 && string(r.fields[0].name) == "id" {
			r.fields[0].name, placed = []byte(listPlace), false
			r.fields = slices.Insert(r.fields, 0, field{n, value})
			return
		}
		if seen[string(n)]++; seen[string(n)] > 1 {
			n = strconv.AppendInt(append(bytes.Clone(n), '#'), int64(seen[string(n)]), 10)
		}
		r.fields = append(r.fields, field{n, value})
	}
	for at := 0; at < len(line); {
		end := tokenEnd(line, at)
		if end == at {
			equal = equal || name != nil && (line[at] == '=' || r.numbered && r.kind != nil && colonJoins(line, at))
			at++
			continue
		}
		token := line[at:end]
		isValue := isValueBegin(token)
		if isValue && bytes.HasSuffix(bytes.TrimRight(line[:at], " \t"), []byte{':'}) {
			r.colons++
		}
		at = end
		switch {
		case isValue && name == nil && token[0] == '"':
			give([]byte("name"), token)
		case isValue && name == nil && last == nil:
			give([]byte("id"), token)
		case isValue && name == nil:
			if isPlaced(last) {
				last, r.nameless = []byte("value"), true
			}
			give(last, token)
		case isValue && r.kind == nil && !equal && r.numbered && endsWithDigit(name) && at < len(line): // heli_5 12.5 30.2 HP:98
			r.kind = name
			give([]byte("value"), token)
		case isValue && r.kind == nil && !equal && (seen["id"] == 0 || timed):
			r.kind = name
			r.marked = bytes.HasSuffix(line[:end-len(token)], []byte("#"))
			give([]byte("id"), token)
		case isValue || name != nil && equal:
			give(name, token)
		case r.kind == nil && name != nil: // the first of several words
			r.kind, name = name, token
		default:
			r.other(name)
			name = token
		}
	}
	r.other(name)
	if seen["id"] == 0 {
		r.number()
	}
	if r.kind == nil && len(r.fields) == 1 && len(r.spare) == 0 && !isPlaced(r.fields[0].name) { // gold=500
		r.kind, r.fields[0].name = r.fields[0].name, []byte("id")
	}
	if r.kind == nil {
		r.kind = []byte("line")
	}
	return r.kind
}

// colonJoins reports whether a mark is a colon between two words, AI:PATROL.
func colonJoins(line []byte, at int) bool {
	return line[at] == ':' && at > 0 && isWordByte(line[at-1]) && at+1 < len(line) && isLetterByte(line[at+1])
}

func endsWithDigit(word []byte) bool { return len(word) > 0 && word[len(word)-1]-'0' <= 9 }

// number takes the id from the end of the kind, if kinds have ids there.
func (r *row) number() {
	short := bytes.TrimRight(r.kind, "0123456789")
	if !r.numbered || len(short) == len(r.kind) || len(r.fields) < 2 {
		return
	}
	id := withoutZeros(r.kind[len(short):])
	if word := bytes.TrimRight(short, "_"); len(word) > 0 && len(word) < len(short) {
		short, id = word, r.kind
	}
	r.fields = slices.Insert(r.fields, 0, field{[]byte("id"), id})
	r.kind = short
}

// other takes a word that no value has: the kind, if there is none before, else text.
func (r *row) other(word []byte) {
	switch {
	case word == nil:
	case r.kind == nil:
		r.kind = word
	default:
		r.spare = append(r.spare, word)
	}
}

// isValueBegin reports whether a token is a value rather than a word.
func isValueBegin(token []byte) bool {
	if c := token[0]; (c == '-' || c == '+') && len(token) > 1 {
		token = token[1:]
	}
	return token[0] >= '0' && token[0] <= '9' || token[0] == '"'
}

// tokenEnd returns where a word, a number or a text between quotes ends that begins at a place. It is the place itself where there is a
// mark.
func tokenEnd(line []byte, at int) int {
	if line[at] == '"' {
		if n := bytes.IndexByte(line[at+1:], '"'); n >= 0 {
			return at + n + 2
		}
		return at
	}
	end := at
	if (line[at] == '-' || line[at] == '+') && at+1 < len(line) && line[at+1] >= '0' && line[at+1] <= '9' && (at == 0 || bytes.IndexByte([]byte(" \t=:,(["), line[at-1]) >= 0) {
		end++
	}
	for end < len(line) && (isWordByte(line[end]) || end > at && bytes.IndexByte([]byte(".+-'"), line[end]) >= 0 && end+1 < len(line) && joins(line, end)) {
		end++
	}
	return end
}

// joins reports whether a mark joins what is on both sides of it: 1.5, 1e-7, pos.x, low-hp.
func joins(line []byte, at int) bool {
	next := line[at+1]
	switch line[at] {
	case '+', '-':
		exponent := line[at-1]|0x20 == 'e' && at > 1 && line[at-2] >= '0' && line[at-2] <= '9'
		return exponent && next >= '0' && next <= '9' || line[at] == '-' && isLetterByte(line[at-1]) && isLetterByte(next)
	}
	return isWordByte(next)
}

func isLetterByte(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

func isWordByte(c byte) bool { return isLetterByte(c) || c >= '0' && c <= '9' || c == '_' }
