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
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// MaxClaim is the largest length of a claim in bytes.
	MaxClaim = textsearch.Behind
	// maxLead is how much of the text before a claim on its line is examined.
	maxLead = 512
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

// scanner looks for claims in a window that moves over a log.
type scanner struct {
	name     string
	w        *textsearch.Window
	at       textsearch.Cursor
	searcher uint8

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
func scan(in io.Reader, name string, beside []func(w *textsearch.Window) func(), lists ...[]*Grammar) ([]*tracediff.ClaimLog, error) {
	s := &scanner{w: textsearch.NewWindow(in, name), name: name, at: textsearch.Cursor{Line: 1}}
	var logs []*claimLog
	n := 0
	for _, g := range slices.Concat(lists...) {
		n += len(g.Forms)
	}
	s.forms, s.numbers = make([]known, 0, n), make([]int, 0, n)
	texts := make([]string, 0, n)
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
	notPlain := func(literal string) bool { return !textsearch.IsPlain(literal) }
	s.searcher = s.w.Join(len(s.each) == 0 && !slices.ContainsFunc(texts, notPlain))
	var others []func()
	for _, join := range beside {
		others = append(others, join(s.w))
	}
	for {
		if err := s.w.Next(); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		s.w.Together(s.search)
		s.at.Pass(s.w, s.w.To)
		for _, search := range others {
			search()
		}
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

// search takes all claims that begin in some lines.
func (s *scanner) search(lines []textsearch.Line, text []byte) {
	from, end := lines[0].From, lines[len(lines)-1].To
	has := false // the first of the lines has a literal
	for _, at := range s.candidates(text) {
		if at += from; at >= end {
			break
		}
		for lines[0].To <= at {
			if !has {
				lines[0].Dull(s.searcher)
			}
			lines, has = lines[1:], false
		}
		has = true
		s.at.Pass(s.w, at)
		if s.w.Base+int64(at) == s.at.Start {
			for _, n := range s.each {
				s.take(&s.forms[n], at)
			}
		}
		if s.literals == nil {
			continue
		}
		for n := s.literals.At(s.w.Buf, at, 0); n >= 0; n = s.literals.At(s.w.Buf, at, n+1) {
			s.take(&s.forms[s.numbers[n]], at)
		}
	}
	for i := range lines {
		if i > 0 || !has {
			lines[i].Dull(s.searcher)
		}
	}
}

// candidates returns the places in a text at which a literal begins, and the beginnings of all lines if forms need
// them.
func (s *scanner) candidates(text []byte) (all []int) {
	if s.literals != nil {
		all = s.literals.Find(text, &s.places)
	}
	if len(s.each) == 0 {
		return all
	}
	all = append(slices.Clone(all), 0)
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 || at+n+1 == len(text) {
			break
		}
		at += n + 1
		all = append(all, at)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// take takes the message of a form with its literal at a place, if there is one.
func (s *scanner) take(k *known, at int) {
	log := k.log
	begin, begins := s.begin(log, at)
	if s.w.Base+int64(at) < log.from || k.line == s.at.Start && k.tries == maxTries {
		return
	}
	if k.line != s.at.Start {
		k.line, k.tries = s.at.Start, 0
	}
	k.tries++
	m := k.engine.match(k.form, s.w.Buf[begin:min(len(s.w.Buf), at+MaxClaim)], at-begin, begins)
	last := &log.context[k.number]
	if !m.ok {
		switch {
		case k.form.Kind != Claim:
		case m.misfit != "" && m.misfit != Equal && log.misfit == "":
			log.cut = ""
			log.misfit = fmt.Sprintf("line %d: no message of %s: %s", s.at.Line, k.engine.Dialect.Engine, m.misfit)
		case m.cut && s.w.EOF && len(s.w.Buf)-at <= MaxClaim && k.form.Literal != "" && log.cut+log.misfit == "":
			rest, _, _ := bytes.Cut(s.w.Buf[begin:min(len(s.w.Buf), begin+shown)], []byte("\n"))
			const cut = "line %d: the file ends inside a message of %s: %q"
			log.cut = fmt.Sprintf(cut, s.at.Line, k.engine.Dialect.Engine, bytes.TrimSuffix(rest, []byte("\r")))
		}
		return
	}
	if k.form.Kind == Tick {
		if m.own {
			last.tick, last.hasTick = m.Tick, m.HasTick
		}
		return
	}
	log.from = s.w.Base + int64(max(begin+m.to, at+len(k.form.Literal)))
	if log.cut != "" && bytes.IndexByte(s.w.Buf[log.from-s.w.Base:], '\n') < 0 {
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
	text := claimText(s.w.Buf[begin+m.from : begin+m.to])
	if text == s.text {
		text = s.text // of another log: kept once
	}
	s.text = text
	log.out.Claims = append(log.out.Claims, tracediff.Claim{
		File: s.name, Pos: tracediff.Position{Line: s.at.Line, Offset: s.at.Start}, Text: text,
		Tick: m.Tick, HasTick: m.HasTick, Peers: m.Peers, Values: m.Values,
		By: m.By, SelfTest: m.SelfTest, Reported: m.Reported, Quoted: !m.own,
	})
	if m.from <= keptLead {
		log.out.Claims[len(log.out.Claims)-1].Lead = string(bytes.TrimSpace(s.w.Buf[begin : begin+m.from]))
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
	begin = int(max(s.at.Start, log.after) - s.w.Base)
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
	parts := lists.Where([]string{log.misfit, log.cut}, func(part string) bool { return part != "" })
	if log.dropped > 0 {
		parts = append(parts, limits.Claims.Reached("", limits.Claims.Max()+int64(log.dropped)).Error())
	}
	if len(parts) == 0 {
		return ""
	}
	return s.name + ": " + strings.Join(parts, "; ")
}
