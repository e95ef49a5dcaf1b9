package notation

import (
	"bytes"
	"unicode/utf8"
)

// token reads an alias, a text in quotes, or the part of a plain text in this line.
func (p *yamlParser) token() (t yamlToken) {
	c, next := p.peek(), p.byteAt(p.at+1)
	space := isSpace(next) || p.flows > 0 && isFlow(next)
	t.plain = c != '"' && c != '\''
	switch {
	case !t.plain:
		t.text = p.quoted()
	case c == '*':
		t.alias = p.alias()
	case c == '?' && space:
		p.fault(p.at, "a key after a question mark, expected a key in one line")
	case isFlow(c) || bytes.IndexByte([]byte("#&!|>%@`\n"), c) >= 0 || (c == '-' || c == ':') && space:
		p.unexpected("a value")
	default:
		t.text = p.plainLine()
	}
	return t
}

// plainLine reads a plain text up to the end of the line, a comment or a colon.
func (p *yamlParser) plainLine() []byte {
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
			p.fault(i, "a control character %q", c)
			return nil
		}
		end = i + 1
	}
	p.at = end
	return p.text[begin:end]
}

// more reads the other lines of a plain text.
func (p *yamlParser) more(text []byte, indent int) []byte {
	for joined := false; ; joined = true {
		at, line, breaks := p.lines(p.at)
		c := p.byteAt(at)
		if breaks == 0 || c == '\n' || c == '#' || at-line <= indent || p.markerAt(line) != 0 {
			return text
		}
		if p.flows > 0 && (isFlow(c) || c == ':' && isSpace(p.byteAt(at+1))) {
			return text
		}
		if !joined {
			text = append(p.scratch[:0], text...)
		}
		p.at, p.line = at, line
		text = append(appendBreaks(text, breaks), p.plainLine()...)
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
func (p *yamlParser) quoted() []byte {
	begin := p.at
	quote, rest := p.text[begin], p.text[begin+1:]
	end := bytes.IndexByte(rest, quote)
	if end < 0 {
		p.fail(cut(begin, "a text in quotes"))
		return nil
	}
	p.at++
	special := func(r rune) bool { return r < ' ' || r == '\\' }
	if quote == '\'' && p.byteAt(p.at+end+1) == quote || bytes.ContainsFunc(rest[:end], special) {
		return p.escaped(begin)
	}
	p.at += end + 1
	return rest[:end]
}

// escaped reads a text in quotes with escapes or several lines.
func (p *yamlParser) escaped(begin int) []byte {
	quote := p.text[begin]
	out, solid := p.scratch[:0], 0 // blanks before solid come from escapes
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == quote:
			p.at++
			if quote == '"' || p.peek() != quote {
				p.scratch = out
				return out
			}
			out = append(out, quote)
			p.at++
		case c == '\n':
			for len(out) > solid && isSpace(out[len(out)-1]) {
				out = out[:len(out)-1]
			}
			out = appendBreaks(out, p.breaks())
			solid = len(out)
		case c == '\\' && quote == '"':
			out = p.escape(out)
			solid = len(out)
		case c < ' ' && c != '\t' && c != '\r':
			p.fault(p.at, "a control character %q", c)
		default:
			out = append(out, c)
			p.at++
		}
	}
	p.fail(cut(begin, "a text in quotes"))
	return nil
}

// breaks skips line breaks inside a text in quotes, and counts them.
func (p *yamlParser) breaks() (breaks int) {
	if p.at, p.line, breaks = p.lines(p.at); p.marker() != 0 {
		p.unexpected("the end of the text in quotes")
	}
	return breaks
}

// yamlEscapes has pairs: a character after a backslash, and its meaning.
const yamlEscapes = "0\x00a\ab\bt\t\t\tn\nv\vf\fr\re\x1b  \"\"//\\\\''N\u0085_\u00a0L\u2028P\u2029"

// escape appends the meaning of an escape.
func (p *yamlParser) escape(out []byte) []byte {
	rest := p.text[p.at:]
	c := p.byteAt(p.at + 1)
	if c == '\n' || c == '\r' && p.byteAt(p.at+2) == '\n' {
		p.at++
		return append(out, bytes.Repeat([]byte("\n"), max(0, p.breaks()-1))...)
	}
	key, found := true, false
	for _, r := range yamlEscapes {
		switch {
		case key:
			found = r == rune(c)
		case found:
			p.at += 2
			return utf8.AppendRune(out, r)
		}
		key = !key
	}
	if c == 'u' {
		if out, n := appendEscape(out, rest); n > 0 {
			p.at += n
			return out
		}
	}
	want := map[byte]int{'x': 2, 'U': 8}[c]
	if v, n := digits(rest[2:], 16, want); n == want && n > 0 && v <= utf8.MaxRune {
		p.at += 2 + n
		return appendRune(out, rune(v))
	}
	if bytes.IndexByte(rest[2:], '"') < 0 {
		p.at = len(p.text) // the text is cut off
	} else {
		p.fault(p.at, "an escape %.6q that YAML does not have", rest)
	}
	return out
}

// literal reads a text after | or >.
func (p *yamlParser) literal(n yamlNode, indent int) {
	b := yamlBlock{folded: p.peek() == '>', base: -1, least: max(indent, 0) + 1}
	p.at++
	for ; ; p.at++ {
		if c := p.peek(); (c == '-' || c == '+') && b.chomp == 0 {
			b.chomp = c
		} else if c-'1' < 9 && b.base < 0 {
			b.base = b.least + int(c-'1')
		} else {
			break
		}
	}
	if p.blanks(); p.peek() == '#' && isSpace(p.text[p.at-1]) {
		p.skipLine()
	}
	if p.peek() != '\n' {
		p.unexpected("the end of the line")
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
	p.scalar(n, p.scratch, false)
}

// yamlBlock collects the lines of a text after | or >.
type yamlBlock struct {
	out    []byte
	folded bool
	chomp  byte // - or +, 0 for none
	base   int  // the indentation of the text, -1 before it is known
	least  int  // what base is at least
	breaks int  // empty lines since the last line
	lines  int
	deeper bool // whether the last line begins with a blank
}

// line returns the content of a line, nil if it is empty. It is not ok if it does not belong to the text.
func (b *yamlBlock) line(line []byte) (content []byte, ok bool) {
	blanks := len(line) - len(bytes.TrimLeft(line, " "))
	if blanks == len(line) && (b.base < 0 || blanks <= b.base) {
		b.breaks++
		b.least = max(b.least, blanks)
		return nil, true
	}
	if b.base < 0 {
		if blanks < b.least {
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
