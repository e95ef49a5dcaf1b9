package tracediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/orderlog/packed"
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

// String returns what such files are.
func (g Grammar) String() string { return grammarNames[g] }

// ReadOptions says how a trace is read. The zero value recognises the grammar
// by content.
type ReadOptions struct {
	// Pattern finds a checksum in a log line by groups named sum, and as far as
	// the log has them tick, system, scope, phase, count and sum_NAME. Lines
	// that do not match are skipped. Without a group for it the tick is the
	// number of the matching line. A binary trace is read as one all the same.
	Pattern *regexp.Regexp
	// Column is the number of a peer's column in a table, from 0.
	Column int
	// MaxUnpacked bounds the content of a compressed file; 0 means
	// packed.DefaultMaxUnpacked.
	MaxUnpacked int64
}

// SyntaxError is a line that is no record. The lines after it can still be
// read.
type SyntaxError struct {
	Name string
	Pos  Position
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Pos.Line, e.Msg) }

// ErrUnrecognized says that a file is no trace.
var ErrUnrecognized = errors.New("not a trace")

// Reader reads a trace as a stream.
type Reader struct {
	name    string
	header  Header
	grammar grammar
	binary  *frames  // or nil
	source  Source   // or nil
	win     *window  // nil for a source
	in      *counted // what is read of a compressed file or a source, or nil

	line    int64 // number of the line that comes next, from 1
	matched uint64
	text    textHeader
	names   *names
	f       fields
	rec     Record
	cut     bool // the last line has no end
	closers []io.Closer

	tick    uint64
	visited map[visit]uint32 // checkpoints of this pass over tick
	err     error            // once reading has ended
}

// counted counts what is read of a file.
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

// progress returns how many bytes of the file are read, and their total, which is 0
// if it is not known.
func (r *Reader) progress() (done, total int64) {
	switch {
	case r.in != nil:
		return r.in.n, r.in.size
	case r.win != nil && r.win.file != nil:
		return r.win.offset(), r.win.size
	}
	return 0, 0
}

// follow has moved called now and then while the file is read.
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

// grammar says how lines are read.
type grammar struct {
	kind    Grammar
	pattern *regexp.Regexp
	groups  []group
	sep     byte
	column  int
	columns []string // names of a table's peers
	titled  bool     // the first row has names
}

// group is what a group of the pattern holds: a key, with a name for a sum.
type group struct{ key, name string }

// NewReader recognises the trace in r and reads its header. The name is what
// errors call it. The content may be compressed, see [packed.Unpack]. A trace that is
// none gives an error that wraps ErrUnrecognized.
func NewReader(r io.Reader, name string, opts ReadOptions) (*Reader, error) {
	content, _, err := packed.Unpack(r, opts.MaxUnpacked)
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

// remainder reads what a window has from its position on.
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

// Header returns the trace's header. The caller must not change what it refers
// to.
func (r *Reader) Header() Header { return r.header }

// Grammar returns the shape of the trace.
func (r *Reader) Grammar() Grammar { return r.grammar.kind }

// Columns returns the names of a table's peers.
func (r *Reader) Columns() []string { return r.grammar.columns }

// Close frees what the Reader holds. It does not close what it reads from.
func (r *Reader) Close() error {
	if r.win != nil {
		r.win.unmap()
	}
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	r.closers = nil
	return errors.Join(errs...)
}

// Next returns the next record. The record and all bytes in it are valid until
// the next call, strings for good; [Checkpoint.Clone] keeps a checkpoint.
//
// A line that is malformed gives a [*SyntaxError]; reading goes on behind it
// with the next call. Next returns io.EOF at the end, and a [*frame.Error] if a
// binary trace is torn or corrupt, in which case everything before has been
// delivered. Once it has returned such an error it returns the same one again.
//
// [*frame.Error]: https://pkg.go.dev/github.com/desynctool/desynctool/orderlog/frame#Error
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
		r.line++
		r.cut = !ended
		if !ok {
			return nil, r.syntax("line of more than %d bytes", r.win.sizes.line)
		}
		found, err := r.parse(line)
		if err != nil {
			return nil, r.syntax("%v", err)
		}
		if found {
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

// parse makes a record of a line. It reports false if the line is none and need
// not be one.
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
			return false, errors.New("line behind the end")
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

// readHeader reads the lines before the first record.
func (r *Reader) readHeader() error {
	for r.grammar.kind == Pairs {
		rest := r.win.rest()
		if len(rest) == 0 && !r.win.eof {
			if err := r.win.fill(); err != nil {
				return err
			}
			continue
		}
		if len(rest) == 0 || !bytes.ContainsRune([]byte("%#\r\n"), rune(rest[0])) {
			break
		}
		r.rec.Pos = Position{r.line, r.win.offset()}
		line, _, ok, err := r.win.line()
		if err != nil {
			return err
		}
		r.line++
		if !ok {
			return r.syntax("line of more than %d bytes", r.win.sizes.line)
		}
		if len(line) > 0 && line[0] == '%' {
			if err := r.text.line(string(line)); err != nil {
				return r.syntax("%v", err)
			}
		}
	}
	r.header = r.text.Header
	return nil
}

// parsePercent takes a line that begins with a percent sign behind the first
// record.
func (r *Reader) parsePercent(line []byte) error {
	word, _, _ := strings.Cut(string(line), " ")
	if word != textEnd && word != textTorn && word != textCorrupt {
		return fmt.Errorf("%s behind the first record", quoteShort(line))
	}
	return r.text.line(string(line))
}

// parseRow takes a row of a table.
func (r *Reader) parseRow(line []byte) (bool, error) {
	g := &r.grammar
	if g.titled {
		g.titled = false
		return false, nil
	}
	first, rest, more := cutCell(line, g.sep)
	tick, ok := parseUint(first, math.MaxUint64)
	if !ok {
		return false, fmt.Errorf("%s, expected a tick", quoteShort(first))
	}
	var value []byte
	cells := 0
	for ; more; cells++ {
		var cell []byte
		cell, rest, more = cutCell(rest, g.sep)
		if cells == g.column {
			value = cell
		}
	}
	if cells != len(g.columns) {
		return false, fmt.Errorf("row of %d checksums, expected %d", cells, len(g.columns))
	}
	if len(value) == 0 {
		return false, nil
	}
	if len(value) > MaxText {
		return false, fmt.Errorf("checksum of %d bytes, limit is %d", len(value), MaxText)
	}
	r.f.c = Checkpoint{Tick: tick, Sums: append(r.f.c.Sums[:0], Sum{Value: value})}
	return true, nil
}

// cutCell returns the first cell of a row, without blanks and quotes around it.
func cutCell(row []byte, sep byte) (cell, rest []byte, more bool) {
	if sep == ' ' {
		row = bytes.TrimLeft(row, " ")
	}
	if cell, rest, more, ok := cutQuoted(row, sep); ok {
		return cell, rest, more
	}
	cell, rest, more = bytes.Cut(row, []byte{sep})
	if sep == ' ' {
		rest = bytes.TrimSpace(rest)
		more = len(rest) > 0
	}
	return bytes.TrimSpace(cell), rest, more
}

// cutQuoted is cutCell for a cell in quotes, in which there may be separators, and
// quotes that are doubled.
func cutQuoted(row []byte, sep byte) (cell, rest []byte, more, ok bool) {
	row = bytes.TrimLeft(row, " \t")
	if len(row) < 2 || row[0] != '"' {
		return nil, nil, false, false
	}
	doubled := false
	for i := 1; i < len(row); i++ {
		if row[i] != '"' {
			continue
		}
		if i+1 < len(row) && row[i+1] == '"' {
			doubled = true
			i++
			continue
		}
		cell, rest = row[1:i], row[i+1:]
		if doubled {
			cell = bytes.ReplaceAll(cell, []byte(`""`), []byte(`"`))
		}
		if blanks := bytes.TrimLeft(rest, " "); len(blanks) == 0 || blanks[0] == sep {
			rest = blanks
		}
		if len(rest) == 0 {
			return cell, nil, false, true
		}
		return cell, rest[1:], true, rest[0] == sep
	}
	return nil, nil, false, false
}

func patternGrammar(p *regexp.Regexp) (grammar, string) {
	g := grammar{kind: Pattern, pattern: p, groups: make([]group, p.NumSubexp()+1)}
	sums := 0
	for i, name := range p.SubexpNames() {
		switch name {
		case keyTick, keySystem, keyScope, keyPhase:
			g.groups[i].key = name
		case "count":
			g.groups[i].key = keyCount
		case keySum:
			g.groups[i].key = keySum
			sums++
		default:
			if rest, ok := strings.CutPrefix(name, keySum+"_"); ok && rest != "" {
				g.groups[i] = group{keySum, rest}
				sums++
			}
		}
	}
	if sums == 0 {
		return grammar{}, "the pattern has no group named sum"
	}
	return g, ""
}

func (r *Reader) parsePattern(line []byte) (bool, error) {
	m := r.grammar.pattern.FindSubmatchIndex(line)
	if m == nil {
		return false, nil
	}
	r.matched++
	sums := r.f.c.Sums[:0]
	r.f.c = Checkpoint{Tick: r.matched}
	r.f.seen = 0
	var err error
	for i, g := range r.grammar.groups {
		if g.key == "" || m[2*i] < 0 {
			continue
		}
		value := line[m[2*i]:m[2*i+1]]
		if g.key == keySum {
			sums, err = addSum(sums, g.name, value)
		} else {
			sums, err = r.f.pair(sums, []byte(g.key), value, r.names)
		}
		if err != nil {
			return false, err
		}
	}
	r.f.c.Sums = sums
	if len(sums) == 0 {
		return false, errors.New("the pattern matches without a checksum")
	}
	return true, nil
}

// sniffLen is how much of a file decides what it is.
const sniffLen = 64 << 10

// Sniff returns the grammar of a trace with these leading bytes, Unknown if it
// is none that is recognised without a pattern.
func Sniff(head []byte) Grammar {
	g, _ := sniff(head, len(head) < sniffLen)
	return g.kind
}

// sniff tells what a file is; whole says that head is all of it. Without an
// answer it gives the reason.
func sniff(head []byte, whole bool) (grammar, string) {
	if len(head) == 0 {
		return grammar{}, "empty file"
	}
	if bytes.HasPrefix(head, []byte(Magic)) {
		return grammar{kind: Binary}, ""
	}
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	if bytes.IndexByte(head[:min(len(head), 512)], 0) >= 0 {
		return grammar{}, "binary file of another kind"
	}
	if bytes.HasPrefix(head, []byte(textBegin[:len("%desynctool trace ")])) {
		return grammar{kind: Pairs}, ""
	}
	lines, numbers := sniffLines(head, whole)
	if len(lines) == 0 {
		return grammar{}, "no line of a trace at the start of the file"
	}
	var f fields
	for _, line := range lines {
		if f.parsePairs(line, new(names)) == nil {
			return grammar{kind: Pairs}, ""
		}
	}
	// A line or two may be damaged: most decide.
	hashes := 0
	for _, line := range lines {
		if value := bytes.TrimSpace(line); isChecksum(value) && len(digits(value)) >= 8 {
			hashes++
		}
	}
	if 2*hashes > len(lines) {
		return grammar{kind: Hashes}, ""
	}
	for _, sep := range []byte(",;\t ") {
		g, misfit, ok := sniffTable(lines, sep)
		if ok {
			return g, ""
		}
		if misfit >= 0 {
			return grammar{}, fmt.Sprintf("line %d, %s, is no row of the table of %d columns above it: a tick and %d checksums, some perhaps empty",
				numbers[misfit], quoteShort(lines[misfit]), len(g.columns)+1, len(g.columns))
		}
	}
	return grammar{}, fmt.Sprintf("line %s has no pairs of tick and sum, is no checksum and no row of a table; a pattern may find a checksum in it", quoteShort(lines[0]))
}

// sniffLines returns the first whole lines that are not empty and no comment, and
// their numbers.
func sniffLines(head []byte, whole bool) (lines [][]byte, numbers []int) {
	for n := 1; len(head) > 0 && len(lines) < 20; n++ {
		line, rest, ended := bytes.Cut(head, newline)
		if !ended && !whole {
			break
		}
		if line = trimReturn(line); len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			lines, numbers = append(lines, line), append(numbers, n)
		}
		head = rest
	}
	return lines, numbers
}

// sniffTable reports whether most of lines are rows of ticks and checksums, with
// or without names above them. If they are not, but the first one is, misfit is the
// first line that is none, else -1.
func sniffTable(lines [][]byte, sep byte) (g grammar, misfit int, ok bool) {
	g = grammar{kind: Table, sep: sep}
	first, rest, more := cutCell(lines[0], sep)
	_, untitled := parseUint(first, math.MaxUint64)
	g.titled = !untitled
	for more {
		var cell []byte
		cell, rest, more = cutCell(rest, sep)
		name := strings.ToValidUTF8(string(cell), string(unicode.ReplacementChar))
		if !g.titled || name == "" {
			name = fmt.Sprintf("column %d", len(g.columns)+1)
		}
		for n, base := 2, name; slices.Contains(g.columns, name); n++ {
			name = fmt.Sprintf("%s#%d", base, n)
		}
		g.columns = append(g.columns, name)
	}
	begin := 0
	if g.titled {
		begin = 1
	}
	rows := 0
	misfit = -1
	for i, line := range lines[begin:] {
		if isRow(line, sep, len(g.columns)) {
			rows++
		} else if misfit < 0 && rows > 0 {
			misfit = begin + i
		}
	}
	if len(g.columns) == 0 {
		misfit = -1
	}
	return g, misfit, len(g.columns) > 0 && 2*rows > len(lines)-begin
}

func isRow(line []byte, sep byte, columns int) bool {
	first, rest, more := cutCell(line, sep)
	_, ok := parseUint(first, math.MaxUint64)
	n := 0
	for ; more && ok; n++ {
		var cell []byte
		cell, rest, more = cutCell(rest, sep)
		ok = len(cell) == 0 || isChecksum(cell)
	}
	return ok && n == columns
}

// isChecksum reports whether b is hex or decimal digits.
func isChecksum(b []byte) bool {
	b = digits(b)
	for _, c := range b {
		if lowerHex(c) == 0 {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 2*MaxText/4
}
