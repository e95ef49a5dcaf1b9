package notation

import "bytes"

// indentedNotation is lines of a name and a value, indented below the line that they belong to, as games print their states:
//
//	GameState object.
//	  num_ships: 2
//	  ship 0 position: 320.0, 240.0
//
// A name with a number in it is a path: ship, 0, position. A line without a value begins a map, and so does one with fields,
// such as unit 17: hp=3 x=1.5. All names are items, since some writers repeat them.
func indentedNotation() Notation {
	return Notation{Name: "indented", Repeats: true, Title: "indented names and values", Extensions: []string{".txt", ".log", ".dump", ".state"},
		Lines: true, Sniff: sniffIndented, Parse: func(text []byte, to Sink) error {
			p := indentedParser{text: text, document: document{to: to}}
			return p.run(true)
		}}
}

// sniffIndented reports whether most lines have a name and a value, half of them a number, and a quarter is below another
// line or has a number in its name. Where nearly all are, a quarter of numbers is enough.
func sniffIndented(head []byte, whole bool) bool {
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	p := indentedParser{text: head, document: document{to: discard{}}}
	p.run(false)
	perNumber := 2 // one in so many lines must have a number
	if p.nested >= p.pairs {
		perNumber = 4
	}
	if 2*p.busy >= p.pairs && sniffTextRows(head, true) { // unit 7: hp 41, at (3, 4), idle
		return false
	}
	return p.pairs >= 3 && 2*p.pairs >= p.lines && 20*p.faults < p.lines && perNumber*p.numbers >= p.pairs && 4*p.nested >= p.pairs && p.series < p.pairs
}

type indentedParser struct {
	document
	text  []byte
	outer []outerLine // the lines that the current one may belong to
	path  []step

	lines, pairs, numbers, nested, faults int
	busy                                  int // pairs with words and numbers for a value
	series                                int // lines with a name, a number and nothing else before their value
}

// outerLine is a line with lines below it.
type outerLine struct {
	indent int
	steps  []step // the path of its map
	at     int    // its offset, in rows
	key    string // the words of the lines that it is below and its own, in rows
}

// run reads the lines. It stops at the first that does not fit, or counts these.
func (p *indentedParser) run(stop bool) error {
	for at := 0; at < len(p.text); {
		begin := at
		var line []byte
		line, at = lineAt(p.text, at)
		indent := indentOf(line)
		line = bytes.TrimSpace(line)
		if isEmpty(line) {
			continue
		}
		p.lines++
		if p.line(line, indent, begin, p.indentAfter(at) > indent) {
			continue
		}
		if p.faults++; !stop {
			continue
		}
		if at == len(p.text) && p.text[at-1] != '\n' {
			return cut(begin, "a line")
		}
		return fault(begin, "%.60q, expected a name and a value", line)
	}
	p.document.end(len(p.text))
	return nil
}

// indentOf returns the width of the blanks at the begin of a line.
func indentOf(line []byte) (width int) {
	for _, c := range line {
		switch c {
		case ' ':
			width++
		case '\t':
			width = width/8*8 + 8
		default:
			return width
		}
	}
	return width
}

// isEmpty reports whether a line has nothing but a comment or brackets.
func isEmpty(line []byte) bool {
	return isRemark(line) || len(bytes.Trim(line, "{}[](),;")) == 0
}

// indentAfter returns the width of the blanks before the next line that is not empty.
func (p *indentedParser) indentAfter(at int) int {
	for at < len(p.text) {
		var line []byte
		if line, at = lineAt(p.text, at); !isEmpty(bytes.TrimSpace(line)) {
			return indentOf(line)
		}
	}
	return 0
}

// line reads a line, and reports whether it fits. More reports whether lines below it follow.
func (p *indentedParser) line(line []byte, indent, at int, more bool) bool {
	for len(p.outer) > 0 && p.outer[len(p.outer)-1].indent >= indent {
		p.outer = p.outer[:len(p.outer)-1]
	}
	p.path = p.path[:0]
	if len(p.outer) > 0 {
		p.path = append(p.path, p.outer[len(p.outer)-1].steps...)
		p.nested++
	} else if len(p.tick) > 0 && indent > 0 {
		p.nested++
	} else if name, tick := tickLine(line); tick != nil {
		p.tickLine(name, tick, at)
		return true
	}
	name, value, pair := splitPair(line)
	fields := fieldsAt(line)
	if fields > 0 {
		name, pair = bytes.TrimRight(line[:fields], " \t:=-"), false
	}
	if !isKey(name) {
		return false
	}
	base := len(p.path)
	if p.path = numberedSteps(name, p.path); len(p.path) == base || len(p.path)+1 >= MaxDepth {
		return false
	}
	if isSeries(p.path) && isTick(p.path[0].name) {
		return false
	}
	if len(p.path) > base+1 {
		p.nested++
	}
	if pair && isSeries(p.path) {
		p.series++
	}
	if pair || fields > 0 {
		p.pairs++
		if isNumeric(value) || fields > 0 {
			p.numbers++
		} else if bytes.ContainsAny(value, " \t") && bytes.ContainsAny(value, "0123456789") {
			p.busy++
		}
	}
	if last := len(p.path) - 1; pair && !more {
		p.enter(p.path[:last], at)
		p.to.Item(p.path[last].name)
		giveValue(p.to, value, at)
		return true
	} else if len(p.path) == base+1 {
		p.path[last].item = at + 1
	}
	p.enter(p.path, at)
	if pair {
		p.to.Name([]byte("#value"))
		giveValue(p.to, value, at)
	}
	for rest := line[max(fields, 0):]; fields > 0 && len(rest) > 0; {
		var field []byte
		field, rest = nextField(rest)
		key, of, _ := bytes.Cut(field, []byte("="))
		p.to.Item(key)
		giveValue(p.to, of, at)
	}
	if more {
		p.outer = append(p.outer, outerLine{indent: indent, steps: append([]step(nil), p.path...)})
	}
	return true
}

// tickLine gives a line with nothing but the tick, to which the lines below it do not belong.
func (p *indentedParser) tickLine(name, tick []byte, at int) {
	p.path = append(p.path, step{name: name})
	if p.repeats(p.path, true) {
		p.document.end(at)
	}
	p.enter(nil, at)
	p.to.Name(name)
	p.to.Scalar(Bare, tick)
	p.pairs++
	p.numbers++
}

// splitPair returns the name and the value in a line. Without a value the line begins a map. Without a name it does not fit.
func splitPair(line []byte) (name, value []byte, pair bool) {
	n := bytes.IndexAny(line, ":=")
	for n >= 0 && line[n] == ':' && n+1 < len(line) && line[n+1] != ' ' && line[n+1] != '\t' {
		next := bytes.IndexAny(line[n+1:], ":=")
		if next < 0 {
			n = -1
			break
		}
		n += 1 + next
	}
	if n < 0 {
		return bytes.TrimRight(line, ".:{[ \t"), nil, false
	}
	name, value = bytes.TrimRight(line[:n], " \t"), bytes.TrimLeft(line[n+1:], " \t")
	if len(value) == 0 || len(value) == 1 && bytes.IndexByte([]byte("{[("), value[0]) >= 0 {
		return name, nil, false
	}
	if value[0] == '=' || value[len(value)-1] == ';' || value[len(value)-1] == '{' { // a line of a program
		return nil, nil, false
	}
	return name, value, true
}

// fieldsAt returns where the fields in a line such as "unit 17: hp=3 x=1.5" begin, 0 if it has none after a name.
func fieldsAt(line []byte) int {
	begin, count := 0, 0
	for rest := line; len(rest) > 0; {
		at := len(line) - len(rest)
		var field []byte
		field, rest = nextField(rest)
		n := bytes.IndexByte(field, '=')
		if n <= 0 || n == len(field)-1 || !isKey(field[:n]) || field[n+1] == '=' {
			count = 0
			continue
		}
		if count++; count == 1 {
			begin = at
		}
	}
	if count == 0 || bytes.IndexByte(line[:begin], '=') >= 0 || count == 1 && bytes.IndexByte(line[:begin], ':') < 0 {
		return 0
	}
	return begin
}

// nextField returns the text up to the next blank outside brackets, without a comma at its end, and what is left.
func nextField(line []byte) (field, rest []byte) {
	n, open := 0, 0
	for ; n < len(line) && (open > 0 || line[n] != ' ' && line[n] != '\t'); n++ {
		switch line[n] {
		case '(', '[':
			open++
		case ')', ']':
			open--
		}
	}
	return bytes.TrimRight(line[:n], ",;"), bytes.TrimLeft(line[n:], " \t")
}

// isSeries reports whether a path is a name and a number.
func isSeries(path []step) bool {
	if len(path) != 2 || path[0].item > 0 {
		return false
	}
	_, n := digits(path[1].name, 10, 18)
	return n == len(path[1].name)
}

// isKey reports whether a text may be a name: a few words of letters and digits.
func isKey(name []byte) bool {
	if len(name) == 0 || len(name) > 64 || bytes.Count(name, []byte(" ")) > 5 || !isNameStart(name[0]) && name[0]-'0' > 9 && name[0] != '$' {
		return false
	}
	for i, c := range name {
		of := c == ',' && i > 0 && i+1 < len(name) && name[i-1]-'0' <= 9 && name[i+1]-'0' <= 9 // a place: food 0,28
		if !of && !isNameStart(c) && c-'0' > 9 && bytes.IndexByte([]byte(" .-_#[]/$%\t"), c) < 0 {
			return false
		}
	}
	return true
}

// isPlace reports whether a word is a number or several with commas between them.
func isPlace(word []byte) bool {
	for part := range bytes.SplitSeq(word, []byte(",")) {
		if _, n := digits(part, 10, 18); n == 0 || n < len(part) {
			return false
		}
	}
	return true
}

// numberedSteps appends the path in a name: "ship 0 position", "ship[0].position" and "ship #0 position" are three steps.
func numberedSteps(name []byte, steps []step) []step {
	const between = " \t[]#"
	begin := 0 // of the words before a number
	for i := 0; i < len(name); {
		n := bytes.IndexAny(name[i:], between)
		if n < 0 {
			n = len(name) - i
		}
		if n > 0 && isPlace(name[i:i+n]) {
			if words := bytes.Trim(name[begin:i], between+"."); len(words) > 0 {
				steps = append(steps, step{name: words})
			}
			steps = append(steps, step{name: name[i : i+n]})
			begin = i + n
		}
		i += n + 1
	}
	if words := bytes.Trim(name[min(begin, len(name)):], between+"."); len(words) > 0 {
		steps = append(steps, step{name: words})
	}
	return steps
}
