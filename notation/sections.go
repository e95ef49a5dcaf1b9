package notation

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// sections is a log in which a line with the tick is followed by lines of things and their values, up to the next such line:
//
//	[12:00:01] T00253 crc=34323428 rng=be31d25c n=6
//	[12:00:01]   U001 ogre hp= 32 pos=( 1514,  689) cd=0
//	[mem] pool 0x0c0d17ea8ac7 1725 KB used
type sections struct {
	tag   []byte          // of the program, that all lines have: [sim]
	head  string          // what precedes the tick, with one blank for several
	name  string          // of the tick
	forms map[string]bool // of the lines that are read; others are passed over
	below bool            // as are all lines with more indentation than a head
	// block is set if the lines of a section have indentation and are right below its head. Lines after another one are
	// something else, such as the call stack of the head or of an error.
	block bool
	// join is set if a thing has a line, and its values have lines with more indentation below.
	join bool
	// fractions are the names of values that have a decimal point in some log. Another log may have a comma there.
	fractions map[string]bool
}

// OfSections is the name of the notation of such logs.
const OfSections = "log of rows"

// stampBegin finds the time and the level before a line of a log.
var stampBegin = lazyregexp.New(`^[\[(<]?(?:\d{4}[-/.]\d\d[-/.]\d\d[T ])?\d\d?:\d\d(?::\d\d)?(?:[.,]\d+)?Z?[\])>]?(?: ?\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR)\]?:?)? ?`)

// Sections returns the notation of such logs, as far as samples of them show it; nil for others. The ticks grow, and the same
// things come again after each. Lines of one form are read if all logs have them.
func Sections(samples ...[]byte) *Notation {
	for _, s := range headsOf(samples[0]) {
		joined := &sections{tag: s.tag, head: s.head, name: s.name, join: true}
		if !s.fits(samples) {
			s = joined
		}
		if s != joined || s.fits(samples) {
			return &Notation{Name: OfSections, Title: "lines of words and values below a tick", Lines: true, Repeats: true, Parse: s.parse}
		}
	}
	return nil
}

// fits reports whether samples are such a log, and learns its lines.
func (s *sections) fits(samples [][]byte) bool {
	return !slices.ContainsFunc(samples, func(sample []byte) bool {
		return bytes.IndexByte(sample, 0) >= 0 || !s.learn(s.joined(sample[:bytes.LastIndexByte(sample, '\n')+1]))
	})
}

// joined returns a text in which the values of a thing follow it on its line, if they have lines with more indentation below.
//
//	cart Ash
//	  speed: 0.5
func (s *sections) joined(text []byte) []byte {
	if !s.join {
		return text
	}
	const longest, most = 40, 64
	text = bytes.Clone(text)
	thing, end, lines := -1, 0, 0 // the indentation of a thing, where its last line ends, and how many it has
	for at := 0; at < len(text); {
		begin := at
		var line []byte
		line, at = lineAt(text, at)
		line = bytes.TrimRight(line, "\r\n")
		rest := s.unstamped(line)
		word := bytes.TrimSpace(rest)
		from := begin + len(bytes.TrimRight(line, " \t")) - len(word)
		switch indent := indentOf(rest); {
		case len(word) == 0:
			thing = -1
		case thing >= 0 && indent > thing && lines < most:
			for i := end; i < from; i++ {
				text[i] = ' '
			}
			end, lines = from+len(word), lines+1
		default:
			if thing, end, lines = -1, from+len(word), 0; len(word) <= longest && !s.isHead(rest) {
				thing = indent
			}
		}
	}
	return text
}

// fewestSections is how many heads a log has at least.
const fewestSections = 3

// headsOf returns what may be the heads of a log: lines with the same text before a number that grows, by regular steps.
func headsOf(sample []byte) (out []*sections) {
	type run struct {
		replays
		step        int64
		count, even int
		broken      bool
	}
	runs := map[string]*run{}
	var order []string
	tag := tagOf(sample)
	for line := range bytes.Lines(sample) {
		line = bytes.TrimPrefix(unstamped(line), tag)
		head, tick, _ := headOf(unstaged(line))
		if tick == nil || stageOf(line) == predicted {
			continue
		}
		n, err := strconv.ParseInt(string(tick), 10, 64)
		r := runs[string(head)]
		if r == nil {
			if len(runs) == maxKinds {
				break
			}
			r = &run{}
			runs[string(head)], order = r, append(order, string(head))
		}
		r.broken = r.broken || err != nil
		step := n - r.last
		if !r.next(n) && r.count > 1 && step == r.step {
			r.even++
		}
		r.step = step
		r.count++
	}
	for _, head := range order {
		if r := runs[head]; !r.broken && (!r.back || r.later()) && r.count >= fewestSections && 2*r.even >= r.count-2 {
			out = append(out, &sections{tag: tag, head: head, name: "tick"})
		}
	}
	return out
}

// unstamped returns a line without its time and level, and without its end.
func unstamped(line []byte) []byte {
	line = bytes.TrimRight(line, "\r\n \t")
	if len(line) > 0 && (line[0]-'0' <= 9 || bytes.IndexByte([]byte("[(<"), line[0]) >= 0) {
		line = line[len(stampBegin.FindString(string(line[:min(len(line), 48)]))):]
	}
	return line
}

// unstamped returns a line without its time, level and tag, without its end, and without the stage of a tick.
func (s *sections) unstamped(line []byte) []byte {
	return unstaged(bytes.TrimPrefix(unstamped(line), s.tag))
}

// unstaged returns a line without the word for the stage of its tick before it: [predicted] frame 7.
func unstaged(line []byte) []byte {
	word, rest, _ := bytes.Cut(line, []byte{' '})
	short := bytes.Trim(word, "[](){}<>:")
	head, tick, _ := headOf(rest)
	if tick == nil || len(short) == len(word) && !isTick(head) || stageOf(short) == noStage {
		return line
	}
	return rest
}

// tagOf returns the tag with the name of the program or a part of it that all lines begin with, "[sim] ", nil if there is none.
func tagOf(sample []byte) (tag []byte) {
	const longest = 24
	for line := range bytes.Lines(sample) {
		line = unstamped(line)
		if tag == nil {
			end := bytes.IndexAny(line, " \t")
			if end < 2 || end > longest || bytes.IndexByte([]byte("]:>"), line[end-1]) < 0 || bytes.ContainsAny(line[:end], "0123456789=") {
				return nil
			}
			tag = bytes.Clone(line[:end+1])
		}
		if len(line) > 0 && !bytes.HasPrefix(line, tag) {
			return nil
		}
	}
	return tag
}

// headOf returns the text before the first number of a line without indentation, that number, and what follows it.
func headOf(line []byte) (head, tick, rest []byte) {
	const longest = 40
	n := bytes.IndexAny(line, "0123456789")
	if n <= 0 || n > longest || indentOf(line) > 0 || bytes.IndexByte([]byte("-.,:"), line[n-1]) >= 0 {
		return nil, nil, nil
	}
	end := n
	for end < len(line) && line[end]-'0' <= 9 {
		end++
	}
	if end-n > 18 || end < len(line) && (isWordByte(line[end]) || end+1 < len(line) && line[end] == '.' && line[end+1]-'0' <= 9) || bytes.HasSuffix(line[:n], []byte("0x")) {
		return nil, nil, nil
	}
	return bytes.TrimSpace(line[:n]), line[n:end], line[end:]
}

// learn finds the forms of lines that follow the heads.
func (s *sections) learn(sample []byte) bool {
	if words := bytes.FieldsFunc([]byte(s.head), func(c rune) bool { return c < 0x80 && !isLetterByte(byte(c)) }); len(words) > 0 && isTick(words[len(words)-1]) {
		s.name = string(bytes.ToLower(words[len(words)-1]))
	}
	type seen struct {
		sections, last, lines, indented int
		record                          bool
		again                           int // lines of things that are in the section above too
		events
	}
	if s.fractions == nil {
		s.fractions = map[string]bool{}
	}
	before := s.block
	if s.block = s.hasBlocks(sample); s.forms != nil && s.block != before {
		return false
	}
	forms := map[string]*seen{}
	heads, body := 0, 0
	things := map[string]int{} // the last section of each
	row, names := row{numbered: true, below: true}, 0
	var tick uint64 // of the last head
	s.each(sample, func(line []byte, head bool) {
		if head {
			_, number, _ := headOf(line)
			heads++
			names, tick = 0, parsed(number)
			return
		}
		if heads == 0 {
			return
		}
		form, thing := formOf(&row, line, &names)
		eachFraction(line, func(name []byte, mark int) {
			if line[mark] == '.' && len(s.fractions) < maxKinds {
				s.fractions[string(name)] = true
			}
		})
		body++
		f := forms[form]
		if f == nil {
			if len(forms) == maxKinds {
				return
			}
			f = &seen{record: thing != "", events: events{all: true}}
			forms[form] = f
		}
		if f.lines++; indentOf(line) > 0 {
			f.indented++
		}
		f.count(line, tick)
		if f.last < heads {
			f.sections, f.last = f.sections+1, heads
		}
		if thing != "" {
			if things[thing] >= heads-1 && heads > 1 {
				f.again++
			}
			things[thing] = heads
		}
	})
	first, known := s.forms == nil, s.forms
	s.forms = map[string]bool{}
	lines, records, indented, again := 0, 0, 0, 0
	for name, f := range forms {
		if 10*(f.sections+1) >= 9*heads && (first || known[name]) && (!f.all || 2*f.between < f.lines) {
			s.forms[name] = true
			if lines += f.lines; f.record {
				records, indented, again = records+f.lines, indented+f.indented, again+f.again
			}
		}
	}
	s.below = (first || s.below) && 10*indented > 9*records
	return heads >= fewestSections && records > 0 && records >= heads && 2*lines >= body && 2*records >= lines && 3*again >= 2*(records-records/heads)
}

// events is whether the lines of a form are what happened between two heads, such as orders, and not a part of the state
// at the first: all have their own tick, from the tick of the head above to the tick of the next one.
type events struct {
	all          bool   // the lines so far have
	between      int    // those that are later than the head above
	tick, latest uint64 // of the head above the last line, and of that line
}

// count takes a line of the form below the head with a tick.
func (e *events) count(line []byte, tick uint64) {
	head, number, rest := headOf(line)
	n := parsed(number)
	e.all = e.all && len(head) > 0 && n >= max(tick, e.latest) && (e.tick == tick || e.latest <= tick)
	for word := range bytes.FieldsFuncSeq(rest, func(c rune) bool { return c < 0x80 && !isWordByte(byte(c)) }) {
		e.all = e.all && (!isHexWord(word) || isNumber(word) && len(word) < 6) // a checksum has more digits
	}
	if e.tick, e.latest = tick, n; n > tick {
		e.between++
	}
}

// parsed returns a number, 0 for no digits, and the largest one for too many.
func parsed(digits []byte) uint64 {
	n, _ := strconv.ParseUint(string(digits), 10, 63)
	return n
}

// each gives the lines of a log that are not empty, without stamps, and whether each is a head. Of a log with blocks
// it gives no other lines.
func (s *sections) each(text []byte, do func(line []byte, head bool)) {
	over := false
	for line := range bytes.Lines(text) {
		if line = s.unstamped(line); len(bytes.TrimSpace(line)) > 0 {
			head := s.isHead(line)
			if over = !head && (over || s.block && indentOf(line) == 0); !over {
				do(line, head)
			}
		}
	}
}

// hasBlocks reports whether nearly all heads have a line with indentation below, and no lines like those below come after
// another line of the section.
func (s *sections) hasBlocks(sample []byte) bool {
	heads, blocks, lines, names := 0, 0, 0, 0
	over := false
	within, after := map[string]bool{}, map[string]bool{}
	row := row{numbered: true, below: true}
	s.block = false
	s.each(sample, func(line []byte, head bool) {
		if head {
			heads++
			over, lines, names = false, 0, 0
			return
		}
		over = over || indentOf(line) == 0
		if lines++; lines == 1 && !over {
			blocks++
		}
		if heads == 0 || indentOf(line) == 0 || len(within)+len(after) > maxKinds {
			return
		}
		if form, _ := formOf(&row, line, &names); over {
			after[form] = true
		} else {
			within[form] = true
		}
	})
	for form := range within {
		if after[form] {
			return false
		}
	}
	return heads > 0 && 10*blocks >= 9*heads
}

// formOf returns what lines of one form have in common, and the thing that a line is about, empty for a line without several
// values. Names is how many names the table has that the line may be in.
func formOf(r *row, line []byte, names *int) (form, thing string) {
	kind := r.read(bytes.TrimSpace(line))
	if cells := cellsOf(line, *names); cells != nil {
		return "columns", string(cells[0])
	}
	*names = 0
	switch {
	case len(r.fields) == 0:
		*names = len(bytes.Fields(line))
		return "text " + string(bytes.TrimSpace(line)), ""
	case r.isMember():
		return "member " + string(kind), ""
	case r.isLabelled():
		return "labels " + string(kind), string(kind)
	}
	if first := r.fields[0]; string(first.name) == "id" && len(r.fields) > 1 {
		return "row " + string(r.fields[1].name), string(kind) + " " + string(first.value)
	} else if len(r.spare) > 0 && len(r.fields) > 1 {
		return "row " + string(first.name), string(kind) + " " + string(r.spare[0])
	}
	return "values " + string(kind) + " " + string(r.fields[0].name), ""
}

// parse reads the lines of the known forms. The others, and stamps, are blanks, and so are sections that do not count, in a
// game that predicts.
func (s *sections) parse(text []byte, to Sink) error {
	text = s.joined(text)
	p := rowsParser{text: bytes.Clone(text), sections: s, heads: map[int]bool{}, row: row{numbered: true, below: true}, document: document{to: to}}
	names, count, before := 0, 0, 0
	var list []block
	over := false // the block of the section
	for at := 0; at < len(text); {
		begin := at
		var line []byte
		line, at = lineAt(text, at)
		rest := s.unstamped(line)
		keep := s.isHead(rest)
		blank := len(bytes.TrimSpace(rest)) == 0
		over = !keep && (over || s.block && !blank && indentOf(rest) == 0)
		if keep {
			p.heads[begin] = true
			_, tick, _ := headOf(rest)
			if n := len(list); n > 0 {
				list[n-1].end = begin
			}
			list = append(list, block{begin: begin, end: len(text), tick: bytes.Clone(tick), stage: stageOf(line)})
			names, before, count = 0, count, 0
		} else if len(p.heads) > 0 && !blank && !over {
			form, _ := formOf(&p.row, rest, &names)
			if keep = s.forms[form] || s.below && indentOf(rest) > 0; keep {
				count++
				from := begin + len(bytes.TrimRight(line, "\r\n \t")) - len(rest)
				eachFraction(rest, func(name []byte, mark int) {
					if s.fractions[string(name)] {
						p.text[from+mark] = '.'
					}
				})
			}
		}
		end := len(line)
		if keep { // all but the stamp
			end = len(bytes.TrimRight(line, "\r\n \t")) - len(rest)
		}
		for i := range end {
			p.text[begin+i] = ' '
		}
	}
	if len(p.heads) > 1 && count < before { // the log ends within a section
		last := len(list) - 1
		p.text, list = p.text[:list[last].begin], list[:last]
	}
	kept := counting(list, false)
	for _, one := range list {
		if len(kept) > 0 && kept[0].begin == one.begin {
			kept = kept[1:]
			continue
		}
		delete(p.heads, one.begin)
		for i, c := range p.text[one.begin:one.end] {
			if c != '\n' {
				p.text[one.begin+i] = ' '
			}
		}
	}
	p.run()
	return nil
}

// eachFraction gives the names of the values of a line that have digits on both sides of a point or comma, and nothing else:
// x=0.88, or x=0,88 where a machine writes decimal commas. Mark is the place of the point or comma.
func eachFraction(line []byte, do func(name []byte, mark int)) {
	for i := 0; i < len(line); i++ {
		if line[i] != '=' {
			continue
		}
		begin := i
		for begin > 0 && (isWordByte(line[begin-1])) {
			begin--
		}
		at, mark, marks := i+1, 0, 0
		for at < len(line) && line[at] == ' ' {
			at++
		}
		if at < len(line) && line[at] == '-' {
			at++
		}
		from := at
		for ; at < len(line) && (line[at]-'0' <= 9 || line[at] == '.' || line[at] == ','); at++ {
			if line[at]-'0' > 9 {
				mark, marks = at, marks+1
			}
		}
		if over := at == len(line) || line[at] == ' '; begin < i && over && marks == 1 && mark > from && mark+1 < at {
			do(line[begin:i], mark)
		}
	}
}

// isHead reports whether a line is a head.
func (s *sections) isHead(line []byte) bool {
	head, tick, _ := headOf(line)
	return tick != nil && string(head) == s.head
}

// giveHead gives the line of a head: the tick, and what follows it with its names.
func (p *rowsParser) giveHead(line []byte, at int) {
	_, tick, rest := headOf(line)
	p.outer = p.outer[:0]
	p.document.end(at)
	p.enter(nil, at)
	p.to.Name([]byte(p.sections.name))
	p.to.Scalar(Bare, withoutZeros(tick))
	var name, last []byte
	again := int64(1) // values of last
	seen := map[string]bool{p.sections.name: true}
	give := func(name, value []byte) {
		if !seen[string(name)] {
			p.to.Name(name)
			giveValue(p.to, value, at)
			seen[string(name)] = true
		}
	}
	for i := 0; i < len(rest); {
		end := tokenEnd(rest, i)
		if end == i {
			i++
			continue
		}
		token := rest[i:end]
		i = end
		if begin := i - len(token); name == nil && last != nil && isValueBegin(token) && begin > 0 && bytes.IndexByte([]byte(":/,;"), rest[begin-1]) >= 0 && len(token) != 2 { // rng 389:176, but not a time
			again++
			give(strconv.AppendInt(append(bytes.Clone(last), '#'), again, 10), token)
			continue
		}
		if isValue := isValueBegin(token) || isHexWord(token); name == nil || !isValue && rest[i-len(token)-1] != '=' {
			name = token
		} else {
			give(name, token)
			name, last, again = nil, name, 1
		}
	}
}

// withoutZeros returns digits without zeros before the number.
func withoutZeros(digits []byte) []byte {
	return digits[min(len(digits)-1, len(digits)-len(bytes.TrimLeft(digits, "0"))):]
}

// isHexWord reports whether a word is a number in hexadecimal that begins with a letter.
func isHexWord(word []byte) bool {
	return len(word) >= 4 && len(bytes.Trim(word, "0123456789abcdefABCDEF")) == 0 && bytes.ContainsAny(word, "0123456789")
}
