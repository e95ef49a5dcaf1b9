package notation

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// printedNotation is a value as programs in other languages print it: Java, Kotlin, C#, Haskell, Zig, Ruby, PHP, Perl,
// Swift, Dart, Go, F# and OCaml. Their texts become one form of the same length, see [canonical].
func printedNotation() Notation {
	d := &literalDialect{
		scalars: dialect{bareWords: true, words: map[string]fixedWord{
			"nil": {Null, ""}, "null": {Null, ""}, "NULL": {Null, ""}, "undef": {Null, ""}, "undefined": {Null, ""}, "None": {Null, ""}, "Nothing": {Null, ""},
			"true": {Bool, "true"}, "false": {Bool, "false"}, "True": {Bool, "true"}, "False": {Bool, "false"}, "nan": {Number, "nan"}, "NaN": {Number, "nan"}, "NAN": {Number, "nan"},
			"inf": {Number, "inf"}, "+Inf": {Number, "inf"}, "-Inf": {Number, "-inf"}, "INF": {Number, "inf"}, "-INF": {Number, "-inf"},
			"Infinity": {Number, "inf"}, "-Infinity": {Number, "-inf"},
		}},
		opens: "{[(", calls: "{[(", assigns: map[byte]byte{'{': ':', '[': ':', '(': ':'}, separators: ",;", transparent: "Optional",
		wordNames: true, untyped: true, blanks: true,
	}
	return Notation{Name: "printed", Title: "printed values", Extensions: []string{".php", ".rb", ".pl"},
		Sniff: func(head []byte, whole bool) bool {
			if end := bytes.LastIndexByte(head, '\n'); !whole && end > 0 {
				head = head[:end+1]
			}
			head = withoutComments(head)
			if several.Match(head) && !isDeep(head) || !begins.Match(head) {
				return false
			}
			text, marks := canonical(head)
			return marks > 0 && d.sniff(text, whole)
		},
		Parse: func(text []byte, to Sink) error {
			plain, _ := canonical(withoutComments(text))
			return d.parse(plain, &commented{Sink: &unmasked{Sink: to}, text: text})
		}}
}

// comments are lines of a comment, as Haskell has them, before a value. They may name the peer that it is of: -- peer ann
var (
	comments     = lazyregexp.New(`(?m)^--[ \t].*$`)
	peerComments = lazyregexp.New(`(?:^|\n)--[ \t]+(?i:peer|client|machine)[ \t]*[:= \t][ \t]*["']?([\w.-]{1,64})["']?[ \t-]*\r?\n\s*[^\n]{0,255}$`)
)

// withoutComments returns a text with blanks in place of comments.
func withoutComments(text []byte) []byte {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("--")) {
		return text
	}
	text = slices.Clone(text)
	for _, at := range comments.FindAllSubmatchIndex(text, -1) {
		copy(text[at[0]:at[1]], bytes.Repeat([]byte{' '}, at[1]-at[0]))
	}
	return text
}

// commented is a Sink for values with comments before them. A map gets the peer that its comment names.
type commented struct {
	Sink
	text  []byte
	depth int
}

func (c *commented) BeginMap(at int) {
	c.Sink.BeginMap(at)
	if c.depth++; c.depth > 1 {
		return
	}
	before := c.text[max(0, min(at, len(c.text))-1024):min(at, len(c.text))]
	if m := peerComments.FindSubmatch(before); m != nil {
		c.Name([]byte("peer"))
		c.Sink.Scalar(Text, m[1])
	}
}
func (c *commented) BeginList(at int) { c.depth++; c.Sink.BeginList(at) }
func (c *commented) End(at int)       { c.depth--; c.Sink.End(at) }

var (
	several = lazyregexp.New(`(?ms)^[A-Za-z_].*\n[A-Za-z_]`)            // objects below each other, which are rows
	begins  = lazyregexp.New(`^[\s%#&<$]*[^{[(\n]{0,255}[{[(\n](?s:.)`) // a container, perhaps with its type
	slice   = lazyregexp.New(`^\[\][A-Za-z_*[][^{,\n]*\{`)              // of Go
)

// firstField finds the name of the first field of a record.
var firstField = lazyregexp.New(`^[A-Za-z_][\w.$]*(?:@[0-9a-f]{1,8})?\s?[\[({]\s?([A-Za-z_]\w*)\s?[=:]`)

// isDeep reports whether the first line of a text is a document with maps in it or with its tick, and not a row.
func isDeep(text []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(text, " \r\n"), []byte{'\n'})
	line = bytes.TrimSpace(line)
	if len(line) == 0 || bytes.IndexByte([]byte("]})"), line[len(line)-1]) < 0 {
		return false
	}
	m := firstField.FindSubmatch(line)
	depth, deepest := 0, 0
	for _, c := range line {
		switch c {
		case '{', '[', '(':
			depth++
			deepest = max(deepest, depth)
		case '}', ']', ')':
			depth--
		}
	}
	return bytes.Count(line, []byte{'{'}) > 3 || m != nil && (deepest > 2 || isTick(m[1]) && (deepest > 1 || hasOthers(text, line)))
}

// hasOthers reports whether lines of a text are records of another type than the first one, with the same bracket:
//
//	World { Tick = 60, Food = 1120 }
//	  Ant { Id = 1, Pos = (30, 30, 3), Energy = 100 }
func hasOthers(text, first []byte) bool {
	begin := bytes.IndexAny(first, "[({")
	kind, others, all := bytes.TrimSpace(first[:begin]), 0, 0
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 || bytes.HasPrefix(line, kind) {
			continue
		}
		all++
		if i := bytes.IndexAny(line, "[({"); i > 0 && line[i] == first[begin] && isWordByte(line[0]) {
			others++
		}
	}
	return others > 0 && others == all
}

// maxBegin is how many bytes the begin of a container, a key or a type has at most.
const maxBegin = 256

// canonicalizer rewrites a text.
type canonicalizer struct {
	text  []byte // is changed
	at    int
	open  []opened
	marks int
}

// opened is a container that has begun.
type opened struct {
	closes byte // the sign that ends it
	fields bool // = is after its names
	plain  bool // it is a list of values that may be texts without quotes
	pairs  bool // it is a map of Haskell, whose members are pairs: fromList [(7,Unit {hp = 3})]
	first  bool // it is such a pair, whose name comes
}

// canonical writes a text with braces around maps, brackets around lists, and a colon after names. Every value keeps its
// place. Marks counts what only the languages of [printedNotation] write.
//
//	{:tick=>5, :units=>[#<struct Unit id=7>]}     { tick: 5,  units: [         Unit{id:7}]}
func canonical(text []byte) (out []byte, marks int) {
	c := &canonicalizer{text: slices.Clone(text)}
	if plain, is := unspew(text); is {
		c.text, c.marks = plain, 1
	}
	for c.at < len(c.text) {
		c.next()
	}
	return c.text, c.marks
}

// has reports whether the text goes on with a prefix.
func (c *canonicalizer) has(prefix string) bool {
	return bytes.HasPrefix(c.text[c.at:], []byte(prefix))
}

// blank writes n blanks and passes them.
func (c *canonicalizer) blank(n int) {
	for range n {
		c.text[c.at] = ' '
		c.at++
	}
}

// near returns the text up to the place where a type, a key or a number of elements has ended.
func (c *canonicalizer) near() []byte { return c.text[c.at:min(len(c.text), c.at+maxBegin)] }

// after returns what follows n bytes and blanks, and where that is.
func (c *canonicalizer) after(n int) ([]byte, int) {
	rest := bytes.TrimLeft(c.text[min(len(c.text), c.at+n):], " \t\r\n")
	return rest, len(c.text) - len(rest)
}

// begin writes the begin of a container.
func (c *canonicalizer) begin(opens, closes byte, fields bool) {
	c.text[c.at] = opens
	c.at++
	c.open = append(c.open, opened{closes: closes, fields: fields})
}

func (c *canonicalizer) next() {
	b := c.text[c.at]
	if c.pair(b) {
		return
	}
	if b <= ' ' || b == ',' || b == ';' {
		if c.at++; b == ',' && len(c.open) > 0 && c.open[len(c.open)-1].plain {
			c.plain()
		}
		return
	}
	if isNameStart(b) {
		c.word()
		return
	}
	var before, following byte
	if c.at > 0 {
		before = c.text[c.at-1]
	}
	if c.at+1 < len(c.text) {
		following = c.text[c.at+1]
	}
	switch {
	case b == '"' || b == '\'':
		c.quoted(b)
	case c.has("=>"):
		c.text[c.at], c.text[c.at+1] = ':', ' '
		c.at += 2
		c.marks++
	case (b == '%' || b == '#' || b == '&') && (following == '{' || isNameStart(following)):
		c.blank(1)
		c.marks++
	case b == '@' && (isNameStart(before) || before-'0' < 10) && identity.Match(c.near()):
		c.anonymous()
	case b == '@' && isNameStart(following) && strings.IndexByte(" ,{", before) >= 0:
		c.blank(1)
	case b == '=' && following != '=' && len(c.open) > 0 && c.open[len(c.open)-1].fields:
		c.text[c.at] = ':'
		c.at++
		c.marks++
		c.spaces()
	case c.has("$VAR"):
		if end := bytes.IndexByte(c.near(), '='); end > 0 {
			c.blank(end)
			c.marks++
		}
		c.blank(1)
	case c.has("#<"):
		c.object()
	case c.has("<nil>"):
		c.text[c.at], c.text[c.at+4] = ' ', ' '
		c.at += 5
	case b == ':' && isNameStart(following) && !isNameStart(before) && before-'0' > 9 && before != '"' && before != '\'':
		c.blank(1) // a symbol of Ruby
	case c.has("[]") && slice.Match(c.near()):
		c.blank(bytes.IndexByte(c.near(), '{'))
		c.marks++
		c.begin('[', ']', false)
	case b == '[' && c.indexed():
	case c.has("(*"): // a pointer of Go
		if end := bytes.IndexAny(c.near(), ")\n"); end > 0 && bytes.HasPrefix(c.text[c.at+end:], []byte(")(")) {
			c.blank(end + 2)
			if end = bytes.IndexByte(c.near(), ')'); end > 0 {
				if c.text[c.at] == '0' {
					copy(c.text[c.at:], "nil")
				}
				c.blankFrom(c.at+3, c.at+end+1)
			}
			return
		}
		c.begin('(', ')', false)
	case b == '{':
		c.begin('{', '}', true)
	case b == '[' || b == '(':
		n := len(c.open)
		plain := b == '[' && n > 0 && (c.open[n-1].plain || c.open[n-1].fields && (c.open[n-1].closes == ')' || c.open[n-1].closes == ']'))
		c.begin(b, closes(b), isNameStart(before) || before-'0' < 10) // Unit[id=1], but not [id=1]
		if c.open[n].plain = plain && !c.open[n].fields; c.open[n].plain {
			c.plain()
		}
	case b == '}' || b == ']' || b == ')' || b == '>' && len(c.open) > 0 && c.open[len(c.open)-1].fields && c.open[len(c.open)-1].closes == '>':
		if n := len(c.open); n > 0 {
			if c.text[c.at] = c.open[n-1].closes; c.text[c.at] == '>' {
				c.text[c.at] = '}'
			}
			c.open = c.open[:n-1]
		}
		c.at++
	default:
		c.at++
	}
}

// anonymous takes the identity of an object away. The name before it moves to the bracket.
func (c *canonicalizer) anonymous() {
	begin := c.at
	for begin > 0 && (isWordByte(c.text[begin-1]) || c.text[begin-1] == '.' || c.text[begin-1] == '$') {
		begin--
	}
	size := bytes.IndexAny(c.near(), "[({")
	copy(c.text[begin+size:], c.text[begin:c.at])
	c.blankFrom(begin, begin+size)
	c.at = begin + size + bytes.IndexAny(c.text[begin+size:], "[({")
	c.marks++
}

// pair rewrites what is around the name in a pair of a map of Haskell: [(7,Unit {hp = 3})] is { 7:Unit {hp: 3} }. It reports whether
// it has.
func (c *canonicalizer) pair(b byte) bool {
	n := len(c.open) - 1
	switch {
	case n < 0:
		return false
	case c.open[n].first && b == ',':
		c.text[c.at], c.open[n].first = ':', false
		c.at++
		c.spaces()
		return true
	case c.open[n].pairs && b == '(':
		c.blank(1)
		c.open = append(c.open, opened{closes: ' ', first: true})
		return true
	}
	return false
}

// spaces passes blanks before a value, and masks a text without quotes: name=Tide Caller, owner=0
func (c *canonicalizer) spaces() {
	for c.at < len(c.text) && c.text[c.at] == ' ' {
		c.at++
	}
	if c.at == len(c.text) {
		return
	}
	c.negatives()
	end := bytes.IndexAny(c.near(), ",;]})=[{(<>\"'\n")
	if end > 0 && isNameStart(c.text[c.at]) && strings.IndexByte(",]})", c.text[c.at+end]) >= 0 && !nextText.Match(c.near()[end:]) {
		if text := bytes.TrimRight(c.text[c.at:c.at+end], " "); !bytes.HasPrefix(text, []byte("Just ")) {
			mask(text)
		}
		return
	}
	c.plain()
}

// A value of a record or list that is no text without quotes, and what shows that a comma belongs to a text: no name follows it.
var (
	otherValue = lazyregexp.New(`^(?:["'\[{(#<&%*]|[\w.$]+(?:@[0-9a-f]{1,8})?[\[({]|[A-Za-z_][\w.$]* \{|0x[0-9a-fA-F]+$|Just )`)
	nextName   = lazyregexp.New(`^[,;]\s*@?[A-Za-z_][\w$]*\s?[=:]`)
	nextText   = lazyregexp.New(`^,\s*(?:[^\s\w"'\[{(#<@]|[\w .'-]+(?:,|[)\]}]))`)
	identity   = lazyregexp.New(`^@[0-9a-f]{1,8}[\[({]`)                  // of an object of Java, which is another one on each machine
	arrayOf    = lazyregexp.New(`^\[+(?:[BCDFIJSZ]|L[\w.$]+;)@[0-9a-f]+`) // of Java: [I@1b2c3d
)

// plain masks a text without quotes, as Java, Kotlin and C# print the texts of their records and lists: zone=Europe/Oslo, name=Frost, the Cold
func (c *canonicalizer) plain() {
	const longest = 1024
	for c.at < len(c.text) && c.text[c.at] == ' ' {
		c.at++
	}
	top := c.open[len(c.open)-1]
	text := c.text[c.at:min(len(c.text), c.at+longest)]
	if address := arrayOf.FindSubmatch(text); address != nil {
		copy(text, "nil")
		c.at += len("nil")
		c.blank(len(address[0]) - len("nil"))
		return
	}
	if otherValue.Match(text) || top.closes == '>' || top.pairs {
		return
	}
	var open []byte
	end := 0
scan:
	for ; end < len(text); end++ {
		switch b := text[end]; {
		case b == '\n' || len(open) > MaxDepth:
			return
		case len(open) == 0 && (b == ')' || b == ']' || b == '}'):
			if b != top.closes && !(top.closes == '}' && b == '>') {
				return
			}
			break scan
		case len(open) == 0 && top.plain && b == ',', len(open) == 0 && (b == ',' || b == ';') && nextName.Match(text[end:min(len(text), end+maxBegin)]):
			break scan
		case b == '(' || b == '[' || b == '{':
			if top.closes == '}' {
				return // Haskell and others have values in braces
			}
			open = append(open, closes(b))
		case len(open) > 0 && b == open[len(open)-1]:
			open = open[:len(open)-1]
		}
	}
	if text = bytes.TrimRight(text[:end], " "); end == longest || isNumber(text) || bytes.IndexByte(text, '=') >= 0 {
		return
	}
	mask(text)
	c.at += len(text)
}

// maskedSigns are written as the bytes in maskBytes, which UTF-8 does not have, and signs up to ? as bytes from 0xa0 on.
const (
	maskedSigns = "[]{}|~^`\\@"
	maskBytes   = "\xc0\xc1\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc"
	spaceWithin = ' ' | 0x80
)

// mask rewrites a text, so that it is one word. The address of an object stays.
func mask(text []byte) {
	at := bytes.IndexByte(text, '@')
	isAddress := at > 0 && len(bytes.Trim(text[at+1:], "0123456789abcdef")) == 0
	for i, b := range text {
		n := strings.IndexByte(maskedSigns, b)
		switch {
		case n >= 0 && !(b == '@' && isAddress):
			text[i] = maskBytes[n]
		case b >= ' ' && b <= '?' && b-'0' > 9 && b != '.':
			text[i] = b | 0x80
		}
	}
}

// unmasked is a Sink that writes the signs of masked texts again.
type unmasked struct{ Sink }

func (s *unmasked) Scalar(kind Kind, text []byte) {
	if (kind == Text || kind == Bare) && !utf8.Valid(text) {
		var out []byte
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRune(text[i:])
			switch b := text[i]; {
			case r != utf8.RuneError || n > 1:
				out = append(out, text[i:i+n]...)
			case strings.IndexByte(maskBytes, b) >= 0:
				out = append(out, maskedSigns[strings.IndexByte(maskBytes, b)])
			case b >= spaceWithin && b <= '?'|0x80:
				out = append(out, b&0x7f)
			default:
				out = append(out, b)
			}
			i += n
		}
		text = out
	}
	s.Sink.Scalar(kind, text)
}

// negatives takes the parentheses around negative numbers away that follow a constructor of Haskell: V2 (-0.25) 17.25
func (c *canonicalizer) negatives() {
	for near := c.near(); ; {
		begin := bytes.IndexAny(near, ",;]})=[{(<>\"'\n")
		if begin < 1 || near[begin] != '(' || near[begin-1] != ' ' {
			return
		}
		end := begin + bytes.IndexByte(near[begin:], ')')
		if number := near[begin+1 : max(begin+1, end)]; len(number) == 0 || number[0] != '-' || numberLen(number) < len(number) {
			return
		}
		near[begin], near[end] = ' ', ' '
		near = near[end+1:]
	}
}

// blankFrom writes blanks between two places, and passes them.
func (c *canonicalizer) blankFrom(from, to int) {
	c.at = from
	c.blank(to - from)
}

// quoted passes a text in quotes.
func (c *canonicalizer) quoted(quote byte) {
	for c.at++; c.at < len(c.text); c.at++ {
		switch c.text[c.at] {
		case '\\':
			c.at++
		case quote:
			c.at++
			return
		}
	}
	c.at = min(c.at, len(c.text))
}

// object rewrites the begin of an object of Ruby: #<struct Unit id=1>, #<Unit:0x7f @id=1>.
func (c *canonicalizer) object() {
	c.marks++
	c.blank(2)
	for _, w := range []string{"struct ", "data "} {
		if c.has(w) {
			c.blank(len(w))
		}
	}
	end := bytes.IndexAny(c.near(), " >=\n")
	if end < 0 {
		return
	}
	name := c.text[c.at : c.at+end]
	if c.text[c.at+end] == '=' { // it has no name
		c.at--
		c.begin('{', '>', true)
		return
	}
	if colon := bytes.IndexByte(name, ':'); colon > 0 && !bytes.HasPrefix(name[colon:], []byte("::")) {
		c.blankFrom(c.at+colon, c.at+end)
	} else {
		c.at += end
	}
	if c.text[c.at] == '>' { // nothing is in it
		copy(c.text[c.at-end-1:], name)
		copy(c.text[c.at-1:], "{}")
		c.at++
		return
	}
	c.begin('{', '>', true)
}

// indexed rewrites a key of PHP: [hp] => 5, ["hp"]=> int(5). It reports whether there is one.
func (c *canonicalizer) indexed() bool {
	end := bytes.IndexByte(c.near(), ']')
	if end < 2 || bytes.ContainsAny(c.near()[1:end], "[{(,\n") || !bytes.HasPrefix(bytes.TrimLeft(c.near()[end+1:], " "), []byte("=>")) {
		return false
	}
	line, _, ended := bytes.Cut(c.text[c.at:], []byte("\n"))
	value, _ := bytes.CutPrefix(bytes.TrimLeft(line[end+1:], " "), []byte("=>"))
	c.marks++
	key := line[1:end]
	if quote := key[0]; quote == '"' && bytes.IndexByte(key[1:], '"') > 0 {
		key = key[:bytes.IndexByte(key[1:], '"')+2]
	} else if colon := bytes.IndexByte(key, ':'); colon > 0 { // hp:protected
		key = key[:colon]
	}
	stop := len(line) - len(value)
	last := c.at + stop
	for i := range line[:stop] {
		if i == 0 || i > len(key) {
			line[i] = ' '
		}
	}
	line[stop-2] = ':'
	c.at = last
	text := bytes.TrimRight(bytes.TrimPrefix(value, []byte(" ")), "\r")
	if len(value) == 0 || value[0] != ' ' || key[0] == '"' || numberLen(text) == len(text) && len(text) > 0 {
		return true
	}
	if follows, _ := c.after(len(value)); !(bytes.HasSuffix(text, []byte("Array")) || bytes.HasSuffix(text, []byte(" Object"))) || len(follows) == 0 || follows[0] != '(' {
		if ended && bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, '\\') < 0 {
			c.text[c.at], c.text[c.at+len(value)] = '"', '"' // up to the end of the line
		}
		c.at = min(len(c.text), c.at+len(value)+1)
	}
	return true
}

// word rewrites a word, which may be the name of a member, of a type, or of a kind of container.
func (c *canonicalizer) word() {
	n := 1
	for c.at+n < len(c.text) && (isNameStart(c.text[c.at+n]) || c.text[c.at+n]-'0' < 10 || c.text[c.at+n] == '.' || c.text[c.at+n] == '\\') {
		n++
	}
	if end := genericLen(c.text[c.at+n:]); end > 0 { // List`1[Vec2]
		for i := range c.text[c.at+n : c.at+n+end] {
			if b := &c.text[c.at+n+i]; bytes.IndexByte([]byte("`[], "), *b) >= 0 {
				*b = '_'
			}
		}
		c.at += n + end
		return
	}
	w := string(c.text[c.at : c.at+n])
	rest, place := c.after(n)
	glued := place == c.at+n
	switch {
	case len(rest) == 0:
		c.at = len(c.text)
		return
	case w == "Just" && !glued:
		c.blank(n)
		return
	case w == "fromList" && rest[0] == '[':
		c.blankFrom(c.at, place)
		c.marks++
		c.begin('[', ']', false)
		if inside, _ := c.after(0); len(inside) > 0 && inside[0] == '(' {
			c.text[c.at-1] = '{'
			n := len(c.open) - 1
			c.open[n].closes, c.open[n].pairs = '}', true
		}
		return
	case oneOfWords(w, "array Array list") && rest[0] == '(':
		if inside := bytes.IndexByte(rest[:min(len(rest), 24)], ')'); w == "array" && glued && inside > 0 && strings.Trim(string(rest[1:inside]), "0123456789") == "" && inside > 1 { // array(3) {
			c.blank(n + inside + 1)
			return
		}
		c.blankFrom(c.at, place)
		c.marks++
		c.begin('{', '}', false)
		return
	case bytes.HasPrefix(rest, []byte("Object")) && !glued:
		c.at = place
		c.blank(len("Object"))
		if inside, at := c.after(0); len(inside) > 0 && inside[0] == '(' {
			c.at = at
			c.begin('{', '}', false)
		}
		return
	case w == "object" && glued && rest[0] == '(': // object(Unit)#3 (4) {
		c.blank(n + 1)
		end := bytes.IndexByte(c.near(), ')')
		if brace := bytes.IndexAny(c.near(), "{\n"); end > 0 && brace > end {
			c.blankFrom(c.at+end, c.at+brace)
		}
		return
	case glued && oneOfWords(w, "int float bool string enum") && rest[0] == '(':
		end := bytes.IndexByte(c.near(), ')')
		if end < 0 {
			break
		}
		c.text[c.at+end] = ' '
		if w == "string" {
			n = end
		}
		c.blank(min(n+1, len(c.text)-c.at))
		return
	case w == "map" && glued && rest[0] == '[':
		c.marks++
		if end := bytes.IndexAny(rest[:min(len(rest), maxBegin)], "{ :\n"); end > 0 && rest[end] == '{' { // map[string]int{
			c.blank(n + end)
			return
		}
		c.blank(n)
		c.begin('{', '}', false)
		return
	case glued && rest[0] == '(' && len(rest) > 1 && isNameStart(rest[1]): // Unit(id: 1)
		name := rest[1:]
		if end := bytes.IndexAny(name[:min(len(name), maxBegin)], " :,()"); end > 0 && name[end] == ':' {
			c.marks++
		}
	case glued && rest[0] == ':' && len(rest) > 1 && rest[1] > ' ' && rest[1] != '/' && rest[1] != ':': // Hp:5
		c.marks++
	}
	c.at += n
}

// genericLen returns the length of what follows the name of a generic type of C#, 0 if nothing does: `1[Vec2]
func genericLen(text []byte) int {
	if len(text) < 3 || text[0] != '`' || text[2] != '[' {
		return 0
	}
	depth := 0
	for i, b := range text[:min(len(text), maxBegin)] {
		if b == '[' {
			depth++
		} else if b == ']' {
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// oneOfWords reports whether a word is in a list.
func oneOfWords(w, list string) bool { return strings.Contains(" "+list+" ", " "+w+" ") }
