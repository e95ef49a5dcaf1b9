package loglines

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

const (
	// maxClaim is the largest length of a claim in bytes.
	maxClaim = 4096
	// windowSize is how much of a log is in memory.
	windowSize = 256 << 10
	// maxClaims is how many claims of a log are kept.
	maxClaims = 1 << 16
	// shown is how many bytes Trouble quotes of a line that is not a claim.
	shown = 80
)

// hit is where a form's literal stands next.
type hit struct {
	engine *engine
	form   *form
	at     int // in the window, -1 if it stands nowhere after that
}

// scanner moves a window over a log.
type scanner struct {
	in   io.Reader
	name string
	buf  []byte
	eof  bool
	base int64 // offset of buf in the log

	// What was passed so far: line ends before the mark, and where its line began.
	mark      int
	line      int64
	lineStart int64

	hits              []hit
	out               *tracediff.ClaimLog
	troubles, dropped int
	first             string
}

// scan looks for the lines of some engines in a whole log.
func scan(in io.Reader, name string, list []engine) (*tracediff.ClaimLog, error) {
	s := &scanner{in: in, name: name, buf: make([]byte, 0, windowSize), line: 1, out: &tracediff.ClaimLog{}}
	if len(list) == 1 {
		s.out.Dialect = list[0].dialect
	}
	for i := range list {
		for k := range list[i].forms {
			s.hits = append(s.hits, hit{engine: &list[i], form: &list[i].forms[k]})
		}
	}
	for !s.eof {
		if err := s.fill(); err != nil {
			return nil, err
		}
		s.search()
	}
	s.out.Trouble = s.trouble()
	return s.out, nil
}

// fill reads until the window is full or the log ends.
func (s *scanner) fill() error {
	for len(s.buf) < cap(s.buf) {
		n, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err == io.EOF {
			s.eof = true
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: reading at offset %d: %w", s.name, s.base+int64(len(s.buf)), err)
		}
	}
	return nil
}

// search takes all claims that begin in the window, but for those that may end
// after it, and moves it on to these.
func (s *scanner) search() {
	end := len(s.buf)
	if !s.eof {
		end -= maxClaim
	}
	for i := range s.hits {
		s.hits[i].find(s.buf, 0)
	}
	from := 0 // claims do not overlap
	for {
		next := -1
		for i := range s.hits {
			if at := s.hits[i].at; at >= 0 && (next < 0 || at < s.hits[next].at) {
				next = i
			}
		}
		if next < 0 || s.hits[next].at >= end {
			break
		}
		h := &s.hits[next]
		if h.at >= from {
			from = h.at + s.take(h)
		}
		h.find(s.buf, h.at+1)
	}
	end = max(end, from)
	s.pass(end)
	s.base += int64(end)
	s.mark = 0
	s.buf = s.buf[:copy(s.buf, s.buf[end:])]
}

func (h *hit) find(buf []byte, from int) {
	h.at = bytes.Index(buf[from:], []byte(h.form.literal))
	if h.at >= 0 {
		h.at += from
	}
}

// pass counts lines up to a place in the window.
func (s *scanner) pass(to int) {
	part := s.buf[s.mark:to]
	if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
		s.line += int64(bytes.Count(part, []byte("\n")))
		s.lineStart = s.base + int64(s.mark+last+1)
	}
	s.mark = to
}

// take takes the claim at a hit and returns its length, or that of
// only the literal if it is not one.
func (s *scanner) take(h *hit) int {
	s.pass(h.at)
	rest := s.buf[h.at:]
	c := cursor{text: rest[:min(len(rest), maxClaim)], pos: len(h.form.literal)}
	f := h.form.parse(&c)
	if c.failed {
		if cut := c.cut && s.eof && len(rest) <= maxClaim; cut || !h.form.common {
			s.wrong(h, rest, cut)
		}
		return len(h.form.literal)
	}
	if len(s.out.Claims) == maxClaims {
		s.dropped++
		return c.pos
	}
	if len(s.out.Claims) == 0 {
		s.out.Dialect = h.engine.dialect
	}
	text := strings.ToValidUTF8(string(rest[:c.pos]), "\uFFFD")
	if strings.Contains(text, "\n") {
		text = strings.Join(strings.Fields(text), " ")
	}
	s.out.Claims = append(s.out.Claims, tracediff.Claim{
		File: s.name, Pos: tracediff.Position{Line: s.line, Offset: s.lineStart}, Text: text,
		Tick: f.tick, HasTick: f.hasTick, Peers: f.peers, Values: f.values, SelfTest: f.selfTest,
	})
	if f.players != nil {
		if s.out.Players == nil {
			s.out.Players = map[uint32]string{}
		}
		maps.Copy(s.out.Players, f.players)
	}
	return c.pos
}

// wrong notes what begins like a claim but is not one.
func (s *scanner) wrong(h *hit, rest []byte, cut bool) {
	if s.troubles++; s.troubles > 1 {
		return
	}
	line, _, _ := bytes.Cut(rest[:min(len(rest), shown)], []byte("\n"))
	what := "begins like a message of " + h.engine.dialect.Engine + " but is not one"
	if cut {
		what = "the file ends inside a message of " + h.engine.dialect.Engine
	}
	s.first = fmt.Sprintf("line %d: %s: %q", s.line, what, bytes.TrimSuffix(line, []byte("\r")))
}

// trouble says what is wrong with the log.
func (s *scanner) trouble() string {
	var parts []string
	if s.troubles > 0 {
		parts = append(parts, s.first)
	}
	if s.troubles > 1 {
		parts = append(parts, fmt.Sprintf("%d more such places", s.troubles-1))
	}
	if s.dropped > 0 {
		parts = append(parts, fmt.Sprintf("%d claims after the first %d were left out", s.dropped, maxClaims))
	}
	if len(parts) == 0 {
		return ""
	}
	return s.name + ": " + strings.Join(parts, "; ")
}
