package memory

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
)

// Labels and names of values outside the members.
const (
	StateLabel    = "state"         // the archetype of all that is in no array
	PaddingLabel  = "(padding)"     // the archetype of bytes that belong to no value
	PointerSuffix = " (pointer)"    // follows the component of addresses
	TailSuffix    = " (after text)" // follows the component of the bytes after the zero that ends a text
	unionSuffix   = " (union)"      // follows the component of the bytes of a union
	indexField    = "(index)"
)

// Options sets how memory is decoded.
type Options struct {
	Offset   int64             // bytes before the first element
	Elements int64             // how many there are, one after the other; 0 means one, below 0 as many as fit
	Keys     map[string]string // by the label of an array: the path of the member that is the key, "" for the index; see [Layout.Keys]
}

// elements returns how many elements memory holds, and where they begin.
func (l *Layout) elements(size int64, name string, opt Options) (count int64, err error) {
	rest, count := size-opt.Offset, opt.Elements
	if l.Size == 0 {
		return 0, fmt.Errorf("%s: %s has no bytes", name, l.Name)
	}
	if opt.Offset < 0 || rest < 0 {
		return 0, fmt.Errorf("%s: offset %d, of %d bytes", name, opt.Offset, size)
	}
	if count < 0 {
		count = rest / l.Size
	}
	count = max(count, 1)
	switch {
	case opt.Elements > 0 && rest/l.Size < count:
		return 0, fmt.Errorf("%s: %d bytes from offset %d on, but %s[%d] has %d × %d", name, rest, opt.Offset, l.Name, count, count, l.Size)
	case opt.Elements < 0 && rest != count*l.Size:
		return 0, fmt.Errorf("%s: %d bytes from offset %d on, but an element, %s, has %d", name, rest, opt.Offset, l.Name, l.Size)
	case opt.Elements == 0 && (opt.Offset == 0 && rest != l.Size || rest < l.Size):
		return 0, fmt.Errorf("%s: %d bytes, but %s has %d", name, rest, l.Name, l.Size)
	}
	return count, nil
}

// Decode returns memory as a state. What is in no array is one row of the archetype "state". Each array is a separate
// archetype, with keys that are an index or a member, as opt.Keys sets. Arrays in the elements of arrays have keys of
// two parts. Every bit of the memory is in some value: bits that belong to no member are in the archetype "(padding)".
func (l *Layout) Decode(memory []byte, name string, opt Options) (*snapshot.World, error) {
	count, err := l.elements(int64(len(memory)), name, opt)
	if err != nil {
		return nil, err
	}
	cells := float64(count) * l.cells
	if err := limits.Filled(int(min(cells, 1<<50)), int(min(cells, 1<<50))); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if opt.Keys == nil {
		opt.Keys = l.Keys(opt, memory)
	}
	d := &decoder{memory: memory, big: l.BigEndian, keys: opt.Keys, columns: map[columnName]bool{}}
	root := &Field{Kind: Array, Offset: opt.Offset, Count: count, Element: l}
	if opt.Elements == 0 {
		t := d.table(StateLabel, 1)
		p, err := d.plan(l, t, scope{component: l.Name})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		t.begin(0, 0)
		err = p.run(d, opt.Offset, key{})
		t.end()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	} else {
		s, err := d.array(root, scope{label: l.Name, component: l.Name}, 0)
		if err == nil {
			err = s(d, 0, key{})
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return d.world(name)
}

// decoder makes tables of memory.
type decoder struct {
	memory  []byte
	big     bool
	keys    map[string]string
	tables  []*table
	columns map[columnName]bool
	padding []gap
}

type columnName struct {
	table            *table
	component, field string
}

// gap is a padding of one element.
type gap struct {
	at int64
	of *Padding
}

// table is a table that grows row by row.
type table struct {
	snapshot.Table
	parts int
	given []*snapshot.Column
}

// table adds a table. Of the same labels, the later ones get numbers.
func (d *decoder) table(label string, parts int) *table {
	t := &table{parts: parts}
	t.Label = label
	for n := 2; slices.ContainsFunc(d.tables, func(u *table) bool { return u.Label == t.Label }) || t.Label == PaddingLabel; n++ {
		t.Label = fmt.Sprintf("%s#%d", label, n)
	}
	d.tables = append(d.tables, t)
	return t
}

// begin begins a row.
func (t *table) begin(a, b uint64) {
	t.Keys.A = append(t.Keys.A, a)
	if t.parts == 2 {
		t.Keys.B = append(t.Keys.B, b)
	}
}

// end ends a row: columns that got no value have none.
func (t *table) end() {
	for _, c := range t.given {
		if c.Rows() < len(t.Keys.A) {
			c.AppendAbsent()
		}
	}
}

// column adds a column. Of the same names, the later ones get numbers.
func (d *decoder) column(t *table, component, field string, typ snapshot.Type, scale uint32) (*snapshot.Column, error) {
	if limits.Columns.Over(int64(len(d.columns)) + 1) {
		return nil, limits.Columns.Reached("", 0)
	}
	name := columnName{t, component, field}
	for n := 2; d.columns[name]; n++ {
		name.field = fmt.Sprintf("%s#%d", field, n)
	}
	d.columns[name] = true
	c := snapshot.NewColumn(name.component, name.field, typ, scale)
	t.given = append(t.given, &c)
	return &c, nil
}

// world returns the tables.
func (d *decoder) world(name string) (*snapshot.World, error) {
	w := &snapshot.World{}
	w.Point = snapshot.Point{Native: "moment", Relation: snapshot.Some}
	for _, t := range d.tables {
		if len(t.given) == 0 && t.Label != StateLabel {
			continue // elements that are only padding, or arrays
		}
		t.Columns = append(t.Columns, lists.Map(t.given, func(c *snapshot.Column) snapshot.Column { return *c })...)
		w.Tables = append(w.Tables, t.Table)
	}
	if len(d.padding) > 0 {
		w.Tables = append(w.Tables, d.paddingTable())
	}
	w.Sort()
	if err := w.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return w, nil
}

// paddingTable returns the bytes that belong to no value.
func (d *decoder) paddingTable() snapshot.Table {
	const component = "padding"
	lists.SortStable(d.padding, func(a, b gap) int { return cmp.Compare(a.at, b.at) })
	after, content := snapshot.NewColumn(component, "after", snapshot.String, 0), snapshot.NewColumn(component, "bytes", snapshot.Bytes, 0)
	of := snapshot.NewColumn(component, "struct", snapshot.String, 0)
	t := snapshot.Table{Label: PaddingLabel}
	for i, g := range d.padding {
		if i > 0 && g.at == d.padding[i-1].at {
			continue
		}
		t.Keys.A = append(t.Keys.A, uint64(g.at))
		after.AppendString(g.of.After)
		of.AppendString(g.of.Struct)
		content.AppendBytes(g.of.bytes(d.memory, g.at))
	}
	t.Columns = []snapshot.Column{after, content, of}
	return t
}

// bytes returns the bits of a padding, all others being 0.
func (p *Padding) bytes(memory []byte, at int64) []byte {
	raw := bytes.Clone(memory[at : at+p.Size])
	for i := range raw {
		raw[i] &= p.Mask
	}
	return raw
}
