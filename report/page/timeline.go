package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// timelineView is the evidence of each peer, along the session.
type timelineView struct {
	Lanes []lane
	Bin   uint64
	Peers []timelineRow
	Marks []markRow
}

// timelineRow is a peer in the table behind the picture.
type timelineRow struct {
	Peer      peer
	Snapshots string
	Thinned   bool
	Hashes    *document.TimelineSpan
	Trace     *document.TimelineSpan
	Total     uint64
	Orders    string
}

// markRow is an event in the table behind the picture.
type markRow struct {
	Peer peer
	document.TimelineMark
	Name string // of its tick
}

// Heights of lanes, and the number of bars for the orders of all peers together in a drawing.
const (
	eventHeight = 20
	orderHeight = 30
	lineHeight  = 15
	maxBars     = 1600
)

func newTimeline(r *document.Report, peers peers, a axis) *timelineView {
	t := r.Timeline
	if t == nil || len(t.Peers) == 0 || t.To < t.From {
		return nil
	}
	v := &timelineView{Bin: t.Bin}
	for i := range t.Peers {
		p := &t.Peers[i]
		v.lanes(t, p, peers.of(p.Name), a, max(maxBars/len(t.Peers), 20))
		v.row(p, peers.of(p.Name), a)
	}
	return v
}

// lanes draws a peer.
func (v *timelineView) lanes(t *document.Timeline, p *document.TimelinePeer, who peer, a axis, bars int) {
	add := func(l lane) {
		l.Who, l.Colour = who.Name, who.Class
		v.Lanes = append(v.Lanes, l)
	}
	events := lane{Label: who.Name, Class: "name " + who.Class, Kind: "events", Height: eventHeight}
	for _, m := range p.Marks {
		tip := fmt.Sprintf("%s: %s in %s", p.Name, m.Kind, document.InTick(a.tick(m.Tick)))
		if m.Text != "" {
			tip += ": " + m.Text
		}
		events.Marks = append(events.Marks, glyph{num(a.place(m.Tick)), eventHeight / 2, markPath(m.Kind), a.offset(m.Tick), tip})
	}
	lists.SortStable(events.Marks, func(x, y glyph) int { return cmp.Compare(x.At, y.At) })
	if len(events.Marks) == 0 {
		events.Height = 4
	}
	add(events)
	if slices.Max(append([]uint64{0}, p.Orders...)) > 0 && t.Bin > 0 {
		from := t.From
		if t.BinFrom != nil {
			from = *t.BinFrom
		}
		offset := strconv.FormatUint(a.offset(from), 10)
		if from < a.From {
			offset = "-" + strconv.FormatUint(a.From-from, 10)
		}
		add(lane{
			Label: "orders", Class: "part", Kind: "orders", Height: orderHeight + 4, Offset: offset, Bin: strconv.FormatUint(t.Bin, 10), Counts: numbers(p.Orders),
			Paths: []path{{"orders", orderBars(p.Orders, from, t.Bin, a, bars)}},
		})
	}
	if len(p.Snapshots) > 0 {
		points := slices.Sorted(slices.Values(p.Snapshots))
		var d strings.Builder
		last := -1
		for _, s := range points {
			if x := a.unit(s); x != last {
				fmt.Fprintf(&d, "M%d 2v11", x)
				last = x
			}
		}
		add(lane{Label: "snapshots", Class: "part", Kind: "points", Height: lineHeight, At: a.deltas(points), Paths: []path{{"snap", d.String()}}})
	}
	for _, span := range []struct {
		name, of string
		at       *document.TimelineSpan
	}{{"hashes", "recorded hashes", p.Hashes}, {"trace", "traced ticks", p.Trace}} {
		if at := span.at; at != nil {
			add(spanLane(a, at.First, at.Last, lane{
				Label: span.name, Class: "part", Height: lineHeight, Tip: fmt.Sprintf("%s: %d %s from %s to %s", p.Name, at.Count, span.of, a.tick(at.First), a.tick(at.Last)),
			}, "span", 5, 6))
		}
	}
}

// spanLane adds a bar from the first to the end of the last of some ticks.
func spanLane(a axis, first, last uint64, l lane, class string, y, h int) lane {
	last = max(first, last)
	x, end := a.unit(first), units
	if last < a.To {
		end = a.unit(last + 1)
	}
	w := max(end-x, units/500)
	l.Kind, l.At, l.Paths = "span", numbers([]uint64{a.offset(first), a.offset(last)}), []path{{class, fmt.Sprintf("M%d %dh%dv%dh-%dz", x, y, w, h, w)}}
	return l
}

// orderBars draws how many orders each stretch of ticks has, in at most n bars.
func orderBars(orders []uint64, from, bin uint64, a axis, n int) string {
	merge := (len(orders) + n - 1) / n
	var sums []uint64
	var most uint64
	for i := 0; i < len(orders); i += merge {
		var sum uint64
		for _, c := range orders[i:min(i+merge, len(orders))] {
			sum += c
		}
		sums, most = append(sums, sum), max(most, sum)
	}
	bin *= uint64(merge)
	var d strings.Builder
	for i, sum := range sums {
		if sum == 0 {
			continue
		}
		at := from + uint64(i)*bin
		x, end := a.unit(at), a.unit(at+bin)
		if end <= x {
			continue
		}
		h := max(int(float64(orderHeight)*float64(sum)/float64(most)), 1)
		fmt.Fprintf(&d, "M%d %dh%dv%dh-%dz", x, orderHeight+2-h, end-x, h, end-x)
	}
	return d.String()
}

// markPath returns the shape of an event: a flag for who comes, a cross for who goes, a
// diamond for a state that is written or read.
func markPath(kind string) string {
	switch kind {
	case "join", "reconnect":
		return "m-4-6l10 5l-10 5z"
	case "leave", "removal":
		return "m-5-3l2-2 3 3 3-3 2 2-3 3 3 3-2 2-3-3-3 3-2-2 3-3z"
	}
	return "m0-6l6 6-6 6-6-6z"
}

func (v *timelineView) row(p *document.TimelinePeer, who peer, a axis) {
	row := timelineRow{Peer: who, Thinned: p.Thinned, Hashes: p.Hashes, Trace: p.Trace, Snapshots: numbers(p.Snapshots), Orders: numbers(p.Orders)}
	for _, n := range p.Orders {
		row.Total += n
	}
	v.Peers = append(v.Peers, row)
	for _, m := range p.Marks {
		v.Marks = append(v.Marks, markRow{who, m, a.tick(m.Tick)})
	}
}

func numbers(list []uint64) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.FormatUint(n, 10)
	}
	return strings.Join(texts, " ")
}
