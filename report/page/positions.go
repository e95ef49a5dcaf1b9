package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// mapView are the positions of entities on two peers, laid over each other.
type mapView struct {
	picture
	Peers    [2]peer
	Point    uint64
	X, Y     string
	Axes     string // how they were found
	Moves    bool   // lines lead from one position of an entity to the other
	Panels   []mapPanel
	Entities []mapRow // that differ
	Unlisted int
	Line     string
	Why      string // there is no picture

	titles map[string]string // of entities, by kind and key
}

// mapPanel is one picture: the whole map, or a part of it drawn larger.
type mapPanel struct {
	Name          string
	Width, Height int
	Plot          mapBox
	Grid          []gridLine
	Others        []mapMark // entities that are equal, the nearest
	Rest          string    // the marks of the others
	Marks         []mapMark // those that differ, the first
	Crowd         mapMark   // all others that differ in one, without a tip
	Names         []mapText
	Axes          [2]mapText
	Window        *mapBox // the part that the other panel shows

	left float64 // the plot's
}

type mapBox struct{ X, Y, W, H string }

type gridLine struct {
	X1, Y1, X2, Y2 string
	TX, TY         string
	Text, Anchor   string
}

// mapMark is an entity: its place on each peer, empty where it does not exist, and the line between the two.
type mapMark struct {
	At   [2]string
	Move string
	Tip  string
}

type mapText struct{ X, Y, Anchor, Text string }

type mapRow struct {
	Title string
	At    [2]string
	Apart string
}

// extent is a part of the map in the game's own units.
type extent struct{ x0, y0, x1, y1 float64 }

func (e *extent) add(p *[2]float64) {
	e.x0, e.x1 = min(e.x0, p[0]), max(e.x1, p[0])
	e.y0, e.y1 = min(e.y0, p[1]), max(e.y1, p[1])
}

func (e extent) has(p *[2]float64) bool {
	return p != nil && p[0] >= e.x0 && p[0] <= e.x1 && p[1] >= e.y0 && p[1] <= e.y1
}

// maxPlace is how far from the middle a drawn position may be: beyond that, differences of positions are not finite.
const maxPlace = math.MaxFloat64 / 8

// Limits on what a map shows about each entity.
const (
	maxMapRows = 200 // rows of the table
	maxTips    = 300 // entities that are equal and are named when pointed at
	maxMarks   = 300 // entities that differ and are named when pointed at
)

func newMap(r *document.Report, peers peers) *mapView {
	m := r.Map
	if m == nil || !slices.ContainsFunc(m.Entities, func(e document.MapEntity) bool { return e.Differs }) {
		return nil
	}
	v := &mapView{Peers: [2]peer{peers.of(m.Peers[0]), peers.of(m.Peers[1])}, Point: m.Point, X: m.X, Y: m.Y, titles: titles(r)}
	v.Axes = axesText(m)
	if v.Peers[0].Shape%shapes == v.Peers[1].Shape%shapes {
		v.Peers[1].Shape++
	}
	all := extent{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	var differ, moved, alone int
	var farthest float64
	var drawn []document.MapEntity
	kinds := map[string]bool{}
	for _, e := range m.Entities {
		kinds[mapKind(&e)] = true
		row := mapRow{Title: v.title(&e)}
		fits := true
		for side, at := range e.At {
			if at == nil {
				row.At[side] = "–"
				continue
			}
			row.At[side] = position(at)
			fits = fits && math.Abs(at[0]) < maxPlace && math.Abs(at[1]) < maxPlace
		}
		if fits && (e.At[0] != nil || e.At[1] != nil) {
			drawn = append(drawn, e)
			for _, at := range e.At {
				if at != nil {
					all.add(at)
				}
			}
		}
		if d := apart(e); d > 0 {
			moved++
			farthest = max(farthest, d)
			row.Apart = short(d)
		}
		if !e.Differs {
			continue
		}
		if e.At[0] == nil || e.At[1] == nil {
			alone++
		}
		if differ++; differ <= maxMapRows {
			v.Entities = append(v.Entities, row)
		} else {
			v.Unlisted++
		}
	}
	v.picture = picture{"map-picture", fmt.Sprintf("Map of %s at state point %d", prose.Count(len(m.Entities), "entity", "entities"), m.Point)}
	v.Line = mapLine(m, kinds, differ) + placesLine(differ, moved, alone, farthest)
	if len(drawn) == 0 {
		v.Why = "No entity has a position that can be drawn. The table has them."
		return v
	}
	whole := all.padded()
	window, closer := closeUp(drawn, whole)
	panel := v.panel("", drawn, whole)
	for i := range panel.Marks {
		v.Moves = v.Moves || panel.Marks[i].Move != ""
	}
	if closer {
		panel.Name, panel.Window, v.Moves = "All", window.box(whole, panel.left), true
		panel.Names = nil // the other panel has them
		v.Panels = append(v.Panels, panel, v.panel("The dashed part, enlarged", drawn, window))
	} else {
		v.Panels = append(v.Panels, panel)
	}
	return v
}

// titles returns what the entities that differ are called, by kind and key.
func titles(r *document.Report) map[string]string {
	out := map[string]string{}
	if r.Compared != nil {
		for i := range r.Compared.Entities {
			if e := &r.Compared.Entities[i]; !e.Cache {
				out[e.Kind+" "+e.Key] = e.Title()
			}
		}
	}
	return out
}

// mapKind returns what an entity of a map is.
func mapKind(e *document.MapEntity) string {
	if e.Kind == "" { // a report of before
		return labelName(e.Archetype)
	}
	return e.Kind
}

func (v *mapView) title(e *document.MapEntity) string {
	name := mapKind(e) + " " + e.Key
	return cmp.Or(v.titles[name], name)
}

// axesText describes how the axes were found.
func axesText(m *document.PositionsMap) string {
	switch m.Axes {
	case document.AxesDeclared:
		return fmt.Sprintf("%s and %s are the ground of this game.", m.X, m.Y)
	case document.AxesSpread:
		height := "y"
		if m.Y == "y" {
			height = "z"
		}
		return fmt.Sprintf("The axes are %s and %s: the state does not show which of x, y and z is the height, and the values of %s lie closest together.", m.X, m.Y, height)
	}
	return fmt.Sprintf("The axes are %s and %s, by the names of the fields.", m.X, m.Y)
}

// mapLine describes how many of the entities differ.
func mapLine(m *document.PositionsMap, kinds map[string]bool, differ int) string {
	of := prose.Count(uint64(len(m.Entities))+m.Left, "entity", "entities")
	if len(kinds) == 1 {
		of = document.CountEntities(mapKind(&m.Entities[0]), uint64(len(m.Entities))+m.Left)
	}
	verb := "differ"
	if differ == 1 {
		verb = "differs"
	}
	text := fmt.Sprintf("%d of %s %s at state point %d", differ, of, verb, m.Point)
	if m.AtLeast {
		text = "At least " + text
	}
	if m.Left > 0 {
		text += fmt.Sprintf("; the %d that are farthest from the first of these are left out", m.Left)
	}
	return text + "."
}

// placesLine describes how many of the differing entities are at two places, and how many only one side has.
func placesLine(differ, moved, alone int, farthest float64) string {
	switch {
	case differ == 1 && alone == 1:
		return " Only one side has it."
	case alone == differ:
		return " Each is on one side only."
	case alone > 0:
		return placesLine(differ-alone, moved, 0, farthest) + fmt.Sprintf(" %d are on one side only.", alone)
	case moved == 0 && differ == 1:
		return " It is at the same place on both."
	case moved == 0:
		return " None is at another place."
	case differ == 1:
		return fmt.Sprintf(" Its two places are %s apart.", short(farthest))
	case moved == differ:
		return fmt.Sprintf(" Their two places are up to %s apart.", short(farthest))
	}
	return fmt.Sprintf(" %d of them have two places, up to %s apart.", moved, short(farthest))
}

// apart returns how far both positions of an entity are from each other.
func apart(e document.MapEntity) float64 {
	if e.At[0] == nil || e.At[1] == nil {
		return 0
	}
	return math.Hypot(e.At[0][0]-e.At[1][0], e.At[0][1]-e.At[1][1])
}

// padded leaves room around, and makes a point or a line an area.
func (e extent) padded() extent {
	side := max(e.x1-e.x0, e.y1-e.y0)
	if side == 0 {
		side = max(math.Abs(e.x0), math.Abs(e.y0), 1) / 8
	}
	pad := side * 0.04
	e.x0, e.x1, e.y0, e.y1 = e.x0-pad, e.x1+pad, e.y0-pad, e.y1+pad
	grow := func(from, to *float64) { // no narrower than this part
		if lack := side*0.6 - (*to - *from); lack > 0 {
			*from, *to = *from-lack/2, *to+lack/2
		}
	}
	grow(&e.x0, &e.x1)
	grow(&e.y0, &e.y1)
	return e
}

// closeUp returns the surroundings of the first entity with different positions, and whether they are so much smaller
// than the whole that they are worth a picture.
func closeUp(entities []document.MapEntity, whole extent) (extent, bool) {
	i := slices.IndexFunc(entities, func(e document.MapEntity) bool { return apart(e) > 0 })
	if i < 0 {
		return extent{}, false
	}
	a, b := entities[i].At[0], entities[i].At[1]
	x, y := (a[0]+b[0])/2, (a[1]+b[1])/2
	var near []float64
	for _, e := range entities {
		for _, at := range e.At {
			if at != nil {
				near = append(near, math.Hypot(at[0]-x, at[1]-y))
				break
			}
		}
	}
	slices.Sort(near)
	// The nearest others are in it where that leaves the distance between both positions visible, and the numbers of
	// the axes distinguish its sides.
	half := max(apart(entities[i])*1.5, min(near[min(4, len(near)-1)]*1.1, apart(entities[i])*40), math.Abs(x)*1e-4, math.Abs(y)*1e-4)
	most := max(whole.x1-whole.x0, whole.y1-whole.y0)
	seen := apart(entities[i]) / (2 * half) * mapSide // pixels between both
	return extent{x - half, y - half, x + half, y + half}, half*2 < most*0.5 && seen > 8
}

// Sizes of a panel.
const (
	mapSide   = 460
	mapBottom = 46
	mapTop    = 12
	mapRight  = 24
	mapDigit  = 11 // of the numbers next to the plot, as they are on a narrow screen
)

// scale returns how many pixels a unit has, and the size of the plot.
func (e extent) scale() (unit, w, h float64) {
	unit = mapSide / max(e.x1-e.x0, e.y1-e.y0)
	return unit, (e.x1 - e.x0) * unit, (e.y1 - e.y0) * unit
}

// at returns where a position is in a panel with a plot that begins at left: x to the right, y down, as on a screen.
func (e extent) at(x, y, left float64) (float64, float64) {
	unit, _, _ := e.scale()
	return left + (x-e.x0)*unit, mapTop + (y-e.y0)*unit
}

// box returns where part is in the panel of whole.
func (e extent) box(whole extent, left float64) *mapBox {
	x0, y0 := whole.at(max(e.x0, whole.x0), max(e.y0, whole.y0), left)
	x1, y1 := whole.at(min(e.x1, whole.x1), min(e.y1, whole.y1), left)
	const least = 24 // so that it is seen around a mark
	if lack := least - (x1 - x0); lack > 0 {
		x0, x1 = x0-lack/2, x1+lack/2
	}
	if lack := least - (y1 - y0); lack > 0 {
		y0, y1 = y0-lack/2, y1+lack/2
	}
	return &mapBox{num(x0), num(y0), num(x1 - x0), num(y1 - y0)}
}

// panel draws a part of the map. The mark of the first peer is a ring, so that the second peer's mark is visible within
// it.
func (v *mapView) panel(name string, entities []document.MapEntity, of extent) mapPanel {
	_, w, h := of.scale()
	p := mapPanel{Name: name}
	p.grid(of, w, h)
	p.Width, p.Height = int(p.left+w)+mapRight, int(h)+mapTop+mapBottom
	p.Plot = mapBox{num(p.left), num(mapTop), num(w), num(h)}
	p.Axes = [2]mapText{
		{num(p.left + w), num(mapTop + h + 40), "end", v.X + " →"},
		{num(p.left), num(mapTop + h + 40), "start", "↓ " + v.Y},
	}
	labels := labelling{left: p.left, right: p.left + w, bottom: mapTop + h, most: maxNames}
	if v.Unlisted+len(v.Entities) > 4*maxNames { // names would cover the marks
		labels.most = maxNames / 4
	}
	var rest, moves strings.Builder
	var crowd [2]strings.Builder
	var named []namedMark
	for _, e := range entities {
		if !of.has(e.At[0]) && !of.has(e.At[1]) {
			continue
		}
		if !e.Differs && apart(e) == 0 && e.At[0] != nil && e.At[1] != nil {
			x, y := of.at(e.At[0][0], e.At[0][1], p.left)
			if mark := shape(0, round(x), round(y), 2.5); len(p.Others) < maxTips {
				p.Others = append(p.Others, mapMark{At: [2]string{mark}, Tip: v.tip(e)})
			} else {
				rest.WriteString(mark)
			}
			continue
		}
		var mark mapMark
		if apart(e) > 0 {
			x0, y0 := of.at(e.At[0][0], e.At[0][1], p.left)
			x1, y1 := of.at(e.At[1][0], e.At[1][1], p.left)
			if math.Hypot(x1-x0, y1-y0) > 6 { // else the marks cover it
				mark.Move = fmt.Sprintf("M%s %sL%s %s", num(round(x0)), num(round(y0)), num(round(x1)), num(round(y1)))
			}
		}
		for side, at := range e.At {
			if !of.has(at) {
				continue
			}
			x, y := of.at(at[0], at[1], p.left)
			mark.At[side] = shape(v.Peers[side].Shape, round(x), round(y), [2]float64{7, 3.5}[side])
			if len(p.Marks) >= maxMarks {
				crowd[side].WriteString(mark.At[side])
				continue
			}
			const reach = 8 // of a mark
			labels.taken = append(labels.taken, extent{x - reach, y - reach, x + reach, y + reach})
			if side == 0 || !of.has(e.At[0]) {
				named = append(named, namedMark{round(x), round(y), prose.Shorten(mapKind(&e)+" "+e.Key, 24)})
			}
		}
		if len(p.Marks) >= maxMarks {
			moves.WriteString(mark.Move)
			continue
		}
		mark.Tip = v.tip(e)
		p.Marks = append(p.Marks, mark)
	}
	for _, m := range named {
		labels.name(m)
	}
	p.Rest, p.Names = rest.String(), labels.names
	p.Crowd = mapMark{At: [2]string{crowd[0].String(), crowd[1].String()}, Move: moves.String()}
	return p
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// tip describes where an entity is.
func (v *mapView) tip(e document.MapEntity) string {
	name := v.title(&e)
	switch {
	case e.At[1] == nil:
		return fmt.Sprintf("%s: only on %s, at %s", name, v.Peers[0].Name, position(e.At[0]))
	case e.At[0] == nil:
		return fmt.Sprintf("%s: only on %s, at %s", name, v.Peers[1].Name, position(e.At[1]))
	case apart(e) > 0:
		return fmt.Sprintf("%s: %s at %s, %s at %s, %s apart", name, v.Peers[0].Name, position(e.At[0]), v.Peers[1].Name, position(e.At[1]), short(apart(e)))
	case e.Differs:
		return fmt.Sprintf("%s: on both at %s; other values differ", name, position(e.At[0]))
	}
	return fmt.Sprintf("%s: equal, at %s", name, position(e.At[0]))
}

func position(at *[2]float64) string {
	return strconv.FormatFloat(at[0], 'g', 9, 64) + ", " + strconv.FormatFloat(at[1], 'g', 9, 64)
}

// short returns a number as short as it can be read back from six digits.
func short(v float64) string {
	switch {
	case v == 0:
		v = 0 // not -0
	case math.IsInf(v, 0):
		return "∞" // a distance beyond all numbers
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// grid draws lines at round coordinates, and leaves room for their numbers at the left.
func (p *mapPanel) grid(of extent, w, h float64) {
	values := func(from, to float64) (list []float64, widest int) {
		for _, n := range []int{6, 3} { // fewer where the numbers are long
			step := niceStep(to-from, n)
			list, widest = nil, 0
			for v := math.Ceil(from/step) * step; v <= to && len(list) < 16; v += step {
				list, widest = append(list, v), max(widest, len(short(v)))
			}
			if widest <= 5 {
				break
			}
		}
		return list, widest
	}
	xs, _ := values(of.x0, of.x1)
	ys, widest := values(of.y0, of.y1)
	p.left = float64(18 + mapDigit*widest)
	for _, v := range xs {
		x, _ := of.at(v, of.y0, p.left)
		p.Grid = append(p.Grid, gridLine{num(x), num(mapTop), num(x), num(mapTop + h), num(x), num(mapTop + h + 18), short(v), "middle"})
	}
	for _, v := range ys {
		_, y := of.at(of.x0, v, p.left)
		p.Grid = append(p.Grid, gridLine{num(p.left), num(y), num(p.left + w), num(y), num(p.left - 8), num(y + 4), short(v), "end"})
	}
}

// labelling puts names next to marks so that none covers another, or a mark.
type labelling struct {
	left, right, bottom float64
	most                int
	names               []mapText
	taken               []extent
}

type namedMark struct {
	x, y float64
	text string
}

// maxNames is how many entities of a panel carry their names.
const maxNames = 12

// name adds the name of a mark, unless there is no room next to it.
func (l *labelling) name(m namedMark) {
	const letter, high, beside = 11, 18, 9 // a bold letter at most, as it is on a narrow screen
	if len(l.names) == l.most {
		return
	}
	w := letter * float64(prose.Columns(m.text))
	for _, dy := range []float64{-10, 24, 6} {
		for _, start := range []bool{true, false} {
			box := extent{m.x + beside, m.y + dy - high + 4, m.x + beside + w, m.y + dy + 4}
			at := mapText{num(m.x + beside), num(m.y + dy), "start", m.text}
			if !start {
				box.x0, box.x1 = m.x-beside-w, m.x-beside
				at.X, at.Anchor = num(m.x-beside), "end"
			}
			if box.x0 < l.left || box.x1 > l.right || box.y0 < mapTop || box.y1 > l.bottom || slices.ContainsFunc(l.taken, box.meets) {
				continue
			}
			l.names, l.taken = append(l.names, at), append(l.taken, box)
			return
		}
	}
}

func (e extent) meets(o extent) bool {
	return e.x0 < o.x1 && o.x0 < e.x1 && e.y0 < o.y1 && o.y0 < e.y1
}
