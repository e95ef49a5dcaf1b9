package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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
