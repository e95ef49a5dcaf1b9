package snapshot

import (
	"bytes"
	"fmt"
)

// DefaultLimit is how many changes and how many rows of one side only a diff
// keeps of each table by default. It always counts all.
const DefaultLimit = 1000

// DiffOptions says how states are compared. The zero value compares
// everything but noise.
type DiffOptions struct {
	Ignore *Ignore // what to hide
	Limit  int     // changes kept of each table; 0 means DefaultLimit, below 0 all
	Total  int     // changes and rows of one side kept of all tables, in equal shares; 0 means as Limit has it
	Noise  bool    // compare noise too
	Force  bool    // compare states of different sessions or points
}

// Diff is what differs between two states, A and B.
type Diff struct {
	A, B *Info

	// Lost is for callers that searched for the states: what could not be read
	// and might differ.
	Lost []string

	// Notes are for callers that know the files: what limits what the diff proves.
	Notes []string

	// Findings are for callers that know more of the states than their values: sentences about what differs.
	Findings []string

	// RNG is the change of the RNG state, nil if there is none. Its key is empty.
	RNG *Change

	// Tables are those that differ, archetypes before caches before noise.
	Tables []TableDiff

	// Hidden says what ignore rules hid.
	Hidden []Hidden

	// NoisyTables counts tables of noise that differ and were left out; Noisy are the labels of all
	// that differ, Classes the labels under which the states hold tables of different classes.
	NoisyTables int
	Noisy       []string
	Classes     []ClassChange

	caches int // that differ, hidden or not
}

// Hidden is a difference that an ignore rule hid.
type Hidden struct {
	Rule    string
	Label   string
	Column  string // "Component.field", or "" for a whole table
	Changed uint64 // values of the column that differ; 0 for a whole table
}

// TableDiff is what differs between two tables.
type TableDiff struct {
	Label string
	Class Class

	// InA and InB say which states have the table.
	InA, InB bool

	// OnlyA and OnlyB are the keys of rows that only one state has, ascending,
	// as many as the limit allows; the counts are of all of them.
	OnlyA, OnlyB           []Key
	OnlyACount, OnlyBCount uint64

	// Schema lists columns that only one state has or that have another type,
	// and keys of other parts: what cannot be compared by values.
	Schema []SchemaChange

	// Changes are the changed values by key, then column, as many as the limit
	// allows; Columns counts all of them.
	Changes []Change
	Columns []ColumnCount

	// Reordered is set if both states have the same rows, which have no ids, in another order.
	Reordered bool
}

// Changed returns how many values differ in rows that both states have.
func (t *TableDiff) Changed() uint64 {
	n := uint64(0)
	for _, c := range t.Columns {
		n += c.Changed
	}
	return n
}

// kept returns how many changes and rows are listed.
func (t *TableDiff) kept() int { return len(t.Changes) + len(t.OnlyA) + len(t.OnlyB) }

func (t *TableDiff) empty() bool {
	return t.InA && t.InB && t.OnlyACount+t.OnlyBCount == 0 && len(t.Schema) == 0 && len(t.Columns) == 0
}

// SchemaChange says how the schema of a table differs between two states.
type SchemaChange struct {
	// Column is Component.Field; empty if the keys have another number of parts, 1 or
	// 2, which are then in PartsA and PartsB.
	Column         string
	PartsA, PartsB int
	// A and B are the column's types, nil in the state that does not have it.
	A, B *ColumnType
}

// ColumnType is what the values of a column are.
type ColumnType struct {
	Type  Type
	Scale uint32 // see Column
}

// ColumnCount says how many rows of a column differ.
type ColumnCount struct {
	Component, Field string
	Changed          uint64
}

// RootsDiffer reports whether the authoritative states differ.
func (d *Diff) RootsDiffer() bool { return d.A.Root != d.B.Root }

// HistoriesDiffer reports whether both states have a history hash and these
// differ: the peers have parted at this point or before it.
func (d *Diff) HistoriesDiffer() bool {
	return !d.A.History.IsZero() && !d.B.History.IsZero() && d.A.Epoch == d.B.Epoch && d.A.History != d.B.History
}

// StaleCache reports whether caches differ although the authoritative states,
// from which they could be recomputed, are equal.
func (d *Diff) StaleCache() bool { return !d.RootsDiffer() && d.caches > 0 }

// Diverged reports whether the states prove a divergence. Ignore rules have no
// say in it.
func (d *Diff) Diverged() bool { return d.RootsDiffer() || d.HistoriesDiffer() || d.caches > 0 }

// LeftOut returns how many changed values and rows of one side were counted but not
// kept.
func (d *Diff) LeftOut() uint64 {
	n := uint64(0)
	for i := range d.Tables {
		t := &d.Tables[i]
		n += t.Changed() + t.OnlyACount + t.OnlyBCount - uint64(t.kept())
	}
	return n
}

// MismatchError says that two states are not of the same moment of the same
// session, so that their differences mean nothing.
type MismatchError struct {
	What string // "seeds" or "state points"
	A, B string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("states cannot be compared: %s are %s and %s", e.What, e.A, e.B)
}

// Comparable refuses states of different sessions or points.
func Comparable(a, b *Info) error {
	if a.Seed != b.Seed {
		return &MismatchError{"seeds", fmt.Sprintf("%016x", a.Seed), fmt.Sprintf("%016x", b.Seed)}
	}
	if !a.Point.Same(b.Point) {
		return &MismatchError{"state points", a.Point.String(), b.Point.String()}
	}
	return nil
}

// Compare compares two states. It reads only tables, columns and blocks whose
// digests differ, and holds a few blocks at a time. A file whose digests differ
// only because it is damaged is a *frame.Error. Of incomplete states that are not Alike, what both
// have is compared, see Common.
func Compare(a, b State, opts DiffOptions) (*Diff, error) {
	if !opts.Force {
		if err := Comparable(a.Info(), b.Info()); err != nil {
			return nil, err
		}
	}
	a, b, err := Common(a, b)
	if err != nil {
		return nil, err
	}
	d := &Diff{A: a.Info(), B: b.Info()}
	d.Noisy, d.Classes = CompareClasses(d.A, d.B)
	if !bytes.Equal(d.A.RNG, d.B.RNG) || (d.A.RNG == nil) != (d.B.RNG == nil) {
		va, vb := rngValues(&d.A.Head, &d.B.Head)
		change := newChange(Key{}, RNG, "state", va, vb, longValue)
		rule := opts.Ignore.table(RNG)
		if rule == "" {
			rule = opts.Ignore.column(RNG, RNG, "state")
		}
		if d.RNG = &change; rule != "" {
			d.RNG = nil
			d.Hidden = append(d.Hidden, Hidden{Rule: rule, Label: RNG, Column: RNG + ".state", Changed: 1})
		}
	}
	c := comparer{a: a, b: b, opts: opts, diff: d}
	if c.opts.Limit == 0 {
		c.opts.Limit = DefaultLimit
	}
	c.left = c.differing()
	for i, j := range pairTables(d.A.Tables, d.B.Tables) {
		c.begin()
		switch {
		case j < 0:
			err = c.lonely(&d.A.Tables[i], a, i, true)
		case i < 0:
			err = c.lonely(&d.B.Tables[j], b, j, false)
		default:
			err = c.table(i, j)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}
