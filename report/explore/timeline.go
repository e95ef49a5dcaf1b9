package explore

import (
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// timeMarks are the letters of events on a peer's line.
var timeMarks = map[string]string{"join": "J", "reconnect": "J", "leave": "L", "removal": "L", "save": "S", "load": "O", "resync": "R"}

// timeline is the session from its first to its last state point in lines of width columns: what is known about when
// the peers diverged, a line for each of at most lanes peers, and the place of the selected node.
func (s *sheet) timeline(r *document.Report, width, lanes int, at *uint64, native string) []line {
	if r == nil {
		return nil
	}
	from, to := r.Session.First, r.Session.Last
	var peers []document.TimelinePeer
	if t := r.Timeline; t != nil && t.To >= t.From {
		if peers = t.Peers; to <= from {
			from, to = t.From, t.To
		}
	}
	if to < from || to == from && len(peers) == 0 { // nothing is known of when anything was
		return nil
	}
	left := 0
	if len(peers) > lanes {
		left = len(peers) - lanes + 1
		peers = peers[:lanes-1]
	}
	label := 5
	for _, p := range peers {
		label = max(label, min(prose.Columns(s.say(p.Name)), width/5))
	}
	room := width - label - 2
	if room < 8 {
		return nil
	}
	place := func(tick uint64) int {
		if to == from || tick <= from {
			return 0
		}
		return int(math.Round(float64(min(tick, to)-from) / float64(to-from) * float64(room-1)))
	}
	row := func(name string, ink Ink, cells line) line {
		name = s.cut(s.say(name), label)
		return append(line{{ink, name + strings.Repeat(" ", label-prose.Columns(name)+2)}}, cells...)
	}
	out := []line{s.legend(r, from, to, width), row("ticks", Faint, s.axis(r, place, room))}
	for i := range peers {
		out = append(out, row(peers[i].Name, Name, s.lane(&peers[i], place, room)))
	}
	if left > 0 {
		out = append(out, s.line(Faint, "and "+prose.Count(left, "more peer", "more peers")))
	}
	var pointer line
	if at != nil && from <= *at && *at <= to {
		text := s.cut(s.say(document.BothNames(native, *at)), room/2)
		x := place(*at)
		if before := x - prose.Columns(text) - 1; x+2+prose.Columns(text) > room && before >= 0 {
			pointer = line{{Plain, strings.Repeat(" ", before)}, {Bold, text + " " + s.glyphs.pointer}}
		} else {
			pointer = line{{Plain, strings.Repeat(" ", x)}, {Bold, s.glyphs.pointer + " " + text}}
		}
	}
	return append(out, row("", Plain, pointer))
}

// legend is the line above: the ticks, and the meaning of the marks below.
func (s *sheet) legend(r *document.Report, from, to uint64, width int) line {
	across := s.glyphs.across
	l := line{{Faint, across + across + " "}, {Bold, "time"}, {Faint, " " + strconv.FormatUint(from, 10) + " to " + strconv.FormatUint(to, 10) + "  "}}
	add := func(ink Ink, mark, text string) {
		if l.columns()+len(text)+5 < width {
			l = append(l, piece{ink, mark}, piece{Faint, " " + text + "  "})
		}
	}
	if d := r.FirstDivergence; d != nil {
		if d.Bracket != nil {
			add(Bad, s.glyphs.bracket, "bracket")
		}
		if d.Tick != nil {
			add(Bad, "X", "diverged")
		}
		if d.Detected != nil {
			add(Warn, "D", "detected")
		}
		if d.Healed != nil {
			add(Good, "H", "equal again")
		}
	}
	if t := r.Timeline; t != nil {
		add(Plain, s.glyphs.state, "state")
	}
	if n := width - l.columns(); n > 0 {
		l = append(l, piece{Faint, strings.Repeat(across, n)})
	}
	return l
}

// axis shows when the peers diverged.
func (s *sheet) axis(r *document.Report, place func(uint64) int, room int) line {
	cells := make(line, room)
	for i := range cells {
		cells[i] = piece{Faint, s.glyphs.across}
	}
	d := r.FirstDivergence
	if d == nil {
		return cells
	}
	if b := d.Bracket; b != nil {
		start := 0
		if b.Good != nil {
			start = place(*b.Good)
		}
		for x := start; x <= place(b.Bad); x++ {
			cells[x] = piece{Bad, s.glyphs.bracket}
		}
	}
	if d.Healed != nil {
		cells[place(*d.Healed)] = piece{Good, "H"}
	}
	if d.Detected != nil {
		cells[place(*d.Detected)] = piece{Warn, "D"}
	}
	if d.Tick != nil {
		cells[place(*d.Tick)] = piece{Bad, "X"}
	}
	return cells
}

// lane shows the evidence of a peer.
func (s *sheet) lane(p *document.TimelinePeer, place func(uint64) int, room int) line {
	cells := make(line, room)
	for i := range cells {
		cells[i] = piece{Plain, " "}
	}
	for _, span := range []*document.TimelineSpan{p.Hashes, p.Trace} {
		if span == nil || span.Last < span.First {
			continue
		}
		for x := place(span.First); x <= place(span.Last); x++ {
			cells[x] = piece{Faint, s.glyphs.span}
		}
	}
	for _, at := range p.Snapshots {
		cells[place(at)] = piece{Plain, s.glyphs.state}
	}
	for i := range p.Marks {
		if letter, ok := timeMarks[p.Marks[i].Kind]; ok {
			cells[place(p.Marks[i].Tick)] = piece{Bold, letter}
		}
	}
	return cells
}
