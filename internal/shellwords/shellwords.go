// Package shellwords splits a line into words as a shell does, without running one, and quotes words for a shell.
package shellwords

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Split returns the words of a line in the syntax of POSIX shells. Blanks and line ends separate words. '…', "…" and \
// quote, and so does $'…' of bash. # begins a comment. $NAME and ${NAME} are variables of this process, and are split
// into several words unless they are in double quotes. ~ and ~USER at the start of a word are folders. Patterns such as
// *.c stay unchanged.
//
// Syntax that only a shell can handle is an error with its position: operators such as | and >, command substitution,
// ${NAME…} with an operator.
func Split(line string) ([]string, error) { return split(line, os.Getenv) }

// Literal is Split without variables and folders; neither has a value.
func Literal(line string) ([]string, error) {
	return split(line, func(string) string { return "" })
}

// splitter splits a line.
type splitter struct {
	line   string
	at     int
	getenv func(string) string
	first  bool // nothing was read since the last blank

	words []string
	word  []byte
	begun bool // there is a word, which may be empty
}

func split(line string, getenv func(string) string) ([]string, error) {
	s := splitter{line: line, getenv: getenv, first: true}
	for s.at < len(s.line) {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.end()
	return s.words, nil
}

// blanks are the bytes between words.
const blanks = " \t\n"

// operators are bytes with which a shell would do more than split.
const operators = "|&;<>()"

// next reads the next part of a line.
func (s *splitter) next() error {
	rest, first := s.line[s.at:], s.first
	s.first = false
	switch c := rest[0]; {
	case strings.IndexByte(blanks, c) >= 0 || strings.HasPrefix(rest, "\r\n"):
		s.end()
		s.first = true
	case strings.IndexByte(operators, c) >= 0:
		return s.refuse(s.at, "`%c` is not a valid word", c)
	case c == '#' && first:
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			s.at += n
			return nil
		}
		s.at = len(s.line)
		return nil
	case c == '~' && first:
		s.home()
		return nil
	case c == '\'':
		return s.quoted()
	case c == '"':
		return s.doubleQuoted()
	case c == '\\':
		s.escaped()
		return nil
	case c == '$' || c == '`':
		return s.expanded(false)
	default:
		s.add(rest[:1])
	}
	s.at++
	return nil
}

func (s *splitter) refuse(at int, format string, args ...any) error {
	return fmt.Errorf("column %d: %s", at+1, fmt.Sprintf(format, args...))
}

// add adds text to the word.
func (s *splitter) add(text string) {
	s.word, s.begun = append(s.word, text...), true
}

// end ends the word.
func (s *splitter) end() {
	if s.begun {
		s.words = append(s.words, string(s.word))
	}
	s.word, s.begun = s.word[:0], false
}

// escaped reads a backslash outside of quotes, which removes the line end after it. At the end of the text it means
// itself.
func (s *splitter) escaped() {
	rest := s.line[s.at+1:]
	switch {
	case rest == "":
		s.add(`\`)
		s.at++
	case strings.HasPrefix(rest, "\n"):
		s.at += 2
		s.first = !s.begun
	case strings.HasPrefix(rest, "\r\n"):
		s.at += 3
		s.first = !s.begun
	default:
		s.add(rest[:1])
		s.at += 2
	}
}

// quoted reads '…'.
func (s *splitter) quoted() error {
	text, _, found := strings.Cut(s.line[s.at+1:], "'")
	if !found {
		return s.open('\'')
	}
	s.add(text)
	s.at += len(text) + 2
	return nil
}

func (s *splitter) open(quote byte) error {
	return s.refuse(s.at, "reached the end without closing quote `%c`", quote)
}

// doubleQuoted reads "…", in which a backslash quotes only special characters.
func (s *splitter) doubleQuoted() error {
	began := s.at
	s.add("")
	for s.at++; s.at < len(s.line); {
		switch c := s.line[s.at]; c {
		case '"':
			s.at++
			return nil
		case '\\':
			if next := s.line[s.at+1:]; next != "" && strings.IndexByte("$`\"\\\n", next[0]) >= 0 {
				s.escaped()
				continue
			}
			s.add(`\`)
		case '$', '`':
			if err := s.expanded(true); err != nil {
				return err
			}
			continue
		default:
			s.add(s.line[s.at : s.at+1])
		}
		s.at++
	}
	s.at = began
	return s.open('"')
}

// special are the parameters of a shell with a name of one character. None has a value here.
const special = "@*#?-$!0123456789"

// expanded reads an expression that begins with $ or `.
func (s *splitter) expanded(quoted bool) error {
	rest := s.line[s.at+1:]
	switch {
	case s.line[s.at] == '`' || strings.HasPrefix(rest, "("):
		return s.refuse(s.at, "unexpected command substitution")
	case strings.HasPrefix(rest, "'") && !quoted:
		return s.ansi()
	case strings.HasPrefix(rest, `"`) && !quoted: // a text to translate
		s.at++
		return s.doubleQuoted()
	case strings.HasPrefix(rest, "{"):
		name, _, closed := strings.Cut(rest[1:], "}")
		if !closed || name == "" || nameLen(name) != len(name) && !(len(name) == 1 && strings.Contains(special, name)) {
			return s.refuse(s.at, "expected ${NAME}")
		}
		s.at += len(name) + 3
		s.value(name, quoted)
	case nameLen(rest) > 0:
		name := rest[:nameLen(rest)]
		s.at += len(name) + 1
		s.value(name, quoted)
	case rest != "" && strings.IndexByte(special, rest[0]) >= 0:
		s.at += 2
	default:
		s.add("$")
		s.at++
	}
	return nil
}

// nameLen returns how many bytes at the start of a text are a variable's name.
func nameLen(text string) int {
	for i := range len(text) {
		c := text[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(text)
}

// value adds the value of a variable.
func (s *splitter) value(name string, quoted bool) {
	value := s.getenv(name)
	if quoted {
		s.add(value)
		return
	}
	for value != "" {
		n := strings.IndexAny(value, blanks)
		if n < 0 {
			n = len(value)
		}
		if n > 0 {
			s.add(value[:n])
		} else {
			s.end()
			n = 1
		}
		value = value[n:]
	}
}

// home reads ~ or ~USER, which stay unchanged if they name no folder.
func (s *splitter) home() {
	name := s.line[s.at+1:]
	if n := strings.IndexAny(name, "/"+blanks+operators+"\r"); n >= 0 {
		name = name[:n]
	}
	folder := ""
	if name == "" {
		folder = s.getenv("HOME")
	} else if !strings.ContainsAny(name, "'\"\\$`~") {
		if u, err := user.Lookup(name); err == nil {
			folder = u.HomeDir
		}
	}
	if folder == "" {
		s.add("~")
		s.at++
		return
	}
	s.add(folder)
	s.at += len(name) + 1
}

// escapes are the escapes in $'…' that mean one byte.
var escapes = map[byte]string{
	'a': "\a", 'b': "\b", 'e': "\x1b", 'E': "\x1b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
	'\\': `\`, '\'': "'", '"': `"`, '?': "?",
}

// ansi reads $'…'.
func (s *splitter) ansi() error {
	began := s.at
	s.add("")
	for s.at += 2; s.at < len(s.line); {
		c := s.line[s.at]
		if s.at++; c == '\'' {
			return nil
		}
		if c != '\\' || s.at == len(s.line) {
			s.add(s.line[s.at-1 : s.at])
			continue
		}
		c = s.line[s.at]
		if text, ok := escapes[c]; ok {
			s.add(text)
			s.at++
			continue
		}
		switch {
		case c == 'x':
			s.number(1, 2, 16, false)
		case c == 'u':
			s.number(1, 4, 16, true)
		case c == 'U':
			s.number(1, 8, 16, true)
		case c >= '0' && c <= '7':
			s.number(0, 3, 8, false)
		default:
			s.add(`\` + string([]byte{c}))
			s.at++
		}
	}
	s.at = began
	return s.open('\'')
}

// number reads an escape of up to most digits after letter bytes. The result is a byte or a character.
func (s *splitter) number(letter, most, base int, character bool) {
	digits := s.line[s.at+letter:]
	n := 0
	for n < min(most, len(digits)) && isDigit(digits[n], base) {
		n++
	}
	if n == 0 {
		s.add(`\` + s.line[s.at:s.at+letter])
		s.at += letter
		return
	}
	value, _ := strconv.ParseUint(digits[:n], base, 32) // only digits
	if character {
		s.add(string(rune(value)))
	} else {
		s.add(string([]byte{byte(value)}))
	}
	s.at += letter + n
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(rune(c)), base, 8)
	return err == nil
}

// active are the characters that have a meaning to a shell in some place. An interactive shell replaces ! with an
// earlier command.
const active = blanks + "\r" + `"'\$#{~*?[=!` + "`" + operators

// keywords are the words that have a meaning at the start of a command in bash.
const keywords = " ]] case coproc do done else esac fi for function if in select then time until while } "

// Quote returns a word as shells read it, in quotes only if it needs them, on one line and without control characters:
// these, and bytes that are not UTF-8, are in $'…', which bash, zsh and ksh support. A word with a zero byte, which no
// argument of a program can contain, becomes empty.
func Quote(word string) string {
	switch {
	case word == "" || strings.ContainsRune(word, 0):
		return "''"
	case strings.ContainsFunc(word, hidden):
		return ansiQuoted(word)
	case strings.ContainsAny(word, active) || strings.Contains(keywords, " "+word+" "):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// hidden reports whether a character does not show, or is no character.
func hidden(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }

// short are the escapes of control characters that have one.
var short = map[rune]string{'\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\v': `\v`, '\'': `\'`, '\\': `\\`}

func ansiQuoted(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(word) > 0 {
		r, size := utf8.DecodeRuneInString(word)
		switch text, ok := short[r]; {
		case ok:
			b.WriteString(text)
		case !hidden(r):
			b.WriteRune(r)
		case size == 1: // a control character, or a byte that is not UTF-8
			fmt.Fprintf(&b, `\x%02x`, word[0])
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		word = word[size:]
	}
	return b.String() + "'"
}

// Join returns words as a line that Split, and a shell, takes apart into the same words.
func Join(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = Quote(word)
	}
	return strings.Join(quoted, " ")
}
