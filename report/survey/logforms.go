package survey

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/statements"
	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// sectioned reports whether lines with values of things follow each line with a tick, and takes that for the notation of a log.
func (l *log) sectioned(sample []byte) bool {
	g := l.group
	if g.page != nil || g.notation != nil && !slices.Contains(lineNotations, g.notation.Name) || l.order != nil || l.sums != nil && !l.sums.OnLines() {
		return false
	}
	if len(sample) > vagueLen {
		sample = sample[:1+bytes.LastIndexByte(sample[:vagueLen], '\n')]
	}
	if l.sums != nil && !l.sums.Seeds() && !l.sums.Nameless() && !indented(sample) {
		return false
	}
	n := notation.Sections(sample)
	if n == nil || notation.Embedded(sample) != nil || len(ascending(n, sample)) < fewestQuiet || g.notation != nil && !g.notation.Loose && len(ascending(g.notation, sample)) > 1 {
		return false
	}
	g.notation = n
	return true
}

// indented reports whether a third of the lines have indentation, as the lines of things below the checksum of a tick have:
// lines without it may be about anything.
func indented(sample []byte) bool {
	lines, deeper := 0, 0
	for line := range bytes.Lines(sample) {
		if lines++; line[0] == ' ' || line[0] == '\t' {
			deeper++
		}
	}
	return 3*deeper >= lines
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
	if len(worlds) < fewestQuiet {
		return false
	}
	things := hasThings(worlds[0])
	if !things && !hasRows(worlds[:2]) && !tabular(n, sample) { // orders may be a field of units
		return false
	}
	several := things || hasRows(worlds[:2]) || slices.ContainsFunc(worlds, func(w *snapshot.World) bool { return len(w.Tables) > 1 })
	if !several || !things && areOrders(worlds) || hasSums(sample, len(worlds)) {
		return false
	}
	g.notation = n
	return true
}

// hasThings reports whether a state without tables has several things under their names, each with several values. Some have places,
// health or the like, and some are no players: others are inputs.
//
//	{"Player_1": {"coins": 0, "hp": 5}, "Slime": {"hp": 30, "timer": 6}, "Slime2": {"hp": 27, "timer": 3}}
func hasThings(w *snapshot.World) bool {
	if len(w.Tables) != 1 || w.Tables[0].Label != states.GlobalLabel {
		return false
	}
	fields, bodies := map[string]int{}, 0
	for _, c := range w.Tables[0].Columns {
		if fields[c.Component]++; bodyFields.MatchString(c.Field) {
			bodies++
		}
	}
	const fewest = 3
	things, others := 0, 0
	for name, n := range fields {
		if n < 2 || name == states.GlobalLabel {
			continue
		}
		if things++; !playerNames.MatchString(name) && !orders.MatchString(name) {
			others++
		}
	}
	return things >= fewest && others > 0 && bodies > 0
}

// bodyFields are fields of things in a world, and playerNames the names of players.
var (
	bodyFields  = lazyregexp.New(`(?i)^(hp|health|life|shield|armou?r|energy|mana|pos|position|coords?|location|x|y|z|vel|velocity|speed)(\.|$)`)
	playerNames = lazyregexp.New(`(?i)^(p|player|peer|client|user|seat|slot)[ _-]?\d*$`)
)

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

// isLines reports whether the files may be lines of a log.
func (g *group) isLines() bool {
	return g.notation == nil || slices.Contains(lineNotations, g.notation.Name) || strings.HasPrefix(g.notation.Name, "log of ")
}

// perhapsLog reports whether a file in a notation may be a log with values: lines of words and values, not of several
// ticks' states unless others of its kind are no states.
func (s *Survey) perhapsLog(g *group) bool {
	return g.isLines() && (g.samples[0].states < 2 || len(g.bases) == 1 &&
		slices.ContainsFunc(s.unread, func(o *group) bool { return filepath.Ext(o.bases[0]) == filepath.Ext(g.bases[0]) }))
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

// isMeasured reports whether the first line of a CSV file has the names of a tick, a checksum and anything else, such as a
// time or a count: they are columns of one peer, and not the checksums of several.
func isMeasured(sample []byte) bool {
	header, _, _ := bytes.Cut(sample, []byte{'\n'})
	count := meanings(header)
	return count[vocabulary.Tick] == 1 && count[vocabulary.Sum] > 0 && count[vocabulary.Measure]+count[vocabulary.Other]+count[vocabulary.WeakSum] > 0
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

// deepMap fits a map within a map or list.
var deepMap = lazyregexp.New(`[:\[,]\s*\{\s*"`)

// isRecordLog reports whether a text is a log of records: elements in XML with checksums, or JSON Lines as a logging library
// writes them. Most of these have a message, or neither lists nor maps. Some may contain a state; messages is set if none does.
func isRecordLog(n *notation.Notation, sample []byte) (is, messages bool) {
	if n != nil && n.Name == "xml" {
		return hasSumElements(sample), false
	}
	if n == nil || n.Name != "json" {
		return false, false
	}
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
	is = lines >= 8 && 4*max(flat, logged) >= 3*lines
	return is, is && 4*logged >= 3*lines && !deepMap.Match(sample)
}

// attribute is one of an element in XML.
var attribute = lazyregexp.New(`[ \t]([\pL_][\pL0-9_.-]*)="[^"]*"`)

// hasSumElements reports whether most lines are an element each that has a tick and a checksum as attributes.
func hasSumElements(sample []byte) bool {
	lines, found := 0, 0
	for line := range bytes.Lines(sample) {
		tick, sum := false, false
		for _, m := range attribute.FindAllStringSubmatch(string(line), -1) {
			meaning := vocabulary.Of(m[1])
			tick, sum = tick || meaning == vocabulary.Tick, sum || meaning == vocabulary.Sum
		}
		if lines++; tick && sum {
			found++
		}
	}
	return lines >= 8 && 4*found >= 3*lines
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
	return hasRows(worlds) && !hasInputs(worlds[0])
}

// hasInputs reports whether all that a state has of things are inputs of players.
func hasInputs(w *snapshot.World) bool {
	found, other := false, false
	for _, t := range w.Tables {
		for _, c := range t.Columns {
			is := vocabulary.IsInput(c.Field)
			found, other = found || is, other || !is && t.Label != states.GlobalLabel && vocabulary.Of(c.Field) != vocabulary.Player
		}
	}
	return found && !other
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
