package paste

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/textsearch"
)

// lines are the lines of a text.
type lines struct {
	text   []byte
	at     int // where the next line begins
	number int // of the lines that were read

	ahead      int    // where the line after the current one begins, if its shape is known
	aheadShape uint64 // of that line
}

func (l *lines) ended() bool { return l.at >= len(l.text) }

// peek returns the next line without its end; nil at the end.
func (l *lines) peek() []byte {
	line, _ := cutLine(l.text[min(l.at, len(l.text)):])
	return line
}

// next returns the next line and goes on to the one after it.
func (l *lines) next() []byte {
	line, n := cutLine(l.text[l.at:])
	l.at += n
	l.number++
	return line
}

// cutLine returns the first line of a text without its end, and how long it is with it.
func cutLine(text []byte) (line []byte, n int) {
	n = bytes.IndexByte(text, '\n') + 1
	if n == 0 {
		n = len(text)
		return bytes.TrimRight(text, "\r"), n
	}
	return bytes.TrimRight(text[:n-1], "\r"), n
}

// shape returns the shape of the current line with that of the next one.
func (l *lines) shape() uint64 {
	line, n := cutLine(l.text[l.at:])
	own := l.aheadShape
	if l.ahead != l.at || l.at == 0 {
		own = textsearch.Shape(line)
	}
	l.ahead = l.at + n
	next, _ := cutLine(l.text[l.ahead:])
	l.aheadShape = textsearch.Shape(next)
	return own*31 + l.aheadShape
}
