package factorio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// Limits of tags. Longer or deeper ones are taken for data.
const (
	maxTag   = 1 << 10 // bytes of a tag, its brackets included
	maxDepth = 200     // tags in each other
)

// pieceSize is how many bytes of data a token has at most. Longer data is cut at multiples of it from its beginning, so
// that equal data gives equal tokens.
const pieceSize = 16 << 10

// kind is the kind of a token.
type kind int

const (
	data  kind = iota
	open       // <name>, or <name attribute=value …>
	close      // </name>
)

// token is what a file consists of. Its bytes are valid until the next one is read.
type token struct {
	kind  kind
	bytes []byte
	name  string // of a tag
	at    int64  // where it begins
	first bool   // of data: its first piece
}

// tag is one that is open.
type tag struct {
	name string
	text string // without brackets: name and attributes
	at   int64
}

// scanner cuts a file into tokens and knows which tags are open.
type scanner struct {
	name string
	in   io.Reader
	err  error // of in, io.EOF at its end

	buf        []byte
	start, end int
	at         int64 // of buf[start]
	run        int   // bytes of the current data that were returned

	// stack are the open tags around the next token. A tag that closes ends all within it: the game's data may contain
	// bytes that look like a tag and are never closed.
	stack []tag
	// closed is the tag that the close tag ends that was returned last, nil if it ended none.
	closed *tag
}

func newScanner(in io.Reader, name string, at int64) *scanner {
	return &scanner{name: name, in: in, at: at, buf: make([]byte, 8*(pieceSize+maxTag))}
}

// fill reads until the buffer has a piece of data and a tag after it, or everything that is left.
func (s *scanner) fill() {
	const need = pieceSize + maxTag
	if s.end-s.start >= need || s.err != nil {
		return
	}
	if s.start > 0 {
		s.end = copy(s.buf, s.buf[s.start:s.end])
		s.start = 0
	}
	for s.end < len(s.buf) && s.err == nil {
		var n int
		n, s.err = s.in.Read(s.buf[s.end:])
		s.end += n
	}
}

// next returns the next token, io.EOF at the end. Of a close tag, stack already is what is
// open after it; an open tag is on the stack after it was returned.
func (s *scanner) next() (token, error) {
	s.fill()
	rest := s.buf[s.start:s.end]
	if len(rest) == 0 {
		if errors.Is(s.err, io.EOF) {
			return token{}, io.EOF
		}
		return token{}, fmt.Errorf("%s: offset %d: %w", s.name, s.at, s.err)
	}
	s.closed = nil
	if k, name, n := matchTag(rest); n > 0 {
		t := token{kind: k, bytes: rest[:n], name: name, at: s.at}
		s.take(n)
		s.run = 0
		switch {
		case k == open && len(s.stack) < maxDepth:
			s.stack = append(s.stack, tag{name, string(rest[1 : n-1]), t.at})
		case k == close:
			for i := len(s.stack) - 1; i >= 0; i-- {
				if s.stack[i].name == name {
					ended := s.stack[i]
					s.closed, s.stack = &ended, s.stack[:i]
					break
				}
			}
		}
		return t, nil
	}
	n := min(len(rest), pieceSize-s.run%pieceSize)
	for i := 1; i < n; i++ {
		j := bytes.IndexByte(rest[i:n], '<')
		if j < 0 {
			break
		}
		i += j
		if _, _, tag := matchTag(rest[i:]); tag > 0 {
			n = i
		}
	}
	t := token{kind: data, bytes: rest[:n], at: s.at, first: s.run == 0}
	s.take(n)
	s.run += n
	return t, nil
}

func (s *scanner) take(n int) {
	s.start += n
	s.at += int64(n)
}

// matchTag returns the tag that some bytes begin with, length 0 if they begin with none.
func matchTag(b []byte) (k kind, name string, length int) {
	b = b[:min(len(b), maxTag)]
	if len(b) < 4 || b[0] != '<' {
		return 0, "", 0
	}
	i := 1
	if b[1] == '/' {
		k, i = close, 2
	} else {
		k = open
	}
	begin := i
	for i < len(b) && ('a' <= b[i] && b[i] <= 'z' || b[i] == '-') {
		i++
	}
	if i-begin < 2 || i == len(b) {
		return 0, "", 0
	}
	end := i
	if k == open && b[i] == ' ' {
		for i++; i < len(b) && b[i] != '>'; i++ {
			switch c := b[i]; {
			case c == '<': // an attribute may contain a name in brackets
				from := i + 1
				for i++; i < len(b) && ('a' <= b[i]|0x20 && b[i]|0x20 <= 'z'); i++ {
				}
				if i == from || i == len(b) || b[i] != '>' {
					return 0, "", 0
				}
			case c < ' ' || c >= 0x80:
				return 0, "", 0
			}
		}
	}
	if i >= len(b) || b[i] != '>' {
		return 0, "", 0
	}
	return k, string(b[begin:end]), i + 1
}

// path returns the open tags as details.
func pathOf(stack []tag) (list []tracediff.Detail) {
	for i := range stack {
		list = append(list, tracediff.Detail{Text: stack[i].text, Aside: fmt.Sprintf("offset %d", stack[i].at)})
	}
	return list
}

// places names the open tags in a line.
func places(stack []tag) string {
	return strings.Join(lists.Map(stack, func(x tag) string { return x.text }), " / ")
}
