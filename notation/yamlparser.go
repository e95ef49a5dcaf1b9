package notation

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Bounds on what aliases repeat, in bytes: an alias may contain other aliases, so that a few lines mean millions of
// nodes.
const (
	maxRepeated = 4 // for each byte of the text
	minRepeated = 1 << 16
)

// yamlParser reads one text. It calls itself for maps and lists within each other, at most MaxDepth times.
type yamlParser struct {
	text  []byte
	at    int // after an error, the end
	err   error
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
	shared   bool   // whether anchors are for aliases, and not for identities
	objects  bool   // whether each document is an object with an identity: they are members of one map
	object   bool   // one has begun
	id       []byte // the anchor of the map that begins, if that is its identity
	anchors  map[string][2]int
	kept     []yamlCall // of nodes with anchors; anchors has where each begins and ends
	keeping  int        // how many nodes with anchors are open
	repeated int        // bytes
}

// yamlAlias finds an alias, yamlBegin the begin of a document and its first line, and yamlObject is such a one with an anchor and
// a map with a name.
var (
	yamlAlias  = lazyregexp.New(`[\s\[,{]\*[^\s\[\]{},*]`)
	yamlBegin  = lazyregexp.New(`(?m)^---.*\n.*`)
	yamlObject = lazyregexp.New(`^--- (?:!\S+ )?&\S+\s*\n[\w.]+:\s*$`)
)

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

// with returns the anchor and tag of other, and the ones of n where it has none.
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
	alias []yamlCall // the calls that it repeats; nil if it is not an alias
}

const notName = "a map or list as the name of a member"

// documents reads all documents.
func (p *yamlParser) documents() error {
	p.at = bomLen(p.text)
	p.line, p.first, p.rest = p.at, -1, p.at
	p.aliased = bytes.IndexByte(p.text, '*') >= 0
	p.shared = p.aliased && yamlAlias.Match(p.text)
	if p.objects = !p.shared && areObjects(p.text); p.objects {
		p.to.BeginMap(p.at)
		p.depth++
		defer func() {
			if p.err == nil {
				p.to.End(len(p.text))
			}
		}()
	}
	for p.space(); p.at < len(p.text); p.space() {
		switch marker := p.marker(); {
		case p.peek() == '%' && p.column() == 0:
			p.skipLine()
		case marker == '.':
			p.at += 3
		default:
			if marker != 0 {
				p.at += 3
			}
			p.anchors, p.kept = map[string][2]int{}, p.kept[:0]
			p.block(-1, false, marker != 0)
			if p.space(); p.at < len(p.text) && p.marker() == 0 {
				p.unexpected("the end of the document")
			}
		}
	}
	return p.err
}

// areObjects reports whether all documents of a text, two at least, are objects with an identity.
func areObjects(text []byte) bool {
	begins := yamlBegin.FindAllSubmatchIndex(text, -1)
	return len(begins) > 1 && !slices.ContainsFunc(begins, func(at []int) bool { return !yamlObject.Match(text[at[0]:at[1]]) })
}

// fail ends the reading with an error.
func (p *yamlParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
	p.at = len(p.text)
}

// fault fails with an Error. In the last line, which is not complete, the text is cut off.
func (p *yamlParser) fault(at int, format string, args ...any) {
	if bytes.IndexByte(p.text[at:], '\n') < 0 {
		p.fail(cut(at, "a value: "+format, args...))
	} else {
		p.fail(fault(at, format, args...))
	}
}

// unexpected fails because of what is next.
func (p *yamlParser) unexpected(expected string) {
	p.fault(p.at, "%.8q, expected %s", p.text[p.at:], expected)
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

// space skips blanks, line breaks and comments.
func (p *yamlParser) space() {
	if p.at != p.rest {
		p.last = p.at
	}
	broken := p.first < 0
	for p.blanks(); p.at < len(p.text); p.blanks() {
		if c := p.text[p.at]; c == '\n' {
			p.at++
			p.line, broken = p.at, true
		} else if c == '#' && (p.column() == 0 || p.flows > 0 || isSpace(p.text[p.at-1])) {
			p.skipLine()
		} else {
			break
		}
	}
	p.rest = p.at
	if !broken {
		return
	}
	p.first = p.at
	if tab := bytes.IndexByte(p.text[p.line:p.at], '\t'); tab >= 0 && p.flows == 0 && p.at < len(p.text) {
		p.fault(p.line+tab, "a tab in an indentation, expected blanks")
	}
}

// over reports whether the next token does not belong to what is below an indentation.
func (p *yamlParser) over(indent int) bool {
	return p.at == len(p.text) || p.fresh() && (p.column() <= indent || p.marker() != 0)
}

// call gives something to the Sink.
func (p *yamlParser) call(c yamlCall, at int) {
	if p.err == nil && p.depth == MaxDepth && (c.to == '{' || c.to == '[') {
		p.fail(fault(at, "more than %d maps and lists within each other", MaxDepth))
	}
	if p.err != nil {
		return
	}
	if p.keeping > 0 {
		p.kept = append(p.kept, yamlCall{c.to, c.kind, c.plain, bytes.Clone(c.text)})
	}
	p.plain = c.plain
	id := p.id
	if p.objects && p.depth == 1 && p.around(c, at) {
		return
	}
	p.id = nil
	switch c.to {
	case '{':
		p.depth++
		p.to.BeginMap(at)
		if id != nil {
			p.to.Name([]byte("#id"))
			p.to.Scalar(yamlScalar(id, true, ""))
		}
	case '[':
		p.depth++
		p.to.BeginList(at)
	case '}':
		p.depth--
		p.to.End(at)
	case ':':
		p.to.Name(c.text)
	default:
		p.to.Scalar(c.kind, c.text)
	}
}

// around takes what an object is in: a map with its class as the name of its member. It reports whether that is all.
func (p *yamlParser) around(c yamlCall, at int) bool {
	switch {
	case c.to == '}':
		p.object = false
	case c.to == ':':
		p.to.Item(c.text)
	case p.object:
		return false
	case c.to == '{':
		p.object = true
	case c.kind != Null || c.to == '[':
		p.fail(fault(at, "a document without a name, expected an object"))
	}
	return true
}

// scalar gives a scalar to the Sink.
func (p *yamlParser) scalar(n yamlNode, text []byte, plain bool) {
	kind, text := yamlScalar(text, plain, n.tag)
	p.anchored(n, func() { p.call(yamlCall{'=', kind, plain && n.tag == "", text}, p.at) })
}

// name gives the name of a member to the Sink.
func (p *yamlParser) name(n yamlNode, t yamlToken) {
	if len(t.alias) == 1 {
		t.text, t.plain = t.alias[0].text, t.alias[0].plain
	} else if t.alias != nil {
		p.fault(p.at, notName)
	}
	p.anchored(n, func() { p.call(yamlCall{':', Text, t.plain && n.tag == "", t.text}, p.at) })
}

// anchored reads a node, and keeps it if it has an anchor.
func (p *yamlParser) anchored(n yamlNode, read func()) {
	if !p.shared && n.anchor != nil {
		p.id = n.anchor
	}
	if n.anchor == nil || !p.aliased {
		read()
		return
	}
	delete(p.anchors, string(n.anchor))
	begin := len(p.kept)
	p.keeping++
	read()
	p.keeping--
	p.anchors[string(n.anchor)] = [2]int{begin, len(p.kept)}
}

// alias reads an alias and returns what it repeats.
func (p *yamlParser) alias() []yamlCall {
	begin := p.at
	name := p.property()[1:]
	span, ok := p.anchors[string(name)]
	if !ok {
		p.fault(begin, "the alias %.40q, but no anchor before it", name)
	}
	kept := p.kept[span[0]:span[1]]
	for _, c := range kept {
		p.repeated += 1 + len(c.text)
	}
	if p.repeated > minRepeated+maxRepeated*len(p.text) {
		p.fail(fault(begin, "more than %d times as much data with what aliases repeat", maxRepeated))
	}
	return kept
}

// repeat gives calls to the Sink again. The name of a member becomes a scalar.
func (p *yamlParser) repeat(calls []yamlCall, at int) {
	for _, c := range calls {
		if len(calls) == 1 {
			c.to = '='
			if c.kind == Text && c.plain {
				c.kind, c.text = yamlScalar(c.text, true, "")
			}
		}
		p.call(c, at)
	}
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
		if text := p.property(); text[0] == '&' {
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
func (p *yamlParser) block(indent int, member, inline bool) {
	var n yamlNode
	for {
		p.space()
		inline = inline && !p.fresh()
		low := indent
		if member && p.indicator('-') {
			low--
		}
		if p.over(low) {
			p.scalar(n, nil, true)
			return
		}
		begin := p.at
		var near yamlNode
		p.properties(&near)
		if c := p.peek(); begin == p.at || c != '\n' && c != '#' {
			p.content(n, near, begin, indent, inline)
			return
		}
		n = n.with(near)
	}
}

// content reads a node that begins in this line. Near has what precedes the node there, and n what precedes it in
// other lines: n is for the map if the node is a key.
func (p *yamlParser) content(n, near yamlNode, begin, indent int, inline bool) {
	line, column := p.line, begin-p.line
	switch both, c := n.with(near), p.peek(); {
	case p.indicator('-'):
		if inline || begin < p.at {
			p.unexpected("a list in a new line")
		}
		p.anchored(n, func() { p.list(column) })
		return
	case c == '|' || c == '>':
		p.literal(both, indent)
		return
	case c == '[' || c == '{':
		if p.anchored(both, p.flow); p.colon() {
			p.fault(begin, notName)
		}
		return
	}
	t := p.token()
	at := p.at
	switch {
	case p.colon():
		if inline || line != p.line {
			p.fault(at, "a key inside a value, expected the end of the line")
		}
		p.anchored(n, func() { p.members(line+column, near, t) })
	case t.alias != nil:
		p.repeat(t.alias, begin)
	case t.plain:
		p.scalar(n.with(near), p.more(t.text, indent), true)
	default:
		p.scalar(n.with(near), t.text, false)
	}
}

// members reads a map in block style after its first key. It began at an offset.
func (p *yamlParser) members(begin int, n yamlNode, t yamlToken) {
	column := begin - p.line
	for p.call(yamlCall{to: '{'}, begin); p.err == nil; {
		p.name(n, t)
		p.block(column, true, true)
		if p.next(column) {
			p.call(yamlCall{to: '}'}, p.last)
			return
		}
		n, begin = yamlNode{}, p.at
		line := p.line
		p.properties(&n)
		if t = p.token(); !p.colon() || line != p.line {
			p.fault(begin, "%.20q, expected a key with a colon and a blank", p.text[begin:])
		}
	}
}

// list reads a list in block style.
func (p *yamlParser) list(column int) {
	for p.call(yamlCall{to: '['}, p.at); p.err == nil; {
		p.at++
		p.block(column, false, false)
		if p.next(column) || !p.indicator('-') {
			p.call(yamlCall{to: '}'}, p.last)
			return
		}
	}
}

// next goes to the next member of a map or list in block style, and reports whether it is over.
func (p *yamlParser) next(column int) (over bool) {
	p.space()
	switch {
	case p.over(column - 1):
		return true
	case !p.fresh():
		p.unexpected("the end of the line")
	case p.column() > column:
		p.fault(p.at, "an indentation by %d, expected %d", p.column(), column)
	}
	return p.err != nil
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
func (p *yamlParser) flowSpace() {
	if p.space(); p.at == len(p.text) {
		p.fail(cut(p.at, "a map or list"))
	} else if p.fresh() && p.marker() != 0 {
		p.unexpected(", or the end of the map or list")
	}
}

// flow reads a map or list in flow style.
func (p *yamlParser) flow() {
	opens := p.peek()
	p.flows++
	for p.call(yamlCall{to: opens}, p.at); p.err == nil; {
		p.at++
		if p.flowSpace(); p.peek() != opens+2 { // ] or }
			p.flowNode(opens)
			p.flowSpace()
		}
		switch p.peek() {
		case ',':
		case opens + 2:
			p.at++
			p.flows--
			p.call(yamlCall{to: '}'}, p.at)
			return
		default:
			p.unexpected(fmt.Sprintf(", or %c", opens+2))
		}
	}
}

// flowNode reads a member of a map, an element of a list, which may be a map of one member, or a value. In is {, [ or :
// for them.
func (p *yamlParser) flowNode(in byte) {
	begin := p.at
	var n yamlNode
	for at := -1; at != p.at; {
		at = p.at
		p.properties(&n)
		p.flowSpace()
	}
	t, line := yamlToken{plain: true}, p.line
	switch c := p.peek(); {
	case (c == '[' || c == '{') && in != '{':
		p.anchored(n, p.flow)
		return
	case isFlow(c) && (in == ':' || begin < p.at):
	default:
		if t = p.token(); t.plain && t.alias == nil {
			t.text = p.more(t.text, -1)
		}
		p.flowSpace()
	}
	next := p.byteAt(p.at + 1)
	named := p.peek() == ':' && in != ':' && (!t.plain || isSpace(next) || isFlow(next))
	switch {
	case named && line != p.line:
		p.unexpected("a name and its colon in one line")
		return
	case !named && in != '{' && t.alias != nil:
		p.repeat(t.alias, begin)
		return
	case !named && in != '{':
		p.scalar(n, t.text, t.plain)
		return
	case in == '[':
		p.call(yamlCall{to: '{'}, begin)
	}
	if p.name(n, t); named {
		p.at++
		p.flowSpace()
		p.flowNode(':')
	} else {
		p.scalar(yamlNode{}, nil, true)
	}
	if in == '[' {
		p.call(yamlCall{to: '}'}, p.at)
	}
}
