package notation

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// namelistNotation is namelists of Fortran. A group is an item, since programs write one for each entity:
//
//	&SHIP NAME='ARGO', IDX=1, POS=7.11D0, 2*28.5, LOADED=T, CREW(2)%AGE=31 /
//
// A table may follow a group, with the names of its columns above. The first one is also its own name. Where the first group
// has the tick and comes again after a table, another document begins:
//
//	&STEP ISTEP=5 /
//	 SHIP          X         Y
//	 ARGO   7.11D+00  2.85D+01
func namelistNotation() Notation {
	return Notation{Name: "namelist", Title: "Fortran namelists", Extensions: []string{".nml", ".namelist", ".inp"}, Repeats: true,
		Sniff: func(head []byte, whole bool) bool {
			p := namelistParser{text: head, to: discard{}}
			err := p.run()
			return p.values > 1 && (err == nil || !whole && err.(*Error).Cut)
		},
		Parse: func(text []byte, to Sink) error {
			p := namelistParser{text: text, to: to}
			return p.run()
		}}
}

var (
	namelistGroup = lazyregexp.New(`^[&$]([A-Za-z_]\w{0,80})\b`)
	namelistName  = lazyregexp.New(`^([A-Za-z_]\w{0,80}(?:\s{0,8}\([\d:, ]{1,40}\))?(?:%[A-Za-z_]\w{0,80}(?:\s{0,8}\([\d:, ]{1,40}\))?){0,8})\s{0,80}=`)
	namelistValue = lazyregexp.New(`^(?:(\d{1,9})\*)?([^\s,;/!'"()*=&$]*)`)
	namelistStep  = lazyregexp.New(`([A-Za-z_]\w*)(?:\s*\(([\d:, ]+)\))?`)
	namelistWords = map[string]fixedWord{"T": {Bool, "true"}, "F": {Bool, "false"}, ".TRUE.": {Bool, "true"}, ".FALSE.": {Bool, "false"}, "TRUE": {Bool, "true"}, "FALSE": {Bool, "false"},
		"NAN": {Number, "nan"}, "INFINITY": {Number, "inf"}, "+INFINITY": {Number, "inf"}, "-INFINITY": {Number, "-inf"}, "INF": {Number, "inf"}, "-INF": {Number, "-inf"}}
)

// namelistParser reads the groups.
type namelistParser struct {
	text   []byte
	at     int
	to     Sink
	values int
	copies int // values that a count before one repeats

	first  []byte          // the name of the first group
	ticked bool            // it has the tick
	tables map[string]bool // of the document
}

func (p *namelistParser) run() error {
	p.at = bomLen(p.text)
	p.to.BeginMap(p.at)
	for p.space(); p.at < len(p.text); p.space() {
		m := namelistGroup.FindSubmatch(p.near())
		if m == nil && p.values > 0 {
			if err := p.table(); err != nil {
				return err
			}
			continue
		} else if m == nil {
			return fault(p.at, "%.20q, expected the begin of a group", p.near())
		}
		if p.first == nil {
			p.first = m[1]
		} else if len(p.tables) > 0 && bytes.EqualFold(m[1], p.first) {
			if !p.ticked {
				return fault(p.at, "%.20q after a table, expected a tick in that group", m[1])
			}
			p.tables, p.ticked = nil, false
			p.to.End(p.at)
			p.to.BeginMap(p.at)
		}
		p.to.Item(m[1])
		p.to.BeginMap(p.at)
		p.at += len(m[0])
		if err := p.group(); err != nil {
			return err
		}
		p.to.End(p.at)
	}
	if n := len(p.text); p.values > 0 && p.text[n-1] != '\n' { // each group ends a line
		return cut(n, "the line after a group")
	}
	p.to.End(p.at)
	return nil
}

// table reads the names of columns, and the rows below them up to a blank line or a group. Each row has a number.
func (p *namelistParser) table() error {
	var names [][]byte
	begin := p.at
	for rows := 0; ; rows++ {
		line, next := lineAt(p.text, p.at)
		cells := bytes.Fields(line)
		over := len(cells) == 0 || namelistGroup.Match(cells[0])
		if over && rows > 1 {
			return nil
		}
		switch {
		case p.text[next-1] != '\n':
			return cut(p.at, "a row of a table")
		case rows == 0 && (len(cells) < 2 || !areNames(cells) || p.tables[string(cells[0])]):
			return fault(p.at, "%.20q, expected the begin of a group", p.near())
		case rows == 0:
			if names = cells; p.tables == nil {
				p.tables = map[string]bool{}
			}
			p.tables[string(cells[0])] = true
		case over || len(cells) != len(names) || !slices.ContainsFunc(cells, isValueBegin):
			return fault(p.at, "%.40q, expected a row of %d values", line, len(names))
		default:
			p.to.Item(names[0])
			p.to.BeginMap(p.at)
			for i, cell := range cells {
				p.to.Name(names[i])
				kind, text := namelistScalar(cell)
				if kind == Bool { // a name, as far as one can see
					kind, text = Text, cell
				}
				p.to.Scalar(kind, text)
			}
			p.to.End(next)
		}
		p.at = next
		if p.at == len(p.text) && rows > 0 {
			return nil
		} else if p.at == len(p.text) {
			return cut(begin, "a table")
		}
	}
}

// near returns the text up to where a name has ended.
func (p *namelistParser) near() []byte { return p.text[p.at:min(len(p.text), p.at+1024)] }

// space passes blanks, line ends and comments.
func (p *namelistParser) space() {
	for p.at < len(p.text) && (isSpace(p.text[p.at]) || p.text[p.at] == '!') {
		if p.text[p.at] == '!' {
			_, p.at = lineAt(p.text, p.at)
		} else {
			p.at++
		}
	}
}

// group reads the members of a group up to its end.
func (p *namelistParser) group() error {
	for {
		p.space()
		rest := p.near()
		switch {
		case len(rest) == 0:
			return cut(p.at, "a group")
		case rest[0] == ',':
			p.at++
			continue
		case rest[0] == '/':
			p.at++
			return nil
		case (rest[0] == '&' || rest[0] == '$') && len(rest) > 3 && bytes.EqualFold(rest[1:4], []byte("end")):
			p.at += 4
			return nil
		}
		m := namelistName.FindSubmatch(rest)
		if m == nil {
			if len(rest) < 256 && p.at+len(rest) == len(p.text) && bytes.IndexByte(rest, '\n') < 0 {
				return cut(p.at, "a name")
			}
			return fault(p.at, "%.40q, expected a name and =", rest)
		}
		begin := p.at
		p.at += len(m[0])
		word := bytes.TrimLeft(bytes.ToLower(m[1]), "ik") // whole numbers begin so
		p.ticked = p.ticked || isTick(m[1]) || isTick(word)
		end := p.enter(m[1], begin)
		if err := p.list(begin); err != nil {
			return err
		}
		for range end {
			p.to.End(p.at)
		}
	}
}

// enter gives the steps of a name, CREW(2)%AGE. It returns how many maps it began.
func (p *namelistParser) enter(name []byte, at int) (maps int) {
	step := func(name []byte, first bool) {
		if !first {
			p.to.BeginMap(at)
			maps++
		}
		p.to.Name(name)
	}
	for i, m := range namelistStep.FindAllSubmatchIndex(name, -1) {
		step(name[m[2]:m[3]], i == 0)
		if m[4] >= 0 {
			step(bytes.ReplaceAll(name[m[4]:m[5]], []byte{' '}, nil), false)
		}
	}
	return maps
}

// list reads the values of a member.
func (p *namelistParser) list(begin int) error {
	var kinds []Kind
	var all [][]byte
	empty := true // a comma here would be in place of a value
	for {
		p.space()
		rest := p.near()
		if len(rest) == 0 {
			return cut(p.at, "a value")
		}
		c := rest[0]
		if c == '/' || c == '&' || c == '$' || c != '\'' && c != '"' && c != '(' && namelistName.Match(rest) {
			break
		}
		if c == ',' {
			if p.at++; empty {
				kinds, all = append(kinds, Null), append(all, nil)
			}
			empty = true
			continue
		}
		times, kind, text, err := p.value()
		if err != nil {
			return err
		}
		if p.copies += times - 1; p.copies > minRepeated+maxRepeated*len(p.text) {
			return fault(p.at, "more than %d values that are repeated for each byte", maxRepeated)
		}
		for range times {
			kinds, all = append(kinds, kind), append(all, text)
		}
		empty = false
	}
	p.values += len(all)
	if len(all) == 1 {
		p.to.Scalar(kinds[0], all[0])
		return nil
	}
	p.to.BeginList(begin)
	for i := range all {
		p.to.Scalar(kinds[i], all[i])
	}
	p.to.End(p.at)
	return nil
}

// value reads a value, and how often it is repeated: 3*0.5
func (p *namelistParser) value() (times int, kind Kind, text []byte, err error) {
	begin := p.at
	m := namelistValue.FindSubmatch(p.near())
	times = 1
	p.at += len(m[0])
	if m[1] != nil {
		if times, _ = strconv.Atoi(string(m[1])); times == 0 {
			return 0, 0, nil, fault(begin, "%.20q, expected a number of values", m[0])
		}
	}
	if len(m[2]) > 0 {
		kind, text = namelistScalar(m[2])
		return times, kind, text, nil
	}
	if p.at == len(p.text) {
		return 0, 0, nil, cut(begin, "a value")
	}
	switch c := p.text[p.at]; c {
	case '\'', '"':
		for p.at++; p.at < len(p.text); p.at++ {
			if p.text[p.at] != c {
				text = append(text, p.text[p.at])
			} else if p.at++; p.at == len(p.text) || p.text[p.at] != c {
				return times, Text, bytes.TrimRight(text, " "), nil
			} else {
				text = append(text, c)
			}
		}
		return 0, 0, nil, cut(begin, "a text in quotes")
	case '(': // a complex number
		end := bytes.IndexByte(p.near(), ')')
		if end < 0 {
			return 0, 0, nil, fault(begin, "%.20q, expected a complex number", p.near())
		}
		p.at += end + 1
		return times, Text, p.text[begin:p.at], nil
	}
	if m[1] != nil {
		return times, Null, nil, nil // 3*
	}
	return 0, 0, nil, fault(begin, "%.20q, expected a value", p.near())
}

// namelistScalar returns a word or number: 7.5, .5, 1.D0, 1.2+100, T.
func namelistScalar(word []byte) (Kind, []byte) {
	upper := bytes.ToUpper(word)
	if w, ok := namelistWords[string(upper)]; ok {
		return w.kind, []byte(w.text)
	}
	number := bytes.ReplaceAll(bytes.ReplaceAll(upper, []byte{'D'}, []byte{'E'}), []byte{'Q'}, []byte{'E'})
	s := scanner{dialect: &dialect{}}
	if n := s.number(number); n != nil {
		return Number, bytes.Clone(n)
	}
	return Text, word
}
