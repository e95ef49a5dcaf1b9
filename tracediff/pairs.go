package tracediff

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Lines of text that begin with a percent sign.
const (
	textBegin   = "%desynctool trace 1"
	textEnd     = "%end"
	textTorn    = "%torn"
	textCorrupt = "%corrupt"
)

// Keys of a line of key=value pairs, in the order in which they are written.
// The reader takes them in any order and skips others.
const (
	keyEvent  = "event"
	keyTick   = "tick"
	keyAt     = "at"
	keyTo     = "to"
	keyPlayer = "player"
	keySystem = "system"
	keyScope  = "scope"
	keyPhase  = "phase"
	keyCount  = "n"
	keySum    = "sum"
)

// fields are what a line has said so far.
type fields struct {
	c     Checkpoint
	e     Event
	event bool
	seen  uint16 // a bit for each known key but sum

	byMid     map[string]*memo
	begin     []byte // of the last line, up to the blank behind its tick
	beginTick uint64
	last      *memo // that fitted
}

// memo is what lines have between tick and value: traces repeat it tick for
// tick, so that most lines need not be taken apart.
type memo struct {
	mid           string // "system=Combat scope=Infantry sum=", or up to "n=" if it has a count
	system, scope string
	count         bool
	next          [2]*memo // that came behind it the last times
}

// maxMemos bounds what is kept.
const maxMemos = 1 << 14

const (
	tickPrefix = keyTick + "="
	sumPrefix  = keySum + "="
)

// fast takes a line that is like one before. It reports false if it is not, and
// leaves f in any state.
func (f *fields) fast(line []byte) bool {
	if f.last == nil {
		return false
	}
	i := len(f.begin)
	if i == 0 || len(line) < i || string(line[:i]) != string(f.begin) {
		if !f.fastTick(line) {
			return false
		}
		i = len(f.begin)
	}
	m := f.last.next[0]
	if m == nil || len(line)-i <= len(m.mid) || string(line[i:i+len(m.mid)]) != m.mid {
		m = f.last.next[1]
		if m == nil || len(line)-i <= len(m.mid) || string(line[i:i+len(m.mid)]) != m.mid {
			return false
		}
	}
	i += len(m.mid)
	count := uint64(0)
	if m.count {
		begin := i
		for ; i < len(line) && line[i]-'0' <= 9; i++ {
			count = 10*count + uint64(line[i]-'0')
		}
		if n := i - begin; n == 0 || n > 19 || len(line)-i <= len(sumPrefix)+1 || line[i] != ' ' || string(line[i+1:i+1+len(sumPrefix)]) != sumPrefix {
			return false
		}
		i += 1 + len(sumPrefix)
	}
	value := line[i:]
	if value[0] == '"' || len(value) > MaxText || hasBlank(value) {
		return false
	}
	// Field by field: this is where most of the time goes.
	c := &f.c
	c.Tick, c.System, c.Scope = f.beginTick, m.system, m.scope
	c.Phase, c.Occurrence = Confirmed, 0
	c.Count, c.HasCount = count, m.count
	if cap(c.Sums) == 0 {
		c.Sums = make([]Sum, 1)
	}
	c.Sums = c.Sums[:1]
	c.Sums[0].Name, c.Sums[0].Value = "", value
	f.event = false
	f.last = m
	return true
}

// fastTick takes what a line begins with, up to the blank behind the tick.
func (f *fields) fastTick(line []byte) bool {
	if len(line) < len(tickPrefix) || string(line[:len(tickPrefix)]) != tickPrefix {
		return false
	}
	i := len(tickPrefix)
	tick := uint64(0)
	for ; i < len(line) && line[i]-'0' <= 9; i++ {
		tick = 10*tick + uint64(line[i]-'0')
	}
	if n := i - len(tickPrefix); n == 0 || n > 19 || i == len(line) || line[i] != ' ' {
		return false
	}
	f.begin, f.beginTick = append(f.begin[:0], line[:i+1]...), tick
	return true
}

// hasBlank reports whether a byte of b ends a value. It takes eight at a time.
func hasBlank(b []byte) bool {
	const ones = 0x0101010101010101
	blank := func(x uint64) bool { return (x-ones*(' '+1))&^x&(ones<<7) != 0 }
	if len(b) >= 8 {
		for i := 0; i+8 <= len(b); i += 8 {
			if blank(binary.LittleEndian.Uint64(b[i:])) {
				return true
			}
		}
		return blank(binary.LittleEndian.Uint64(b[len(b)-8:]))
	}
	for _, c := range b {
		if c <= ' ' {
			return true
		}
	}
	return false
}

// learn keeps what a line has between tick and value, if it is of the usual
// form.
func (f *fields) learn(line []byte) {
	f.last = nil
	if len(f.c.Sums) != 1 || f.event || f.c.Phase != Confirmed || bytes.IndexByte(line, '"') >= 0 || !bytes.HasPrefix(line, []byte(tickPrefix)) {
		return
	}
	_, rest, _ := bytes.Cut(line, []byte{' '})
	end := bytes.LastIndex(rest, []byte(sumPrefix))
	if end < 0 || f.c.Sums[0].Name != "" || string(rest[end+len(sumPrefix):]) != string(f.c.Sums[0].Value) {
		return
	}
	mid := rest[:end+len(sumPrefix)]
	if f.c.HasCount {
		i := bytes.LastIndex(rest[:end], []byte(" "+keyCount+"="))
		if i < 0 || string(bytes.TrimLeft(rest[i+len(" n="):end], "0123456789")) != " " {
			return
		}
		mid = rest[:i+len(" n=")]
	}
	m := f.byMid[string(mid)]
	if m == nil {
		if len(f.byMid) >= maxMemos {
			return
		}
		m = &memo{mid: string(mid), system: f.c.System, scope: f.c.Scope, count: f.c.HasCount}
		if f.byMid == nil {
			f.byMid = map[string]*memo{}
		}
		f.byMid[m.mid] = m
	}
	f.last = m
}

const (
	sawEvent = 1 << iota
	sawTick
	sawAt
	sawTo
	sawPlayer
	sawSystem
	sawScope
	sawPhase
	sawCount
)

// parse fills f from a line of key=value pairs. Values of sums are those of the
// line itself.
func (f *fields) parse(line []byte, interned *names) error {
	if f.fast(line) {
		return nil
	}
	before := f.last
	if err := f.parsePairs(line, interned); err != nil {
		return err
	}
	if f.learn(line); f.last != nil && before != nil && before.next[0] != f.last {
		before.next = [2]*memo{f.last, before.next[0]}
	}
	return nil
}

// parsePairs is parse for lines of any form.
func (f *fields) parsePairs(line []byte, interned *names) error {
	sums := f.c.Sums[:0]
	f.c = Checkpoint{}
	f.event, f.seen = false, 0
	i := 0
	for {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			break
		}
		begin := i
		for i < len(line) && line[i] != '=' && line[i] > ' ' {
			i++
		}
		if i == len(line) || line[i] != '=' || i == begin {
			return fmt.Errorf("%s, expected key=value", quoteShort(line[begin:]))
		}
		key := line[begin:i]
		i++
		begin = i
		if i < len(line) && line[i] == '"' {
			q, err := strconv.QuotedPrefix(string(line[i:]))
			if err != nil {
				return fmt.Errorf("%s is not a string in Go's notation", quoteShort(line[i:]))
			}
			i += len(q)
			s, err := strconv.Unquote(q)
			if err != nil || i < len(line) && line[i] != ' ' && line[i] != '\t' {
				return fmt.Errorf("%s is not a string in Go's notation", quoteShort(line[begin:]))
			}
			if sums, err = f.pair(sums, key, []byte(s), interned); err != nil {
				return err
			}
			continue
		}
		for i < len(line) && line[i] > ' ' {
			i++
		}
		var err error
		if sums, err = f.pair(sums, key, line[begin:i], interned); err != nil {
			return err
		}
	}
	f.c.Sums = sums
	return f.finish()
}

// pair takes one pair.
func (f *fields) pair(sums []Sum, key, value []byte, interned *names) ([]Sum, error) {
	var bit uint16
	ok := true
	switch string(key) {
	case keySum:
		return addSum(sums, "", value)
	case keyTick:
		bit = sawTick
		f.c.Tick, ok = parseUint(value, math.MaxUint64)
	case keySystem:
		bit = sawSystem
		f.c.System = interned.intern(value)
	case keyScope:
		bit = sawScope
		f.c.Scope = interned.intern(value)
	case keyPhase:
		bit = sawPhase
		f.c.Phase, ok = parsePhase(value)
	case keyCount:
		bit = sawCount
		f.c.HasCount = true
		f.c.Count, ok = parseUint(value, math.MaxUint64)
	case keyEvent:
		bit = sawEvent
		f.event = true
		f.e.Kind, ok = parseEventKind(value)
	case keyAt:
		bit = sawAt
		f.e.Other, ok = parseUint(value, math.MaxUint64)
	case keyTo:
		bit = sawTo
		f.e.Other, ok = parseUint(value, math.MaxUint64)
	case keyPlayer:
		bit = sawPlayer
		var n uint64
		n, ok = parseUint(value, math.MaxUint32)
		f.e.Player = uint32(n)
	default:
		if name, found := bytes.CutPrefix(key, []byte(keySum+".")); found {
			if len(name) == 0 {
				return sums, fmt.Errorf("key %q without a name", key)
			}
			return addSum(sums, interned.intern(name), value)
		}
		return sums, nil
	}
	if !ok {
		return sums, fmt.Errorf("%s=%s is not in its range", key, quoteShort(value))
	}
	if f.seen&bit != 0 {
		return sums, fmt.Errorf("key %s a second time", key)
	}
	f.seen |= bit
	return sums, nil
}

func addSum(sums []Sum, name string, value []byte) ([]Sum, error) {
	for i := range sums {
		if sums[i].Name == name {
			return sums, fmt.Errorf("sum %q a second time", name)
		}
	}
	switch {
	case len(value) == 0:
		return sums, fmt.Errorf("sum %q is empty", name)
	case len(sums) == MaxSums:
		return sums, fmt.Errorf("more than %d sums", MaxSums)
	case len(value) > MaxText:
		return sums, fmt.Errorf("sum of %d bytes, limit is %d", len(value), MaxText)
	}
	return append(sums, Sum{name, value}), nil
}

// finish checks that the line has what it needs and nothing that does not
// belong.
func (f *fields) finish() error {
	switch {
	case f.seen&sawTick == 0:
		return fmt.Errorf("no tick")
	case !f.event:
		if len(f.c.Sums) == 0 && !f.c.HasCount {
			return fmt.Errorf("neither sum nor n")
		}
		if len(f.c.System) > MaxText || len(f.c.Scope) > MaxText {
			return fmt.Errorf("name of more than %d bytes", MaxText)
		}
		return nil
	}
	kind := eventKinds[f.e.Kind]
	if f.seen&(sawSystem|sawScope|sawCount) != 0 ||
		f.seen&(sawPlayer|sawPhase) != 0 && !kind.player ||
		f.seen&sawAt != 0 && kind.other != keyAt || f.seen&sawTo != 0 && kind.other != keyTo {
		return fmt.Errorf("%s event with a key that it has no use for", f.e.Kind)
	}
	e := Event{Kind: f.e.Kind, Tick: f.c.Tick, Phase: f.c.Phase, Sums: f.c.Sums}
	if f.seen&(sawAt|sawTo) != 0 {
		e.Other = f.e.Other
	}
	if f.seen&sawPlayer != 0 {
		e.Player = f.e.Player
	}
	f.e = e
	return nil
}

func parseUint(b []byte, limit uint64) (uint64, bool) {
	if len(b) == 0 || len(b) > 20 {
		return 0, false
	}
	n := uint64(0)
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		if n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = 10*n + d
	}
	return n, n <= limit
}

func parsePhase(b []byte) (Phase, bool) {
	for p, name := range phaseNames {
		if string(b) == name {
			return Phase(p), true
		}
	}
	return 0, false
}

func parseEventKind(b []byte) (EventKind, bool) {
	for k := Save; k.known(); k++ {
		if string(b) == eventKinds[k].name {
			return k, true
		}
	}
	return 0, false
}

// quoteShort quotes what may be long and anything.
func quoteShort(b []byte) string {
	if len(b) > 40 {
		return strconv.Quote(string(b[:40])) + "…"
	}
	return strconv.Quote(string(b))
}

// appendPairs appends the canonical line of a record, without its end.
func appendPairs(b []byte, r *Record) []byte {
	if e := r.Event; e != nil {
		b = append(b, keyEvent+"="...)
		b = append(b, e.Kind.String()...)
		b = appendNumber(b, keyTick, e.Tick)
		if other := eventKinds[e.Kind].other; other != "" {
			b = appendNumber(b, other, e.Other)
		}
		if eventKinds[e.Kind].player {
			b = appendNumber(b, keyPlayer, uint64(e.Player))
			b = appendPhase(b, e.Phase)
		}
		return appendSums(b, e.Sums)
	}
	c := r.Checkpoint
	b = append(b, keyTick+"="...)
	b = strconv.AppendUint(b, c.Tick, 10)
	b = appendName(b, keySystem, c.System)
	b = appendName(b, keyScope, c.Scope)
	b = appendPhase(b, c.Phase)
	if c.HasCount {
		b = appendNumber(b, keyCount, c.Count)
	}
	return appendSums(b, c.Sums)
}

func appendNumber(b []byte, key string, n uint64) []byte {
	b = append(append(append(b, ' '), key...), '=')
	return strconv.AppendUint(b, n, 10)
}

func appendName(b []byte, key, name string) []byte {
	if name == "" {
		return b
	}
	return appendValue(append(append(append(b, ' '), key...), '='), name)
}

// appendPhase appends the phase unless it is the usual one.
func appendPhase(b []byte, p Phase) []byte {
	if p == Confirmed {
		return b
	}
	return append(append(b, " "+keyPhase+"="...), p.String()...)
}

func appendSums(b []byte, sums []Sum) []byte {
	for _, s := range sums {
		b = append(b, " "+keySum...)
		if s.Name != "" {
			b = append(append(b, '.'), s.Name...)
		}
		b = appendValue(append(b, '='), string(s.Value))
	}
	return b
}

// appendValue appends a value as it is, or quoted if a reader would not take it
// for one or a terminal would take it for more.
func appendValue(b []byte, v string) []byte {
	if v == "" || v[0] == '"' || strings.ContainsFunc(v, func(c rune) bool {
		return c <= ' ' || c == utf8.RuneError || !strconv.IsPrint(c)
	}) {
		return strconv.AppendQuote(b, v)
	}
	return append(b, v...)
}

// plainName reports whether a sum's name can stand in a key.
func plainName(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c == '=' || c == '"' || c == utf8.RuneError || !strconv.IsPrint(c)
	})
}

// textHeader is what the lines that begin with a percent sign have said.
type textHeader struct {
	Header
	begun, ended bool
	seen         []string
	trouble      string // what %torn or %corrupt says
}

// line takes one line that begins with a percent sign.
func (h *textHeader) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if h.ended {
		return fmt.Errorf("line behind the end")
	}
	switch word {
	case "%meta":
	case "%desynctool", "%seed", "%peer", "%build", "%rate":
		if slices.Contains(h.seen, word) {
			return fmt.Errorf("%s a second time", word)
		}
		h.seen = append(h.seen, word)
	}
	var err error
	switch word {
	case "%desynctool":
		if line != textBegin {
			return fmt.Errorf("%s, expected %s", quoteShort([]byte(line)), textBegin)
		}
		h.begun = true
	case "%seed":
		n, ok := parseUint([]byte(rest), math.MaxUint64)
		if !ok {
			return fmt.Errorf("seed is %s", quoteShort([]byte(rest)))
		}
		h.Seed, h.HasSeed = n, true
	case "%peer":
		h.Peer, err = unquote(rest)
	case "%build":
		h.Build, err = unquote(rest)
	case "%rate":
		num, den, _ := strings.Cut(rest, "/")
		n, ok := parseUint([]byte(num), math.MaxUint32)
		d, ok2 := parseUint([]byte(den), math.MaxUint32)
		if !ok || !ok2 || n == 0 || d == 0 {
			return fmt.Errorf("tick rate is %s, expected ticks/seconds", quoteShort([]byte(rest)))
		}
		h.RateNum, h.RateDen = uint32(n), uint32(d)
	case "%meta":
		key, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return fmt.Errorf("%s is not a string in Go's notation", quoteShort([]byte(rest)))
		}
		value, err := unquote(strings.TrimPrefix(rest[len(key):], " "))
		if err != nil {
			return err
		}
		if key, err = unquote(key); err != nil {
			return err
		}
		if h.Meta == nil {
			h.Meta = map[string]string{}
		}
		if len(h.Meta) == maxMeta {
			return fmt.Errorf("more than %d pairs of meta", maxMeta)
		}
		if _, twice := h.Meta[key]; twice {
			return fmt.Errorf("meta %q a second time", key)
		}
		h.Meta[key] = value
	case textEnd:
		h.ended = true
	case textTorn, textCorrupt:
		h.ended = true
		h.trouble = line[1:]
	default:
		return fmt.Errorf("unknown %s", quoteShort([]byte(line)))
	}
	return err
}

func unquote(s string) (string, error) {
	out, err := strconv.Unquote(s)
	if err != nil || s[0] != '"' {
		return "", fmt.Errorf("%s is not a string in Go's notation", quoteShort([]byte(s)))
	}
	if len(out) > MaxText {
		return "", fmt.Errorf("text of %d bytes, limit is %d", len(out), MaxText)
	}
	return out, nil
}
