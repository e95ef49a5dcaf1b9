package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

func encode(t fataler, w *World, opts WriteOptions) []byte {
	b, err := Encode(w, opts)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return b
}

func open(t fataler, b []byte) *File {
	f, err := Open(bytes.NewReader(b), int64(len(b)), "test.snap")
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return f
}

func hold(t fataler, w *World) State {
	s, err := Hold(w)
	if err != nil {
		t.Fatalf("hold: %v", err)
	}
	return s
}

type fataler interface{ Fatalf(string, ...any) }

// smallWorld has every type, both kinds of keys, absent values and all classes.
func smallWorld() *World {
	w := &World{Head: Head{
		Seed: 7, Point: Point{Tick: 1242, Native: "000adee0", Phase: AfterOrders}, Peer: "host", Epoch: 2,
		RNG: []byte{1, 2, 3, 4, 5, 6, 7, 8}, History: sha256.Sum256([]byte("history")),
		Meta: map[string]string{"build": "1.2", "os": "linux"},
	}}
	all := Table{Label: "All", Keys: Keys{A: []uint64{3, 5, 1 << 40}}}
	column := func(component, field string, typ Type, scale uint32, add func(c *Column)) {
		c := NewColumn(component, field, typ, scale)
		add(&c)
		all.Columns = append(all.Columns, c)
	}
	column("C", "bool", Bool, 0, func(c *Column) { c.AppendUint(1); c.AppendUint(0); c.AppendAbsent() })
	for typ := I8; typ <= U64; typ++ {
		column("C", typ.String(), typ, 0, func(c *Column) {
			c.AppendInt(-1)
			c.AppendUint(1 << (8*typ.Width() - 1))
			c.AppendUint(5)
		})
	}
	for _, typ := range []Type{F32, F64} {
		column("C", typ.String(), typ, 0, func(c *Column) {
			c.AppendFloat(0.1)
			c.AppendFloat(math.Copysign(0, -1))
			c.AppendFloat(math.NaN())
		})
	}
	column("C", "fixed", Fixed, 65536, func(c *Column) { c.AppendInt(98304); c.AppendInt(-1); c.AppendInt(math.MinInt64) })
	column("C", "third", Fixed, 3, func(c *Column) { c.AppendInt(7); c.AppendInt(0); c.AppendAbsent() })
	column("C", "string", String, 0, func(c *Column) { c.AppendString("a\n\"b\""); c.AppendAbsent(); c.AppendString("") })
	column("C", "bytes", Bytes, 0, func(c *Column) { c.AppendBytes([]byte{0, 255}); c.AppendBytes(nil); c.AppendAbsent() })
	column("Target", "id", Ref, 0, func(c *Column) { c.AppendUint(12); c.AppendAbsent(); c.AppendUint(0) })
	list := Table{Label: "CITY.supplied", Keys: Keys{A: []uint64{1, 1, 2}, B: []uint64{0, 9, 0}}}
	max := NewColumn("supplied", "old[0].max = x", U16, 0)
	max.AppendUint(3)
	max.AppendUint(4)
	max.AppendUint(65535)
	list.Columns = append(list.Columns, max)
	w.Tables = []Table{
		all, list,
		{Label: "Empty", Columns: []Column{NewColumn("A", "b", U8, 0)}},
		{Label: "Tags only", Keys: Keys{A: []uint64{0, 7}}},
		{Label: "Grid", Class: Cache, Keys: Keys{A: []uint64{1}, B: []uint64{2}}},
		{Label: "All", Class: Noise, Keys: Keys{A: []uint64{1}}},
	}
	w.Sort()
	return w
}

// genWorld draws a World of a few small tables.
func genWorld(t *rapid.T) *World {
	name := rapid.StringMatching(`[A-Za-z .\["=%#é\n]{1,6}`)
	w := &World{Head: Head{
		Seed:  rapid.Uint64().Draw(t, "seed"),
		Point: Point{Tick: rapid.Uint64().Draw(t, "tick"), Phase: rapid.SampledFrom([]string{"", AfterOrders}).Draw(t, "phase")},
		Peer:  rapid.StringMatching(`[a-z\n ]{0,5}`).Draw(t, "peer"),
		Epoch: rapid.Uint32().Draw(t, "epoch"),
	}}
	if rapid.Bool().Draw(t, "has rng") {
		w.RNG = rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "rng")
		if w.RNG == nil {
			w.RNG = []byte{}
		}
	}
	if rapid.Bool().Draw(t, "has history") {
		w.History = sha256.Sum256([]byte{rapid.Byte().Draw(t, "history")})
	}
	if meta := rapid.MapOfN(name, rapid.String(), 0, 3).Draw(t, "meta"); len(meta) > 0 {
		w.Meta = meta
	}
	labels := rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "labels")
	for _, label := range labels {
		w.Tables = append(w.Tables, genTable(t, label, name))
	}
	w.Sort()
	return w
}

func genTable(t *rapid.T, label string, name *rapid.Generator[string]) Table {
	table := Table{Label: label, Class: Class(rapid.IntRange(0, 2).Draw(t, "class"))}
	keys := rapid.SliceOfNDistinct(rapid.Uint64(), 0, 20, rapid.ID).Draw(t, "keys")
	slices.Sort(keys)
	table.Keys.A = keys
	if rapid.Bool().Draw(t, "two parts") {
		table.Keys.B = make([]uint64, len(keys))
		for i := range keys {
			table.Keys.A[i] = keys[i] / 2
			table.Keys.B[i] = uint64(i)
		}
	}
	columns := rapid.SliceOfNDistinct(name, 0, 4, rapid.ID).Draw(t, "fields")
	for _, field := range columns {
		typ := Type(rapid.IntRange(int(Bool), int(Ref)).Draw(t, "type"))
		c := NewColumn(rapid.SampledFrom([]string{"Position", "He alth"}).Draw(t, "component"), field, typ, 0)
		if typ == Fixed {
			c.Scale = rapid.SampledFrom([]uint32{1, 3, 10, 65536, 1000, 1 << 31}).Draw(t, "scale")
		}
		absent := rapid.Bool().Draw(t, "nullable")
		for range keys {
			appendRandom(t, &c, absent)
		}
		table.Columns = append(table.Columns, c)
	}
	return table
}

func appendRandom(t *rapid.T, c *Column, absent bool) {
	switch {
	case absent && rapid.Bool().Draw(t, "absent"):
		c.AppendAbsent()
	case c.Type == Bool:
		c.AppendUint(uint64(rapid.IntRange(0, 1).Draw(t, "bool")))
	case c.Type.Width() > 0:
		c.AppendUint(rapid.Uint64().Draw(t, "bits"))
	default:
		c.AppendBytes(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes"))
	}
}

// oracleLE and oracleSum are how definitions in docs/snapshot.md and docs/merkle.md write
// integers and hash.
func oracleLE(width int, v uint64) []byte {
	b := make([]byte, 8)
	binary.LittleEndian.PutUint64(b, v)
	return b[:width]
}

func oracleSum(parts ...[]byte) []byte {
	h := sha256.Sum256(slices.Concat(parts...))
	return h[:]
}

func oraclePad(b []byte) []byte { return append(slices.Clone(b), make([]byte, (8-len(b)%8)%8)...) }

// oracleRNG is the leaf of the RNG.
func oracleRNG(state []byte) []byte {
	return oracleSum([]byte{1}, oracleLE(4, uint64(len(state))), oracleLE(4, 0), oraclePad(state))
}

// oracleTable are the digests of a table: of each block of the keys and of each column, and
// above them.
type oracleTable struct {
	bounds       [][2]int // rows of each block: the first, and one after the last
	keyBlocks    [][]byte
	keys         []byte
	columnBlocks [][][]byte
	columns      [][]byte
	leaf         []byte
}

// oracleOf computes them from the definition, value by value, sharing no code with the package
// but At, Has and Raw.
func oracleOf(t *Table) (o oracleTable) {
	le, sum := oracleLE, oracleSum
	for i := range t.Keys.A {
		k := t.Keys.At(i)
		h := k.A*0x9E3779B97F4A7C15 + k.B*0xC2B2AE3D27D4EB4F
		h ^= h >> 32
		h *= 0xD6E8FEB86659FD93
		h ^= h >> 32
		if i == 0 || h%4096 == 0 || i-o.bounds[len(o.bounds)-1][0] == 65536 {
			o.bounds = append(o.bounds, [2]int{i, i})
		}
		o.bounds[len(o.bounds)-1][1] = i + 1
	}
	count := le(4, uint64(len(o.bounds)))
	for _, b := range o.bounds {
		pre := append([]byte{3, byte(t.Keys.Parts()), 0, 0}, le(4, uint64(b[1]-b[0]))...)
		for i := b[0]; i < b[1]; i++ {
			pre = append(pre, le(8, t.Keys.A[i])...)
		}
		if t.Keys.B != nil {
			for i := b[0]; i < b[1]; i++ {
				pre = append(pre, le(8, t.Keys.B[i])...)
			}
		}
		o.keyBlocks = append(o.keyBlocks, sum(pre))
	}
	o.keys = sum([]byte{5, byte(t.Keys.Parts()), 0, 0}, count, slices.Concat(o.keyBlocks...))
	for _, c := range t.Columns {
		var blocks [][]byte
		for _, b := range o.bounds {
			n := b[1] - b[0]
			bitmap := make([]byte, (n+7)/8)
			absent := byte(0)
			var lengths, values []byte
			for i := b[0]; i < b[1]; i++ {
				if c.Has(i) {
					bitmap[(i-b[0])/8] |= 1 << ((i - b[0]) % 8)
				} else {
					absent = 1
				}
				lengths = append(lengths, le(4, uint64(len(c.Raw(i))))...)
				values = append(values, c.Raw(i)...)
			}
			pre := append([]byte{4, absent, 0, 0}, le(4, uint64(n))...)
			if absent == 1 {
				pre = append(pre, bitmap...)
			}
			if c.Type == String || c.Type == Bytes {
				pre = append(pre, lengths...)
			}
			blocks = append(blocks, sum(pre, values))
		}
		o.columnBlocks = append(o.columnBlocks, blocks)
		o.columns = append(o.columns, sum([]byte{6, byte(c.Type), 0, 0}, le(4, uint64(c.Scale)), le(4, uint64(len(c.Component))),
			le(4, uint64(len(c.Field))), count, []byte(c.Component), []byte(c.Field), slices.Concat(blocks...)))
	}
	o.leaf = sum([]byte{2}, le(4, uint64(len(t.Label))), le(4, uint64(1+len(o.columns))), le(8, uint64(len(t.Keys.A))),
		oraclePad([]byte(t.Label)), o.keys, slices.Concat(o.columns...))
	return o
}

// oracleRoot computes the root from the definition.
func oracleRoot(w *World) merkle.Hash {
	var level [][]byte
	if w.RNG != nil {
		level = append(level, oracleRNG(w.RNG))
	}
	for i := range w.Tables {
		if w.Tables[i].Class == Archetype {
			level = append(level, oracleOf(&w.Tables[i]).leaf)
		}
	}
	for len(level) > 1 {
		var up [][]byte
		for i := 0; i+1 < len(level); i += 2 {
			up = append(up, oracleSum(level[i], level[i+1]))
		}
		if len(level)%2 == 1 {
			up = append(up, level[len(level)-1])
		}
		level = up
	}
	if len(level) == 0 {
		return sha256.Sum256(nil)
	}
	return merkle.Hash(level[0])
}

func TestRootAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		if got, want := hold(t, w).Info().Root, oracleRoot(w); got != want {
			t.Fatalf("root %s, definition %s", got, want)
		}
	})
	for _, w := range []*World{{}, smallWorld(), bigWorld(3, 20000), bigWorld(1, 200000)} {
		if got, want := hold(t, w).Info().Root, oracleRoot(w); got != want {
			t.Errorf("root %s, definition %s", got, want)
		}
	}
}

// bigWorld has tables of many rows: an i64, a u32 and an f64 column each.
func bigWorld(tables, rows int) *World {
	w := &World{Head: Head{Seed: 9, RNG: []byte{1}}}
	for n := range tables {
		t := Table{Label: fmt.Sprintf("T%02d", n)}
		x, hp, heat := NewColumn("A", "x", Fixed, 65536), NewColumn("B", "hp", U32, 0), NewColumn("C", "heat", F64, 0)
		for i := range rows {
			t.Keys.A = append(t.Keys.A, uint64(i*3+n))
			x.AppendInt(int64(i) * 31337 << 7)
			hp.AppendUint(uint64(100 + i%7))
			heat.AppendFloat(float64(i) / 3)
		}
		t.Columns = []Column{x, hp, heat}
		w.Tables = append(w.Tables, t)
	}
	return w
}

func TestRowsMoveNoOtherBlock(t *testing.T) {
	keys := Keys{A: make([]uint64, 0, 100000)}
	for i := range uint64(100000) {
		keys.A = append(keys.A, 2*i)
	}
	blocks := func(keys Keys) map[merkle.Hash]bool {
		var h Hasher
		_, digests := h.Keys(keys, BlockStarts(nil, keys))
		set := map[merkle.Hash]bool{}
		for _, d := range digests {
			set[d] = true
		}
		return set
	}
	before := blocks(keys)
	if len(before) < 15 || len(before) > 40 {
		t.Fatalf("%d blocks of 100000 rows", len(before))
	}
	after := blocks(Keys{A: slices.Insert(slices.Clone(keys.A), 50001, 100001)})
	fresh := 0
	for d := range after {
		if !before[d] {
			fresh++
		}
	}
	if fresh > 2 {
		t.Errorf("one inserted row changed %d blocks", fresh)
	}
}

func TestValidateRefuses(t *testing.T) {
	two := func(field string) []Column {
		c := NewColumn("A", field, U8, 0)
		c.AppendUint(1)
		c.AppendUint(2)
		return []Column{c}
	}
	keys := Keys{A: []uint64{1, 2}}
	for what, w := range map[string]*World{
		"duplicate archetypes":  {Tables: []Table{{Label: "A"}, {Label: "A"}}},
		"unordered archetypes":  {Tables: []Table{{Label: "B"}, {Label: "A"}}},
		"empty label":           {Tables: []Table{{}}},
		"label not UTF-8":       {Tables: []Table{{Label: "\xff"}}},
		"long label":            {Tables: []Table{{Label: strings.Repeat("x", MaxName+1)}}},
		"duplicate columns":     {Tables: []Table{{Label: "A", Keys: keys, Columns: append(two("a"), two("a")...)}}},
		"unordered columns":     {Tables: []Table{{Label: "A", Keys: keys, Columns: append(two("b"), two("a")...)}}},
		"unordered keys":        {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{2, 1}}, Columns: two("a")}}},
		"duplicate keys":        {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{2, 2}}, Columns: two("a")}}},
		"short column":          {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1, 2, 3}}, Columns: two("a")}}},
		"half a second part":    {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1, 2}, B: []uint64{1}}}}},
		"scale without fixed":   {Tables: []Table{{Label: "A", Columns: []Column{NewColumn("A", "b", U8, 2)}}}},
		"fixed without scale":   {Tables: []Table{{Label: "A", Columns: []Column{NewColumn("A", "b", Fixed, 0)}}}},
		"unknown type":          {Tables: []Table{{Label: "A", Columns: []Column{NewColumn("A", "b", 99, 0)}}}},
		"no field":              {Tables: []Table{{Label: "A", Columns: []Column{NewColumn("A", "", U8, 0)}}}},
		"boolean of 2":          {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1}}, Columns: []Column{{Schema: Schema{"A", "b", Bool, 0}, Data: []byte{2}}}}}},
		"absent but not zero":   {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1}}, Columns: []Column{{Schema: Schema{"A", "b", U8, 0}, Data: []byte{2}, Present: []byte{0}}}}}},
		"bits after the last":   {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1}}, Columns: []Column{{Schema: Schema{"A", "b", U8, 0}, Data: []byte{2}, Present: []byte{3}}}}}},
		"ends after the data":   {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1}}, Columns: []Column{{Schema: Schema{"A", "b", String, 0}, Ends: []uint32{4}, Data: []byte("abc")}}}}},
		"data after the ends":   {Tables: []Table{{Label: "A", Keys: Keys{A: []uint64{1}}, Columns: []Column{{Schema: Schema{"A", "b", String, 0}, Ends: []uint32{2}, Data: []byte("abc")}}}}},
		"ends that go back":     {Tables: []Table{{Label: "A", Keys: keys, Columns: []Column{{Schema: Schema{"A", "b", String, 0}, Ends: []uint32{3, 2}, Data: []byte("abc")}}}}},
		"peer that is not text": {Head: Head{Peer: "\xff"}},
		"unknown phase":         {Head: Head{Point: Point{Phase: "later"}}},
	} {
		if err := w.Validate(); err == nil {
			t.Errorf("%s: accepted", what)
		}
		if err := Write(&memory{}, w, WriteOptions{}); err == nil {
			t.Errorf("%s: written", what)
		}
	}
}

// TestNumberGrammar checks the numbers that a reader takes in addition to the written ones, and the ones that it
// refuses, as docs/snapshot.md lists them.
func TestNumberGrammar(t *testing.T) {
	for _, c := range []struct {
		typ   Type
		scale uint32
		text  string
		want  string // as it is written, "" if it is refused
	}{
		{I8, 0, "+5", "5"}, {I8, 0, "-005", "-5"}, {I8, 0, "-0", "0"}, {I8, 0, "-129", ""}, {I8, 0, "1_0", ""}, {I8, 0, " 1", ""}, {I8, 0, "0x1", ""}, {I8, 0, "1.0", ""},
		{U8, 0, "005", "5"}, {U8, 0, "+5", ""}, {U8, 0, "-0", ""}, {U8, 0, "256", ""}, {U8, 0, "", ""},
		{Ref, 0, "@01", "@1"}, {Ref, 0, "@+1", ""}, {Ref, 0, "@", ""},
		{F64, 0, "+1", "1"}, {F64, 0, ".5", "0.5"}, {F64, 0, "5.", "5"}, {F64, 0, "007", "7"}, {F64, 0, "1e5", "100000"}, {F64, 0, "1e+05", "100000"}, {F64, 0, "-1e-400", "-0"},
		{F64, 0, ".", ""}, {F64, 0, "1E5", ""}, {F64, 0, "1e", ""}, {F64, 0, "1e400", ""}, {F64, 0, "1_0", ""}, {F64, 0, "0x1p3", ""}, {F64, 0, "", ""},
		{F64, 0, "+inf", ""}, {F64, 0, "Inf", ""}, {F64, 0, "infinity", ""}, {F64, 0, "nan", ""},
		{F32, 0, "0.10000000000000000000001", "0.1"}, {F32, 0, "1e39", ""},
		{F64, 0, "nan(0x07FF8000000000001)", "nan(0x7ff8000000000001)"}, {F64, 0, "nan(0x7ff0000000000000)", ""}, {F32, 0, "nan(0x7ff8000000000001)", ""}, {F64, 0, "-nan(0x7ff8000000000001)", ""},
		{Fixed, 10, "+1", "1"}, {Fixed, 10, ".5", "0.5"}, {Fixed, 10, "-5.", "-5"}, {Fixed, 10, "05.50", "5.5"}, {Fixed, 10, "-0", "0"}, {Fixed, 3, "1", "3/3"},
		{Fixed, 10, "+3/10", "0.3"}, {Fixed, 10, "003/10", "0.3"}, {Fixed, 10, "3/010", ""}, {Fixed, 10, "3/5", ""}, {Fixed, 10, "0.55", ""}, {Fixed, 3, "0.3", ""},
		{Fixed, 10, ".", ""}, {Fixed, 10, "1e1", ""}, {Fixed, 10, "1000000000000000000", ""}, {Fixed, 10, "1." + strings.Repeat("0", 62), "1"}, {Fixed, 10, "1." + strings.Repeat("0", 63), ""},
		{Bytes, 0, "0xAb", "0xab"}, {Bytes, 0, "0XAB", ""}, {Bytes, 0, "0x", "0x"},
		{String, 0, `"\u00e9\x41\101"`, `"éAA"`}, {String, 0, "'a'", ""}, {Bool, 0, "True", ""},
	} {
		v, err := ParseValue(c.typ, c.scale, c.text)
		switch {
		case err != nil && c.want != "":
			t.Errorf("%s: %q is refused: %v", c.typ, c.text, err)
		case err == nil && v.String() != c.want:
			t.Errorf("%s: %q is read as %s, want %q", c.typ, c.text, v, c.want)
		}
	}
}

func TestValueNotation(t *testing.T) {
	f64 := func(f float64) uint64 { return math.Float64bits(f) }
	for _, c := range []struct {
		typ   Type
		scale uint32
		bits  uint64
		want  string
	}{
		{Bool, 0, 1, "true"}, {Bool, 0, 0, "false"},
		{I8, 0, 0xff, "-1"}, {I64, 0, 1 << 63, "-9223372036854775808"}, {U64, 0, 1<<64 - 1, "18446744073709551615"},
		{F64, 0, f64(0.1), "0.1"}, {F64, 0, f64(1e300), "1e+300"}, {F64, 0, f64(16777216), "16777216"}, {F64, 0, f64(1e21), "1e+21"}, {F64, 0, f64(1e20), "100000000000000000000"}, {F64, 0, f64(1e-6), "0.000001"}, {F64, 0, f64(9.5e-7), "9.5e-07"}, {F64, 0, 1 << 63, "-0"}, {F64, 0, 1, "5e-324"},
		{F64, 0, f64(math.Inf(-1)), "-inf"}, {F64, 0, 0x7ff8000000000001, "nan(0x7ff8000000000001)"},
		{F32, 0, uint64(math.Float32bits(0.1)), "0.1"}, {F32, 0, 0xffc00000, "nan(0xffc00000)"},
		{Fixed, 65536, 98304, "1.5"}, {Fixed, 65536, 1<<64 - 1, "-0.0000152587890625"}, {Fixed, 1000, 1 << 63, "-9223372036854775.808"},
		{Fixed, 3, 7, "7/3"}, {Fixed, 1, 7, "7"}, {Fixed, 10, 0, "0"},
		{Ref, 0, 4711, "@4711"},
	} {
		raw := binary.LittleEndian.AppendUint64(nil, c.bits)[:c.typ.Width()]
		if got := (Value{Type: c.typ, Scale: c.scale, Raw: raw}).String(); got != c.want {
			t.Errorf("%s of %#x: %s, want %s", c.typ, c.bits, got, c.want)
		}
		v, err := ParseValue(c.typ, c.scale, c.want)
		if err != nil || !bytes.Equal(v.Raw, raw) {
			t.Errorf("ParseValue(%s, %s) = %x, %v", c.typ, c.want, v.Raw, err)
		}
	}
	for _, c := range []struct {
		typ   Type
		scale uint32
		text  string
	}{
		{Bool, 0, "1"}, {I8, 0, "128"}, {U8, 0, "-1"}, {F64, 0, "0x1p3"}, {F64, 0, "NaN"}, {F64, 0, "nan(0x0)"}, {F64, 0, "1_0"}, {F32, 0, "1e60"},
		{Fixed, 2, "0.3"}, {Fixed, 3, "7/4"}, {Fixed, 2, "1e3"}, {String, 0, "x"}, {String, 0, "`x`"}, {Bytes, 0, "00"}, {Bytes, 0, "0x0"}, {Ref, 0, "1"},
	} {
		if v, err := ParseValue(c.typ, c.scale, c.text); err == nil {
			t.Errorf("ParseValue(%s, %q) = %s", c.typ, c.text, v)
		}
	}
}
