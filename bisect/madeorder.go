package bisect

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/snapshot"
)

// Entities are the entities of a state, by archetype and owner, for orders that name them. Nil means that the state is
// not known.
type Entities struct{ tables []owned }

// owned is an archetype.
type owned struct {
	label string
	keys  []uint64
	of    map[uint32][]uint64 // by owner; nil where the archetype has no owners
}

// EntitiesOf returns the entities of a state. The column owner has their owners, see OrderForms.Owner.
func EntitiesOf(w *snapshot.World, owner string) *Entities {
	component, field, _ := strings.Cut(owner, ".")
	e := &Entities{}
	for i := range w.Tables {
		t := &w.Tables[i]
		if t.Class != snapshot.Archetype || t.Rows() == 0 {
			continue
		}
		o := owned{label: t.Label, keys: t.Keys.A}
		if c := t.Column(component, field); c != nil && wholeNumber(c.Type) {
			o.of = map[uint32][]uint64{}
			for row, key := range t.Keys.A {
				if c.Has(row) {
					player := uint32(c.Uint(row))
					o.of[player] = append(o.of[player], key)
				}
			}
		}
		e.tables = append(e.tables, o)
	}
	return e
}

// wholeNumber reports whether a column may have the numbers of players.
func wholeNumber(t snapshot.Type) bool {
	return slices.Contains([]snapshot.Type{snapshot.U8, snapshot.U16, snapshot.U32, snapshot.U64, snapshot.I8, snapshot.I16, snapshot.I32, snapshot.I64}, t)
}

// pick returns an entity that a player may name, false if there is none.
func (e *Entities) pick(r *rand.Rand, form *EntityForm, player uint32, players []uint32) (uint64, bool) {
	var suit [][]uint64
	whom := player
	if form.Of == Others && len(players) > 1 {
		for whom == player {
			whom = players[r.IntN(len(players))]
		}
	}
	for i := range e.tables {
		t := &e.tables[i]
		if len(form.Archetypes) > 0 && !slices.Contains(form.Archetypes, t.label) {
			continue
		}
		keys := t.keys
		if form.Of != Anyone {
			keys = t.of[whom]
		}
		if len(keys) > 0 {
			suit = append(suit, keys)
		}
	}
	if len(suit) == 0 {
		return 0, false
	}
	keys := suit[r.IntN(len(suit))]
	return keys[r.IntN(len(keys))], true
}

// One number in atEdge is at an end of its range.
const atEdge = 16

// Make makes the payload of an order of a form, false if it would name an entity that does not exist. The same
// generator, state and form give the same payload.
func (f *OrderForms) Make(r *rand.Rand, form int, player uint32, e *Entities) (payload []byte, ok bool) {
	o := &f.Forms[form]
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf) // a bytes.Buffer never fails
	enc.UseCompactInts(true)
	if !o.Packed {
		_ = enc.EncodeArrayLen(len(o.Fields))
	}
	for i := range o.Fields {
		field := &o.Fields[i]
		switch field.Type {
		case Str:
			text := field.Texts[r.IntN(len(field.Texts))]
			if o.Packed {
				buf.WriteString(text)
			} else {
				_ = enc.EncodeString(text)
			}
		case F32, F64:
			field.put(&buf, enc, o.Packed, field.float(r))
		default:
			v, ok := field.number(r, player, f.Players, e)
			if !ok {
				return nil, false
			}
			if o.Packed {
				var b [8]byte
				binary.LittleEndian.PutUint64(b[:], v)
				buf.Write(b[:fieldTypes[field.Type].size])
			} else if field.Type == Bool {
				_ = enc.EncodeBool(v != 0)
			} else if field.Type == U64 || field.Entity != nil {
				_ = enc.EncodeUint(v)
			} else {
				_ = enc.EncodeInt(int64(v))
			}
		}
	}
	return buf.Bytes(), true
}

// number returns a whole number of the field, of negative ones their two's complement.
func (f *FieldForm) number(r *rand.Rand, player uint32, players []uint32, e *Entities) (uint64, bool) {
	if len(f.Values) > 0 {
		return uint64(f.Values[r.IntN(len(f.Values))]), true
	}
	low, high := f.ends()
	if f.Entity != nil {
		if e != nil {
			return e.pick(r, f.Entity, player, players)
		}
		if f.Max == 0 && f.Min == 0 {
			return 0, false
		}
	}
	if r.IntN(atEdge) == 0 {
		return uint64([]int64{low, high}[r.IntN(2)]), true
	}
	width := uint64(high) - uint64(low)
	if width == math.MaxUint64 {
		return r.Uint64(), true
	}
	return uint64(low) + r.Uint64N(width+1), true
}

// float returns a number with a fraction.
func (f *FieldForm) float(r *rand.Rand) float64 {
	if len(f.Values) > 0 {
		return float64(f.Values[r.IntN(len(f.Values))])
	}
	low, high := f.ends()
	if r.IntN(atEdge) == 0 {
		return float64([]int64{low, high}[r.IntN(2)])
	}
	return float64(low) + r.Float64()*(float64(high)-float64(low))
}

// ends returns the bounds of a number.
func (f *FieldForm) ends() (low, high int64) {
	if f.Min == 0 && f.Max == 0 {
		t := fieldTypes[f.Type]
		return t.min, t.max
	}
	return f.Min, f.Max
}

// put writes a number with a fraction.
func (f *FieldForm) put(buf *bytes.Buffer, enc *msgpack.Encoder, packed bool, v float64) {
	switch {
	case packed && f.Type == F32:
		_ = binary.Write(buf, binary.LittleEndian, float32(v))
	case packed:
		_ = binary.Write(buf, binary.LittleEndian, v)
	case f.Type == F32:
		_ = enc.EncodeFloat32(float32(v))
	default:
		_ = enc.EncodeFloat64(v)
	}
}
