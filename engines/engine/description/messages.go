package description

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// maxLines is how many lines a message may have.
	maxLines = 16
	// maxFollowing is how many checksums of the lines after a message are kept.
	maxFollowing = 256
)

// claim is what a page has of a message of a desync.
type claim struct {
	form                messages.Form
	peer, local, remote string // templates, empty for none
	by, other           string // names
	hex, stride         uint64
	selfTest, next      bool
	reported            bool // by the peer that it names
}

// finding returns the contents of a message.
func (c *claim) finding(m *messages.Match) (f messages.Finding, misfit string) {
	f.By, f.SelfTest, f.Reported = c.by, c.selfTest, c.reported
	if digits := m.Group("tick"); len(digits) > 0 {
		if f.Tick, f.HasTick = TickOf(digits); !f.HasTick {
			return f, fmt.Sprintf("the tick is %.40q, expected a number", digits)
		}
		f.Tick /= c.stride
		if c.next {
			f.Tick++
		}
	}
	accused := expand(m, c.peer)
	f.Peers = messages.Named(accused)
	if n, err := strconv.ParseUint(string(m.Group("player")), 10, 16); err == nil && accused != "" {
		f.Players = map[uint32]string{uint32(n): accused}
	}
	local, remote := c.sum(expand(m, c.local)), c.sum(expand(m, c.remote))
	if c.form.Follow != nil {
		local, remote = following(c.form.Follow, m.Follow)
	}
	if local != "" && local == remote {
		return f, messages.Equal
	}
	if local != "" {
		f.Values = append(f.Values, tracediff.ClaimedValue{Peer: c.by, Value: local})
	}
	if remote != "" {
		f.Values = append(f.Values, tracediff.ClaimedValue{Peer: cmp.Or(accused, c.other), Value: remote})
	}
	if c.form.Kind == messages.Fact {
		f.Facts = map[string]string{}
		for _, name := range m.Pattern.SubexpNames() {
			if value := strings.TrimSpace(nameOf(m.Group(name))); name != "" && name != "text" && value != "" {
				f.Facts[name] = value
			}
		}
	}
	return f, ""
}

// sum returns a checksum as the game's other files have it.
func (c *claim) sum(text string) string {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && c.hex > 0 {
		return fmt.Sprintf("0x%0*x", int(c.hex), n)
	}
	return text
}

// following returns the checksums that differ of the lines after a message, with their names.
func following(p *regexp.Regexp, lines [][][]byte) (local, remote string) {
	var sides [2][]string
	name, a, b := p.SubexpIndex("name"), p.SubexpIndex("local"), p.SubexpIndex("remote")
	for _, line := range lines {
		if mine, other := nameOf(line[a]), nameOf(line[b]); mine != other && len(sides[0]) < maxFollowing {
			lead := ""
			if name >= 0 {
				lead = nameOf(line[name]) + " "
			}
			sides[0], sides[1] = append(sides[0], lead+mine), append(sides[1], lead+other)
		}
	}
	return strings.Join(sides[0], ", "), strings.Join(sides[1], ", ")
}

// Claim reads a line alone by the first pattern of a message of a desync that fits; nil if none does. Misfit is the fault
// of a line that a pattern fits and that is no message.
func (d *Description) Claim(line []byte) (c *tracediff.Claim, misfit string) {
	for _, f := range d.Messages {
		if f.Kind != messages.Claim {
			continue
		}
		found, wrong, fits := f.Line(line)
		if fits && wrong == "" {
			return &tracediff.Claim{
				Text: strings.TrimSpace(nameOf(line)), Tick: found.Tick, HasTick: found.HasTick,
				Peers: found.Peers, Values: found.Values, By: found.By, SelfTest: found.SelfTest, Reported: found.Reported,
			}, ""
		}
		misfit = cmp.Or(misfit, wrong)
	}
	return nil, misfit
}

// grammar returns the game's messages.
func (d *Description) grammar() *messages.Grammar {
	g := &messages.Grammar{Name: "described-log", Title: d.logTitle(), Dialect: d.dialect(), Forms: d.Messages, Leads: d.Leads}
	g.Dialect.File, g.Dialect.AtPoint, g.Dialect.Endless, g.Dialect.Lossy = d.Source, false, false, false // a tick in words is an upper bound
	return g
}

// AsEngine returns the engine that a page describes. The page is in the folder of that name.
func (d *Description) AsEngine(folder string) engine.Engine {
	e := engine.Engine{Game: d.Game}
	if d.Log != nil {
		e.Logs = []engine.Log{*d.Log}
	}
	if len(d.Messages) > 0 {
		e.Messages = d.grammar()
		e.Messages.Name = folder + "-" + strings.TrimSuffix(d.Source, ".log")
	}
	if len(d.Lines) > 0 {
		trace := *d.Trace()
		trace.Name, trace.Title = folder, d.logTitle()+" with checksums"
		var gives []string
		if trace.Claims != nil {
			gives = []string{"claims"}
		}
		e.Formats = []engine.Format{engine.LogTrace(trace, gives...)}
		e.Formats[0].Page = true
	}
	return e
}
