package memory

import (
	"fmt"
	"strings"
	"unicode"
)

// words are types of several words, sorted.
var words = map[string]string{
	"char signed": "i8", "char unsigned": "u8", "short signed": "i16", "short unsigned": "u16", "int short": "i16",
	"int short unsigned": "u16", "int signed": "i32", "int unsigned": "u32", "long long": "i64", "long long unsigned": "u64", "int long long": "i64",
	"int long long unsigned": "u64", "long long signed": "i64", "signed": "i32",
}

// token is a word, a number, or a mark.
type token struct {
	text string
	line int
}

// scan splits a text into tokens. A line that begins with # is one token.
func scan(text string) (tokens []token, err error) {
	line := 1
	for len(text) > 0 {
		c := rune(text[0])
		n := 1
		switch {
		case c == '\n':
			line++
			text = text[1:]
			continue
		case unicode.IsSpace(c):
			text = text[1:]
			continue
		case strings.HasPrefix(text, "//"):
			n = len(text)
			if i := strings.IndexByte(text, '\n'); i >= 0 {
				n = i
			}
			text = text[n:]
			continue
		case strings.HasPrefix(text, "/*"):
			end := strings.Index(text[2:], "*/")
			if end < 0 {
				return nil, fmt.Errorf("line %d: a comment without end", line)
			}
			line += strings.Count(text[:end+4], "\n")
			text = text[end+4:]
			continue
		case c == '#':
			if n = strings.IndexByte(text, '\n'); n < 0 {
				n = len(text)
			}
		case isWord(c):
			for n < len(text) && isWord(rune(text[n])) {
				n++
			}
		case strings.HasPrefix(text, "<<"):
			n = 2
		case !strings.ContainsRune("{}[]();:,*=-", c):
			return nil, fmt.Errorf("line %d: %q, expected a declaration of a struct", line, c)
		}
		tokens = append(tokens, token{strings.TrimSpace(text[:n]), line})
		text = text[n:]
	}
	return tokens, nil
}

func isWord(c rune) bool {
	return c == '_' || c < unicode.MaxASCII && (unicode.IsLetter(c) || unicode.IsDigit(c))
}
