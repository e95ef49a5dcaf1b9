package snapshot

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestApart compares differences with exact arithmetic on the written forms of values.
func TestApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{U8, U16, U32, U64, I8, I16, I32, I64, Fixed, F32, F64}).Draw(t, "type")
		scale := uint32(0)
		if typ == Fixed {
			scale = rapid.SampledFrom([]uint32{1, 10, 100, 1 << 16, 1 << 31}).Draw(t, "scale")
		}
		column := NewColumn("C", "f", typ, scale)
		for range 2 {
			switch {
			case typ.Float():
				column.AppendFloat(rapid.Float64().Draw(t, "value"))
			default:
				bits := rapid.Uint64().Draw(t, "bits") >> rapid.IntRange(0, 63).Draw(t, "shift")
				if rapid.Bool().Draw(t, "negative") {
					bits = -bits
				}
				column.AppendUint(bits)
			}
		}
		c := newChange(Key{}, "C", "f", column.At(0), column.At(1), longValue)
		got := c.Apart()
		exact := func(i int, v Value) (*big.Rat, bool) {
			if typ.Float() { // a float is written with as few digits as tell it from others
				r := new(big.Rat).SetFloat64(column.Float(i))
				return r, r != nil
			}
			return new(big.Rat).SetString(v.String())
		}
		x, okX := exact(0, c.A)
		y, okY := exact(1, c.B)
		if !okX || !okY { // not finite
			if got.Difference != "" || got.Relative != nil {
				t.Fatalf("%s and %s are apart: %+v", c.A, c.B, got)
			}
			return
		}
		want := new(big.Rat).Sub(y, x)
		d, ok := new(big.Rat).SetString(got.Difference)
		switch {
		case got.Difference == "":
			if f, _ := want.Float64(); math.Abs(f) < math.MaxFloat32/2 && math.Abs(f)*float64(max(scale, 1)) < math.MaxInt64 {
				t.Fatalf("%s and %s have no difference", c.A, c.B)
			}
		case !ok || !strings.ContainsAny(got.Difference[:1], "+-"):
			t.Fatalf("difference %q", got.Difference)
		case !typ.Float() && d.Cmp(want) != 0:
			t.Fatalf("%s and %s are %s apart, not %s", c.A, c.B, want, got.Difference)
		case typ.Float():
			a, _ := want.Float64()
			b, _ := d.Float64()
			if near := 1e-6*math.Abs(a) + 1e-45; math.Abs(a-b) > near {
				t.Fatalf("%s and %s are %g apart, not %g", c.A, c.B, a, b)
			}
		}
		if typ == Fixed {
			units := new(big.Rat).Mul(new(big.Rat).Abs(want), new(big.Rat).SetInt64(int64(scale)))
			if !units.IsInt() || units.Num().Uint64() != got.Units {
				t.Fatalf("%s and %s are %s units apart, not %d", c.A, c.B, units, got.Units)
			}
		}
		if (got.Relative != nil) != (x.Sign()*y.Sign() > 0) {
			if f, _ := new(big.Rat).SetFrac(y.Num(), y.Denom()).Float64(); got.Relative == nil && typ.Float() && math.Abs(f) > 1e290 {
				return // the quotient is beyond all floats
			}
			if x.Sign()*y.Sign() > 0 && typ.Float() {
				q, _ := new(big.Rat).Quo(y, x).Float64()
				if math.IsInf(q, 0) {
					return
				}
			}
			t.Fatalf("%s and %s: relative %v", c.A, c.B, got.Relative)
		}
		if got.Relative != nil {
			q, _ := new(big.Rat).Sub(new(big.Rat).Quo(y, x), big.NewRat(1, 1)).Float64()
			if math.Abs(q-*got.Relative) > 1e-6*math.Abs(q)+1e-15 {
				t.Fatalf("%s and %s: relative %g, not %g", c.A, c.B, q, *got.Relative)
			}
		}
	})
}

// TestNotApart: a value that is not a number, or not there, is not apart.
func TestNotApart(t *testing.T) {
	for _, pair := range [][2]Value{
		{{Type: String, Raw: []byte("1")}, {Type: String, Raw: []byte("2")}},
		{{Type: Bool, Raw: []byte{0}}, {Type: Bool, Raw: []byte{1}}},
		{{Type: Ref, Raw: make([]byte, 8)}, {Type: Ref, Raw: []byte{1, 0, 0, 0, 0, 0, 0, 0}}},
		{{Type: U8, Raw: []byte{0}, Absent: true}, {Type: U8, Raw: []byte{1}}},
	} {
		c := newChange(Key{}, "C", "f", pair[0], pair[1], longValue)
		if got := c.Apart(); got != (Apart{}) {
			t.Errorf("%s and %s: %+v", pair[0], pair[1], got)
		}
	}
}
