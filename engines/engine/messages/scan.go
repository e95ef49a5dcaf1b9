package messages

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// MaxClaim is the largest length of a claim in bytes.
	MaxClaim = 16 << 10
	// maxLead is how much of the text before a claim on its line is examined.
	maxLead = 512
	// WindowSize is how much of a log is in memory.
	WindowSize = 256 << 10
	// firstWindow is how much is, as long as no more is known to be there: small logs may be many.
	firstWindow = 8 << 10
	// shown is how many bytes Trouble quotes of a line that is not a claim.
	shown = 80
	// maxTries is how often a form is tried on one line.
	maxTries = 64
	// maxText is how many bytes of a claim over several lines are kept as its text.
	maxText = 4096
)

// known is a form and its engine.
type known struct {
	engine *Grammar
	form   *Form
	number int // of the engine
	log    *claimLog

	line  int64 // offset of the line on which it was tried last
	tries int   // on it
}

// claimLog has the claims of some engines, as if there were no others: claims of one log do not overlap.
type claimLog struct {
	out     *tracediff.ClaimLog
	from    int64     // where the search continues
	after   int64     // where the last claim ends
	context []context // by the engine's number
	dropped int
	misfit  string // the first text that fits a pattern but is not a message
	cut     string // a message that the end of the file cuts off
}

// scanner moves a window over a log.
type scanner struct {
	in   io.Reader
	name string
	buf  []byte
	eof  bool
	base int64 // offset of buf in the log

	// What was scanned so far: line ends before the mark, and where its line began.
	mark      int
	from      int // where the search continues
	line      int64
	lineStart int64

	forms    []known
	literals *textsearch.Searcher
	numbers  []int // of the forms of the literals
	each     []int // forms without a literal: they are tried on each line
	places   textsearch.Places
	text     string // of the last claim
}

// context is the latest information from an engine's lines that are not claims.
type context struct {
	tick    uint64
	hasTick bool
	facts   map[string]string
}

// learn takes facts that are not known yet.
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
			for _, f := range list[i].Forms {
				if f.Literal == "" {
					s.each = append(s.each, len(s.forms))
				} else {
					texts, s.numbers = append(texts, f.Literal), append(s.numbers, len(s.forms))
				}
				s.forms = append(s.forms, known{engine: list[i], form: f, number: i, log: log, line: -1})
			}
		}
	}
	if len(texts) > 0 {
		s.literals = searcher(texts)
	}
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

// searchers are the searchers for the lists of literals that logs were searched for, one for each combination of
// engines.
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

// search takes all claims that begin in the window, except claims that may end after it, and moves the window to these.
func (s *scanner) search() {
	end := len(s.buf)
	if !s.eof {
		end -= MaxClaim
	}
	for _, at := range s.candidates() {
		if at >= end {
			break
		}
		s.pass(at)
		if int64(at) == s.lineStart-s.base {
			for _, n := range s.each {
				s.take(&s.forms[n], at)
			}
		}
		if s.literals == nil {
			continue
		}
		for n := s.literals.At(s.buf, at, 0); n >= 0; n = s.literals.At(s.buf, at, n+1) {
			s.take(&s.forms[s.numbers[n]], at)
		}
	}
	s.pass(end)
	if keep := max(0, end-maxLead); !s.eof { // the lead of a claim that comes next
		s.base += int64(keep)
		s.buf = s.buf[:copy(s.buf, s.buf[keep:])]
		s.mark, s.from = end-keep, end-keep
	}
}

// candidates returns the places in the window at which a literal begins, and the beginnings of all lines if forms need
// them.
func (s *scanner) candidates() (all []int) {
	if s.literals != nil {
		all = s.literals.Find(s.buf[s.from:], &s.places)
		for i := range all {
			all[i] += s.from
		}
	}
	if len(s.each) == 0 {
		return all
	}
	all = slices.Clone(all)
	if s.from == 0 && s.base == 0 || s.from > 0 && s.buf[s.from-1] == '\n' {
		all = append(all, s.from)
	}
	for at := s.from; ; {
		n := bytes.IndexByte(s.buf[at:], '\n')
		if n < 0 || at+n+1 == len(s.buf) {
			break
		}
		at += n + 1
		all = append(all, at)
	}
	slices.Sort(all)
	return slices.Compact(all)
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

// take takes the message of a form with its literal at a place, if there is one.
func (s *scanner) take(k *known, at int) {
	log := k.log
	begin, begins := s.begin(log, at)
	if s.base+int64(at) < log.from || k.line == s.lineStart && k.tries == maxTries {
		return
	}
	if k.line != s.lineStart {
		k.line, k.tries = s.lineStart, 0
	}
	k.tries++
	m := k.engine.match(k.form, s.buf[begin:min(len(s.buf), at+MaxClaim)], at-begin, begins)
	last := &log.context[k.number]
	if !m.ok {
		switch {
		case k.form.Kind != Claim:
		case m.misfit != "" && m.misfit != Equal && log.misfit == "":
			log.cut = ""
			log.misfit = fmt.Sprintf("line %d: no message of %s: %s", s.line, k.engine.Dialect.Engine, m.misfit)
		case m.cut && s.eof && len(s.buf)-at <= MaxClaim && k.form.Literal != "" && log.cut+log.misfit == "":
			rest, _, _ := bytes.Cut(s.buf[begin:min(len(s.buf), begin+shown)], []byte("\n"))
			const cut = "line %d: the file ends inside a message of %s: %q"
			log.cut = fmt.Sprintf(cut, s.line, k.engine.Dialect.Engine, bytes.TrimSuffix(rest, []byte("\r")))
		}
		return
	}
	if k.form.Kind == Tick {
		if m.own {
			last.tick, last.hasTick = m.Tick, m.HasTick
		}
		return
	}
	log.from = s.base + int64(max(begin+m.to, at+len(k.form.Literal)))
	if log.cut != "" && bytes.IndexByte(s.buf[log.from-s.base:], '\n') < 0 {
		log.cut = "" // it is of this form
	}
	if k.form.Kind == Fact {
		if m.own {
			last.learn(m.Facts)
		}
		return
	}
	if k.form.Weak && len(log.out.Claims) > 0 {
		return
	}
	if limits.Claims.Over(int64(len(log.out.Claims)) + 1) {
		log.dropped++
		return
	}
	log.after = log.from
	if !m.HasTick && last.hasTick && m.own {
		m.Tick, m.HasTick = last.tick, true
	}
	if len(log.out.Claims) == 0 {
		log.out.Dialect, log.out.Facts = k.engine.Dialect, last.facts
	}
	text := claimText(s.buf[begin+m.from : begin+m.to])
	if text == s.text {
		text = s.text // of another log: kept once
	}
	s.text = text
	log.out.Claims = append(log.out.Claims, tracediff.Claim{
		File: s.name, Pos: tracediff.Position{Line: s.line, Offset: s.lineStart}, Text: text,
		Tick: m.Tick, HasTick: m.HasTick, Peers: m.Peers, Values: m.Values,
		By: m.By, SelfTest: m.SelfTest, Quoted: !m.own,
	})
	if m.from <= keptLead {
		log.out.Claims[len(log.out.Claims)-1].Lead = string(bytes.TrimSpace(s.buf[begin : begin+m.from]))
	}
	if m.Players != nil {
		if log.out.Players == nil {
			log.out.Players = map[uint32]string{}
		}
		maps.Copy(log.out.Players, m.Players)
	}
}

// keptLead is how many bytes before a claim are kept.
const keptLead = 48

// begin returns where in the window the text begins that belongs to a literal at a place: where its line begins, or
// where the message before it ends; false if that is too far away.
func (s *scanner) begin(log *claimLog, at int) (begin int, begins bool) {
	begin = int(max(s.lineStart, log.after) - s.base)
	if begin < at-maxLead {
		return at - maxLead, false
	}
	return begin, true
}

// claimText returns a claim for display: on one line, and not longer than maxText bytes.
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

// trouble describes what is wrong with the log.
func (s *scanner) trouble(log *claimLog) string {
	var parts []string
	for _, part := range []string{log.misfit, log.cut} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if log.dropped > 0 {
		parts = append(parts, limits.Claims.Reached("", limits.Claims.Max()+int64(log.dropped)).Error())
	}
	if len(parts) == 0 {
		return ""
	}
	return s.name + ": " + strings.Join(parts, "; ")
}
