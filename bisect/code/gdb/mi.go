package gdb

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// record is a line that gdb prints in its machine interface.
type record struct {
	kind   byte   // ^ a result; * + = something that happened; ~ @ & text
	token  string // of the command that a result answers
	class  string // done, error, stopped, …; the text itself for ~ @ &
	fields value  // a tuple
}

// value is a string, a tuple or a list. Of a list of results, the names are in the fields too.
type value struct {
	text   string
	fields []field
}

type field struct {
	name string // empty in a list of values
	value
}

// get returns the first field with a name, or the zero value.
func (v value) get(name string) value {
	for _, f := range v.fields {
		if f.name == name {
			return f.value
		}
	}
	return value{}
}

// str returns the text of a field.
func (v value) str(name string) string { return v.get(name).text }

// deepest is how deep tuples and lists may be nested.
const deepest = 64

// errNoRecord is the error of a line that is not one of the machine interface.
var errNoRecord = errors.New("not a record of gdb's machine interface")

// parseRecord reads a line without its end. A prompt is a record of kind 0.
func parseRecord(line string) (record, error) {
	if strings.TrimRight(line, " ") == "(gdb)" {
		return record{}, nil
	}
	token := line[:len(line)-len(strings.TrimLeft(line, "0123456789"))]
	p := parser{rest: line[len(token):]}
	if p.rest == "" {
		return record{}, errNoRecord
	}
	r := record{kind: p.rest[0], token: token}
	p.rest = p.rest[1:]
	switch r.kind {
	case '~', '@', '&':
		text, err := p.quoted()
		if err == nil && p.rest != "" {
			err = errNoRecord
		}
		r.class = text
		return r, err
	case '^', '*', '+', '=':
	default:
		return record{}, errNoRecord
	}
	r.class, _, _ = strings.Cut(p.rest, ",")
	if p.rest = p.rest[len(r.class):]; r.class == "" {
		return record{}, errNoRecord
	}
	for p.took(',') {
		f, err := p.result(0)
		if err != nil {
			return record{}, err
		}
		r.fields.fields = append(r.fields.fields, f)
	}
	if p.rest != "" {
		return record{}, fmt.Errorf("%w: %.40q is too much", errNoRecord, p.rest)
	}
	return r, nil
}

// parser reads the values of a record.
type parser struct{ rest string }

// took reads a byte if it comes next.
func (p *parser) took(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// result reads name=value.
func (p *parser) result(depth int) (field, error) {
	name, _, ok := strings.Cut(p.rest, "=")
	if !ok || name == "" || strings.ContainsAny(name, `"{}[],`) {
		return field{}, fmt.Errorf("%w: %.40q, expected name=value", errNoRecord, p.rest)
	}
	p.rest = p.rest[len(name)+1:]
	v, err := p.value(depth)
	return field{name, v}, err
}

func (p *parser) value(depth int) (v value, err error) {
	if depth > deepest {
		return v, fmt.Errorf("%w: nested more than %d deep", errNoRecord, deepest)
	}
	switch {
	case strings.HasPrefix(p.rest, `"`):
		v.text, err = p.quoted()
		return v, err
	case p.took('{'):
		return p.several('}', depth, p.result)
	case p.took('['):
		return p.several(']', depth, func(depth int) (field, error) {
			if p.rest == "" || strings.IndexByte(`"{[`, p.rest[0]) < 0 {
				return p.result(depth)
			}
			v, err := p.value(depth)
			return field{"", v}, err
		})
	}
	return v, fmt.Errorf("%w: %.40q, expected a value", errNoRecord, p.rest)
}

// several reads elements with commas in between, up to end.
func (p *parser) several(end byte, depth int, one func(depth int) (field, error)) (v value, err error) {
	if p.took(end) {
		return v, nil
	}
	for {
		f, err := one(depth + 1)
		if err != nil {
			return v, err
		}
		v.fields = append(v.fields, f)
		if p.took(end) {
			return v, nil
		}
		if !p.took(',') {
			return v, fmt.Errorf("%w: %.40q, expected a comma or %q", errNoRecord, p.rest, end)
		}
	}
}

// escapes are the bytes that gdb writes as a letter after a backslash.
var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', 'e': 27, '"': '"', '\\': '\\', '\'': '\''}

// quoted reads a string as C writes it.
func (p *parser) quoted() (string, error) {
	if !p.took('"') {
		return "", fmt.Errorf("%w: %.40q, expected a string", errNoRecord, p.rest)
	}
	var b strings.Builder
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return b.String(), nil
		case c != '\\':
			b.WriteByte(c)
		case len(p.rest) >= 3 && p.rest[0] >= '0' && p.rest[0] <= '3':
			n, err := strconv.ParseUint(p.rest[:3], 8, 8)
			if err != nil {
				return "", fmt.Errorf("%w: %.40q, expected three octal digits", errNoRecord, p.rest)
			}
			b.WriteByte(byte(n))
			p.rest = p.rest[3:]
		default:
			if p.rest == "" {
				return "", errNoRecord
			}
			plain, ok := escapes[p.rest[0]]
			if !ok {
				return "", fmt.Errorf("%w: a string has \\%c", errNoRecord, p.rest[0])
			}
			b.WriteByte(plain)
			p.rest = p.rest[1:]
		}
	}
	return "", fmt.Errorf("%w: a string does not end", errNoRecord)
}

// quote writes a string as a parameter of a command.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
