package notation

import (
	"bytes"
	"unicode/utf8"
)

// token reads an alias, a text in quotes, or a plain text as far as it is in this line.
func (p *yamlParser) token() (t yamlToken, err error) {
	c, next := p.peek(), p.byteAt(p.at+1)
	space := isSpace(next) || p.flows > 0 && isFlow(next)
	switch {
	case c == '"' || c == '\'':
		t.text, err = p.quoted()
	case c == '*':
		t.alias, err = p.alias()
		t.plain = true
	case c == '?' && space:
		err = p.fault(p.at, "a key after a question mark, expected a key in one line")
	case isFlow(c) || bytes.IndexByte([]byte("#&!|>%@`\n"), c) >= 0 || (c == '-' || c == ':') && space:
		err = p.unexpected("a value")
	default:
		t.plain = true
		t.text, err = p.plainLine()
	}
	return t, err
}

// plainLine reads a plain text up to the end of the line, a comment or a colon.
func (p *yamlParser) plainLine() ([]byte, error) {
	begin, end := p.at, p.at
scan:
	for i := begin; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			continue
		case c == ':':
			if next := p.byteAt(i + 1); isSpace(next) || p.flows > 0 && isFlow(next) {
				break scan
			}
		case c == '#' && i > begin && isSpace(p.text[i-1]), c == '\n', p.flows > 0 && isFlow(c):
			break scan
		case c < ' ' || c == 0x7f:
			return nil, p.fault(i, "a control character %q", c)
		}
		end = i + 1
	}
	p.at = end
	return p.text[begin:end], nil
}

// more reads the other lines of a plain text.
func (p *yamlParser) more(text []byte, indent int) ([]byte, error) {
	for joined := false; ; joined = true {
		at, line, breaks := p.lines(p.at)
		c, colon := p.byteAt(at), p.byteAt(at) == ':' && isSpace(p.byteAt(at+1))
		if breaks == 0 || c == '\n' || c == '#' || at-line <= indent || p.markerAt(line) != 0 || p.flows > 0 && (isFlow(c) || colon) {
			return text, nil
		}
		p.at, p.line = at, line
		part, err := p.plainLine()
		if err != nil {
			return nil, err
		}
		if !joined {
			text = append(p.scratch[:0], text...)
		}
		text = append(appendBreaks(text, breaks), part...)
		p.scratch = text
	}
}

// lines skips blanks and line breaks from an offset on, and counts the breaks.
func (p *yamlParser) lines(at int) (next, line, breaks int) {
	for ; at < len(p.text) && isSpace(p.text[at]); at++ {
		if p.text[at] == '\n' {
			breaks++
			line = at + 1
		}
	}
	return at, line, breaks
}

// appendBreaks appends what line breaks mean inside a text: one is a blank, and more are one less.
func appendBreaks(out []byte, breaks int) []byte {
	if breaks == 1 {
		return append(out, ' ')
	}
	for ; breaks > 1; breaks-- {
		out = append(out, '\n')
	}
	return out
}

// quoted reads a text in quotes. Without escapes it aliases the file.
func (p *yamlParser) quoted() ([]byte, error) {
	begin := p.at
	quote := p.text[begin]
	end := bytes.IndexByte(p.text[begin+1:], quote)
	if end < 0 {
		return nil, cut(begin, "a text in quotes")
	}
	p.at++
	body := p.text[p.at : p.at+end]
	if p.byteAt(p.at+end+1) == quote && quote == '\'' || bytes.ContainsFunc(body, func(r rune) bool { return r < ' ' || r == '\\' }) {
		return p.escaped(begin)
	}
	p.at += end + 1
	return body, nil
}

// escaped reads a text in quotes with escapes or several lines.
func (p *yamlParser) escaped(begin int) ([]byte, error) {
	quote := p.text[begin]
	out, solid := p.scratch[:0], 0 // blanks before solid come from escapes
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			if quote == '"' || p.peek() != '\'' {
				p.scratch = out
				return out, nil
			}
			out = append(out, quote)
			p.at++
		case c == '\n':
			for len(out) > solid && isSpace(out[len(out)-1]) {
				out = out[:len(out)-1]
			}
			breaks, err := p.breaks()
			if err != nil {
				return nil, err
			}
			out = appendBreaks(out, breaks)
			solid = len(out)
		case c == '\\' && quote == '"':
			var err error
			if out, err = p.escape(out, begin); err != nil {
				return nil, err
			}
			solid = len(out)
		case c < ' ' && c != '\t' && c != '\r':
			return nil, p.fault(p.at, "a control character %q", c)
		default:
			out = append(out, c)
			p.at++
		}
	}
	return nil, cut(begin, "a text in quotes")
}

// breaks skips line breaks inside a text in quotes, and counts them.
func (p *yamlParser) breaks() (breaks int, err error) {
	at := p.at
	p.at, p.line, breaks = p.lines(at)
	if p.marker() != 0 {
		return 0, p.unexpected("the end of the text in quotes")
	}
	return breaks, nil
}

// yamlEscapes has pairs: what follows a backslash, and its meaning.
const yamlEscapes = "0\x00a\ab\bt\t\t\tn\nv\vf\fr\re\x1b  \"\"//\\\\''N\u0085_\u00a0L\u2028P\u2029"

// escape appends the meaning of an escape.
func (p *yamlParser) escape(out []byte, begin int) ([]byte, error) {
	rest := p.text[p.at:]
	if len(rest) > 1 {
		c := rest[1]
		if c == '\n' || c == '\r' && p.byteAt(p.at+2) == '\n' {
			p.at++
			breaks, err := p.breaks()
			for ; breaks > 1; breaks-- {
				out = append(out, '\n')
			}
			return out, err
		}
		key, found := true, false
		for _, r := range yamlEscapes {
			switch {
			case key:
				found = r == rune(c)
			case found:
				p.at += 2
				return utf8.AppendRune(out, r), nil
			}
			key = !key
		}
		if c == 'u' {
			if out, n := appendEscape(out, rest); n > 0 {
				p.at += n
				return out, nil
			}
		}
		if want := map[byte]int{'x': 2, 'U': 8}[c]; want > 0 {
			if v, n := digits(rest[2:], 16, want); n == want && v <= utf8.MaxRune {
				p.at += 2 + n
				return appendRune(out, rune(v)), nil
			}
		}
	}
	if bytes.IndexByte(rest[min(2, len(rest)):], '"') < 0 {
		return nil, cut(begin, "a text in quotes")
	}
	return nil, p.fault(p.at, "an escape %.6q that YAML does not have", rest)
}

// literal reads a text after | or >.
func (p *yamlParser) literal(n yamlNode, indent int) error {
	b := yamlBlock{folded: p.peek() == '>', base: -1, indent: max(indent, 0)}
	p.at++
	for ; ; p.at++ {
		c := p.peek()
		if (c == '-' || c == '+') && b.chomp == 0 {
			b.chomp = c
		} else if c-'1' < 9 && b.base < 0 {
			b.base = b.indent + int(c-'0')
		} else {
			break
		}
	}
	if p.blanks(); p.peek() == '#' && isSpace(p.text[p.at-1]) {
		p.skipLine()
	}
	if p.peek() != '\n' {
		return p.unexpected("the end of the line")
	}
	b.out = p.scratch[:0]
	for begin := p.at + 1; begin < len(p.text); {
		length := bytes.IndexByte(p.text[begin:], '\n')
		if length < 0 {
			length = len(p.text) - begin
		}
		line := bytes.TrimSuffix(p.text[begin:begin+length], []byte("\r"))
		content, ok := b.line(line)
		if !ok {
			break
		}
		if content == nil && begin+length == len(p.text) { // there is no line break
			b.breaks--
		}
		if content != nil {
			b.add(content)
			p.at, p.line = begin+length, begin
		}
		begin += length + 1
	}
	p.scratch = b.end(p.at < len(p.text))
	return p.scalar(n, p.scratch, false)
}

// yamlBlock collects the lines of a text after | or >.
type yamlBlock struct {
	out    []byte
	folded bool
	chomp  byte // - or +, 0 for none
	base   int  // the indentation of the text, -1 before it is known
	indent int  // of the map or list that has the text
	breaks int  // empty lines since the last line
	lines  int
	deeper bool // whether the last line begins with a blank
}

// line returns the content of a line, nil if it is empty. It is not ok if it does not belong to the text.
func (b *yamlBlock) line(line []byte) (content []byte, ok bool) {
	blanks := len(line) - len(bytes.TrimLeft(line, " "))
	if blanks == len(line) && (b.base < 0 || blanks <= b.base) {
		b.breaks++
		return nil, true
	}
	if b.base < 0 {
		if blanks <= b.indent {
			return nil, false
		}
		b.base = blanks
	}
	if blanks < b.base {
		return nil, false
	}
	return line[b.base:], true
}

// add adds a line.
func (b *yamlBlock) add(line []byte) {
	deeper := line[0] == ' ' || line[0] == '\t'
	breaks := b.breaks
	if b.lines > 0 {
		breaks++
	}
	if b.folded && !deeper && !b.deeper && b.lines > 0 {
		b.out = appendBreaks(b.out, breaks)
	} else {
		b.out = append(b.out, bytes.Repeat([]byte("\n"), breaks)...)
	}
	b.out = append(b.out, line...)
	b.lines, b.breaks, b.deeper = b.lines+1, 0, deeper
}

// end returns the text. Complete is whether its last line is.
func (b *yamlBlock) end(complete bool) []byte {
	if b.lines > 0 && b.chomp != '-' && complete {
		b.out = append(b.out, '\n')
	}
	if b.chomp == '+' {
		b.out = append(b.out, bytes.Repeat([]byte("\n"), b.breaks)...)
	}
	return b.out
}
