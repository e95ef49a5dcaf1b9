package gdb

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/snapshot"
)

// candidate is a value that differs.
type candidate struct {
	Field
	values [2]snapshot.Value
	offset int  // in long values, of the first byte that differs
	lone   bool // the entity is gone in one build; its place is known at the beginning of the tick only
	ends   [2]place
}

// differing returns a value that differs.
func differing(archetype, column string, c *snapshot.Change) candidate {
	one := candidate{Field: Field{archetype, column, c.Key}, values: [2]snapshot.Value{c.A, c.B}}
	for one.offset < min(len(c.A.Raw), len(c.B.Raw)) && c.A.Raw[one.offset] == c.B.Raw[one.offset] {
		one.offset++
	}
	if c.Excerpt != nil {
		one.offset += c.Excerpt.Offset
	}
	return one
}

// changed returns the values that differ in entities that both builds have.
func (f *finder) changed(d *snapshot.Diff) (list []candidate) {
	absent := false
	for i := range d.Tables {
		if d.Tables[i].Class != snapshot.Archetype {
			continue
		}
		for k := range d.Tables[i].Changes {
			c := &d.Tables[i].Changes[k]
			if c.A.Absent != c.B.Absent {
				absent = true
				continue
			}
			list = append(list, differing(d.Tables[i].Label, c.Component+"."+c.Field, c))
		}
	}
	if absent {
		f.note("in one build a field has a value, in the other it has none: that cannot be watched, and other differences may follow from it")
	}
	return list
}

// lone returns the values that changed in the tick in entities that are gone in one build, as the other build has them: a
// unit that dies in one of them has lost more of its health.
func (f *finder) lone(d *snapshot.Diff, before *snapshot.World, after [2]*snapshot.World) (list []candidate) {
	missed := uint64(0)
	for i := range d.Tables {
		t := &d.Tables[i]
		if t.Class != snapshot.Archetype {
			continue
		}
		missed += t.OnlyACount + t.OnlyBCount
		for in, keys := range [][]snapshot.Key{t.OnlyA, t.OnlyB} {
			for _, key := range keys {
				found := changedOf(before.Table(snapshot.Archetype, t.Label), after[in].Table(snapshot.Archetype, t.Label), key)
				if len(found) > 0 {
					missed--
				}
				list = append(list, found...)
			}
		}
	}
	if missed > 0 {
		f.note("an entity that is new in one build cannot be watched, and other differences may follow from it")
	}
	return list
}

// changedOf returns the values of an entity that differ between two states.
func changedOf(before, after *snapshot.Table, key snapshot.Key) (list []candidate) {
	if before == nil || after == nil {
		return nil
	}
	was, is := rowOf(before, key), rowOf(after, key)
	if was < 0 || is < 0 {
		return nil
	}
	for k := range after.Columns {
		now := &after.Columns[k]
		col := before.Column(now.Component, now.Field)
		if col == nil || col.At(was).Absent || now.At(is).Absent || col.At(was).String() == now.At(is).String() {
			continue
		}
		v := now.At(is)
		list = append(list, candidate{Field: Field{after.Label, now.Component + "." + now.Field, key}, values: [2]snapshot.Value{v, v}, lone: true})
	}
	return list
}

// rowOf returns the row of a key, -1 if there is none.
func rowOf(t *snapshot.Table, key snapshot.Key) int {
	for row := range t.Rows() {
		if t.Keys.At(row) == key {
			return row
		}
	}
	return -1
}

// note adds a note once.
func (f *finder) note(text string) {
	if !slices.Contains(f.out.Notes, text) {
		f.out.Notes = append(f.out.Notes, text)
	}
}

// where returns the part of a value that is watched.
func (b *build) where(c *candidate) (place, error) {
	address, n, err := b.spot.Simulator.(bisect.Locator).Where(c.Archetype, c.Column, c.Key)
	if err != nil {
		return place{}, err
	}
	if address == 0 || n == 0 || c.offset >= int(n) {
		return place{}, fmt.Errorf("%s has %d bytes at address 0x%x", c.Field, n, address)
	}
	p := place{address: address, bytes: n}
	if n > 8 { // the word that differs first
		begin := max(address, (address+uint64(c.offset))&^7)
		p = place{address: begin, bytes: uint32(min(address+uint64(n), begin&^7+8) - begin)}
	}
	return p, nil
}

// words returns how many aligned words a place is in.
func (p place) words() int { return int((p.address+uint64(p.bytes)-1)/8-p.address/8) + 1 }

// locate keeps the first values that the processor can watch.
func (f *finder) locate(list []candidate) error {
	var refused error
	room := registers
	for i := range list {
		c := &list[i]
		if c.lone && room > 0 {
			room--
			f.candidates = append(f.candidates, *c)
		}
		if c.lone {
			continue
		}
		if err := f.both(func(k int, b *build) (err error) {
			c.ends[k], err = b.where(c)
			return err
		}); err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		if n := max(c.ends[0].words(), c.ends[1].words()); n <= room {
			room -= n
			f.candidates = append(f.candidates, *c)
		}
		if room == 0 {
			break
		}
	}
	if len(f.candidates) == 0 {
		return cmp.Or(refused, errors.New("the first value that differs is too large to be watched"))
	}
	return nil
}

// text returns the text of a value, or of the part of it that was watched.
func (c *candidate) text(raw []byte) string {
	v := snapshot.Value{Type: snapshot.Bytes, Raw: raw}
	if c.Archetype != "" && c.values[0].Type.Width() == len(raw) {
		v.Type, v.Scale = c.values[0].Type, c.values[0].Scale
	}
	return v.String()
}

// of returns the value in a state, nil if it is not there.
func (c *candidate) of(w *snapshot.World) *snapshot.Value {
	if c.Archetype == "" {
		return &snapshot.Value{Type: snapshot.Bytes, Raw: w.RNG}
	}
	t := w.Table(snapshot.Archetype, c.Archetype)
	if t == nil {
		return nil
	}
	for k := range t.Columns {
		col := &t.Columns[k]
		if col.Component+"."+col.Field != c.Column {
			continue
		}
		if row := rowOf(t, c.Key); row >= 0 {
			v := col.At(row)
			return &v
		}
	}
	return nil
}
