// Package ggrs reads the log of a game made with bevy_ggrs, at the level of traces, as a trace of
// its frames' checksums:
//
//	DEBUG bevy_ggrs::schedule_systems: saving snapshot for frame 115
//	TRACE bevy_ggrs::snapshot::component_checksum: Component Transform has checksum 1D2A90F1E3C6B755
//	TRACE bevy_ggrs::snapshot::checksum: Frame has checksum ED8B86C74B9F5C68
//	DEBUG bevy_ggrs::schedule_systems: advancing to frame: 116
//	DEBUG bevy_ggrs::schedule_systems: restoring snapshot for frame 112
//
// Lines may have anything before the messages, and there may be other lines between them. A frame's state is saved
// before the inputs of the other players are known, and again after each rollback: the state of frame N is state point
// N. A checkpoint is predicted if the game rolled back to before it afterwards, and confirmed once that is no longer
// possible. The log does not contain which inputs were confirmed, so the checkpoints of the last frames of a log remain
// predictions.
package ggrs

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	// deepest is how many frames a rollback goes back at most: GGRS keeps the inputs of as many.
	deepest = 128
	// maxParts is how many checksums of components and resources of a frame are kept.
	maxParts = 1 << 10
	// maxHeld is how many checkpoints that may still become predictions are held. Where there
	// are more, the oldest remain predictions.
	maxHeld = 1 << 17
	maxName = 512 // bytes of the name of a component
)

// Format returns the format of such logs.
func Format() tracediff.Format {
	return tracediff.Format{
		Name: "bevy_ggrs", Title: "log of bevy_ggrs with checksums of frames", Sniff: sniff,
		Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) {
			return &reader{lines: orderlog.NewLines(r, name)}, nil
		},
	}
}

// sniff looks for a checksum of a frame, or for a snapshot and what follows it.
func sniff(head []byte) bool {
	saved, advanced := false, false
	for line := range bytes.Lines(head) {
		switch m := parse(bytes.TrimRight(line, "\r\n")); m.kind {
		case total:
			return true
		case save:
			saved = true
		case advance:
			advanced = true
		}
	}
	return saved && advanced
}

type kind uint8

const (
	other kind = iota
	save
	restore
	advance
	total
	part
)

// message is the content of a line.
type message struct {
	kind  kind
	frame uint64
	name  []byte // of a part
	sum   []byte // hex digits
}

// marks are the beginnings of messages.
var marks = []struct {
	kind  kind
	begin []byte
}{
	{save, []byte("saving snapshot for frame ")},
	{restore, []byte("restoring snapshot for frame ")},
	{advance, []byte("advancing to frame: ")},
	{total, []byte("Frame has checksum ")},
	{part, []byte("Rollback Entities have checksum ")},
	{part, []byte("Component ")},
	{part, []byte("Resource ")},
}

// parse reads a message at the end of a line, except for spaces.
func parse(line []byte) (m message) {
	line = trimEnd(line)
	if len(line) == 0 || !isHex(line[len(line)-1]) {
		return m
	}
	for i := range marks {
		mark := &marks[i]
		at := bytes.Index(line, mark.begin)
		if at < 0 || !standsAlone(line[:at]) {
			continue
		}
		rest := line[at+len(mark.begin):]
		switch mark.kind {
		case save, restore, advance:
			n, err := strconv.ParseUint(string(rest), 10, 31)
			if err != nil {
				return m
			}
			m.frame = n
		case total:
			m.sum = rest
		case part:
			if name, sum, ok := bytes.Cut(rest, []byte(" has checksum ")); ok {
				m.name, m.sum = name, sum
			} else if bytes.HasPrefix(mark.begin, []byte("Rollback")) {
				m.name, m.sum = []byte("rollback entities"), rest
			} else {
				return m
			}
		}
		if m.sum != nil && !isSum(m.sum) || len(m.name) > maxName {
			return message{}
		}
		m.kind = mark.kind
		return m
	}
	return m
}

// standsAlone reports whether the text before a message is empty or ends with a space, so that the message is not the
// end of another one.
func standsAlone(lead []byte) bool { return len(lead) == 0 || lead[len(lead)-1] == ' ' }

// trimEnd cuts off spaces and what sets the colours of a terminal back.
func trimEnd(line []byte) []byte {
	for {
		cut := bytes.TrimRight(line, " \t\r")
		cut = bytes.TrimSuffix(cut, []byte("\x1b[0m"))
		if len(cut) == len(line) {
			return line
		}
		line = cut
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c >= 'a' && c <= 'f'
}

// isSum reports whether a text is a number of up to 128 bits in hexadecimal.
func isSum(b []byte) bool { return len(b) > 0 && len(b) <= 32 && !slices.ContainsFunc(b, notHex) }

func notHex(c byte) bool { return !isHex(c) }

// reader reads a log. Records are held until it is known whether they are predictions.
type reader struct {
	lines *orderlog.Lines

	saving bool // a snapshot is being saved
	frame  uint64
	pos    tracediff.Position
	parts  []checksum

	held    []*record
	next    int // of held
	newest  uint64
	current uint64 // the frame that was reached last
	known   bool   // current is
	err     error
}

type checksum struct{ name, value string }

// record is one that is held.
type record struct {
	tracediff.Record
	decided bool
}

func (r *reader) Header() tracediff.Header { return tracediff.Header{} }

func (r *reader) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "GGRS", File: "log of bevy_ggrs", AtPoint: true, Endless: true,
		TickName: messages.TickName("frame"),
		Covers:   "the data that the game hashes into the checksum that it hands to GGRS",
	}
}

func (r *reader) Next() (*tracediff.Record, error) {
	for {
		if r.next < len(r.held) {
			if one := r.held[r.next]; one.decided || r.err != nil || len(r.held)-r.next > maxHeld {
				r.held[r.next] = nil
				if r.next++; r.next > 1024 && 2*r.next > len(r.held) {
					r.held, r.next = slices.Clone(r.held[r.next:]), 0
				}
				if one.Checkpoint != nil && !one.decided {
					one.Checkpoint.Phase = tracediff.Predicted
				}
				return &one.Record, nil
			}
		}
		if r.err != nil {
			return nil, r.err
		}
		line, err := engine.NextLine(r.lines)
		if r.err = err; err == nil {
			r.take(line)
		}
	}
}

// take takes a line.
func (r *reader) take(line []byte) {
	m := parse(line)
	pos := engine.PositionOf(r.lines)
	switch m.kind {
	case save:
		r.saving, r.frame, r.pos, r.parts = true, m.frame, pos, r.parts[:0]
	case restore:
		r.saving = false
		r.restore(m.frame, pos)
	case advance:
		r.saving = false
		r.current, r.known = m.frame, true
	case part:
		if r.saving && len(r.parts) < maxParts {
			r.parts = append(r.parts, checksum{strings.ToValidUTF8(string(m.name), "\uFFFD"), text(m.sum)})
		}
	case total:
		if r.saving {
			r.saving = false
			r.saved(text(m.sum), pos)
		}
	}
}

// text returns a checksum with all its digits: the game leaves out leading zeros.
func text(digits []byte) string {
	width := 16
	if len(digits) > width {
		width = 32
	}
	return "0x" + strings.Repeat("0", width-len(digits)) + strings.ToLower(string(digits))
}

// restore makes predictions of the states after the one that was put back.
func (r *reader) restore(point uint64, pos tracediff.Position) {
	for _, one := range r.held[r.next:] {
		if c := one.Checkpoint; c != nil && !one.decided && c.Tick > point {
			one.decided, c.Phase = true, tracediff.Predicted
		}
	}
	if !r.known || point >= r.current {
		return
	}
	// Next comes the state after the one that was put back.
	e := &tracediff.Event{Kind: tracediff.Restore, Tick: point + 1, Other: r.current + 1}
	r.held = append(r.held, &record{Record: tracediff.Record{Pos: pos, Event: e}, decided: true})
	r.current = point
}

// saved takes the state of a frame. Its parts come first: in no order in the log, since systems
// run side by side.
func (r *reader) saved(sum string, pos tracediff.Position) {
	if r.frame+deepest < r.newest { // another session: nothing more is known of the one before
		for _, one := range r.held[r.next:] {
			if !one.decided {
				one.decided, one.Checkpoint.Phase = true, tracediff.Predicted
			}
		}
		r.newest = r.frame
	}
	r.newest = max(r.newest, r.frame)
	lists.SortStable(r.parts, func(a, b checksum) int { return strings.Compare(a.name, b.name) })
	for _, p := range r.parts {
		r.add(p.name, p.value, r.pos)
	}
	r.add("", sum, pos)
	for _, one := range r.held[r.next:] {
		if c := one.Checkpoint; c != nil && !one.decided {
			if c.Tick+deepest >= r.newest {
				break
			}
			one.decided = true
		}
	}
}

func (r *reader) add(scope, sum string, pos tracediff.Position) {
	c := &tracediff.Checkpoint{Tick: r.frame, Scope: scope, Sums: []tracediff.Sum{{Value: []byte(sum)}}}
	r.held = append(r.held, &record{Record: tracediff.Record{Pos: pos, Checkpoint: c}})
}
