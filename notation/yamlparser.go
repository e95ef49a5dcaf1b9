package notation

import (
	"bytes"
	"cmp"
	"fmt"
)

// Bounds of what aliases repeat, in bytes: an alias may hold other aliases, so that a few lines mean millions of nodes.
const (
	maxRepeated = 4 // for each byte of the text
	minRepeated = 1 << 16
)

// yamlParser reads one text. It calls itself for maps and lists within each other, at most MaxDepth times.
type yamlParser struct {
	text  []byte
	at    int
	line  int // where the line begins
	first int // where its first token begins
	rest  int // where space ended
	last  int // the end of the last token
	to    Sink
	depth int
	flows int  // how many of the open maps and lists are in flow style
	plain bool // whether the last scalar has no quotes and no tag

	scratch  []byte // of a scalar that is not as in the text
	aliased  bool   // whether there may be aliases
	anchors  map[string][2]int
	kept     []yamlCall // of nodes with anchors; anchors has where each begins and ends
	keeping  int        // how many nodes with anchors are open
	repeated int        // bytes
}

// yamlCall is a call of a Sink.
type yamlCall struct {
	to    byte // { [ } for the begins and the end, : for a name and = for a scalar
	kind  Kind
	plain bool
	text  []byte
}

// yamlNode is what precedes a node.
type yamlNode struct {
	anchor []byte
	tag    string
}

// with returns what n and other have; other is nearer.
func (n yamlNode) with(other yamlNode) yamlNode {
	if other.anchor != nil {
		n.anchor = other.anchor
	}
	n.tag = cmp.Or(other.tag, n.tag)
	return n
}

// yamlToken is a scalar or alias in one line, or in quotes.
type yamlToken struct {
	text  []byte
	plain bool
	alias []yamlCall // what it repeats; nil if it is no alias
}

const notName = "a map or list as the name of a member"

// documents reads all documents.
func (p *yamlParser) documents() error {
	p.at = bomLen(p.text)
	p.line, p.first, p.rest = p.at, -1, p.at
	p.aliased = bytes.IndexByte(p.text, '*') >= 0
	for {
		if err := p.space(); err != nil || p.at == len(p.text) {
			return err
		}
		marker := p.marker()
		switch {
		case p.peek() == '%' && p.column() == 0:
			p.skipLine()
			continue
		case marker != 0:
			p.at += 3
		}
		if marker == '.' {
			continue
		}
		p.anchors, p.kept = map[string][2]int{}, p.kept[:0]
		if err := p.block(-1, false, marker != 0); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.at < len(p.text) && p.marker() == 0 {
			return p.unexpected("the end of the document")
		}
	}
}

// fault returns an Error. In the last line, which is not complete, the text is cut off.
func (p *yamlParser) fault(at int, format string, args ...any) error {
	if at == len(p.text) || bytes.IndexByte(p.text[at:], '\n') < 0 {
		return cut(at, "a value: "+format, args...)
	}
	return fault(at, format, args...)
}

// unexpected returns the Error of what is next.
func (p *yamlParser) unexpected(expected string) error {
	return p.fault(p.at, "%.8q, expected %s", p.text[p.at:], expected)
}

// peek returns the next byte, a line break at the end.
func (p *yamlParser) peek() byte { return p.byteAt(p.at) }

func (p *yamlParser) byteAt(at int) byte {
	if at < len(p.text) {
		return p.text[at]
	}
	return '\n'
}

func (p *yamlParser) column() int { return p.at - p.line }

// fresh reports whether nothing precedes the next token in its line.
func (p *yamlParser) fresh() bool { return p.at == p.first }

// marker returns - or . if the next token is the mark of a document, else 0.
func (p *yamlParser) marker() byte {
	if p.column() != 0 {
		return 0
	}
	return p.markerAt(p.at)
}

// markerAt returns - or . if the line at an offset begins with the mark of a document, else 0.
func (p *yamlParser) markerAt(at int) byte {
	c := p.byteAt(at)
	if (c == '-' || c == '.') && p.byteAt(at+1) == c && p.byteAt(at+2) == c && isSpace(p.byteAt(at+3)) {
		return c
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isFlow reports whether a byte has a meaning in flow style.
func isFlow(c byte) bool { return c == ',' || c == '[' || c == ']' || c == '{' || c == '}' }

// indicator reports whether the next token is a mark that a blank follows.
func (p *yamlParser) indicator(c byte) bool { return p.peek() == c && isSpace(p.byteAt(p.at+1)) }

// skipLine goes to the end of the line.
func (p *yamlParser) skipLine() {
	if n := bytes.IndexByte(p.text[p.at:], '\n'); n >= 0 {
		p.at += n
	} else {
		p.at = len(p.text)
	}
}

// blanks skips blanks in a line.
func (p *yamlParser) blanks() {
	for p.at < len(p.text) && p.text[p.at] != '\n' && isSpace(p.text[p.at]) {
		p.at++
	}
}

// newline goes to the begin of the next line.
func (p *yamlParser) newline() {
	p.at++
	p.line = p.at
}

// space skips blanks, line breaks and comments.
func (p *yamlParser) space() error {
	if p.at != p.rest {
		p.last = p.at
	}
	for {
		p.blanks()
		switch c := p.peek(); {
		case p.at == len(p.text):
		case c == '\n':
			p.newline()
			p.first = -1
			continue
		case c == '#' && (p.column() == 0 || p.flows > 0 || isSpace(p.text[p.at-1])):
			p.skipLine()
			continue
		}
		break
	}
	p.rest = p.at
	if p.first >= 0 {
		return nil
	}
	p.first = p.at
	if tab := bytes.IndexByte(p.text[p.line:p.at], '\t'); tab >= 0 && p.flows == 0 && p.at < len(p.text) {
		return p.fault(p.line+tab, "a tab in an indentation, expected blanks")
	}
	return nil
}

// over reports whether the next token does not belong to what is below an indentation.
func (p *yamlParser) over(indent int) bool {
	return p.at == len(p.text) || p.fresh() && (p.column() <= indent || p.marker() != 0)
}

// call gives something to the Sink.
func (p *yamlParser) call(c yamlCall, at int) error {
	if p.keeping > 0 {
		p.kept = append(p.kept, yamlCall{c.to, c.kind, c.plain, bytes.Clone(c.text)})
	}
	p.plain = c.plain
	switch c.to {
	case ':':
		p.to.Name(c.text)
	case '=':
		p.to.Scalar(c.kind, c.text)
	case '}':
		p.depth--
		p.to.End(at)
	default:
		if p.depth == MaxDepth {
			return fault(at, "more than %d maps and lists within each other", MaxDepth)
		}
		p.depth++
		if c.to == '{' {
			p.to.BeginMap(at)
		} else {
			p.to.BeginList(at)
		}
	}
	return nil
}

// begin and end begin and end a map or list.
func (p *yamlParser) begin(c byte, at int) error { return p.call(yamlCall{to: c}, at) }
func (p *yamlParser) end(at int) error           { return p.call(yamlCall{to: '}'}, at) }

// scalar gives a scalar to the Sink.
func (p *yamlParser) scalar(n yamlNode, text []byte, plain bool) error {
	kind, text := yamlScalar(text, plain, n.tag)
	return p.anchored(n, func() error { return p.call(yamlCall{'=', kind, plain && n.tag == "", text}, p.at) })
}

// name gives the name of a member to the Sink.
func (p *yamlParser) name(n yamlNode, t yamlToken) error {
	if t.alias != nil {
		if len(t.alias) != 1 {
			return p.fault(p.at, notName)
		}
		t.text, t.plain = t.alias[0].text, t.alias[0].plain
	}
	return p.anchored(n, func() error { return p.call(yamlCall{':', Text, t.plain && n.tag == "", t.text}, p.at) })
}

// anchored reads a node, and keeps it if it has an anchor.
func (p *yamlParser) anchored(n yamlNode, read func() error) error {
	if n.anchor == nil || !p.aliased {
		return read()
	}
	delete(p.anchors, string(n.anchor))
	begin := len(p.kept)
	p.keeping++
	err := read()
	p.keeping--
	p.anchors[string(n.anchor)] = [2]int{begin, len(p.kept)}
	return err
}

// alias reads an alias and returns what it repeats.
func (p *yamlParser) alias() ([]yamlCall, error) {
	begin := p.at
	name := p.property()[1:]
	span, ok := p.anchors[string(name)]
	if !ok {
		return nil, p.fault(begin, "the alias %.40q, but no anchor before it", name)
	}
	kept := p.kept[span[0]:span[1]]
	for _, c := range kept {
		p.repeated += 1 + len(c.text)
	}
	if p.repeated > minRepeated+maxRepeated*len(p.text) {
		return nil, fault(begin, "more than %d times as much data with what aliases repeat", maxRepeated)
	}
	return kept, nil
}

// repeat gives calls to the Sink again. The name of a member becomes a scalar.
func (p *yamlParser) repeat(calls []yamlCall, at int) error {
	if len(calls) == 1 && calls[0].to == ':' {
		kind, text := yamlScalar(calls[0].text, calls[0].plain, "")
		return p.call(yamlCall{'=', kind, calls[0].plain, text}, at)
	}
	for _, c := range calls {
		if err := p.call(c, at); err != nil {
			return err
		}
	}
	return nil
}

// property reads an anchor, alias or tag with its mark.
func (p *yamlParser) property() []byte {
	begin := p.at
	long := p.byteAt(p.at+1) == '<'
	for p.at < len(p.text) && !isSpace(p.text[p.at]) && (long || !isFlow(p.text[p.at])) {
		long = long && p.text[p.at] != '>'
		p.at++
	}
	return p.text[begin:p.at]
}

// properties reads what precedes a node in its line.
func (p *yamlParser) properties(n *yamlNode) {
	for p.peek() == '&' && n.anchor == nil || p.peek() == '!' && n.tag == "" {
		text := p.property()
		if text[0] == '&' {
			n.anchor = text[1:]
		} else if name, ok := bytes.CutPrefix(text, []byte("!<tag:yaml.org,2002:")); ok {
			n.tag = "!!" + string(bytes.TrimSuffix(name, []byte(">")))
		} else {
			n.tag = string(text)
		}
		p.blanks()
	}
}

// block reads a node below an indentation. Member is whether it is the value of a member: a list may have the
// indentation of the map. Inline is whether no map or list in block style may begin in the line.
func (p *yamlParser) block(indent int, member, inline bool) error {
	var n yamlNode
	for {
		if err := p.space(); err != nil {
			return err
		}
		inline = inline && !p.fresh()
		low := indent
		if member && p.indicator('-') {
			low--
		}
		if p.over(low) {
			return p.scalar(n, nil, true)
		}
		begin := p.at
		var near yamlNode
		p.properties(&near)
		if c := p.peek(); begin == p.at || c != '\n' && c != '#' {
			return p.content(n, near, begin, indent, inline)
		}
		n = n.with(near)
	}
}

// content reads a node that begins in this line. Near has what precedes the node there, and n what precedes it in
// other lines: n is for the map if the node is a key.
func (p *yamlParser) content(n, near yamlNode, begin, indent int, inline bool) error {
	line, column := p.line, begin-p.line
	switch both, c := n.with(near), p.peek(); {
	case p.indicator('-'):
		if inline || begin < p.at {
			return p.unexpected("a list in a new line")
		}
		return p.anchored(n, func() error { return p.list(column) })
	case c == '|' || c == '>':
		return p.literal(both, indent)
	case c == '[' || c == '{':
		err := p.anchored(both, p.flow)
		if err == nil && p.colon() {
			return p.fault(begin, notName)
		}
		return err
	}
	t, err := p.token()
	if err != nil {
		return err
	}
	switch at := p.at; {
	case p.colon():
		if inline || line != p.line {
			return p.fault(at, "a key inside a value, expected the end of the line")
		}
		return p.anchored(n, func() error { return p.members(column, near, t) })
	case t.alias != nil:
		return p.repeat(t.alias, begin)
	case t.plain:
		if t.text, err = p.more(t.text, indent); err != nil {
			return err
		}
	}
	return p.scalar(n.with(near), t.text, t.plain)
}

// members reads a map in block style, whose first name has been read.
func (p *yamlParser) members(column int, n yamlNode, t yamlToken) error {
	if err := p.begin('{', p.line+column); err != nil {
		return err
	}
	for {
		if err := p.name(n, t); err != nil {
			return err
		}
		if err := p.block(column, true, true); err != nil {
			return err
		}
		over, err := p.next(column)
		if err != nil {
			return err
		}
		if over {
			return p.end(p.last)
		}
		n = yamlNode{}
		p.properties(&n)
		line := p.line
		if t, err = p.token(); err != nil {
			return err
		}
		if !p.colon() || line != p.line {
			return p.fault(line+column, "%.20q, expected a key with a colon and a blank", p.text[line+column:])
		}
	}
}

// list reads a list in block style.
func (p *yamlParser) list(column int) error {
	if err := p.begin('[', p.at); err != nil {
		return err
	}
	for {
		p.at++
		if err := p.block(column, false, false); err != nil {
			return err
		}
		over, err := p.next(column)
		if err != nil {
			return err
		}
		if over || !p.indicator('-') {
			return p.end(p.last)
		}
	}
}

// next goes to the next member of a map or list in block style, and reports whether it is over.
func (p *yamlParser) next(column int) (over bool, err error) {
	if err := p.space(); err != nil {
		return false, err
	}
	switch {
	case p.over(column - 1):
		return true, nil
	case !p.fresh():
		return false, p.unexpected("the end of the line")
	case p.column() > column:
		return false, p.fault(p.at, "an indentation by %d, expected %d", p.column(), column)
	}
	return false, nil
}

// colon reads the colon after a key.
func (p *yamlParser) colon() bool {
	at := p.at
	if p.blanks(); p.indicator(':') {
		p.at++
		return true
	}
	p.at = at
	return false
}

// flowSpace is space inside a map or list in flow style, which does not end there.
func (p *yamlParser) flowSpace() error {
	if err := p.space(); err != nil {
		return err
	}
	if p.at == len(p.text) {
		return cut(p.at, "a map or list")
	}
	if p.fresh() && p.marker() != 0 {
		return p.unexpected(", or the end of the map or list")
	}
	return nil
}

// flow reads a map or list in flow style.
func (p *yamlParser) flow() error {
	opens := p.peek()
	p.flows++
	if err := p.begin(opens, p.at); err != nil {
		return err
	}
	p.at++
	for {
		if err := p.flowSpace(); err != nil {
			return err
		}
		if p.peek() != opens+2 { // ] or }
			if err := p.flowNode(opens); err != nil {
				return err
			}
			if err := p.flowSpace(); err != nil {
				return err
			}
		}
		switch p.peek() {
		case ',':
			p.at++
		case opens + 2:
			p.at++
			p.flows--
			return p.end(p.at)
		default:
			return p.unexpected(fmt.Sprintf(", or %c", opens+2))
		}
	}
}

// flowNode reads a member of a map, an element of a list, which may be a map of one member, or a value: in is {, [ or :.
func (p *yamlParser) flowNode(in byte) error {
	begin := p.at
	var n yamlNode
	for at := -1; at != p.at; {
		at = p.at
		p.properties(&n)
		if err := p.flowSpace(); err != nil {
			return err
		}
	}
	var t yamlToken
	var err error
	line := p.line
	switch c := p.peek(); {
	case (c == '[' || c == '{') && in != '{':
		return p.anchored(n, p.flow)
	case isFlow(c) && (in == ':' || begin < p.at):
		t.plain = true
	default:
		if t, err = p.token(); err == nil && t.plain && t.alias == nil {
			t.text, err = p.more(t.text, -1)
		}
		if err == nil {
			err = p.flowSpace()
		}
	}
	if err != nil {
		return err
	}
	named := p.peek() == ':' && in != ':' && (!t.plain || isSpace(p.byteAt(p.at+1)) || isFlow(p.byteAt(p.at+1)))
	switch {
	case named && line != p.line:
		return p.unexpected("a name and its colon in one line")
	case !named && in != '{' && t.alias != nil:
		return p.repeat(t.alias, begin)
	case !named && in != '{':
		return p.scalar(n, t.text, t.plain)
	case in == '[':
		if err := p.begin('{', begin); err != nil {
			return err
		}
	}
	if err := p.name(n, t); err != nil {
		return err
	}
	if err := p.flowValue(named); err != nil || in == '{' {
		return err
	}
	return p.end(p.at)
}

// flowValue reads the value of a member in flow style, which may be missing.
func (p *yamlParser) flowValue(named bool) error {
	if !named {
		return p.scalar(yamlNode{}, nil, true)
	}
	p.at++
	if err := p.flowSpace(); err != nil {
		return err
	}
	return p.flowNode(':')
}
