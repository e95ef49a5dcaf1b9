package tracediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
)

// Grammar is the shape of a trace.
type Grammar int

// Grammars.
const (
	Unknown Grammar = iota
	Binary          // frames
	Pairs           // lines of key=value pairs
	Hashes          // one checksum a line; the line's number is the tick
	Table           // one row a tick, one column a peer
	Pattern         // lines with a checksum somewhere in them
	Engine          // a file of an engine, see Source
)

var grammarNames = [...]string{"unknown", "binary trace", "key=value lines", "one checksum a line", "table of checksums", "lines that match a pattern", "an engine's own file"}

// String describes such files.
func (g Grammar) String() string { return grammarNames[g] }

// ReadOptions configures how a trace is read. With the zero value, the content determines the grammar.
type ReadOptions struct {
	// Pattern finds a checksum in a log line by a group named sum, and optional groups tick, system, scope, phase,
	// count and sum_NAME. Lines that do not match are skipped. Without a tick group, the tick is the number of the
	// matching line. A binary trace is read as such nevertheless.
	Pattern *regexp.Regexp
	// Column is the index of a peer's column in a table, from 0.
	Column int
	// MaxUnpacked limits the content of a compressed file. 0 means limits.File.
	MaxUnpacked int64
}

// SyntaxError reports a line that is not a record. The lines after it can still be read.
type SyntaxError struct {
	Name string
	Pos  Position
	Msg  string
}

func (e *SyntaxError) Error() string {
	if e.Pos.Line == 0 {
		return fmt.Sprintf("%s: at %s: %s", e.Name, e.Pos, e.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", e.Name, e.Pos.Line, e.Msg)
}

// ErrUnrecognized reports that a file is not a trace.
var ErrUnrecognized = errors.New("not a trace")

// Reader reads a trace as a stream.
type Reader struct {
	name    string
	header  Header
	grammar grammar
	binary  *frames  // or nil
	source  Source   // or nil
	win     *window  // nil for a source
	in      *counted // counts what is read from a compressed file or a source, or nil

	line    int64   // number of the next line, from 1; 0 if jumped
	jumped  bool    // after a jump over lines that were not counted
	ahead   *Record // the next record, if it has been read
	matched uint64
	text    textHeader
	names   *names
	f       fields
	rec     Record
	cut     bool // the last line has no end
	closers []io.Closer

	row struct { // the last one of a table
		tick  uint64
		value []byte
	}

	tick    uint64
	visited map[visit]uint32 // checkpoints in this pass over tick
	err     error            // set when reading has ended
}

// counted counts the bytes that are read from a file.
type counted struct {
	io.Reader
	n, size int64
	moved   func() // called with every read, if not nil
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if c.moved != nil {
		c.moved()
	}
	return n, err
}

// progress returns how many bytes of the file were read, and the total, 0 if unknown.
func (r *Reader) progress() (done, total int64) {
	switch {
	case r.in != nil:
		return r.in.n, r.in.size
	case r.win != nil && r.win.file != nil:
		return r.win.offset(), r.win.size
	}
	return 0, 0
}

// follow calls moved regularly while the file is read.
func (r *Reader) follow(moved func()) {
	if r.in != nil {
		r.in.moved = moved
	} else if r.win != nil {
		r.win.moved = moved
	}
}

// visit is a place in a tick.
type visit struct {
	system, scope string
	phase         Phase
}

// grammar determines how lines are parsed.
type grammar struct {
	kind    Grammar
	pattern *regexp.Regexp
	groups  []group
	sep     byte
	column  int
	columns []string // names of a table's peers
	titled  bool     // the first row has names
}

// NewReader recognizes the trace in r and reads its header. Errors contain name. The content may be compressed, see
// [compression.Unpack]. If the content is not a trace, the error wraps ErrUnrecognized.
func NewReader(r io.Reader, name string, opts ReadOptions) (*Reader, error) {
	content, _, err := compression.Unpack(r, opts.MaxUnpacked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	tr, err := newReader(&window{name: name, sizes: usual, stream: content}, name, opts, new(names))
	if err != nil {
		return nil, err
	}
	if c, ok := content.(io.Closer); ok {
		tr.closers = append(tr.closers, c)
	}
	return tr, nil
}

func newReader(w *window, name string, opts ReadOptions, interned *names) (*Reader, error) {
	r := &Reader{name: name, win: w, line: 1, names: interned, visited: map[visit]uint32{}}
	for len(w.rest()) < sniffLen && !w.eof {
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
	head := w.rest()
	head = head[:min(len(head), sniffLen)]
	if w.torn != nil && len(head) == 0 {
		return nil, w.torn
	}
	g, reason := sniff(head, w.eof && len(head) == len(w.rest()))
	if opts.Pattern != nil && g.kind != Binary {
		g, reason = patternGrammar(opts.Pattern)
	}
	if g.kind == Unknown {
		return nil, fmt.Errorf("%s: %w: %s", name, ErrUnrecognized, reason)
	}
	g.column = opts.Column
	if g.kind == Table && (g.column < 0 || g.column >= len(g.columns)) {
		return nil, fmt.Errorf("%s: table has %d columns of checksums, asked for number %d", name, len(g.columns), g.column)
	}
	r.grammar = g
	if g.kind == Binary {
		b, h, err := newBinary(&remainder{w}, name)
		if err != nil {
			return nil, err
		}
		r.binary, r.header = b, h
		return r, nil
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		w.pos += len(byteOrderMark)
	}
	if err := r.readHeader(); err != nil {
		return nil, err
	}
	return r, nil
}

const byteOrderMark = "\xef\xbb\xbf"

// remainder reads the content of a window from its position on.
type remainder struct{ w *window }

func (r *remainder) Read(p []byte) (int, error) {
	if len(r.w.rest()) == 0 {
		if err := r.w.fill(); err != nil {
			return 0, err
		}
		if len(r.w.rest()) == 0 {
			return 0, r.w.end()
		}
	}
	n := copy(p, r.w.rest())
	r.w.pos += n
	return n, nil
}

// Header returns the trace's header. The caller must not change the data that it points to.
func (r *Reader) Header() Header { return r.header }

// Grammar returns the shape of the trace.
func (r *Reader) Grammar() Grammar { return r.grammar.kind }

// Columns returns the names of a table's peers.
func (r *Reader) Columns() []string { return r.grammar.columns }

// Close frees the Reader's resources. It does not close the underlying reader.
func (r *Reader) Close() error {
	if r.win != nil {
		r.win.unmap()
	}
	errs := lists.Map(r.closers, func(c io.Closer) error { return c.Close() })
	r.closers = nil
	return errors.Join(errs...)
}

// Next returns the next record. The record and its byte slices are valid until the next call; strings stay valid.
// [Checkpoint.Clone] copies a checkpoint.
//
// A malformed line gives a [*SyntaxError]; the next call continues after it. Next returns io.EOF at the end. If a
// binary trace is torn or corrupt, it returns a [*frame.Error] after all records before that place. After io.EOF or a
// [*frame.Error], every call returns the same error.
//
// [*frame.Error]: https://pkg.go.dev/github.com/desynctool/desynctool/internal/file/frame#Error
func (r *Reader) Next() (*Record, error) {
	rec, err := r.read()
	if err != nil {
		return nil, err
	}
	if rec.Event != nil {
		clear(r.visited) // a new pass may follow
		return rec, nil
	}
	c := rec.Checkpoint
	if c.Tick != r.tick {
		clear(r.visited)
		r.tick = c.Tick
	}
	at := visit{c.System, c.Scope, c.Phase}
	c.Occurrence = r.visited[at]
	r.visited[at]++
	return rec, nil
}

// read is Next without occurrences.
func (r *Reader) read() (*Record, error) {
	if rec := r.ahead; rec != nil {
		r.ahead = nil
		return rec, nil
	}
	if r.err != nil {
		return nil, r.err
	}
	if r.source != nil {
		return r.readSource()
	}
	if r.binary != nil {
		return r.readBinary()
	}
	for {
		r.rec.Pos = Position{r.line, r.win.offset()}
		line, ended, ok, err := r.win.line()
		if err != nil {
			r.err = err
			return nil, err
		}
		if !r.jumped {
			r.line++
		}
		r.cut = !ended
		if !ok {
			return nil, r.syntax("line of more than %d bytes", r.win.sizes.line)
		}
		found, err := r.parse(line)
		if err != nil {
			return nil, r.syntax("%v", err)
		}
		if found && !r.again() {
			return &r.rec, nil
		}
	}
}

func (r *Reader) readBinary() (*Record, error) {
	b := r.binary
	if b.isEvent || b.next == len(b.checkpoints) {
		if err := b.more(); err != nil {
			r.err = err
			return nil, err
		}
	}
	r.rec = Record{Pos: Position{Offset: b.r.Offset()}}
	if b.isEvent {
		r.rec.Event = &b.event
		return &r.rec, nil
	}
	r.rec.Checkpoint = &b.checkpoints[b.next]
	b.next++
	return &r.rec, nil
}

func (r *Reader) syntax(format string, args ...any) error {
	return &SyntaxError{r.name, r.rec.Pos, fmt.Sprintf(format, args...)}
}

// parse makes a record from a line. It returns false if the line is not a record and need not be one.
func (r *Reader) parse(line []byte) (bool, error) {
	r.rec.Event, r.rec.Checkpoint = nil, &r.f.c
	if r.grammar.kind == Pattern {
		return r.parsePattern(line)
	}
	if len(line) == 0 || line[0] == '#' {
		return false, nil
	}
	switch r.grammar.kind {
	case Pairs:
		if line[0] == '%' {
			return false, r.parsePercent(line)
		}
		if r.text.ended {
			return false, errors.New("line after the end")
		}
		err := r.f.parse(line, r.names)
		if err == nil && r.f.event {
			r.rec.Event, r.rec.Checkpoint = &r.f.e, nil
		}
		return true, err
	case Hashes:
		value := bytes.TrimSpace(line)
		if len(value) == 0 {
			return false, nil
		}
		if !isChecksum(value) {
			return false, fmt.Errorf("%s, expected a checksum", quoteShort(line))
		}
		r.f.c = Checkpoint{Tick: uint64(r.rec.Pos.Line), Sums: append(r.f.c.Sums[:0], Sum{Value: value})}
		return true, nil
	}
	return r.parseRow(line)
}
