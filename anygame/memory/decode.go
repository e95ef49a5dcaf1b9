package memory

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
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

// scope is where a layout is decoded: the label of its table, the path in its row, and the component that a member
// without a path belongs to.
type scope struct {
	label, path, component string
	depth                  int // of arrays
}

// key is the key of a row: the first array's, and the indexes of those within it as one number.
type key struct{ a, b uint64 }

// step decodes one value of the element that begins at base.
type step func(d *decoder, base int64, k key) error

// plan is how an element is decoded.
type plan []step

func (p plan) run(d *decoder, base int64, k key) error {
	for _, s := range p {
		if err := s(d, base, k); err != nil {
			return err
		}
	}
	return nil
}

// plan returns how a layout is decoded into rows of a table.
func (d *decoder) plan(l *Layout, t *table, in scope) (plan, error) {
	var p plan
	for i := range l.Fields {
		s, err := d.field(&l.Fields[i], t, in)
		if err != nil {
			return nil, err
		}
		p = append(p, s)
	}
	for i := range l.Padding {
		pad := &l.Padding[i]
		p = append(p, func(d *decoder, base int64, _ key) error {
			d.padding = append(d.padding, gap{base + pad.Offset, pad})
			return nil
		})
	}
	return p, nil
}

// names returns the component and the field of a path.
func (in scope) names(path string) (component, field string) {
	path = join(in.path, path)
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return cmp.Or(in.component, "memory"), cmp.Or(path, "value")
}

// few is how many numbers of an array are fields of their row.
const few = 4

func (d *decoder) field(f *Field, t *table, in scope) (step, error) {
	switch f.Kind {
	case Array:
		if f.Count <= few && f.Element.scalar() {
			return d.short(f, t, in)
		}
		label := join(in.label, join(in.path, f.Path))
		return d.array(f, scope{label: label, component: cmp.Or(f.Element.component(), label), depth: in.depth}, in.depth)
	case Union:
		return d.union(f, t, in)
	case Variant:
		return d.variant(f, t, in)
	}
	component, field := in.names(f.Path)
	return d.value(f, t, component, field)
}

// scalar reports whether a layout is one number.
func (l *Layout) scalar() bool {
	return len(l.Fields) == 1 && len(l.Padding) == 0 && l.Fields[0].Path == "" && l.Fields[0].Kind <= Pointer
}

// component returns the component of members that are in no struct within it.
func (l *Layout) component() string {
	if len(l.Fields) > 0 && l.Fields[0].Path == "" && l.Fields[0].Kind != Variant {
		return ""
	}
	return l.Name
}

// short decodes an array of few numbers into fields of the row.
func (d *decoder) short(f *Field, t *table, in scope) (step, error) {
	var p plan
	for i := range f.Count {
		component, field := in.names(fmt.Sprintf("%s[%d]", f.Path, i))
		s, err := d.value(&f.Element.Fields[0], t, component, field)
		if err != nil {
			return nil, err
		}
		p = append(p, func(d *decoder, base int64, k key) error { return s(d, base+f.Offset+i*f.Element.Size, k) })
	}
	return p.run, nil
}

// array decodes an array into a separate table. Elements that are only arrays are rows with the indexes of both.
func (d *decoder) array(f *Field, in scope, depth int) (step, error) {
	e := f.Element
	in.depth++
	if inner := e.array(); inner != nil {
		s, err := d.array(inner, in, depth+1)
		return func(d *decoder, base int64, k key) error {
			for i := range f.Count {
				if err := s(d, base+f.Offset+i*e.Size, k.in(depth, f.Count, uint64(i))); err != nil {
					return err
				}
			}
			return nil
		}, err
	}
	t := d.table(in.label, min(depth+1, 2))
	var index *snapshot.Column
	by, err := e.key(d.keys[in.label], depth)
	if err == nil && by != nil {
		index, err = d.column(t, in.component, indexField, snapshot.U64, 0)
	}
	if err != nil {
		return nil, err
	}
	p, err := d.plan(e, t, in)
	return func(d *decoder, base int64, k key) error {
		order, err := d.order(f, by, base)
		if err != nil {
			return fmt.Errorf("%s: %w", in.label, err)
		}
		for n := range f.Count {
			at, id := n, uint64(n)
			if by != nil {
				at, id = order[n].at, order[n].id
			}
			k := k.in(depth, f.Count, id)
			t.begin(k.a, k.b)
			if index != nil {
				index.AppendUint(uint64(at))
			}
			if err := p.run(d, base+f.Offset+at*e.Size, k); err != nil {
				return err
			}
			t.end()
		}
		return nil
	}, err
}

// array returns the only field of a layout if it is an array that is no field of a row.
func (l *Layout) array() *Field {
	if len(l.Fields) != 1 || len(l.Padding) > 0 || l.Fields[0].Path != "" || l.Fields[0].Kind != Array {
		return nil
	}
	return &l.Fields[0]
}

// in returns the key of an element of an array at some depth.
func (k key) in(depth int, count int64, i uint64) key {
	if depth == 0 {
		return key{i, 0}
	}
	return key{k.a, k.b*uint64(count) + i}
}

// identified is an element with the number that identifies it.
type identified struct {
	id uint64
	at int64
}

// order returns the elements of an array by ascending keys; nil where the index is the key.
func (d *decoder) order(f, by *Field, base int64) ([]identified, error) {
	if by == nil {
		return nil, nil
	}
	order := make([]identified, f.Count)
	for i := range f.Count {
		order[i] = identified{by.raw(d.memory, base+f.Offset+i*f.Element.Size, d.big), i}
	}
	slices.SortFunc(order, func(a, b identified) int { return cmp.Compare(a.id, b.id) })
	for i := 1; i < len(order); i++ {
		if order[i].id == order[i-1].id {
			return nil, fmt.Errorf("elements %d and %d both have %s %d", order[i-1].at, order[i].at, by.Path, order[i].id)
		}
	}
	return order, nil
}

// key returns the field of an element that is its key; nil if that is its index.
func (l *Layout) key(path string, depth int) (*Field, error) {
	if path == "" || depth > 0 {
		return nil, nil
	}
	for i := range l.Fields {
		if f := &l.Fields[i]; f.Path == path && f.Kind <= Enum && f.Kind != Float && f.Size <= 8 {
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s has no member %s that is a number", l.Name, path)
}

// Keys returns the members that identify the elements of arrays, by the label of the array. Such a member is called id, or
// alike, and is different and not 0 in all elements of all dumps. Other arrays have their index as the key.
func (l *Layout) Keys(opt Options, dumps ...[]byte) map[string]string {
	keys := map[string]string{}
	try := func(f *Field, label string, base int64) {
		for i := range f.Element.Fields {
			by := &f.Element.Fields[i]
			if by.identifies() && !slices.ContainsFunc(dumps, func(m []byte) bool { return !unique(f, by, m, base, l.BigEndian) }) {
				keys[label] = by.Path
				return
			}
		}
	}
	if opt.Elements != 0 {
		count := int64(1 << 62)
		for _, m := range dumps {
			n, err := l.elements(int64(len(m)), "", opt)
			if err != nil {
				return keys
			}
			count = min(count, n)
		}
		try(&Field{Offset: opt.Offset, Count: count, Element: l}, l.Name, 0)
		return keys
	}
	for i := range l.Fields {
		if f := &l.Fields[i]; f.Kind == Array {
			try(f, f.Path, opt.Offset)
		}
	}
	return keys
}

// identifies reports whether a member has the name of one that identifies its struct.
func (f *Field) identifies() bool {
	if f.Kind != Signed && f.Kind != Unsigned {
		return false
	}
	short := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	switch name := short(f.Member); name {
	case "id", "uid", "guid", "uuid", "mid", "entityid", "objectid", "netid", "networkid", short(f.Struct) + "id":
		return true
	}
	return false
}

// unique reports whether a member is different and not 0 in all elements.
func unique(f, by *Field, memory []byte, base int64, big bool) bool {
	seen := map[uint64]bool{0: true}
	for i := range f.Count {
		at := base + f.Offset + i*f.Element.Size
		if at+f.Element.Size > int64(len(memory)) {
			return false
		}
		id := by.raw(memory, at, big)
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return f.Count > 0
}

// union decodes the bytes of a union, and all that they may be.
func (d *decoder) union(f *Field, t *table, in scope) (step, error) {
	component, field := in.names(cmp.Or(f.Path, "union"))
	raw, err := d.column(t, component+unionSuffix, field, snapshot.Bytes, 0)
	if err != nil {
		return nil, err
	}
	var p plan
	for i := range f.Alternatives {
		a := &f.Alternatives[i]
		s, err := d.plan(a.Layout, t, in.below(join(f.Path, a.Name)))
		if err != nil {
			return nil, err
		}
		p = append(p, s.run)
	}
	return func(d *decoder, base int64, k key) error {
		raw.AppendBytes(d.memory[base+f.Offset : base+f.Offset+f.Size])
		before := len(d.padding)
		err := p.run(d, base+f.Offset, k)
		d.padding = d.padding[:before] // the bytes of the union have it
		return err
	}, nil
}

func (in scope) below(path string) scope {
	in.path = join(in.path, path)
	return in
}

// variant decodes which alternative there is, and its members.
func (d *decoder) variant(f *Field, t *table, in scope) (step, error) {
	component, field := in.names(f.Path)
	name, err := d.column(t, component, field, snapshot.String, 0)
	if err != nil {
		return nil, err
	}
	plans := map[*Alternative]plan{}
	for i := range f.Alternatives {
		a := &f.Alternatives[i]
		if plans[a], err = d.plan(a.Layout, t, in.below(join(f.Path, a.Name))); err != nil {
			return nil, err
		}
	}
	return func(d *decoder, base int64, k key) error {
		a := f.active(d.memory, base, d.big)
		if a == nil { // a tag that no variant has: nothing else is known of the bytes
			name.AppendString("0x" + hex.EncodeToString(d.memory[base+f.Offset:base+f.Offset+f.Size]))
			return nil
		}
		name.AppendString(a.Name)
		return plans[a].run(d, base+f.Offset, k)
	}, nil
}

// types are the types of integers, by the bytes that they need.
var types = map[Kind]map[int64]snapshot.Type{
	Bool:     {1: snapshot.U8, 2: snapshot.U16, 4: snapshot.U32, 8: snapshot.U64}, // it may have bits that no bool has
	Signed:   {1: snapshot.I8, 2: snapshot.I16, 4: snapshot.I32, 8: snapshot.I64},
	Unsigned: {1: snapshot.U8, 2: snapshot.U16, 4: snapshot.U32, 8: snapshot.U64},
	Float:    {4: snapshot.F32, 8: snapshot.F64},
	Pointer:  {2: snapshot.U16, 4: snapshot.U32, 8: snapshot.U64},
}

// value decodes a value that is no other values.
func (d *decoder) value(f *Field, t *table, component, field string) (step, error) {
	typ := snapshot.Fixed
	switch f.Kind {
	case Text:
		return d.text(f, t, component, field)
	case Opaque:
		c, err := d.column(t, component, field, snapshot.Bytes, 0)
		return func(d *decoder, base int64, _ key) error {
			c.AppendBytes(d.memory[base+f.Offset : base+f.Offset+f.Size])
			return nil
		}, err
	case Enum:
		c, err := d.column(t, component, field, snapshot.String, 0)
		return func(d *decoder, base int64, _ key) error {
			c.AppendString(f.enum(f.raw(d.memory, base, d.big)))
			return nil
		}, err
	case Pointer:
		component += PointerSuffix
		typ = snapshot.U64
	case Fixed:
	default:
		width := int64(1)
		for 8*width < f.width() {
			width *= 2
		}
		typ = types[f.Kind][width]
	}
	c, err := d.column(t, component, field, typ, f.Scale)
	extend := f.Kind == Signed || f.Kind == Fixed
	return func(d *decoder, base int64, _ key) error {
		raw := f.raw(d.memory, base, d.big)
		if extend {
			raw = uint64(f.signed(raw))
		}
		c.AppendUint(raw)
		return nil
	}, err
}

// enum returns the name of a value, or the value if it has none.
func (f *Field) enum(raw uint64) string {
	value := raw
	if f.Bits > 0 && f.Signed {
		value = uint64(f.signed(raw)) << (64 - 8*f.Size) >> (64 - 8*f.Size) // as the names have it
	}
	switch name, ok := f.Names[value]; {
	case ok:
		return name
	case f.Signed:
		return strconv.FormatInt(f.signed(raw), 10)
	}
	return strconv.FormatUint(raw, 10)
}

// text decodes a text, and the bytes after its end.
func (d *decoder) text(f *Field, t *table, component, field string) (step, error) {
	c, err := d.column(t, component, field, snapshot.String, 0)
	if err != nil {
		return nil, err
	}
	tail, err := d.column(t, component+TailSuffix, field, snapshot.Bytes, 0)
	return func(d *decoder, base int64, _ key) error {
		text, rest := f.text(d.memory, base)
		c.AppendBytes(text)
		tail.AppendBytes(rest)
		return nil
	}, err
}

// text returns a text, and the bytes after the zero that ends it.
func (f *Field) text(memory []byte, base int64) (text, rest []byte) {
	raw := memory[base+f.Offset : base+f.Offset+f.Size]
	if i := bytes.IndexByte(raw, 0); i >= 0 {
		return raw[:i], raw[i+1:]
	}
	return raw, nil
}

// world returns the tables.
func (d *decoder) world(name string) (*snapshot.World, error) {
	w := &snapshot.World{}
	w.Point = snapshot.Point{Native: "moment", Relation: snapshot.Some}
	for _, t := range d.tables {
		if len(t.given) == 0 && t.Label != StateLabel {
			continue // elements that are only padding, or arrays
		}
		for _, c := range t.given {
			t.Columns = append(t.Columns, *c)
		}
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
	slices.SortStableFunc(d.padding, func(a, b gap) int { return cmp.Compare(a.at, b.at) })
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
