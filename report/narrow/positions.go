package narrow

import (
	"cmp"
	"math"
	"slices"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/snapshot"
)

// Limits of a map: entities that it shows, and how many are read to find them.
const (
	maxEntities  = 600
	maxPositions = 200_000
)

// axes are the columns that hold positions, by their fields: the first pair of which an
// archetype has numbers counts.
var axes = [][2]string{{"x", "y"}, {"x", "z"}, {"pos.x", "pos.z"}, {"pos.x", "pos.y"}, {"x_pos", "y_pos"}, {"position.x", "position.y"}, {"Position.x", "Position.z"}}

// places are words in the name of a component or field that say that it is where an
// entity is, rather than where it heads.
var places = []string{"Position", "position", "pos", "Pos", "Location", "location"}

// positions finds where entities are on both peers whose states differ.
func (g *gatherer) positions() error {
	p := g.e.Parted
	if p == nil {
		return nil
	}
	m := &report.PositionsMap{Peers: p.Names, Point: p.Diff.A.Point.Tick}
	type entity struct {
		archetype string
		key       snapshot.Key
	}
	at := map[entity]*report.MapEntity{}
	for side, s := range p.States {
		for i, t := range s.Info().Tables {
			if t.Class != snapshot.Archetype || t.Rows == 0 || len(at)+int(min(t.Rows, maxPositions)) > maxPositions {
				continue
			}
			err := eachPosition(s, i, func(key snapshot.Key, names [2]string, where [2]float64) {
				if m.X == "" {
					m.X, m.Y = names[0], names[1]
				}
				if m.X != names[0] || m.Y != names[1] {
					return // another space, as far as is known
				}
				id := entity{t.Label, key}
				if at[id] == nil {
					at[id] = &report.MapEntity{Archetype: t.Label, Key: key.String()}
				}
				at[id].At[side] = &where
			})
			if err != nil {
				return err
			}
		}
	}
	changed := map[entity]bool{}
	for i := range p.Diff.Tables {
		t := &p.Diff.Tables[i]
		for k := range t.Changes {
			changed[entity{t.Label, t.Changes[k].Key}] = true
		}
	}
	for id, e := range at {
		e.Differs = changed[id] || e.At[0] == nil || e.At[1] == nil
		m.Entities = append(m.Entities, *e)
	}
	slices.SortFunc(m.Entities, func(a, b report.MapEntity) int {
		return cmp.Or(cmp.Compare(a.Archetype, b.Archetype), cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	if around(m); len(m.Entities) > 0 {
		g.e.Map = m
	}
	return nil
}

// around keeps the entities that differ, and of the others those that are nearest to the
// first of these.
func around(m *report.PositionsMap) {
	var centre *[2]float64
	for i := range m.Entities {
		if e := &m.Entities[i]; e.Differs {
			centre = cmp.Or(e.At[0], e.At[1])
			break
		}
	}
	distance := func(e *report.MapEntity) float64 {
		w := cmp.Or(e.At[0], e.At[1])
		if centre == nil || w == nil {
			return math.Inf(1)
		}
		return math.Hypot(w[0]-centre[0], w[1]-centre[1])
	}
	slices.SortStableFunc(m.Entities, func(a, b report.MapEntity) int {
		if a.Differs != b.Differs {
			if a.Differs {
				return -1
			}
			return 1
		}
		return cmp.Compare(distance(&a), distance(&b))
	})
	if n := len(m.Entities); n > maxEntities {
		m.Entities, m.Left = m.Entities[:maxEntities], uint64(n-maxEntities)
	}
}

// eachPosition calls f with the position of each row of a table that has one.
func eachPosition(s snapshot.State, table int, f func(key snapshot.Key, names [2]string, where [2]float64)) error {
	index, err := s.Index(table)
	if err != nil {
		return err
	}
	x, y := axesOf(index.Columns)
	if x < 0 {
		return nil
	}
	names := [2]string{columnName(&index.Columns[x]), columnName(&index.Columns[y])}
	for block := range index.Blocks {
		keys, err := s.LoadKeys(table, block)
		if err != nil {
			return err
		}
		c, err := s.LoadBlock(table, block, x)
		if err != nil {
			return err
		}
		xs := c.Clone()
		ys, err := s.LoadBlock(table, block, y)
		if err != nil {
			return err
		}
		for i := range xs.Rows() {
			where := [2]float64{number(&xs, i), number(&ys, i)}
			if finite(where[0]) && finite(where[1]) {
				f(keys.At(i), names, where)
			}
		}
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func columnName(c *snapshot.ColumnInfo) string { return c.Component + "." + c.Field }

// axesOf returns the columns of a position, below 0 if there are none.
func axesOf(columns []snapshot.ColumnInfo) (x, y int) {
	for _, pair := range axes {
		for i := range columns {
			c := &columns[i]
			if c.Field != pair[0] || c.Type.Width() < 2 || c.Type == snapshot.Ref || !placed(c) {
				continue
			}
			k := slices.IndexFunc(columns, func(d snapshot.ColumnInfo) bool {
				return d.Component == c.Component && d.Field == pair[1] && d.Type == c.Type
			})
			if k >= 0 {
				return i, k
			}
		}
	}
	return -1, -1
}

// placed reports whether a column's name says that it is where an entity is.
func placed(c *snapshot.ColumnInfo) bool {
	return slices.Contains(places, c.Component) || slices.ContainsFunc(places, func(p string) bool {
		return len(c.Field) > len(p) && (c.Field[:len(p)] == p || c.Field[len(c.Field)-len(p):] == p)
	})
}

// number returns the value of a row as a number, NaN if it has none.
func number(c *snapshot.Column, i int) float64 {
	switch {
	case !c.Has(i):
		return math.NaN()
	case c.Type == snapshot.F32 || c.Type == snapshot.F64:
		return c.Float(i)
	case c.Type == snapshot.Fixed:
		return float64(c.Int(i)) / float64(c.Scale)
	case c.Type == snapshot.U64:
		return float64(c.Uint(i))
	}
	return float64(c.Int(i))
}
