// Package sums reads the log of any program that writes a tick and a checksum on one line, again and again, as a trace:
//
//	Frame 617 checksum: 577090037
//	[12:00:01] [sync] tick=1200 hash=0x9f3acc01 players=4
//	step 44: physics 9ab3c1d2 ai 77e01f3b rng 5d1c22aa
//	{"t":"sync","turn":12,"crc":"9f3acc01"}
//	tick,crc,rng
//	12,9f3acc01,5d1c22aa
//
// [Learn] finds such lines by their content. Lines that are equal except for their numbers have one template. The words
// next to its numbers show which number is the tick and which ones are checksums, and so do the values: ticks grow by
// regular steps, checksums are scattered. A weak word, such as sum or
// state, is enough where checksums hardly change but have their form. Without a word for either, only a table is taken
// for such a log.
//
// Lines that report a difference between two checksums are no checkpoints, nor are the checksums of other peers that a
// peer was sent. A value that the log replaces with another one for the same tick, after it went back by at most 64
// ticks or reported a rollback, was predicted. So may be the last ticks of such a log, and those before a gap. Several
// lines of one tick without names that distinguish them are parts of the state in their order. A line that only one log
// has is lost in the other, and no difference.
package sums

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// Pattern is how the lines of one log are read. It does not change once it is learned.
type Pattern struct {
	form      lineForm // nil for lines that are read as they are
	templates []template
	peers     bool     // some templates name a peer
	rivals    []string // the names of numbers that may be the tick, if a line has several
	restarts  bool     // ticks begin again, perhaps with another match
	epochs    []uint64 // see [Align]
	names     []string // of matches, by their epochs, if ticks only go back where another match begins
	part      int      // see [Pattern.Part]
	rooms     *rooms   // see [Divide], nil for a log of one match
	left      []string
}

// lineForm makes the text that templates match out of lines of another form. It belongs to one reader.
type lineForm interface {
	fork() lineForm          // for another reader
	line(line []byte) []byte // valid until the next call, empty if the line has no checksum
}

// Learn returns the pattern of a log by its beginning, whole lines of up to 1 MiB. It is nil if the text is not such a
// log. A pattern reads the logs of all peers of a game, as long as one program wrote them.
func Learn(sample []byte, name string) *Pattern { return learn(sample, choice{}) }

// LearnAlone is Learn for the only log of a session. It is a log of several peers if it has the checksums of the peer that
// writes it and of other peers for one tick, on one line or on several: tick=100 local=5f3a91c7 remote=5f3a91c7. So is one in
// which a field names the peer. It is nil for other logs.
func LearnAlone(sample []byte) *Pattern {
	p := learn(sample, choice{alone: true})
	if p != nil && !p.peers {
		p = learnRelayed(sample, p)
	}
	return p
}

// choice is how a log is learned.
type choice struct {
	alone bool   // it is the only one
	tick  string // the name of the number that is the tick, if it may be
}

func learn(sample []byte, how choice) *Pattern {
	if bytes.IndexByte(sample[:min(len(sample), 4096)], 0) >= 0 {
		return nil
	}
	lines := linesOf(sample)
	form, list := learnEncoded(lines, how)
	if len(list) == 0 {
		form, list = learnRoster(lines, how)
	}
	if len(list) == 0 {
		form, list = learnRecords(lines, how)
	}
	if form == nil {
		list = learnText(lines, how)
	}
	if len(list) == 0 {
		form, list = learnCarried(lines, how)
	}
	if len(list) == 0 {
		form, list = learnRenamed(lines, how)
	}
	if len(list) == 0 && !how.alone {
		form, list = learnCounted(lines, how)
	}
	if len(list) == 0 {
		return nil
	}
	named := func(t template) bool { return t.roles.peer >= 0 }
	restarts := func(t template) bool { return t.roles.restarts }
	out := &Pattern{form: form, templates: list, peers: slices.ContainsFunc(list, named), restarts: slices.ContainsFunc(list, restarts)}
	for _, t := range list {
		for _, name := range t.roles.rivals {
			if !slices.Contains(out.rivals, name) {
				out.rivals = append(out.rivals, name)
			}
		}
	}
	return out
}

// Rivals reports whether the lines have other numbers that may be the tick. See [Settle].
func (p *Pattern) Rivals() bool { return len(p.rivals) > 1 && !p.peers }

// Settle chooses which of several numbers of a line is the tick, sim 512 (net 518, confirmed 504): the one at which the most
// checksums of two logs are equal. Words decide if there are several.
func Settle(logs []Sample) {
	var names []string
	for _, log := range logs {
		if log.Pattern.Rivals() {
			names = append(names, log.Pattern.rivals...)
		}
	}
	best, most := []*Pattern(nil), 0
	tried := map[string]bool{}
	for _, name := range names {
		if tried[name] || len(tried) == mostGrown {
			continue
		}
		tried[name] = true
		var first map[uint64]string
		equal := 0
		list := make([]*Pattern, len(logs))
		for i, log := range logs {
			if !log.Pattern.Rivals() {
				continue
			}
			p := learn(log.Text, choice{tick: name})
			if p == nil || !slices.Contains(p.rivals, name) {
				continue
			}
			list[i] = p
			values := p.valuesOf(&p.templates[0], log.Text, nil)
			for tick, value := range values {
				if first[tick] == value {
					equal++
				}
			}
			if first == nil {
				first = values
			}
		}
		if equal > most {
			best, most = list, equal
		}
	}
	for i, p := range best {
		if p != nil {
			logs[i].Pattern = p
		}
	}
}

// Vague reports whether [Confirm] may remove lines of the pattern, or values on them.
func (p *Pattern) Vague() bool {
	return slices.ContainsFunc(p.templates, func(t template) bool { return t.vague || t.roles.shy() })
}

// Own returns the pattern without the lines that name a peer, nil if there are no others: where each peer has a log, they
// repeat what another log has.
func (p *Pattern) Own() *Pattern {
	out := *p
	out.templates = lists.Where(p.templates, func(t template) bool { return t.roles.peer < 0 && !t.others })
	if out.peers = false; !p.peers || len(out.templates) == 0 {
		return nil
	}
	return &out
}

// Extends reports whether a pattern reads each line that another one reads in the text of a log, with more checksums: one that
// hardly changes does not look like one in every log. The text is only read if the patterns allow that.
func (p *Pattern) Extends(q *Pattern, read func() []byte) bool {
	if p.peers || q.peers || reflect.TypeOf(p.form) != reflect.TypeOf(q.form) || p.templates[0].roles.tickWord != q.templates[0].roles.tickWord {
		return false
	}
	mine, others := p.sumWords(), q.sumWords()
	if len(mine) <= len(others) || slices.ContainsFunc(others, func(word string) bool { return !slices.Contains(mine, word) }) {
		return false
	}
	a, b := newReader(p, bytes.NewReader(nil), "", 0), newReader(q, bytes.NewReader(nil), "", 0)
	any := false
	for _, line := range linesOf(read()) {
		if !b.fits(b.text(line)) {
			continue
		}
		if any = a.fits(a.text(line)); !any {
			return false
		}
	}
	return any
}

// fits reports whether a line has one of the templates.
func (r *reader) fits(line []byte) bool {
	return slices.ContainsFunc(r.pattern.templates, func(t template) bool { return t.text.match(line, r.matched) })
}

// sumWords returns the words for checksums in the lines of the pattern.
func (p *Pattern) sumWords() (out []string) {
	for i := range p.templates {
		for _, s := range p.templates[i].roles.all() {
			out = append(out, s.word)
		}
	}
	return out
}

// Left returns the names of values that look like checksums and that [Confirm] removed.
func (p *Pattern) Left() []string { return p.left }

// isCounted reports whether the log has no ticks, and its checksums are counted.
func (p *Pattern) isCounted() bool {
	_, is := p.form.(*counted)
	return is
}

// Seeds reports whether nothing is called a checksum in the lines of the pattern, and only a state of random numbers, or one of
// many values of a line, is taken for one.
func (p *Pattern) Seeds() bool {
	return !slices.ContainsFunc(p.templates, func(t template) bool {
		return !t.crowded && slices.ContainsFunc(t.roles.points, func(p point) bool {
			return slices.ContainsFunc(p.sums, func(s sum) bool { return !hasPart(s.word, generators) })
		})
	})
}

// Nameless reports whether no word means a checksum on the lines of the pattern.
func (p *Pattern) Nameless() bool {
	return !slices.ContainsFunc(p.templates, func(t template) bool { return !t.vague || t.roles.steady })
}

// OnLines reports whether a checksum is on the line of its tick, and lines name no peers.
func (p *Pattern) OnLines() bool { return p.form == nil && !p.peers }

// Sample is the beginning of a log, with its pattern.
type Sample struct {
	Pattern *Pattern
	Text    []byte
}

// Confirm removes from the patterns of logs the lines that have no clear word for a checksum and share no value between
// two of the logs at the same tick: then the values belong to the machine, such as addresses, and not to the state. A
// pattern without lines is set to nil. In the same way it removes values that only have the form of other checksums on
// their lines.
func Confirm(logs []Sample) {
	found := agreement{}
	var counts []map[uint64]string
	for _, log := range logs {
		for i := range log.Pattern.templates {
			t := &log.Pattern.templates[i]
			if log.Pattern.isCounted() {
				counts = append(counts, log.Pattern.valuesOf(t, log.Text, nil))
			}
			if t.vague {
				found.add(t.text.String(), log.Pattern.valuesOf(t, log.Text, func(s sum) bool { return !s.shy }))
			}
			for _, s := range t.roles.all() {
				if s.shy {
					found.add(t.text.String()+"\x00"+s.word, log.Pattern.valuesOf(t, log.Text, func(o sum) bool { return o.slot == s.slot }))
				}
			}
		}
	}
	apart := slices.ContainsFunc(counts, func(one map[uint64]string) bool { return shifted(counts[0], one) })
	for i := range logs {
		p := *logs[i].Pattern
		if p.isCounted() && apart {
			logs[i].Pattern = nil
			continue
		}
		p.templates = slices.DeleteFunc(slices.Clone(p.templates), func(t template) bool { return t.vague && found.denies(t.text.String()) })
		for n := range p.templates {
			t := &p.templates[n]
			var left []string
			t.roles.points, left = t.roles.without(func(s sum) bool { return s.shy && found.denies(t.text.String()+"\x00"+s.word) })
			p.left = append(p.left, left...)
		}
		switch {
		case len(p.templates) == 0:
			logs[i].Pattern = nil
		case len(p.templates) < len(logs[i].Pattern.templates) || len(p.left) > 0:
			logs[i].Pattern = &p
		}
	}
}

// agreement is the values of several logs by their ticks, of each kind of values.
type agreement map[string]*struct {
	values []map[uint64]string
	agree  bool // two logs have one value in common, or hardly a tick
}

func (a agreement) add(key string, mine map[uint64]string) {
	const fewest = 3 // ticks that two logs have in common
	of := a[key]
	if of == nil {
		of = new(struct {
			values []map[uint64]string
			agree  bool
		})
		a[key] = of
	}
	for _, other := range of.values {
		common, same := 0, false
		for tick, value := range mine {
			if v, ok := other[tick]; ok {
				common++
				same = same || v == value
			}
		}
		of.agree = of.agree || common < fewest || same
	}
	of.values = append(of.values, mine)
}

// denies reports whether several logs have such values, and no value in common.
func (a agreement) denies(key string) bool { return len(a[key].values) > 1 && !a[key].agree }

// valuesOf returns the checksums of a template in a text by their ticks, of all or of some of them.
func (p *Pattern) valuesOf(t *template, text []byte, which func(s sum) bool) map[uint64]string {
	out := map[uint64]string{}
	r := newReader(p, bytes.NewReader(nil), "", 0)
	for _, line := range linesOf(text) {
		if line = r.text(line); !t.text.match(line, r.matched) {
			continue
		}
		if tick, ok := t.roles.tickOf(r.matched.values[t.roles.tick]); ok {
			var all []byte
			for _, s := range t.roles.all() {
				if which == nil || which(s) {
					all = append(append(all, r.matched.values[s.slot]...), ' ')
				}
			}
			out[tick] += string(all)
		}
	}
	return out
}

// linesOf returns the lines of a text that are not empty, without colours.
func linesOf(text []byte) [][]byte {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	lines := make([][]byte, 0, bytes.Count(text, []byte("\n")))
	for line := range engine.WholeLines(text) {
		if line = plain(line); len(bytes.TrimSpace(line)) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// colours are the escapes that colour a line in a terminal.
var colours = lazyregexp.New(`\x1b(?:\[[0-9;?]*[@-~])?`)

// plain returns a line without them.
func plain(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	return []byte(colours.ReplaceAllString(string(line), ""))
}

// Title describes which values are ticks and which are checksums.
func (p *Pattern) Title() string {
	if p.isCounted() {
		return "checksums are counted, since no line has a tick"
	}
	var out []string
	for i := range p.templates {
		if r := &p.templates[i].roles; !slices.Contains(out, r.title()) {
			out = append(out, r.title())
		}
	}
	const most = 4
	if n := len(out); n > most {
		out = append(out[:most], fmt.Sprintf("and %d more forms of lines", n-most))
	}
	return strings.Join(out, "; ")
}

// Format returns the format of logs with the pattern.
func (p *Pattern) Format() tracediff.Format {
	f := tracediff.Format{
		Name: "sums", Title: "log with checksums of ticks",
		Sniff: p.sniff,
		Read: func(r io.Reader, name string, peer int) (tracediff.Source, error) {
			return newReader(p, r, name, peer), nil
		},
		Narrow: p.narrow,
	}
	if p.peers {
		f.Peers = p.peersOf
	}
	return f
}

// sniff reports whether a line of the leading bytes has one of the templates.
func (p *Pattern) sniff(head []byte) bool {
	r := newReader(p, bytes.NewReader(nil), "", 0)
	return slices.ContainsFunc(linesOf(head), func(line []byte) bool { return r.fits(r.text(line)) })
}
