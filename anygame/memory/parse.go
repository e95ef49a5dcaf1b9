package memory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Parse reads a text that declares structs as C does, and returns the layout of the one of that name, or of the last if
// the name is empty:
//
//	pointers 64
//	struct Unit { u32 id; f32 pos[2]; char name[16]; fixed16 hp; u8 flags : 3; Unit *target; };
//	struct GameState { u64 tick; Unit units[64]; };
//
// Members lie as gcc and clang lay them; after #pragma pack(N), and in structs that are packed, closer. Types have the
// names of C, of <stdint.h>, or short ones such as u8, i16, f32. A fixed16 is a signed integer of 32 bits, 16 of them
// after the point. Types with a size that depends on the compiler, such as long, are errors.
func Parse(text, name string) (*Layout, error) {
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, types: plainTypes(), constants: map[string]int64{}, pointer: 8}
	for p.more() {
		if err := p.declaration(); err != nil {
			return nil, err
		}
	}
	t := p.last
	if name != "" {
		if t = p.types[name]; t == nil {
			return nil, fmt.Errorf("no struct %s is declared", name)
		}
	}
	if t == nil {
		return nil, fmt.Errorf("no struct is declared, expected one such as: struct Unit { u32 id; f32 hp; };")
	}
	b := builder{}
	return b.layout(t)
}

// parser reads declarations.
type parser struct {
	tokens    []token
	at        int
	types     map[string]*typ
	constants map[string]int64
	pointer   int64   // bytes of an address
	pack      int64   // most bytes that members are aligned to; 0 for no bound
	packs     []int64 // that were pushed
	last      *typ
	depth     int
}

func (p *parser) more() bool { return p.at < len(p.tokens) }

// peek returns the next token, "" at the end.
func (p *parser) peek() string {
	if !p.more() {
		return ""
	}
	return p.tokens[p.at].text
}

// next returns the next token and goes on.
func (p *parser) next() string {
	text := p.peek()
	p.at++
	return text
}

// take goes on if that token is the next one.
func (p *parser) take(text string) bool {
	if p.peek() != text {
		return false
	}
	p.at++
	return true
}

// ahead returns the token after the next one.
func (p *parser) ahead() string {
	if p.at+1 >= len(p.tokens) {
		return ""
	}
	return p.tokens[p.at+1].text
}

// fault returns an error at the token before the current one.
func (p *parser) fault(format string, args ...any) error {
	line := 1
	if n := len(p.tokens); n > 0 {
		line = p.tokens[min(max(p.at-1, 0), n-1)].line
	}
	return fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...))
}

func (p *parser) expect(text string) error {
	if got := p.next(); got != text {
		return p.fault("%q, expected %q", got, text)
	}
	return nil
}

// word returns a name.
func (p *parser) word() (string, error) {
	got := p.next()
	if got == "" || !isWord(rune(got[0])) || unicode.IsDigit(rune(got[0])) {
		return "", p.fault("%q, expected a name", got)
	}
	return got, nil
}

// declaration reads what is in no struct.
func (p *parser) declaration() error {
	switch text := p.peek(); {
	case strings.HasPrefix(text, "#"):
		return p.directive(strings.TrimSpace(p.next()[1:]))
	case text == ";":
		p.at++
		return nil
	case text == "pointers":
		p.at++
		bits := p.next()
		if bits != "32" && bits != "64" {
			return p.fault("pointers of %q bits, expected 32 or 64", bits)
		}
		p.pointer = map[string]int64{"32": 4, "64": 8}[bits]
		return nil
	}
	alias := p.take("typedef")
	t, err := p.typ()
	if err != nil {
		return err
	}
	for p.more() && p.peek() != ";" {
		m, err := p.declarator(t)
		if err != nil {
			return err
		}
		if alias {
			if m.typ.name == "" {
				m.typ.name = m.name
			}
			p.types[m.name] = m.typ
		}
		if !p.take(",") {
			break
		}
	}
	return p.expect(";")
}

// directive reads a line of the preprocessor: of those only packing and numbers matter.
func (p *parser) directive(line string) error {
	line, _, _ = strings.Cut(line, "//")
	fields := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t(),", c) })
	if len(fields) < 2 {
		return nil
	}
	switch {
	case fields[0] == "define" && len(fields) == 3:
		if n, err := strconv.ParseInt(fields[2], 0, 64); err == nil {
			p.constants[fields[1]] = n
		}
	case fields[0] == "if" || fields[0] == "ifdef" || fields[0] == "elif":
		return p.fault("#%s, expected declarations without conditions", fields[0])
	case fields[0] == "pragma" && fields[1] == "pack":
		return p.packing(fields[2:])
	}
	return nil
}

func (p *parser) packing(fields []string) error {
	if len(fields) == 0 {
		p.pack = 0
	}
	for _, f := range fields {
		switch n, err := strconv.ParseInt(f, 10, 64); {
		case f == "push":
			p.packs = append(p.packs, p.pack)
		case f == "pop" && len(p.packs) > 0:
			p.pack = p.packs[len(p.packs)-1]
			p.packs = p.packs[:len(p.packs)-1]
		case err == nil && (n == 1 || n == 2 || n == 4 || n == 8 || n == 16):
			p.pack = n
		default:
			return p.fault("#pragma pack with %q", f)
		}
	}
	return nil
}

// typ reads a type without its declarator.
func (p *parser) typ() (*typ, error) {
	var list []string
	for {
		switch text := p.peek(); text {
		case "const", "volatile", "mutable":
			p.at++
			continue
		case "struct", "class", "union", "enum":
			if len(list) > 0 {
				return nil, p.fault("%q after a type", text)
			}
			return p.tagged()
		case "unsigned", "signed", "short", "long", "int", "char":
			list = append(list, p.next())
			continue
		}
		break
	}
	if len(list) == 0 {
		name, err := p.word()
		if err != nil {
			return nil, err
		}
		list = []string{name}
	}
	return p.named(list)
}

// named returns a type by its words.
func (p *parser) named(list []string) (*typ, error) {
	sorted := strings.Join(slices.Sorted(slices.Values(list)), " ")
	if short := words[sorted]; short != "" {
		return p.types[short], nil
	}
	if t := p.types[sorted]; t != nil {
		return t, nil
	}
	switch sorted {
	case "void":
		return &typ{name: "void", kind: Opaque}, nil
	case "size_t", "uintptr_t", "usize":
		return &typ{kind: Unsigned, name: sorted, size: p.pointer, align: p.pointer}, nil
	case "ptrdiff_t", "intptr_t", "isize", "ssize_t":
		return &typ{kind: Signed, name: sorted, size: p.pointer, align: p.pointer}, nil
	case "long", "int long", "long unsigned", "int long unsigned", "wchar_t", "double long":
		return nil, p.fault("the size of %q depends on the compiler: write u32, i64 or the like", strings.Join(list, " "))
	}
	if p.peek() == "*" {
		return &typ{kind: Opaque, size: -1}, nil // only a pointer to it can be
	}
	return nil, p.fault("type %q is not declared", strings.Join(list, " "))
}

// tagged reads a struct, a union or an enum, declared or named.
func (p *parser) tagged() (*typ, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault("structs lie more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	kind := p.next()
	packed := p.packed()
	name := ""
	if text := p.peek(); text != "" && isWord(rune(text[0])) {
		name, _ = p.word()
	}
	t := &typ{isPlain: kind != "union" && kind != "enum", name: name, kind: map[string]Kind{"union": Union, "enum": Enum}[kind]}
	if kind == "enum" && (p.peek() == "{" || p.peek() == ":" && p.ahead() > "9") { // else a bit field of a known one
		return t, p.enum(t)
	}
	if !p.take("{") {
		if known := p.types[name]; known != nil {
			return known, nil
		}
		return &typ{name: name, kind: Opaque, size: -1}, nil // only a pointer to it can be
	}
	if name != "" {
		p.types[name] = t // pointers to it may be in it
		t.size = -1
	}
	var list []member
	for !p.take("}") {
		if err := p.members(&list); err != nil {
			return nil, err
		}
		if len(list) > maxFields {
			return nil, p.fault("more than %d members", maxFields)
		}
	}
	packed = p.packed() || packed
	if err := p.lay(t, list, packed); err != nil {
		return nil, err
	}
	if t.isPlain {
		p.last = t
	}
	return t, nil
}

// packed reads whether a struct is packed.
func (p *parser) packed() (is bool) {
	for {
		switch {
		case p.take("packed"):
			is = true
		case p.peek() == "__attribute__":
			p.at++
			for slices.Contains([]string{"(", ")", "packed", "__packed__"}, p.peek()) {
				is = strings.Contains(p.next(), "packed") || is
			}
		default:
			return is
		}
	}
}

// members reads the members of one line.
func (p *parser) members(list *[]member) error {
	if strings.HasPrefix(p.peek(), "#") {
		return p.directive(strings.TrimSpace(p.next()[1:]))
	}
	if !p.more() {
		return p.fault("the text ends inside a struct")
	}
	t, err := p.typ()
	if err != nil {
		return err
	}
	if p.take(";") { // an anonymous struct or union
		if t.isPlain || t.kind == Union {
			*list = append(*list, member{typ: t})
		}
		return nil
	}
	for {
		m, err := p.declarator(t)
		if err != nil {
			return err
		}
		*list = append(*list, m)
		if !p.take(",") {
			return p.expect(";")
		}
	}
}

// declarator reads the name of a member with the text after it.
func (p *parser) declarator(t *typ) (m member, err error) {
	m.typ = t
	for p.take("*") {
		for p.take("const") || p.take("restrict") {
			continue
		}
		m.typ = &typ{kind: Pointer, size: p.pointer, align: p.pointer}
	}
	if p.take("(") { // a pointer to a function
		if err := p.expect("*"); err != nil {
			return m, err
		}
		m.typ = &typ{kind: Pointer, size: p.pointer, align: p.pointer}
		if m.name, err = p.word(); err != nil {
			return m, err
		}
		if err := p.expect(")"); err != nil {
			return m, err
		}
		for p.more() && p.peek() != ";" {
			p.at++
		}
		return m, nil
	}
	if p.peek() != ":" {
		if m.name, err = p.word(); err != nil {
			return m, err
		}
	}
	var counts []int64
	for p.take("[") {
		n, err := p.number()
		if err != nil {
			return m, err
		}
		if err := p.expect("]"); err != nil {
			return m, err
		}
		counts = append(counts, n)
	}
	for i := len(counts) - 1; i >= 0; i-- {
		if m.typ, err = arrayOf(m.typ, counts[i]); err != nil {
			return m, p.fault("%v", err)
		}
	}
	if p.take(":") {
		if m.bits, err = p.number(); err != nil {
			return m, err
		}
		if m.typ.isPlain || m.typ.kind > Enum || m.typ.kind == Float || m.bits < 0 || m.typ.size <= 0 || m.bits > 8*m.typ.size {
			return m, p.fault("a bit field of %d bits", m.bits)
		}
		if m.bits == 0 {
			m.bits = -1 // the next one begins in a new unit
		}
	}
	if m.typ.size < 0 || m.typ.name == "void" && m.typ.size == 0 {
		return m, p.fault("%s has a type that is not declared", m.name)
	}
	return m, nil
}

// number reads a number or the name of one, or a product of them. A shift multiplies by a power of two.
func (p *parser) number() (int64, error) {
	product, shift := int64(1), false
	for {
		text := p.next()
		n, ok := p.constants[text]
		if !ok {
			var err error
			if n, err = strconv.ParseInt(strings.TrimRight(text, "uUlL"), 0, 64); err != nil {
				return 0, p.fault("%q, expected a number", text)
			}
		}
		if shift && n >= 0 && n < 63 {
			n = 1 << n
		}
		if n < 0 || n > 0 && product > maxSize/n {
			return 0, p.fault("%d times %d, expected at most %d", product, n, int64(maxSize))
		}
		product *= n
		if shift = p.take("<<"); !shift && !p.take("*") {
			return product, nil
		}
	}
}

// enum reads the values of an enum, and makes constants of their names.
func (p *parser) enum(t *typ) error {
	of := p.types["u32"]
	if p.take(":") {
		var err error
		if of, err = p.typ(); err != nil {
			return err
		}
	}
	t.size, t.align, t.signed, t.names = of.size, of.align, of.kind == Signed, map[uint64]string{}
	if err := enumSize(t); err != nil {
		return p.fault("%v", err)
	}
	if t.name != "" {
		p.types[t.name] = t
	}
	if !p.take("{") {
		return nil
	}
	for value := int64(0); !p.take("}"); value++ {
		name, err := p.word()
		if err != nil {
			return err
		}
		if p.take("=") {
			negative := p.take("-")
			if value, err = p.number(); err != nil {
				return err
			}
			if negative {
				value, t.signed = -value, true
			}
		}
		t.value(name, value)
		p.constants[name] = value
		if !p.take(",") && p.peek() != "}" {
			return p.expect("}")
		}
	}
	return nil
}
