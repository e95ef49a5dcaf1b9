package description

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// maxPeers is how many peers of one log are told apart.
	maxPeers = 256
	// maxText is how many bytes of a line are kept as the text of a claim.
	maxText = 1 << 10
)

// Trace returns the format of logs with the lines and the claims that the page has patterns for; nil if it has neither.
func (d *Description) Trace() *tracediff.Format {
	if len(d.Lines)+len(d.Claims) == 0 {
		return nil
	}
	l := engine.Lines{
		Name: "described-log", Title: "log of " + d.Game, Sniff: func([]byte) bool { return false },
		Dialect: func(int) tracediff.Dialect { return d.dialect() },
		Parser:  d.parser,
	}
	if len(d.Lines) > 0 && d.Lines[0].has("peer") {
		l.Peers = d.peersOf
	}
	f := l.Format()
	if len(d.Lines) == 0 {
		f.Read = nil
	}
	if len(d.Claims) > 0 {
		f.Claims = d.claims
	}
	return &f
}

// dialect returns the dialect of a log. A dump with the same number was written at the same moment: its tick is a
// state point.
func (d *Description) dialect() tracediff.Dialect {
	return tracediff.Dialect{Engine: d.Game, File: "log of " + d.Game, Endless: true, Lossy: true, AtPoint: true}
}

// Checkpoint is a checkpoint of a line and whose it is.
type Checkpoint struct {
	tracediff.Checkpoint
	Peer string // empty if the line does not name it
}

// Checkpoint reads a line by the first pattern that fits. Misfit is the fault of a line that a pattern fits and that is
// no checkpoint.
func (d *Description) Checkpoint(line []byte, to *Checkpoint) (ok bool, misfit string) {
	for _, p := range d.Lines {
		match := p.FindSubmatch(line)
		if match == nil {
			continue
		}
		if misfit = p.checkpoint(match, to); misfit == "" {
			return true, ""
		}
	}
	return false, misfit
}

// checkpoint sets a checkpoint by a match, and returns its fault.
func (p *Pattern) checkpoint(match [][]byte, to *Checkpoint) (misfit string) {
	*to = Checkpoint{Checkpoint: tracediff.Checkpoint{Sums: to.Sums[:0]}, Peer: peerOf(p.Group(match, "peer"))}
	tick, ok := TickOf(p.Group(match, "tick"))
	if !ok {
		return fmt.Sprintf("the tick is %.40q, expected a number", p.Group(match, "tick"))
	}
	to.Tick = tick
	to.System = peerOf(p.Group(match, "system"))
	for i, name := range p.SubexpNames() {
		if name != "sum" && !strings.HasPrefix(name, "sum_") || match[i] == nil {
			continue
		}
		if len(match[i]) == 0 || len(match[i]) > tracediff.MaxText {
			return fmt.Sprintf("the checksum has %d bytes, expected 1 to %d", len(match[i]), tracediff.MaxText)
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "sum"), "_")
		to.Sums = append(to.Sums, tracediff.Sum{Name: name, Value: match[i]})
	}
	switch {
	case len(to.Sums) == 0:
		return "it has no checksum"
	case to.Peer == "" && p.has("peer"):
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

// peerOf returns a name as reports may show it.
func peerOf(name []byte) string {
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
		ok, _ := d.Checkpoint(line, &c)
		if !ok || c.Peer != "" && seen.number(c.Peer) != peer {
			return false
		}
		*to = c.Checkpoint
		return true
	}
}

// peersOf returns the peers of a log whose lines name them.
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

// Claim reads a line by the first pattern that fits; nil if none does. Misfit is the fault of a line that a pattern fits
// and that is no claim.
func (d *Description) Claim(line []byte) (c *tracediff.Claim, misfit string) {
	for _, p := range d.Claims {
		match := p.FindSubmatch(line)
		if match == nil {
			continue
		}
		if c, misfit = p.claim(line, match); c != nil {
			return c, ""
		}
	}
	return nil, misfit
}

// claim returns the claim of a match.
func (p *Pattern) claim(line []byte, match [][]byte) (*tracediff.Claim, string) {
	text := bytes.TrimSpace(line[:min(len(line), maxText)])
	c := &tracediff.Claim{Text: strings.ToValidUTF8(string(text), "\uFFFD")}
	if digits := p.Group(match, "tick"); len(digits) > 0 {
		if c.Tick, c.HasTick = TickOf(digits); !c.HasTick {
			return nil, fmt.Sprintf("the tick is %.40q, expected a number", digits)
		}
	}
	accused := peerOf(p.Group(match, "peer"))
	if accused != "" {
		c.Peers = []string{accused}
	}
	if local := peerOf(p.Group(match, "local")); local != "" {
		c.By = "local"
		c.Values = append(c.Values, tracediff.ClaimedValue{Peer: c.By, Value: local})
	}
	if remote := peerOf(p.Group(match, "remote")); remote != "" {
		c.Values = append(c.Values, tracediff.ClaimedValue{Peer: cmp.Or(accused, "remote"), Value: remote})
	}
	if !c.HasTick && len(c.Peers) == 0 && len(c.Values) == 0 {
		return nil, "all groups are empty"
	}
	return c, ""
}

// claims reads the claims in a log.
func (d *Description) claims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	out := &tracediff.ClaimLog{File: name, Dialect: d.dialect()}
	dropped := int64(0)
	lines := orderlog.NewLines(r, name)
	for {
		line, err := engine.NextLine(lines)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		c, _ := d.Claim(line)
		switch {
		case c == nil:
		case limits.Claims.Over(int64(len(out.Claims)) + 1):
			dropped++
		default:
			c.File, c.Pos = name, engine.PositionOf(lines)
			out.Claims = append(out.Claims, *c)
		}
	}
	if dropped > 0 {
		out.Trouble = name + ": " + limits.Claims.Reached("", limits.Claims.Max()+dropped).Error()
	}
	return out, nil
}
