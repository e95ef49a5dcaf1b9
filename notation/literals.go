package notation

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
)

// luaNotation is a table of Lua: one that a file returns, that it assigns to names, or that a program printed.
func luaNotation() Notation {
	d := &literalDialect{
		scalars: dialect{comment: "--", long: true, hex: true, decimal: true, suffixes: []string{"ULL", "LL"}, words: map[string]fixedWord{
			"nil": {Null, ""}, "true": {Bool, "true"}, "false": {Bool, "false"},
			"nan": {Number, "nan"}, "-nan": {Number, "nan"}, "inf": {Number, "inf"}, "-inf": {Number, "-inf"}, "0/0": {Number, "nan"},
			"math.huge": {Number, "inf"}, "-math.huge": {Number, "-inf"}, "1/0": {Number, "inf"}, "-1/0": {Number, "-inf"},
		}},
		opens: "{", assigns: map[byte]byte{0: '=', '{': '='}, separators: ",;", mixed: true, wordNames: true, first: 1,
	}
	n := d.notation("lua", "Lua tables", ".lua")
	sniff, parse := n.Sniff, n.Parse
	n.Sniff = func(head []byte, whole bool) bool { return sniff(withoutFunctions(head), whole) }
	n.Parse = func(text []byte, to Sink) error { return parse(withoutFunctions(text), to) }
	return n
}

// luaFunctions are values that are functions without what they do, as serpent prints them.
var luaFunctions = lazyregexp.New(`function ?\([\w, .]{0,80}\)\s{0,40}(?:--\[\[[^\]]{0,80}\]\]\s{0,40})?end\b`)

// withoutFunctions returns a text with nil and blanks for these.
func withoutFunctions(text []byte) []byte {
	found := luaFunctions.FindAllSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text
	}
	text = bytes.Clone(text)
	for _, at := range found {
		copy(text[at[0]:at[1]], append([]byte("nil"), bytes.Repeat([]byte{' '}, at[1]-at[0]-len("nil"))...))
	}
	return text
}

// pythonNotation is a value as repr and pprint of Python print it, and print of Godot. An object Unit(id=1) is a map with
// the type as #type, one without members of its own <Unit object at 0x7f> nothing.
func pythonNotation() Notation {
	d := &literalDialect{
		scalars: dialect{comment: "#", prefix: 'b', hexRune: true, joins: true, suffixes: []string{"L"}, words: map[string]fixedWord{
			"None": {Null, ""}, "True": {Bool, "true"}, "False": {Bool, "false"}, "null": {Null, ""}, "true": {Bool, "true"}, "false": {Bool, "false"},
			"nan": {Number, "nan"}, "inf": {Number, "inf"}, "-inf": {Number, "-inf"},
		}},
		opens: "{[(", calls: "(", assigns: map[byte]byte{0: '=', '{': ':', '(': '='}, separators: ",", sets: true,
	}
	return d.notation("python", "Python literals", ".py", ".repr")
}

// rustNotation is a value as {:?} and {:#?} of Rust print it, or RON: Unit(id: 7). Some(x) is x, and a struct is a map with
// the type as #type.
func rustNotation() Notation {
	d := &literalDialect{
		scalars: dialect{comment: "//", bareWords: true, words: map[string]fixedWord{
			"None": {Null, ""}, "true": {Bool, "true"}, "false": {Bool, "false"},
			"NaN": {Number, "nan"}, "inf": {Number, "inf"}, "-inf": {Number, "-inf"},
		}},
		opens: "{[(", calls: "{(", assigns: map[byte]byte{'{': ':', '(': ':'}, separators: ",", transparent: "Some", wordNames: true, sets: true,
	}
	return d.notation("rust-debug", "Rust debug output", ".rs", ".dbg", ".ron")
}

// javascriptNotation is an object as console.log of JavaScript or inspect of Ruby prints it, or as a script has it.
func javascriptNotation() Notation {
	d := &literalDialect{
		scalars: dialect{comment: "//", hex: true, hexRune: true, suffixes: []string{"n"}, words: map[string]fixedWord{
			"null": {Null, ""}, "undefined": {Null, ""}, "nil": {Null, ""}, "true": {Bool, "true"}, "false": {Bool, "false"},
			"NaN": {Number, "nan"}, "Infinity": {Number, "inf"}, "-Infinity": {Number, "-inf"},
		}},
		opens: "{[", calls: "{", assigns: map[byte]byte{0: '=', '{': ':'}, separators: ",;", wordNames: true,
	}
	return d.notation("javascript", "JavaScript objects", ".js", ".json5")
}

// snbtNotation is SNBT, as Minecraft and its tools print NBT: numbers with letters for their types, and arrays of one type.
func snbtNotation() Notation {
	d := &literalDialect{
		scalars: dialect{bareWords: true, suffixes: []string{"b", "B", "s", "S", "l", "L", "f", "F", "d", "D"},
			words: map[string]fixedWord{"true": {Bool, "true"}, "false": {Bool, "false"}}},
		opens: "{[", assigns: map[byte]byte{'{': ':'}, separators: ",", wordNames: true, untyped: true,
	}
	n := d.notation("snbt", "SNBT", ".snbt", ".mcfunction")
	n.Sniff = func(head []byte, whole bool) bool {
		return bytes.IndexByte([]byte("{["), firstByte(head)) >= 0 && snbtTyped.Match(head) && d.sniff(withoutTypes(head), whole)
	}
	n.Parse = func(text []byte, to Sink) error { return d.parse(withoutTypes(text), to) }
	return n
}

// snbtTyped finds a number with its type, or an array of one.
var snbtTyped = lazyregexp.New(`[:\[,]\s*(?:-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?[bBsSlLfFdD]\s*[,}\]]|\[[BIL];)`)

// firstByte returns the first byte of a text that is no blank, 0 if there is none.
func firstByte(text []byte) byte {
	if text = bytes.TrimSpace(text); len(text) > 0 {
		return text[0]
	}
	return 0
}

// withoutTypes returns a text of SNBT with blanks for the types of arrays: [I; 1, 2].
func withoutTypes(text []byte) []byte {
	text = bytes.Clone(text)
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' && i+2 < len(text) && text[i+2] == ';' && bytes.IndexByte([]byte("BIL"), text[i+1]) >= 0:
			text[i+1], text[i+2] = ' ', ' '
		}
	}
	return text
}

// literalDialect describes the containers of one language.
type literalDialect struct {
	scalars     dialect
	opens       string        // what begins a container
	calls       string        // what begins one after the name of its type
	assigns     map[byte]byte // the byte after a name, by the begin of the container; 0 is the whole text
	separators  string        // of members
	mixed       bool          // members with and without names may be in one container
	wordNames   bool          // names of members in braces need no quotes
	first       int           // the number of the first member without a name
	transparent string        // a type that is not shown if it has one member
	untyped     bool          // no container needs a type
	blanks      bool          // members need nothing between them
	sets        bool          // braces without names are a set, which has no order
}

func (d *literalDialect) notation(name, title string, extensions ...string) Notation {
	return Notation{Name: name, Title: title, Extensions: extensions,
		Sniff: d.sniff,
		Parse: d.parse,
	}
}

func (d *literalDialect) parse(text []byte, to Sink) error {
	p := d.parser(text)
	p.run()
	p.to, p.known = to, true
	return p.run()
}

// sniff reports whether a text is one or more containers, with names for some members, or numbers only.
func (d *literalDialect) sniff(head []byte, whole bool) bool {
	if i := bytes.LastIndexAny(head, d.separators); !whole && i > 0 {
		head = head[:i+1] // a name without its value would be a value
	}
	p := d.parser(head)
	err := p.run()
	if err != nil && (whole || !err.(*Error).Cut) || p.scalars < 2 && p.scalars+p.names < 3 || p.flat || p.bareWords && !p.typed && !p.untyped || !p.bareWords && p.some {
		return false
	}
	return p.names > 0 || p.numbers == p.scalars
}

func (d *literalDialect) parser(text []byte) *literalParser {
	return &literalParser{literalDialect: d, scanner: scanner{dialect: &d.scalars, text: text}, to: discard{}}
}

// literalParser reads one text, twice: whether a container is a list or a map shows only after its begin.
type literalParser struct {
	*literalDialect
	scanner
	to     Sink
	stack  []literal
	shapes []shape // of each container, in the order of their begins
	known  bool    // shapes are from a first reading
	count  int     // of containers that have begun
	silent int     // how many containers were open when one began that is a name; 0 if none is
	name   []byte  // of the member that the next value belongs to
	end    int     // of the last member

	set []element // of the set that is open

	repeated int // bytes that are read again

	scalars, numbers, names int
	typed                   bool // a container has a type, in upper case
	some                    bool // the type Some of Rust
	flat                    bool // a scalar precedes all containers
}

// literal is an open container.
type literal struct {
	begin        int
	opens        byte   // 0 for the whole text
	class        string // the name of its type
	number       int    // its place in shapes
	assign       byte   // the byte after a name
	items, named int
	scalars      int  // of the items
	key          bool // p.name is the name of the next member
	complete     bool // a member is, and a separator must follow
	shape        shape
	comma        bool
	again        int      // how often the element that was read last comes yet
	within       [][]byte // the maps around the next member, in the whole text: D.snaps of D.snaps[25] =
	outerKey     bool     // a value that is shown in place of this container has the name of this container
}

// shape is how a container is shown.
type shape byte

const (
	asList  shape = iota
	asMap         // with names or numbers for its members
	asValue       // as its only member
	asName        // it is the name of a member
	asSet         // as a list of its members in order
)

// element is a member of a set.
type element struct {
	kind Kind
	text []byte
}

func (p *literalParser) run() error {
	p.at, p.count, p.silent, p.repeated = 0, 0, 0, 0
	if bytes.HasPrefix(p.text, []byte("\xef\xbb\xbf")) {
		p.at = 3
	}
	for p.bareWords && bytes.HasPrefix(p.text[p.at:], []byte("#![")) { // #![enable(implicit_some)] of RON
		if p.at += bytes.IndexByte(p.text[p.at:], '\n') + 1; p.at == 0 || p.text[p.at-1] != '\n' {
			return cut(0, "an attribute")
		}
	}
	p.stack = append(p.stack[:0], literal{assign: p.assigns[0]})
	if p.enter(&p.stack[0]); p.stack[0].shape == asMap {
		p.to.BeginMap(p.at)
	}
	err := p.members()
	if !p.known {
		for len(p.stack) > 0 {
			p.learn(p.top())
			p.stack = p.stack[:len(p.stack)-1]
		}
	} else if err == nil && p.stack[0].shape == asMap {
		p.to.End(p.at)
	}
	return err
}

func (p *literalParser) top() *literal { return &p.stack[len(p.stack)-1] }

// enter gives a container its number, and its shape if that is known.
func (p *literalParser) enter(l *literal) {
	l.number = p.count
	p.count++
	if p.known {
		l.shape = p.shapes[l.number]
	} else {
		p.shapes = append(p.shapes, asList)
	}
}

// learn remembers the shape of a container that is complete.
func (p *literalParser) learn(l *literal) {
	s := asList
	switch {
	case l.shape == asName:
		s = asName
	case l.named > 0 || l.opens == '{' && l.items == 0:
		s = asMap
	case p.sets && l.opens == '{' && l.class == "" && l.scalars == l.items:
		s = asSet
	case l.items == 1 && (l.class != "" || l.opens == '(' && !l.comma):
		s = asValue
	}
	p.shapes[l.number] = s
}

// members reads up to the end of the text.
func (p *literalParser) members() error {
	for {
		if err := p.space(); err != nil {
			return err
		}
		top, c := p.top(), p.peek()
		switch {
		case p.at == len(p.text):
			if len(p.stack) == 1 && !top.key {
				return nil
			}
			return cut(p.at, "a value")
		case top.opens != 0 && c == closes(top.opens) && !top.key:
			if err := p.close(); err != nil {
				return err
			}
		case top.complete && bytes.IndexByte([]byte(p.separators), c) >= 0:
			top.complete, top.comma = false, true
			p.at++
		case top.key && p.blanks && top.opens != 0 && (c == ',' || c == closes(top.opens)): // name=, hp=3
			if err := p.empty(); err != nil {
				return err
			}
		case top.complete && top.opens != 0 && !p.blanks:
			return fault(p.at, "%q, expected %c or %c", c, p.separators[0], closes(top.opens))
		case top.complete && top.opens == 0 && top.named == 0 && bytes.IndexByte(p.text[p.end:p.at], '\n') < 0:
			return fault(p.at, "%q after a document, expected the end of the line", c)
		default:
			top.complete = false
			if err := p.member(c); err != nil {
				return err
			}
		}
	}
}

// empty gives a member that is an empty text.
func (p *literalParser) empty() error {
	p.scalars++
	p.begins()
	if p.silent == 0 {
		p.to.Scalar(Text, nil)
	}
	return p.completes(p.at)
}

// closes returns the end of a container.
func closes(opens byte) byte {
	if opens == '(' {
		return ')'
	}
	return opens + 2 // } follows { by two, and ] follows [
}

// member reads a name, a scalar or the begin of a container.
func (p *literalParser) member(c byte) error {
	top, begin := p.top(), p.at
	if bytes.IndexByte([]byte(p.opens), c) >= 0 {
		return p.open("", begin)
	}
	index := p.long && c == '[' && p.longOpens() == 0 && top.opens == '{' && !top.key // [17] =
	if index {
		p.at++
		if err := p.space(); err != nil {
			return err
		}
	}
	word := p.text[p.at : p.at+p.wordLen()]
	if len(word) > 0 && isNameStart(word[0]) && !index || string(word) == ".." {
		if done, err := p.called(word, begin); done || err != nil {
			return err
		}
	}
	kind, text, err := p.scalar()
	if err != nil && !err.(*Error).Cut && top.key && top.opens == '(' && len(word) > 0 && isNameStart(word[0]) { // dtype=float32
		kind, text, err = Text, word, nil
		p.at = begin + len(word)
	}
	if err != nil {
		return err
	}
	named, err := p.assigned(index)
	if err != nil {
		return err
	}
	if named && (top.assign == ':' || index || p.bareWords) {
		if kind == Null || kind == Bool {
			text = word
		}
		if p.bareWords { // .x in Zig
			text = bytes.TrimPrefix(text, []byte("."))
		}
		return p.named(text)
	}
	if p.at == len(p.text) && len(p.stack) > 1 {
		return cut(begin, "a value")
	}
	if index {
		return fault(begin, "%.20q, expected a name in brackets, and =", p.text[begin:])
	}
	if len(p.stack) == 1 && !top.key {
		return fault(begin, "%.20q, expected a map or list", p.text[begin:])
	}
	p.scalars++
	if kind == Number {
		p.numbers++
	}
	p.flat = p.flat || p.count == 1
	p.begins()
	top.scalars++
	switch {
	case p.silent != 0:
	case top.shape == asSet:
		p.set = append(p.set, element{kind, bytes.Clone(text)})
	default:
		p.to.Scalar(kind, text)
	}
	return p.completes(begin)
}

// called reads a word that is the name of a member or of a type. It reports whether it has.
func (p *literalParser) called(word []byte, begin int) (bool, error) {
	top := p.top()
	switch {
	case top.key:
	case p.bareWords && string(word) == "..": // more members, which are not shown
		p.at += len(word)
		return true, nil
	case p.long && len(p.stack) == 1 && strings.Contains(" return local do end ", " "+string(word)+" "):
		p.at += len(word)
		if word[0] == 'r' && top.named > 0 { // return State, at the end of a module
			err := p.space()
			p.at += p.wordLen()
			top.complete = true
			return true, err
		}
		return true, nil
	}
	p.at += len(word)
	if p.long && len(p.stack) == 1 && !top.key {
		if done, err := p.path(word, begin); done || err != nil {
			return done, err
		}
	}
	named, err := p.assigned(false)
	if err != nil {
		return true, err
	}
	if _, fixed := p.words[string(word)]; named && (top.opens != '{' || p.wordNames || fixed) {
		return true, p.named(word)
	}
	next := p.peek()
	if p.calls != "" && next != 0 && strings.IndexByte(p.calls, next) >= 0 && (next == '{' || p.at == begin+len(word)) {
		return true, p.open(string(word), begin)
	}
	p.at = begin
	return false, nil
}

// path reads the left side of a statement of Lua that assigns to a member of a table: D.snaps[25] = {…}. It reports whether it has.
func (p *literalParser) path(word []byte, begin int) (bool, error) {
	steps := bytes.Split(word, []byte("."))
	for {
		if p.peek() == '.' {
			p.at++
			n := p.wordLen()
			steps = append(steps, bytes.Split(p.text[p.at:p.at+n], []byte("."))...)
			p.at += n
			continue
		}
		if p.peek() != '[' || p.longOpens() > 0 {
			break
		}
		p.at++
		if err := p.space(); err != nil {
			return true, err
		}
		kind, text, err := p.scalar()
		if err == nil {
			text = bytes.Clone(text)
			err = p.space()
		}
		if err != nil {
			return true, err
		}
		if p.peek() != ']' || kind == Null || len(steps) == MaxDepth-1 {
			return true, fault(begin, "%.20q, expected a name in brackets", p.text[begin:])
		}
		p.at++
		steps = append(steps, text)
	}
	if named, err := p.assigned(false); err != nil || !named || len(steps) == 1 || slices.ContainsFunc(steps, func(s []byte) bool { return len(s) == 0 }) {
		p.at = begin + len(word)
		return false, err
	}
	p.top().within = steps[:len(steps)-1]
	return true, p.named(steps[len(steps)-1])
}

// assigned reports whether the name of a member precedes, and moves in front of the sign that follows a name.
func (p *literalParser) assigned(index bool) (bool, error) {
	if err := p.space(); err != nil {
		return false, err
	}
	if index {
		if p.peek() != ']' {
			return false, nil
		}
		p.at++
		if err := p.space(); err != nil {
			return false, err
		}
	}
	top := p.top()
	return !top.key && top.assign != 0 && p.peek() == top.assign, nil
}

// named takes the name of the next member, and what follows it.
func (p *literalParser) named(name []byte) error {
	p.at++
	p.names++
	p.typed = p.typed || p.top().opens == '(' // RON
	p.top().key = true
	p.name = append(p.name[:0], name...)
	return nil
}

// begins counts a member when its value begins, and gives its name.
func (p *literalParser) begins() {
	top := p.top()
	if p.silent == 0 && (top.shape == asMap || top.shape == asValue && top.outerKey) {
		if !top.key && !top.outerKey {
			p.name = strconv.AppendInt(p.name[:0], int64(top.items-top.named+p.first), 10)
		}
		for _, name := range top.within {
			p.to.Name(name)
			p.to.BeginMap(p.at)
		}
		p.to.Name(p.name)
	}
	top.count()
}

// count counts a member.
func (l *literal) count() {
	if l.key {
		l.named++
	}
	l.items++
	l.key, l.outerKey = false, false
}

// completes ends a member that began at an offset.
func (p *literalParser) completes(begin int) error {
	top := p.top()
	if top.complete, p.end = true, p.at; p.silent == 0 {
		for range top.within {
			p.to.End(p.at)
		}
	}
	top.within = nil
	if c := p.peek(); p.blanks && top.named == 0 && (c == ' ' || c == '<') {
		if err := p.repeat(begin); err != nil {
			return err
		}
	}
	if !p.mixed && top.opens != '(' && top.named > 0 && top.named < top.items {
		return fault(begin, "%.20q, expected that all members have names, or none", p.text[begin:])
	}
	return nil
}

// manyTimes finds how often a debugger read an element: 0 <repeats 30 times>
var manyTimes = lazyregexp.New(`^ ?<repeats (\d{1,9}) times>`)

// repeat reads an element that began at an offset again, if a number of times follows it.
func (p *literalParser) repeat(begin int) error {
	top := p.top()
	m := manyTimes.FindSubmatch(p.text[p.at:min(len(p.text), p.at+32)])
	if m == nil {
		return nil
	}
	if top.again == 0 {
		times, _ := strconv.Atoi(string(m[1]))
		top.again = times
		if p.repeated += times * (p.at - begin); p.repeated > minRepeated+maxRepeated*len(p.text) {
			return fault(begin, "more than %d times as much data with what is repeated", maxRepeated)
		}
	}
	if top.again--; top.again > 0 {
		p.at, top.complete = begin, false
	} else {
		p.at += len(m[0])
	}
	return nil
}

// open begins a container, of a type if class is not empty.
func (p *literalParser) open(class string, begin int) error {
	if len(p.stack)+len(p.stack[0].within) >= MaxDepth {
		return fault(begin, "more than %d maps and lists within each other", MaxDepth)
	}
	top := p.top()
	l := literal{begin: begin, opens: p.peek(), class: class}
	if l.assign = p.assigns[l.opens]; l.opens == '(' && class == "" && l.assign == '=' {
		l.assign = 0
	}
	p.typed = p.typed || class != "" && class[0] <= 'Z' && strings.IndexByte(class, '.') < 0
	p.some = p.some || class == "Some"
	p.enter(&l)
	keyed, show := top.key || top.outerKey, p.silent == 0
	plain := class == "" || class == p.transparent && l.shape == asValue
	if !plain && !keyed && l.shape != asName {
		l.shape = asMap // so that its type is not lost
	}
	switch {
	case l.shape == asName:
		if show {
			p.silent = len(p.stack)
		}
	case plain && keyed && l.shape == asValue:
		l.outerKey = true
		top.count()
	default:
		if show && !plain && l.shape != asMap {
			p.to.Name(append(p.name, "#type"...))
			p.to.Scalar(Text, []byte(class))
		}
		p.begins()
		if !show || l.shape == asValue {
			break
		}
		if l.shape == asList || l.shape == asSet {
			p.to.BeginList(begin)
			break
		}
		p.to.BeginMap(begin)
		if class != "" {
			p.to.Name([]byte("#type"))
			p.to.Scalar(Text, []byte(class))
		}
	}
	p.at++
	p.stack = append(p.stack, l)
	return nil
}

// close ends a container. If it is a name, its text is.
func (p *literalParser) close() error {
	l := *p.top()
	p.at++
	end := p.at
	p.stack = p.stack[:len(p.stack)-1]
	top := p.top()
	if p.known && l.shape == asName {
		if p.silent == len(p.stack) {
			p.silent = 0
		}
		var name []byte
		if p.silent == 0 {
			name = compact(p.text[l.begin:end])
		}
		if _, err := p.assigned(false); err != nil {
			return err
		}
		return p.named(name)
	}
	if !p.known {
		if top.assign == ':' {
			named, err := p.assigned(false)
			if err != nil {
				return err
			}
			if named {
				top.items-- // it was counted as a member
				p.shapes[l.number] = asName
				return p.named(nil)
			}
		}
		p.learn(&l)
	}
	if p.silent == 0 && l.shape == asSet {
		giveSet(p.to, p.set)
		p.set = p.set[:0]
	}
	if p.silent == 0 && l.shape != asValue && l.shape != asName {
		p.to.End(end)
	}
	return p.completes(l.begin)
}

// giveSet gives the members of a set in order.
func giveSet(to Sink, set []element) {
	lists.SortStable(set, func(a, b element) int { return cmp.Or(len(a.text)-len(b.text), bytes.Compare(a.text, b.text)) })
	for _, e := range set {
		to.Scalar(e.kind, e.text)
	}
}

// compact returns the text of a value in one line without blanks.
func compact(text []byte) []byte {
	var out []byte
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0 && c == '\\' && i+1 < len(text):
			out = append(out, c)
			i++
			c = text[i]
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			continue
		case (c == ')' || c == ']' || c == '}') && out[len(out)-1] == ',':
			out = out[:len(out)-1]
		}
		out = append(out, c)
	}
	return out
}
