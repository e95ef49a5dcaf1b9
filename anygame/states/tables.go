package states

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// newColumn adds a column for a path from the row.
func (t *table) newColumn(path string) *column {
	component, field, ok := strings.Cut(path, ".")
	if !ok {
		component, field = t.label[strings.LastIndexByte(t.label, '.')+1:], path
	}
	field = cmp.Or(field, valueField)
	return t.columnOf(clip(component), clip(field))
}

// columnOf returns the column of that name, which is made the first time.
func (t *table) columnOf(component, field string) *column {
	name := [2]string{component, field}
	c := t.named[name]
	if c == nil {
		c = &column{component: component, field: field, like: t.like[name]}
		if t.named == nil {
			t.named = map[[2]string]*column{}
		}
		t.named[name] = c
		t.columns = append(t.columns, c)
	}
	return c
}

// apart gives the second value that a row has of a column to another column, the third to one more, and so on.
func (t *table) apart() {
	for _, c := range t.columns {
		if slices.IsSortedFunc(c.rows, func(a, b int32) int { return cmp.Or(cmp.Compare(a, b), -1) }) {
			continue
		}
		all := *c
		c.data, c.ends, c.rows = nil, nil, nil
		times := make([]int, len(t.keys))
		for i, row := range all.rows {
			to := c
			if n := times[row]; n > len(c.again) {
				to = t.another(c)
			} else if n > 0 {
				to = c.again[n-1]
			}
			times[row]++
			to.addRaw(int(row), all.value(i))
		}
	}
}

// another adds the next column for a value that a row has again: hp#2 of hp.
func (t *table) another(c *column) *column {
	for n := c.last + 2; ; n++ {
		field := clip(c.field + "#" + strconv.Itoa(n))
		if t.named[[2]string{c.component, field}] != nil {
			continue // a member has that name
		}
		again := t.columnOf(c.component, field)
		again.class, again.path, c.last, c.again = c.class, c.path, n-1, append(c.again, again)
		return again
	}
}

// clip returns a name as a snapshot may hold it.
func clip(name string) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	if len(name) > snapshot.MaxName {
		name = strings.ToValidUTF8(name[:snapshot.MaxName-20], "") + fmt.Sprintf("…%08x", snapshot.HashedKey([]byte(name))&0xffffffff)
	}
	if name == "" {
		return "(empty)"
	}
	return name
}

// bounded returns a path or label that others begin with: a long one is cut by clip, so that many of them are not long
// again and again.
func bounded(path string) string {
	if len(path) > snapshot.MaxName {
		return clip(path)
	}
	return path
}

// keyOf returns the key of a row by its identity: a whole number itself, else a hash.
func keyOf(kind notation.Kind, text []byte) uint64 {
	var raw [32]byte
	if kind != notation.Bytes && len(text) < 20 {
		if n, err := strconv.ParseUint(string(appendScalar(raw[:0], notation.Bare, text)), 10, 63); err == nil {
			return n
		}
	}
	return snapshot.TextKey(text)
}

// addRow adds a row with its place in the list as its key, and makes it current.
func (t *table) addRow(index int) int {
	row := len(t.keys)
	owner := int32(-1)
	if t.parent != nil {
		owner = int32(t.parent.current)
	}
	t.owners = append(t.owners, owner)
	t.keys = append(t.keys, uint64(index))
	t.current = row
	return row
}

// setKey gives a row the key of its identity.
func (t *table) setKey(row int, kind notation.Kind, text []byte) {
	t.keys[row] = keyOf(kind, text)
	if t.keyed() && row < len(t.set) {
		t.set[row] = true
	}
}

// start notes where a row begins, if its key is known beforehand.
func (t *table) start(row, at int) {
	if t.keyed() && row == len(t.starts) {
		t.starts, t.set = append(t.starts, at), append(t.set, false)
	}
}

// namedRow makes the row of a name current, which is added the first time.
func (t *table) namedRow(name []byte, begins int) {
	owner := int32(-1)
	if t.parent != nil {
		owner = int32(t.parent.current)
	}
	at := nameOf{owner, keyOf(notation.Bare, name)}
	if row, ok := t.byName[at]; ok {
		t.current = int(row)
		return
	}
	row := t.addRow(0)
	t.start(row, begins)
	t.keys[row] = at.key
	if t.key == "" {
		t.why = ByName
	}
	if t.byName == nil {
		t.byName = map[nameOf]int32{}
	}
	t.byName[at] = int32(row)
}

// settle gives each value a column in which its row has no other. It checks how large the tables become: if each row
// has a separate column, the cells are rows times columns. It reports false after an error.
func (b *builder) settle() bool {
	columns := 0
	for _, t := range b.tables {
		t.apart()
		for _, c := range t.columns {
			if len(c.ends) > 0 {
				columns++
				b.cells += len(t.keys)
				b.given += len(c.ends)
			}
		}
	}
	switch {
	case b.err != nil:
	case limits.Archetypes.Over(int64(len(b.tables))):
		b.err = limits.Archetypes.Reached("", int64(len(b.tables)))
	case limits.Columns.Over(int64(columns)):
		b.err = limits.Columns.Reached("", int64(columns))
	default:
		b.err = limits.Spread(b.cells, b.given)
	}
	return b.err == nil
}

// finish makes a World of the tables, and begins the next state.
func (b *builder) finish() {
	if !b.settle() {
		return
	}
	w := &snapshot.World{Head: b.head}
	if !b.ticked {
		w.Point = snapshot.Point{Native: "state", Relation: snapshot.Some}
	}
	if b.random != nil {
		words := strings.ReplaceAll(strings.TrimSuffix(string(b.random), "\n"), "\n", ", ")
		w.SetRNG(b.random, shorten(strings.ToValidUTF8(words, "\uFFFD")))
	}
	for _, t := range b.tables {
		b.found.add(t)
		table, ok := t.finish(b)
		if !ok {
			continue
		}
		if err := table.SortRows(); err != nil && b.err == nil {
			b.err = err
		}
		w.Tables = append(w.Tables, t.divide(table)...)
	}
	w.Sort()
	if err := w.Validate(); err != nil && b.err == nil {
		b.err = err
	}
	b.worlds = append(b.worlds, w)
	b.head, b.random, b.ticked = snapshot.Head{}, nil, false
	b.tables[0].addRow(0)
}

// shorten cuts a long text.
func shorten(text string) string {
	const longest = 200
	if len(text) > longest {
		return strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return text
}

// finish returns the table, and empties it; false if it has no rows and no columns.
func (t *table) finish(b *builder) (snapshot.Table, bool) {
	out := snapshot.Table{Label: clip(t.label), Class: t.class, Placed: t.why == ByPlace, Single: t.why == OnlyRow, Keys: t.flatKeys(b)}
	n := len(t.keys)
	for _, c := range t.columns {
		if len(c.ends) > 0 {
			out.Columns = append(out.Columns, c.finish(n))
		}
	}
	t.keys, t.owners, t.byName, t.current = nil, nil, nil, -1
	t.starts, t.set = nil, nil
	if len(out.Columns) == 0 && (n == 0 || t.label == GlobalLabel) {
		return out, false
	}
	return out, true
}

// divide moves columns of another class than the table's to separate tables.
func (t *table) divide(all snapshot.Table) []snapshot.Table {
	other := map[[2]string]snapshot.Class{}
	for _, c := range t.columns {
		if c.class != t.class {
			other[[2]string{c.component, c.field}] = c.class
		}
	}
	if len(other) == 0 {
		return []snapshot.Table{all}
	}
	out := []snapshot.Table{all}
	out[0].Columns = nil
	for _, c := range all.Columns {
		class, is := other[[2]string{c.Component, c.Field}]
		if !is {
			class = t.class
		}
		i := slices.IndexFunc(out, func(o snapshot.Table) bool { return o.Class == class })
		if i < 0 {
			i = len(out)
			out = append(out, snapshot.Table{Label: all.Label, Class: class, Placed: all.Placed, Single: all.Single, Keys: all.Keys})
		}
		out[i].Columns = append(out[i].Columns, c)
	}
	if len(out) > 1 && len(out[0].Columns) == 0 && t.label == GlobalLabel {
		return out[1:]
	}
	return out
}

// flatKeys returns the keys of the rows: (owner, own key) for rows that belong to rows. A key that comes twice is made
// another one, by how often it came.
func (t *table) flatKeys(b *builder) snapshot.Keys {
	keys := snapshot.Keys{A: t.keys}
	if t.parent != nil {
		owners := t.parent.flat
		keys = snapshot.Keys{A: make([]uint64, len(t.keys)), B: t.keys}
		for i, owner := range t.owners {
			if owner >= 0 {
				keys.A[i] = owners[owner]
			}
		}
	}
	for row, set := range t.set {
		b.fit(t, row, set, false)
	}
	t.flat = make([]uint64, len(t.keys))
	if t.parent == nil && ascending(t.keys) {
		copy(t.flat, t.keys)
		return keys
	}
	seen := make(map[snapshot.Key]uint64, len(t.keys))
	for i := range t.keys {
		k := keys.At(i)
		if times := seen[k]; times > 0 {
			seen[k]++
			if i < len(t.set) && t.set[i] {
				b.fit(t, i, true, true)
			}
			twice := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, t.keys[i]), times)
			if keys.B != nil {
				keys.B[i] = snapshot.HashedKey(twice)
			} else {
				keys.A[i] = snapshot.HashedKey(twice)
			}
			k = keys.At(i)
		}
		seen[k]++
		t.flat[i] = k.A
		if k.Two {
			t.flat[i] = mix(k.A, k.B)
		}
	}
	return keys
}

// mix returns the key of an owner that has a key of two parts.
func mix(a, b uint64) uint64 {
	const half = 26
	if a < 1<<half && b < 1<<half {
		return a<<half | b
	}
	return snapshot.HashedKey(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a), b))
}

// finish returns a column of n rows, and empties it.
func (c *column) finish(n int) snapshot.Column {
	out := snapshot.NewColumn(c.component, c.field, snapshot.Scalar, 0)
	if c.rows == nil && len(c.ends) == n {
		out.Data, out.Ends = c.data, c.ends
	} else {
		c.spread(&out, n)
	}
	c.data, c.ends, c.rows = nil, nil, nil
	return out
}

// spread appends the values to a column, and no value for rows without one.
func (c *column) spread(out *snapshot.Column, n int) {
	at := make([]int32, n) // of each row, the number of its value and 1
	for i := range c.ends {
		at[c.row(i)] = int32(i) + 1
	}
	for _, i := range at {
		if i == 0 {
			out.AppendAbsent()
			continue
		}
		out.AppendBytes(c.value(int(i) - 1))
	}
}

// row returns the row of the value with that number.
func (c *column) row(i int) int {
	if c.rows == nil {
		return i
	}
	return int(c.rows[i])
}

// value returns the value with that number.
func (c *column) value(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = c.ends[i-1]
	}
	return c.data[start:c.ends[i]]
}

func ascending(keys []uint64) bool {
	for i := 1; i < len(keys); i++ {
		if keys[i] <= keys[i-1] {
			return false
		}
	}
	return true
}
