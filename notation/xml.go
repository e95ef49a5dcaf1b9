package notation

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// xmlNotation is XML 1.0 without definitions of entities: a DOCTYPE is skipped, and no other file is read. Several root
// elements may follow each other.
//
// A document is a map with the root element as its only member. An element with attributes or child elements is a map
// of them, in which other text is the member #text. Any other element is its text. Declarations of namespaces are
// skipped, prefixes kept.
func xmlNotation() Notation {
	return Notation{Name: "xml", Repeats: true, Title: "XML", Extensions: []string{".xml"}, Sniff: sniffXML, Parse: parseXML}
}

// sniffXML reports whether a text begins with elements and at least one of them ends. So lines that begin with <name>
// are not XML.
func sniffXML(head []byte, whole bool) bool {
	begin := bytes.TrimLeft(head[bomLen(head):], xmlBlanks)
	if len(begin) == 0 || begin[0] != '<' || isHTML(begin) {
		return false
	}
	p := xmlParser{text: head, at: bomLen(head), to: discard{}}
	err := p.parse()
	return p.closed > 0 && (err == nil || err.(*Error).Cut)
}

// isHTML reports whether a text begins like a web page, which is markup of prose.
func isHTML(text []byte) bool {
	start := bytes.ToLower(text[:min(len(text), 20)])
	return bytes.HasPrefix(start, []byte("<html")) || bytes.HasPrefix(start, []byte("<!doctype html"))
}

func parseXML(text []byte, to Sink) error {
	p := xmlParser{text: text, at: bomLen(text), to: to}
	return p.parse()
}

const xmlBlanks = " \t\r\n"

// xmlParser reads one text.
type xmlParser struct {
	text    []byte
	at      int
	to      Sink
	open    []xmlElement
	content []byte // the unescaped texts of the open elements, the outermost first
	value   []byte // of an attribute with entities
	closed  int    // elements that have ended
}

// xmlElement is an element that is open.
type xmlElement struct {
	name    []byte
	at      int
	content int  // where its text begins in the parser's content
	isMap   bool // its map has begun
}

// parse reads all documents.
func (p *xmlParser) parse() error {
	for p.at < len(p.text) {
		if err := p.next(); err != nil {
			return err
		}
	}
	if len(p.open) > 0 {
		return cut(p.at, "the element %.40q", p.open[len(p.open)-1].name)
	}
	return nil
}

// skipped are the parts of a document without data, by their begin and end.
var skipped = []struct{ begin, end, title string }{
	{"<?", "?>", "a processing instruction"}, {"<!--", "-->", "a comment"},
}

// next reads text, or what is in one pair of angle brackets.
func (p *xmlParser) next() error {
	rest := p.text[p.at:]
	if rest[0] != '<' {
		end := bytes.IndexByte(rest, '<')
		if end < 0 {
			end = len(rest)
		}
		return p.characters(rest[:end], false)
	}
	if len(rest) > 1 && rest[1] != '?' && rest[1] != '!' {
		if rest[1] == '/' {
			return p.end()
		}
		return p.begin()
	}
	for _, s := range skipped {
		if bytes.HasPrefix(rest, []byte(s.begin)) {
			end := bytes.Index(rest[len(s.begin):], []byte(s.end))
			if end < 0 {
				return cut(p.at, "%s", s.title)
			}
			p.at += len(s.begin) + end + len(s.end)
			return nil
		}
	}
	const section, doctype = "<![CDATA[", "<!DOCTYPE"
	switch {
	case bytes.HasPrefix(rest, []byte(section)):
		end := bytes.Index(rest, []byte("]]>"))
		if end < 0 {
			return cut(p.at, "a CDATA section")
		}
		p.at += len(section)
		err := p.characters(rest[len(section):end], true)
		p.at += len("]]>")
		return err
	case bytes.HasPrefix(rest, []byte(doctype)) && len(p.open) == 0:
		return p.doctype()
	case len(rest) < len(section) && (bytes.HasPrefix([]byte(section), rest) || bytes.HasPrefix([]byte(doctype), rest)):
		return cut(p.at, "a tag")
	}
	return fault(p.at, "%.9q, expected an element, a comment or a CDATA section", rest)
}

// doctype skips a declaration of the document type with the declarations in it.
func (p *xmlParser) doctype() error {
	depth, quote := 0, byte(0)
	for i := p.at; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '<' && bytes.HasPrefix(p.text[i:], []byte("<!--")):
			end := bytes.Index(p.text[i+4:], []byte("-->"))
			if end < 0 {
				return cut(i, "a comment")
			}
			i += 4 + end + 2
		case c == '<':
			depth++
		case c == '>':
			if depth--; depth == 0 {
				p.at = i + 1
				return nil
			}
		}
	}
	return cut(p.at, "a document type")
}

// characters adds text to the innermost element. Blanks before any other text are the file's layout.
func (p *xmlParser) characters(text []byte, literal bool) error {
	blank := !literal && isBlank(text)
	if len(p.open) == 0 {
		if !blank {
			return fault(p.at, "%.8q, expected an element", bytes.TrimLeft(text, xmlBlanks))
		}
		p.at += len(text)
		return nil
	}
	if !blank || len(p.content) > p.open[len(p.open)-1].content {
		out, err := appendXML(p.content, text, p.at, literal, p.at+len(text) == len(p.text))
		if err != nil {
			return err
		}
		p.content = out
	}
	p.at += len(text)
	return nil
}

// isBlank reports whether a text has nothing but blanks.
func isBlank(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c != ' ' && c != '\n' && c != '\t' && c != '\r' })
}

// begin reads a start tag with its attributes.
func (p *xmlParser) begin() error {
	at := p.at
	p.at++
	name, err := p.name("of an element")
	if err != nil {
		return err
	}
	switch len(p.open) {
	case MaxDepth - 1:
		return fault(at, "more than %d elements within each other", MaxDepth-1)
	case 0:
		p.to.BeginMap(at)
		p.to.Name(name)
	default:
		p.mapOf(&p.open[len(p.open)-1])
		p.to.Item(name)
	}
	p.open = append(p.open, xmlElement{name: name, at: at, content: len(p.content)})
	for {
		blank := p.blanks()
		if p.at == len(p.text) {
			return cut(at, "a tag")
		}
		switch c := p.text[p.at]; {
		case c == '>':
			p.at++
			return nil
		case c == '/':
			if p.at+1 == len(p.text) {
				return cut(at, "a tag")
			}
			if p.text[p.at+1] != '>' {
				return fault(p.at, "%.2q, expected />", p.text[p.at:])
			}
			p.at += 2
			p.close()
			return nil
		case !blank:
			return fault(p.at, "%q, expected a blank or >", c)
		}
		if err := p.attribute(); err != nil {
			return err
		}
	}
}

// mapOf begins the map of an element that turns out to be one.
func (p *xmlParser) mapOf(e *xmlElement) {
	if !e.isMap {
		e.isMap = true
		p.to.BeginMap(e.at)
	}
}

// attribute reads a name and its value in quotes.
func (p *xmlParser) attribute() error {
	name, err := p.name("of an attribute")
	if err != nil {
		return err
	}
	p.blanks()
	if p.at < len(p.text) && p.text[p.at] != '=' {
		return fault(p.at, "%q, expected = after the name of an attribute", p.text[p.at])
	}
	p.at = min(p.at+1, len(p.text))
	p.blanks()
	if p.at == len(p.text) {
		return cut(p.at, "an attribute")
	}
	quote := p.text[p.at]
	if quote != '"' && quote != '\'' {
		return fault(p.at, "%q, expected a value in quotes", quote)
	}
	p.at++
	end := bytes.IndexByte(p.text[p.at:], quote)
	if end < 0 {
		return cut(p.at-1, "the value of an attribute")
	}
	value := p.text[p.at : p.at+end]
	if i := bytes.IndexByte(value, '<'); i >= 0 {
		return fault(p.at+i, "< in the value of an attribute")
	}
	if p.value, err = appendXML(p.value[:0], value, p.at, false, false); err != nil {
		return err
	}
	p.at += end + 1
	if !bytes.HasPrefix(name, []byte("xmlns")) || len(name) > 5 && name[5] != ':' {
		p.mapOf(&p.open[len(p.open)-1])
		p.to.Name(name)
		p.to.Scalar(Bare, p.value)
	}
	return nil
}

// end reads an end tag.
func (p *xmlParser) end() error {
	at := p.at
	p.at += 2
	name, err := p.name("of an element")
	if err != nil {
		return err
	}
	p.blanks()
	if p.at == len(p.text) {
		return cut(at, "a tag")
	}
	if p.text[p.at] != '>' {
		return fault(p.at, "%q, expected >", p.text[p.at])
	}
	if len(p.open) == 0 {
		return fault(at, "the end of the element %.40q, which is not open", name)
	}
	if open := p.open[len(p.open)-1].name; !bytes.Equal(name, open) {
		return fault(at, "the end of the element %.40q, expected the end of %.40q", name, open)
	}
	p.at++
	p.close()
	return nil
}

// close ends the innermost element.
func (p *xmlParser) close() {
	last := len(p.open) - 1
	e := p.open[last]
	text := p.content[e.content:]
	if trimmed := bytes.Trim(text, xmlBlanks); e.isMap || len(trimmed) == 0 || onOwnLines(text, trimmed) {
		text = trimmed
	}
	if e.isMap {
		if len(text) > 0 {
			p.to.Name([]byte("#text"))
			p.to.Scalar(Bare, text)
		}
		p.to.End(p.at)
	} else {
		p.to.Scalar(Bare, text)
	}
	p.content, p.open = p.content[:e.content], p.open[:last]
	p.closed++
	if last == 0 {
		p.to.End(p.at)
	}
}

// onOwnLines reports whether a line break is among the blanks around a text, so that they are the file's layout.
func onOwnLines(text, trimmed []byte) bool {
	return len(text) > len(trimmed) && bytes.Count(text, []byte("\n")) > bytes.Count(trimmed, []byte("\n"))
}

// blanks skips blanks, and reports whether there were any.
func (p *xmlParser) blanks() bool {
	begin := p.at
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at]-'\t' <= 1 || p.text[p.at] == '\r') {
		p.at++
	}
	return p.at > begin
}

// name reads a name. All characters beyond ASCII count as letters.
func (p *xmlParser) name(what string) ([]byte, error) {
	begin := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		letter := c|0x20-'a' <= 'z'-'a' || c == '_' || c == ':' || c >= utf8.RuneSelf
		if !letter && (p.at == begin || c-'0' > 9 && c != '-' && c != '.') {
			break
		}
		p.at++
	}
	if p.at == len(p.text) {
		return nil, cut(begin, "a name")
	}
	if p.at == begin {
		return nil, fault(p.at, "%q, expected the name %s", p.text[p.at], what)
	}
	return p.text[begin:p.at], nil
}

// entities are those that XML defines.
var entities = map[string]byte{"amp": '&', "lt": '<', "gt": '>', "quot": '"', "apos": '\''}

// appendXML appends a text with \n as line breaks, and with entities resolved unless it is literal. The text is at an
// offset, and last means that the file ends with it.
func appendXML(out, text []byte, at int, literal, last bool) ([]byte, error) {
	for {
		i := 0
		for i < len(text) && text[i] != '\r' && (text[i] != '&' || literal) {
			i++
		}
		out = append(out, text[:i]...)
		if i == len(text) {
			return out, nil
		}
		at += i
		n := 1
		if text = text[i:]; text[0] == '\r' {
			if len(text) == 1 || text[1] != '\n' {
				out = append(out, '\n')
			}
		} else {
			n = bytes.IndexByte(text[:min(len(text), 40)], ';') + 1
			if n == 0 && last && len(text) < 40 {
				return out, cut(at, "an entity")
			}
			r := entity(text[:n])
			if r < 0 {
				return out, fault(at, "%.12q, which is not an entity of XML", text)
			}
			out = utf8.AppendRune(out, r)
		}
		text, at = text[n:], at+n
	}
}

// entity returns the character that an entity such as &amp; or &#x41; means, -1 if there is none.
func entity(text []byte) rune {
	if len(text) < 3 {
		return -1
	}
	name := text[1 : len(text)-1]
	if c, ok := entities[string(name)]; ok {
		return rune(c)
	}
	if name[0] != '#' {
		return -1
	}
	base := 10
	if name = name[1:]; len(name) > 0 && name[0] == 'x' {
		base, name = 16, name[1:]
	}
	n, err := strconv.ParseUint(string(name), base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return -1
	}
	return rune(n)
}
