package memory

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

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
