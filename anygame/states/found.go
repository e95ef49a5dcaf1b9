package states

import (
	"fmt"
	"slices"
	"strings"
)

// Found is what was found out of the states in a file. Paths are as in Hints.
type Found struct {
	Tick, Peer string   // from the document on, empty if the file has none
	RNG        []string // the state of the random number generator
	Tables     []FoundTable
	Misfits    []Misfit

	index map[string]int                  // of Tables, by label
	has   map[string]map[FoundColumn]bool // the columns of each
}

// FoundTable is a table of states, and how its rows are found again.
type FoundTable struct {
	Label   string
	Path    string // empty for the values that belong to no table, and for a file that is a list of rows
	Key     string // the path from a row to its identity, empty if nothing in the row identifies it
	Why     Why
	Columns []FoundColumn
}

// HasRows reports whether a table has rows to find again, and is not the only row of the values that belong to no
// table.
func (t *FoundTable) HasRows() bool { return t.Why != OnlyRow }

// FoundColumn is a column of a table.
type FoundColumn struct {
	Component, Field string
	Path             string // empty for one that has no path, since its name is a value
}

// Why is the reason why something identifies the rows of a table.
type Why string

// What identifies rows.
const (
	OnlyRow   Why = "only row"  // there is one row
	ByPlace   Why = "place"     // nothing does but the place in the list
	ByName    Why = "name"      // the name in the map
	ByID      Why = "id"        // a member that is called id or the like, and is unique in every list
	ByStable  Why = "stable"    // a member that is unique in every list, and has the same values in other files
	Described Why = "described" // the hints have it
)

// Misfit is a place at which a file is not as the hints have it.
type Misfit struct {
	Offset int
	Text   string
}

// mostMisfits is how many misfits of a file are kept.
const mostMisfits = 1000

// fit notes what is wrong with the key of a row: it has none, or it comes again.
func (b *builder) fit(t *table, row int, has, again bool) {
	text := fmt.Sprintf("a row of %s without %s, expected one in each row", t.label, t.hint.Key)
	if again {
		text = fmt.Sprintf("a row of %s with the %s of an earlier one, expected another", t.label, t.hint.Key)
	}
	if (!has || again) && len(b.found.Misfits) < mostMisfits {
		b.found.Misfits = append(b.found.Misfits, Misfit{t.starts[row], text})
	}
}

// add adds a table of a state. What two states have is there once.
func (f *Found) add(t *table) {
	if t.why == OnlyRow && len(t.columns) == 0 {
		return
	}
	to := f.of(FoundTable{Label: t.label, Path: t.path, Key: t.key, Why: t.why})
	if len(to.Columns) == len(t.columns) {
		return
	}
	for _, c := range t.columns {
		f.column(to, FoundColumn{c.component, c.field, c.path})
	}
}

// Merge adds what was found in another file.
func (f *Found) Merge(g *Found) {
	if f.Tick == "" {
		f.Tick = g.Tick
	}
	if f.Peer == "" {
		f.Peer = g.Peer
	}
	for _, path := range g.RNG {
		if !slices.Contains(f.RNG, path) {
			f.RNG = append(f.RNG, path)
		}
	}
	for i := range g.Tables {
		to := f.of(g.Tables[i])
		for _, c := range g.Tables[i].Columns {
			f.column(to, c)
		}
	}
}

// of returns the table of a label, which is added without columns the first time. A key that is found later counts.
func (f *Found) of(t FoundTable) *FoundTable {
	i, ok := f.index[t.Label]
	if !ok {
		if f.index == nil {
			f.index, f.has = map[string]int{}, map[string]map[FoundColumn]bool{}
		}
		i = len(f.Tables)
		f.index[t.Label], f.has[t.Label] = i, map[FoundColumn]bool{}
		t.Columns = nil
		f.Tables = append(f.Tables, t)
	}
	to := &f.Tables[i]
	if to.Key == "" {
		to.Key, to.Why = t.Key, t.Why
	}
	return to
}

// column adds a column to a table, unless it has it.
func (f *Found) column(t *FoundTable, c FoundColumn) {
	if has := f.has[t.Label]; !has[c] {
		has[c] = true
		t.Columns = append(t.Columns, c)
	}
}

// PathOf returns the path of a column, empty if it has none.
func (f *Found) PathOf(label, component, field string) string {
	for _, t := range f.Tables {
		for _, c := range t.Columns {
			if t.Label == label && c.Component == component && c.Field == field {
				return c.Path
			}
		}
	}
	return ""
}

// identify notes what identifies the rows of a table.
func (t *table) identify(key string, why Why) {
	if t.key == "" {
		t.key, t.why = key, why
	}
}

// keyed reports whether the hints have the key of a table.
func (t *table) keyed() bool { return t.hint != nil && t.hint.Key != "" }

// inFile returns a path without the name of the only table of the file.
func (s *Schema) inFile(path string) string {
	if s.Table == "" {
		return path
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, s.Table), ".")
}

// join returns the path to a member.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// whyOf returns why a member identifies rows by itself.
func whyOf(m *node) Why {
	if idRank(m.name) > 0 && rank(weakWords, m.name) == 0 {
		return ByID
	}
	return ByStable
}
