package rimworld

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

// claims reads where the mod reports that the sides diverged: the trace at the head of the file, or a note that no
// trace differs.
func claims(in io.Reader, name string) (*tracediff.ClaimLog, error) {
	p := newParser(in, name)
	head := p.lines.Peek(tracediff.SniffLen)
	if !sniff(head) {
		return nil, p.lines.Unrecognized("expected traces of %s", title)
	}
	log := &tracediff.ClaimLog{File: name, Dialect: dialect(), Peer: side(name)}
	for _, begin := range emptyHeads {
		if text, _, _ := strings.Cut(string(head), "\n"); strings.HasPrefix(text, begin) {
			log.Claims = []tracediff.Claim{{File: name, Pos: tracediff.Position{Line: 1}, Text: shorten(strings.TrimSpace(text))}}
			return log, nil
		}
	}
	var t item
	first, ok, err := p.next(&t)
	for err != nil && ok && !p.context { // a line that is not a trace
		first, ok, err = p.next(&t)
	}
	if p.note != "" {
		claim := tracediff.Claim{File: name, Pos: tracediff.Position{Line: p.noteLine}, Text: p.note}
		if first {
			claim.Detail = p.say(&t)
		}
		log.Claims = []tracediff.Claim{claim}
	} else if first {
		log.Claims = []tracediff.Claim{{
			File: name, Pos: t.pos, Text: shorten(firstHead + " " + t.line), Tick: t.tick, HasTick: true, Detail: p.say(&t),
		}}
	}
	if p.cut != nil && p.cut != io.EOF && !errors.Is(p.cut, frame.ErrTorn) {
		return nil, p.cut
	}
	return log, nil
}

// say returns the trace's number among all, tick and hash, then its context and the stack.
func (p *parser) say(t *item) []tracediff.Detail {
	which := fmt.Sprintf("trace %d", t.number)
	if p.hasCount {
		which += fmt.Sprintf(" of %d", p.count)
	}
	which += fmt.Sprintf(": tick %d, hash %s", t.tick, t.hash)
	if t.rng != "" {
		which += ", state of the random number generator " + t.rng
	}
	return t.details([]tracediff.Detail{{Text: which}})
}
