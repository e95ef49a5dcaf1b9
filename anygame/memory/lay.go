package memory

import (
	"fmt"
	"strings"
)

// plainTypes returns the types that need no declaration.
func plainTypes() map[string]*typ {
	types := map[string]*typ{}
	for _, plain := range []struct {
		kind  Kind
		size  int64
		names string
	}{
		{Bool, 1, "bool _Bool"},
		{Unsigned, 1, "u8 uint8 uint8_t byte"},
		{Unsigned, 2, "u16 uint16 uint16_t char16_t"},
		{Unsigned, 4, "u32 uint32 uint32_t unsigned uint char32_t"},
		{Unsigned, 8, "u64 uint64 uint64_t"},
		{Signed, 1, "i8 s8 int8 int8_t char"},
		{Signed, 2, "i16 s16 int16 int16_t short"},
		{Signed, 4, "i32 s32 int32 int32_t int"},
		{Signed, 8, "i64 s64 int64 int64_t"},
		{Float, 4, "f32 float float32"},
		{Float, 8, "f64 double float64"},
	} {
		for name := range strings.FieldsSeq(plain.names) {
			types[name] = &typ{kind: plain.kind, name: name, size: plain.size, align: plain.size}
		}
	}
	types["char"].isText = true
	for bits := range 31 {
		name := fmt.Sprintf("fixed%d", bits+1)
		types[name] = &typ{kind: Fixed, name: name, size: 4, align: 4, scale: 1 << (bits + 1)}
	}
	return types
}

// lay gives members their places, as gcc and clang do.
func (p *parser) lay(t *typ, list []member, packed bool) error {
	pack := p.pack
	if packed {
		pack = 1
	}
	t.align = 1
	end := int64(0) // in bits
	for _, m := range list {
		align := max(m.typ.align, 1)
		if pack > 0 {
			align = min(align, pack)
		}
		unit := 8 * m.typ.size
		switch {
		case m.bits < 0:
			end = up(end, unit)
			continue
		case m.bits == 0:
			m.bit = up(end, 8*align)
		case pack == 0 && end/unit != (end+m.bits-1)/unit:
			m.bit = up(end, unit)
		default:
			m.bit = end
		}
		if !t.isPlain { // a union
			m.bit = 0
		}
		size := m.bits
		if m.bits == 0 {
			size = unit
		}
		end = max(end, m.bit+size)
		if end > 8*maxSize {
			return p.fault("%s has more than %d bytes", t.name, int64(maxSize))
		}
		if m.name != "" || m.bits == 0 {
			if m.bits > 0 && p.pack > 0 { // what is packed in addition moves no bit field
				align = min(max(m.typ.align, 1), p.pack)
			}
			t.align = max(t.align, align)
			t.members = append(t.members, m)
		} // else it is padding
	}
	t.size = up(up(end, 8)/8, t.align)
	return nil
}

// up returns the multiple of a number that is not less than n.
func up(n, of int64) int64 { return (n + of - 1) / of * of }
