package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	traceMagic = "\x89DTR\r\n\x1a\n"

	maxSums = 256

	maxSystems = 256 // of a tick, for the comparison of their order
	maxNames   = 1 << 20
	maxMeta    = 1 << 16
	maxBatch   = 1 << 20 // bytes of checkpoints after which a frame ends before its tick does
	epochGap   = 256     // ticks that a rollback goes back at most without a restore
)

// Kinds of frames of a binary trace.
const (
	traceHeader      = 1
	traceNames       = 2
	traceCheckpoints = 3
	traceEvent       = 4
)

// Kinds of events.
const (
	eventSave        = 1
	eventRestore     = 2
	eventResimulate  = 3
	eventInput       = 4
	phaseConfirmed   = 0
	phasePredicted   = 1
	checkpointFields = 4
)

// steps follows the order of a trace's checkpoints.
type steps struct {
	c       *checker
	started bool
	tick    uint64
	now     []string // systems of this pass over the tick, as they came first
	before  map[string]int
	leaps   bool // back, without a restore before them
	free    bool // a restore came last
}

// checkpoint takes the next checkpoint.
func (s *steps) checkpoint(at func() place, tick uint64, system, scope string) {
	if !s.started || tick != s.tick {
		if s.started && tick < s.tick && !s.free && !s.leaps {
			s.leaps = true
			if s.tick-tick > epochGap {
				s.c.add("trace-back", at(), "tick %d follows tick %d without a restore event: a reader takes it for a state that was replaced", tick, s.tick)
			} else {
				s.c.add("trace-back", at(), "tick %d follows tick %d without a restore event: the restored state cannot be checked", tick, s.tick)
			}
		}
		s.end()
		s.started, s.tick, s.free = true, tick, false
	}
	if system != "" && len(s.now) < maxSystems {
		if n := len(s.now); n == 0 || s.now[n-1] != system {
			if i := slices.Index(s.now, system); i < 0 {
				s.order(at, system)
				s.now = append(s.now, system)
			}
		}
	}
}

// order compares the place of a system in its tick with the tick before.
func (s *steps) order(at func() place, system string) {
	if n := len(s.now); n > 0 {
		a, okA := s.before[s.now[n-1]]
		b, okB := s.before[system]
		if okA && okB && b < a {
			s.c.once("trace-order", at(), "system %s comes after %s, in the tick before it came before it", quoted(system), quoted(s.now[n-1]))
		}
	}
}

func (s *steps) end() {
	if len(s.now) == 0 {
		return
	}
	s.before = map[string]int{}
	for i, name := range s.now {
		s.before[name] = i
	}
	s.now = s.now[:0]
}

// event takes the next event.
func (s *steps) event(kind uint64) {
	if kind == eventRestore || kind == eventResimulate {
		s.free = true
		s.now = s.now[:0] // a pass may end inside a tick
	}
}

type traceChecker struct {
	c *checker
	w walker

	known  facts
	names  []string // of the file so far
	has    map[string]bool
	steps  steps
	tick   uint64 // of the frame of checkpoints before
	follow bool   // the frame before is one of checkpoints, or of names after one
	bytes  int    // of it
	usedTo int    // names up to this number have been used
	named  bool   // the frame before is one of names
	lost   bool   // a record could not be read: names may have come first in it
}

func checkTrace(c *checker, in *input) (facts, error) {
	t := &traceChecker{c: c, names: []string{""}, has: map[string]bool{"": true}, usedTo: 1, steps: steps{c: c}}
	err := readFrames(c, in.content, t.frame)
	return t.known, err
}

func (t *traceChecker) frame(n int, offset int64, kind uint32, payload []byte) {
	in := fmt.Sprintf("frame %d", n)
	t.w = walker{
		c: t.c, b: payload, base: offset, in: in, most: maxText,
		value: "trace-value", shape: "trace-type", shortest: "trace-shortest", text: "trace-limit", utf8: "trace-utf8",
	}
	where := offsetAt(offset, in)
	if n == 0 && kind != traceHeader {
		t.c.add("trace-header-first", where, "the first frame has kind %d, expected %d, the header", kind, traceHeader)
	}
	switch kind {
	case traceHeader:
		if n > 0 {
			t.c.add("trace-header-first", where, "a second header")
			return
		}
		t.header()
	case traceNames:
		t.addNames(where)
	case traceCheckpoints:
		t.checkpoints()
	case traceEvent:
		t.event()
		t.follow = false
	default:
		t.c.add("trace-kind", where, "the frame has kind %d", kind)
		t.follow = false
	}
	t.named = kind == traceNames
	t.lost = t.lost || t.w.bad
}

func (t *traceChecker) header() {
	w := &t.w
	w.in += ", header"
	w.tuple(5, "the header")
	at := w.at
	switch n := w.array("the seed"); {
	case w.bad, n == 0:
	case n == 1:
		t.known.seed, t.known.seeded = w.uint(math.MaxUint64, "the seed"), true
	default:
		w.fail("trace-type", at, "%d seeds, expected none or one", n)
	}
	w.str("the peer's name")
	build := w.str("the build")
	at = w.at
	w.tuple(2, "the tick rate")
	num, den := w.uint(math.MaxUint32, "the tick rate"), w.uint(math.MaxUint32, "the tick rate")
	if !w.bad && (num == 0) != (den == 0) {
		w.note("trace-rate", at, "the tick rate is %d/%d", num, den)
	}
	last := ""
	at = w.at
	pairs := w.array("the pairs")
	if pairs > maxMeta {
		w.note("trace-limit", at, "%d pairs, at most %d are allowed", pairs, maxMeta)
	}
	for i := range pairs {
		at := w.at
		what := fmt.Sprintf("pair %d", i)
		w.tuple(2, what)
		key := w.str("the key of " + what)
		w.str("the value of " + what)
		if w.bad {
			return
		}
		if i > 0 && key <= last {
			w.note("trace-meta", at, "%s follows %s", quoted(key), quoted(last))
		}
		last = key
		factName(t.c, w.place(at), key)
	}
	w.finish()
	if !w.bad && build == "" {
		w.note("record-build", 0, "no build")
	}
	if !w.bad && num == 0 && den == 0 {
		w.note("record-rate", 0, "no tick rate")
	}
}

func (t *traceChecker) addNames(where place) {
	w := &t.w
	if t.named {
		t.c.once("trace-numbering", where, "two frames of names after each other")
	}
	for i := range w.array("the names") {
		at := w.at
		name := w.str(fmt.Sprintf("name %d", i))
		if w.bad {
			return
		}
		if t.has[name] {
			t.c.once("trace-numbering", w.place(at), "%s has a number already", quoted(name))
		}
		if len(t.names) == maxNames {
			w.fail("trace-limit", at, "more than %d names", maxNames)
			return
		}
		t.names = append(t.names, name)
		t.has[name] = true
	}
	w.finish()
}

// name reads the number of a name.
func (t *traceChecker) name(what string) string {
	w := &t.w
	at := w.at
	id := w.uint(math.MaxUint64, what)
	if w.bad {
		return ""
	}
	if id >= uint64(len(t.names)) {
		w.fail("trace-name", at, "%s has number %d, the list has %d names", what, id, len(t.names))
		return ""
	}
	switch {
	case t.lost:
	case id == uint64(t.usedTo):
		t.usedTo++
	case id > uint64(t.usedTo):
		t.c.once("trace-numbering", w.place(at), "%s has number %d, which comes before number %d", what, id, t.usedTo)
		t.usedTo = int(id) + 1
	}
	return t.names[id]
}

func (t *traceChecker) phase(what string) uint64 {
	w := &t.w
	at := w.at
	phase := w.uint(math.MaxUint8, "the phase")
	if !w.bad && phase > phasePredicted {
		w.note("trace-phase", at, "the phase of %s is %d, expected 0 or 1", what, phase)
	}
	return phase
}

func (t *traceChecker) checkpoints() {
	w := &t.w
	w.tuple(2, "the checkpoints")
	tick := w.uint(math.MaxUint64, "the tick")
	at := w.at
	n := w.array("the checkpoints")
	if w.bad {
		return
	}
	w.in = fmt.Sprintf("%s, tick %d", w.in, tick)
	if n == 0 {
		w.note("trace-checkpoints", at, "a frame of no checkpoints")
	}
	if t.follow && t.tick == tick && t.bytes < maxBatch {
		t.c.once("trace-batch", w.place(0), "a second frame of the same tick, after one of %d bytes", t.bytes)
	}
	t.follow, t.tick, t.bytes = true, tick, len(w.b)
	for i := range n {
		w.part, w.i = "checkpoint", i
		at := w.at
		fields := w.array("the checkpoint")
		if !w.bad && fields != checkpointFields && fields != checkpointFields+1 {
			w.fail("trace-type", at, "the checkpoint has %d elements, expected 4 or 5", fields)
		}
		system, scope := t.name("the system"), t.name("the scope")
		t.phase("the checkpoint")
		sums := t.sums()
		if fields > checkpointFields {
			w.uint(math.MaxUint64, "the count")
		} else if !w.bad && sums == 0 {
			w.note("trace-nothing", at, "neither a sum nor a count")
		}
		if w.bad {
			return
		}
		t.steps.checkpoint(func() place { return w.place(at) }, tick, system, scope)
	}
	w.part = ""
	w.finish()
}

func (t *traceChecker) event() {
	w := &t.w
	w.in += ", event"
	w.tuple(6, "the event")
	at := w.at
	kind := w.uint(math.MaxUint8, "the event's kind")
	if !w.bad && (kind < eventSave || kind > eventInput) {
		w.fail("trace-event", at, "the event has kind %d, expected 1 to 4", kind)
	}
	w.uint(math.MaxUint64, "the tick")
	otherAt := w.at
	other := w.uint(math.MaxUint64, "the second tick")
	playerAt := w.at
	player := w.uint(math.MaxUint32, "the player")
	phase := t.phase("the event")
	t.sums()
	w.finish()
	if w.bad {
		return
	}
	if other != 0 && kind != eventRestore && kind != eventResimulate {
		w.note("trace-unused", otherAt, "the second tick is %d in an event of kind %d, which has no use for it", other, kind)
	}
	if (player != 0 || phase != phaseConfirmed) && kind != eventInput {
		w.note("trace-unused", playerAt, "player %d and phase %d in an event of kind %d, which has no use for them", player, phase, kind)
	}
	t.steps.event(kind)
}

// sums reads sums and returns how many they are.
func (t *traceChecker) sums() int {
	w := &t.w
	at := w.at
	n := w.array("the sums")
	if n > maxSums {
		w.fail("trace-limit", at, "%d sums, at most %d are allowed", n, maxSums)
	}
	names := make([]string, 0, 8)
	for range n {
		at := w.at
		w.tuple(2, "the sum")
		name := t.name("the sum")
		if w.bad {
			return n
		}
		if slices.Contains(names, name) {
			w.note("trace-sum-twice", at, "sum %s a second time", quoted(name))
		}
		names = append(names, name)
		if !plainName(name) {
			w.note("trace-sum-name", at, "the sum is named %s", quoted(name))
		}
		valueAt := w.at
		if w.at < len(w.b) && w.b[w.at] >= 0xc4 && w.b[w.at] <= 0xc6 {
			b := w.bin("the value")
			if !w.bad && len(b) == 0 {
				w.note("trace-sum-empty", valueAt, "the value of sum %s is empty", quoted(name))
			}
			if len(b) > maxText/2-1 {
				w.note("trace-limit", valueAt, "the value has %d bytes, which are more than %d in the text", len(b), maxText)
			}
			continue
		}
		s := w.str("the value")
		switch {
		case w.bad:
			return n
		case s == "":
			w.note("trace-sum-empty", valueAt, "the value of sum %s is empty", quoted(name))
		case looksLikeBytes(s):
			w.note("trace-sum-bytes", valueAt, "the value %s is a str, expected a bin", quoted(s))
		}
	}
	return n
}

// looksLikeBytes reports whether a value is bytes in the text: 0x and pairs of lower-case hex
// digits.
func looksLikeBytes(s string) bool {
	digits, ok := strings.CutPrefix(s, "0x")
	return ok && len(digits) > 0 && len(digits)%2 == 0 && strings.Trim(digits, "0123456789abcdef") == ""
}

// plainName reports whether a name can be used in a key of the text.
func plainName(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == '=' || r == '"' || r == utf8.RuneError || !strconv.IsPrint(r)
	})
}
