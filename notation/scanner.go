package notation

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// dialect describes the scalars and comments of one language.
type dialect struct {
	comment   string               // begins a comment that ends with its line
	words     map[string]fixedWord // scalars that are not text, except numbers
	suffixes  []string             // of numbers, without a meaning here
	hex       bool                 // 0x1f is a number
	bareWords bool                 // any other word is a text
	joins     bool                 // 'one' 'text'
	long      bool                 // [[texts]] and --[[comments]]
	prefix    byte                 // b of b'bytes'; 0 if there are none
	decimal   bool                 // \065 is decimal, not octal
	hexRune   bool                 // \xe9 is a character, not a byte
	lines     bool                 // a text in quotes may have several lines
}

type fixedWord struct {
	kind Kind
	text string
}

// scanner reads what the literals of several languages have in common.
type scanner struct {
	*dialect
	text    []byte
	at      int
	scratch []byte // of a scalar that is not as in the text
}

// space skips blanks and comments.
func (s *scanner) space() error {
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.at++
		case s.comment != "" && c == s.comment[0] && bytes.HasPrefix(s.text[s.at:], []byte(s.comment)):
			begin := s.at
			s.at += len(s.comment)
			if s.long && s.longOpens() > 0 {
				if _, err := s.longText(); err != nil {
					return cut(begin, "a comment")
				}
				continue
			}
			end := bytes.IndexByte(s.text[s.at:], '\n')
			if end < 0 {
				end = len(s.text) - s.at
			}
			s.at += end
		default:
			return nil
		}
	}
	return nil
}

// peek returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// scalar reads a scalar.
func (s *scanner) scalar() (kind Kind, text []byte, err error) {
	switch c := s.peek(); {
	case c == '"' || c == '\'':
		return s.texts(Text)
	case s.prefix != 0 && c == s.prefix && s.at+1 < len(s.text) && (s.text[s.at+1] == '"' || s.text[s.at+1] == '\''):
		return s.texts(Bytes)
	case s.long && c == '[' && s.longOpens() > 0:
		text, err = s.longText()
		return Text, text, err
	case s.prefix != 0 && (c == '&' || c == '^') && s.at+1 < len(s.text) && s.text[s.at+1] == '"': // a name or a path in Godot
		s.at++
		return s.texts(Text)
	case s.prefix != 0 && c == '<':
		if end := bytes.IndexAny(s.text[s.at:], ">\n"); end > 0 && s.text[s.at+end] == '>' {
			text = s.text[s.at : s.at+end+1]
			if s.at += len(text); string(text) == "<null>" || bytes.Contains(text, []byte(" at 0x")) || bytes.IndexByte(text, '#') > 0 {
				return Null, nil, nil // of this run
			}
			return Text, text, nil
		}
	}
	return s.word(s.wordLen())
}

// longOpens returns the length of the [[ or [==[ at the current place, 0 if there is none.
func (s *scanner) longOpens() int {
	n := s.at + 1
	for n < len(s.text) && s.text[n] == '=' {
		n++
	}
	if s.peek() != '[' || n >= len(s.text) || s.text[n] != '[' {
		return 0
	}
	return n + 1 - s.at
}

// longText reads a text in long brackets. A line break at its begin does not belong to it.
func (s *scanner) longText() ([]byte, error) {
	n := s.longOpens()
	rest := s.text[s.at+n:]
	closes := bytes.ReplaceAll(s.text[s.at:s.at+n], []byte("["), []byte("]"))
	end := bytes.Index(rest, closes)
	if end < 0 {
		return nil, cut(s.at, "a text in brackets")
	}
	s.at += n + end + n
	rest = bytes.TrimPrefix(rest[:end], []byte("\r"))
	return bytes.TrimPrefix(rest, []byte("\n")), nil
}

// texts reads a text in quotes, and in some languages those that follow it without anything between them.
func (s *scanner) texts(kind Kind) (Kind, []byte, error) {
	var all []byte
	for first := true; ; first = false {
		if kind == Bytes {
			s.at++
		}
		text, err := s.quoted(kind)
		if err != nil || !s.joins {
			return kind, text, err
		}
		end := s.at
		if err := s.space(); err != nil {
			return kind, nil, err
		}
		next := s.text[s.at:min(len(s.text), s.at+2)]
		if kind == Bytes {
			next = bytes.TrimPrefix(next, []byte{s.prefix})
		}
		more := len(next) > 0 && (next[0] == '"' || next[0] == '\'') && (kind != Bytes || s.peek() == s.prefix)
		if !more {
			s.at = end
		}
		if !more && first {
			return kind, text, nil
		}
		if all = append(all, text...); !more {
			return kind, all, nil
		}
	}
}

// quoted reads a text in quotes. Without escapes it aliases the file.
func (s *scanner) quoted(kind Kind) ([]byte, error) {
	begin := s.at
	quote, rest := s.text[begin], s.text[begin+1:]
	for i, c := range rest {
		switch c {
		case quote:
			s.at += i + 2
			return rest[:i], nil
		case '\\', '\n':
			return s.escaped(kind, begin, i)
		}
	}
	return nil, cut(begin, "a text in quotes")
}

// escaped reads a text in quotes with an escape after n bytes.
func (s *scanner) escaped(kind Kind, begin, n int) ([]byte, error) {
	quote, rest := s.text[begin], s.text[begin+1:]
	out := append(s.scratch[:0], rest[:n]...)
	for i := n; i < len(rest); {
		switch c := rest[i]; c {
		case quote:
			s.scratch, s.at = out, begin+i+2
			return out, nil
		case '\n':
			if !s.lines {
				return nil, fault(begin+1+i, "the end of a line inside a text in quotes")
			}
			out = append(out, c)
			i++
		case '\\':
			var length int
			if out, length = s.escape(out, rest[i:], kind); length == 0 {
				if len(rest)-i < 12 && bytes.IndexByte(rest[i:], quote) < 0 {
					return nil, cut(begin, "a text in quotes")
				}
				return nil, fault(begin+1+i, "an unknown escape %.8q", rest[i:])
			}
			i += length
		default:
			out = append(out, c)
			i++
		}
	}
	return nil, cut(begin, "a text in quotes")
}

// oneByte has pairs: the byte after a backslash, and its meaning.
const oneByte = "a\ab\bf\fn\nr\rt\tv\v\\\\''\"\"\n\n??"

// escape appends the meaning of an escape, and returns its length, 0 if there is none.
func (s *scanner) escape(out, text []byte, kind Kind) ([]byte, int) {
	if len(text) < 2 {
		return out, 0
	}
	c := text[1]
	for i := 0; i < len(oneByte) && !(s.lines && c == '\n'); i += 2 {
		if oneByte[i] == c {
			return append(out, oneByte[i+1]), 2
		}
	}
	switch {
	case c == 'z' && s.long, c == '\n' && s.lines:
		return out, len(text) - len(bytes.TrimLeft(text[2:], " \t\r\n"))
	case c == 'x':
		v, n := digits(text[2:], 16, 2)
		if n == 0 {
			return out, 0
		}
		if s.hexRune && kind == Text {
			return utf8.AppendRune(out, rune(v)), n + 2
		}
		return append(out, byte(v)), n + 2
	case c == 'u' && len(text) > 2 && text[2] == '{':
		v, n := digits(text[3:], 16, 8)
		if n == 0 || 3+n >= len(text) || text[3+n] != '}' || v > utf8.MaxRune {
			return out, 0
		}
		return appendRune(out, rune(v)), n + 4
	case c == 'u' || c == 'U':
		want := map[byte]int{'u': 4, 'U': 8}[c]
		v, n := digits(text[2:], 16, want)
		if n != want || v > utf8.MaxRune {
			return out, 0
		}
		return appendRune(out, rune(v)), n + 2
	}
	base, most := 8, 3
	if s.decimal {
		base = 10
	}
	if s.bareWords {
		most = 1
	}
	v, n := digits(text[1:], base, most)
	if n == 0 || v > 255 {
		return out, 0
	}
	return append(out, byte(v)), n + 1
}

// digits reads up to most digits.
func digits(text []byte, base, most int) (v, n int) {
	for n < most && n < len(text) {
		c := text[n]
		if c >= 'A' {
			c |= 0x20
		}
		digit := bytes.IndexByte([]byte("0123456789abcdef")[:base], c)
		if digit < 0 {
			break
		}
		v = v*base + digit
		n++
	}
	return v, n
}

// appendRune appends a character. A lone surrogate is kept as three bytes, as WTF-8 has it.
func appendRune(out []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(out, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(out, r)
}

// wordLen returns the length of the word or number at the current place.
func (s *scanner) wordLen() int {
	rest := s.text[s.at:]
	i := 0
	for i < len(rest) {
		c := rest[i]
		sign := (c == '+' || c == '-') && (i == 0 || rest[i-1]|0x20 == 'e' || rest[i-1]|0x20 == 'p') && rest[0]-'A' > 'z'-'A'
		path := c == ':' && s.bareWords && (i > 0 && rest[i-1] == ':' || i+1 < len(rest) && rest[i+1] == ':')
		if !isNameStart(c) && c-'0' > 9 && c != '.' && !sign && !path && !(c == '/' && s.long) && !(s.bareWords && i > 0 && (c == '<' || c == '>' || c == '-' || c == '@')) {
			break
		}
		i++
	}
	return i
}

// word reads a word or number of n bytes.
func (s *scanner) word(n int) (Kind, []byte, error) {
	text := s.text[s.at : s.at+n]
	if n == 0 {
		return 0, nil, fault(s.at, "%.8q, expected a value", s.text[s.at:])
	}
	if numberLen(text) == n {
		s.at += n
		return Number, text, nil
	}
	if w, ok := s.words[string(text)]; ok {
		s.at += n
		return w.kind, []byte(w.text), nil
	}
	if number := s.number(text); number != nil {
		s.at += n
		return Number, number, nil
	}
	if s.at+n == len(s.text) {
		return 0, nil, cut(s.at, "a value")
	}
	if !s.bareWords {
		return 0, nil, fault(s.at, "%.20q, expected a value", text)
	}
	if s.at += n; bytes.IndexByte(text, '@') > 0 { // Unit@7f31c2, of this run
		return Null, nil, nil
	}
	return Text, text, nil
}

// number returns a number as JSON has it: .5 is 0.5, 1. is 1.0, and 0x1f is 31. It returns nil if there is none.
func (s *scanner) number(text []byte) []byte {
	body := bytes.TrimLeft(text, "+-")
	hex := s.hex && len(body) > 2 && body[0] == '0' && body[1]|0x20 == 'x'
	for _, suffix := range s.suffixes {
		if !hex || len(suffix) > 1 { // f is a digit
			body = bytes.TrimSuffix(body, []byte(suffix))
			text = bytes.TrimSuffix(text, []byte(suffix))
		}
	}
	if len(text)-len(body) > 1 {
		return nil
	}
	out := s.scratch[:0]
	if len(body) < len(text) && text[0] == '-' {
		out = append(out, '-')
	}
	if hex {
		out = appendHex(out, body)
	} else {
		whole, rest, point := bytes.Cut(body, []byte("."))
		if len(whole) == 0 {
			out = append(out, '0')
		}
		if out = append(out, whole...); point {
			out = append(out, '.')
			if len(rest) == 0 || rest[0]|0x20 == 'e' {
				out = append(out, '0')
			}
			out = append(out, rest...)
		}
		if len(whole)+len(rest) == 0 || numberLen(out) != len(out) {
			return nil
		}
	}
	s.scratch = out
	if out == nil {
		return nil
	}
	return out
}

// appendHex appends a hexadecimal number as a decimal one; nil if it is none.
func appendHex(out, text []byte) []byte {
	if v, err := strconv.ParseUint(string(text[2:]), 16, 64); err == nil {
		return strconv.AppendUint(out, v, 10)
	}
	if bytes.IndexByte(text, '.') < 0 && !bytes.ContainsAny(text, "pP") || bytes.IndexByte(text, '_') >= 0 {
		return nil
	}
	exponent := ""
	if !bytes.ContainsAny(text, "pP") {
		exponent = "p0"
	}
	v, err := strconv.ParseFloat(string(text)+exponent, 64)
	if err != nil {
		return nil
	}
	return strconv.AppendFloat(out, v, 'g', -1, 64)
}
