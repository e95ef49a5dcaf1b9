package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
)

// timelineView is what there is of each peer, along the session.
type timelineView struct {
	Strip strip
	Bin   uint64
	Peers []timelineRow
	Marks []markRow
}

// timelineRow is a peer in the table behind the picture.
type timelineRow struct {
	Peer      peer
	Snapshots string
	Thinned   bool
	Hashes    *report.TimelineSpan
	Trace     *report.TimelineSpan
	Total     uint64
	Orders    string
}

// markRow is an event in the table behind the picture.
type markRow struct {
	Peer peer
	report.TimelineMark
}

// Heights of the parts of a peer's lane.
const (
	flagHeight  = 18
	orderHeight = 30
	lineHeight  = 16
	laneGap     = 14
	maxBars     = 1600 // of orders, over all peers
)

func newTimeline(r *report.Report, peers peers) *timelineView {
	t := r.Timeline
	if t == nil || len(t.Peers) == 0 || t.To < t.From {
		return nil
	}
	v := &timelineView{Bin: t.Bin}
	v.Strip.picture = picture{"timeline-picture", "Timeline of " + prose.Count(len(t.Peers), "peer", "peers")}
	y := v.flags(r) + 6
	top := y
	for i := range t.Peers {
		p := &t.Peers[i]
		if i > 0 {
			v.Strip.Lines = append(v.Strip.Lines, y+laneGap/2)
			y += laneGap
		}
		y = v.lane(t, p, peers.of(p.Name), y, max(maxBars/len(t.Peers), 20))
		v.row(t, p, peers.of(p.Name))
	}
	v.Strip.AxisY = y + 6
	v.Strip.Height = v.Strip.AxisY + 22
	v.Strip.Axis = tickAxis(t.From, t.To)
	for i := range v.Strip.Flags {
		v.Strip.Flags[i].H = v.Strip.AxisY
	}
	for i := range v.Strip.Bands {
		v.Strip.Bands[i].Y, v.Strip.Bands[i].H = top-4, v.Strip.AxisY-top+4
	}
	return v
}

// flags places the bracket and the moments that count, each name on a line of its own so that
// names of neighbouring ticks do not cover each other. It returns the height that they take.
func (v *timelineView) flags(r *report.Report) int {
	t, y := r.Timeline, 0
	add := func(tick uint64, text, class, tip string) {
		y += flagHeight
		x := place(tick, t.From, t.To)
		side := "start"
		if x > 50 {
			side = "end"
		}
		v.Strip.Flags = append(v.Strip.Flags, flag{X: num(x), Y: y - 5, Text: text, Anchor: side, Class: class, Tip: tip})
	}
	first := r.FirstDivergence
	if first != nil && first.Bracket != nil {
		b := first.Bracket
		good, text := t.From, fmt.Sprintf("differs at state point %d; no equal state before it", b.Bad)
		if b.Good != nil {
			good, text = *b.Good, fmt.Sprintf("equal at state point %d, different at %d", *b.Good, b.Bad)
		}
		x, end := place(good, t.From, t.To), place(b.Bad, t.From, t.To)
		v.Strip.Bands = append(v.Strip.Bands, bar{X: num(x), W: num(max(end-x, 0.15)) + "%", Class: "bracket", Tip: "bracket: " + text})
	}
	if first != nil {
		switch {
		case first.Tick != nil:
			add(*first.Tick, fmt.Sprintf("parted in tick %d", *first.Tick), "parted", fmt.Sprintf("the divergent tick: %d", *first.Tick))
		case first.Bracket != nil:
			add(first.Bracket.Bad, fmt.Sprintf("parted by %d", first.Bracket.Bad), "parted", fmt.Sprintf("the first state point known to differ: %d", first.Bracket.Bad))
		}
	}
	if at := t.Detected; at != nil {
		add(*at, fmt.Sprintf("detected at %d", *at), "detected", fmt.Sprintf("the game, or its hashes, showed it at %d", *at))
	}
	if first != nil && first.Healed != nil {
		add(*first.Healed, fmt.Sprintf("equal again at %d", *first.Healed), "healed", fmt.Sprintf("the states are equal again at state point %d", *first.Healed))
	}
	return y
}

// lane draws a peer from y on and returns where it ends.
func (v *timelineView) lane(t *report.Timeline, p *report.TimelinePeer, who peer, y, bars int) int {
	v.Strip.label(y+12, who.Name, "name "+who.Class)
	var marks []bar
	for _, m := range p.Marks {
		x := place(m.Tick, t.From, t.To)
		tip := fmt.Sprintf("%s: %s at %d", p.Name, m.Kind, m.Tick)
		if m.Text != "" {
			tip += ": " + m.Text
		}
		v.Strip.Marks = append(v.Strip.Marks, glyph{num(x), y + 8, markPath(m.Kind), "mark " + who.Class, tip})
	}
	y += lineHeight + 4
	if len(p.Orders) > 0 && t.Bin > 0 {
		v.Strip.label(y+orderHeight-4, "orders", "part")
		v.Strip.Rows = append(v.Strip.Rows, orderBars(t, p, y, who.Class, bars))
		y += orderHeight + 4
	}
	seen := ""
	for _, s := range p.Snapshots {
		x := fmt.Sprintf("%.1f", place(s, t.From, t.To))
		if x == seen {
			continue
		}
		seen = x
		marks = append(marks, bar{X: x, W: "2", Y: y + 2, H: lineHeight - 5, Class: "snap " + who.Class, Tip: fmt.Sprintf("%s: snapshot at state point %d", p.Name, s)})
	}
	if len(marks) > 0 {
		v.Strip.label(y+11, "snapshots", "part")
		v.Strip.Rows = append(v.Strip.Rows, marks)
		y += lineHeight
	}
	for _, span := range []struct {
		name, of string
		at       *report.TimelineSpan
	}{{"hashes", "recorded hashes", p.Hashes}, {"trace", "traced ticks", p.Trace}} {
		if span.at == nil {
			continue
		}
		x, end := place(span.at.First, t.From, t.To), place(span.at.Last, t.From, t.To)
		v.Strip.label(y+11, span.name, "part")
		v.Strip.Rows = append(v.Strip.Rows, []bar{{num(x), num(max(end-x, 0.2)) + "%", y + 5, 6, "span " + who.Class,
			fmt.Sprintf("%s: %d %s from %d to %d", p.Name, span.at.Count, span.of, span.at.First, span.at.Last)}})
		y += lineHeight
	}
	return y
}

// orderBars draws how many orders each stretch of ticks has, in at most n bars.
func orderBars(t *report.Timeline, p *report.TimelinePeer, y int, class string, n int) []bar {
	merge := (len(p.Orders) + n - 1) / n
	var sums []uint64
	var most uint64
	for i := 0; i < len(p.Orders); i += merge {
		var sum uint64
		for _, c := range p.Orders[i:min(i+merge, len(p.Orders))] {
			sum += c
		}
		sums, most = append(sums, sum), max(most, sum)
	}
	var out []bar
	bin := t.Bin * uint64(merge)
	for i, sum := range sums {
		if sum == 0 {
			continue
		}
		from := t.From + uint64(i)*bin
		x, end := place(from, t.From, t.To), place(from+bin, t.From, t.To)
		if end <= x {
			continue
		}
		h := max(int(float64(orderHeight)*float64(sum)/float64(most)), 1)
		out = append(out, bar{num(x), num((end-x)*0.9) + "%", y + orderHeight - h, h, "orders " + class,
			fmt.Sprintf("%s: %s in ticks %d to %d", p.Name, prose.Count(sum, "order", "orders"), from, from+bin-1)})
	}
	return out
}

// markPath returns the shape of an event: a flag for who comes, a cross for who goes, a
// diamond for a state that is written or read.
func markPath(kind string) string {
	switch kind {
	case "join", "reconnect":
		return "M-4-6L6-1L-4 4z"
	case "leave", "removal":
		return "M-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z"
	}
	return shape(1, 0, 0, 5)
}

func (v *timelineView) row(t *report.Timeline, p *report.TimelinePeer, who peer) {
	row := timelineRow{Peer: who, Thinned: p.Thinned, Hashes: p.Hashes, Trace: p.Trace, Snapshots: numbers(p.Snapshots), Orders: numbers(p.Orders)}
	for _, n := range p.Orders {
		row.Total += n
	}
	v.Peers = append(v.Peers, row)
	for _, m := range p.Marks {
		v.Marks = append(v.Marks, markRow{who, m})
	}
}

func numbers(list []uint64) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.FormatUint(n, 10)
	}
	return strings.Join(texts, " ")
}
