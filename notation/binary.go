package notation

import (
	"encoding/hex"
	"unicode/utf8"
)

// atom is what a binary notation writes for a scalar, or before the members of a map or list.
type atom struct {
	form form
	kind Kind   // of a scalar
	text []byte // of a scalar
	size uint64 // of a map or list: how many members it has, or endless
}

// form is what an atom is.
type form uint8

const (
	scalar form = iota
	list
	mapping
	stop // the end of a list or map without a size
)

// endless is the size of a map or list that ends with a stop.
const endless = 1<<64 - 1

// binaryParser reads a text of a binary notation. Maps and lists are kept on a stack.
type binaryParser struct {
	text    []byte
	at      int
	to      Sink
	atom    func(*binaryParser) (atom, error) // reads the next one
	stack   []binaryLevel
	scratch []byte // of a scalar that is not a part of the file
	named   int    // members that have the name of a variable
	unnamed int    // members with names that are neither printable text nor a number
}

// binaryLevel is a map or list that is open.
type binaryLevel struct {
	form form
	left uint64 // members
}

// parse reads all documents.
func (p *binaryParser) parse() error {
	for p.at < len(p.text) || len(p.stack) > 0 {
		if err := p.value(); err != nil {
			return err
		}
		for len(p.stack) > 0 && p.stack[len(p.stack)-1].left == 0 {
			p.stack = p.stack[:len(p.stack)-1]
			p.to.End(p.at)
		}
	}
	return nil
}

// value reads a scalar or the begin of a map or list, with its name if it is a member of a map.
func (p *binaryParser) value() error {
	var in *binaryLevel
	if len(p.stack) > 0 {
		in = &p.stack[len(p.stack)-1]
	}
	begin := p.at
	a, err := p.atom(p)
	if err != nil {
		return err
	}
	if a.form == stop {
		if in == nil || in.left != endless {
			return fault(begin, "the end of a list that is not open")
		}
		in.left = 0
		return nil
	}
	if in != nil && in.form == mapping {
		if a.form != scalar {
			return fault(begin, "a map or list as the name of a member")
		}
		p.to.Name(p.name(a))
		begin = p.at
		if a, err = p.atom(p); err != nil {
			return err
		}
		if a.form == stop {
			return fault(begin, "the end of a map, expected the value of a member")
		}
	}
	if in != nil && in.left != endless {
		in.left--
	}
	switch {
	case a.form == scalar:
		p.to.Scalar(a.kind, a.text)
		return nil
	case len(p.stack) == MaxDepth:
		return fault(begin, "more than %d maps and lists within each other", MaxDepth)
	case a.form == list:
		p.to.BeginList(begin)
	default:
		p.to.BeginMap(begin)
	}
	p.stack = append(p.stack, binaryLevel{a.form, a.size})
	return nil
}

// name returns a scalar as the name of a member.
func (p *binaryParser) name(a atom) []byte {
	switch {
	case a.kind == Number:
		return a.text
	case (a.kind == Text || a.kind == Bytes) && printable(a.text):
		if isName(a.text[:1]) {
			p.named++
		}
		return a.text
	}
	p.unnamed++
	switch a.kind {
	case Null:
		return []byte("null")
	case Bytes:
		return hex.AppendEncode(nil, a.text)
	}
	return a.text
}

// printable reports whether a text is UTF-8 without control characters, and not empty.
func printable(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return len(text) > 0 && utf8.Valid(text)
}

// take returns the next bytes, which belong to something that begins at an offset.
func (p *binaryParser) take(n uint64, begin int, what string) ([]byte, error) {
	if n > uint64(len(p.text)-p.at) {
		return nil, cut(begin, "%s", what)
	}
	p.at += int(n)
	return p.text[p.at-int(n) : p.at], nil
}

// uint reads an integer of 1, 2, 4 or 8 bytes, the highest first.
func (p *binaryParser) uint(bytes, begin int) (n uint64, err error) {
	b, err := p.take(uint64(bytes), begin, "a number")
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n, err
}

// number returns a number that was appended to the parser's scratch.
func (p *binaryParser) number(text []byte) atom {
	p.scratch = text
	return atom{kind: Number, text: text}
}

// structure is a Sink that judges whether the values of a binary file are data and not chance.
type structure struct {
	discard
	depth, documents, values int
	odd                      bool // a document is a scalar, or a text is not UTF-8
}

func (s *structure) BeginMap(int) { s.BeginList(0) }
func (s *structure) End(int)      { s.depth-- }
func (s *structure) BeginList(int) {
	if s.depth == 0 {
		s.documents++
	}
	s.depth++
}

func (s *structure) Scalar(kind Kind, text []byte) {
	s.values++
	s.odd = s.odd || s.depth == 0 || kind == Text && !utf8.Valid(text)
}

// sniffBinary reports whether a text is maps or lists in a binary notation: with names, or else one list that is the whole
// file. A list without names, and the begin of a file with one name, need at least 64 bytes.
func sniffBinary(head []byte, whole bool, atoms func(*binaryParser) (atom, error)) bool {
	const enough = 64
	var s structure
	p := binaryParser{text: head, to: &s, atom: atoms}
	if first, err := atoms(&p); err == nil && first.form == scalar {
		return false // as of other documents: each byte of a text is a number
	}
	p.at = 0
	err := p.parse()
	if s.odd || p.unnamed > 0 || err != nil && (whole || !err.(*Error).Cut || len(head) < enough || p.at < enough && p.named < 2) {
		return false
	}
	return p.named > 0 || whole && s.documents == 1 && s.values > 7 && len(head) >= enough
}
