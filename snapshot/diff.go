package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
)

// DefaultLimit is how many changes, and how many rows of one side only, a diff keeps of each table by default. The
// counts always include all.
const DefaultLimit = 1000

// DiffOptions configures a comparison. The zero value compares everything except noise.
type DiffOptions struct {
	Ignore *Ignore // rules for what to hide
	Limit  int     // changes to keep per table; 0 means DefaultLimit, below 0 all
	Total  int     // changes and rows of one side to keep in all tables, in equal shares; 0 means that only Limit applies
	Noise  bool    // compare noise too
	Force  bool    // compare states of different sessions or points
}

// Diff contains the differences between two states, A and B.
type Diff struct {
	A, B *Info

	// Lost is for callers that searched for the states: the data that could not be read and might differ.
	Lost []string

	// Notes are for callers that know the files: reasons why the diff proves less.
	Notes []string

	// Findings are for callers that know more about the states than their values: sentences about the differences.
	Findings []string

	// RNG is the change of the RNG state, nil if there is none. It has an empty key.
	RNG *Change

	// Tables are the tables that differ: archetypes, then caches, then noise.
	Tables []TableDiff

	// Hidden lists the differences that ignore rules hid.
	Hidden []Hidden

	// NoisyTables counts noise tables that differ and were left out. Noisy are the labels of all noise tables that
	// differ. Classes are the labels under which the states have tables of different classes.
	NoisyTables int
	Noisy       []string
	Classes     []ClassChange

	caches int // caches that differ, hidden or not
}

// Hidden is a difference that an ignore rule hid.
type Hidden struct {
	Rule    string `json:"rule"`
	Label   string `json:"label"`
	Column  string `json:"column,omitempty"` // "Component.field", or "" for a whole table
	Changed uint64 `json:"values,omitempty"` // values in the column that differ; 0 for a whole table
}

// TableDiff contains the differences between two tables.
type TableDiff struct {
	Label string
	Class Class

	// InA and InB report which states have the table.
	InA, InB bool

	// OnlyA and OnlyB are the keys of rows that only one state has, ascending, up to the limit. The counts include all
	// such rows.
	OnlyA, OnlyB           []Key
	OnlyACount, OnlyBCount uint64

	// Schema lists differences that make values incomparable: columns that only one state has or that have another
	// type, and keys with another number of parts. A Scalar column is not among them, since it is made of the values
	// that a state has: to a state without the column each of its values is absent.
	Schema []SchemaChange

	// Changes are the changed values by key, then column, up to the limit; values in columns that one state lacks come
	// after all others. Columns and ChangedRows cover all of them: the columns with changed values, and the number of
	// rows with changed values.
	Changes     []Change
	Columns     []ColumnDiff
	ChangedRows uint64

	// Reordered is set if both states have the same rows in a different order, and the rows have no ids.
	Reordered bool
}

// Changed returns how many values differ in rows that both states have.
func (t *TableDiff) Changed() uint64 {
	n := uint64(0)
	for _, c := range t.Columns {
		n += c.Rows
	}
	return n
}

// Kept returns how many changes and rows are listed.
func (t *TableDiff) Kept() uint64 { return uint64(len(t.Changes) + len(t.OnlyA) + len(t.OnlyB)) }

func (t *TableDiff) empty() bool {
	return t.InA && t.InB && t.OnlyACount+t.OnlyBCount == 0 && len(t.Schema) == 0 && len(t.Columns) == 0
}

// SchemaChange is a difference between the schemas of a table in two states.
type SchemaChange struct {
	// Column is Component.Field. It is empty if the number of parts in the keys differs; PartsA and PartsB then contain
	// these numbers, 1 or 2.
	Column         string
	PartsA, PartsB int
	// A and B are the column's types, nil for a state without the column.
	A, B *ColumnType
}

// ColumnType is the type of a column's values.
type ColumnType struct {
	Type  Type
	Scale uint32 // see Column
}

// ColumnDiff describes how a column differs.
type ColumnDiff struct {
	Component, Field string
	Lacking          bool // by one of the states, as a whole
	// Both counts the rows that both states have, 0 if one of the states is incomplete.
	Both uint64
	Tally
}

// RootsDiffer reports whether the authoritative states differ.
func (d *Diff) RootsDiffer() bool { return d.A.Root != d.B.Root }

// HistoriesDiffer reports whether both states have history hashes and these differ. If so, the peers diverged at this
// point or before it.
func (d *Diff) HistoriesDiffer() bool {
	return !d.A.History.IsZero() && !d.B.History.IsZero() && d.A.Epoch == d.B.Epoch && d.A.History != d.B.History
}

// StaleCache reports whether caches differ although the authoritative states are equal, from which the caches could be
// recomputed.
func (d *Diff) StaleCache() bool { return !d.RootsDiffer() && d.caches > 0 }

// Diverged reports whether the states prove a divergence. Ignore rules have no effect on it.
func (d *Diff) Diverged() bool { return d.RootsDiffer() || d.HistoriesDiffer() || d.caches > 0 }

// OnlyColumns reports whether the states do not have the same columns, and nothing else differs that both have.
func (d *Diff) OnlyColumns() bool {
	schema := false
	for i := range d.Tables {
		t := &d.Tables[i]
		if !t.InA || !t.InB || t.OnlyACount+t.OnlyBCount+t.Changed() > 0 {
			return false
		}
		schema = schema || len(t.Schema) > 0
	}
	return schema && d.RNG == nil
}

// LeftOut returns how many changed values and rows of one side were counted but not kept.
func (d *Diff) LeftOut() uint64 {
	n := uint64(0)
	for i := range d.Tables {
		t := &d.Tables[i]
		n += t.Changed() + t.OnlyACount + t.OnlyBCount - t.Kept()
	}
	return n
}

// MismatchError reports that two states belong to different sessions or points, so their differences mean nothing.
type MismatchError struct {
	What string // "seeds" or "state points"
	A, B string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("states cannot be compared: %s are %s and %s", e.What, e.A, e.B)
}

// Comparable returns an error for states of different sessions or points.
func Comparable(a, b *Info) error {
	if a.Seed != b.Seed {
		return &MismatchError{"seeds", fmt.Sprintf("%016x", a.Seed), fmt.Sprintf("%016x", b.Seed)}
	}
	if !a.Point.Same(b.Point) {
		return &MismatchError{"state points", a.Point.String(), b.Point.String()}
	}
	return nil
}

// Compare compares two states. It reads only tables, columns and blocks with different digests, and keeps a few blocks
// in memory. If a file's digests differ only because the file is damaged, the error is a *frame.Error. If one state is
// incomplete and the states are not Alike, only the data that both contain is compared; see Common.
func Compare(a, b State, opts DiffOptions) (*Diff, error) {
	if !opts.Force {
		if err := Comparable(a.Info(), b.Info()); err != nil {
			return nil, err
		}
	}
	if err := Broken(a.Info(), b.Info()); err != nil && !opts.Force {
		return nil, err
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
	c.opts.Limit = cmp.Or(c.opts.Limit, DefaultLimit)
	c.left = c.differing()
	for i, j := range pairTables(d.A.Tables, d.B.Tables) {
		c.begin()
		switch {
		case j < 0 && !d.A.Tables[i].Single:
			err = c.lonely(&d.A.Tables[i], a, i, true)
		case i < 0 && !d.B.Tables[j].Single:
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
