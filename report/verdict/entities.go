package verdict

import (
	"cmp"
	"slices"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// maxEntities is how many entities a report lists in addition to the entities of the locus.
const maxEntities = 120

// grouping finds out which entity each row that differs is of.
type grouping struct {
	p     *Parted
	names [2]snapshot.Naming // nil where no state is at hand
	index map[entityID]int
	list  []*grouped
}

type entityID struct {
	snapshot.Entity
	cache bool
}

// grouped is an entity with its differences.
type grouped struct {
	id     entityID
	values uint64
	rows   []document.EntityRows
	sides  [2]bool  // which have rows that the other has not
	place  int      // in the report
	rng    bool     // it is the RNG, which has no key
	labels []string // of the tables in which it differs
}

func newGrouping(p *Parted) *grouping {
	g := &grouping{p: p, names: p.Naming, index: map[entityID]int{}}
	for i, s := range p.States {
		if g.names[i] == nil && s != nil {
			g.names[i] = snapshot.NewTableNaming(s)
		}
	}
	return g
}

// of returns the entity of a row that a side has.
func (g *grouping) of(side int, t *snapshot.TableDiff, key snapshot.Key) *grouped {
	id := entityID{snapshot.Entity{Kind: t.Label, Key: key}, t.Class == snapshot.Cache}
	if names := g.names[side]; names != nil && !id.cache {
		id.Entity = names.Entity(t.Label, key)
	}
	i, ok := g.index[id]
	if !ok {
		i = len(g.list)
		g.index[id] = i
		g.list = append(g.list, &grouped{id: id, place: -1})
	}
	if e := g.list[i]; len(e.labels) == 0 || e.labels[len(e.labels)-1] != t.Label {
		e.labels = append(e.labels, t.Label)
	}
	return g.list[i]
}

// Entities counts the entities that differ in some archetypes. All is unset if there may be more.
func (c *Conclusion) Entities(archetypes []string) (n int, all bool) {
	all = true
	for _, t := range c.tables {
		if t.Class == snapshot.Archetype && slices.Contains(archetypes, t.Label) {
			all = all && t.Kept() == t.Changed()+t.OnlyACount+t.OnlyBCount
		}
	}
	for _, e := range c.grouped {
		if !e.id.cache && slices.ContainsFunc(e.labels, func(l string) bool { return slices.Contains(archetypes, l) }) {
			n++
		}
	}
	return n, all
}

// table counts what differs in a table.
func (g *grouping) table(t *snapshot.TableDiff) {
	for i := range t.Changes {
		g.of(0, t, t.Changes[i].Key).values++
	}
	for side, keys := range [][]snapshot.Key{t.OnlyA, t.OnlyB} {
		for _, key := range keys {
			e := g.of(side, t, key)
			e.sides[side] = true
			peer := g.p.Names[side]
			n := slices.IndexFunc(e.rows, func(r document.EntityRows) bool { return r.Archetype == t.Label && r.Peer == peer })
			if n < 0 {
				n = len(e.rows)
				e.rows = append(e.rows, document.EntityRows{Archetype: t.Label, Peer: peer})
			}
			e.rows[n].Count++
		}
	}
}

// entities lists all entities that differ, the entities of the locus first.
func (c *Conclusion) entities(g *grouping, locus []*grouped, rows uint64) {
	k := c.Compared
	add := func(e *grouped) {
		if e.place < 0 {
			e.place = len(k.Entities)
			k.Entities = append(k.Entities, g.describe(e))
		}
	}
	for i, e := range locus {
		if e == nil {
			continue
		}
		add(e)
		c.Locus[i].Entity = &e.place
	}
	n := len(k.Entities)
	for _, e := range g.list {
		if e.place < 0 && len(k.Entities)-n < maxEntities {
			add(e)
		}
	}
	others := document.Others{Values: k.Values, Rows: rows}
	for i := range k.Entities {
		others.Values -= min(others.Values, k.Entities[i].Values)
		for _, r := range k.Entities[i].Rows {
			others.Rows -= min(others.Rows, r.Count)
		}
	}
	if others != (document.Others{}) {
		k.Others = &others
	}
}

// describe describes an entity by what both states contain about it.
func (g *grouping) describe(e *grouped) document.Entity {
	out := document.Entity{Kind: e.id.Kind, Key: e.id.Key.String(), Cache: e.id.cache, Values: e.values, Rows: e.rows}
	if e.id.cache {
		if e.values == 0 && e.sides[0] != e.sides[1] { // the row is the entry
			out.OnlyOn = e.rows[0].Peer
		}
		return out
	}
	if e.rng {
		out.Key = ""
		return out
	}
	has := [2]bool{true, true}
	var names, places []string
	for side, naming := range g.names {
		if naming == nil {
			if e.values == 0 && e.sides[1-side] && !e.sides[side] {
				has[side] = false // nothing but this row is known of it
			}
			continue
		}
		if e.values == 0 && e.sides[1-side] && !e.sides[side] {
			has[side] = naming.Has(e.id.Entity)
		}
		if !has[side] {
			continue
		}
		name, place := naming.Describe(e.id.Entity)
		names, places = append(names, name), append(places, place)
	}
	for side := range has {
		if !has[side] && has[1-side] {
			out.OnlyOn = g.p.Names[1-side]
		}
	}
	out.Name, out.Place = agreed(names), agreed(places)
	return out
}

// agreed returns the text of the list if all its texts are equal.
func agreed(list []string) string {
	if len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return s != list[0] }) {
		return ""
	}
	return cmp.Or(list...)
}
