package notation

import (
	"bytes"
	"strconv"
)

// textprotoNotation is the text format of protocol buffers. Names of fields may come again, so that each field is given as
// an item, and so is each element of a list.
func textprotoNotation() Notation {
	return Notation{Name: "textproto", Repeats: true, Title: "protobuf text", Extensions: []string{".textproto", ".txtpb", ".pbtxt", ".prototxt"},
		Lines: true, Sniff: sniffTextproto, Parse: parseTextproto}
}

// sniffTextproto reports whether a text has fields, one of them a message and one of them a number, truth or text.
func sniffTextproto(head []byte, whole bool) bool {
	p := textprotoParser{scanner: scanner{dialect: textprotoDialect(), text: head}, to: discard{}}
	if err := p.run(); err != nil && (whole || !err.(*Error).Cut) {
		return false
	}
	return p.messages > 0 && p.scalars > 1
}

func parseTextproto(text []byte, to Sink) error {
	p := textprotoParser{scanner: scanner{dialect: textprotoDialect(), text: text}, to: to}
	return p.run()
}

func textprotoDialect() *dialect {
	return &dialect{comment: "#", hex: true, joins: true, suffixes: []string{"f", "F"}, words: map[string]fixedWord{
		"true": {Bool, "true"}, "True": {Bool, "true"}, "false": {Bool, "false"}, "False": {Bool, "false"},
		"nan": {Number, "nan"}, "-nan": {Number, "nan"}, "inf": {Number, "inf"}, "-inf": {Number, "-inf"},
		"infinity": {Number, "inf"}, "-infinity": {Number, "-inf"},
	}}
}

type textprotoParser struct {
	scanner
	to      Sink
	stack   []byte // '{', '<' or '[' of each open message and list
	name    []byte // of the field that the next value belongs to
	isNamed bool
	full    bool // a value is complete, and a separator may follow
	names   [][]byte

	messages, scalars int
}

func (p *textprotoParser) run() error {
	if bytes.HasPrefix(p.text, []byte("\xef\xbb\xbf")) {
		p.at = 3
	}
	p.to.BeginMap(p.at)
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.at == len(p.text) {
			break
		}
		if err := p.next(p.peek()); err != nil {
			return err
		}
	}
	if len(p.stack) > 0 || p.isNamed {
		return cut(p.at, "a message")
	}
	p.to.End(p.at)
	return nil
}

func (p *textprotoParser) inList() bool { return len(p.stack) > 0 && p.stack[len(p.stack)-1] == '[' }

// next reads a name, a value, or what is between them.
func (p *textprotoParser) next(c byte) error {
	list := p.inList()
	switch {
	case c == ',' && p.full, c == ';' && p.full && !list:
		p.full = false
		p.at++
		return nil
	case !p.isNamed && len(p.stack) > 0 && c == map[byte]byte{'{': '}', '<': '>', '[': ']'}[p.stack[len(p.stack)-1]]:
		p.at++
		p.stack = p.stack[:len(p.stack)-1]
		if !list {
			p.to.End(p.at)
			p.name, p.names = p.names[len(p.names)-1], p.names[:len(p.names)-1]
		}
		p.full = true
		return nil
	case list && p.full:
		return fault(p.at, "%q, expected , or ]", c)
	case p.isNamed || list:
		return p.value(c)
	}
	return p.field(c)
}

// field reads a name, and the colon after it. The name of an extension is in brackets.
func (p *textprotoParser) field(c byte) error {
	begin := p.at
	if c == '[' {
		end := bytes.IndexAny(p.text[p.at:min(len(p.text), p.at+256)], "]\n,;{} ")
		if end < 0 && len(p.text)-p.at < 256 {
			return cut(begin, "a name in brackets")
		}
		if end < 0 || p.text[p.at+end] != ']' {
			return fault(begin, "%.20q, expected the name of an extension", p.text[begin:])
		}
		p.at += end + 1
	} else {
		for p.at < len(p.text) && (isNameStart(p.peek()) || p.at > begin && p.peek()-'0' <= 9) {
			p.at++
		}
	}
	if p.at == begin {
		return fault(begin, "%q, expected the name of a field", c)
	}
	name := p.text[begin:p.at]
	if c == '[' {
		name = name[1 : len(name)-1]
	}
	if err := p.space(); err != nil {
		return err
	}
	switch c := p.peek(); {
	case c == ':':
		p.at++
	case p.at == len(p.text):
		return cut(begin, "a field")
	case c != '{' && c != '<':
		return fault(p.at, "%q, expected :, { or < after the name of a field", c)
	}
	p.name, p.isNamed, p.full = name, true, false
	return nil
}

// value reads a scalar, or the begin of a message or list.
func (p *textprotoParser) value(c byte) error {
	begin := p.at
	if c == '{' || c == '<' || c == '[' && !p.inList() {
		if len(p.stack) >= MaxDepth-1 {
			return fault(p.at, "more than %d maps and lists within each other", MaxDepth)
		}
		p.at++
		p.stack = append(p.stack, c)
		p.isNamed = false
		p.full = false
		if c != '[' {
			p.messages++
			p.to.Item(p.name)
			p.to.BeginMap(begin)
			p.names = append(p.names, p.name)
		}
		return nil
	}
	var kind Kind
	var text []byte
	var err error
	if n := p.wordLen(); n > 0 && isNameStart(c) && p.words[string(p.text[p.at:p.at+n])].text == "" {
		kind, text = Text, p.text[p.at:p.at+n] // of an enum
		p.at += n
	} else if kind, text, err = p.scalar(); err != nil {
		return err
	} else {
		p.scalars++
	}
	if p.at == len(p.text) && len(p.stack) > 0 {
		return cut(begin, "a value")
	}
	if octal := bytes.TrimPrefix(text, []byte("-")); kind == Number && len(octal) > 1 && octal[0] == '0' {
		if v, n := digits(octal, 8, 21); n == len(octal) {
			sign := text[:len(text)-len(octal)]
			text = strconv.AppendInt(bytes.Clone(sign), int64(v), 10)
		}
	}
	p.to.Item(p.name)
	p.to.Scalar(kind, text)
	p.isNamed, p.full = false, true
	return nil
}
