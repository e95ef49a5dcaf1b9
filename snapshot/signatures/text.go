package signatures

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// First and last lines of the text twin.
const (
	textBegin   = "%desynctool tick-signatures 1"
	textEnd     = "%end"
	textTorn    = "%torn"
	textCorrupt = "%corrupt"
)

// maxLine is the longest line of text that is read, in bytes. The name of a peer is quoted.
const maxLine = 4*maxPeer + 1024

// IsText reports whether head, the first bytes of a file, begins the text twin of a chain.
func IsText(head []byte) bool { return bytes.HasPrefix(head, []byte(textBegin)) }

// WriteText writes the text twin of the rest of r, one entry a line. It verifies nothing. [ParseText] turns the text
// back into the same chain.
//
// If the chain is torn or corrupt, the text contains everything before the damage and ends with a line that reports it.
// WriteText then returns the error of r.
func WriteText(w io.Writer, r *Reader) error {
	out := bufio.NewWriter(w)
	h := r.Header()
	fmt.Fprintf(out, "%s\nheader.seed = %d\nheader.peer = %q\nheader.key = %s\nheader.start = %s\n", textBegin, h.Seed, h.Peer, h.Key, h.Start)
	for {
		e, err := r.Next()
		if err == nil {
			fmt.Fprintf(out, "tick[%d] = skipped %d state %s previous %s signature %x\n", e.Tick, e.Skipped, e.State, e.Previous, e.Signature)
			continue
		}
		if end := r.End(); end != nil {
			fmt.Fprintf(out, "end = count %d last %s signature %x\n", end.Count, end.Last, end.Signature)
		}
		if err == io.EOF {
			out.WriteString(textEnd + "\n")
			return out.Flush()
		}
		last := textCorrupt
		if errors.Is(err, frame.ErrTorn) {
			last = textTorn
		}
		fmt.Fprintf(out, "# %s\n%s\n", err, last)
		return errors.Join(err, out.Flush())
	}
}

// ParseText reads the text twin of a chain and writes the chain to w. It copies the signatures without checking them.
// Errors contain name and the line. The text of a torn or corrupt chain gives a chain without end marker.
func ParseText(w io.Writer, r io.Reader, name string) error {
	p := textParser{w: w}
	twin := frame.Twin{Begin: textBegin, End: textEnd, MaxLine: maxLine}
	return twin.Read(r, name, func(line string) (ended bool, err error) {
		err = p.line(line)
		return p.ended, err
	})
}

// textParser turns lines into frames.
type textParser struct {
	w             io.Writer
	out           *frame.Writer // nil until the header is complete
	header        Header
	known         int // number of header variables that were read
	begun, closed bool
	ended         bool
}

// headerNames are the variables of the header, in order.
var headerNames = [...]string{"header.seed", "header.peer", "header.key", "header.start"}

func (p *textParser) line(s string) error {
	name, value, _ := strings.Cut(s, " = ")
	switch {
	case !p.begun:
		if s != textBegin {
			return fmt.Errorf("%.40q, expected %q", s, textBegin)
		}
		p.begun = true
		return nil
	case s == "" || s[0] == '#':
		return nil
	case p.ended:
		return errors.New("line after the end")
	case p.known < len(headerNames):
		if name != headerNames[p.known] {
			return fmt.Errorf("%.40q, expected %s", s, headerNames[p.known])
		}
		return p.variable(value)
	}
	switch tick, isTick := strings.CutPrefix(name, "tick["); {
	case s == textEnd:
		p.ended = true
		return p.out.Close()
	case s == textTorn || s == textCorrupt:
		p.ended = true
		return nil
	case p.closed:
		return fmt.Errorf("%.40q after the end of the chain, expected %s", s, textEnd)
	case isTick:
		return p.entry(strings.TrimSuffix(tick, "]"), value)
	case name == "end":
		return p.end(value)
	}
	return fmt.Errorf("%.40q, expected tick[…], end or %s", s, textEnd)
}

// variable takes the value of the header's next variable. After the last one it begins the file.
func (p *textParser) variable(value string) (err error) {
	h := &p.header
	switch p.known {
	case 0:
		h.Seed, err = strconv.ParseUint(value, 10, 64)
	case 1:
		h.Peer, err = strconv.Unquote(value)
	case 2:
		h.Key, err = ParseKey(value)
	case 3:
		err = h.Start.UnmarshalText([]byte(value))
	}
	if err == nil {
		err = h.check()
	}
	if p.known++; err != nil || p.known < len(headerNames) {
		return err
	}
	if p.out, err = frame.NewWriter(p.w, format, frame.WriterOptions{}); err != nil {
		return err
	}
	return p.out.WriteFrame(headerFrame, h.append(nil))
}

func (p *textParser) entry(tick, value string) error {
	var e Entry
	f := textFields{rest: strings.Fields(value)}
	e.Tick = f.number(tick)
	e.Skipped = f.number(f.word("skipped"))
	f.bytes("state", e.State[:])
	f.bytes("previous", e.Previous[:])
	f.bytes("signature", e.Signature[:])
	if err := f.done(); err != nil {
		return err
	}
	return p.out.WriteFrame(entryFrame, e.Append(nil))
}

func (p *textParser) end(value string) error {
	var e End
	f := textFields{rest: strings.Fields(value)}
	e.Count = f.number(f.word("count"))
	f.bytes("last", e.Last[:])
	f.bytes("signature", e.Signature[:])
	if err := f.done(); err != nil {
		return err
	}
	p.closed = true
	return p.out.WriteFrame(endFrame, e.Append(nil))
}

// textFields are alternating names and values. It keeps the first error.
type textFields struct {
	rest []string
	err  error
}

func (f *textFields) word(name string) string {
	if f.err == nil && (len(f.rest) < 2 || f.rest[0] != name) {
		f.err = fmt.Errorf("expected %s and its value", name)
	}
	if f.err != nil {
		return ""
	}
	value := f.rest[1]
	f.rest = f.rest[2:]
	return value
}

func (f *textFields) number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("%.40q is not a number from 0 to 2^64 - 1", s)
	}
	return n
}

func (f *textFields) bytes(name string, to []byte) {
	s := f.word(name)
	if f.err != nil {
		return
	}
	if len(s) != 2*len(to) {
		f.err = fmt.Errorf("%s has %d characters, expected %d hex digits", name, len(s), 2*len(to))
		return
	}
	if _, err := hex.Decode(to, []byte(s)); err != nil {
		f.err = fmt.Errorf("%s: %w", name, err)
	}
}

func (f *textFields) done() error {
	if f.err == nil && len(f.rest) > 0 {
		f.err = fmt.Errorf("%.40q after the last value", f.rest[0])
	}
	return f.err
}
