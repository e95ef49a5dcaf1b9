package notation

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonNotation is JSON, RFC 8259, with several documents one after the other (JSON Lines), the numbers NaN, Infinity and
// -Infinity as some writers have them, and comments and trailing commas as JSON5 allows.
func jsonNotation() Notation {
	return Notation{Name: "json", Title: "JSON", Extensions: []string{".json", ".jsonl", ".ndjson"}, Sniff: sniffJSON, Parse: parseJSON}
}

// sniffJSON reports whether a text begins with a map that has a member, or is lists and other values: a log may also
// begin with [12], but does not continue as JSON.
func sniffJSON(head []byte, whole bool) bool {
	if !whole {
		head = bytes.TrimRight(head, ".eE+-") // of a number
	}
	p := jsonParser{text: head, at: bomLen(head), to: discard{}}
	p.space()
	if p.at == len(head) || head[p.at] != '{' && head[p.at] != '[' {
		return false
	}
	isMap := head[p.at] == '{'
	first := p.document()
	err := first
	if first == nil && !(isMap && p.members > 0) {
		err = p.documents()
	}
	return err == nil || err.(*Error).Cut && (first == nil || !whole && p.members > 0)
}

func parseJSON(text []byte, to Sink) error {
	p := jsonParser{text: text, at: bomLen(text), to: to}
	return p.documents()
}

// documents reads all values from the offset on.
func (p *jsonParser) documents() error {
	for {
		p.space()
		if p.err != nil {
			return p.err
		}
		if p.at == len(p.text) {
			return nil
		}
		if err := p.document(); err != nil {
			return err
		}
	}
}

// jsonParser reads one text. Containers are kept on a stack, so that depth costs no stack of the program.
type jsonParser struct {
	text    []byte
	at      int
	to      Sink
	stack   []byte // '{' or '[' of each open container
	scratch []byte // of a text with escapes
	members int    // read so far
	err     error  // of a comment
}

// space skips blanks and comments.
func (p *jsonParser) space() {
	if p.at < len(p.text) && p.text[p.at] > ' ' && p.text[p.at] != '/' {
		return
	}
	p.skip()
}

func (p *jsonParser) skip() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '/':
			rest := p.text[p.at:]
			end := -1
			switch {
			case bytes.HasPrefix(rest, []byte("//")):
				if end = bytes.IndexByte(rest, '\n'); end < 0 {
					end = len(rest)
				}
			case bytes.HasPrefix(rest, []byte("/*")):
				if end = bytes.Index(rest, []byte("*/")) + 2; end < 2 {
					p.err = cut(p.at, "a comment")
					p.at = len(p.text)
					return
				}
			default:
				return
			}
			p.at += end
		default:
			return
		}
	}
}

// document reads one value with everything in it.
func (p *jsonParser) document() error {
	for {
		p.space()
		if p.err != nil {
			return p.err
		}
		opened, err := p.value()
		if err != nil {
			return err
		}
		if !opened && p.close() || p.err != nil {
			return p.err
		}
		if p.stack[len(p.stack)-1] == '{' {
			if err := p.name(); err != nil {
				return err
			}
		}
	}
}

// value reads a scalar, or the begin of a map or list that is not empty.
func (p *jsonParser) value() (opened bool, err error) {
	if p.at == len(p.text) {
		return false, cut(p.at, "a value")
	}
	switch c := p.text[p.at]; c {
	case '{', '[':
		if len(p.stack) == MaxDepth {
			return false, fault(p.at, "more than %d maps and lists within each other", MaxDepth)
		}
		if c == '{' {
			p.to.BeginMap(p.at)
		} else {
			p.to.BeginList(p.at)
		}
		p.at++
		p.space()
		if p.at < len(p.text) && p.text[p.at] == c+2 { // } follows { by two, and ] follows [
			p.at++
			p.to.End(p.at)
			return false, p.err
		}
		p.stack = append(p.stack, c)
		return true, p.err
	case '"':
		text, err := p.quoted()
		if err == nil {
			p.members++
			p.to.Scalar(Text, text)
		}
		return false, err
	}
	return false, p.word()
}

// close reads what follows a value: commas, and the ends of containers. It reports whether the document is complete.
func (p *jsonParser) close() (done bool) {
	for len(p.stack) > 0 {
		p.space()
		if p.err != nil {
			return true
		}
		open := p.stack[len(p.stack)-1]
		if p.at == len(p.text) {
			p.err = cut(p.at, "a %s", map[byte]string{'{': "map", '[': "list"}[open])
			return true
		}
		c := p.text[p.at]
		if c == ',' {
			p.at++
			p.space()
			if p.at == len(p.text) || p.text[p.at] != open+2 {
				return false
			}
			c = open + 2
		}
		if c != open+2 {
			p.err = fault(p.at, "%q, expected , or %c", c, open+2)
			return true
		}
		p.at++
		p.to.End(p.at)
		p.stack = p.stack[:len(p.stack)-1]
	}
	return true
}

// name reads the name of a member and its colon.
func (p *jsonParser) name() error {
	p.space()
	if p.at == len(p.text) {
		return cut(p.at, "a map")
	}
	if p.text[p.at] != '"' {
		return fault(p.at, "%q, expected the name of a member in quotes", p.text[p.at])
	}
	name, err := p.quoted()
	if err != nil {
		return err
	}
	p.to.Name(name)
	p.space()
	if p.at == len(p.text) {
		return cut(p.at, "a map")
	}
	if p.text[p.at] != ':' {
		return fault(p.at, "%q, expected : after the name of a member", p.text[p.at])
	}
	p.at++
	return nil
}

// quoted reads a text in quotes. Without escapes it aliases the file.
func (p *jsonParser) quoted() ([]byte, error) {
	begin := p.at
	rest := p.text[begin+1:]
	for i, c := range rest[:min(len(rest), shortText)] {
		if c == '"' {
			p.at = begin + i + 2
			return rest[:i], nil
		}
		if c == '\\' {
			return p.escaped(begin)
		}
	}
	end := bytes.IndexByte(rest, '"')
	if end < 0 {
		return nil, cut(begin, "a text in quotes")
	}
	if bytes.IndexByte(rest[:end], '\\') < 0 {
		p.at = begin + end + 2
		return rest[:end], nil
	}
	return p.escaped(begin)
}

// shortText is the length up to which a text is read byte by byte, which is faster than a search.
const shortText = 24

// escaped reads a text in quotes with escapes.
func (p *jsonParser) escaped(begin int) ([]byte, error) {
	rest := p.text[begin+1:]
	out := p.scratch[:0]
	for i := 0; i < len(rest); {
		switch c := rest[i]; c {
		case '"':
			p.scratch, p.at = out, begin+i+2
			return out, nil
		case '\\':
			n := 0
			if out, n = appendEscape(out, rest[i:]); n == 0 {
				if left := rest[i:]; len(left) == 1 || len(left) < 6 && left[1] == 'u' {
					return nil, cut(begin, "a text in quotes")
				}
				return nil, fault(begin+1+i, "an escape %.6q that JSON does not have", rest[i:])
			}
			i += n
		default:
			out = append(out, c)
			i++
		}
	}
	return nil, cut(begin, "a text in quotes")
}

// escapes are the characters after a backslash, and their meanings.
var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '\'': '\''}

// appendEscape appends the meaning of an escape, and returns its length, 0 if there is no such escape. A lone surrogate
// is kept as three bytes, as WTF-8 has it, so that two of them differ.
func appendEscape(out, text []byte) ([]byte, int) {
	if len(text) < 2 {
		return out, 0
	}
	if c, ok := escapes[text[1]]; ok {
		return append(out, c), 2
	}
	r, ok := hex4(text)
	if !ok {
		return out, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), 6
	}
	if low, ok := hex4(text[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return utf8.AppendRune(out, pair), 12
		}
	}
	return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf), 6
}

// hex4 reads an escape of four hexadecimal digits.
func hex4(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		digit := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if c < '0' || digit < 0 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}

// words are the scalars that are not text, except numbers.
var words = []struct {
	word string
	kind Kind
	text string
}{
	{"true", Bool, "true"}, {"false", Bool, "false"}, {"null", Null, ""},
	{"NaN", Number, "nan"}, {"Infinity", Number, "inf"}, {"-Infinity", Number, "-inf"},
}

// word reads a number or one of words.
func (p *jsonParser) word() error {
	rest := p.text[p.at:]
	if n := numberLen(rest); n > 0 {
		p.at += n
		p.members++
		p.to.Scalar(Number, rest[:n])
		return nil
	}
	for _, w := range words {
		if bytes.HasPrefix(rest, []byte(w.word)) {
			p.at += len(w.word)
			p.members++
			p.to.Scalar(w.kind, []byte(w.text))
			return nil
		}
		if bytes.HasPrefix([]byte(w.word), rest) {
			return cut(p.at, "a value")
		}
	}
	if len(rest) == 1 && rest[0] == '-' {
		return cut(p.at, "a number")
	}
	return fault(p.at, "%.8q, expected a value", rest)
}

// numberLen returns the length of the number of JSON at the begin of a text, 0 if there is none.
func numberLen(text []byte) int {
	i := 0
	if i < len(text) && text[i] == '-' {
		i++
	}
	digits := func() bool {
		begin := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		return i > begin
	}
	if !digits() {
		return 0
	}
	if i+1 < len(text) && text[i] == '.' && text[i+1]-'0' <= 9 {
		i++
		digits()
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		before := i
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			i = before
		}
	}
	return i
}

// discard is a Sink that keeps nothing.
type discard struct{}

func (discard) BeginMap(int)        {}
func (discard) BeginList(int)       {}
func (discard) End(int)             {}
func (discard) Name([]byte)         {}
func (discard) Item([]byte)         {}
func (discard) Scalar(Kind, []byte) {}
