package notation

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// go-spew prints a type before each value, after the type of a text, list or map its size, and after the type of a pointer the
// addresses that it leads to.
var (
	spewType    = lazyregexp.New(`^\((?:\*|\[\d*\])*(?:map\[[^()\n]{1,80}\][^()\n]{1,80}|[A-Za-z_][\w./]{0,80}(?:\[[^()\n]{1,80}\])?)\)`)
	spewSize    = lazyregexp.New(`^\((?:len|cap)=\d+(?: cap=\d+)?\)`)
	spewAddress = lazyregexp.New(`^\((?:0x[0-9a-f]+(?:->0x[0-9a-f]+)*)\)`)
)

// unspew writes what go-spew prints with blanks for types, sizes and addresses, and with brackets around lists. Every value keeps
// its place. It reports whether that is printed by go-spew.
//
//	(*sim.World)(0xc007b14650)({ Tick: (uint32) 50, Score: ([2]int32) (len=2 cap=2) { (int32) 2, (int32) 14 } })
func unspew(text []byte) (out []byte, is bool) {
	if begin := bytes.TrimLeft(text, " \t\r\n"); len(begin) == 0 || begin[0] != '(' || !spewType.Match(begin[:min(len(begin), maxBegin)]) {
		return nil, false
	}
	s := spewed{text: bytes.Clone(text)}
	for s.at < len(s.text) {
		s.next()
	}
	return s.text, true
}

// spewed is a text that is rewritten.
type spewed struct {
	text []byte
	at   int
	open []byte // what ends each open container: } or ], and ) around one, which is no more than a blank
	list bool   // the last type is a list
}

// blank writes n blanks.
func (s *spewed) blank(n int) {
	for range n {
		s.text[s.at] = ' '
		s.at++
	}
}

func (s *spewed) next() {
	rest := s.text[s.at:min(len(s.text), s.at+maxBegin)]
	switch rest[0] {
	case '"':
		s.quoted()
	case '(':
		s.paren(rest)
	case '{':
		closes := byte('}')
		if s.list {
			s.text[s.at], closes = '[', ']'
		}
		s.open, s.list = append(s.open, closes), false
		s.at++
	case '}', ')':
		n := len(s.open)
		switch {
		case n == 0:
		case rest[0] == ')' && s.open[n-1] == ')':
			s.text[s.at], s.open = ' ', s.open[:n-1]
		case rest[0] == '}' && s.open[n-1] != ')':
			s.text[s.at], s.open = s.open[n-1], s.open[:n-1]
		}
		s.at++
	case '<':
		if end := bytes.IndexByte(rest, '>'); end >= len("<nil") { // <nil>, <already shown>, <max depth reached>
			copy(s.text[s.at:], "nil")
			s.at += len("nil")
			s.blank(end + 1 - len("nil"))
			return
		}
		s.at++
	default:
		s.at++
	}
}

// quoted passes a text between quotes.
func (s *spewed) quoted() {
	for s.at++; s.at < len(s.text) && s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

// paren writes blanks for a type, a size or an address, or for a pair of parentheses.
func (s *spewed) paren(rest []byte) {
	if n := len(spewSize.FindString(string(rest))) + len(spewAddress.FindString(string(rest))); n > 0 {
		s.blank(n)
		return
	}
	if name := spewType.FindString(string(rest)); len(name) > 0 {
		s.list = strings.HasPrefix(strings.TrimLeft(name, "(*"), "[")
		s.blank(len(name))
		s.printed()
		return
	}
	s.open = append(s.open, ')')
	s.blank(1)
}

// printed writes quotes around a value of several words, such as a time, in place of the blank before it and of what follows it.
func (s *spewed) printed() {
	line, _, whole := bytes.Cut(s.text[s.at:], []byte{'\n'})
	value := bytes.TrimSuffix(bytes.TrimRight(line, "\r"), []byte{','})
	if !whole || len(value) < 2 || value[0] != ' ' || bytes.IndexByte(value[1:], ' ') < 0 || bytes.ContainsAny(value, "\"(){}[]<>") {
		return
	}
	s.text[s.at], s.text[s.at+len(value)] = '"', '"'
	s.at += len(value) + 1
}
