package orderlog

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// lineBuffer is how much of a file is read at a time, in bytes.
const lineBuffer = 32 << 10

// Lines reads the lines of an engine's text log. A line ends with a line feed, or with a carriage return and a line
// feed. A file may contain both, for example if it was copied or assembled from several. Bytes are not interpreted.
type Lines struct {
	name   string
	r      *bufio.Reader
	long   []byte
	crlf   bool // the first line ends with CR LF
	cr     bool // the current line ends with CR LF
	number int64
	offset int64 // of the current line
	next   int64 // of the next line
	err    error
}

// NewLines returns a reader of lines. Errors use name for the file.
func NewLines(r io.Reader, name string) *Lines {
	return &Lines{name: name, r: bufio.NewReaderSize(r, lineBuffer)}
}

// Peek returns up to n of the next bytes, at most 32 KiB, without consuming them.
func (l *Lines) Peek(n int) []byte {
	b, _ := l.r.Peek(min(n, l.r.Size()))
	return b
}

// Name returns the name that errors use for the file.
func (l *Lines) Name() string { return l.name }

// CRLF reports whether the first line ends with a carriage return and a line feed.
func (l *Lines) CRLF() bool { return l.crlf }

// Return reports whether a carriage return was removed from the current line.
func (l *Lines) Return() bool { return l.cr }

// Number returns the number of the current line, from 1.
func (l *Lines) Number() int64 { return l.number }

// Offset returns the offset of the current line in bytes.
func (l *Lines) Offset() int64 { return l.offset }

// Pass passes the lines that end before an offset, as far as that is possible at the speed of memory: Next returns the
// others, and the errors.
func (l *Lines) Pass(offset int64) {
	for l.err == nil {
		ready := l.Fill()
		ready = ready[:max(0, min(int64(len(ready)), offset-l.next))]
		end := bytes.LastIndexByte(ready, '\n') + 1
		if end == 0 {
			return
		}
		if l.number == 0 { // the first line decides l.crlf
			l.Next()
			continue
		}
		l.number += int64(bytes.Count(ready[:end], []byte{'\n'}))
		l.next += int64(end)
		l.r.Discard(end)
	}
}

// Ahead returns what is in memory from the next line on.
func (l *Lines) Ahead() []byte {
	b, _ := l.r.Peek(l.r.Buffered())
	return b
}

// Fill is Ahead after more was read: 32 KiB if the file has them.
func (l *Lines) Fill() []byte {
	b, _ := l.r.Peek(l.r.Size())
	return b
}

// End returns the offset of the next line in bytes.
func (l *Lines) End() int64 { return l.next }

// Take is Next where the length of the next line is known: it is in Ahead, and ends as the first line does. size is
// its length without that end.
func (l *Lines) Take(size int) []byte {
	whole := size + 1
	if l.crlf {
		whole++
	}
	line, _ := l.r.Peek(whole)
	l.r.Discard(whole)
	l.number++
	l.offset, l.next, l.cr = l.next, l.next+int64(whole), l.crlf
	return line[:size]
}

// Next returns the next line without its line end. It is valid until the next call.
//
// It returns io.EOF at the end of a file that ends with a line feed, else a [*frame.Error]: frame.ErrTorn if the file
// ends inside a line, which is not returned, and frame.ErrCorrupt for a line longer than limits.Line. Errors of the
// underlying reader are returned as they are.
func (l *Lines) Next() ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	l.number++
	l.offset = l.next
	line, err := l.r.ReadSlice('\n')
	l.next += int64(len(line))
	if err == bufio.ErrBufferFull {
		l.long = append(l.long[:0], line...)
		for err == bufio.ErrBufferFull {
			line, err = l.r.ReadSlice('\n')
			l.next += int64(len(line))
			l.long = append(l.long, line...)
			if limits.Line.Over(int64(len(l.long))) {
				l.err = l.Corrupt("%v", limits.Line.Reached("", 0))
				return nil, l.err
			}
		}
		line = l.long
	}
	switch {
	case err == nil:
	case err == io.EOF && len(line) == 0:
		l.err = io.EOF
	case err == io.EOF:
		l.err = &frame.Error{
			Name: l.name, Offset: l.offset, Lost: int64(len(line)), Err: frame.ErrTorn,
			Msg: fmt.Sprintf("line %d: the file ends inside the line", l.number),
		}
	default:
		l.err = fmt.Errorf("%s: line %d: %w", l.name, l.number, err)
	}
	if l.err != nil {
		return nil, l.err
	}
	line = line[:len(line)-1]
	if l.cr = len(line) > 0 && line[len(line)-1] == '\r'; l.cr {
		line = line[:len(line)-1]
	}
	if l.number == 1 {
		l.crlf = l.cr
	}
	return line, nil
}

// Corrupt returns an error that names the current line.
func (l *Lines) Corrupt(format string, args ...any) *frame.Error {
	return &frame.Error{
		Name: l.name, Offset: l.offset, Err: frame.Fault(args),
		Msg: fmt.Sprintf("line %d: ", l.number) + fmt.Sprintf(format, args...),
	}
}

// Unrecognized returns an error for a file of another type.
func (l *Lines) Unrecognized(format string, args ...any) *frame.Error {
	return &frame.Error{Name: l.name, Err: frame.ErrUnrecognized, Msg: fmt.Sprintf(format, args...)}
}
