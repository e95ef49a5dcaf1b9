// Package generals reads the files that Command & Conquer Generals and Zero Hour write about their checksums, in builds
// with DEBUG_CRC: DebugFrame_000100.txt, one file a frame in a folder of the peer (-SaveDebugCRCPerFrame), and
// crcDebug<machine>.txt, the last lines before a desync.
//
// A line is a message of the simulation, with the frame and how many came before it in that frame:
//
//	100:00000 CRC at start of frame 100 is 0x00000000
//	100:00001 dumpCoord3D() aiupdate.cpp:2183 getObject()->getPosition() 43FA0000 42C80000 41A00000
//	100:00002 RandomSeed: 1839201733
//
// Each is a checkpoint in the order of the file. Its numbers are sums, named after the text before them; the text
// without them is its system. Numbers that are the bits of a float are shown as the game itself shows floats,
// 500/43FA0000. Lines without a number before them may differ between peers, and are skipped. docs/formats/generals.md
// has the rules.
package generals

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// ring is how many lines the game keeps at most: if a frame has more, the first ones are lost.
const ring = 64000

// Format returns the format of both kinds of files.
func Format() tracediff.Format {
	return tracediff.Format{
		Name:   "generals-crc",
		Title:  "C&C Generals CRC log (DebugFrame_<frame>.txt, crcDebug<machine>.txt)",
		Sniff:  sniff,
		Folder: true,
		Read:   func(r io.Reader, name string, _ int) (tracediff.Source, error) { return newSource(r, name) },
	}
}

// sniff looks for lines with a frame and a number, in an unbroken sequence.
func sniff(head []byte) bool {
	var last entry
	found := false
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		e, ok := parse(bytes.TrimSuffix(line, []byte("\r")))
		if !ok || !whole {
			continue
		}
		if found && !e.follows(last) {
			return false
		}
		last, found = e, true
	}
	return found
}

// entry is a line with its frame and number.
type entry struct {
	frame uint64
	index uint64
	text  []byte
}

// follows reports whether e may come next after another entry.
func (e entry) follows(last entry) bool {
	return e.frame == last.frame && e.index == last.index+1 || e.frame > last.frame && e.index == 0
}

// parse reads a line that begins with its frame and number: "%d:%05d ".
func parse(line []byte) (e entry, ok bool) {
	digits, rest, ok := bytes.Cut(line, []byte(":"))
	number, text, spaced := bytes.Cut(rest, []byte(" "))
	if !ok || !spaced || len(digits) > 10 || len(number) < 5 || len(number) > 10 {
		return e, false
	}
	var err error
	if e.frame, err = strconv.ParseUint(string(digits), 10, 32); err != nil || !canonical(digits, 1) {
		return e, false
	}
	if e.index, err = strconv.ParseUint(string(number), 10, 32); err != nil || !canonical(number, 5) {
		return e, false
	}
	e.text = text
	return e, true
}

// canonical reports whether a number has no more zeros before it than make width digits.
func canonical(digits []byte, width int) bool { return len(digits) == width || digits[0] != '0' }

// frameOf returns the frame in the name of a file.
func frameOf(path string) (uint64, bool) {
	digits, ok := strings.CutPrefix(compression.PlainName(filepath.Base(path)), "DebugFrame_")
	digits, end := strings.CutSuffix(digits, ".txt")
	if !ok || !end || len(digits) < 6 || !canonical([]byte(digits), 6) {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	return n, err == nil
}

// machine returns the machine that a file's name shows, empty if it shows none.
func machine(path string) string {
	name, ok := strings.CutPrefix(compression.PlainName(filepath.Base(path)), "crcDebug")
	name, end := strings.CutSuffix(name, ".txt")
	if !ok || !end {
		return ""
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// source is the trace of one file.
type source struct {
	lines  *orderlog.Lines
	peer   string
	held   entry // that comes next, if holding
	hold   bool
	last   entry
	any    bool
	single bool // the file has one frame

	matrix matrix
	reader line
	rec    tracediff.Record
	at     tracediff.Checkpoint
	wrong  *tracediff.SyntaxError // to be returned by the next call
	err    error
}

// single is a source of one frame, which is known at once.
type single struct{ *source }

// Span returns the one frame of the file.
func (s single) Span() (first, last uint64) { return s.held.frame, s.held.frame }

// newSource reads up to the first line that counts.
func newSource(r io.Reader, name string) (tracediff.Source, error) {
	s := &source{lines: orderlog.NewLines(r, name), peer: machine(name)}
	s.rec.Checkpoint = &s.at
	number, named := frameOf(name)
	s.single = named
	for {
		e, err := s.next()
		if err == io.EOF {
			return nil, s.lines.Unrecognized("no line with a frame and a number, as a CRC log of Generals has them")
		}
		if err != nil {
			return nil, err
		}
		if !named && e.index > 0 {
			// The file begins in the middle of a frame, on each peer in another place.
			continue
		}
		s.held, s.hold = e, true
		s.held.text = bytes.Clone(e.text)
		break
	}
	s.rec.Pos = engine.PositionOf(s.lines)
	switch {
	case named && s.held.frame != number:
		return nil, s.lines.Corrupt("of frame %d, and its name contains frame %d", s.held.frame, number)
	case named && s.held.index > 0:
		s.wrong = s.syntax("the frame begins with its line %d: the game keeps %d lines, the first ones are lost", s.held.index, ring)
	}
	if named {
		return single{s}, nil
	}
	return s, nil
}

func (s *source) syntax(format string, args ...any) *tracediff.SyntaxError {
	return &tracediff.SyntaxError{
		Name: s.lines.Name(), Pos: engine.PositionOf(s.lines), Msg: fmt.Sprintf(format, args...),
	}
}

func (s *source) Header() tracediff.Header { return tracediff.Header{Peer: s.peer} }

func (s *source) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "C&C Generals", File: "C&C Generals CRC log", Values: true, Endless: true,
		Covers: "the lines that the simulation logs while it runs, and the running CRC of objects, random numbers, the partition manager, players and AI as far as it is computed in a frame",
	}
}

// next reads the next line that counts. It is valid until the next call.
func (s *source) next() (entry, error) {
	for {
		line, err := s.lines.Next()
		if err != nil {
			return entry{}, err
		}
		if e, ok := parse(line); ok {
			return e, nil
		}
	}
}

// Next returns the next line that counts as a checkpoint.
func (s *source) Next() (*tracediff.Record, error) {
	if s.wrong != nil {
		wrong := s.wrong
		s.wrong = nil
		return nil, wrong
	}
	if s.err != nil {
		return nil, s.err
	}
	e := s.held
	if !s.hold {
		if e, s.err = s.next(); s.err != nil {
			return nil, s.err
		}
		s.rec.Pos = engine.PositionOf(s.lines)
	}
	s.hold = false
	switch {
	case s.any && e.frame < s.last.frame || s.single && s.any && e.frame != s.last.frame:
		s.err = s.lines.Corrupt("of frame %d, expected one of frame %d", e.frame, s.last.frame)
		return nil, s.err
	case s.any && !e.follows(s.last):
		s.wrong = s.syntax("line %d of frame %d does not follow line %d of frame %d: lines are lacking", e.index, e.frame, s.last.index, s.last.frame)
	}
	s.last, s.any = entry{frame: e.frame, index: e.index}, true
	s.at = tracediff.Checkpoint{Tick: e.frame, Sums: s.at.Sums[:0]}
	s.checkpoint(e)
	return &s.rec, nil
}
