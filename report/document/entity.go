package document

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Entity is a thing in the game with all its differences between two states: a unit with its components, a town with
// its lists. The RNG has no key.
type Entity struct {
	// Kind is the game's word for such things, or the label of an archetype or cache; Key is its number among them.
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	Cache bool   `json:"cache,omitempty"`
	// Name is its own name or type, Place where it is; each empty if the states do not contain it, or do not agree.
	Name  string `json:"name,omitempty"`
	Place string `json:"place,omitempty"`
	// OnlyOn is the only peer that has it, empty if both have it or that is not known.
	OnlyOn string `json:"only_on,omitempty"`
	// Values counts its differing values, Rows are its rows that only one side has.
	Values uint64       `json:"values"`
	Rows   []EntityRows `json:"rows,omitempty"`
}

// EntityRows are rows of an entity that only one side has.
type EntityRows struct {
	Archetype string `json:"archetype"`
	Peer      string `json:"peer"` // that has them
	Count     uint64 `json:"count"`
}

// Others counts the differences of entities that are not listed.
type Others struct {
	Values uint64 `json:"values"`
	Rows   uint64 `json:"rows"`
}

// Short returns the kind and number of an entity: "unit 151".
func (e *Entity) Short() string {
	name := prose.Name(e.Kind)
	if e.Cache {
		name = "cache " + name
	}
	if e.Key != "" {
		name += " " + Safe(e.Key)
	}
	return name
}

// Title returns the name of an entity for people: "unit 151 (units/athen/infantry)", "town 3 (Sunningfield, tile x 30,
// y 20)".
func (e *Entity) Title() string {
	if about := e.about(); about != "" {
		return e.Short() + " (" + about + ")"
	}
	return e.Short()
}

// CountEntities counts entities of a kind: "3 units", "1 entity of Infantry" where the kind is the label
// of an archetype.
func CountEntities(kind string, n uint64) string {
	if many := plural(kind); many != kind {
		return prose.Count(n, kind, many)
	}
	return prose.Count(n, "entity", "entities") + " of " + prose.Name(kind)
}

func (e *Entity) about() string {
	var parts []string
	if e.Name != "" {
		parts = append(parts, prose.Name(prose.Shorten(e.Name, maxEntityName)))
	}
	if e.Place != "" {
		parts = append(parts, prose.Shorten(Safe(e.Place), maxEntityName))
	}
	return strings.Join(parts, ", ")
}

// maxEntityName is how much of an entity's own name is shown next to its number.
const maxEntityName = 40

// rows counts the rows of an entity that one side has.
func (e *Entity) rows() (n uint64) {
	for i := range e.Rows {
		n += e.Rows[i].Count
	}
	return n
}

// byTables returns what a report compares and its locus. If the report has no entities, as older ones, or does not name
// an entity for each value, each row of a table counts as an entity.
func byTables(r *Report) (*Compared, []LocusField) {
	if r.Compared == nil {
		k := &Compared{Values: uint64(len(r.Locus))}
		copy(k.Peers[:], LocusPeers(r))
		return byTables(&Report{Compared: k, Locus: r.Locus})
	}
	n := len(r.Compared.Entities)
	if n > 0 && !slices.ContainsFunc(r.Locus, func(f LocusField) bool { return f.Entity == nil || *f.Entity < 0 || *f.Entity >= n }) {
		return r.Compared, r.Locus
	}
	k, locus := *r.Compared, slices.Clone(r.Locus)
	k.Entities, k.Others = nil, nil
	index := map[rowName]int{}
	of := func(archetype, key string, cache bool) int {
		id := rowName{archetype, key, cache}
		i, ok := index[id]
		if !ok {
			i = len(k.Entities)
			index[id] = i
			k.Entities = append(k.Entities, Entity{Kind: LabelName(archetype), Key: key, Cache: cache})
		}
		return i
	}
	others := Others{Values: k.Values}
	for i := range locus {
		f := &locus[i]
		n := of(f.Archetype, f.Key, f.Cache)
		k.Entities[n].Values++
		f.Entity = &n
		others.Values -= min(others.Values, 1)
	}
	for i := range k.Rows {
		rows := &k.Rows[i]
		for _, key := range rows.Keys {
			e := &k.Entities[of(rows.Archetype, key, rows.Cache)]
			e.Rows = append(e.Rows, EntityRows{rows.Archetype, rows.Peer, 1})
			e.OnlyOn = rows.Peer
		}
		others.Rows += rows.Count - min(rows.Count, uint64(len(rows.Keys)))
	}
	if others != (Others{}) {
		k.Others = &others
	}
	return &k, locus
}

// rowName names a row of a table.
type rowName struct {
	archetype, key string
	cache          bool
}

// Gathered has the differences between two states as texts show them: each entity once, in the order of the locus.
// Values that both sides have come before values that one side lacks.
type Gathered struct {
	Entities []GatheredEntity
	// Absent are the entities that only one side has, by kind and side.
	Absent []AbsentEntities
	Others Others
}

// GatheredEntity is an entity that both sides have, with its listed values.
type GatheredEntity struct {
	*Entity
	Lines []GatheredLine
	// Left counts its values that are not among Lines.
	Left uint64
}

// GatheredLine is one difference of an entity, which several fields may have in common: the
// same two values.
type GatheredLine struct {
	*LocusField
	Same []*LocusField // the others, after the first
	Of   *Entity
}

// AbsentEntities are entities of one kind that only one side has.
type AbsentEntities struct {
	Kind     string
	Cache    bool
	Peer     string
	Entities []*Entity
	Rows     uint64 // of all of them
	Tables   int    // in this many archetypes
}

// Gather collects the differences of each entity.
func (r *Report) Gather() *Gathered {
	if r.Compared == nil && len(r.Locus) == 0 {
		return &Gathered{}
	}
	k, locus := byTables(r)
	g := &Gathered{}
	if k.Others != nil {
		g.Others = *k.Others
	}
	lines := make([][]GatheredLine, len(k.Entities))
	listed := make([]uint64, len(k.Entities))
	a, b := k.Peers[0], k.Peers[1]
	for i := range locus {
		f := &locus[i]
		n := *f.Entity
		listed[n]++
		same := slices.IndexFunc(lines[n], func(l GatheredLine) bool {
			return l.Kind == f.Kind && l.Values[a] == f.Values[a] && l.Values[b] == f.Values[b]
		})
		if same < 0 {
			lines[n] = append(lines[n], GatheredLine{LocusField: f, Of: &k.Entities[n]})
		} else {
			lines[n][same].Same = append(lines[n][same].Same, f)
		}
	}
	type side struct {
		kind, peer string
		cache      bool
	}
	absent, tables := map[side]int{}, map[side]map[string]bool{}
	for i := range k.Entities {
		e := &k.Entities[i]
		if e.OnlyOn == "" {
			g.Entities = append(g.Entities, GatheredEntity{e, lines[i], e.Values - min(e.Values, listed[i])})
			continue
		}
		s := side{e.Kind, e.OnlyOn, e.Cache}
		n, ok := absent[s]
		if !ok {
			n = len(g.Absent)
			absent[s], tables[s] = n, map[string]bool{}
			g.Absent = append(g.Absent, AbsentEntities{Kind: e.Kind, Cache: e.Cache, Peer: e.OnlyOn})
		}
		g.Absent[n].Entities = append(g.Absent[n].Entities, e)
		g.Absent[n].Rows += e.rows()
		for _, rows := range e.Rows {
			tables[s][rows.Archetype] = true
		}
		g.Absent[n].Tables = len(tables[s])
	}
	for i := range g.Entities {
		lists.SortStable(g.Entities[i].Lines, func(a, b GatheredLine) int { return a.lacking() - b.lacking() })
	}
	lists.SortStable(g.Entities, func(a, b GatheredEntity) int { return a.place() - b.place() })
	return g
}

// Leading returns the first n values as texts show them: values that both sides have come first.
func Leading(locus []LocusField, n int) []LocusField {
	locus = slices.Clone(locus)
	lists.SortStable(locus, func(a, b LocusField) int { return a.lacking() - b.lacking() })
	return locus[:min(len(locus), n)]
}

// lacking is 1 for a value that one side lacks.
func (f *LocusField) lacking() int {
	if f.Kind == snapshot.KindAbsent {
		return 1
	}
	return 0
}

// place orders entities for readers: the RNG, whose bits nobody can read, comes after entities with values on both
// sides, and before entities that lack all their listed values on one side.
func (e *GatheredEntity) place() int {
	switch {
	case e.Kind == snapshot.RNG && e.Key == "":
		return 1
	case len(e.Lines) > 0 && e.Lines[0].lacking() > 0:
		return 2
	}
	return 0
}

// Each returns the listed values of an entity, one by one.
func (e *GatheredEntity) Each() []GatheredLine { return e.lines(true) }

// Title names the entities: "units 151, 152 and 2 more", with up to most of them.
func (a *AbsentEntities) Title(most int) string {
	if len(a.Entities) == 1 {
		return a.Entities[0].Title()
	}
	kind := plural(prose.Name(a.Kind))
	if a.Cache {
		kind = "cache " + kind
	}
	keys := lists.Map(a.Entities, func(e *Entity) string { return Safe(e.Key) })
	return kind + " " + prose.FirstOf(keys, most)
}

// Rest describes how many rows the entities have, if more than one each.
func (a *AbsentEntities) Rest() string {
	if a.Rows <= uint64(len(a.Entities)) && a.Tables < 2 {
		return ""
	}
	return prose.Count(a.Rows, "row", "rows") + " in " + prose.Count(a.Tables, "archetype", "archetypes")
}

// plural returns the plural of a game's own word for a kind of things; a label of an archetype is returned unchanged,
// and so is the name of a list, which is already a plural.
func plural(kind string) string {
	if kind == "" || strings.HasSuffix(kind, "s") || kind[0] < 'a' || kind[0] > 'z' || strings.IndexFunc(kind, func(r rune) bool { return r != ' ' && (r < 'a' || r > 'z') }) >= 0 {
		return kind
	}
	if head, ok := strings.CutSuffix(kind, "y"); ok && !strings.HasSuffix(head, "e") {
		return head + "ies"
	}
	return kind + "s"
}

// RowsText describes, for an entity that both sides have, the rows that only one side has: "2 rows of Health only on
// host".
func (e *Entity) RowsText() (list []string) {
	for _, rows := range e.Rows {
		list = append(list, prose.Count(rows.Count, "row", "rows")+" of "+tableName(rows.Archetype, e.Cache)+" only on "+prose.Name(rows.Peer))
	}
	return list
}

// Names returns the fields of a line: "Position.x (= Minimap.x and 2 more)", with up to most others.
func (l *GatheredLine) Names(most int) string {
	name := l.Of.fieldName(l.LocusField)
	if len(l.Same) == 0 {
		return name
	}
	return name + " (= " + prose.FirstOf(lists.Map(l.Same, l.Of.fieldName), most) + ")"
}

// fieldName names a field of an entity: the archetype if neither the entity nor the component shows it,
// Component.field, and its row in a list.
func (e *Entity) fieldName(f *LocusField) string {
	if f.Archetype == "" {
		return "state"
	}
	name := prose.Name(strings.Trim(f.Component+"."+f.Field, "."))
	of := f.Archetype == e.Kind || strings.EqualFold(f.Archetype, e.Kind) ||
		slices.Contains(strings.Split(f.Archetype, "."), f.Component) || strings.HasPrefix(f.Archetype, f.Component+".")
	if !of {
		name = prose.Name(f.Archetype) + " " + name
	}
	if row, ok := strings.CutPrefix(f.Key, e.Key+":"); ok && e.Key != "" {
		if list, ok := strings.CutSuffix(name, "[]"); ok {
			return list + "[" + Safe(row) + "]"
		}
		return name + " [" + Safe(row) + "]"
	}
	return name
}
