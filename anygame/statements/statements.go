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
	// maxText is how many bytes of a statement are kept as its text.
	maxText = 1 << 10
)

// Scan reads a whole text. The name is what claims and errors call it. At most 65536 claims are kept.
func Scan(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	s, w := NewScanner(name), textsearch.NewWindow(r, name)
	search := s.Join(w)
	for {
		if err := w.Next(); err == io.EOF {
			return s.Log(), nil
		} else if err != nil {
			return nil, err
		}
		search()
	}
}

// Scanner finds the statements in the text of a window.
type Scanner struct {
	name     string
	log      *tracediff.ClaimLog
	word     string // for a tick, of the first claim that has one
	dropped  int64
	pairs    pairs
	places   textsearch.Places
	w        *textsearch.Window
	at       textsearch.Cursor
	searcher uint8
	from     int64 // where the search goes on
}

// NewScanner returns a Scanner.
func NewScanner(name string) *Scanner {
	return &Scanner{name: name, log: &tracediff.ClaimLog{}, at: textsearch.Cursor{Line: 1}}
}

// Join joins the scanner to a window. The function that it returns searches the lines that come next.
func (s *Scanner) Join(w *textsearch.Window) (search func()) {
	s.w, s.searcher = w, w.Join(true)
	return func() {
		w.Together(s.search)
		s.at.Pass(w, w.To)
	}
}

// Log returns the claims of the text, after its end.
func (s *Scanner) Log() *tracediff.ClaimLog {
	s.pairs.judge(s.log)
	if s.dropped > 0 {
		s.log.Trouble = s.name + ": " + limits.Claims.Reached("", limits.Claims.Max()+s.dropped).Error()
	}
	if s.word != "" {
		s.log.Dialect.TickName = tickName(s.word)
	}
	return s.log
}

// tickName returns the function that names ticks after a word for them.
func tickName(word string) func(tick uint64) string {
	return func(tick uint64) string { return word + " " + strconv.FormatUint(tick, 10) }
}

// search reads the statements that have their words for desync in some lines.
func (s *Scanner) search(lines []textsearch.Line, text []byte) {
	base, end := lines[0].From, lines[len(lines)-1].To
	f := find(text, &s.places)
	from := max(base, int(s.from-s.w.Base))
	for from < end {
		at := f.next(from - base)
		if at += base; at < base || at >= end {
			break
		}
		for ; lines[0].To <= at; lines = lines[1:] {
			s.pass(&lines[0], from)
		}
		s.at.Pass(s.w, at)
		start := int(s.at.Start - s.w.Base)
		if at-start > maxLine {
			if from = end; bytes.IndexByte(s.w.Buf[at:end], '\n') >= 0 {
				from = at + bytes.IndexByte(s.w.Buf[at:end], '\n')
			}
			continue
		}
		from = max(s.read(&f, &lines[0], max(0, start, at-before), from, at, base), at+1)
	}
	for i := range lines {
		s.pass(&lines[i], from)
	}
	s.from = s.w.Base + int64(max(from, end))
}

// pass notes that a line has no stem, if the search in it began where it begins.
func (s *Scanner) pass(line *textsearch.Line, from int) {
	if line.From >= from && line.MayBeDull(s.searcher) && !hasOddStem(s.w.Buf[line.From:line.To]) {
		line.Dull(s.searcher)
	}
}

// read reads the part of a statement that lies around a word. The line is searched from start on. It
// returns where the search goes on.
func (s *Scanner) read(f *finder, line *textsearch.Line, start, from, at, base int) int {
	if line.IsDull(s.searcher) {
		return line.To - 1
	}
	text := s.w.Buf[start:min(len(s.w.Buf), at+after+maxBlock)]
	end := bytes.IndexByte(text[at-start:], '\n')
	if end < 0 {
		end = len(text) - (at - start)
	}
	first := text[:at-start+min(end, after)]
	to := start + len(first)
	dull := false
	var found []*statement
	var above []byte
	if start > 0 {
		above = s.w.Buf[max(0, start-before) : start-1]
	}
	rest := text[min(len(text), at-start+end+1):]
	if bytes.HasPrefix(first, []byte("--- ")) {
		if one, used := readDiff(above, first, rest); one != nil {
			found, to = append(found, one), to+used
		}
	} else if from <= start && f.onlyPeers(first, to-base) && !hasSums(first, true) {
		dull = true
	} else if isCompared(first) {
		if one, used := readAssertion(above, first, rest); one != nil {
			found, to = append(found, one), to+used
		} else if isPromising(first, !s.pairs.equal) {
			found, used, _ = readBlock(above, first, rest)
			to += used
		}
	} else if !isPromising(first, !s.pairs.equal) {
		dull = !s.pairs.equal || !isPromising(first, true) // neither its words nor its sums, whatever they are
	} else {
		used := 0
		if found, used, dull = readBlock(above, first, rest); len(found) > 0 {
			to += used
		}
	}
	if dull && from <= line.From && start == line.From && to+1 == line.To {
		line.Dull(s.searcher)
	}
	for _, f := range found {
		if !f.pair || s.pairs.take(f, len(s.log.Claims)) {
			s.add(f)
		}
	}
	return to
}

// add keeps a claim.
func (s *Scanner) add(f *statement) {
	if limits.Claims.Over(int64(len(s.log.Claims)) + 1) {
		s.dropped++
		return
	}
	c := tracediff.Claim{
		File: s.name, Pos: tracediff.Position{Line: s.at.Line, Offset: s.at.Start}, Text: f.text,
		Tick: f.tick, HasTick: f.tickWord != "", Peers: f.peers, Values: f.values, Of: f.of, By: f.by, Replay: f.replay, Data: f.data, Reported: f.reported, Quoted: f.quoted,
	}
	if s.word == "" {
		s.word = f.tickWord
	}
	s.log.Claims = append(s.log.Claims, c)
}
