package snapshot

import (
	"slices"
	"sort"
	"strings"
)

// Entity is an object in a game. Rows in several tables may belong to it.
type Entity struct {
	Kind string // the game's name for this kind of object, else the label of a table
	Key  Key    // unique within the kind
}

// Naming maps the rows of one state to entities, and knows the game's names for them. It uses only what the state
// contains, without guesses.
type Naming interface {
	// Entity returns the entity to which a row of an archetype belongs.
	Entity(label string, key Key) Entity
	// Has reports whether the state has an entity that Entity returned. It returns true if that cannot be read, so that
	// an entity counts as missing only if that is certain.
	Has(e Entity) bool
	// Describe returns the entity's own name or type, and its place ("x 8, y 25"). Either is empty if the state does
	// not contain it.
	Describe(e Entity) (name, place string)
}

// TableNaming is the Naming for a state about which only the tables are known. If a row's key is (owner, index) and its
// label continues an archetype's label, the row belongs to a list of its owner. Each other row is an entity.
type TableNaming struct{ *Lookup }

// NewTableNaming returns the Naming of a state by its tables.
func NewTableNaming(s State) TableNaming { return TableNaming{NewLookup(s)} }

// Entity implements Naming.
func (n TableNaming) Entity(label string, key Key) Entity {
	if !key.Two {
		return Entity{label, key}
	}
	for i, c := range label {
		if c == '.' && n.parts(label[:i]) == 1 {
			return Entity{label[:i], Key{A: key.A}}
		}
	}
	return Entity{label, key}
}

// Has implements Naming.
func (n TableNaming) Has(e Entity) bool { return n.HasRow(e.Kind, e.Key) }

// Describe implements Naming. Tables alone contain no names.
func (n TableNaming) Describe(Entity) (name, place string) { return "", "" }

// Lookup finds single rows and values in a state's archetypes.
type Lookup struct {
	state  State
	tables map[string]int
}

// NewLookup returns a Lookup for a state. The state must stay open.
func NewLookup(s State) *Lookup {
	l := &Lookup{s, map[string]int{}}
	for i, t := range s.Info().Tables {
		if t.Class == Archetype {
			l.tables[t.Label] = i
		}
	}
	return l
}

// Labels returns the labels of the archetypes with keys of one part, in order.
func (l *Lookup) Labels() (list []string) {
	for _, t := range l.state.Info().Tables {
		if t.Class == Archetype && t.Parts == 1 {
			list = append(list, t.Label)
		}
	}
	return list
}

// parts returns the number of parts in an archetype's keys, 0 if there is no such archetype.
func (l *Lookup) parts(label string) int {
	if i, ok := l.tables[label]; ok {
		return l.state.Info().Tables[i].Parts
	}
	return 0
}

// HasRow reports whether an archetype has a row. It returns true if that cannot be read.
func (l *Lookup) HasRow(label string, key Key) bool {
	_, _, _, found, err := l.find(label, key)
	return found || err != nil
}

// find returns the position of a row.
func (l *Lookup) find(label string, key Key) (table, block, row int, found bool, err error) {
	table, ok := l.tables[label]
	if !ok || key.Two != (l.parts(label) == 2) {
		return 0, 0, 0, false, nil
	}
	index, err := l.state.Index(table)
	if err != nil {
		return 0, 0, 0, false, err
	}
	block = sort.Search(len(index.Blocks), func(i int) bool { return index.Blocks[i].First.Compare(key) > 0 }) - 1
	if block < 0 {
		return 0, 0, 0, false, nil
	}
	keys, err := l.state.LoadKeys(table, block)
	if err != nil {
		return 0, 0, 0, false, err
	}
	row, found = sort.Find(len(keys.A), func(i int) int { return key.Compare(keys.At(i)) })
	return table, block, row, found, nil
}

// Value returns a value from a row, false if there is none or it cannot be read. The value may alias the state.
func (l *Lookup) Value(label, component, field string, key Key) (Value, bool) {
	table, block, row, found, err := l.find(label, key)
	if !found || err != nil {
		return Value{}, false
	}
	index, err := l.state.Index(table)
	if err != nil {
		return Value{}, false
	}
	column := slices.IndexFunc(index.Columns, func(c ColumnInfo) bool { return c.Component == component && c.Field == field })
	if column < 0 {
		return Value{}, false
	}
	c, err := l.state.LoadBlock(table, block, column)
	if err != nil || !c.Has(row) {
		return Value{}, false
	}
	return c.At(row), true
}

// Text returns a text value, "" if there is none.
func (l *Lookup) Text(label, component, field string, key Key) string {
	if v, ok := l.Value(label, component, field, key); ok && v.Type == String {
		return strings.ToValidUTF8(string(v.Raw), "\uFFFD")
	}
	return ""
}

// Number returns a non-negative integer or a reference, false if there is none.
func (l *Lookup) Number(label, component, field string, key Key) (uint64, bool) {
	v, ok := l.Value(label, component, field, key)
	if !ok || v.Type.Width() == 0 || v.Type.Float() || v.Type == Fixed {
		return 0, false
	}
	n := v.bits()
	if v.Type.Signed() && n>>(8*v.Type.Width()-1) != 0 {
		return 0, false
	}
	return n, true
}
