package rimworld

import (
	"bytes"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// maxTraces is how many traces of a file are read. The mod writes some 80.
const maxTraces = 120_000

// parser reads the traces of a file one after the other, in the file's order.
type parser struct {
	lines *orderlog.Lines
	name  string

	note     string // with which the file begins, "" if it has none
	noteLine int64
	count    uint64 // of all traces of the peer
	hasCount bool
	countPos tracediff.Position
	context  bool // the traces that come are the context
	begun    bool // a trace was read

	buf   []byte // the line that was read last
	ahead []byte // it, if it begins the next trace
	cut   error  // why there are no more lines
}

func newParser(in io.Reader, name string) *parser {
	return &parser{lines: orderlog.NewLines(in, name), name: name}
}

// line returns the next line without blanks around it, nil at the end. It is valid until
// the next call.
func (p *parser) line() []byte {
	if p.ahead != nil {
		line := p.ahead
		p.ahead = nil
		return line
	}
	if p.cut != nil {
		return nil
	}
	line, err := p.lines.Next()
	if err != nil {
		p.cut = err
		return nil
	}
	if p.lines.Number() == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	p.buf = append(p.buf[:0], bytes.TrimSpace(line)...)
	if p.buf == nil {
		p.buf = []byte{}
	}
	return p.buf
}

func (p *parser) pos() tracediff.Position {
	return engine.PositionOf(p.lines)
}

// next reads a trace into t. First reports whether it is the one that, according to the mod, differs first. At the end
// it returns false. A line that cannot be read gives a *SyntaxError.
func (p *parser) next(t *item) (first, ok bool, err error) {
	for {
		line := p.line()
		switch {
		case line == nil:
			return false, false, nil
		case len(line) == 0:
			continue
		case string(line) == firstHead:
			first = true
			continue
		case string(line) == contextHead:
			p.context, first = true, false
			continue
		case p.head(line):
			continue
		}
		found, err := t.parse(line, p.pos())
		if err != nil {
			return false, true, p.syntax("%v", err)
		}
		if found {
			p.begun = true
			p.stack(t)
			return first && !p.context, true, nil
		}
		if first && string(line) == "-1" { // nothing differs by the mod's hashes
			first = false
			continue
		}
		if p.begun || p.hasCount {
			return false, true, p.syntax("%.60q, expected a trace", line)
		}
		// Text before the traces in a paste does not belong to the file.
	}
}

// head takes a line before the traces.
func (p *parser) head(line []byte) bool {
	if rest, ok := bytes.CutPrefix(line, []byte(countHead)); ok && !p.hasCount {
		n, err := strconv.ParseUint(string(rest), 10, 31)
		p.count, p.hasCount, p.countPos = n, err == nil, p.pos()
		return err == nil
	}
	if rest, ok := bytes.CutPrefix(line, []byte(noteHead)); ok && p.note == "" && !p.hasCount {
		p.note, p.noteLine = shorten(string(rest)), p.lines.Number()
		return true
	}
	return false
}

// stack reads the lines up to the next empty one, or the next trace.
func (p *parser) stack(t *item) {
	for {
		line := p.line()
		if len(line) == 0 { // also at the end
			return
		}
		if string(line) == contextHead || string(line) == firstHead || begins(line) {
			p.ahead = line
			return
		}
		t.add(line)
	}
}

func (p *parser) syntax(format string, args ...any) *tracediff.SyntaxError {
	return &tracediff.SyntaxError{Name: p.name, Pos: p.pos(), Msg: fmt.Sprintf(format, args...)}
}

// reader makes checkpoints of the traces of one peer.
type reader struct {
	p      *parser
	header tracediff.Header

	first   item // the first difference according to the mod, number -1 if it names none
	given   bool // first was returned, either by itself or in the context
	counted bool // the number of all traces was returned
	last    item // that was read
	pending bool // last was not returned yet
	read    bool // there is a last one
	number  int64
	tick    uint64
	traces  int

	rec tracediff.Record
	at  tracediff.Checkpoint
	err error // once reading has ended
}

func newReader(in io.Reader, name string, about facts) (*reader, error) {
	r := &reader{p: newParser(in, name), number: -1}
	r.first.number = -1
	head := r.p.lines.Peek(tracediff.SniffLen)
	if len(head) == 0 {
		return nil, r.p.lines.Unrecognized("empty file, expected traces of %s", title)
	}
	if !sniff(head) {
		line, _, _ := bytes.Cut(head, []byte("\n"))
		return nil, r.p.lines.Unrecognized("line 1 is %.40q, expected traces of %s", line, title)
	}
	r.header.Peer = side(name)
	if r.header.Peer == "local" { // who wrote the files is the local client
		r.header.Build, r.header.Meta = about.build, about.meta
	}
	return r, nil
}

func (r *reader) Header() tracediff.Header   { return r.header }
func (r *reader) Dialect() tracediff.Dialect { return dialect() }

// Next returns a checkpoint for each trace in the order of their numbers. The trace that differs first according to the
// mod precedes the others in the file, and mostly among them again. After it comes the number of all traces.
func (r *reader) Next() (*tracediff.Record, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		if r.given && !r.counted {
			r.counted = true
			if r.p.hasCount && r.number == r.first.number {
				return r.total(), nil
			}
		}
		if !r.pending {
			first, ok, err := r.p.next(&r.last)
			if err != nil {
				return nil, err
			}
			if ok && first && r.first.number < 0 {
				r.first, r.last, r.read = r.last, item{}, true
				continue
			}
			r.pending, r.read = ok, r.read || ok
		}
		t := &r.last
		if r.first.number >= 0 && !r.given && (!r.pending || t.number > r.first.number) {
			r.given = true // the file is cut before the context has it
			if r.follows(&r.first) {
				return r.record(&r.first), nil
			}
			continue
		}
		if !r.pending {
			r.err = r.end()
			return nil, r.err
		}
		r.pending = false
		if !r.follows(t) {
			return nil, &tracediff.SyntaxError{
				Name: r.p.name, Pos: t.pos, Msg: fmt.Sprintf("trace %d of tick %d after trace %d of tick %d", t.number, t.tick, r.number, r.tick),
			}
		}
		if r.traces == maxTraces {
			r.err = r.p.lines.Corrupt("more than %d traces, which is as many as are read", maxTraces)
			return nil, r.err
		}
		r.given = r.given || t.number == r.first.number
		return r.record(t), nil
	}
}

// follows reports whether a trace can come after those that were returned.
func (r *reader) follows(t *item) bool { return t.number > r.number && t.tick >= r.tick }

// end returns the error that reading ends with.
func (r *reader) end() error {
	last := &r.last
	if last.line == "" {
		last = &r.first
	}
	if r.p.cut == io.EOF && r.read && last.cut() {
		return &frame.Error{
			Name: r.p.name, Offset: last.pos.Offset, Err: frame.ErrTorn,
			Msg: fmt.Sprintf("line %d: the file ends after %d of the %d frames of trace %d", last.pos.Line, len(last.stack), last.depth, last.number),
		}
	}
	return r.p.cut
}

// record makes the record of a trace.
func (r *reader) record(t *item) *tracediff.Record {
	r.number, r.tick = t.number, t.tick
	r.traces++
	sums := append(r.at.Sums[:0], tracediff.Sum{Name: "hash", Value: []byte(t.hash)})
	if t.rng != "" {
		sums = append(sums, tracediff.Sum{Name: "rng", Value: []byte(t.rng)}, tracediff.Sum{Name: "depth", Value: strconv.AppendInt(nil, int64(t.depth), 10)})
	}
	r.at = tracediff.Checkpoint{Tick: t.tick, Scope: "trace " + strconv.FormatInt(t.number, 10), Sums: sums, Detail: t.details(r.at.Detail[:0])}
	r.rec = tracediff.Record{Pos: t.pos, Checkpoint: &r.at}
	return &r.rec
}

// total makes the record of how many traces the peer has, in the tick of the first that
// differs.
func (r *reader) total() *tracediff.Record {
	r.at = tracediff.Checkpoint{Tick: r.tick, Scope: "number of traces", Sums: r.at.Sums[:0], Count: r.p.count, HasCount: true, Detail: r.at.Detail[:0]}
	r.rec = tracediff.Record{Pos: r.p.countPos, Checkpoint: &r.at}
	return &r.rec
}
