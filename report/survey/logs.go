package survey

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/history"
	"github.com/desynctool/desynctool/anygame/inputs"
	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	sampleLen                = 1 << 20      // bytes of a log by which its lines are learned
	leastSample, sampleRatio = 64 << 10, 64 // of it, in bytes and for each byte of the file

	mostLogs   = 256     // logs that are looked at
	mostValues = 8       // logs with values
	vagueLen   = 1 << 17 // bytes of a log that confirm what its checksums are, or show what its lines are
)

// log is a log with checksums or orders.
type log struct {
	group *group
	path  string
	trace *tracediff.Format // or nil
	sums  *sums.Pattern     // of the trace, nil if the page has its lines
	text  []byte            // its beginning, until all logs are known, if the pattern is vague
	order *inputs.Pattern   // or nil
	past  *history.History  // of the trace, nil if it is read by lines
	first string            // the begin of its first line

	matches bool // its lines may name the match that was played
}

// logs takes the logs out of the groups.
func (s *Survey) logs() {
	looked := 0
	s.histories()
	tables, back := s.tables(), s.goBack()
	var sectioned []*group
	var missed []log // with lines that show less than the lines of others
	s.order = slices.DeleteFunc(s.order, func(g *group) bool {
		if g.binary || g.kind == description.State {
			return false
		}
		if g.trace && !back {
			sample, err := s.read(filepath.Join(g.dir, g.bases[0]), headLen)
			return err != nil || g.notation == nil || !tables[g.dir] || isLog(sample)
		}
		if s.embeds(g) {
			return false
		}
		found := false
		for i, base := range g.bases {
			if looked++; looked > mostLogs || i > 0 && !found && g.kind == description.Undescribed {
				break
			}
			path := filepath.Join(g.dir, base)
			most := s.sampleOf(path)
			sample, err := s.read(path, most)
			if err != nil {
				continue
			}
			if i := bytes.LastIndexByte(sample, '\n'); i >= 0 && int64(len(sample)) == most {
				sample = sample[:i+1]
			}
			l := log{group: g, path: path, trace: g.describedLog(sample), first: string(sample[:min(len(sample), 32)])}
			is, messages := isRecordLog(g.notation, sample)
			if l.trace == nil && g.kind == description.Undescribed && g.notation != nil && !is &&
				(!slices.Contains(lineNotations, g.notation.Name) && tabular(g.notation, sample) || g.notation.Name == "csv" && tables[g.dir] && !isLog(sample)) && !sums.IsRoster(sample) {
				break
			}
			l.learn(sample, base)
			if l.sums != nil && l.sums.Seeds() && g.notation != nil && g.notation.Name == "paths" { // a seed among the values of a state
				break
			}
			if l.sectioned(sample) {
				sectioned = append(sectioned, g)
				return false
			}
			if l.trace != nil || l.order != nil {
				s.found = append(s.found, l)
				found = true
			} else if g.kind == description.Undescribed {
				if messages {
					g.notation = nil
				}
				l.text = sample[:min(len(sample), vagueLen)]
				missed = append(missed, l)
			} else {
				s.notes = append(s.notes, fmt.Sprintf("%s: described as %s, and nothing in it is read", path, g.kind))
			}
		}
		if g.notation == nil && !found {
			s.unread = append(s.unread, g)
		}
		return found || g.notation == nil || !g.may(description.State)
	})
	s.readMissed(missed)
	s.together(sectioned)
	s.compareHistories()
	s.confirm()
}

// goBack reports whether a table of ticks and checksums has ticks that go back. Then all of them are read as logs.
func (s *Survey) goBack() bool {
	for _, g := range s.order {
		if !g.trace {
			continue
		}
		for _, base := range Picks(g.bases, mostTried) {
			if sample, err := s.read(filepath.Join(g.dir, base), headLen); err == nil && formats.GoesBack(sample) {
				return true
			}
		}
	}
	return false
}

// readMissed reads logs with few lines as others of their group, or as older parts of the same log: game.log.1 of game.log.
func (s *Survey) readMissed(missed []log) {
	for _, l := range missed {
		i := slices.IndexFunc(s.found, func(o log) bool {
			return o.sums != nil && (o.group == l.group || strings.HasPrefix(o.path, l.path+".")) && o.trace.Sniff(l.text)
		})
		if i < 0 {
			continue
		}
		trace := *s.found[i].trace
		l.sums, l.trace, l.text = s.found[i].sums, &trace, nil
		s.found = append(s.found, l)
		s.unread = slices.DeleteFunc(s.unread, func(g *group) bool { return g == l.group })
	}
}

// together reads the same lines of all logs: those that are in each of them.
func (s *Survey) together(sectioned []*group) {
	var samples [][]byte
	for _, g := range sectioned {
		for _, base := range Picks(g.bases, mostTried) {
			if text, err := s.read(filepath.Join(g.dir, base), vagueLen); err == nil && len(samples) < mostLogs {
				samples = append(samples, text)
			}
		}
	}
	if len(samples) < 2 {
		return
	}
	if n := notation.Sections(samples...); n != nil {
		for _, g := range sectioned {
			g.notation = n
		}
	}
}

// sampleOf returns how many bytes of a log are read to learn its lines. Of a compressed log that is in proportion to its
// file, so that many small files cost no more than their sizes suggest.
func (s *Survey) sampleOf(path string) int64 {
	stat, err := s.tree.Stat(path)
	if err != nil {
		return sampleLen
	}
	return min(sampleLen, max(leastSample, sampleRatio*stat.Size()))
}

// confirm leaves out what only looks like checksums, by the beginnings of all logs together.
func (s *Survey) confirm() {
	s.share()
	var samples []sums.Sample
	for _, l := range s.found {
		if l.text != nil {
			samples = append(samples, sums.Sample{Pattern: l.sums, Text: l.text})
		}
	}
	sums.Settle(samples)
	sums.Confirm(samples)
	only := s.only()
	kept := s.found[:0]
	for _, l := range s.found {
		if l.text != nil {
			pattern := samples[0].Pattern
			if samples, l.text = samples[1:], nil; pattern == nil {
				if g := l.group; g.notation == nil && !slices.Contains(s.unread, g) {
					s.unread = append(s.unread, g)
				}
				continue
			}
			if pattern != l.sums {
				l.use(pattern)
			}
			if left := pattern.Left(); len(left) > 0 {
				s.lacking = append(s.lacking, fmt.Sprintf("%s: the values of %s look like checksums and are never equal in two logs, so they are not compared", l.path, strings.Join(left, ", ")))
			}
		}
		if l.sums != nil && only == nil {
			if text := l.sums.Apart(); text != "" {
				s.lacking = append(s.lacking, l.path+": "+text)
			}
		}
		kept = append(kept, l)
	}
	s.found = kept
	for i := range s.found { // each log has its own checksums
		l := &s.found[i]
		if l.sums != nil && only == nil && l.group.kind == description.Undescribed && l.sums.Own() != nil {
			l.use(l.sums.Own())
		}
	}
	s.align()
	if only = s.only(); only != nil {
		s.alone(only)
	} else {
		s.separate()
	}
}

// only returns the log with checksums if there is one, nil if there are none or several.
func (s *Survey) only() (one *log) {
	for i := range s.found {
		switch l := &s.found[i]; {
		case l.order != nil:
		case one != nil:
			return nil
		default:
			one = l
		}
	}
	return one
}

// share reads a log by the pattern of another one, if that reads more checksums on the same lines.
func (s *Survey) share() {
	for i := range s.found {
		l := &s.found[i]
		for k := range s.found {
			o := &s.found[k]
			if l.sums == nil || o.sums == nil || k == i || l.group.kind != description.Undescribed {
				continue
			}
			var text []byte
			if o.sums.Extends(l.sums, func() []byte {
				text, _ = s.read(l.path, vagueLen)
				text = text[:bytes.LastIndexByte(text, '\n')+1]
				return text
			}) {
				if l.use(o.sums); l.sums.Vague() || l.sums.Rivals() {
					l.text = text
				}
			}
		}
	}
}

// separate finds the logs of other matches, if each names its match.
func (s *Survey) separate() {
	var samples []sums.Sample
	for _, l := range s.found {
		if !l.matches || l.sums.Restarts() || s.rotated(l) {
			return
		}
		text, err := s.read(l.path, vagueLen)
		if err != nil {
			return
		}
		samples = append(samples, sums.Sample{Pattern: l.sums, Text: text})
	}
	for i, sample := range sums.Divide(samples) {
		if l := &s.found[i]; l.sums != sample.Pattern {
			l.use(sample.Pattern)
		}
	}
}

// values reads the logs of a session without checksums and states as logs with values, if their values show it: those in
// no notation, and others. A seed is no checksum, nor is what nothing calls one if it is equal and the values are not. If clear
// checksums are equal and values next to them are not, the survey notes it.
func (s *Survey) values(others []*group) {
	var list []log
	seeds, sure := true, false // only seeds are called checksums, and there are clear ones
	for _, l := range s.found {
		if l.order != nil {
			continue
		}
		if l.sums == nil || l.trace.Peers != nil {
			return
		}
		list = append(list, l)
		seeds = seeds && l.sums.Seeds()
		sure = sure || !l.sums.Seeds() && !l.sums.Nameless()
	}
	more := slices.Concat(s.unread, others)
	if sure {
		more = nil
	}
	for _, numbered := range []bool{false, true} { // logs with names that differ in a number count if there are no others
		for _, g := range more {
			if !g.isLines() || g.binary || g.kind != description.Undescribed || numbered != (len(g.bases) > 1) || numbered && (len(list) > 1 || len(g.bases) > mostValues) {
				continue
			}
			for _, base := range g.bases {
				list = append(list, log{group: g, path: filepath.Join(g.dir, base)})
			}
		}
	}
	shapes := several(list, func(l log) string { return l.group.shape })
	if len(shapes) == 0 {
		shapes = several(list, func(l log) string { return filepath.Ext(l.path) })
	}
	for _, same := range shapes {
		if s.valuesOf(same, seeds, sure) {
			return
		}
	}
}

// several returns the logs that have the same of something as others, in their order.
func several(list []log, of func(log) string) (out [][]log) {
	for _, l := range list {
		if i := slices.IndexFunc(out, func(same []log) bool { return of(same[0]) == of(l) }); i >= 0 {
			out[i] = append(out[i], l)
		} else {
			out = append(out, []log{l})
		}
	}
	return lists.Where(out, func(same []log) bool { return len(same) > 1 })
}

// valuesOf reads logs as logs with values, and reports whether they are: see values.
func (s *Survey) valuesOf(list []log, seeds, sure bool) bool {
	if len(list) < 2 || len(list) > mostValues {
		return false
	}
	var texts [][]byte
	var named []sums.Sample
	whole := true
	for _, l := range list {
		most := s.sampleOf(l.path)
		text, err := s.read(l.path, most)
		if err != nil {
			return false
		}
		texts, whole = append(texts, text), whole && int64(len(text)) < most
		if l.sums != nil {
			named = append(named, sums.Sample{Pattern: l.sums, Text: text})
		}
	}
	if sure && !whole || !seeds && !sums.Equal(named) {
		return false
	}
	found := sums.LearnValues(texts, named...)
	switch {
	case found == nil || !seeds && len(found.Apart()) == 0:
		return false
	case sure:
		s.lacking = append(s.lacking, fmt.Sprintf("%s: not equal to other logs although all checksums are: %s", list[0].path, strings.Join(found.Apart(), ", ")))
		return true
	}
	if !whole {
		found.Sampled()
	}
	s.seen = states.Found{}
	for _, l := range list {
		trace := found.Format()
		trace.Claims = messages
		s.found = slices.DeleteFunc(s.found, func(o log) bool { return o.path == l.path })
		s.unread = slices.DeleteFunc(s.unread, func(g *group) bool { return g == l.group })
		s.found = append(s.found, log{group: l.group, path: l.path, trace: &trace})
	}
	return true
}

// alone reads the only log as the log of several peers, if it is one.
func (s *Survey) alone(l *log) {
	if l.sums == nil || l.group.kind != description.Undescribed {
		return
	}
	sample, err := s.read(l.path, s.sampleOf(l.path))
	if err != nil {
		return
	}
	one := sums.Sample{Pattern: l.sums, Text: sample}
	if l.trace.Peers == nil {
		one.Pattern = sums.LearnAlone(sample)
	}
	if one.Pattern != nil {
		l.use(sums.Divide([]sums.Sample{one})[0].Pattern)
	}
}

// use reads a log by another pattern.
func (l *log) use(p *sums.Pattern) {
	format := p.Format()
	l.sums, l.trace.Read, l.trace.Sniff, l.trace.Peers, l.trace.Narrow = p, format.Read, format.Sniff, format.Peers, format.Narrow
}

// align finds which matches of logs with several of them are the same.
func (s *Survey) align() {
	list := s.whole()
	if !slices.ContainsFunc(list, func(parts []*log) bool {
		return len(parts) > 1 || slices.ContainsFunc(parts, func(l *log) bool { return l.sums.Restarts() })
	}) {
		return
	}
	var samples []sums.Sample
	for _, parts := range list {
		one := sums.Sample{Pattern: parts[0].sums}
		for _, l := range parts {
			most := s.sampleOf(l.path)
			if len(parts) > 1 {
				most = learnLen
			}
			text, err := s.read(l.path, most)
			if err != nil || int64(len(one.Text)+len(text)) >= learnLen {
				return
			}
			one.Text = append(one.Text, text...)
		}
		samples = append(samples, one)
	}
	if !sums.Align(samples) {
		return
	}
	for i, parts := range list {
		for n, l := range parts {
			if pattern := samples[i].Pattern; len(parts) > 1 {
				l.use(l.sums.Part(n+1, pattern))
			} else if pattern != l.sums {
				l.use(pattern)
			}
		}
	}
}

// whole returns the logs with checksums, and of rotated ones the parts in their order.
func (s *Survey) whole() (out [][]*log) {
	folders := map[string]int{} // of parts
	for i := range s.found {
		l := &s.found[i]
		switch {
		case l.sums == nil || l.trace.Peers != nil:
		case !s.rotated(*l):
			out = append(out, []*log{l})
		default:
			n, ok := folders[l.group.dir]
			if !ok {
				n = len(out)
				folders[l.group.dir], out = n, append(out, nil)
			}
			out[n] = append(out[n], l)
		}
	}
	for _, parts := range out {
		lists.SortStable(parts, func(a, b *log) int { return rotation(b.path) - rotation(a.path) })
		untimed := func(l *log) bool { return l.timeForm() == "" || l.timeForm() != parts[0].timeForm() }
		if !slices.ContainsFunc(parts, untimed) {
			lists.SortStable(parts, func(a, b *log) int { return strings.Compare(a.time(), b.time()) })
		}
	}
	return out
}

// time returns the time with which the first line begins, empty if it has none.
func (l *log) time() string {
	text := strings.TrimLeft(l.first, "[(")
	end := strings.IndexFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789:.-/T ", c) })
	if text = strings.TrimRight(text[:max(end, 0)], " "); text == "" || text[0]-'0' > 9 || !strings.ContainsAny(text, ":-/") {
		return ""
	}
	return text
}

// timeForm returns the time with zeros for digits.
func (l *log) timeForm() string {
	return strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return '0'
		}
		return c
	}, l.time())
}

// lineNotations are the notations that lines of a log may resemble.
var lineNotations = []string{"paths", "columns", "indented", "ini", "rows"}

// describedLog returns the format of a log in which a pattern of the page finds a line, and of one of the logs of a
// page with patterns of checkpoints; nil for others.
func (g *group) describedLog(sample []byte) *tracediff.Format {
	if g.page == nil || !g.may(description.Log) {
		return nil
	}
	trace := g.page.Trace()
	if trace == nil || g.kind == description.Log && trace.Read != nil {
		return trace
	}
	var c description.Checkpoint
	for line := range bytes.Lines(sample) {
		line = bytes.TrimRight(line, "\r\n")
		ok, _ := g.page.Checkpoint(line, &c)
		if claim, _ := g.page.Claim(line); ok || claim != nil {
			return trace
		}
	}
	return nil
}

// learn finds out how the lines are read that no page describes.
func (l *log) learn(sample []byte, base string) {
	g := l.group
	if g.may(description.Log) && (l.trace == nil || l.trace.Read == nil) {
		if p := sums.Learn(sample, base); p != nil && !isMessage(sample, base) {
			trace := p.Format()
			l.matches = sums.NamesMatch(sample[:min(len(sample), leastSample)])
			if l.sums = p; p.Vague() || p.Rivals() {
				l.text = bytes.Clone(sample[:min(len(sample), vagueLen)])
			}
			if trace.Claims = messages; l.trace != nil && l.trace.Claims != nil {
				trace.Claims = l.trace.Claims
			}
			trace.Title = g.title(trace.Title)
			l.trace = &trace
		}
	}
	if l.trace == nil && g.may(description.Input) {
		l.order = inputs.Learn(sample, base)
	}
}
