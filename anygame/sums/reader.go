package sums

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"io"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// maxHeld is how many checkpoints that may still become predictions are held.
const maxHeld = 1 << 13

// fewestUnsettled is how many ticks at the end of a log with rollbacks are guesses at least. Libraries for rollback predict
// 8 ticks unless a game changes it.
const fewestUnsettled = 16

// fewestConfirmations is how often a log must name a later confirmed tick to be believed.
const fewestConfirmations = 3

// maxBetween is how many bytes of lines between checkpoints are looked at for words.
const maxBetween = 64 << 10

// reader reads the checkpoints of one peer.
type reader struct {
	pattern *Pattern
	lines   *orderlog.Lines
	peer    int // that is wanted, by its number in the order of the log; -1 if the log names none

	form    lineForm
	matched *matched
	last    int            // the template that fitted last
	peers   map[string]int // by name
	scopes  map[string]string

	held          []*held
	room          []*held // which held is a part of
	free          []*held // to be used again
	newest        uint64  // tick of the last checkpoints
	tick          uint64  // of the last line
	any           bool
	pass          int
	played        int         // how often another match began
	within        string      // the match of the line, if the log has several at once
	deepest       uint64      // how many ticks a rollback went back at most, 0 if the log shows none
	confirmed     uint64      // the last tick that lines name as confirmed
	confirmations int         // how often they named a later one
	nth           map[int]int // lines of the tick by template and phase
	around        [2]surroundings
	passed        int  // bytes of the lines since the last checkpoint
	back          bool // they report a rollback
	places        textsearch.Places
	forms         textsearch.Forms[form]
	plain         bool // the shape of a line decides how it is read
	parsed        int  // lines that were compared with templates
	out           *held
	err           error

	straight bool      // no record is held back
	leads    []*reader // that wait until this one has read
	until    int64     // the offset before which their lines are known to be equal
}

// held is a record that is held.
type held struct {
	tracediff.Record
	checkpoint tracediff.Checkpoint
	event      tracediff.Event
	bytes      []byte
	key        int // template and checkpoint in it, negative for what several forms of lines have
	pass       int
	played     int
	named      bool // its line names its phase
}

func newReader(p *Pattern, r io.Reader, name string, peer int) *reader {
	if !p.peers {
		peer = -1
	}
	out := &reader{
		pattern: p, lines: orderlog.NewLines(r, name), peer: peer, matched: newMatched(),
		peers: map[string]int{}, scopes: map[string]string{}, nth: map[int]int{},
		around: [2]surroundings{{phase: unknown}, {phase: unknown}},
	}
	if p.form != nil {
		out.form = p.form.fork()
	}
	out.around[0].pass = unknown
	out.around[0].passes = slices.ContainsFunc(p.templates, func(t template) bool { return t.passes })
	out.plain = p.form == nil && p.rooms == nil && !slices.ContainsFunc(p.templates, isOdd)
	return out
}

func (r *reader) Header() tracediff.Header { return tracediff.Header{} }

func (r *reader) Dialect() tracediff.Dialect {
	// A dump with the same number, if there is one, was written at the same moment: its tick is a state point.
	return tracediff.Dialect{
		Engine: "any game", File: "log with checksums", TickName: r.pattern.tickName(), Endless: true, Lossy: true, AtPoint: true,
		Partial: r.pattern.Seeds(), Epochs: r.pattern.epochs, Detail: tracediff.Path,
		Restarts: r.pattern.names != nil, Match: r.pattern.matchName(), Part: r.pattern.part,
	}
}

// tickName returns the function that names ticks by the word of the log, tick if it has none, and
// checksums where these are counted.
func (p *Pattern) tickName() func(tick uint64) string {
	if p.isCounted() {
		return messages.TickName("checksum")
	}
	for _, part := range slices.Backward(vocabulary.Parts(p.templates[0].roles.tickWord)) {
		if vocabulary.Of(part) == vocabulary.Tick {
			return messages.TickName(strings.Replace(part, "ticks", "tick", 1))
		}
	}
	return messages.TickName("tick")
}

// Next returns the next record. One is held until it can no longer become a prediction.
func (r *reader) Next() (*tracediff.Record, error) {
	for {
		if r.out != nil {
			r.free, r.out = append(r.free, r.out), nil
		}
		if r.err == tracediff.ErrBack {
			return nil, r.err
		}
		if len(r.held) > 0 {
			one := r.held[0]
			old := r.straight || one.Event != nil || one.checkpoint.Tick+window < r.newest || one.played < r.played
			if old || r.err != nil || len(r.held) > maxHeld {
				r.held, r.out = r.held[1:], one
				return &one.Record, nil
			}
		}
		if r.err != nil {
			return nil, r.err
		}
		if r.leads != nil && r.lines.End() >= r.until {
			r.extend()
		}
		if r.err = r.line(); r.err != nil {
			r.guessed()
		}
	}
}

// line takes the next line.
func (r *reader) line() error {
	if r.plain {
		if f, size := r.forms.Next(r.lines.Ahead(), r.lines.CRLF()); f != nil {
			r.takeAs(f, r.lines.Take(size))
			return r.err
		}
	}
	line, err := engine.NextLine(r.lines)
	if err == nil {
		r.take(line)
		err = r.err
	}
	return err
}

// Straight implements [tracediff.Straight].
func (r *reader) Straight() { r.straight = true }

// Confirm reads until the last record could no longer become a prediction.
func (r *reader) Confirm() error {
	for last := r.tick; r.err == nil && last+window >= r.newest && len(r.held) <= maxHeld; {
		r.err = r.line()
	}
	if r.err == tracediff.ErrBack {
		return r.err
	}
	return nil
}

// Leading reports whether others wait.
func (r *reader) Leading() bool { return r.leads != nil }

// Lead makes others wait. It cannot where a line belongs to several peers or to a longer record.
func (r *reader) Lead(others []tracediff.Source) bool {
	if r.peer >= 0 || r.form != nil || !r.straight {
		return false
	}
	for _, s := range others {
		other, ok := s.(*reader)
		if !ok || !reflect.DeepEqual(r.pattern, other.pattern) {
			r.leads = nil
			return false
		}
		r.leads = append(r.leads, other)
	}
	return true
}

// extend looks for more equal lines. If there are none, the others wait no longer: they have read what this one has.
func (r *reader) extend() {
	same := r.lines.Fill()
	for _, other := range r.leads {
		other.lines.Pass(r.until)
		theirs := other.lines.Fill()
		if same = same[:min(len(same), len(theirs))]; !bytes.Equal(same, theirs[:len(same)]) {
			same = same[:sort.Search(len(same), func(i int) bool { return !bytes.Equal(same[:i+1], theirs[:i+1]) })]
		}
	}
	if end := bytes.LastIndexByte(same, '\n') + 1; end > 0 {
		r.until += int64(end)
		return
	}
	for _, other := range r.leads {
		other.last, other.newest, other.tick, other.any = r.last, r.newest, r.tick, r.any
		other.nth, other.passed, other.back = maps.Clone(r.nth), r.passed, r.back
	}
	r.leads = nil
}

// Pass passes the lines before an offset. Where lines belong to several peers or to one record, all of them are needed.
func (r *reader) Pass(offset int64) {
	if r.peer >= 0 || r.form != nil {
		return
	}
	r.lines.Pass(offset)
}

// guessed makes predictions of the last checkpoints before an end of the log, or a gap in it, if the log shows that ticks
// are simulated again: no rollback could replace what was guessed in them.
func (r *reader) guessed() {
	last := r.unsettled()
	if last == 0 {
		return
	}
	for _, one := range r.held {
		if c := &one.checkpoint; one.Event == nil && !one.named && c.Phase == tracediff.Confirmed && c.Tick+last > r.newest {
			known := r.confirmations >= fewestConfirmations && c.Tick > r.confirmed
			c.Phase, c.Unsettled = tracediff.Predicted, !known
		}
	}
}

// unsettled returns how many ticks at the end of the log may be guesses, 0 if the log shows no rollback. A machine that waits
// for another one plays on for as many ticks as it predicts at most, which is more than usual.
func (r *reader) unsettled() uint64 {
	if r.deepest == 0 {
		return 0
	}
	return min(window, max(fewestUnsettled, 2*r.deepest))
}

// text returns a line as text.
func (r *reader) text(line []byte) []byte {
	if line = plain(line); r.form != nil {
		return r.form.line(line)
	}
	return line
}

// unknown is the phase of a checkpoint if its line does not name it.
const unknown tracediff.Phase = 255

// surroundings are the text before or after the values of a line, and its meaning. Lines that follow each other
// often differ in digits only.
type surroundings struct {
	text  []byte
	phase tracediff.Phase
	told  complaint
	// pass is the phase by other words, if these count.
	pass   tracediff.Phase
	passes bool
}

// judge returns the phase that a part of a line names, and whether it is a complaint.
func (s *surroundings) judge(part []byte) (tracediff.Phase, complaint) {
	alike := textsearch.Alike(s.text, part)
	if s.phase != unknown || !alike {
		s.text = append(s.text[:0], part...)
		s.told, s.phase = complains(part), phaseIn(part)
	}
	if s.passes && !alike {
		s.pass = passIn(part)
	}
	if s.passes && s.phase == unknown {
		return s.pass, s.told
	}
	return s.phase, s.told
}

// wholes finds the digits of all checksums of a line, and reports whether all are whole numbers.
func (r *reader) wholes(n int) bool {
	for _, p := range r.pattern.templates[n].roles.points {
		for i := range p.sums {
			slot := p.sums[i].slot
			digits, letters, ok := integer(r.matched.values[slot])
			if !ok {
				return false
			}
			r.matched.whole[slot] = whole{digits, letters}
		}
	}
	return true
}

// checkpoints keeps the checkpoints of a line, and reports whether it has any: its checksums are whole numbers.
func (r *reader) checkpoints(n int, phase tracediff.Phase, whole bool) bool {
	if !whole || !r.points(n, phase) {
		return false
	}
	r.passed, r.back = 0, false
	return true
}

// points is checkpoints for all but what was passed before.
func (r *reader) points(n int, phase tracediff.Phase) bool {
	t := &r.pattern.templates[n]
	roles := &t.roles
	tick, ok := roles.tickOf(r.matched.values[roles.tick])
	if !ok {
		return false
	}
	if r.straight && t.twin > 0 { // a later line may have the final value
		r.err = tracediff.ErrBack
		return true
	}
	if r.peer >= 0 && r.number(roles.peerName(r.matched.values)) != r.peer {
		return true
	}
	if tick != r.tick && len(r.nth) > 0 {
		clear(r.nth)
	}
	again := false
	if t.redoes {
		r.nth[n<<8]++
		again = r.nth[n<<8] > 1
	}
	r.step(tick, again)
	named := roles.phase >= 0 || phase != unknown || t.final
	if roles.final != "" {
		phase = tracediff.Predicted
		if string(r.matched.values[roles.phase]) == roles.final {
			phase = tracediff.Confirmed
		}
	} else if roles.phase >= 0 {
		phase = phaseOf(roles.phaseOf, r.matched.values[roles.phase])
	} else if phase == unknown && t.guess {
		phase = tracediff.Predicted
	} else if phase == unknown {
		phase = tracediff.Confirmed
	}
	scope := ""
	if roles.scope >= 0 {
		scope = r.scope(roles.scopeWord, r.matched.values[roles.scope])
	} else if roles.repeats { // parts of the state without names
		alike := n<<8 | int(phase)
		if r.nth[alike]++; r.nth[alike] > 1 {
			scope = "#" + strconv.Itoa(r.nth[alike])
		}
	}
	if r.within != "" {
		scope = strings.TrimSuffix(r.within+"."+scope, ".")
	}
	for i := range roles.points {
		key := n*maxSlots + i
		if t.twin > 0 {
			key = -(t.twin*maxSlots + i)
		}
		r.hold(key, tick, &roles.points[i], scope, phase, named)
	}
	return true
}

// tickOf parses a tick.
func (r *roles) tickOf(value []byte) (tick uint64, ok bool) {
	if !r.tickHex && len(value) < 19 {
		for _, c := range value {
			if tick = 10*tick + uint64(c-'0'); !isDigit(c) {
				return 0, false
			}
		}
		return tick, len(value) > 0
	}
	digits, letters, ok := integer(value)
	if !ok || value[0] == '-' || letters && !r.tickHex {
		return 0, false
	}
	base := 10
	if r.tickHex {
		base = 16
	}
	tick, err := strconv.ParseUint(string(digits), base, 63)
	return tick, err == nil
}

// peerName returns the name of the peer that a line names, "local" if it names none.
func (r *roles) peerName(values [][]byte) string {
	if r.peer < 0 {
		return "local"
	}
	value := string(values[r.peer])
	if _, letters, ok := integer(values[r.peer]); ok && !letters {
		return cmp.Or(r.peerWord, "peer") + " " + value
	}
	return unspell(value)
}

// number returns the number of a peer, in the order in which the log names them.
func (r *reader) number(name string) int {
	n, ok := r.peers[name]
	if !ok {
		n = len(r.peers)
		if n < maxNames {
			r.peers[strings.Clone(name)] = n
		}
	}
	return n
}

// scope returns the name of a scope, the same string each time.
func (r *reader) scope(word string, value []byte) string {
	if s, ok := r.scopes[string(value)]; ok {
		return s
	}
	s := strings.ToValidUTF8(string(value), "\uFFFD")
	if isDigit(s[0]) {
		s = word + " " + s
	}
	if len(r.scopes) < 1<<12 {
		r.scopes[string(value)] = s
	}
	return s
}

// step goes on to the tick of a line. Where the log goes back, or has a tick again, another pass begins.
func (r *reader) step(tick uint64, again bool) {
	if r.pattern.names != nil && r.any && tick < r.tick {
		r.played++
		r.confirmed, r.confirmations = 0, 0
		r.newest, r.tick = tick, tick
		return
	}
	back := r.any && tick <= r.tick && r.back
	if r.any && tick < r.tick || back || again {
		if r.pass++; r.straight {
			r.err = tracediff.ErrBack
			return
		}
	}
	if back && r.newest-tick <= window {
		one := r.push()
		one.event = tracediff.Event{Kind: tracediff.Restore, Tick: tick, Other: r.tick + 1}
		one.Record = tracediff.Record{Pos: engine.PositionOf(r.lines), Event: &one.event}
	}
	if r.any && (tick > r.newest+r.unsettled() || r.newest > tick+window) { // a gap, or another session
		r.guessed()
		r.confirmed, r.confirmations = 0, 0
	}
	if !r.any || tick > r.newest || r.newest-tick > window { // further back: another session
		r.newest = tick
	}
	r.any, r.tick = true, tick
}

// push holds another record.
func (r *reader) push() *held {
	n := len(r.free)
	if n == 0 {
		r.free, n = append(r.free, new(held)), 1
	}
	if n := len(r.held); n == cap(r.held) { // it moved through its room
		if cap(r.room) <= 2*n {
			r.room = make([]*held, 4*n+window)
		}
		r.held = r.room[:copy(r.room, r.held)]
	}
	one := r.free[n-1]
	r.free, r.held = r.free[:n-1], append(r.held, one)
	return one
}

// hold keeps a checkpoint. A checkpoint that it replaces was predicted.
func (r *reader) hold(key int, tick uint64, p *point, scope string, phase tracediff.Phase, named bool) {
	if p.scope != "" {
		if scope != "" {
			scope += "."
		}
		scope += p.scope
	}
	one := r.push()
	one.key, one.pass, one.played, one.named, one.bytes = key, r.pass, r.played, named, one.bytes[:0]
	c := &one.checkpoint // the fields that neither this reader nor those of records set stay as they are
	c.Tick, c.Scope, c.Phase, c.Occurrence, c.Unsettled, c.Sums = tick, scope, phase, 0, false, c.Sums[:0]
	for i := range p.sums {
		s := &p.sums[i]
		begin := len(one.bytes)
		one.bytes = s.append(one.bytes, r.matched.values[s.slot], r.matched.whole[s.slot])
		value := one.bytes[begin:len(one.bytes):len(one.bytes)]
		c.Sums = append(c.Sums, tracediff.Sum{Name: s.name, Value: value})
	}
	if r.pass > 0 || key < 0 {
		for _, before := range r.held[:len(r.held)-1] {
			c := &before.checkpoint
			if before.Event == nil && before.key == key && before.played == r.played && c.Tick == tick && (before.pass < r.pass || key < 0) && c.Scope == scope {
				c.Phase = tracediff.Predicted
				if !bytes.Equal(before.bytes, one.bytes) && tick <= r.newest {
					r.deepest = max(r.deepest, r.newest-tick+1)
				}
			}
		}
	}
	one.Record = tracediff.Record{Pos: engine.PositionOf(r.lines), Checkpoint: &one.checkpoint}
}

// append appends a checksum: hexadecimal digits in lower case after 0x, a decimal number as it is.
func (s *sum) append(to, value []byte, number whole) []byte {
	if !number.letters && !s.hex || value[0] == '-' {
		return append(to, value...)
	}
	if s.text > 0 && len(number.digits) == s.text {
		text, err := hex.AppendDecode(to, number.digits)
		if err == nil && !bytes.ContainsFunc(text[len(to):], func(c rune) bool { return c >= 0x80 || !isCode(byte(c)) }) {
			return text
		}
	}
	to = append(to, "0x"...)
	for _, c := range number.digits {
		if c >= 'A' && c <= 'F' {
			c |= 0x20
		}
		to = append(to, c)
	}
	return to
}

// phaseOf returns the phase that a word with a truth value names, or a value that is such a word.
func phaseOf(name string, value []byte) tracediff.Phase {
	if name == "" {
		if name = phaseWord(string(value)); name == "" && hasPart(string(value), settled) {
			name = "confirmed"
		}
		value = []byte("1")
	}
	yes := len(value) > 0 && strings.IndexByte("1tTyY", value[0]) >= 0
	if yes == (name == "confirmed") {
		return tracediff.Confirmed
	}
	return tracediff.Predicted
}

// phaseIn returns the phase that a part of a line names, unknown if it names none.
func phaseIn(part []byte) tracediff.Phase {
	for _, text := range []string{"redicted", "onfirmed", "peculative"} {
		i := bytes.Index(part, []byte(text))
		if i < 1 {
			continue
		}
		begin, end := i-1, i+len(text)
		if begin > 0 && isLetter(part[begin-1]) || end < len(part) && isLetter(part[end]) {
			continue
		}
		value := bytes.TrimLeft(part[end:], `"'`)
		if len(value) > 1 && (value[0] == '=' || value[0] == ':') {
			if value = bytes.TrimLeft(value[1:], " "); len(value) > 0 && strings.IndexByte("01tfTFyn", value[0]) >= 0 {
				name := "predicted"
				if text == "onfirmed" {
					name = "confirmed"
				}
				return phaseOf(name, value)
			}
		}
		if text == "onfirmed" {
			return tracediff.Confirmed
		}
		return tracediff.Predicted
	}
	return unknown
}

// peersOf returns the peers of a log.
func (p *Pattern) peersOf(r io.Reader, name string) ([]string, error) {
	all := newReader(p, r, name, 1<<30)
	for all.err == nil {
		line, err := engine.NextLine(all.lines)
		if all.err = err; err == nil {
			all.take(line)
		}
	}
	if all.err != io.EOF {
		return nil, all.err
	}
	if len(all.peers) < 2 {
		return nil, nil
	}
	list := make([]string, len(all.peers))
	for name, n := range all.peers {
		list[n] = name
	}
	return list, nil
}
