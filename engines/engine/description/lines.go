package description

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// maxPeers is how many peers of one log are kept apart.
	maxPeers = 256
)

// Trace returns the format of logs with the lines and the claims that the page has patterns for; nil if it has neither.
func (d *Description) Trace() *tracediff.Format {
	if len(d.Lines)+len(d.Messages) == 0 {
		return nil
	}
	l := engine.Lines{
		Name: "described-log", Title: d.logTitle(), Sniff: d.sniff,
		Dialect: func(int) tracediff.Dialect { return d.dialect() },
		Parser:  d.parser,
	}
	if len(d.Lines) > 0 && d.Lines[0].Peer != "" {
		l.Peers = d.peersOf
	}
	f := l.Format()
	if len(d.Lines) == 0 {
		f.Read = nil
	}
	if len(d.Messages) > 0 {
		f.Claims = d.grammar().Read
	}
	return &f
}

// dialect returns the dialect of a log. A dump with the same number was written at the same moment: its tick is a
// state point, unless the page has it otherwise.
func (d *Description) dialect() tracediff.Dialect {
	out := tracediff.Dialect{
		Engine: d.engine(), File: d.logTitle(), Endless: true,
		Covers: d.Sums.Covers, Cumulative: d.Sums.Cumulative, Values: d.Sums.Values, Lossy: !d.Sums.Complete, AtPoint: !d.Sums.After,
	}
	if d.Unit != "" {
		out.TickName = messages.TickName(d.Unit)
	}
	return out
}

// logTitle returns the title of the game's logs.
func (d *Description) logTitle() string { return d.Source + " of " + d.engine() }

// sniff reports whether a line of the leading bytes of a file has a checkpoint.
func (d *Description) sniff(head []byte) bool {
	var c Checkpoint
	for line := range engine.WholeLines(head) {
		if ok, _ := d.Checkpoint(line, &c); ok {
			return true
		}
	}
	return false
}

// Checkpoint is a checkpoint of a line and the peer that it belongs to.
type Checkpoint struct {
	tracediff.Checkpoint
	Peer string // empty if the line does not name it
}

// Checkpoint reads a line by the first pattern that fits. Misfit is the fault of a line that a pattern fits and that is
// no checkpoint.
func (d *Description) Checkpoint(line []byte, to *Checkpoint) (ok bool, misfit string) {
	for _, p := range d.Lines {
		places := p.FindSubmatchIndex(line)
		if places == nil {
			continue
		}
		match := &messages.Match{Pattern: p.Regexp, Text: line, Places: places}
		if misfit = p.checkpoint(match, to); misfit == "" {
			to.Tick /= d.Stride
			return true, ""
		}
	}
	return false, misfit
}

// checkpoint sets a checkpoint by a match, and returns its fault.
func (p *Pattern) checkpoint(m *messages.Match, to *Checkpoint) (misfit string) {
	*to = Checkpoint{Checkpoint: tracediff.Checkpoint{Sums: to.Sums[:0]}, Peer: expand(m, p.Peer)}
	tick, ok := TickOf(m.Group("tick"))
	if !ok {
		return fmt.Sprintf("the tick is %.40q, expected a number", m.Group("tick"))
	}
	to.Tick = tick
	to.System, to.Scope = nameOf(m.Group("system")), expand(m, p.Scope)
	for i, name := range p.SubexpNames() {
		if name != "sum" && !strings.HasPrefix(name, "sum_") || m.Places[2*i] < 0 {
			continue
		}
		sum := m.Text[m.Places[2*i]:m.Places[2*i+1]]
		if len(sum) == 0 || len(sum) > tracediff.MaxText {
			return fmt.Sprintf("the checksum has %d bytes, expected 1 to %d", len(sum), tracediff.MaxText)
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "sum"), "_")
		to.Sums = append(to.Sums, tracediff.Sum{Name: name, Value: sum})
	}
	switch {
	case len(to.Sums) == 0:
		return "it has no checksum"
	case to.Peer == "" && p.Peer != "":
		return "it names no peer"
	}
	return ""
}

// TickOf parses a tick: decimal digits, or hexadecimal ones after 0x.
func TickOf(digits []byte) (uint64, bool) {
	text, base := string(digits), 10
	if len(text) > 2 && strings.EqualFold(text[:2], "0x") {
		text, base = text[2:], 16
	}
	tick, err := strconv.ParseUint(text, base, 63)
	return tick, err == nil
}

// expand returns a template with the texts of groups.
func expand(m *messages.Match, template string) string {
	if template == "" {
		return ""
	}
	return nameOf(m.Expand(template))
}

// nameOf returns a name as reports may show it.
func nameOf(name []byte) string {
	return strings.ToValidUTF8(string(name[:min(len(name), tracediff.MaxText)]), "\uFFFD")
}

// peers numbers the peers of a log in the order in which it names them.
type peers map[string]int

func (p peers) number(name string) int {
	n, ok := p[name]
	if !ok {
		n = len(p)
		if n < maxPeers {
			p[name] = n
		}
	}
	return n
}

// parser returns what reads the lines of a peer.
func (d *Description) parser(peer int) func(line []byte, to *tracediff.Checkpoint) bool {
	seen := peers{}
	var c Checkpoint
	return func(line []byte, to *tracediff.Checkpoint) bool {
		if ok, _ := d.Checkpoint(line, &c); !ok || c.Peer != "" && seen.number(c.Peer) != peer {
			return false
		}
		*to = c.Checkpoint
		return true
	}
}

// peersOf returns the peers of a log with lines that name them.
func (d *Description) peersOf(r io.Reader, name string) ([]string, error) {
	seen := peers{}
	var c Checkpoint
	err := engine.EachLine(r, name, func(line []byte, _ tracediff.Position) bool {
		if ok, _ := d.Checkpoint(line, &c); ok && c.Peer != "" {
			seen.number(c.Peer)
		}
		return true
	})
	if err != nil || len(seen) == 0 {
		return nil, err
	}
	out := make([]string, len(seen))
	for name, n := range seen {
		out[n] = name
	}
	return out, nil
}
