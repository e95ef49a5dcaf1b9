// Package statements reads the messages of any game about desyncs, in whatever words: claims without a trace.
//
//	consistency failure (0 should be 216)
//	Error Game.cpp:2676: Multiplayer desynchronisation: crc test failed for crcTick(186) serverCRC(88) localCRC(15)
//	Replay has gone out of sync!
//	InGame:D9C721A5 Replay:D8A198C0 Frame:110
//	Player 2 is out of sync
//
// A line is a statement if it has a word for desync, and with it a tick, two different sums or the name of a peer. A
// word without any of these counts only in a message that a program wrote. Without such a word, a line is one if it has
// a tick, two different sums of two peers, and nothing else. The lines that follow belong to it as long as they contain
// nothing but values with their names. What surrounds a line, such as quoting, Markdown, HTML, the signs of a diff or
// the time stamps of a log, changes nothing.
//
// The package knows no engine. What an engine's own grammar reads is better, see package messages.
package statements

import (
	"bytes"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// maxLine is how many bytes of a line are searched. The rest of a longer line is skipped.
	maxLine = 64 << 10
	// before and after are how many bytes of a long line are read around a word for desync.
	before, after = 1 << 10, 3 << 10
	// maxFollow is how many lines may belong to the one with the word, and maxBlock how many bytes.
	maxFollow, maxBlock = 8, 4 << 10
	// windowSize is how many bytes are read before they are searched.
	windowSize = 256 << 10
	// maxShapes is how many shapes of lines are remembered.
	maxShapes = 1 << 12
	// maxText is how many bytes of a statement are kept as its text.
	maxText = 1 << 10
)

// Scan reads a whole text. The name is what claims and errors call it. At most 65536 claims are kept.
func Scan(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	s := NewScanner(name)
	if _, err := io.CopyBuffer(struct{ io.Writer }{s}, struct{ io.Reader }{r}, make([]byte, 32<<10)); err != nil {
		return nil, err
	}
	return s.Log(), nil
}

// Scanner finds the statements in a text that is written to it.
type Scanner struct {
	name    string
	log     *tracediff.ClaimLog
	word    string // for a tick, of the first claim that has one
	dropped int64
	pairs   pairs
	places  textsearch.Places
	dull    map[uint64]bool // shapes of lines without a word for a desync and without sums of two peers

	buf  []byte
	base int64 // offset of buf in the text
	from int   // where the search goes on

	// What was passed so far: line ends before the mark, and where its line began.
	mark      int
	line      int64
	lineStart int64
}

// NewScanner returns a Scanner of an empty text.
func NewScanner(name string) *Scanner {
	return &Scanner{name: name, log: &tracediff.ClaimLog{}, line: 1}
}

// Write adds to the text.
func (s *Scanner) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.buf == nil {
			s.buf = make([]byte, 0, max(8<<10, min(len(p), windowSize)))
		}
		part := p[:min(len(p), windowSize)]
		s.buf, p = append(s.buf, part...), p[len(part):]
		if len(s.buf) >= windowSize {
			s.search(len(s.buf) - after - maxBlock)
			s.keep()
		}
	}
	return n, nil
}

// Log ends the text and returns its claims.
func (s *Scanner) Log() *tracediff.ClaimLog {
	s.search(len(s.buf))
	s.buf = nil
	s.pairs.judge(s.log)
	if s.dropped > 0 {
		s.log.Trouble = s.name + ": " + limits.Claims.Reached("", limits.Claims.Max()+s.dropped).Error()
	}
	if s.word != "" {
		word := s.word
		s.log.Dialect.TickName = func(tick uint64) string { return word + " " + strconv.FormatUint(tick, 10) }
	}
	return s.log
}

// search reads the statements that have their words for desync before an end.
func (s *Scanner) search(end int) {
	base := min(s.from, end)
	f := find(s.buf[base:end], &s.places)
	for {
		at := f.next(s.from - base)
		if at < 0 {
			break
		}
		at += base
		s.pass(at)
		start := int(s.lineStart - s.base)
		if at-start > maxLine {
			if s.from = end; bytes.IndexByte(s.buf[at:end], '\n') >= 0 {
				s.from = at + bytes.IndexByte(s.buf[at:end], '\n')
			}
			continue
		}
		s.from = max(s.read(&f, max(0, start, at-before), at, base), at+1)
	}
	s.from = max(s.from, end)
	s.pass(end)
}

// pass counts lines up to a place in the window.
func (s *Scanner) pass(to int) {
	if to <= s.mark {
		return
	}
	part := s.buf[s.mark:to]
	if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
		s.line += int64(bytes.Count(part, []byte("\n")))
		s.lineStart = s.base + int64(s.mark+last+1)
	}
	s.mark = to
}

// keep moves the window on, and keeps the bytes that may still be read.
func (s *Scanner) keep() {
	drop := max(0, min(s.mark, int(s.lineStart-s.base))-before, s.mark-before-maxLine)
	s.base += int64(drop)
	s.buf = s.buf[:copy(s.buf, s.buf[drop:])]
	s.mark -= drop
	s.from -= drop
}

// read reads the statement in the line that begins at start, as far as it lies around a word at a place. It returns
// where the search goes on.
func (s *Scanner) read(f *finder, start, at, base int) int {
	text := s.buf[start:min(len(s.buf), at+after+maxBlock)]
	end := bytes.IndexByte(text[at-start:], '\n')
	if end < 0 {
		end = len(text) - (at - start)
	}
	first := text[:at-start+min(end, after)]
	to := start + len(first)
	if s.from <= start && f.onlyPeers(first, to-base) && !hasSums(first, true) {
		return to
	}
	shape := textsearch.Shape(first)
	if s.dull[shape] {
		return to
	}
	if !isPromising(first, !s.pairs.equal) {
		if !s.pairs.equal || !isPromising(first, true) { // neither its words nor its sums, whatever they are
			s.bore(shape)
		}
		return to
	}
	rest := text[min(len(text), at-start+end+1):]
	var previous []byte
	if start > 0 {
		previous = s.buf[max(0, start-before) : start-1]
		previous = previous[bytes.LastIndexByte(previous, '\n')+1:]
	}
	found, lines, dull := readBlock(previous, first, rest)
	if dull {
		s.bore(shape)
	}
	if len(found) > 0 {
		to += lines
	}
	for _, f := range found {
		if !f.pair || s.pairs.take(f, len(s.log.Claims)) {
			s.add(f)
		}
	}
	return to
}

// bore remembers that lines of a shape are no statements.
func (s *Scanner) bore(shape uint64) {
	if s.dull == nil || len(s.dull) == maxShapes {
		s.dull = map[uint64]bool{}
	}
	s.dull[shape] = true
}

// add keeps a claim.
func (s *Scanner) add(f *statement) {
	if limits.Claims.Over(int64(len(s.log.Claims)) + 1) {
		s.dropped++
		return
	}
	c := tracediff.Claim{
		File: s.name, Pos: tracediff.Position{Line: s.line, Offset: s.lineStart}, Text: f.text,
		Tick: f.tick, HasTick: f.tickWord != "", Peers: f.peers, Values: f.values, By: f.by, Quoted: f.quoted,
	}
	if s.word == "" {
		s.word = f.tickWord
	}
	s.log.Claims = append(s.log.Claims, c)
}
