package memory

import (
	"bytes"
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
)

// tally counts where something of one kind differs.
type tally struct {
	what, of string // "3 bytes after Unit.alive", "Unit"
	differ   int64
	all      int64
}

// String returns what differs, and in how many places.
func (t *tally) String() string {
	const longest = 80 // names of templates are longer
	what := prose.Shorten(t.what, longest)
	if t.all == 1 {
		return what
	}
	return fmt.Sprintf("%s in %d of %d %ss", what, t.differ, t.all, prose.Shorten(t.of, longest))
}

// tallies are in the order in which they come.
type tallies struct {
	list []*tally
	by   map[place]*tally
}

// place is a field or a padding of a type, in an array.
type place struct {
	field   *Field
	padding *Padding
	in      string
}

// count counts a place that differs or not.
func (t *tallies) count(at place, of string, differs bool) {
	one := t.by[at]
	if one == nil {
		one = &tally{of: of}
		switch {
		case at.padding != nil:
			one.what, one.of = at.padding.amount()+" "+at.padding.place(), at.padding.Struct
		default:
			one.what = at.field.name(at.in)
			if at.field.Struct != "" {
				one.of = at.field.Struct
			}
		}
		if t.by == nil {
			t.by = map[place]*tally{}
		}
		t.by[at] = one
		t.list = append(t.list, one)
	}
	one.all++
	if differs {
		one.differ++
	}
}

// texts returns those that differ.
func (t *tallies) texts() (texts []string) {
	sums := map[string]*tally{} // a struct may be in several others
	for _, one := range t.list {
		if sum := sums[one.what]; sum != nil {
			sum.all, sum.differ = sum.all+one.all, sum.differ+one.differ
			continue
		}
		sums[one.what] = &tally{one.what, one.of, one.differ, one.all}
	}
	for _, one := range t.list {
		if sum := sums[one.what]; sum != nil && sum.differ > 0 {
			texts = append(texts, sum.String())
		}
		delete(sums, one.what)
	}
	return texts
}

// comparison finds in two dumps of one type what differs though no value does.
type comparison struct {
	a, b                                     []byte
	big                                      bool
	padding, pointers, nulls, behind, values tallies
}

// Findings returns a sentence for each kind of difference between two dumps that is not a difference of values:
// padding, addresses, and the bytes after the end of texts. They were decoded with the same options.
func (l *Layout) Findings(a, b []byte, opt Options) (sentences []string) {
	c := &comparison{a: a, b: b, big: l.BigEndian}
	count, err := l.elements(int64(len(a)), "", opt)
	if n, other := l.elements(int64(len(b)), "", opt); err != nil || other != nil || n != count {
		c.values.list = append(c.values.list, &tally{what: "the number of elements", differ: 1, all: 1})
		count = min(count, n)
	}
	for i := range count {
		c.element(l, opt.Offset+i*l.Size, "", l.Name)
	}
	say := func(format string, t *tallies) {
		if texts := t.texts(); len(texts) > 0 {
			sentences = append(sentences, fmt.Sprintf(format, prose.Few(texts, 5)))
		}
	}
	say("padding differs: %s: uninitialised memory in what was compared", &c.padding)
	say("pointers differ in %s: they differ on every machine", &c.pointers)
	say("only one side has a null pointer in %s", &c.nulls)
	say("text differs only after the zero that ends it: %s: bytes that the memory held before", &c.behind)
	switch values := c.values.texts(); {
	case len(sentences) == 0:
	case len(values) > 0:
		say("values differ, too: %s", &c.values)
	case len(c.nulls.texts()) == 0:
		sentences = append(sentences, "nothing else differs: the values of the game are equal")
	}
	return sentences
}

// element compares one place of both dumps. In is the name of the array that contains it, of the name of the counted
// things.
func (c *comparison) element(l *Layout, base int64, in, of string) {
	if l.Name != "" && !l.scalar() && l.array() == nil {
		of = l.Name
	}
	for i := range l.Padding {
		p := &l.Padding[i]
		c.padding.count(place{padding: p}, of, p.differs(c.a, c.b, base+p.Offset))
	}
	for i := range l.Fields {
		f := &l.Fields[i]
		at := place{field: f}
		if f.Struct == "" {
			at.in = in
		}
		switch f.Kind {
		case Array:
			counted := of
			if f.Element.scalar() || f.Element.array() != nil {
				counted = "element"
			}
			for i := range f.Count {
				c.element(f.Element, base+f.Offset+i*f.Element.Size, f.name(in), counted)
			}
		case Variant:
			c.variant(f, base, in, at, of)
		case Pointer:
			a, b := f.raw(c.a, base, c.big), f.raw(c.b, base, c.big)
			c.pointers.count(at, of, a != b && a != 0 && b != 0)
			c.nulls.count(at, of, (a == 0) != (b == 0))
		case Text:
			textA, restA := f.text(c.a, base)
			textB, restB := f.text(c.b, base)
			same := bytes.Equal(textA, textB) && len(restA) == len(restB)
			c.values.count(at, of, !same)
			c.behind.count(at, of, same && !bytes.Equal(restA, restB))
		default:
			from, to := base+f.Offset, base+f.Offset+f.bytes()
			equal := bytes.Equal(c.a[from:to], c.b[from:to])
			c.values.count(at, of, !equal && (f.Bits == 0 || f.raw(c.a, base, c.big) != f.raw(c.b, base, c.big)))
		}
	}
}

// variant compares what is the same alternative in both dumps.
func (c *comparison) variant(f *Field, base int64, in string, at place, of string) {
	a, b := f.active(c.a, base, c.big), f.active(c.b, base, c.big)
	if a == nil || a != b {
		from := base + f.Offset
		c.values.count(at, of, a != b || !bytes.Equal(c.a[from:from+f.Size], c.b[from:from+f.Size]))
		return
	}
	c.values.count(at, of, false)
	c.element(a.Layout, base+f.Offset, f.name(in), of)
}

// differs reports whether a padding differs.
func (p *Padding) differs(a, b []byte, at int64) bool {
	for i := at; i < at+p.Size; i++ {
		if (a[i]^b[i])&p.Mask != 0 {
			return true
		}
	}
	return false
}
