package survey

import (
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/snapshot"
)

// Some games write each table of a state into a file of its own: units_300.csv beside players_300.csv. Files of one folder
// whose tables have other columns are such parts of one state. Files with the same columns are the states of several peers.

// divide gives each group its schema, and finds groups that are parts of one state.
func (s *survey) divide() {
	s.schemas = map[string]*states.Schema{}
	for _, folder := range s.byFolder() {
		kinds := alike(folder)
		for _, kind := range kinds {
			for _, g := range kind {
				if len(kinds) > 1 {
					g.table = tableName(g, folder)
				}
			}
		}
		if len(kinds) > 1 {
			folder[0].parts = folder[1:]
			for _, g := range folder[1:] {
				g.rest = true
			}
		}
	}
	for _, g := range s.order {
		key := g.notation.Name + " " + g.table
		if s.schemas[key] == nil {
			s.schemas[key] = &states.Schema{Table: g.table, Hints: s.hints()}
		}
		g.schema = s.schemas[key]
	}
}

// alike returns the groups of a folder whose files have mostly the same columns.
func alike(folder []*group) (kinds [][]*group) {
	if len(folder) == 1 {
		return [][]*group{folder}
	}
	var columns []map[column]bool // of the first group of each kind
	for _, g := range folder {
		own := g.columns()
		i := slices.IndexFunc(columns, func(other map[column]bool) bool {
			shared := 0
			for c := range own {
				if other[c] {
					shared++
				}
			}
			return 2*shared >= max(len(own), len(other))
		})
		if i < 0 {
			i = len(kinds)
			kinds, columns = append(kinds, nil), append(columns, own)
		}
		kinds[i] = append(kinds[i], g)
	}
	return kinds
}

// columns returns the columns of the first file that was read.
func (g *group) columns() map[column]bool {
	out := map[column]bool{}
	var schema states.Schema
	worlds, err := schema.Decode(g.notation, g.samples[0].text)
	if err != nil && !g.samples[0].cut {
		return out
	}
	for _, w := range worlds {
		for _, t := range w.Tables {
			for _, c := range t.Columns {
				out[column{t.Label, c.Component, c.Field}] = true
			}
		}
	}
	return out
}

// tableName returns the table in the files of a group by the words of their names that no other group of the folder has.
func tableName(g *group, folder []*group) string {
	base := g.bases[0]
	for i, word := range g.words(base) {
		if word != "" && !digits(word) && varies(folder, i) {
			return word
		}
	}
	return filepath.Base(base)
}

func digits(word string) bool {
	return !slices.ContainsFunc([]byte(word), func(c byte) bool { return c < '0' || c > '9' })
}

// join adds the tables of the other files of a state.
func (f *found) join(worlds []*snapshot.World, path string) ([]*snapshot.World, error) {
	g := f.group(path)
	if g == nil {
		return worlds, nil
	}
	tick, ticked := g.tickOf(filepath.Base(path))
	for _, part := range g.parts {
		for _, base := range part.bases {
			if n, ok := part.tickOf(base); ok != ticked || n != tick {
				continue
			}
			text, err := f.survey.read(filepath.Join(part.dir, base), wholeText)
			if err != nil {
				return nil, err
			}
			more, err := part.decode(text, filepath.Join(part.dir, base))
			if err != nil {
				return nil, err
			}
			worlds = merge(worlds, more)
		}
	}
	return worlds, nil
}

// merge adds the tables of some states to others of the same points and peers.
func merge(worlds, more []*snapshot.World) []*snapshot.World {
	for _, w := range more {
		i := slices.IndexFunc(worlds, func(v *snapshot.World) bool {
			return v.Peer == w.Peer && (v.Point.Same(w.Point) || !v.Point.Known() || !w.Point.Known())
		})
		if i < 0 {
			worlds = append(worlds, w)
			continue
		}
		v := worlds[i]
		if !v.Point.Known() {
			v.Point = w.Point
		}
		if v.RNG == nil && w.RNG != nil {
			v.RNG, v.Meta = w.RNG, w.Meta
		}
		v.Tables = append(v.Tables, w.Tables...)
		v.Sort()
	}
	return worlds
}
