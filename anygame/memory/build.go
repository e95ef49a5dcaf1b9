package memory

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

// Bounds of types. Debug information may be damaged, or made to be large.
const (
	maxDepth  = 64     // types within each other
	maxFields = 20_000 // of a struct, including the fields of structs in it
	maxSize   = 1 << 40
)

// typ is a type as it is declared.
type typ struct {
	kind    Kind
	isText  bool // an element of texts
	isPlain bool // a struct; its kind has no meaning
	name    string
	size    int64
	used    int64 // bytes of the value, if they are fewer; else 0
	align   int64 // of a declaration that is text
	scale   uint32
	names   map[uint64]string
	signed  bool

	elem  *typ
	count int64

	members []member // of a struct, a union, or a variant
	tag     *member  // of a variant

	layout *Layout
}

// member is a member of a struct, a union or a variant.
type member struct {
	name   string
	typ    *typ
	bit    int64 // where it begins, counted in bits from the begin of the struct
	bits   int64 // of a bit field; else 0
	tags   []uint64
	others bool
}

// span is a range of bits.
type span struct{ from, to int64 }

// builder makes layouts of types.
type builder struct {
	big   bool
	depth int
}

// layout returns the layout of a type, which is made the first time.
func (b *builder) layout(t *typ) (*Layout, error) {
	if t.layout != nil {
		return t.layout, nil
	}
	if b.depth++; b.depth > maxDepth {
		return nil, fmt.Errorf("%s lies more than %d types deep", t.name, maxDepth)
	}
	defer func() { b.depth-- }()
	if t.size < 0 || t.size > maxSize {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are allowed", t.name, t.size, int64(maxSize))
	}
	l := &Layout{Name: t.name, Size: t.size, BigEndian: b.big}
	f := Field{Size: cmp.Or(t.used, t.size), Kind: t.kind, Scale: t.scale, Names: t.names, Signed: t.signed}
	var err error
	switch {
	case t.isPlain:
		err = b.members(l, t)
	case t.kind == Array && t.elem.isText:
		f.Kind = Text
	case t.kind == Array:
		f.Count = t.count
		f.Element, err = b.layout(t.elem)
		if t.elem.size == 0 {
			f.Size = 0
		}
	case t.kind == Union || t.kind == Variant:
		err = b.alternatives(&f, t)
	}
	if err != nil {
		return nil, err
	}
	if !t.isPlain && f.Size > 0 {
		l.Fields = append(l.Fields, f)
	}
	finish(l)
	t.layout = l
	return l, nil
}

// members adds the members of a struct, including the members of structs in it.
func (b *builder) members(l *Layout, t *typ) error {
	for _, m := range t.members {
		sub, err := b.layout(m.typ)
		if err != nil {
			return err
		}
		from := m.bit / 8
		if m.bits == 8*sub.Size && m.bit%8 == 0 {
			m.bits = 0 // it is as wide as its type
		}
		if m.bits > 0 {
			if len(sub.Fields) != 1 || sub.Fields[0].Kind > Enum || m.bits > min(64, 8*sub.Size) ||
				m.bit < 0 || m.bit+m.bits > 8*t.size {
				return fmt.Errorf("bit field %s.%s does not fit into its struct", t.name, m.name)
			}
			f := sub.Fields[0]
			f.Offset, f.Bit, f.Bits = from, m.bit%8, m.bits
			f.Path, f.Struct, f.Member = m.name, t.name, m.name
			l.Fields = append(l.Fields, f)
			continue
		}
		if m.bit < 0 || from > t.size-sub.Size {
			return fmt.Errorf("member %s.%s of %d bytes at offset %d does not fit into %d bytes",
				t.name, m.name, sub.Size, from, t.size)
		}
		if len(l.Fields)+len(sub.Fields) > maxFields {
			return fmt.Errorf("%s has more than %d members", t.name, maxFields)
		}
		for _, f := range sub.Fields {
			f.Offset += from
			f.Path = join(m.name, f.Path)
			if f.Struct == "" {
				f.Struct, f.Member = t.name, f.Path
			}
			l.Fields = append(l.Fields, f)
		}
		for _, p := range sub.Padding {
			p.Offset += from
			if p.Struct == "" || p.After == "" && len(sub.Fields) > 0 && sub.Fields[0].Path == "" {
				p.Struct, p.At, p.After = t.name, p.Offset, join(m.name, p.After)
			}
			l.Padding = append(l.Padding, p)
		}
	}
	lists.SortStable(l.Fields, func(a, b Field) int { return cmp.Compare(a.span().from, b.span().from) })
	for i := 1; i < len(l.Fields); i++ {
		if f, g := &l.Fields[i-1], &l.Fields[i]; f.span().to > g.span().from {
			return fmt.Errorf("members %s and %s of %s overlap", f.Path, g.Path, t.name)
		}
	}
	return nil
}

// join returns the path of a member of a member.
func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}

// alternatives adds the members of a union or a variant.
func (b *builder) alternatives(f *Field, t *typ) error {
	tagged := span{}
	if t.tag != nil {
		sub, err := b.layout(t.tag.typ)
		if err != nil {
			return err
		}
		at := t.tag.bit / 8
		if len(sub.Fields) != 1 || sub.Size > 8 || at < 0 || at > t.size-sub.Size {
			return fmt.Errorf("the tag of %s is no integer in it", t.name)
		}
		tag := sub.Fields[0]
		tag.Offset = at
		f.Tag, tagged = &tag, tag.span()
	}
	for _, m := range t.members {
		sub, err := b.layout(m.typ)
		if err != nil {
			return err
		}
		if m.bit < 0 || m.bit/8 > t.size-sub.Size || m.bits > 0 && m.bits > 8*sub.Size {
			return fmt.Errorf("member %s.%s does not fit into %d bytes", t.name, m.name, t.size)
		}
		alone := &typ{isPlain: true, name: m.typ.name, size: t.size, members: []member{{typ: m.typ, bit: m.bit, bits: m.bits}}}
		if !m.typ.isPlain {
			alone.name = t.name
		}
		whole := &Layout{Name: alone.name, Size: t.size, BigEndian: b.big}
		if err := b.members(whole, alone); err != nil {
			return err
		}
		if !m.others {
			finish(whole, tagged)
		} else {
			finish(whole)
		}
		f.Alternatives = append(f.Alternatives, Alternative{m.name, m.tags, m.others, whole})
	}
	if t.kind == Variant && len(f.Alternatives) == 0 {
		return fmt.Errorf("%s has no variants", t.name)
	}
	if f.Tag == nil && t.kind == Variant && len(f.Alternatives) > 1 {
		return fmt.Errorf("%s has no tag that tells its %d variants apart", t.name, len(f.Alternatives))
	}
	return nil
}

// finish finds the padding of a layout: the bytes that no field covers, and none of the ranges in addition.
func finish(l *Layout, covered ...span) {
	for i := range l.Fields {
		covered = append(covered, l.Fields[i].span())
	}
	inner := l.Padding
	l.Padding = nil
	for i := range inner {
		p := inner[i]
		if p.Mask != 0xff { // bits of a byte of a bit field, which nothing else is in
			l.Padding = append(l.Padding, p)
			covered = append(covered, span{8 * p.Offset, 8*p.Offset + 8})
			continue
		}
		for _, gap := range gaps(covered, span{8 * p.Offset, 8 * (p.Offset + p.Size)}) {
			q := p
			q.Offset, q.Size = gap.from/8, (gap.to-gap.from)/8
			q.At += q.Offset - p.Offset
			l.Padding = append(l.Padding, q)
		}
	}
	for i := range inner {
		covered = append(covered, span{8 * inner[i].Offset, 8 * (inner[i].Offset + inner[i].Size)})
	}
	for _, gap := range gaps(covered, span{0, 8 * l.Size}) {
		l.addGap(gap)
	}
	lists.SortStable(l.Padding, func(a, b Padding) int { return cmp.Compare(a.Offset, b.Offset) })
	l.weigh()
}

// gaps returns the ranges of whole that nothing covers.
func gaps(covered []span, whole span) (list []span) {
	lists.SortStable(covered, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	at := whole.from
	for _, c := range covered {
		if c.from >= whole.to {
			break
		}
		if c.from > at && c.to > c.from {
			list = append(list, span{at, c.from})
		}
		at = max(at, c.to)
	}
	if at < whole.to {
		list = append(list, span{at, whole.to})
	}
	return list
}

// addGap adds bits that belong to no value: the bits of a byte that values share with them, and whole bytes.
func (l *Layout) addGap(gap span) {
	after := ""
	end := int64(-1)
	for i := range l.Fields {
		if f := &l.Fields[i]; f.span().to <= gap.from && f.span().to >= end {
			after, end = f.Path, f.span().to
		}
	}
	for from := gap.from; from < gap.to; {
		to := min(gap.to, from-from%8+8)
		mask := byte(0xff)
		if to-from == 8 {
			to = gap.to - gap.to%8
		} else {
			mask = l.mask(from%8, to-from)
		}
		p := Padding{Offset: from / 8, Size: (to - from + 7) / 8, Mask: mask, Struct: l.Name, At: from / 8, After: after}
		if n := len(l.Padding); n > 0 && l.Padding[n-1].Offset == p.Offset && mask != 0xff {
			l.Padding[n-1].Mask |= mask // two gaps in one byte
		} else {
			l.Padding = append(l.Padding, p)
		}
		from = to
	}
}

// mask returns some bits of a byte.
func (l *Layout) mask(from, count int64) byte {
	m := byte(1<<count - 1)
	if l.BigEndian {
		return m << (8 - from - count)
	}
	return m << from
}

// bytesOfCell is how many bytes of a value of any length weigh as much as a number.
const bytesOfCell = 64

// long returns 1 for values of any length.
func (k Kind) long() int {
	if k == Text || k == Opaque || k == Union {
		return 1
	}
	return 0
}

// weigh counts the values of a layout, and computes what is equal for equal layouts.
func (l *Layout) weigh() {
	h := sha256.New()
	fmt.Fprint(h, l.Name, l.Size, l.BigEndian, l.Padding)
	l.cells = float64(len(l.Padding))
	for i := range l.Fields {
		f := &l.Fields[i]
		fmt.Fprint(h, f.Path, f.Struct, f.Member, f.Offset, f.Size, f.Kind, f.Bit, f.Bits, f.Scale, f.Count, f.Names)
		l.cells += 1 + float64(f.Size)/bytesOfCell*float64(f.Kind.long())
		if f.Element != nil {
			fmt.Fprint(h, f.Element.print)
			l.cells += float64(f.Count) * f.Element.cells
		}
		for _, a := range f.Alternatives {
			fmt.Fprint(h, a.Name, a.Tags, a.Others, a.Layout.print)
			l.cells += a.Layout.cells
		}
	}
	l.print = string(h.Sum(nil))
}

// enumSize reports a size that no enum has.
func enumSize(t *typ) error {
	if !slices.Contains([]int64{1, 2, 4, 8}, t.size) {
		return fmt.Errorf("enum %s of %d bytes", t.name, t.size)
	}
	return nil
}

// value adds a value of an enum. Of several names of one value the first counts.
func (t *typ) value(name string, v int64) {
	bits := uint64(v) << (64 - 8*t.size) >> (64 - 8*t.size)
	if _, ok := t.names[bits]; !ok {
		t.names[bits] = name
	}
}

// arrayOf returns the type of an array.
func arrayOf(elem *typ, count int64) (*typ, error) {
	if count < 0 || elem.size > 0 && count > maxSize/elem.size {
		return nil, fmt.Errorf("an array of %d elements of %d bytes", count, elem.size)
	}
	return &typ{kind: Array, size: count * elem.size, align: elem.align, elem: elem, count: count}, nil
}
