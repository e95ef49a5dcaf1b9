package factorio

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// Lines of dat_diff: how tokens differ, an open tag with its place, and the bytes as Python writes them. Pastes have
// tabs where the tool writes blanks.
var (
	opLine   = lazyregexp.New(`^(replace|delete|insert)\s+ref\[\d+:\d+\] -> des\[\d+:\d+\]$`)
	pathLine = lazyregexp.New(`^<([a-z-]{2,})( .*)?> pos=(\d{1,19})$`)
)

// maxValue is how many bytes of a difference are kept; of a longer one the hash is kept.
const maxValue = 16 << 10

func sniffDiff(head []byte) bool {
	for line := range bytes.Lines(head) {
		if opLine.Match(bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// change is one difference in the output.
type change struct {
	op   string
	pos  tracediff.Position
	path [2][]tracediff.Detail
	have [2]bool
	data [2][]byte
}

// whole reports whether all is there that the tool writes of such a difference.
func (c *change) whole() bool {
	return c.have[0] == (c.op != "insert") && c.have[1] == (c.op != "delete")
}

// diff reads one side of the output of dat_diff.
type diff struct {
	lines *orderlog.Lines
	name  string
	side  int // 0 for the reference, 1 for the desynced save

	next  change // that is being read
	begun bool

	rec tracediff.Record
	at  tracediff.Checkpoint
	err error
}

func newDiff(in io.Reader, name string, side int) (*diff, error) {
	// A paste may end without a line feed.
	d := &diff{lines: orderlog.NewLines(io.MultiReader(in, strings.NewReader("\n")), name), name: name, side: side}
	if !sniffDiff(d.lines.Peek(tracediff.SniffLen)) {
		return nil, d.lines.Unrecognized("expected the output of dat_diff: a line like %q", "replace ref[1:2] -> des[1:2]")
	}
	return d, nil
}

func (d *diff) Header() tracediff.Header {
	return tracediff.Header{Peer: []string{reference, desynced}[d.side]}
}

func (d *diff) Dialect() tracediff.Dialect {
	c := dialect("output of dat_diff on a Factorio desync report", "the differences that the tool lists: it does not write equal values", false)
	c.Values = true
	return c
}

// Next returns a checkpoint for each complete difference.
func (d *diff) Next() (*tracediff.Record, error) {
	if d.err != nil {
		return nil, d.err
	}
	for {
		raw, err := d.lines.Next()
		line := bytes.TrimSpace(raw)
		var done *change
		switch {
		case err != nil || opLine.Match(line):
			if d.begun && d.next.whole() {
				done = d.take()
			} else if d.begun && err == nil {
				wrong := &tracediff.SyntaxError{Name: d.name, Pos: d.next.pos, Msg: "a difference without its bytes"}
				d.begin(line)
				return nil, wrong
			}
			if err != nil {
				d.err = d.end(err)
			} else {
				d.begin(line)
			}
		case d.begun:
			if err := d.line(line); err != nil {
				return nil, err
			}
		}
		if done != nil {
			return d.record(done), nil
		}
		if d.err != nil {
			return nil, d.err
		}
	}
}

func (d *diff) begin(line []byte) {
	op, _, _ := bytes.Cut(line, []byte(" "))
	op, _, _ = bytes.Cut(op, []byte("\t"))
	d.next = change{op: string(op), pos: engine.PositionOf(d.lines)}
	d.begun = true
}

func (d *diff) take() *change {
	c := d.next
	d.next, d.begun = change{}, false
	return &c
}

// end returns the error that reading ends with.
func (d *diff) end(err error) error {
	if err == io.EOF && d.begun {
		return &frame.Error{Name: d.name, Offset: d.next.pos.Offset, Err: frame.ErrTorn, Msg: fmt.Sprintf("line %d: the text ends inside a difference", d.next.pos.Line)}
	}
	return err
}

// line reads a line of a difference. There may be others in between: headings, a person's text.
func (d *diff) line(line []byte) error {
	side := 0 // the side whose path comes
	if d.next.have[0] || d.next.op == "insert" {
		side = 1
	}
	if m := pathLine.FindSubmatch(line); m != nil && !d.next.have[side] {
		if len(d.next.path[side]) < maxDepth {
			text := shorten(string(m[1]) + string(m[2]))
			d.next.path[side] = append(d.next.path[side], tracediff.Detail{Text: text, Aside: "offset " + string(m[3])})
		}
		return nil
	}
	for i, word := range []string{"ref: ", "des: "} {
		if rest, ok := bytes.CutPrefix(line, []byte(word)); ok && !d.next.have[i] {
			b, ok := unquote(rest)
			if !ok {
				pos := engine.PositionOf(d.lines)
				return &tracediff.SyntaxError{Name: d.name, Pos: pos, Msg: fmt.Sprintf("%.60q, expected bytes as Python writes them", rest)}
			}
			d.next.have[i], d.next.data[i] = true, b
			return nil
		}
	}
	return nil
}

// record makes the record of a difference. Its scope is the outermost tag of the reference, or of
// the desynced save where the reference has nothing there.
func (d *diff) record(c *change) *tracediff.Record {
	path := c.path[0]
	if len(path) == 0 {
		path = c.path[1]
	}
	scope := between
	if len(path) > 0 {
		scope, _, _ = strings.Cut(path[0].Text, " ")
	}
	d.at = tracediff.Checkpoint{Scope: scope, Sums: d.at.Sums[:0], HasCount: true}
	d.at.Detail = append([]tracediff.Detail{}, c.path[d.side]...)
	value := "nothing"
	if c.have[d.side] {
		d.at.Count = 1
		value = "bytes " + hexOf(c.data[d.side], 0)
		if b := c.data[d.side]; len(b) > maxValue {
			sum := sha256.Sum256(b)
			d.at.Sums = append(d.at.Sums, tracediff.BytesSum("sha256", sum[:]))
		} else if len(b) > 0 {
			d.at.Sums = append(d.at.Sums, tracediff.BytesSum("bytes", b))
		}
	} else if len(d.at.Detail) == 0 {
		d.at.Detail = append(d.at.Detail, path...)
	}
	d.at.Detail = append(d.at.Detail, tracediff.Detail{Text: value})
	d.rec = tracediff.Record{Pos: c.pos, Checkpoint: &d.at}
	return &d.rec
}

func shorten(text string) string { return text[:min(len(text), maxTag)] }

// unquote returns the bytes of a Python literal: b'…' or b"…".
func unquote(lit []byte) (out []byte, ok bool) {
	if len(lit) < 3 || lit[0] != 'b' || lit[1] != '\'' && lit[1] != '"' || lit[len(lit)-1] != lit[1] {
		return nil, false
	}
	quote, lit := lit[1], lit[2:len(lit)-1]
	for i := 0; i < len(lit); i++ {
		c := lit[i]
		if c == quote || c < ' ' || c > '~' {
			return nil, false
		}
		if c != '\\' {
			out = append(out, c)
			continue
		}
		if i++; i == len(lit) {
			return nil, false
		}
		switch lit[i] {
		case '\\', '\'', '"':
			out = append(out, lit[i])
		case 't':
			out = append(out, '\t')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 'x':
			if i+2 >= len(lit) {
				return nil, false
			}
			high, low := digit(lit[i+1]), digit(lit[i+2])
			if high < 0 || low < 0 {
				return nil, false
			}
			out = append(out, byte(high<<4|low))
			i += 2
		default:
			return nil, false
		}
	}
	return out, true
}

// digit returns the value of a hex digit, -1 for another character.
func digit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
