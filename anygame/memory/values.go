package memory

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/snapshot"
)

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
