package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// DefaultLimit is how many changes and how many rows of one side only a diff
// keeps of each table unless told otherwise. It always counts all.
const DefaultLimit = 1000

// DiffOptions says how states are compared. The zero value compares
// everything but noise.
type DiffOptions struct {
	Ignore *Ignore // what to hide
	Limit  int     // changes kept of each table; 0 means DefaultLimit, below 0 all
	Noise  bool    // compare noise too
	Force  bool    // compare states of different sessions or points
}

// Diff is what differs between two states, A and B.
type Diff struct {
	A, B *Info

	// RNG is the change of the RNG state, nil if there is none. Its key is empty.
	RNG *Change

	// Tables are those that differ, archetypes before caches before noise.
	Tables []TableDiff

	// Hidden says what ignore rules hid.
	Hidden []Hidden

	// NoisyTables counts tables of noise that differ and were left out.
	NoisyTables int

	archetypes, caches int // tables of that class that differ, hidden or not
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

	// OnlyA and OnlyB are the keys of rows that one state has alone, ascending,
	// as many as the limit allows; the counts are of all of them.
	OnlyA, OnlyB           []Key
	OnlyACount, OnlyBCount uint64

	// Schema lists columns that only one state has or that have another type,
	// whose values cannot be compared.
	Schema []string

	// Changes are the changed values by key, then column, as many as the limit
	// allows; Columns counts all of them.
	Changes []Change
	Columns []ColumnCount
}

// Changed returns how many values differ in rows that both states have.
func (t *TableDiff) Changed() uint64 {
	n := uint64(0)
	for _, c := range t.Columns {
		n += c.Changed
	}
	return n
}

func (t *TableDiff) empty() bool {
	return t.InA && t.InB && t.OnlyACount+t.OnlyBCount == 0 && len(t.Schema) == 0 && len(t.Columns) == 0
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
// digests differ, and holds a few blocks at a time.
func Compare(a, b State, opts DiffOptions) (*Diff, error) {
	d := &Diff{A: a.Info(), B: b.Info()}
	if !opts.Force {
		if err := Comparable(d.A, d.B); err != nil {
			return nil, err
		}
	}
	if !bytes.Equal(d.A.RNG, d.B.RNG) || (d.A.RNG == nil) != (d.B.RNG == nil) {
		change := newChange(Key{}, "RNG", "state",
			Value{Type: Bytes, Absent: d.A.RNG == nil, Raw: d.A.RNG}, Value{Type: Bytes, Absent: d.B.RNG == nil, Raw: d.B.RNG})
		d.RNG = &change
	}
	c := comparer{a: a, b: b, opts: opts, diff: d}
	if c.opts.Limit == 0 {
		c.opts.Limit = DefaultLimit
	}
	for i, j := 0, 0; i < len(d.A.Tables) || j < len(d.B.Tables); {
		order := 0
		switch {
		case i == len(d.A.Tables):
			order = 1
		case j == len(d.B.Tables):
			order = -1
		default:
			order = compareTables(&d.A.Tables[i], &d.B.Tables[j])
		}
		var err error
		switch {
		case order < 0:
			err = c.lonely(&d.A.Tables[i], a, i, true)
			i++
		case order > 0:
			err = c.lonely(&d.B.Tables[j], b, j, false)
			j++
		default:
			err = c.table(i, j)
			i++
			j++
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}

func compareTables(a, b *TableInfo) int {
	if c := cmp.Compare(a.Class, b.Class); c != 0 {
		return c
	}
	return cmp.Compare(a.Label, b.Label)
}

// comparer holds what one Compare works with.
type comparer struct {
	a, b State
	opts DiffOptions
	diff *Diff
	rows []int32 // scratch
}

// differs counts a differing table and reports whether its content is wanted.
func (c *comparer) differs(t *TableInfo) bool {
	switch t.Class {
	case Archetype:
		c.diff.archetypes++
	case Cache:
		c.diff.caches++
	case Noise:
		if !c.opts.Noise {
			c.diff.NoisyTables++
			return false
		}
	}
	if rule := c.opts.Ignore.table(t.Label); rule != "" {
		c.diff.Hidden = append(c.diff.Hidden, Hidden{Rule: rule, Label: t.Label})
		return false
	}
	return true
}

// lonely reports a table that one state has alone.
func (c *comparer) lonely(t *TableInfo, s State, i int, inA bool) error {
	if !c.differs(t) {
		return nil
	}
	td := TableDiff{Label: t.Label, Class: t.Class, InA: inA, InB: !inA}
	ix, err := s.Index(i)
	if err != nil {
		return err
	}
	for b := range ix.Blocks {
		keys, err := s.LoadKeys(i, b)
		if err != nil {
			return err
		}
		for r := range keys.A {
			c.only(&td, keys.At(r), inA)
		}
	}
	c.diff.Tables = append(c.diff.Tables, td)
	return nil
}

// only records a row of one state alone.
func (c *comparer) only(td *TableDiff, k Key, inA bool) {
	keys, count := &td.OnlyB, &td.OnlyBCount
	if inA {
		keys, count = &td.OnlyA, &td.OnlyACount
	}
	if *count++; c.opts.Limit < 0 || len(*keys) < c.opts.Limit {
		*keys = append(*keys, k)
	}
}

// pairing is a table that both states have.
type pairing struct {
	i, j    int // the table's number in a and b
	a, b    *Index
	columns [][2]int // columns to compare, by their numbers in a and b
	hidden  []string // the rule that hides each of columns, or ""
	counts  []uint64 // changes of each of columns
	td      TableDiff
}

// table compares table i of a with table j of b.
func (c *comparer) table(i, j int) error {
	ta, tb := &c.diff.A.Tables[i], &c.diff.B.Tables[j]
	if ta.Hash == tb.Hash && ta.Rows == tb.Rows || !c.differs(ta) {
		return nil
	}
	p := &pairing{i: i, j: j, td: TableDiff{Label: ta.Label, Class: ta.Class, InA: true, InB: true}}
	var err error
	if p.a, err = c.a.Index(i); err != nil {
		return err
	}
	if p.b, err = c.b.Index(j); err != nil {
		return err
	}
	if ta.Parts != tb.Parts {
		p.td.Schema = append(p.td.Schema, fmt.Sprintf("keys have %d part(s) in one state and %d in the other", ta.Parts, tb.Parts))
		c.diff.Tables = append(c.diff.Tables, p.td)
		return nil
	}
	c.match(p)
	for _, r := range regions(p.a, p.b) {
		if err := c.region(p, r); err != nil {
			return err
		}
	}
	for k, n := range p.counts {
		col := &p.a.Columns[p.columns[k][0]]
		switch {
		case n == 0:
		case p.hidden[k] != "":
			c.diff.Hidden = append(c.diff.Hidden, Hidden{p.hidden[k], p.td.Label, col.Component + "." + col.Field, n})
		default:
			p.td.Columns = append(p.td.Columns, ColumnCount{col.Component, col.Field, n})
		}
	}
	if !p.td.empty() {
		c.diff.Tables = append(c.diff.Tables, p.td)
	}
	return nil
}

// match pairs the columns of both tables and leaves out those that are equal
// or hidden.
func (c *comparer) match(p *pairing) {
	name := func(ci *ColumnInfo) Column { return NewColumn(ci.Component, ci.Field, ci.Type, ci.Scale) }
	lack := func(ci *ColumnInfo, side string) {
		p.td.Schema = append(p.td.Schema, fmt.Sprintf("column %s.%s only in %s", ci.Component, ci.Field, side))
	}
	i, j := 0, 0
	for i < len(p.a.Columns) || j < len(p.b.Columns) {
		switch {
		case i == len(p.a.Columns):
			lack(&p.b.Columns[j], "B")
			j++
			continue
		case j == len(p.b.Columns):
			lack(&p.a.Columns[i], "A")
			i++
			continue
		}
		a, b := &p.a.Columns[i], &p.b.Columns[j]
		na, nb := name(a), name(b)
		switch order := na.compareName(&nb); {
		case order < 0:
			lack(a, "A")
			i++
			continue
		case order > 0:
			lack(b, "B")
			j++
			continue
		}
		switch {
		case a.Type != b.Type || a.Scale != b.Scale:
			p.td.Schema = append(p.td.Schema, fmt.Sprintf("column %s is %s/%d in A, %s/%d in B", na.Name(), a.Type, a.Scale, b.Type, b.Scale))
		case a.Digest == b.Digest && p.a.KeysDigest == p.b.KeysDigest:
		default:
			p.columns = append(p.columns, [2]int{i, j})
			p.hidden = append(p.hidden, c.opts.Ignore.column(p.td.Label, a.Component, a.Field))
		}
		i++
		j++
	}
	p.counts = make([]uint64, len(p.columns))
}

// region is a run of blocks of both tables that cover the same keys.
type region struct {
	a, b  [2]int // first block, and the one behind the last
	equal bool   // one block each, with equal keys
}

// regions cuts two tables where both begin a block with the same key. Blocks
// are cut by keys, so rows that one table lacks make a region of few blocks.
func regions(a, b *Index) []region {
	var out []region
	i, j := 0, 0
	for i < len(a.Blocks) || j < len(b.Blocks) {
		r := region{a: [2]int{i, i}, b: [2]int{j, j}}
		for {
			// Take the block that begins first; both if they begin together.
			order := 0
			switch {
			case i == len(a.Blocks):
				order = 1
			case j == len(b.Blocks):
				order = -1
			default:
				order = a.Blocks[i].First.Compare(b.Blocks[j].First)
			}
			if order <= 0 && i < len(a.Blocks) {
				i++
			}
			if order >= 0 && j < len(b.Blocks) {
				j++
			}
			if i == len(a.Blocks) && j == len(b.Blocks) ||
				i < len(a.Blocks) && j < len(b.Blocks) && a.Blocks[i].First == b.Blocks[j].First {
				break
			}
		}
		r.a[1], r.b[1] = i, j
		r.equal = r.a[1]-r.a[0] == 1 && r.b[1]-r.b[0] == 1 && a.Blocks[r.a[0]].Keys == b.Blocks[r.b[0]].Keys
		out = append(out, r)
	}
	return out
}

// region compares the rows of one region.
func (c *comparer) region(p *pairing, r region) error {
	if r.equal {
		return c.equalKeys(p, r)
	}
	// Keys differ somewhere: walk the blocks of both sides as two sorted
	// streams, holding one run of rows of each.
	left, right := stream{s: c.a, table: p.i, ix: p.a, next: r.a[0], end: r.a[1]}, stream{s: c.b, table: p.j, ix: p.b, next: r.b[0], end: r.b[1]}
	for {
		if err := left.fill(); err != nil {
			return err
		}
		if err := right.fill(); err != nil {
			return err
		}
		if left.done() && right.done() {
			return nil
		}
		if err := c.span(p, &left, &right); err != nil {
			return err
		}
	}
}

// stream walks the rows of consecutive blocks of one table.
type stream struct {
	s         State
	table     int
	ix        *Index
	next, end int // blocks to come
	block     int // the block at hand
	keys      Keys
	row       int // the next row of it
	columns   map[int]Column
}

func (s *stream) done() bool { return s.row == len(s.keys.A) && s.next == s.end }

// fill makes sure that there is a row at hand, if any is left.
func (s *stream) fill() (err error) {
	if s.row < len(s.keys.A) || s.next == s.end {
		return nil
	}
	s.block, s.row, s.columns = s.next, 0, nil
	s.next++
	s.keys, err = s.s.LoadKeys(s.table, s.block)
	return err
}

// column returns a column of the block at hand.
func (s *stream) column(k int) (*Column, error) {
	c, ok := s.columns[k]
	if !ok {
		loaded, err := s.s.LoadBlock(s.table, s.block, k)
		if err != nil {
			return nil, err
		}
		c = loaded.Clone() // several are in use at a time
		if s.columns == nil {
			s.columns = map[int]Column{}
		}
		s.columns[k] = c
	}
	return &c, nil
}

// span merges the rows at hand of both sides until one side runs out, then
// compares the values of the rows that both have.
func (c *comparer) span(p *pairing, left, right *stream) error {
	var keys []Key
	var rowsA, rowsB []int32
	for left.row < len(left.keys.A) || right.row < len(right.keys.A) {
		order := 0
		switch {
		case left.row == len(left.keys.A):
			if order = 1; left.next < left.end {
				return c.values(p, left, right, keys, rowsA, rowsB)
			}
		case right.row == len(right.keys.A):
			if order = -1; right.next < right.end {
				return c.values(p, left, right, keys, rowsA, rowsB)
			}
		default:
			order = left.keys.At(left.row).Compare(right.keys.At(right.row))
		}
		switch {
		case order < 0:
			c.only(&p.td, left.keys.At(left.row), true)
			left.row++
		case order > 0:
			c.only(&p.td, right.keys.At(right.row), false)
			right.row++
		default:
			keys = append(keys, left.keys.At(left.row))
			rowsA, rowsB = append(rowsA, int32(left.row)), append(rowsB, int32(right.row))
			left.row++
			right.row++
		}
	}
	return c.values(p, left, right, keys, rowsA, rowsB)
}

// values compares all columns of matched rows.
func (c *comparer) values(p *pairing, left, right *stream, keys []Key, rowsA, rowsB []int32) error {
	if len(keys) == 0 {
		return nil
	}
	var changes []Change
	for k, column := range p.columns {
		// Blocks of equal digest are equal row by row where their keys are; here
		// keys differ, so equality of the blocks says nothing.
		a, err := left.column(column[0])
		if err != nil {
			return err
		}
		b, err := right.column(column[1])
		if err != nil {
			return err
		}
		room := c.room(p, k)
		for n := range keys {
			i, j := int(rowsA[n]), int(rowsB[n])
			if a.Has(i) == b.Has(j) && bytes.Equal(a.Raw(i), b.Raw(j)) {
				continue
			}
			p.counts[k]++
			if room != 0 {
				room--
				changes = append(changes, newChange(keys[n], a.Component, a.Field, a.At(i), b.At(j)))
			}
		}
	}
	c.keep(p, changes)
	return nil
}

// room returns how many changes column k may still contribute.
func (c *comparer) room(p *pairing, k int) int {
	if p.hidden[k] != "" {
		return 0
	}
	return c.spare(p)
}

// spare returns how many more changes the table may keep; below 0 any number.
func (c *comparer) spare(p *pairing) int {
	if c.opts.Limit < 0 {
		return -1
	}
	return c.opts.Limit - len(p.td.Changes)
}

// keep appends the first changes, by key and column, that there is room for.
// Each column has contributed its first ones.
func (c *comparer) keep(p *pairing, changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Key.Compare(b.Key) })
	if room := c.spare(p); room >= 0 && len(changes) > room {
		changes = changes[:room]
	}
	p.td.Changes = append(p.td.Changes, changes...)
}

// equalKeys compares two blocks that have the same keys.
func (c *comparer) equalKeys(p *pairing, r region) error {
	blockA, blockB := r.a[0], r.b[0]
	var changes []Change
	var keys Keys
	for k, column := range p.columns {
		if p.a.Columns[column[0]].Blocks[blockA] == p.b.Columns[column[1]].Blocks[blockB] {
			continue
		}
		a, err := c.a.LoadBlock(p.i, blockA, column[0])
		if err != nil {
			return err
		}
		b, err := c.b.LoadBlock(p.j, blockB, column[1])
		if err != nil {
			return err
		}
		c.rows = ChangedRows(c.rows[:0], &a, &b)
		if len(c.rows) == 0 {
			return fmt.Errorf("%s of %q, block %d: the recorded digests differ, the values do not; desynctool verify tells which state is wrong", a.Name(), p.td.Label, blockA)
		}
		p.counts[k] += uint64(len(c.rows))
		kept := c.rows
		if room := c.room(p, k); room >= 0 && len(kept) > room {
			kept = kept[:room]
		}
		if len(kept) > 0 && keys.A == nil {
			if keys, err = c.a.LoadKeys(p.i, blockA); err != nil {
				return err
			}
		}
		for _, row := range kept {
			i := int(row)
			changes = append(changes, newChange(keys.At(i), a.Component, a.Field, a.At(i), b.At(i)))
		}
	}
	c.keep(p, changes)
	return nil
}
