package openra

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

// Limits on what a report may contain.
const (
	maxSame = 8 // fields of one trait with the same name
)

// syncComponent is the component of the column hash of each trait and effect.
const syncComponent = "sync"

// orderFields are the columns of orders that every report has, even one without
// orders.
var orderFields = [...]string{"OrderString", "Type", "Subject", "Target", "TargetString", "IsImmediate", "Player(PlayerName)"}

// tables are the tables of one report.
type tables struct {
	actors, orders  *table
	traits, effects map[string]*table // by type
	all             map[string]*table // by label
	columns, cells  int
	given           int // cells with a value
}

// table collects the rows of one table. The last row is the current one.
type table struct {
	label, component string
	two              bool // keys have two parts
	keysA, keysB     []uint64

	hash    *snapshot.Column // nil before the first one
	fields  map[string]*snapshot.Column
	columns []*snapshot.Column // all of them; rows after their last are absent
	more    *table             // of further traits of this type on one actor
}

func newTables() *tables {
	ts := &tables{traits: map[string]*table{}, effects: map[string]*table{}, all: map[string]*table{}}
	ts.actors = ts.must("(actor)", "actor")
	ts.orders = ts.must("(order)", "order")
	ts.orders.two = true
	for _, name := range orderFields {
		c := snapshot.NewColumn(ts.orders.component, name, snapshot.String, 0)
		ts.orders.columns = append(ts.orders.columns, &c)
		ts.orders.fields[name] = &c
	}
	return ts
}

// must adds a table that every report has.
func (ts *tables) must(label, component string) *table {
	t := &table{label: label, component: component, fields: map[string]*snapshot.Column{}}
	ts.all[label] = t
	return t
}

func (ts *tables) add(label, component string, two bool) (*table, error) {
	switch {
	case ts.all[label] != nil:
		return nil, fmt.Errorf("%s is the name of another table", label)
	case limits.Archetypes.Over(int64(len(ts.all)) + 1):
		return nil, limits.Archetypes.Reached("", 0)
	}
	t := ts.must(label, component)
	t.two = two
	return t, nil
}

func (t *table) addRow(a, b uint64) {
	t.keysA = append(t.keysA, a)
	if t.two {
		t.keysB = append(t.keysB, b)
	}
}

func (ts *tables) newColumn(t *table, component, field string, typ snapshot.Type) (*snapshot.Column, error) {
	if ts.columns++; limits.Columns.Over(int64(ts.columns)) {
		return nil, limits.Columns.Reached("", 0)
	}
	c := snapshot.NewColumn(component, field, typ, 0)
	t.columns = append(t.columns, &c)
	return &c, nil
}

// fill makes the rows of a column absent up to a row.
func (ts *tables) fill(c *snapshot.Column, row int) error {
	ts.given++ // the cell of the row, after this
	ts.cells += row + 1 - c.Rows()
	if err := limits.Filled(ts.cells, ts.given); err != nil {
		return err
	}
	for c.Rows() < row {
		c.AppendAbsent()
	}
	return nil
}

// setHash gives the current row its sync hash, which every row of a trait or
// effect has.
func (ts *tables) setHash(t *table, hash int32) error {
	var err error
	if t.hash == nil {
		if t.hash, err = ts.newColumn(t, syncComponent, "hash", snapshot.I32); err != nil {
			return err
		}
	}
	if err := ts.fill(t.hash, len(t.keysA)-1); err != nil {
		return err
	}
	t.hash.AppendInt(int64(hash))
	return nil
}

// set gives the current row a value.
func (ts *tables) set(t *table, name, value []byte) error {
	c, err := ts.text(t, name)
	if err != nil {
		return err
	}
	if err := ts.fill(c, len(t.keysA)-1); err != nil {
		return err
	}
	c.AppendBytes(value)
	return nil
}

// text returns the column of that name, in which the current row has no value
// yet. A second field of the same name, which a derived class can have, is named
// NAME#2.
func (ts *tables) text(t *table, name []byte) (*snapshot.Column, error) {
	row := len(t.keysA) - 1
	if c := t.fields[string(name)]; c != nil && c.Rows() <= row {
		return c, nil
	}
	if !plain(name) {
		return nil, fmt.Errorf("%.60q, expected the name of a field", name)
	}
	field := string(name)
	for n := 2; n <= maxSame+1; n++ {
		c := t.fields[field]
		if c == nil {
			c, err := ts.newColumn(t, t.component, field, snapshot.String)
			if err == nil {
				t.fields[field] = c
			}
			return c, err
		}
		if c.Rows() <= row {
			return c, nil
		}
		field = fmt.Sprintf("%s#%d", name, n)
	}
	return nil, fmt.Errorf("%.60q more than %d times", name, maxSame)
}

// finish returns the tables, their rows in the order of their keys.
func (ts *tables) finish() ([]snapshot.Table, error) {
	out := make([]snapshot.Table, 0, len(ts.all))
	for _, label := range slices.Sorted(maps.Keys(ts.all)) {
		t := ts.all[label]
		st := snapshot.Table{Label: t.label, Keys: snapshot.Keys{A: t.keysA, B: t.keysB}}
		if t.two && t.keysB == nil {
			st.Keys.B = []uint64{}
		}
		for _, c := range t.columns {
			if rows := len(t.keysA); c.Rows() < rows {
				if err := ts.fill(c, rows-1); err != nil {
					return nil, err
				}
				c.AppendAbsent()
			}
			st.Columns = append(st.Columns, *c)
		}
		if err := st.SortRows(); err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	return out, nil
}

// plain reports whether a table or column can have a name.
func plain(name []byte) bool {
	if len(name) == 0 || len(name) > snapshot.MaxName/2 || !utf8.Valid(name) {
		return false
	}
	return !slices.ContainsFunc(name, func(c byte) bool { return c < ' ' || c == 0x7f })
}
