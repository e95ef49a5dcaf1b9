package notation

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// namelistNotation is namelists of Fortran. A group is an item, since programs write one for each entity:
//
//	&SHIP NAME='ARGO', IDX=1, POS=7.11D0, 2*28.5, LOADED=T, CREW(2)%AGE=31 /
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
}

func (p *namelistParser) run() error {
	p.at = bomLen(p.text)
	p.to.BeginMap(p.at)
	for p.space(); p.at < len(p.text); p.space() {
		m := namelistGroup.FindSubmatch(p.near())
		if m == nil {
			return fault(p.at, "%.20q, expected the begin of a group", p.near())
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
	empty := true // a comma here would stand for a value that is not given
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
