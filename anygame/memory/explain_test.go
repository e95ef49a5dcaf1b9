package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Explain describes what lies at an offset. If the memory is given, it also describes texts and variants.
func (l *Layout) Explain(offset int, memory ...byte) string {
	return l.explain(int64(offset), 0, "", "", memory)
}

func (l *Layout) explain(offset, base int64, in, where string, memory []byte) string {
	at := offset - base
	if at < 0 || at >= l.Size {
		return fmt.Sprintf("outside of %s (%d bytes)", l.Name, l.Size)
	}
	for i := range l.Fields {
		f := &l.Fields[i]
		if at < f.Offset || at >= f.Offset+f.bytes() {
			continue
		}
		name, within := cmp.Or(f.name(in), "a member without a name"), at-f.Offset
		switch f.Kind {
		case Array:
			n := within / f.Element.Size
			where = strings.TrimSpace(fmt.Sprintf("%s, element %d of %s", where, n, name))
			return f.Element.explain(offset, base+f.Offset+n*f.Element.Size, name, strings.TrimPrefix(where, ", "), memory)
		case Variant:
			if a := f.active(memory, base, l.BigEndian); a != nil {
				return a.Layout.explain(offset, base+f.Offset, name, where, memory)
			}
		case Union:
			name = "the union " + name
		case Pointer:
			return placed("pointer "+name, where)
		case Text:
			text := fmt.Sprintf("byte %d of %s", within, name)
			if from := base + f.Offset; offset < int64(len(memory)) && slices.Contains(memory[from:offset], 0) {
				text += ", after its end"
			}
			return placed(text, where)
		}
		if f.bytes() > 1 {
			name = fmt.Sprintf("byte %d of %s", within, name)
		}
		return placed(name, where)
	}
	for i := range l.Padding {
		if p := &l.Padding[i]; at >= p.Offset && at < p.Offset+p.Size {
			return placed(fmt.Sprintf("padding %s (%s at offset %d of %s)", p.place(), p.amount(), p.At, p.Struct), where)
		}
	}
	return placed(cmp.Or(l.Name, "a value"), where)
}

// placed adds to a sentence which elements of arrays it speaks of.
func placed(text, where string) string {
	if where == "" {
		return text
	}
	return text + ", " + where
}
