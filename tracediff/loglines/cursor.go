package loglines

import (
	"bytes"
	"strings"
)

const (
	hexDigits  = "0123456789abcdefABCDEF"
	maxHex128  = 32 // digits of 128 bits
	maxDecimal = 39

	// maxNameLen is the longest name or address of a peer in bytes.
	maxNameLen = 1024
)

// cursor reads a claim from its text. Once something is not as expected, all that
// it returns is empty.
type cursor struct {
	text   []byte
	pos    int
	failed bool
	cut    bool // it failed because the text ends
}

func (c *cursor) rest() []byte { return c.text[c.pos:] }

func (c *cursor) fail() { c.failed, c.pos = true, len(c.text) }

// failCut fails where more text might have had what was expected.
func (c *cursor) failCut() {
	if !c.failed {
		c.cut = true
	}
	c.fail()
}

// try reads a literal if it comes next.
func (c *cursor) try(s string) bool {
	if c.failed || !bytes.HasPrefix(c.rest(), []byte(s)) {
		return false
	}
	c.pos += len(s)
	return true
}

func (c *cursor) literal(s string) {
	if !c.optional(s) {
		c.fail()
	}
}

// optional is try, but fails if the text ends within what could be the literal.
func (c *cursor) optional(s string) bool {
	if rest := c.rest(); !c.failed && len(rest) < len(s) && strings.HasPrefix(s, string(rest)) {
		c.failCut()
	}
	return c.try(s)
}

// space skips spaces and line ends.
func (c *cursor) space() {
	for c.pos < len(c.text) && strings.IndexByte(" \t\r\n", c.text[c.pos]) >= 0 {
		c.pos++
	}
}

// digits reads up to limit digits of a set, at least one, followed by something
// else.
func (c *cursor) digits(set string, limit int) string {
	if c.failed {
		return ""
	}
	rest := c.rest()
	n := 0
	for n < len(rest) && n <= limit && strings.IndexByte(set, rest[n]) >= 0 {
		n++
	}
	switch {
	case n == len(rest):
		c.failCut()
	case n == 0 || n > limit:
		c.fail()
	default:
		c.pos += n
		return string(rest[:n])
	}
	return ""
}

// number reads a number below 2^63.
func (c *cursor) number() uint64 {
	n := uint64(0)
	for _, digit := range c.digits("0123456789", 18) {
		n = 10*n + uint64(digit-'0')
	}
	return n
}

// list reads the rest of a list of numbers and returns the first one. The others
// are as they are.
func (c *cursor) list() uint64 {
	c.space()
	first := c.number()
	rest := c.rest()
	n := 0
	for n < len(rest) && strings.IndexByte("0123456789, \t\r\n", rest[n]) >= 0 {
		n++
	}
	c.pos += n
	c.literal("]")
	return first
}

// until reads up to a literal on the same line and passes it.
func (c *cursor) until(s string) string { return c.name(bytes.Index(c.line(), []byte(s)), len(s)) }

// untilLast reads up to the last place of a literal on the same line, which must
// have an end, and passes it.
func (c *cursor) untilLast(s string) string {
	line := c.line()
	if len(line) == len(c.rest()) {
		c.failCut()
		return ""
	}
	return c.name(bytes.LastIndex(line, []byte(s)), len(s))
}

// untilBrace reads up to the brace that closes what was opened before, and passes
// it. Braces in quotes count like others.
func (c *cursor) untilBrace() string {
	depth := 0
	for i, b := range c.rest() {
		if b == '{' {
			depth++
		} else if b == '}' {
			if depth == 0 {
				return strings.TrimSuffix(strings.TrimSpace(c.name(i, 1)), ",")
			}
			depth--
		}
	}
	c.failCut()
	return ""
}

// nextLine passes the rest of the line and its end.
func (c *cursor) nextLine() {
	n := bytes.IndexByte(c.rest(), '\n')
	if n < 0 {
		c.failCut()
		return
	}
	c.pos += n + 1
}

func (c *cursor) line() []byte {
	line, _, _ := bytes.Cut(c.rest(), []byte("\n"))
	return line
}

// name returns the next n bytes as valid text and passes them and skip more.
func (c *cursor) name(n, skip int) string {
	if n < 0 && len(c.line()) == len(c.rest()) {
		c.failCut()
		return ""
	}
	if c.failed || n < 0 || n > maxNameLen {
		c.fail()
		return ""
	}
	text := string(c.rest()[:n])
	c.pos += n + skip
	return strings.ToValidUTF8(text, "\uFFFD")
}
