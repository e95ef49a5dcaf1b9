package snapshot

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

func (t *TableInfo) compare(u *TableInfo) int {
	return cmp.Or(cmp.Compare(t.Class, u.Class), cmp.Compare(t.Label, u.Label))
}

// pairUp pairs the elements of two sorted lists with n and m elements, in order. It yields both indexes for equal
// elements. For an element of only one list, it yields -1 for the other.
func pairUp(n, m int, compare func(i, j int) int) iter.Seq2[int, int] {
	return func(yield func(i, j int) bool) {
		for i, j := 0, 0; i < n || j < m; {
			order := 0
			switch {
			case i == n:
				order = 1
			case j == m:
				order = -1
			default:
				order = compare(i, j)
			}
			x, y := -1, -1
			if order <= 0 {
				x = i
				i++
			}
			if order >= 0 {
				y = j
				j++
			}
			if !yield(x, y) {
				return
			}
		}
	}
}

// pairTables pairs the tables of two states by class and label.
func pairTables(a, b []TableInfo) iter.Seq2[int, int] {
	return pairUp(len(a), len(b), func(i, j int) int { return a[i].compare(&b[j]) })
}

// comparer is the working state of one Compare.
type comparer struct {
	a, b State
	opts DiffOptions
	diff *Diff
	rows []int32 // scratch
	x, y []uint64
	raw  []byte // memory for values that are kept

	copied int // bytes of values that are kept

	left  int // tables still to come that differ and are wanted
	spent int // part of opts.Total that is used up
	share int // share of the current table, if opts.Total is set
}

// differing counts the tables that differ and are wanted.
func (c *comparer) differing() (n int) {
	wanted := func(t *TableInfo) bool {
		return (t.Class != Noise || c.opts.Noise) && c.opts.Ignore.table(t.Label) == ""
	}
	a, b := c.diff.A.Tables, c.diff.B.Tables
	for i, j := range pairTables(a, b) {
		if i < 0 && wanted(&b[j]) || j < 0 && wanted(&a[i]) || i >= 0 && j >= 0 && !sameTable(&a[i], &b[j]) && wanted(&a[i]) {
			n++
		}
	}
	return n
}

func sameTable(a, b *TableInfo) bool { return a.Hash == b.Hash && a.Rows == b.Rows }

// begin gives the next wanted table its share of the room that is left.
func (c *comparer) begin() { c.share = (c.opts.Total - c.spent) / max(1, c.left) }

// add appends the differences of the current table.
func (c *comparer) add(td TableDiff) {
	c.spent += int(td.Kept())
	c.diff.Tables = append(c.diff.Tables, td)
}

// differs counts a table that differs, and reports whether its content is wanted.
func (c *comparer) differs(t *TableInfo) bool {
	if t.Class == Noise && !c.opts.Noise {
		c.diff.NoisyTables++
		return false
	}
	if rule := c.opts.Ignore.table(t.Label); rule != "" {
		c.diff.Hidden = append(c.diff.Hidden, Hidden{Rule: rule, Label: t.Label})
		return false
	}
	c.left--
	return true
}

// lonely reports a table that only one state has.
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
	c.add(td)
	return nil
}

// only records a row that only one state has.
func (c *comparer) only(td *TableDiff, k Key, inA bool) {
	keys, count := &td.OnlyB, &td.OnlyBCount
	if inA {
		keys, count = &td.OnlyA, &td.OnlyACount
	}
	// A quarter of a table's room is for the rows of each side, so that there is room for changes.
	if *count++; (c.opts.Limit < 0 || len(*keys) < c.opts.Limit) && (c.opts.Total == 0 || int(td.Kept()) < c.share && len(*keys) < (c.share+3)/4) {
		*keys = append(*keys, k)
	}
}

// pairing is a table that both states have, or a Single one that one of them has.
type pairing struct {
	i, j    int // the table's index in a and b, -1 for a state without it
	a, b    *Index
	columns [][2]int // columns to compare, by their indexes in a and b, -1 for a state without one
	hidden  []string // for each column, the rule that hides it, or ""
	tallies []Tally  // for each column
	marked  []bool   // for each row of the current block or span, whether a value differs
	lone    []Change // in columns that one state lacks, which are kept where other changes leave room
	td      TableDiff
}

// table compares table i of a with table j of b. One of them may be -1, for a Single table that one state lacks.
func (c *comparer) table(i, j int) error {
	var ta, tb *TableInfo
	if i >= 0 {
		ta = &c.diff.A.Tables[i]
	}
	if j >= 0 {
		tb = &c.diff.B.Tables[j]
	}
	ta, tb = cmp.Or(ta, tb), cmp.Or(tb, ta)
	if sameTable(ta, tb) && i >= 0 && j >= 0 {
		return nil
	}
	if ta.Class == Cache { // a cache that a state does not contain is not stale
		c.diff.caches++
	}
	if !c.differs(ta) {
		return nil
	}
	p := &pairing{i: i, j: j, td: TableDiff{Label: ta.Label, Class: ta.Class, InA: true, InB: true}}
	if err := p.load(c.a, c.b); err != nil {
		return err
	}
	if ta.Parts != tb.Parts {
		p.td.Schema = append(p.td.Schema, SchemaChange{PartsA: int(ta.Parts), PartsB: int(tb.Parts)})
		c.add(p.td)
		return nil
	}
	c.match(p)
	for _, r := range regions(p.a, p.b) {
		if err := c.region(p, r); err != nil {
			return err
		}
	}
	if len(p.td.Schema) == 0 && p.td.OnlyACount+p.td.OnlyBCount == 0 && !slices.ContainsFunc(p.tallies, func(t Tally) bool { return t.Rows > 0 }) {
		return c.contradiction(p)
	}
	both := ta.Rows - p.td.OnlyACount
	if c.diff.A.Incomplete()+c.diff.B.Incomplete() != "" {
		both = 0
	}
	for k := range p.tallies {
		col := p.schema(p.columns[k][0], p.columns[k][1])
		switch n := p.tallies[k].Rows; {
		case n == 0:
		case p.hidden[k] != "":
			c.diff.Hidden = append(c.diff.Hidden, Hidden{p.hidden[k], p.td.Label, col.Name(), n})
		default:
			p.td.Columns = append(p.td.Columns, ColumnDiff{col.Component, col.Field, p.lacks(k), both, p.tallies[k]})
		}
	}
	if c.keep(p, p.lone); p.td.empty() {
		return nil
	}
	var err error
	if i >= 0 && j >= 0 {
		p.td.Reordered, err = c.reordered(p)
	}
	c.add(p.td)
	return err
}

// load reads the indexes of the table. A state without it gets one with the row and no columns.
func (p *pairing) load(a, b State) (err error) {
	if p.i >= 0 {
		if p.a, err = a.Index(p.i); err != nil {
			return err
		}
	}
	if p.j >= 0 {
		if p.b, err = b.Index(p.j); err != nil {
			return err
		}
	}
	without := func(ix *Index) *Index { return &Index{KeysDigest: ix.KeysDigest, Blocks: ix.Blocks} }
	switch {
	case p.i < 0:
		p.a = without(p.b)
	case p.j < 0:
		p.b = without(p.a)
	}
	return nil
}

// match pairs the columns of both tables. It leaves out columns that are equal or hidden.
func (c *comparer) match(p *pairing) {
	compare := func(i, j int) int { return p.a.Columns[i].compareName(&p.b.Columns[j].Schema) }
	for i, j := range pairUp(len(p.a.Columns), len(p.b.Columns), compare) {
		if one := p.schema(i, j); (i < 0 || j < 0) && one.Type == Scalar {
			p.columns = append(p.columns, [2]int{i, j})
			p.hidden = append(p.hidden, c.opts.Ignore.column(p.td.Label, one.Component, one.Field))
			continue
		}
		if i < 0 || j < 0 || p.a.Columns[i].Schema != p.b.Columns[j].Schema {
			var change SchemaChange
			if j >= 0 {
				b := &p.b.Columns[j]
				change.Column, change.B = b.Name(), &ColumnType{b.Type, b.Scale}
			}
			if i >= 0 {
				a := &p.a.Columns[i]
				change.Column, change.A = a.Name(), &ColumnType{a.Type, a.Scale}
			}
			p.td.Schema = append(p.td.Schema, change)
			continue
		}
		a, b := &p.a.Columns[i], &p.b.Columns[j]
		if a.Digest != b.Digest || p.a.KeysDigest != p.b.KeysDigest {
			p.columns = append(p.columns, [2]int{i, j})
			p.hidden = append(p.hidden, c.opts.Ignore.column(p.td.Label, a.Component, a.Field))
		}
	}
	p.tallies = make([]Tally, len(p.columns))
}

// schema returns the schema of column i of a, or of column j of b if a lacks it.
func (p *pairing) schema(i, j int) *Schema {
	if i < 0 {
		return &p.b.Columns[j].Schema
	}
	return &p.a.Columns[i].Schema
}

// without returns a column of a state that lacks it.
func without(s *Schema, rows int) Column {
	c := Column{Schema: *s}
	for range rows {
		c.AppendAbsent()
	}
	return c
}

// region is a run of blocks in both tables that covers the same keys.
type region struct {
	a, b  [2]int // first block, and the block after the last
	equal bool   // one block in each table, with equal keys
}

// regions cuts two tables wherever both begin a block with the same key. Blocks are cut by keys, so a row that one
// table lacks affects only a few blocks.
func regions(a, b *Index) []region {
	var out []region
	var r region
	for i, j := range pairUp(len(a.Blocks), len(b.Blocks), func(i, j int) int { return a.Blocks[i].First.Compare(b.Blocks[j].First) }) {
		if i >= 0 && j >= 0 && r.a[1]+r.b[1] > 0 {
			out = append(out, r)
			r = region{a: [2]int{i, i}, b: [2]int{j, j}}
		}
		if i >= 0 {
			r.a[1] = i + 1
		}
		if j >= 0 {
			r.b[1] = j + 1
		}
	}
	if r.a[1]+r.b[1] > 0 {
		out = append(out, r)
	}
	for n := range out {
		r := &out[n]
		r.equal = r.a[1]-r.a[0] == 1 && r.b[1]-r.b[0] == 1 && a.Blocks[r.a[0]].Keys == b.Blocks[r.b[0]].Keys
	}
	return out
}

// region compares the rows of one region.
func (c *comparer) region(p *pairing, r region) error {
	if r.equal {
		return c.equalKeys(p, r)
	}
	// Keys differ somewhere: read the blocks of both sides as two sorted streams, with one run of rows of each in
	// memory.
	left, right := stream{s: c.a, table: p.i, next: r.a[0], end: r.a[1]}, stream{s: c.b, table: p.j, next: r.b[0], end: r.b[1]}
	defer left.held.Free()
	defer right.held.Free()
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

// mark prepares p.differs for n other rows.
func (p *pairing) mark(n int) {
	p.marked = slices.Grow(p.marked[:0], n)[:n]
	clear(p.marked)
}

// lacks reports whether one of the states lacks column k.
func (p *pairing) lacks(k int) bool { return p.columns[k][0] < 0 || p.columns[k][1] < 0 }

// differs counts the current rows in which column k differs.
func (p *pairing) differs(k int, rows []int32) {
	if p.hidden[k] != "" {
		return
	}
	for _, row := range rows {
		if !p.marked[row] {
			p.marked[row] = true
			p.td.ChangedRows++
		}
	}
}

// tally counts how two columns differ, in rowsA of a and rowsB of b.
func (c *comparer) tally(t *Tally, a, b *Column, rowsA, rowsB []int32) {
	if a.Present != nil || b.Present != nil || a.Type.Width() == 0 {
		for n := range rowsA {
			t.Add(a.At(int(rowsA[n])), b.At(int(rowsB[n])))
		}
		return
	}
	c.x, c.y = gather(c.x[:0], a, rowsA), gather(c.y[:0], b, rowsB)
	t.addFixed(a.Type, a.Scale, c.x, c.y)
}

// gather appends the values of some rows of a column with a fixed width.
func gather(dst []uint64, col *Column, rows []int32) []uint64 {
	switch width := col.Type.Width(); width {
	case 8:
		for _, row := range rows {
			dst = append(dst, binary.LittleEndian.Uint64(col.Data[8*int(row):]))
		}
	case 4:
		for _, row := range rows {
			dst = append(dst, uint64(binary.LittleEndian.Uint32(col.Data[4*int(row):])))
		}
	default:
		for _, row := range rows {
			dst = append(dst, col.At(int(row)).bits())
		}
	}
	return dst
}

// room returns how many changes column k may still add.
func (c *comparer) room(p *pairing, k int) int {
	if p.hidden[k] != "" {
		return 0
	}
	room := c.spare(p)
	if room > 0 && p.lacks(k) {
		room = max(0, room-len(p.lone))
	}
	return room
}

// spare returns how many more changes the table may keep. Below 0 means any number.
func (c *comparer) spare(p *pairing) int {
	room := -1
	if c.opts.Limit >= 0 {
		room = c.opts.Limit - len(p.td.Changes)
	}
	if c.opts.Total > 0 {
		if share := max(0, c.share-int(p.td.Kept())); room < 0 || share < room {
			room = share
		}
	}
	return room
}

// change is newChange for values that are kept in shared memory.
func (c *comparer) change(key Key, component, field string, a, b Value) Change {
	long := longValue
	if c.copied >= wholeValues {
		long = excerptLen
	}
	x := newChange(key, component, field, a, b, long)
	c.copied += len(x.A.Raw) + len(x.B.Raw)
	x.A.Raw, x.B.Raw = c.clone(x.A.Raw), c.clone(x.B.Raw)
	return x
}

// change adds a change of column k to those of its kind.
func (p *pairing) change(k int, list *[]Change, x Change) {
	if p.lacks(k) {
		list = &p.lone
	}
	*list = append(*list, x)
}

// clone returns a copy of b. Copies share memory, so that millions of small values need few allocations.
func (c *comparer) clone(b []byte) []byte {
	const piece = 64 << 10
	if len(b) == 0 || len(b) > piece/16 {
		return slices.Clone(b)
	}
	if cap(c.raw)-len(c.raw) < len(b) {
		c.raw = make([]byte, 0, piece)
	}
	n := len(c.raw)
	c.raw = append(c.raw, b...)
	return c.raw[n:len(c.raw):len(c.raw)]
}

// prune limits the memory of changes while they are collected; each column adds as many as it has room for. When there
// are several times more changes than keep would keep, prune drops the others.
func (c *comparer) prune(p *pairing, changes []Change) []Change {
	if room := c.spare(p); room >= 0 && len(changes) > 4*room {
		return c.first(changes, room)
	}
	return changes
}

// first sorts changes by key, then column, and returns at most n of them. If n is below 0, it returns all.
func (c *comparer) first(changes []Change, n int) []Change {
	lists.SortStable(changes, func(a, b Change) int { return a.Key.Compare(b.Key) })
	if n < 0 || len(changes) <= n {
		return changes
	}
	for i := range changes[n:] {
		c.copied -= len(changes[n+i].A.Raw) + len(changes[n+i].B.Raw)
	}
	clear(changes[n:])
	return changes[:n]
}

// keep appends the first changes, by key and column, as far as there is room. changes contains the first changes of
// each column.
func (c *comparer) keep(p *pairing, changes []Change) {
	changes = c.first(changes, c.spare(p))
	p.td.Changes = append(reserve(p.td.Changes, len(changes), 2*(len(p.td.Changes)+len(changes))), changes...)
}

// block loads a block of column k of one side, 0 or 1.
func (c *comparer) block(s State, p *pairing, k, side, block int) (Column, error) {
	if column := p.columns[k][side]; column >= 0 {
		return s.LoadBlock([2]int{p.i, p.j}[side], block, column)
	}
	return without(p.schema(p.columns[k][0], p.columns[k][1]), [2]*Index{p.a, p.b}[side].Blocks[block].Rows), nil
}

// keys loads the keys of two blocks with the same keys.
func (c *comparer) keys(p *pairing, blockA, blockB int) (Keys, error) {
	if p.i < 0 {
		return c.b.LoadKeys(p.j, blockB)
	}
	return c.a.LoadKeys(p.i, blockA)
}

// equalKeys compares two blocks with the same keys.
func (c *comparer) equalKeys(p *pairing, r region) error {
	blockA, blockB := r.a[0], r.b[0]
	var changes []Change
	var keys Keys
	p.mark(p.a.Blocks[blockA].Rows)
	for k, column := range p.columns {
		lacking := p.lacks(k)
		if !lacking && p.a.Columns[column[0]].Blocks[blockA] == p.b.Columns[column[1]].Blocks[blockB] {
			continue
		}
		a, err := c.block(c.a, p, k, 0, blockA)
		if err != nil {
			return err
		}
		b, err := c.block(c.b, p, k, 1, blockB)
		if err != nil {
			return err
		}
		c.rows = ChangedRows(c.rows[:0], &a, &b)
		if len(c.rows) == 0 && lacking { // no row of the block has a value
			continue
		}
		if len(c.rows) == 0 {
			return c.contradiction(p)
		}
		p.differs(k, c.rows)
		c.tally(&p.tallies[k], &a, &b, c.rows, c.rows)
		kept := c.rows
		if room := c.room(p, k); room >= 0 && len(kept) > room {
			kept = kept[:room]
		}
		if len(kept) > 0 && keys.A == nil {
			if keys, err = c.keys(p, blockA, blockB); err != nil {
				return err
			}
		}
		for _, row := range kept {
			i := int(row)
			p.change(k, &changes, c.change(keys.At(i), a.Component, a.Field, a.At(i), b.At(i)))
		}
		changes = c.prune(p, changes)
	}
	c.keep(p, changes)
	return nil
}
