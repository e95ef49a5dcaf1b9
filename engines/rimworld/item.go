package rimworld

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

// item is one of the mod's traces.
type item struct {
	number int64 // among all of the peer's, from 0; -1 if there is none
	tick   uint64
	hash   string // a signed decimal number, as written
	line   string // the line that begins it, without blanks around it
	pos    tracediff.Position

	// The text in quotes, if it has the shape of a trace with a stack. Info is the rest, or all of it.
	gameTick, thing, faction, rng, info string
	depth                               int // frames that it should have, -1 if it does not state a number
	// stack are the lines that follow, frames taken apart.
	stack []tracediff.Detail
	more  int // lines left out, since there are too many
}

// maxDepth is how many frames the mod keeps of a stack.
const maxDepth = 32

// stated is the text in quotes: the game's tick, the thing, the faction (the name may have blanks and numbers, or be
// empty), the number of frames and the state of the generator, then mostly nothing.
var stated = lazyregexp.New(`^(-?\d+) (\S+)( .*) (\d{1,2}) (\d{1,20}) (.*)$`)

// begins reports whether a line begins a trace.
func begins(line []byte) bool {
	return len(line) > 0 && (line[0] == '-' || '0' <= line[0] && line[0] <= '9') && traceLine.Match(line)
}

// parse reads the line that begins a trace. It reports false if the line does not.
func (t *item) parse(line []byte, pos tracediff.Position) (bool, error) {
	if !begins(line) {
		return false, nil
	}
	m := traceLine.FindSubmatch(line)
	*t = item{pos: pos, line: string(line), hash: string(m[3]), depth: -1, stack: t.stack[:0]}
	number, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil || number < 0 {
		return true, fmt.Errorf("trace number %s, expected one from 0", m[1])
	}
	tick, err := strconv.ParseInt(string(m[2]), 10, 64)
	if err != nil || tick < 0 {
		return true, fmt.Errorf("tick %s, expected one from 0", m[2])
	}
	if _, err := strconv.ParseInt(t.hash, 10, 32); err != nil {
		return true, fmt.Errorf("hash %s, expected a number of 32 bits", t.hash)
	}
	t.number, t.tick = number, uint64(tick)
	quoted, whole := bytes.CutSuffix(m[4], []byte("'"))
	t.info = string(quoted)
	s := stated.FindSubmatch(quoted)
	if !whole || s == nil {
		return true, nil
	}
	depth, _ := strconv.Atoi(string(s[4]))
	if _, err := strconv.ParseUint(string(s[5]), 10, 64); err != nil || depth > maxDepth {
		return true, nil
	}
	t.gameTick, t.thing, t.faction, t.rng, t.info = string(s[1]), string(s[2]), string(s[3][1:]), string(s[5]), string(s[6])
	t.depth = depth
	return true, nil
}

// add takes a line of the stack.
func (t *item) add(line []byte) {
	if len(t.stack) == tracediff.MaxDetails-2 {
		t.more++
		return
	}
	t.stack = append(t.stack, takeApart(line))
}

// cut reports whether the stack has fewer frames than the trace states.
func (t *item) cut() bool { return len(t.stack) < t.depth }

// context describes what the trace belongs to: the thing that was ticked, its faction, and the tick.
func (t *item) context() tracediff.Detail {
	text := t.info
	if t.rng != "" {
		text = fmt.Sprintf("thing %s, faction %s, game tick %s", t.thing, or(t.faction), t.gameTick)
		if t.info != "" {
			text += ", " + t.info
		}
	}
	return tracediff.Detail{Text: shorten(text)}
}

func or(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// details are the context and the frames, so that line N is frame N.
func (t *item) details(to []tracediff.Detail) []tracediff.Detail {
	to = append(to, t.context())
	to = append(to, t.stack...)
	switch {
	case t.more > 0:
		to = append(to, tracediff.Detail{Text: fmt.Sprintf("… and %d more lines", t.more)})
	case t.cut():
		to = append(to, tracediff.Detail{Text: fmt.Sprintf("… the file has %d of %d frames", len(t.stack), t.depth)})
	}
	return to
}

func shorten(text string) string {
	if len(text) > tracediff.MaxDetail {
		return text[:tracediff.MaxDetail]
	}
	return text
}

// dynamic is the runtime's prefix for the name of a method to which code was added at run time.
const dynamic = "MonoMod.Utils.DynamicMethodDefinition"

// takeApart splits a line of a stack: the method, by its own name if code was added to it at run time, and aside the
// place in it. The module is left out: such a method's module has another identifier each time.
func takeApart(line []byte) tracediff.Detail {
	if string(line) == "Null" {
		return tracediff.Detail{Text: "a method without a name"}
	}
	text := strings.TrimPrefix(string(line), "at ")
	if i := strings.LastIndex(text, " in <"); i >= 0 {
		if _, number, ok := strings.Cut(text[i:], ">:"); ok && digits(number) {
			text = text[:i]
		}
	}
	aside := ""
	if i := strings.LastIndex(text, "[0x"); i > 0 && strings.HasSuffix(text, "]") {
		aside, text = text[i:], strings.TrimRight(text[:i], " ")
	}
	if rest, ok := strings.CutPrefix(text, "(wrapper "); ok {
		if _, method, ok := strings.Cut(rest, ") "); ok {
			text = method
		}
	}
	if rest, ok := strings.CutPrefix(text, dynamic); ok && len(rest) > 1 && (rest[0] == '.' || rest[0] == ':') {
		text = rest[1:]
	}
	if before, after, ok := strings.Cut(text, "_Patch"); ok {
		number, call, _ := strings.Cut(after, "(")
		if number = strings.TrimSuffix(number, " "); digits(number) {
			text = before + after[len(number):len(after)-len(call)] + call
		}
	}
	return tracediff.Detail{Text: shorten(text), Aside: shorten(aside)}
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
