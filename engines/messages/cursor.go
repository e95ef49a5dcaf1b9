package messages

import (
	"bytes"
	"strings"
)

const (
	HexDigits  = "0123456789abcdefABCDEF"
	MaxHex128  = 32 // digits of 128 bits
	MaxDecimal = 39

	// maxNameLen is the longest name or address of a peer in bytes.
	maxNameLen = 1024
)

// Cursor reads a claim from its text. Once something is not as expected, all that
// it returns is empty.
type Cursor struct {
	text   []byte
	pos    int
	failed bool
	cut    bool // it failed because the text ends
}

// Failed reports whether something was not as expected.
func (c *Cursor) Failed() bool { return c.failed }

// Mark returns a place to go back to.
func (c *Cursor) Mark() int { return c.pos }

// Back goes back to a place, and forgets that something was not as expected since. That the text has ended is kept.
func (c *Cursor) Back(mark int) { *c = Cursor{text: c.text, pos: mark, cut: c.cut} }

// Rest returns what was not read yet.
func (c *Cursor) Rest() []byte { return c.text[c.pos:] }

// Fail says that something is not as expected.
func (c *Cursor) Fail() { c.failed, c.pos = true, len(c.text) }

// FailCut fails where more text might have had what was expected.
func (c *Cursor) FailCut() {
	if !c.failed {
		c.cut = true
	}
	c.Fail()
}

// Try reads a literal if it comes next.
func (c *Cursor) Try(s string) bool {
	if c.failed || !bytes.HasPrefix(c.Rest(), []byte(s)) {
		return false
	}
	c.pos += len(s)
	return true
}

// Literal reads what has to come next.
func (c *Cursor) Literal(s string) {
	if !c.Optional(s) {
		c.Fail()
	}
}

// Optional is Try, but fails if the text ends within what could be the literal.
func (c *Cursor) Optional(s string) bool {
	if rest := c.Rest(); !c.failed && len(rest) < len(s) && strings.HasPrefix(s, string(rest)) {
		c.FailCut()
	}
	return c.Try(s)
}

// Space skips spaces and line ends.
func (c *Cursor) Space() {
	for c.pos < len(c.text) && strings.IndexByte(" \t\r\n", c.text[c.pos]) >= 0 {
		c.pos++
	}
}

// Digits reads up to limit digits of a set, at least one, followed by something
// else.
func (c *Cursor) Digits(set string, limit int) string {
	if c.failed {
		return ""
	}
	rest := c.Rest()
	n := 0
	for n < len(rest) && n <= limit && strings.IndexByte(set, rest[n]) >= 0 {
		n++
	}
	switch {
	case n == len(rest):
		c.FailCut()
	case n == 0 || n > limit:
		c.Fail()
	default:
		c.pos += n
		return string(rest[:n])
	}
	return ""
}

// Number reads a number below 2^63.
func (c *Cursor) Number() uint64 {
	n := uint64(0)
	for _, digit := range c.Digits("0123456789", 18) {
		n = 10*n + uint64(digit-'0')
	}
	return n
}

// List reads the rest of a list of numbers and returns the first one. The others
// are as they are.
func (c *Cursor) List() uint64 {
	c.Space()
	first := c.Number()
	rest := c.Rest()
	n := 0
	for n < len(rest) && strings.IndexByte("0123456789, \t\r\n", rest[n]) >= 0 {
		n++
	}
	c.pos += n
	c.Literal("]")
	return first
}

// Until reads up to a literal on the same line and passes it.
func (c *Cursor) Until(s string) string { return c.Name(bytes.Index(c.Line(), []byte(s)), len(s)) }

// UntilLast reads up to the last place of a literal on the same line, which must
// have an end, and passes it.
func (c *Cursor) UntilLast(s string) string {
	line := c.Line()
	if len(line) == len(c.Rest()) {
		c.FailCut()
		return ""
	}
	return c.Name(bytes.LastIndex(line, []byte(s)), len(s))
}

// UntilBrace reads up to the brace that closes what was opened before, and passes
// it. Braces in quotes count like others.
func (c *Cursor) UntilBrace() string {
	depth := 0
	for i, b := range c.Rest() {
		if b == '{' {
			depth++
		} else if b == '}' {
			if depth == 0 {
				return strings.TrimSuffix(strings.TrimSpace(c.Name(i, 1)), ",")
			}
			depth--
		}
	}
	c.FailCut()
	return ""
}

// NextLine passes the rest of the line and its end.
func (c *Cursor) NextLine() {
	n := bytes.IndexByte(c.Rest(), '\n')
	if n < 0 {
		c.FailCut()
		return
	}
	c.pos += n + 1
}

// Line returns the rest of the line.
func (c *Cursor) Line() []byte {
	line, _, _ := bytes.Cut(c.Rest(), []byte("\n"))
	return line
}

// Name returns the next n bytes as valid text and passes them and skip more.
func (c *Cursor) Name(n, skip int) string {
	if n < 0 && len(c.Line()) == len(c.Rest()) {
		c.FailCut()
		return ""
	}
	if c.failed || n < 0 || n > maxNameLen {
		c.Fail()
		return ""
	}
	text := string(c.Rest()[:n])
	c.pos += n + skip
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Signed reads a number that may be negative, of up to 20 digits.
func (c *Cursor) Signed() string {
	sign := ""
	if c.Try("-") {
		sign = "-"
	}
	return sign + c.Digits("0123456789", 20)
}
