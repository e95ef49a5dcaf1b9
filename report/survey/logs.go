package survey

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/inputs"
	"github.com/desynctool/desynctool/anygame/statements"
	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	sampleLen                = 1 << 20      // bytes of a log by which its lines are learned
	leastSample, sampleRatio = 64 << 10, 64 // of it, in bytes and for each byte of the file

	mostLogs = 256     // logs that are looked at
	vagueLen = 1 << 17 // bytes of a log that confirm what its checksums are, or show what its lines are
)

// log is a log with checksums or orders.
type log struct {
	group *group
	path  string
	trace *tracediff.Format // or nil
	sums  *sums.Pattern     // of the trace, nil if the page has its lines
	text  []byte            // its beginning, until all logs are known, if the pattern is vague
	order *inputs.Pattern   // or nil
}

// logs takes the logs out of the groups.
func (s *Survey) logs() {
	looked := 0
	tables := s.tables()
	var sectioned []*group
	s.order = slices.DeleteFunc(s.order, func(g *group) bool {
		if g.binary || g.kind == description.State {
			return false
		}
		if g.trace {
			sample, err := s.read(filepath.Join(g.dir, g.bases[0]), headLen)
			return err != nil || !tables[g.dir] || isLog(sample)
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
			l := log{group: g, path: path, trace: g.describedLog(sample)}
			if l.trace == nil && g.kind == description.Undescribed && g.notation != nil && !isJSONLog(g.notation, sample) &&
				(!slices.Contains(lineNotations, g.notation.Name) && tabular(g.notation, sample) || g.notation.Name == "csv" && tables[g.dir] && !isLog(sample)) && !sums.IsRoster(sample) {
				break
			}
			l.learn(sample, base)
			if l.sectioned(sample) {
				sectioned = append(sectioned, g)
				return false
			}
			if l.trace != nil || l.order != nil {
				s.found = append(s.found, l)
				found = true
			} else if g.kind != description.Undescribed {
				s.notes = append(s.notes, fmt.Sprintf("%s: described as %s, and nothing in it is read", path, g.kind))
			}
		}
		if g.notation == nil && !found {
			s.unread = append(s.unread, g)
		}
		return found || g.notation == nil || !g.may(description.State)
	})
	s.together(sectioned)
	s.confirm()
}

// sectioned reports whether lines with values of things follow each line with a tick, and takes that for the notation of a log.
func (l *log) sectioned(sample []byte) bool {
	g := l.group
	if g.page != nil || g.notation != nil && !slices.Contains(lineNotations, g.notation.Name) || l.order != nil || l.sums != nil && !l.sums.OnLines() {
		return false
	}
	if len(sample) > vagueLen {
		sample = sample[:1+bytes.LastIndexByte(sample[:vagueLen], '\n')]
	}
	n := notation.Sections(sample)
	if n == nil || notation.Embedded(sample) != nil || len(ascending(n, sample)) < fewestQuiet || g.notation != nil && !g.notation.Loose && len(ascending(g.notation, sample)) > 1 {
		return false
	}
	g.notation = n
	return true
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

// ascending returns the states in a log, nil if one has no tick that is later than the one before.
func ascending(n *notation.Notation, sample []byte) []*snapshot.World {
	var schema states.Schema
	_ = schema.Learn(n, sample)
	worlds, _ := schema.Decode(n, sample)
	for i, w := range worlds {
		if !w.Point.Known() || i > 0 && w.Point.Tick <= worlds[i-1].Point.Tick {
			return nil
		}
	}
	return worlds
}

// embeds reports whether the lines of a log end with states, of one tick after the other, and takes that for its notation.
func (s *Survey) embeds(g *group) bool {
	if g.kind != description.Undescribed || g.notation != nil && g.notation.Name != "yaml" && !slices.Contains(lineNotations, g.notation.Name) {
		return false
	}
	path := filepath.Join(g.dir, g.bases[0])
	sample, err := s.read(path, s.sampleOf(path))
	n := notation.Embedded(sample)
	if err != nil || n == nil {
		return false
	}
	worlds := ascending(n, sample)
	if len(worlds) < fewestQuiet || !hasRows(worlds[:2]) && !tabular(n, sample) { // orders may be a field of units
		return false
	}
	several := hasRows(worlds[:2]) || slices.ContainsFunc(worlds, func(w *snapshot.World) bool { return len(w.Tables) > 1 })
	if !several || areOrders(worlds) || hasSums(sample, len(worlds)) {
		return false
	}
	g.notation = n
	return true
}

// areOrders reports whether the tables of states are called orders or inputs.
func areOrders(worlds []*snapshot.World) bool {
	return !slices.ContainsFunc(worlds, func(w *snapshot.World) bool {
		return slices.ContainsFunc(w.Tables, func(t snapshot.Table) bool { return t.Label != states.GlobalLabel && !orders.MatchString(t.Label) })
	})
}

// hasSums reports whether a log has checksums of half as many ticks as it has states, or of more: what looks like states may be
// inputs.
func hasSums(sample []byte, states int) bool {
	p := sums.Learn(sample, "")
	if p == nil || p.Seeds() || p.Vague() {
		return false
	}
	source, err := p.Format().Read(bytes.NewReader(sample), "", 0)
	ticks := 0
	for last := uint64(0); err == nil && 2*ticks < states; {
		var r *tracediff.Record
		if r, err = source.Next(); err == nil && r.Checkpoint != nil && (ticks == 0 || r.Checkpoint.Tick != last) {
			ticks, last = ticks+1, r.Checkpoint.Tick
		}
	}
	return 2*ticks >= states
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
	var samples []sums.Sample
	for _, l := range s.found {
		if l.text != nil {
			samples = append(samples, sums.Sample{Pattern: l.sums, Text: l.text})
		}
	}
	sums.Settle(samples)
	sums.Confirm(samples)
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
		}
		kept = append(kept, l)
	}
	s.found = kept
	s.align()
	if len(s.found) == 1 {
		s.alone(&s.found[0])
	}
}

// perhapsLog reports whether a file in a notation may be a log with values: lines of words and values, not of several
// ticks' states.
func (g *group) perhapsLog() bool {
	return slices.Contains(lineNotations, g.notation.Name) && g.samples[0].states < 2
}

// values reads the logs of a session without checksums and states as logs with values, if their values show it: those in
// no notation, and others. A seed is no checksum, nor is what nothing calls one if it is equal and the values are not.
func (s *Survey) values(others []*group) {
	var list []log
	seeds := true
	for _, l := range s.found {
		if l.order != nil {
			continue
		}
		if l.sums == nil || !l.sums.Seeds() && !l.sums.Nameless() || l.trace.Peers != nil {
			return
		}
		list = append(list, l)
		seeds = seeds && l.sums.Seeds()
	}
	for _, g := range slices.Concat(s.unread, others) {
		text := g.notation == nil || slices.Contains(lineNotations, g.notation.Name)
		if text && !g.binary && g.kind == description.Undescribed && len(g.bases) == 1 {
			list = append(list, log{group: g, path: filepath.Join(g.dir, g.bases[0])})
		}
	}
	alone := func(l log) bool {
		return !slices.ContainsFunc(list, func(o log) bool { return o.path != l.path && o.group.shape == l.group.shape })
	}
	if same := slices.DeleteFunc(slices.Clone(list), alone); len(same) > 0 {
		list = same
	}
	const most = 8
	if len(list) < 2 || len(list) > most {
		return
	}
	var texts [][]byte
	var named []sums.Sample
	whole := true
	for _, l := range list {
		most := s.sampleOf(l.path)
		text, err := s.read(l.path, most)
		if err != nil {
			return
		}
		texts, whole = append(texts, text), whole && int64(len(text)) < most
		if l.sums != nil {
			named = append(named, sums.Sample{Pattern: l.sums, Text: text})
		}
	}
	found := sums.LearnValues(texts)
	if found == nil || !seeds && !found.Deny(named) {
		return
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
}

// alone reads the only log as the log of several peers, if it is one.
func (s *Survey) alone(l *log) {
	if l.sums == nil || l.trace.Peers != nil || l.group.kind != description.Undescribed {
		return
	}
	sample, err := s.read(l.path, s.sampleOf(l.path))
	if err != nil {
		return
	}
	if p := sums.LearnAlone(sample); p != nil {
		l.use(p)
	}
}

// use reads a log by another pattern.
func (l *log) use(p *sums.Pattern) {
	format := p.Format()
	l.sums, l.trace.Read, l.trace.Sniff, l.trace.Peers, l.trace.Narrow = p, format.Read, format.Sniff, format.Peers, format.Narrow
}

// align finds which matches of logs with several of them are the same.
func (s *Survey) align() {
	if !slices.ContainsFunc(s.found, func(l log) bool { return l.sums != nil && l.sums.Restarts() }) {
		return
	}
	var list []*log
	var samples []sums.Sample
	for i := range s.found {
		l := &s.found[i]
		if l.sums == nil || l.trace.Peers != nil {
			continue
		}
		text, err := s.read(l.path, s.sampleOf(l.path))
		if err != nil {
			return
		}
		list, samples = append(list, l), append(samples, sums.Sample{Pattern: l.sums, Text: text})
	}
	sums.Align(samples)
	for i, l := range list {
		if samples[i].Pattern != l.sums {
			l.use(samples[i].Pattern)
		}
	}
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

// messages reads what the program of a log wrote of a desync between its checkpoints, without what a person may have
// written.
func messages(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	log, _, err := formats.ScanMessages(r, name)
	if err != nil {
		return nil, err
	}
	log.Claims = slices.DeleteFunc(log.Claims, func(c tracediff.Claim) bool { return c.Quoted })
	if len(log.Claims) == 0 {
		return nil, nil
	}
	return log, nil
}

// isMessage reports whether a text of two lines at most is the message of a program about a desync, not the checkpoint
// of a tick.
func isMessage(sample []byte, name string) bool {
	if bytes.Count(bytes.TrimSpace(sample), []byte{'\n'}) > 1 {
		return false
	}
	log, err := statements.Scan(bytes.NewReader(sample), name)
	return err == nil && len(log.Claims) > 0
}

// tables returns the folders with CSV files that are tables of states.
func (s *Survey) tables() map[string]bool {
	out := map[string]bool{}
	looked := 0
	for _, g := range s.order {
		if g.notation == nil || g.notation.Name != "csv" || looked == mostLogs || out[g.dir] {
			continue
		}
		looked++
		sample, err := s.read(filepath.Join(g.dir, g.bases[0]), headLen)
		out[g.dir] = err == nil && tabular(g.notation, sample)
	}
	return out
}

// isLog reports whether the first line of a CSV file has the names of a tick, and of an order or a checksum and little
// else.
func isLog(sample []byte) bool {
	header, _, _ := bytes.Cut(sample, []byte{'\n'})
	count := meanings(header)
	order := slices.ContainsFunc(cellsOf(header), orders.MatchString)
	return count[vocabulary.Tick] > 0 && (order || count[vocabulary.Sum] > 0 && count[vocabulary.Other]+count[vocabulary.WeakSum] < 3)
}

// isMeasured reports whether the first line of a CSV file has the names of a tick, a checksum and a time or another
// measure: they are columns of one peer, and not the checksums of several.
func isMeasured(sample []byte) bool {
	header, _, _ := bytes.Cut(sample, []byte{'\n'})
	count := meanings(header)
	return count[vocabulary.Tick] == 1 && count[vocabulary.Sum] > 0 && count[vocabulary.Measure] > 0
}

// cellsOf returns the names in the first line of a CSV file.
func cellsOf(header []byte) []string {
	return strings.FieldsFunc(string(header), func(r rune) bool { return strings.ContainsRune(",;|\t\r\"", r) })
}

// meanings counts what these names mean.
func meanings(header []byte) map[vocabulary.Meaning]int {
	count := map[vocabulary.Meaning]int{}
	for _, name := range cellsOf(header) {
		count[vocabulary.Of(name)]++
	}
	return count
}

// orders are the names of columns with orders.
var orders = lazyregexp.New(`(?i)^(order|command|cmd|action|input|op|event)s?(_?(type|kind|name))?$`)

// loggedText fits the member with the text of a line that a logging library writes: pino, zap, slog, Serilog.
var loggedText = lazyregexp.New(`"(msg|message|@mt|@m)"\s*:`)

// isJSONLog reports whether a text is JSON Lines as a logging library writes them: most have a message, or neither lists
// nor maps. Some may contain a state.
func isJSONLog(n *notation.Notation, sample []byte) bool {
	lines, flat, logged := 0, 0, 0
	for line := range bytes.Lines(sample) {
		lines++
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		if !bytes.ContainsAny(line[1:], "{[") {
			flat++
		}
		if loggedText.Match(line) {
			logged++
		}
	}
	return n.Name == "json" && lines >= 8 && 4*max(flat, logged) >= 3*lines
}

// tabular reports whether a text contains states and is not a log; an incomplete end does not matter.
func tabular(n *notation.Notation, sample []byte) bool {
	var schema states.Schema
	if err := schema.Learn(n, sample); err != nil && !errors.As(err, new(*notation.Error)) {
		return false
	}
	if schema.Tabular() || n.Name != "csv" || isLog(sample) {
		return schema.Tabular() || n.Name == "sql"
	}
	worlds, _ := schema.Decode(n, sample)
	return hasRows(worlds)
}

// hasRows reports whether states have a table with several rows and a key column, and the last state has some rows of the
// first.
func hasRows(worlds []*snapshot.World) bool {
	if len(worlds) == 0 {
		return false
	}
	for _, t := range worlds[0].Tables {
		last := worlds[len(worlds)-1].Table(t.Class, t.Label)
		if t.Label == states.GlobalLabel || last == nil || len(t.Keys.A) < 2 || t.Keys.At(len(t.Keys.A)-1).A == uint64(len(t.Keys.A)-1) {
			continue
		}
		for i := range len(t.Keys.A) {
			if slices.Contains(last.Keys.A, t.Keys.At(i).A) {
				return true
			}
		}
	}
	return false
}

// logFormats returns the formats of the logs. If a folder has several of one kind, the parts of their names that vary
// are the peers.
func (s *Survey) logFormats() (out []engine.Format) {
	byPath := map[string]engine.Format{}
	for _, l := range s.found {
		beside := 0
		for _, other := range s.found {
			if other.group.dir == l.group.dir && (other.trace == nil) == (l.trace == nil) {
				beside++
			}
		}
		peer := ""
		if s.rotated(l) {
			peer = filepath.Base(l.group.dir)
		} else if beside > 1 || s.page != nil {
			peer = s.peerOf(l)
		}
		f := l.format(peer)
		byPath[l.path] = f
		alike := func(other engine.Format) bool {
			return other.Name == f.Name && other.Shared == f.Shared && slices.Equal(other.Gives, f.Gives)
		}
		if !slices.ContainsFunc(out, alike) {
			out = append(out, one(f, byPath, alike))
		}
	}
	return out
}

// rotated reports whether the logs of a folder are parts of one, game.log and game.1.log, as in other folders.
func (s *Survey) rotated(l log) bool {
	stem, parts := stemOf(l.path), map[string]int{} // by folder
	for _, other := range s.found {
		switch same := stemOf(other.path) == stem; {
		case (other.trace == nil) != (l.trace == nil):
		case same:
			parts[other.group.dir]++
		case other.group.dir == l.group.dir:
			return false
		}
	}
	most := 0
	for _, n := range parts {
		most = max(most, n)
	}
	return most > 1 && len(parts) > 1
}

// stemOf returns the name of a file without the numbers between its points.
func stemOf(path string) string {
	parts := strings.Split(filepath.Base(path), ".")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return strings.Trim(part, "0123456789") == "" }), ".")
}

// one returns one format for all similar logs: each is read in its own way.
func one(f engine.Format, byPath map[string]engine.Format, alike func(engine.Format) bool) engine.Format {
	of := func(path string) engine.Format {
		if own, ok := byPath[path]; ok && alike(own) {
			return own
		}
		return f // independent of its current name
	}
	out := f
	out.Paths = func(path string) bool {
		own, ok := byPath[path]
		return ok && alike(own)
	}
	if f.Trace != nil {
		t := *f.Trace
		if t.Read != nil {
			t.Read = func(r io.Reader, name string, n int) (tracediff.Source, error) {
				return of(name).Trace.Read(r, name, n)
			}
		}
		if t.Claims != nil {
			t.Claims = func(r io.Reader, name string) (*tracediff.ClaimLog, error) { return of(name).Trace.Claims(r, name) }
		}
		out.Trace = &t
	}
	if f.Log != nil {
		out.Log = func(r io.Reader, name string) (orderlog.Source, error) { return of(name).Log(r, name) }
	}
	return out
}

// peerOf returns the peer that the name of a log shows.
func (s *Survey) peerOf(l log) string {
	var groups []*group
	for _, other := range s.found {
		alike := other.group.dir == l.group.dir && (other.trace == nil) == (l.trace == nil)
		if alike && !slices.Contains(groups, other.group) {
			groups = append(groups, other.group)
		}
	}
	l.group.peer = nil
	base := filepath.Base(l.path)
	if slices.ContainsFunc(groups, func(g *group) bool { return len(g.words(g.bases[0])) != len(l.group.words(base)) }) && l.group.peerOf(base) == "" {
		name := compression.PlainName(base) // words do not correspond to each other
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	for i := range l.group.words(l.group.bases[0]) {
		if varies(groups, i) {
			l.group.peer = append(l.group.peer, i)
		}
	}
	return l.group.peerOf(base)
}

// format returns the format of a log, with the peer's name if its folder has logs of several peers.
func (l *log) format(peer string) engine.Format {
	var out engine.Format
	if l.trace != nil {
		t := *l.trace
		game := ""
		if l.group.page != nil {
			game = l.group.page.Title()
		}
		if read := t.Read; read != nil && peer+game != "" {
			t.Read = func(r io.Reader, name string, n int) (tracediff.Source, error) {
				source, err := read(r, name, n)
				if err != nil {
					return nil, err
				}
				return namedTrace{source, peer, game}, nil
			}
		}
		out = engine.Trace(t, "*", given(t)...)
	} else {
		out = engine.Format{
			Name: "inputs", Title: l.group.title("inputs of any game"), Files: "*", Gives: []string{"orders"},
			Log: func(r io.Reader, name string) (orderlog.Source, error) {
				source, err := l.order.Read(r, name)
				if err != nil || peer == "" {
					return source, err
				}
				return namedLog{source, peer}, nil
			},
		}
	}
	out.Sniff = func([]byte) bool { return false }
	out.Shared = peer != ""
	return out
}

// given returns the evidence in a log.
func given(t tracediff.Format) (out []string) {
	if t.Read != nil {
		out = append(out, "checkpoints")
	}
	if t.Claims != nil {
		out = append(out, "claims")
	}
	return out
}

// namedTrace is a trace that does not contain the name of its peer or game.
type namedTrace struct {
	tracediff.Source
	peer, game string
}

// Dialect implements tracediff.Source.
func (n namedTrace) Dialect() tracediff.Dialect {
	d := n.Source.Dialect()
	d.Engine = cmp.Or(n.game, d.Engine)
	return d
}

// Header implements tracediff.Source.
func (n namedTrace) Header() tracediff.Header {
	h := n.Source.Header()
	h.Peer = cmp.Or(h.Peer, n.peer)
	return h
}

// Pass implements tracediff.Passer.
func (n namedTrace) Pass(offset int64) {
	if s, ok := n.Source.(tracediff.Passer); ok {
		s.Pass(offset)
	}
}

// namedLog is an order log that does not contain the name of its peer.
type namedLog struct {
	orderlog.Foreign
	peer string
}

// Header implements orderlog.Source.
func (n namedLog) Header() orderlog.Header {
	h := n.Foreign.Header()
	h.Peer = cmp.Or(h.Peer, n.peer)
	return h
}
