package confine

import (
	"bytes"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// How much of a program's output is kept.
const (
	maxLine    = 4096 // bytes
	maxTail    = 20   // lines
	maxColumns = 200  // in each of these
)

// output receives a program's output.
type output struct {
	line  func(string)
	log   io.Writer
	left  int64 // bytes that may still be written to the log; below 0 for no limit
	full  chan struct{}
	now   []byte // the kept part of the current line
	begun bool   // the current line has begun, even if nothing of it is kept
	// returned means that the last byte was a carriage return. A line feed after it belongs to the same line end.
	returned bool
	last     []string
	err      error // of log
}

func newOutput(c *Command) *output {
	o := &output{line: c.Line, log: c.Log, left: -1, full: make(chan struct{})}
	if c.Disk > 0 {
		o.left = c.Disk
	}
	return o
}

// take reads to the end.
func (o *output) take(r io.Reader) {
	b := make([]byte, 64<<10)
	for {
		n, err := r.Read(b)
		o.keep(b[:n])
		o.split(b[:n])
		if err != nil {
			break
		}
	}
	if o.begun {
		o.whole()
	}
}

// keep writes as much to the log as it has room for.
func (o *output) keep(b []byte) {
	if o.log == nil || o.err != nil || len(b) == 0 {
		return
	}
	fits := b
	if o.left >= 0 {
		if fits = b[:min(int64(len(b)), o.left)]; len(fits) < len(b) {
			select {
			case <-o.full:
			default:
				close(o.full)
			}
		}
		o.left -= int64(len(fits))
	}
	if _, err := o.log.Write(fits); err != nil {
		o.err = fmt.Errorf("what the program prints cannot be kept: %w", err)
	}
}

// split splits lines. They end with a line feed, or with a carriage return as in progress displays.
func (o *output) split(b []byte) {
	for len(b) > 0 {
		end := bytes.IndexAny(b, "\r\n")
		part := b
		if end >= 0 {
			part = b[:end]
		}
		if room := maxLine - len(o.now); room > 0 {
			o.now = append(o.now, part[:min(len(part), room)]...)
		}
		if len(part) > 0 {
			o.begun, o.returned = true, false
		}
		if end < 0 {
			return
		}
		if o.begun || b[end] == '\n' && !o.returned {
			o.whole()
		}
		o.returned = b[end] == '\r'
		b = b[end+1:]
	}
}

// whole ends a line.
func (o *output) whole() {
	text := string(o.now)
	o.now, o.begun = o.now[:0], false
	if text != "" {
		if len(o.last) == maxTail {
			o.last = append(o.last[:0], o.last[1:]...)
		}
		o.last = append(o.last, text)
	}
	if o.line != nil {
		o.line(text)
	}
}

// tail returns the last lines that are not empty, in printable form.
func (o *output) tail() []string {
	return lists.Map(o.last, func(text string) string { return prose.Shorten(prose.Printable(text), maxColumns) })
}
