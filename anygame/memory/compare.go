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
	if t.all == 1 {
		return t.what
	}
	return fmt.Sprintf("%s in %d of %d %ss", t.what, t.differ, t.all, t.of)
}

// tallies are in the order in which they come.
type tallies struct {
	list []*tally
	by   map[string]*tally
}

func (t *tallies) count(what, of string, differs bool) {
	one := t.by[what]
	if one == nil {
		one = &tally{what: what, of: of}
		if t.by == nil {
			t.by = map[string]*tally{}
		}
		t.by[what] = one
		t.list = append(t.list, one)
	}
	one.all++
	if differs {
		one.differ++
	}
}

// texts returns those that differ.
func (t *tallies) texts() (texts []string) {
	for _, one := range t.list {
		if one.differ > 0 {
			texts = append(texts, one.String())
		}
	}
	return texts
}

// comparison finds in two dumps of one type what differs though no value does.
type comparison struct {
	a, b                                     []byte
	big                                      bool
	padding, pointers, nulls, behind, values tallies
}

// Findings returns a sentence for each kind of difference between two dumps that is no difference of values: padding,
// addresses, and what is behind the end of texts. They were decoded with the same options.
func (l *Layout) Findings(a, b []byte, opt Options) (sentences []string) {
	c := &comparison{a: a, b: b, big: l.BigEndian}
	count, err := l.elements(int64(len(a)), "", opt)
	if n, other := l.elements(int64(len(b)), "", opt); err != nil || other != nil || n != count {
		c.values.count("the number of elements", "dump", true)
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
	say("text differs only after the zero that ends it: %s: what the memory held before", &c.behind)
	switch values := c.values.texts(); {
	case len(sentences) == 0:
	case len(values) > 0:
		say("values differ, too: %s", &c.values)
	case len(c.nulls.texts()) == 0:
		sentences = append(sentences, "nothing else differs: the values of the game are equal")
	}
	return sentences
}

// element compares what is at one place in both dumps. In is the name of the array that it is an element of, of the struct
// that counts it.
func (c *comparison) element(l *Layout, base int64, in, of string) {
	if l.Name != "" && !l.scalar() && l.array() == nil {
		of = l.Name
	}
	for i := range l.Padding {
		p := &l.Padding[i]
		at := base + p.Offset
		c.padding.count(p.amount()+" "+p.place(), p.Struct, !bytes.Equal(p.bytes(c.a, at), p.bytes(c.b, at)))
	}
	for i := range l.Fields {
		f := &l.Fields[i]
		from, to := base+f.Offset, base+f.Offset+f.bytes()
		name, counted := f.name(in), of
		if f.Struct != "" {
			counted = f.Struct
		}
		switch f.Kind {
		case Array:
			c.elements(f, base, name, counted)
		case Variant:
			c.variant(f, base, name, counted)
		case Pointer:
			a, b := f.raw(c.a, base, c.big), f.raw(c.b, base, c.big)
			c.pointers.count(name, counted, a != b && a != 0 && b != 0)
			c.nulls.count(name, counted, (a == 0) != (b == 0))
		case Text:
			textA, restA := f.text(c.a, base)
			textB, restB := f.text(c.b, base)
			same := bytes.Equal(textA, textB) && len(restA) == len(restB)
			c.values.count(name, counted, !same)
			c.behind.count(name, counted, same && !bytes.Equal(restA, restB))
		default:
			equal := bytes.Equal(c.a[from:to], c.b[from:to])
			c.values.count(name, counted, !equal && (f.Bits == 0 || f.raw(c.a, base, c.big) != f.raw(c.b, base, c.big)))
		}
	}
}

// elements compares the elements of an array.
func (c *comparison) elements(f *Field, base int64, name, of string) {
	if f.Element.scalar() || f.Element.array() != nil {
		of = "element"
	}
	for i := range f.Count {
		c.element(f.Element, base+f.Offset+i*f.Element.Size, name, of)
	}
}

// variant compares what is the same alternative in both dumps.
func (c *comparison) variant(f *Field, base int64, name, of string) {
	a, b := f.active(c.a, base, c.big), f.active(c.b, base, c.big)
	if a == nil || a != b {
		from := base + f.Offset
		c.values.count(name, of, a != b || !bytes.Equal(c.a[from:from+f.Size], c.b[from:from+f.Size]))
		return
	}
	c.values.count(name, of, false)
	c.element(a.Layout, base+f.Offset, name, of)
}
