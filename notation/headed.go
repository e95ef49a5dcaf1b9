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
// A block may also be bytes in hexadecimal after their offsets, 0000: 90 7d 8f 0c, or a map that is drawn with marks, ##..#.*. Headings
// with the tick begin another state each: ==== STATE tick 10 (2.3 ms) ====. Lines before the first heading are passed over, unless
// they are pairs.
func headedNotation() Notation {
	return Notation{Name: "headed", Repeats: true, Title: "blocks with headings", Extensions: []string{".txt", ".dump", ".state"},
		Lines: true, Sniff: sniffHeaded, Parse: func(text []byte, to Sink) error {
			p := headedParser{to: to}
			p.run(text)
			return nil
		}}
}

// headings are the headings of headed: [NAME], == NAME ==, --- NAME ---, ### NAME.
var headings = lazyregexp.New(`^(?:\[ *([A-Za-z][\w .-]{0,40}?) *\](?: *\(\d{1,9}\)| +([A-Za-z_]\w{0,16}) ?[=:] ?(\d{1,9}))?|(?:={2,}|-{2,}|#{2,}|\*{2,}) *([A-Za-z][\w .-]{0,40}?) *(?:\(\d{1,9}\) *)?(?:[=#*-]{2,})?):?$`)

// banners are headings with the tick, perhaps with more after it. hexRows are bytes after their offset.
var (
	banners = lazyregexp.New(`^(?:={2,}|-{2,}|#{2,}|\*{2,}) *(?:[A-Za-z][\w.-]*[ :=]{1,3}){0,4}?([A-Za-z_]+)[ :=#]{1,3}([0-9]{1,18})((?:[ ,;:]{1,3}[A-Za-z_]\w{0,30} ?[=:] ?[^\s=:,;]{1,40})*)(?: *\([0-9.]{1,12} ?[A-Za-z]{0,8}\))? *(?:[=#*-]{2,})?$`)
	hexRows = lazyregexp.New(`^([0-9a-fA-F]{4,8}):? +((?:[0-9a-fA-F]{2} +){0,31}[0-9a-fA-F]{2})(?: +\|.*\|)?$`)
)

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
	return p.headings+min(p.states, 1) > 1 && p.rows > 0 && 20*(p.odd-1) <= p.lines && p.odd < p.rows
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
	wide  int      // bytes of the rows of a map, 0 if it is none

	states int  // headings with the tick
	begun  bool // the map of the state is open

	lines, odd, rows, headings int // in blocks; odd ones have no meaning
}

func (p *headedParser) run(text []byte) {
	for at := 0; at < len(text); {
		begin := at
		var line []byte
		line, at = lineAt(text, at)
		p.line(begin, bytes.TrimSpace(line), indentOf(line) > 0)
	}
	p.finish(len(text))
}

// finish ends the state.
func (p *headedParser) finish(at int) {
	if p.end(at); p.begun {
		p.to.End(at)
	}
	p.begun, p.block, p.names, p.row, p.wide = false, nil, nil, 0, 0
}

// start begins the map of a state.
func (p *headedParser) start(at int) {
	if !p.begun {
		p.to.BeginMap(at * min(p.states, 1)) // the only one is the whole text
	}
	p.begun = true
}

// banner begins a state with its tick, and reports whether a line does.
func (p *headedParser) banner(at int, line []byte) bool {
	m := banners.FindSubmatch(line)
	if m == nil || !isTick(m[1]) && !isTick(m[1][1+bytes.LastIndexByte(m[1], '_'):]) || p.states == 0 && p.headings > 0 {
		return false
	}
	p.states++
	p.finish(at)
	p.start(at)
	p.to.Name(m[1])
	p.to.Scalar(Bare, m[2])
	givePairs(p.to, m[3], at)
	return true
}

// line takes a line.
func (p *headedParser) line(at int, line []byte, indented bool) {
	if p.banner(at, line) {
		return
	}
	if m := headings.FindSubmatch(line); m != nil {
		p.end(at)
		p.headings++
		p.block, p.names, p.row, p.wide = append(bytes.Clone(m[1]), m[4]...), nil, 0, 0
		if len(m[2]) > 0 { // [units] alive=6
			p.start(at)
			p.to.Name(slices.Concat(p.block, []byte{' '}, m[2]))
			p.to.Scalar(Bare, m[3])
		}
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
	hex := hexRows.FindSubmatch(line)
	switch {
	case p.block != nil && p.names == nil && hex != nil:
		p.begin(at)
		p.to.Name(hex[1])
		p.to.Scalar(Text, hex[2])
	case p.block != nil && p.names == nil && len(cells) == 1 && (p.wide == len(line) || p.wide == 0 && isDrawn(line)):
		p.wide = len(line)
		p.beginRow(at)
		p.to.Name([]byte("row"))
		p.to.Scalar(Text, line)
		p.to.End(at)
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
	case pair && len(value) > 0 && (isName(key) || p.block != nil && isNumber(value) && isName(bytes.ReplaceAll(key, []byte{' '}, []byte{'_'}))):
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
	p.start(at)
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
	p.start(at)
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
