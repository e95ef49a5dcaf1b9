package notation

import (
	"bytes"
	"slices"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// headedNotation is a report in blocks with headings, as a program prints it for people. Each block has pairs of a name and a
// value, or a table with the names of its columns above:
//
//	[GLOBALS]
//	tick     = 152
//	rng_seed = 0xF2D1A3C8
//
//	[ENTITIES]
//	 eid  class   hp        px
//	----------------------------
//	 0400 knight 856   42.7559
//
// A table may lack a name above the names of its rows. A row may also have its values with their names, after its name in
// quotes, perhaps with its place before, or after its place and kind:
//
//	-- SHIPS (2) ----------------------------
//	[ 0] "Old Tom"  pos=( 12, 40) hull= 94/100  hold: empty
//	[01] SLOOP  id=0040 pos=( 12, 40) hull= 94/100
//	-- STOCK --
//	             coal   rum
//	Custom House   40     3
//
// Lines before the first heading are passed over, unless they are pairs.
func headedNotation() Notation {
	return Notation{Name: "headed", Repeats: true, Title: "blocks with headings", Extensions: []string{".txt", ".dump", ".state"},
		Lines: true, Sniff: sniffHeaded, Parse: func(text []byte, to Sink) error {
			p := headedParser{to: to}
			p.run(text)
			return nil
		}}
}

// headings are the headings of headed: [NAME], == NAME ==, --- NAME ---, ### NAME.
var headings = lazyregexp.New(`^(?:\[ *([A-Za-z][\w .-]{0,40}?) *\]|(?:={2,}|-{2,}|#{2,}|\*{2,}) *([A-Za-z][\w .-]{0,40}?) *(?:\(\d{1,9}\) *)?(?:[=#*-]{2,})?):?$`)

// rules are lines of a table that only divide it.
var rules = lazyregexp.New(`^[-=+|_ \t]{3,}$`)

// sniffHeaded reports whether a text has several headed, one of them with a table, and nearly nothing else.
func sniffHeaded(head []byte, whole bool) bool {
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	p := headedParser{to: discard{}}
	p.run(head)
	return p.headings > 1 && p.ticks < fewestSections && p.rows > 0 && 20*(p.odd-1) <= p.lines && p.odd < p.rows
}

// headedParser reads one text.
type headedParser struct {
	to    Sink
	names [][]byte // of the columns of a table
	block []byte   // the name of the current one, nil before the first
	open  bool     // its map is open
	fresh bool     // its first row comes, and the names are indented
	short bool     // the names lack one for the first column, the names of the rows
	words row      // of a line with names and values
	row   int      // rows of its table

	lines, odd, rows, headings int // in blocks; odd ones have no meaning
	ticks                      int // headings with a tick, as in a log
}

func (p *headedParser) run(text []byte) {
	p.to.BeginMap(0)
	for at := 0; at < len(text); {
		begin := at
		var line []byte
		line, at = lineAt(text, at)
		p.line(begin, bytes.TrimSpace(line), indentOf(line) > 0)
	}
	p.end(len(text))
	p.to.End(len(text))
}

// line takes a line.
func (p *headedParser) line(at int, line []byte, indented bool) {
	if m := headings.FindSubmatch(line); m != nil {
		p.end(at)
		p.headings++
		if words := bytes.FieldsFunc(m[2], func(c rune) bool { return c == ' ' || c == '_' }); len(words) > 1 && isTick(words[len(words)-2]) {
			p.ticks++
		}
		p.block, p.names, p.row = append(bytes.Clone(m[1]), m[2]...), nil, 0
		return
	}
	if len(line) == 0 || rules.Match(line) || line[0] == ';' {
		if len(line) == 0 && p.row > 0 { // another table may follow
			p.names = nil
		}
		return
	}
	if p.block != nil {
		p.lines++
	}
	cells := bytes.Fields(bytes.ReplaceAll(line, []byte("|"), []byte(" ")))
	key, value, pair := iniPair(line)
	if leader := bytes.TrimRight(key, "."); len(key)-len(leader) > 1 { // turn.....: 5
		key = bytes.TrimSpace(leader)
	}
	if len(cells) == 3 && string(cells[1]) == "@" && isValueBegin(cells[2]) { // coal @ 20
		key, value, pair = cells[0], cells[2], true
	}
	switch {
	case p.names != nil && (p.fresh || p.short) && len(cells) > len(p.names):
		n := len(cells) - len(p.names)
		if p.fresh = false; slices.ContainsFunc(cells[:n], isValueBegin) || !areNumbers(cells[n:]) {
			p.odd++
			break
		}
		p.short = true
		p.cells(at, append([][]byte{bytes.Join(cells[:n], []byte{' '})}, cells[n:]...))
	case p.names != nil && !p.short && len(cells) == len(p.names):
		p.fresh = false
		p.cells(at, cells)
	case p.block != nil && p.names == nil && p.named(line):
		p.fields(at, line)
	case pair && isName(key) && len(value) > 0:
		p.begin(at)
		p.to.Name(key)
		p.to.Scalar(Bare, value)
	case p.block != nil && len(cells) > 1 && areNames(cells):
		p.names, p.fresh, p.short = cells, indented, false
	case p.block != nil:
		p.odd++
	}
}

// begin opens the map of a block. Values before the first one are members of the whole.
func (p *headedParser) begin(at int) {
	if p.block == nil || p.open {
		return
	}
	p.open = true
	p.to.Item(p.block)
	p.to.BeginMap(at)
}

// end closes it.
func (p *headedParser) end(at int) {
	if p.open {
		p.to.End(at)
	}
	p.open = false
}

// cells gives a row of a table. A block that is a table is the list of its rows.
func (p *headedParser) cells(at int, cells [][]byte) {
	p.beginRow(at)
	names := p.names
	if len(cells) > len(names) {
		names = append([][]byte{[]byte("name")}, names...)
	}
	for i, cell := range cells {
		p.to.Name(names[i])
		p.to.Scalar(Bare, cell)
	}
	p.to.End(at)
}

// beginRow begins the map of a row.
func (p *headedParser) beginRow(at int) {
	p.rows++
	p.row++
	name := p.block
	if p.open {
		name = []byte("row")
	}
	p.to.Item(name)
	p.to.BeginMap(at)
}

// namedRow is how a row begins that has a name in quotes, perhaps after its place, or its place and a word: "Old Tom", [ 0] "Old Tom",
// [00] TANK, House[0]:
var namedRow = lazyregexp.New(`^(?:(?:\[ *\d{1,9}\] *)?"[^"]{1,80}"|\[ *\d{1,9}\] *[A-Za-z_]\w{0,40}|[A-Za-z_]\w{0,40} ?\[ *\d{1,9}\] ?:)\s`)

// named reads a row with a name or place and names of values, and reports whether a line is one.
func (p *headedParser) named(line []byte) bool {
	if !namedRow.Match(line) || bytes.IndexByte(line, '=') < 0 {
		return false
	}
	p.words.read(line)
	return len(p.words.fields) > 2
}

// fields gives such a row.
func (p *headedParser) fields(at int, line []byte) {
	p.beginRow(at)
	if kind := p.words.kind; line[0] == '[' && bytes.HasPrefix(bytes.TrimLeft(line[bytes.IndexByte(line, ']')+1:], " "), kind) {
		p.to.Name([]byte("kind"))
		p.to.Scalar(Text, kind)
	}
	for i, f := range p.words.fields {
		if i == 0 && string(f.name) == "id" && !p.words.has(listPlace) {
			f.name = []byte(listPlace)
		}
		p.to.Name(f.name)
		giveValue(p.to, f.value, at)
	}
	if len(p.words.spare) > 0 {
		p.to.Name([]byte("text"))
		p.to.Scalar(Text, bytes.Join(p.words.spare, []byte{' '}))
	}
	p.to.End(at)
}

// areNumbers reports whether all cells are numbers.
func areNumbers(cells [][]byte) bool {
	return !slices.ContainsFunc(cells, func(c []byte) bool { return !isNumber(c) })
}

// areNames reports whether all cells may be names of columns: none is a number, and no two are the same.
func areNames(cells [][]byte) bool {
	seen := map[string]bool{}
	for _, cell := range cells {
		if seen[string(cell)] || isValueBegin(cell) || bytes.IndexByte([]byte(".,;:!?"), cell[len(cell)-1]) >= 0 {
			return false
		}
		seen[string(cell)] = true
	}
	return true
}
