package snapshot

import (
	"slices"
	"sort"
	"strings"
)

// Entity is a thing of a game to which rows of several tables may belong.
type Entity struct {
	Kind string // what the game calls such things, else the label of a table
	Key  Key    // among its kind
}

// Naming says which entities the rows of one state are of, and what the game calls them. It
// says what the state holds, and guesses nothing.
type Naming interface {
	// Entity returns the entity that a row of an archetype is of.
	Entity(label string, key Key) Entity
	// Has reports whether the state has an entity that Entity returned. Where that cannot
	// be read it is true: an entity is missing only if it is known to be.
	Has(e Entity) bool
	// Describe returns the entity's own name or type, and where it is ("x 8, y 25"), each
	// empty if the state does not say.
	Describe(e Entity) (name, place string)
}

// TableNaming is the naming of a state of which no more is known than its tables: a row of
// a list, whose label continues that of an archetype and whose key is (owner, index), is of
// its owner, and each other row is an entity.
type TableNaming struct{ *Lookup }

// NewTableNaming returns the naming of a state by its tables.
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

// Describe implements Naming: tables alone name nothing.
func (n TableNaming) Describe(Entity) (name, place string) { return "", "" }

// Lookup finds single rows and values of a state's archetypes.
type Lookup struct {
	state  State
	tables map[string]int
}

// NewLookup returns a Lookup of a state, which has to stay open.
func NewLookup(s State) *Lookup {
	l := &Lookup{s, map[string]int{}}
	for i, t := range s.Info().Tables {
		if t.Class == Archetype {
			l.tables[t.Label] = i
		}
	}
	return l
}

// Labels returns the archetypes whose keys have one part, in order.
func (l *Lookup) Labels() (list []string) {
	for _, t := range l.state.Info().Tables {
		if t.Class == Archetype && t.Parts == 1 {
			list = append(list, t.Label)
		}
	}
	return list
}

// parts returns how many parts the keys of an archetype have, 0 if there is none.
func (l *Lookup) parts(label string) int {
	if i, ok := l.tables[label]; ok {
		return l.state.Info().Tables[i].Parts
	}
	return 0
}

// HasRow reports whether an archetype has a row, and true if it cannot be read.
func (l *Lookup) HasRow(label string, key Key) bool {
	_, _, _, found, err := l.find(label, key)
	return found || err != nil
}

// find returns where a row is.
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

// Value returns the value of a row, false if there is none or it cannot be read. It may
// alias the state.
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

// Text returns a value of text, "" if there is none.
func (l *Lookup) Text(label, component, field string, key Key) string {
	if v, ok := l.Value(label, component, field, key); ok && v.Type == String {
		return strings.ToValidUTF8(string(v.Raw), "\uFFFD")
	}
	return ""
}

// Number returns a whole number that is not below zero, or a reference; false if there is
// none.
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
