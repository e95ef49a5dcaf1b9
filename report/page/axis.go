package page

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// timeView has the pictures of time: the files of each peer, the differences over time, and the cascade, above each
// other on one axis.
type timeView struct {
	picture
	axis
	Ruler   ruler
	Grid    []axisTick // without those that fall on the edges
	Moments []moment
	Bracket *band

	Timeline *timelineView
	Heat     *heatView
	Cascade  *cascadeView
}

// axis is a linear scale of ticks, in which each tick takes the room from its place to the next tick's. A state point
// is where the tick of its number begins.
type axis struct {
	From, To uint64 // ticks
	names    *document.Names
	points   map[uint64]string // names of state points within a sentence
}

// ruler is the axis with its labels, and the names of the moments on separate lines above it.
type ruler struct {
	Unit         []string // of the ordinals and of the natives
	Y, Height    int
	Ordinals     []axisTick
	Natives      []axisTick // the engine's own names next to the ordinals
	NativesY, TY int
}

// moment is a tick that counts: a line over all parts, its name on the ruler, and a sentence.
type moment struct {
	X, Anchor   string
	DX, Y       int
	At          uint64 // ticks from the begin of the axis
	Text, Short string
	Long        string // for the legend
	Class       string
}

// band is a stretch of ticks, in percent and in ticks from the begin of the axis.
type band struct {
	X, W    string
	At, End uint64
	Tip     string
}

// axisTick is a labelled place of an axis, X in percent of the width. Class is "wide" or "desk" where
// only such a picture has room for it.
type axisTick struct {
	X, Text, Anchor string
	Class           string
}

func newTime(r *document.Report, peers peers) *timeView {
	v := &timeView{axis: newAxis(r)}
	v.Timeline, v.Heat, v.Cascade = newTimeline(r, peers, v.axis), newHeat(r, peers, v.axis), newCascade(r, v.axis)
	if v.Timeline == nil && v.Heat == nil && v.Cascade == nil {
		return nil
	}
	v.picture = picture{"timeline-picture", fmt.Sprintf("Timeline of ticks %d to %d", v.From, v.To)}
	v.moments(r)
	v.rule(r.Session.Game)
	return v
}

// has reports whether there is one of the pictures: timeline, heat or cascade.
func (v *timeView) has(part string) bool {
	if v == nil {
		return false
	}
	switch part {
	case "heat":
		return v.Heat != nil
	case "cascade":
		return v.Cascade != nil
	}
	return v.Timeline != nil
}

// newAxis returns an axis that has a place for everything that the pictures of time show.
func newAxis(r *document.Report) axis {
	var ticks []uint64
	if t := r.Timeline; t != nil {
		ticks = append(ticks, t.From, max(t.From, t.To))
		if t.Detected != nil {
			ticks = append(ticks, *t.Detected)
		}
	}
	if h := r.Heat; h != nil {
		ticks = append(ticks, h.Points...)
	}
	for _, c := range r.Cascade {
		ticks = append(ticks, c.Tick, max(c.Tick, c.Last))
	}
	if len(ticks) == 0 {
		return axis{}
	}
	a := axis{From: slices.Min(ticks), To: slices.Max(ticks), names: r.Names, points: map[uint64]string{}}
	name := func(point uint64, native string) {
		if native != "" {
			a.points[point] = document.PointName(document.PointOf(native, point))
		}
	}
	if r.Names != nil {
		for _, p := range r.Names.Points {
			name(p.Point, p.Native)
		}
	}
	if first := r.FirstDivergence; first != nil && first.Bracket != nil && first.Bracket.Native != nil {
		if first.Bracket.Good != nil {
			name(*first.Bracket.Good, first.Bracket.Native.Good)
		}
		name(first.Bracket.Bad, first.Bracket.Native.Bad)
	}
	return a
}

// span is how many ticks the axis has.
func (a *axis) span() float64 { return float64(a.To-a.From) + 1 }

// place returns where a tick begins, in percent of the axis.
func (a *axis) place(tick uint64) float64 {
	if tick <= a.From {
		return 0
	}
	return 100 * min(float64(tick-a.From)/a.span(), 1)
}

// units is how wide the drawings of lanes are, which are stretched to the available width.
const units = 10000

// unit returns where a tick begins in a drawing.
func (a *axis) unit(tick uint64) int { return int(a.place(tick) * units / 100) }

// offset returns how many ticks after the begin of the axis a tick is.
func (a *axis) offset(tick uint64) uint64 { return tick - min(tick, a.From) }

// deltas writes ticks in order as distances, each to the one before it.
func (a *axis) deltas(ticks []uint64) string {
	out := make([]uint64, len(ticks))
	last := a.From
	for i, tick := range ticks {
		out[i] = tick - min(tick, last)
		last = max(last, tick)
	}
	return numbers(out)
}

// tick names a tick by its number and the engine's own name.
func (a *axis) tick(n uint64) string {
	if a.names == nil {
		return strconv.FormatUint(n, 10)
	}
	return document.BothNames(a.names.Ticks.Name(n), n)
}

// point names a state point within a sentence.
func (a *axis) point(n uint64) string {
	if name := a.points[n]; name != "" {
		return name
	}
	return "state point " + strconv.FormatUint(n, 10)
}

// moments collects the bracket and the moments that count.
func (v *timeView) moments(r *document.Report) {
	add := func(tick uint64, short, text, long, class string) {
		x, side := v.place(tick), "start"
		if x > 50 {
			side = "end"
		}
		m := moment{X: num(x), Anchor: side, DX: 5, Y: 14 + len(v.Moments)*flagHeight, At: v.offset(tick), Text: text, Short: short, Long: long, Class: class}
		if side == "end" {
			m.DX = -5
		}
		v.Moments = append(v.Moments, m)
	}
	var detected *uint64
	if r.Timeline != nil {
		detected = r.Timeline.Detected
	}
	if first := r.FirstDivergence; first != nil {
		if b := first.Bracket; b != nil {
			good, text := v.From, fmt.Sprintf("no equal state is known before %s, which differs", v.point(b.Bad))
			if b.Good != nil {
				good, text = *b.Good, fmt.Sprintf("between %s, which is equal, and %s, which differs", v.point(*b.Good), v.point(b.Bad))
			}
			x := v.place(good)
			v.Bracket = &band{X: num(x), W: num(max(v.place(b.Bad)-x, 0.15)), At: v.offset(good), End: v.offset(b.Bad), Tip: text}
		}
		switch {
		case first.Tick != nil:
			add(*first.Tick, "parted", fmt.Sprintf("diverged in tick %d", *first.Tick), "The peers diverged in tick "+v.tick(*first.Tick)+".", "parted")
		case first.Bracket != nil:
			add(first.Bracket.Bad, "parted", fmt.Sprintf("diverged by %d", first.Bracket.Bad), "The peers diverged by "+v.point(first.Bracket.Bad)+".", "parted")
		}
	}
	if detected != nil {
		add(*detected, "detected", fmt.Sprintf("detected at %d", *detected), "The game, or its hashes, showed it at "+v.tick(*detected)+".", "detected")
	}
	if first := r.FirstDivergence; first != nil && first.Healed != nil {
		add(*first.Healed, "equal again", fmt.Sprintf("equal again at %d", *first.Healed), "The states are equal again at "+v.point(*first.Healed)+".", "healed")
	}
}

// flagHeight is the height of a line of the ruler.
const flagHeight = 16

// label returns the engine's own name of a place of the axis, "" if it has none.
func (a *axis) label(tick uint64) string {
	if a.names == nil {
		return ""
	}
	if name := a.names.Ticks.Name(tick); name != "" {
		return name
	}
	return a.names.States.Name(tick)
}

// rule labels round ticks: as many as fit into a picture on a desktop screen; some are left out on a phone.
func (v *timeView) rule(game string) {
	chars := len(strconv.FormatUint(v.To, 10))
	if v.names != nil {
		for _, rule := range []*document.TickNames{v.names.Ticks, v.names.States} {
			if rule != nil {
				chars = max(chars, prose.Columns(rule.Name(rule.From)), prose.Columns(rule.Name(rule.To)))
			}
		}
	}
	room := chars*7 + 20
	step := uint64(max(niceStep(v.span(), min(max(900/room, 2), 12)), 1))
	var ticks []uint64
	for t := (v.From + step - 1) / step * step; t >= v.From && t <= v.To && len(ticks) < 20; t += step {
		ticks = append(ticks, t)
	}
	every := func(width int) int {
		n := max(width/room, 1)
		return max((len(ticks)+n-1)/n, 1)
	}
	wide := every(460)
	narrow := (every(300) + wide - 1) / wide * wide
	for i, t := range ticks {
		x := v.place(t)
		one := axisTick{X: num(x), Text: strconv.FormatUint(t, 10), Anchor: anchor(x)}
		if i%wide != 0 {
			one.Class = "desk"
		} else if i%narrow != 0 {
			one.Class = "wide"
		}
		if x > 0.2 && x < 99.8 {
			v.Grid = append(v.Grid, one)
		}
		native := one
		native.Text = v.label(t)
		v.Ruler.Ordinals, v.Ruler.Natives = append(v.Ruler.Ordinals, one), append(v.Ruler.Natives, native)
	}
	u := &v.Ruler
	u.Unit = []string{"tick"}
	if v.named() {
		u.Unit = append(u.Unit, game)
	} else {
		if word := unit(u.Natives); word != "" {
			u.Unit[0] = word
		}
		u.Natives = nil
	}
	u.Y = len(v.Moments)*flagHeight + 6
	u.TY = u.Y + 14
	u.NativesY = u.TY + 14
	u.Height = u.TY + 6
	if u.Natives != nil {
		u.Height += 14
	}
}

// named reports whether the engine's own names of ticks show more than their numbers.
func (a *axis) named() bool {
	if a.names == nil {
		return false
	}
	for _, rule := range []*document.TickNames{a.names.Ticks, a.names.States} {
		if rule != nil {
			return !slices.Contains(strings.Fields(rule.Name(rule.From)), strconv.FormatUint(rule.From, 10))
		}
	}
	return false
}

// unit returns the word next to the number that all names share, such as "frame" or "ms", empty if there is none. Ticks
// without a name are ignored.
func unit(names []axisTick) string {
	word := ""
	for _, n := range names {
		a, b, _ := strings.Cut(n.Text, " ")
		if strings.Trim(a, "0123456789") == "" {
			a, b = b, a
		}
		switch {
		case n.Text == "":
		case word != "" && a != word, b == "", strings.Trim(b, "0123456789") != "":
			return ""
		default:
			word = a
		}
	}
	return word
}

// data is what the script needs to name ticks and state points. Numbers are texts: the number of a tick may be larger
// than a script can represent.
func (v *timeView) data() string {
	type number struct {
		First string `json:"first"`
		Hex   bool   `json:"hex"`
		Width int    `json:"width"`
	}
	type rule struct {
		From, To, Before, Between, After, Step, Cycle string
		Number                                        number
		Large                                         *number `json:",omitempty"`
	}
	text := func(n uint64) string { return strconv.FormatUint(n, 10) }
	of := func(n *document.TickNames) *rule {
		if n == nil {
			return nil
		}
		out := &rule{
			From: text(n.From), To: text(n.To), Before: document.Safe(n.Before), Between: document.Safe(n.Between), After: document.Safe(n.After), Step: text(n.Step), Cycle: text(n.Cycle),
			Number: number{text(n.Number.First), n.Number.Hex, n.Number.Width},
		}
		if n.Large != nil {
			out.Large = &number{text(n.Large.First), n.Large.Hex, n.Large.Width}
		}
		return out
	}
	data := struct {
		Ticks, States *rule             `json:",omitempty"`
		Points        map[string]string `json:",omitempty"`
	}{Points: map[string]string{}}
	if v.names != nil {
		data.Ticks, data.States = of(v.names.Ticks), of(v.names.States)
	}
	for p, name := range v.points {
		data.Points[text(p)] = document.Safe(name)
	}
	out, err := json.Marshal(data)
	if err != nil {
		panic(err) // these are texts and numbers
	}
	return string(out)
}
