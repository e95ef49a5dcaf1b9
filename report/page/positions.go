package page

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
)

// mapView are the positions of entities on two peers, laid over each other.
type mapView struct {
	picture
	Peers    [2]peer
	Point    uint64
	X, Y     string
	Left     uint64
	Panels   []mapPanel
	Entities []mapRow
	Line     string
	Why      string // there is no picture
}

// mapPanel is one picture: the whole map, or a part of it drawn larger.
type mapPanel struct {
	Name          string
	Width, Height int
	Plot          mapBox
	Grid          []gridLine
	Others        []mapMark // entities that are equal
	Marks         []mapMark // those that differ
	Names         []mapText
	Window        *mapBox // the part that the other panel shows
}

type mapBox struct{ X, Y, W, H string }

type gridLine struct {
	X1, Y1, X2, Y2 string
	TX, TY         string
	Text, Anchor   string
}

// mapMark is an entity: where it is on both peers, empty where it is not, and the line from
// the one to the other.
type mapMark struct {
	At   [2]string
	Move string
	Tip  string
}

type mapText struct{ X, Y, Anchor, Text string }

type mapRow struct {
	report.MapEntity
	Label string
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

// maxPlace is how far from the middle a position may be that is drawn: beyond it differences
// of positions are not finite.
const maxPlace = math.MaxFloat64 / 8

func newMap(r *report.Report, peers peers) *mapView {
	m := r.Map
	if m == nil || len(m.Entities) == 0 {
		return nil
	}
	v := &mapView{Peers: [2]peer{peers.of(m.Peers[0]), peers.of(m.Peers[1])}, Point: m.Point, X: m.X, Y: m.Y, Left: m.Left}
	v.picture = picture{"map-picture", fmt.Sprintf("Map of %s at state point %d", prose.Count(len(m.Entities), "entity", "entities"), m.Point)}
	if v.Peers[0].Shape%shapes == v.Peers[1].Shape%shapes {
		v.Peers[1].Shape++
	}
	all := extent{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	var differ, moved int
	var farthest float64
	var drawn []report.MapEntity
	for _, e := range m.Entities {
		row := mapRow{MapEntity: e, Label: labelName(e.Archetype)}
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
		if e.Differs {
			differ++
		}
		if d := apart(e); d > 0 {
			moved++
			farthest = max(farthest, d)
			row.Apart = short(d)
		}
		v.Entities = append(v.Entities, row)
	}
	v.Line = fmt.Sprintf("%d of %s differ", differ, prose.Count(len(m.Entities)+int(m.Left), "entity", "entities"))
	if moved > 0 {
		v.Line += fmt.Sprintf(", %d in position, by up to %s", moved, short(farthest))
	}
	if len(drawn) == 0 {
		v.Why = "No entity has a position that can be drawn; the table has them."
		return v
	}
	whole := all.padded()
	window, closer := closeUp(drawn, whole)
	panel := v.panel("The whole", drawn, whole, false)
	if closer {
		panel.Window = window.box(whole)
		v.Panels = append(v.Panels, panel, v.panel("Close-up of the first that moved", drawn, window, true))
	} else {
		v.Panels = append(v.Panels, panel)
	}
	return v
}

// apart returns how far both positions of an entity are from each other.
func apart(e report.MapEntity) float64 {
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
	grow := func(from, to *float64) { // no narrower than a third
		if lack := side/3 - (*to - *from); lack > 0 {
			*from, *to = *from-lack/2, *to+lack/2
		}
	}
	grow(&e.x0, &e.x1)
	grow(&e.y0, &e.y1)
	return e
}

// closeUp returns the surroundings of the first entity whose positions differ, and whether
// they are so much smaller than the whole that they are worth a picture.
func closeUp(entities []report.MapEntity, whole extent) (extent, bool) {
	i := slices.IndexFunc(entities, func(e report.MapEntity) bool { return apart(e) > 0 })
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
	// The nearest others are in it where that leaves the distance between both positions to
	// be seen, and the numbers of the axes tell its sides apart.
	half := max(apart(entities[i])*1.5, min(near[min(4, len(near)-1)]*1.1, apart(entities[i])*40), math.Abs(x)*1e-4, math.Abs(y)*1e-4)
	most := max(whole.x1-whole.x0, whole.y1-whole.y0)
	return extent{x - half, y - half, x + half, y + half}, half*2 < most*0.5 && x-half < x && y-half < y
}

// Sizes of a panel.
const (
	mapSide   = 460
	mapLeft   = 56
	mapBottom = 28
	mapTop    = 10
)

// scale returns how many pixels a unit has, and the size of the plot.
func (e extent) scale() (unit, w, h float64) {
	unit = mapSide / max(e.x1-e.x0, e.y1-e.y0)
	return unit, (e.x1 - e.x0) * unit, (e.y1 - e.y0) * unit
}

// at returns where a position is in the panel: x to the right, y down, as on a screen.
func (e extent) at(x, y float64) (float64, float64) {
	unit, _, _ := e.scale()
	return mapLeft + (x-e.x0)*unit, mapTop + (y-e.y0)*unit
}

// box returns where part is in the panel of whole.
func (e extent) box(whole extent) *mapBox {
	x0, y0 := whole.at(max(e.x0, whole.x0), max(e.y0, whole.y0))
	x1, y1 := whole.at(min(e.x1, whole.x1), min(e.y1, whole.y1))
	return &mapBox{num(x0), num(y0), num(x1 - x0), num(y1 - y0)}
}

// maxNames is how many entities of a panel carry their names.
const maxNames = 10

// panel draws a part of the map; named says that entities carry their names.
func (v *mapView) panel(name string, entities []report.MapEntity, of extent, named bool) mapPanel {
	_, w, h := of.scale()
	p := mapPanel{Name: name, Width: int(w) + mapLeft + 20, Height: int(h) + mapTop + mapBottom, Plot: mapBox{num(mapLeft), num(mapTop), num(w), num(h)}}
	p.grid(of, w, h)
	sizes := [2]float64{6, 3.5} // so that the one is seen within the other
	if !named && len(entities) > 500 {
		sizes = [2]float64{4, 2.2}
	}
	for _, e := range entities {
		if !of.has(e.At[0]) && !of.has(e.At[1]) {
			continue
		}
		tip := v.tip(e)
		if !e.Differs && apart(e) == 0 && e.At[0] != nil && e.At[1] != nil {
			x, y := of.at(e.At[0][0], e.At[0][1])
			p.Others = append(p.Others, mapMark{At: [2]string{shape(0, round(x), round(y), 2.5)}, Tip: tip})
			continue
		}
		mark := mapMark{Tip: tip}
		if apart(e) > 0 {
			x0, y0 := of.at(e.At[0][0], e.At[0][1])
			x1, y1 := of.at(e.At[1][0], e.At[1][1])
			if math.Hypot(x1-x0, y1-y0) > 4 { // else the marks cover it
				mark.Move = fmt.Sprintf("M%s %sL%s %s", num(round(x0)), num(round(y0)), num(round(x1)), num(round(y1)))
			}
		}
		for side, at := range e.At {
			if !of.has(at) {
				continue
			}
			x, y := of.at(at[0], at[1])
			size := sizes[side]
			mark.At[side] = shape(v.Peers[side].Shape, round(x), round(y), size)
			if (side == 0 || e.At[0] == nil) && named && len(p.Names) < maxNames {
				text := mapText{num(round(x) + 9), num(round(y) - 9), "start", prose.Shorten(labelName(e.Archetype)+" "+e.Key, 24)}
				if x > mapLeft+w*0.7 {
					text.X, text.Anchor = num(round(x)-9), "end"
				}
				p.Names = append(p.Names, text)
			}
		}
		p.Marks = append(p.Marks, mark)
	}
	return p
}

func round(v float64) float64 { return math.Round(v*10) / 10 }

// tip says where an entity is.
func (v *mapView) tip(e report.MapEntity) string {
	name := labelName(e.Archetype) + " " + e.Key
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

// grid draws lines at round coordinates.
func (p *mapPanel) grid(of extent, w, h float64) {
	each := func(from, to float64, draw func(v float64)) {
		step := niceStep(to-from, 6)
		v := math.Ceil(from/step) * step
		for range 16 {
			if v > to {
				break
			}
			draw(v)
			v += step
		}
	}
	each(of.x0, of.x1, func(v float64) {
		x, _ := of.at(v, of.y0)
		p.Grid = append(p.Grid, gridLine{num(x), num(mapTop), num(x), num(mapTop + h), num(x), num(mapTop + h + 18), short(v), "middle"})
	})
	each(of.y0, of.y1, func(v float64) {
		_, y := of.at(of.x0, v)
		p.Grid = append(p.Grid, gridLine{num(mapLeft), num(y), num(mapLeft + w), num(y), num(mapLeft - 6), num(y + 4), short(v), "end"})
	})
}
