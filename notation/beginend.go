package notation

import (
	"bytes"
)

// beginEndNotation is blocks between lines Begin and End, as Unreal writes its objects (T3D, copied actors):
//
//	Begin Actor Class=/Script/Game.Frigate Name=Frigate_3
//	   Begin Object Name="Hull"
//	      Armour=50.0
//	   End Object
//	   Location=(X=3.5,Y=-2.0)
//	End Actor
//
// A block is an item by its class, or else by its kind. Its name is its identity, #id. An object within another is a member by its
// name. A block with nothing but blocks, such as a level, is not shown.
func beginEndNotation() Notation {
	return Notation{Name: "t3d", Title: "Begin and End blocks", Extensions: []string{".t3d", ".copy", ".txt"}, Repeats: true, Sniff: sniffBeginEnd, Parse: parseBeginEnd}
}

// sniffBeginEnd reports whether a text is such blocks, with two values at least.
func sniffBeginEnd(head []byte, whole bool) bool {
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	p := beginEndParser{text: head, to: discard{}}
	err := p.run()
	return (p.pairs > 1 || !whole && p.pairs > 0) && p.blocks > 0 && (err == nil || !whole && err.(*Error).Cut)
}

func parseBeginEnd(text []byte, to Sink) error {
	p := beginEndParser{text: text, to: discard{}}
	if err := p.run(); err != nil && !err.(*Error).Cut {
		return err
	}
	p = beginEndParser{text: text, to: to, full: p.full, known: true}
	return p.run()
}

// beginEndParser reads a text, twice: only the lines below its begin show whether a block has values.
type beginEndParser struct {
	text  []byte
	to    Sink
	open  []beginEnd
	full  []bool // of each block, whether it has a class or a value
	known bool   // full is from a first reading

	blocks, pairs int
}

// beginEnd is an open block.
type beginEnd struct {
	kind   []byte
	number int
	class  bool
	shown  bool
}

func (p *beginEndParser) run() error {
	p.to.BeginMap(0)
	at := bomLen(p.text)
	for at < len(p.text) {
		begin := at
		var line []byte
		line, at = lineAt(p.text, at)
		line = bytes.TrimSpace(line)
		if isRemark(line) {
			continue
		}
		if err := p.line(line, begin, at); err != nil {
			if e := err.(*Error); at == len(p.text) && p.text[at-1] != '\n' {
				e.Cut = true
			}
			return err
		}
	}
	if len(p.open) > 0 {
		return cut(at, "a block %.40s", p.open[len(p.open)-1].kind)
	}
	p.to.End(at)
	return nil
}

// line reads a line that begins at an offset.
func (p *beginEndParser) line(line []byte, begin, end int) error {
	word, rest, _ := bytes.Cut(line, []byte{' '})
	switch rest = bytes.TrimSpace(rest); {
	case bytes.EqualFold(word, []byte("Begin")) && len(rest) > 0 && rest[0] != '=':
		return p.begin(rest, begin)
	case bytes.EqualFold(word, []byte("End")) && (len(rest) == 0 || rest[0] != '='):
		n := len(p.open) - 1
		if n < 0 || !bytes.EqualFold(rest, p.open[n].kind) {
			return fault(begin, "%.40q, expected the end of the block that is open", line)
		}
		if p.open[n].shown {
			p.to.End(end)
		}
		p.open = p.open[:n]
		return nil
	case len(p.open) == 0:
		return fault(begin, "%.40q, expected the begin of a block", line)
	}
	n := 0
	for n < len(line) && (isWordByte(line[n]) || line[n] >= 0x80 || line[n] == '.' || line[n] == '-' && n > 0) {
		n++
	}
	name, value := line[:n], line[n:]
	if !isName(name) {
		return fault(begin, "%.40q, expected a name and a value", line)
	}
	p.pairs++
	p.full[p.open[len(p.open)-1].number] = true
	if number, after, ok := bytes.Cut(value, []byte(")=")); ok && len(number) > 1 && number[0] == '(' && len(bytes.Trim(number[1:], "0123456789")) == 0 { // Slots(2)=5
		p.to.Name(name)
		p.to.BeginMap(begin)
		p.to.Name(number[1:])
		if err := p.value(after, begin, 2); err != nil {
			return err
		}
		p.to.End(end)
		return nil
	}
	if value = bytes.TrimSpace(value); len(value) > 0 && value[0] == '=' {
		p.to.Name(name)
		return p.value(bytes.TrimSpace(value[1:]), begin, 1)
	}
	p.to.Item(name)
	giveValue(p.to, value, begin)
	return nil
}

// begin begins a block.
func (p *beginEndParser) begin(rest []byte, at int) error {
	const deepest = MaxDepth / 2
	kind, rest, _ := bytes.Cut(rest, []byte{' '})
	if !isName(kind) {
		return fault(at, "%.40q, expected the kind of a block", kind)
	}
	if len(p.open) >= deepest {
		return fault(at, "more than %d blocks within each other", deepest)
	}
	b := beginEnd{kind: kind, number: p.blocks}
	if p.blocks++; !p.known {
		p.full = append(p.full, false)
	}
	item, id := kind, []byte(nil)
	var names, values [][]byte
	for rest = bytes.TrimSpace(rest); len(rest) > 0; rest = bytes.TrimSpace(rest) {
		n := attributeLen(rest)
		name, value, ok := bytes.Cut(rest[:n], []byte{'='})
		rest = rest[n:]
		switch {
		case !ok && id == nil:
			id = name // Begin VB.Form Main
		case !ok || !isName(name):
			return fault(at, "%.40q, expected a name and a value", name)
		case bytes.EqualFold(name, []byte("Name")):
			id = bytes.Trim(value, `"`)
		case bytes.EqualFold(name, []byte("Class")):
			b.class = true
			item = bytes.Trim(value[1+bytes.LastIndexAny(value, "./"):], `"'`)
			names, values = append(names, []byte("#type")), append(values, bytes.Trim(value, `"'`))
		default:
			names, values = append(names, name), append(values, value)
		}
	}
	within := len(p.open) > 0 && p.open[len(p.open)-1].class
	b.shown = p.full[b.number] || b.class || within || !p.known
	p.full[b.number] = p.full[b.number] || b.class
	p.open = append(p.open, b)
	if !b.shown {
		return nil
	}
	if bytes.EqualFold(kind, []byte("Object")) && within && len(id) > 0 {
		p.to.Name(id)
		id = nil
	} else {
		p.to.Item(item)
	}
	p.to.BeginMap(at)
	if id != nil {
		p.to.Name([]byte("#id"))
		p.to.Scalar(Text, id)
	}
	for i, name := range names {
		p.to.Name(name)
		if err := p.value(values[i], at, 1); err != nil {
			return err
		}
	}
	return nil
}

// attributeLen returns the length of a word and its value, which may be in quotes: Name="Hull 2", Archetype=Frigate'/Game/A.B'
func attributeLen(text []byte) int {
	quote := byte(0)
	for i, c := range text {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == ' ' || c == '\t':
			return i
		}
	}
	return len(text)
}

// value gives a value: a scalar, or parentheses with values or with names and values.
func (p *beginEndParser) value(value []byte, at, depth int) error {
	switch {
	case len(p.open)+depth >= MaxDepth:
		return fault(at, "more than %d maps and lists within each other", MaxDepth)
	case string(value) == "None" || len(value) == 0:
		p.to.Scalar(Null, nil)
		return nil
	case string(value) == "True" || string(value) == "False":
		p.to.Scalar(Bool, bytes.ToLower(value))
		return nil
	case value[0] != '(' || value[len(value)-1] != ')':
		giveValue(p.to, value, at)
		return nil
	}
	parts, ok := structParts(value[1 : len(value)-1])
	if !ok {
		return fault(at, "%.40q, expected values in parentheses", value)
	}
	named := len(parts) > 0 && structName(parts[0]) > 0
	if named {
		p.to.BeginMap(at)
	} else {
		p.to.BeginList(at)
	}
	for _, part := range parts {
		n := structName(part)
		if named != (n > 0) {
			return fault(at, "%.40q, expected that all values have names, or none", value)
		}
		if named {
			p.to.Name(part[:n])
			n++
		}
		if err := p.value(bytes.TrimSpace(part[n:]), at, depth+1); err != nil {
			return err
		}
	}
	p.to.End(at + len(value))
	return nil
}

// structName returns the length of the name before a value in parentheses: X=3.5. It is 0 if there is none.
func structName(part []byte) int {
	if n := bytes.IndexByte(part, '='); n > 0 && isWordByte(part[n-1]) && isName(part[:n]) {
		return n
	}
	return 0
}

// structParts splits what is in parentheses at its commas. It reports whether the parentheses and quotes in it end.
func structParts(text []byte) (parts [][]byte, ok bool) {
	depth, begin, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return nil, false
			}
		case c == ',' && depth == 0:
			parts, begin = append(parts, bytes.TrimSpace(text[begin:i])), i+1
		}
	}
	if last := bytes.TrimSpace(text[begin:]); len(last) > 0 || len(parts) > 0 {
		parts = append(parts, last)
	}
	return parts, depth == 0 && !quoted
}
