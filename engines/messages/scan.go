package messages

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// MaxClaim is the largest length of a claim in bytes.
	MaxClaim = 16 << 10
	// maxLead is how much of what stands before a claim on its line is looked at.
	maxLead = 512
	// WindowSize is how much of a log is in memory.
	WindowSize = 256 << 10
	// firstWindow is how much is, as long as no more is known to be there: small logs may be many.
	firstWindow = 8 << 10
	// shown is how many bytes Trouble quotes of a line that is not a claim.
	shown = 80
	// maxText is how many bytes of a claim over several lines are kept as its text.
	maxText = 4096
)

// known is a form and whose it is.
type known struct {
	engine *Grammar
	form   *Form
	number int // of the engine
	log    *claimLog
}

// claimLog is what is known of the claims of some engines, as if there were no others: claims of
// one log do not overlap.
type claimLog struct {
	out               *tracediff.ClaimLog
	from              int64     // where the search goes on
	after             int64     // where the last claim ends
	context           []context // by the engine's number
	troubles, dropped int
	first             string
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
	from      int // where the search goes on
	line      int64
	lineStart int64

	forms    []known
	literals *textsearch.Searcher
	places   textsearch.Places
	text     string // of the last claim
}

// context is what lines of an engine that are no claims said last.
type context struct {
	tick    uint64
	hasTick bool
	facts   map[string]string
}

// learn takes facts of which nothing is known yet.
func (c *context) learn(facts map[string]string) {
	for name, value := range facts {
		if _, known := c.facts[name]; value != "" && !known {
			if c.facts == nil {
				c.facts = map[string]string{}
			}
			c.facts[name] = value
		}
	}
}

// scan looks for the lines of some engines in a whole log, for several lists of engines in one
// pass. It returns one log for each list.
func scan(in io.Reader, name string, lists ...[]*Grammar) ([]*tracediff.ClaimLog, error) {
	s := &scanner{in: in, name: name, buf: make([]byte, 0, firstWindow), line: 1}
	var logs []*claimLog
	var texts []string
	for _, list := range lists {
		log := &claimLog{out: &tracediff.ClaimLog{}, context: make([]context, len(list))}
		if len(list) == 1 {
			log.out.Dialect = list[0].Dialect
		}
		logs = append(logs, log)
		for i := range list {
			for k := range list[i].Forms {
				f := &list[i].Forms[k]
				s.forms = append(s.forms, known{engine: list[i], form: f, number: i, log: log})
				texts = append(texts, f.Literal)
			}
		}
	}
	s.literals = searcher(texts)
	for !s.eof {
		if err := s.fill(); err != nil {
			return nil, err
		}
		s.search()
	}
	var out []*tracediff.ClaimLog
	for _, log := range logs {
		log.out.Trouble = s.trouble(log)
		out = append(out, log.out)
	}
	return out, nil
}

// searchers are those of the lists of literals that logs were searched for: of as many kinds as engines
// are asked for together.
var searchers sync.Map

// searcher returns the searcher of some literals, which is made once.
func searcher(texts []string) *textsearch.Searcher {
	key := strings.Join(texts, "\x00")
	if s, ok := searchers.Load(key); ok {
		return s.(*textsearch.Searcher)
	}
	s, _ := searchers.LoadOrStore(key, textsearch.New(texts))
	return s.(*textsearch.Searcher)
}

// fill reads until the window is full or the log ends.
func (s *scanner) fill() error {
	for len(s.buf) < WindowSize {
		if len(s.buf) == cap(s.buf) {
			s.buf = append(make([]byte, 0, WindowSize), s.buf...)
		}
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
		end -= MaxClaim
	}
	for _, at := range s.literals.Find(s.buf[s.from:], &s.places) {
		at += s.from
		if at >= end {
			break
		}
		for n := s.literals.At(s.buf, at, 0); n >= 0; n = s.literals.At(s.buf, at, n+1) {
			if k, place := &s.forms[n], s.base+int64(at); place >= k.log.from {
				k.log.from = place + int64(s.take(k, at))
			}
		}
	}
	s.pass(end)
	if keep := max(0, end-maxLead); !s.eof { // the lead of a claim that comes next
		s.base += int64(keep)
		s.buf = s.buf[:copy(s.buf, s.buf[keep:])]
		s.mark, s.from = end-keep, end-keep
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

// take takes the claim at a place where the literal of a form stands and returns its
// length, or that of only the literal if it is not one.
func (s *scanner) take(k *known, at int) int {
	s.pass(at)
	rest := s.buf[at:]
	m, log := k.engine.match(k.form, s.lead(k.log, at), rest), k.log
	switch {
	case !m.ok:
		if cut := m.cut && s.eof && len(rest) <= MaxClaim; (cut || !k.form.Common) && !k.form.Context && !k.form.Fact {
			s.wrong(k, rest, cut)
		}
		return len(k.form.Literal)
	case k.form.Context:
		if m.own {
			log.context[k.number].tick, log.context[k.number].hasTick = m.Tick, m.HasTick
		}
		return m.size
	case k.form.Fact:
		if m.own {
			log.context[k.number].learn(m.Facts)
		}
		return m.size
	}
	if k.form.Weak && len(log.out.Claims) > 0 {
		return m.size
	}
	if limits.Claims.Over(int64(len(log.out.Claims)) + 1) {
		log.dropped++
		return m.size
	}
	log.after = s.base + int64(at+m.size)
	if m.cut && s.eof && len(rest) <= MaxClaim { // what follows its first line is cut off
		s.wrong(k, rest, true)
	}
	last := &log.context[k.number]
	if !m.HasTick && last.hasTick && m.own {
		m.Tick, m.HasTick = last.tick, true
	}
	if len(log.out.Claims) == 0 {
		log.out.Dialect = k.engine.Dialect
	}
	text := claimText(s.buf[at-m.back : at+m.size])
	if text == s.text {
		text = s.text // of another log: kept once
	}
	s.text = text
	log.out.Claims = append(log.out.Claims, tracediff.Claim{
		File: s.name, Pos: tracediff.Position{Line: s.line, Offset: s.lineStart}, Text: text,
		Tick: m.Tick, HasTick: m.HasTick, Peers: m.Peers, Values: m.Values,
		By: m.By, SelfTest: m.SelfTest, Quoted: !m.own,
	})
	if len(log.out.Claims) == 1 {
		log.out.Facts = last.facts
	}
	if m.Players != nil {
		if log.out.Players == nil {
			log.out.Players = map[uint32]string{}
		}
		maps.Copy(log.out.Players, m.Players)
	}
	return m.size
}

// lead returns what stands before a place in the window, from its line's begin or from the end of
// the claim before it on. It is nil if that is too long.
func (s *scanner) lead(log *claimLog, at int) []byte {
	begin := max(s.lineStart, log.after) - s.base
	if begin < 0 || int64(at)-begin > maxLead {
		return nil
	}
	return s.buf[begin:at:at]
}

// claimText returns a claim as it is shown: on one line, and not longer than maxText bytes.
func claimText(claim []byte) string {
	text := strings.ToValidUTF8(string(claim), "\uFFFD")
	if strings.Contains(text, "\n") {
		text = strings.Join(strings.Fields(text), " ")
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

// wrong notes what begins like a claim but is not one.
func (s *scanner) wrong(k *known, rest []byte, cut bool) {
	log := k.log
	if log.troubles++; log.troubles > 1 {
		return
	}
	line, _, _ := bytes.Cut(rest[:min(len(rest), shown)], []byte("\n"))
	what := "begins like a message of " + k.engine.Dialect.Engine + " but is not one"
	if cut {
		what = "the file ends inside a message of " + k.engine.Dialect.Engine
	}
	log.first = fmt.Sprintf("line %d: %s: %q", s.line, what, bytes.TrimSuffix(line, []byte("\r")))
}

// trouble says what is wrong with the log.
func (s *scanner) trouble(log *claimLog) string {
	var parts []string
	if log.troubles > 0 {
		parts = append(parts, log.first)
	}
	if log.troubles > 1 {
		parts = append(parts, fmt.Sprintf("%d more such places", log.troubles-1))
	}
	if log.dropped > 0 {
		parts = append(parts, limits.Claims.Reached("", limits.Claims.Max()+int64(log.dropped)).Error())
	}
	if len(parts) == 0 {
		return ""
	}
	return s.name + ": " + strings.Join(parts, "; ")
}
