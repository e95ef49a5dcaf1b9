package snapshot

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// oracleDiff compares two worlds row by row with maps.
func oracleDiff(a, b *World) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if !bytes.Equal(a.RNG, b.RNG) {
		add("RNG")
	}
	type place struct {
		class Class
		label string
	}
	collect := func(w *World) map[place]map[string]map[string]string {
		tables := map[place]map[string]map[string]string{}
		for _, t := range w.Tables {
			rows := map[string]map[string]string{}
			for i := range t.Keys.A {
				row := map[string]string{}
				for _, c := range t.Columns {
					row[c.Name()] = c.At(i).String()
				}
				rows[t.Keys.At(i).String()] = row
			}
			tables[place{t.Class, t.Label}] = rows
		}
		return tables
	}
	ta, tb := collect(a), collect(b)
	for p, rows := range ta {
		for k, row := range rows {
			other, ok := tb[p][k]
			if !ok {
				add("%s %s[%s] only in A", p.class, p.label, k)
				continue
			}
			for name, v := range row {
				if other[name] != v {
					add("%s %s[%s].%s %s %s", p.class, p.label, k, name, v, other[name])
				}
			}
		}
	}
	for p, rows := range tb {
		for k := range rows {
			if _, ok := ta[p][k]; !ok {
				add("%s %s[%s] only in B", p.class, p.label, k)
			}
		}
	}
	slices.Sort(out)
	return out
}

func diffLines(d *Diff) []string {
	var out []string
	if d.RNG != nil {
		out = append(out, "RNG")
	}
	for _, t := range d.Tables {
		for _, k := range t.OnlyA {
			out = append(out, fmt.Sprintf("%s %s[%s] only in A", t.Class, t.Label, k))
		}
		for _, k := range t.OnlyB {
			out = append(out, fmt.Sprintf("%s %s[%s] only in B", t.Class, t.Label, k))
		}
		for _, c := range t.Changes {
			out = append(out, fmt.Sprintf("%s %s[%s].%s.%s %s %s", t.Class, t.Label, c.Key, c.Component, c.Field, c.A, c.B))
		}
	}
	slices.Sort(out)
	return out
}

// mutate returns w with some rows removed, inserted and changed.
func mutate(w *World, seed uint64) *World {
	next := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	out := &World{Head: w.Head}
	for i := range w.Tables {
		src := &w.Tables[i]
		t := emptyLike(src)
		for r := range src.Keys.A {
			if next(1000) == 0 {
				continue
			}
			t.appendRange(src, r, r+1)
			if next(700) == 0 {
				c := &t.Columns[next(len(t.Columns))]
				c.Data[len(c.Data)-1-next(c.Type.Width())] ^= 1 << next(8)
			}
			if next(900) == 0 { // keys are 3 apart
				t.appendRange(src, r, r+1)
				t.Keys.A[len(t.Keys.A)-1]++
			}
		}
		out.Tables = append(out.Tables, t)
	}
	return out
}

func TestDiffAgainstOracle(t *testing.T) {
	a := bigWorld(3, effort.Of(15_000, 30_000))
	for seed := range effort.Of[uint64](1, 4) {
		b := mutate(a, seed)
		want := oracleDiff(a, b)
		if len(want) < 100 {
			t.Fatalf("only %d differences made", len(want))
		}
		fa, fb := open(t, encode(t, a, WriteOptions{})), open(t, encode(t, b, WriteOptions{Plain: true}))
		for name, pair := range map[string][2]State{"held": {hold(t, a), hold(t, b)}, "files": {fa, fb}, "mixed": {fa, hold(t, b)}} {
			d, err := Compare(pair[0], pair[1], DiffOptions{Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, diffLines(d)); diff != "" {
				t.Fatalf("%s: %s", name, diff)
			}
			for _, td := range d.Tables {
				if !slices.IsSortedFunc(td.Changes, func(a, b Change) int { return a.Key.Compare(b.Key) }) {
					t.Errorf("%s: changes of %s are not in order", name, td.Label)
				}
				if td.Changed() != uint64(len(td.Changes)) {
					t.Errorf("%s: %s counts %d changes, has %d", name, td.Label, td.Changed(), len(td.Changes))
				}
			}
			few, err := Compare(pair[0], pair[1], DiffOptions{Limit: 3})
			if err != nil {
				t.Fatal(err)
			}
			for i, td := range few.Tables {
				all := d.Tables[i]
				if !cmp.Equal(td.Changes, all.Changes[:3]) || td.Changed() != all.Changed() ||
					!cmp.Equal(td.OnlyA, all.OnlyA[:min(3, len(all.OnlyA))]) || td.OnlyACount != all.OnlyACount {
					t.Errorf("%s: a limit of 3 keeps something else of %s", name, td.Label)
				}
			}
		}
	}
}

func TestDiffOfAnyWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genWorld(t)
		b := &World{Head: a.Head, Tables: slices.Clone(a.Tables)}
		b.Peer = "client"
		if n := len(b.Tables); n > 0 {
			i := rapid.IntRange(0, n-1).Draw(t, "which")
			switch rapid.IntRange(0, 2).Draw(t, "how") {
			case 0:
				b.Tables = slices.Delete(b.Tables, i, i+1)
			case 1:
				if rows := b.Tables[i].Rows(); rows > 0 {
					cut := rapid.IntRange(0, rows-1).Draw(t, "row")
					part := emptyLike(&b.Tables[i])
					part.appendRange(&a.Tables[i], 0, cut)
					part.appendRange(&a.Tables[i], cut+1, rows)
					b.Tables[i] = part
				}
			case 2:
				part := emptyLike(&b.Tables[i])
				part.appendRows(&a.Tables[i])
				for k := range part.Columns {
					if c := &part.Columns[k]; c.Type > Bool && len(c.Data) > 0 && c.Has(c.Rows()-1) {
						c.Data[len(c.Data)-1] ^= 1
					}
				}
				b.Tables[i] = part
			}
		}
		d, err := Compare(hold(t, a), hold(t, b), DiffOptions{Limit: -1, Noise: true})
		if err != nil {
			t.Fatalf("%v", err)
		}
		if diff := cmp.Diff(oracleDiff(a, b), diffLines(d)); diff != "" {
			t.Fatalf("%s", diff)
		}
		same, err := Compare(hold(t, a), hold(t, a), DiffOptions{})
		if err != nil || same.Diverged() || len(same.Tables) > 0 || same.RNG != nil {
			t.Fatalf("a world differs from itself: %+v, %v", same, err)
		}
	})
}

func TestKindsOfChange(t *testing.T) {
	f64 := func(v float64) uint64 { return math.Float64bits(v) }
	nan := uint64(0x7ff8000000000001)
	for _, c := range []struct {
		typ  Type
		a, b uint64
		kind Kind
		bits int
		ulp  uint64
	}{
		{Bool, 0, 1, KindInteger, 1, 0},
		{I32, 7, 8, KindInteger, 4, 0},
		{Fixed, 65536, 65537, KindFixed, 1, 0},
		{Ref, 1, 2, KindReference, 2, 0},
		{F64, f64(1), f64(math.Nextafter(1, 2)), KindFloat, 1, 1},
		{F64, f64(math.Nextafter(1, 0)), f64(1), KindFloat, 53 + 1 + 8, 1},
		{F64, f64(-1), f64(1), KindFloat, 1, 2 * 0x3ff0000000000000},
		{F64, f64(0), 1 << 63, KindSignOfZero, 1, 0},
		{F64, 1<<63 | 1, 1, KindFloat, 1, 2},
		{F64, nan, nan + 1, KindNaN, 2, 0},
		{F64, f64(1), nan, KindNaN, 11 + 1 - 10 + 1, 0},
		{F32, uint64(math.Float32bits(1)), uint64(math.Float32bits(1)) + 3, KindFloat, 2, 3},
	} {
		column := func(bits uint64) Value {
			col := NewColumn("A", "b", c.typ, 0)
			col.AppendUint(bits)
			return col.At(0)
		}
		got := newChange(Key{}, "A", "b", column(c.a), column(c.b), longValue)
		if got.Kind != c.kind || got.ULP != c.ulp {
			t.Errorf("%s %#x→%#x: %s, %d ulp", c.typ, c.a, c.b, got.Kind, got.ULP)
		}
		want := strings.Count(fmt.Sprintf("%b", c.a^c.b), "1")
		if got.BitsChanged != want {
			t.Errorf("%s %#x→%#x: %d bits, want %d", c.typ, c.a, c.b, got.BitsChanged, want)
		}
	}
	absent := Value{Type: U8, Absent: true, Raw: []byte{0}}
	if got := newChange(Key{}, "A", "b", absent, Value{Type: U8, Raw: []byte{0}}, longValue); got.Kind != KindAbsent || got.BitsChanged != 0 {
		t.Errorf("absent: %+v", got)
	}
	for typ, want := range map[Type]Kind{String: KindText, Bytes: KindBytes} {
		if got := newChange(Key{}, "A", "b", Value{Type: typ, Raw: []byte("x")}, Value{Type: typ}, longValue); got.Kind != want {
			t.Errorf("%s: %s", typ, got.Kind)
		}
	}
}

func TestIgnoreFiltersTheView(t *testing.T) {
	a, b := bigWorld(2, 3000), bigWorld(2, 3000)
	b.Tables[0].Columns[1].Data[0]++     // T00/B.hp
	b.Tables[1].Columns[2].Data[8*7+1]++ // T01/C.heat
	var g Ignore
	for _, rule := range []string{"T*/B.h?", "T01", "T00/A.x"} {
		if err := g.Add(rule); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Compare(hold(t, a), hold(t, b), DiffOptions{Ignore: &g})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Tables) != 0 || !d.Diverged() {
		t.Errorf("diverged %v, shows %+v", d.Diverged(), d.Tables)
	}
	want := []Hidden{{"T*/B.h?", "T00", "B.hp", 1}, {Rule: "T01", Label: "T01"}}
	if diff := cmp.Diff(want, d.Hidden); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "/a.b", "A/b", "A/.b", "A/b."} {
		if err := g.Add(bad); err == nil {
			t.Errorf("rule %q accepted", bad)
		}
	}
	var fromFile Ignore
	if err := fromFile.Read(strings.NewReader("# positions\n\nT00/A.*\n"), "rules"); err != nil || len(fromFile.rules) != 1 {
		t.Errorf("rules %v, %v", fromFile.rules, err)
	}
	if err := fromFile.Read(strings.NewReader("x\ny/z\n"), "rules"); err == nil || !strings.HasPrefix(err.Error(), "rules:2:") {
		t.Errorf("bad rule: %v", err)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true}, {"*", "", true}, {"a", "", false}, {"", "a", false}, {"*a*b", "xaxbxb", true}, {"a?c", "abc", true},
		{"a?c", "ac", false}, {"old[0].*", "old[0].money", true}, {"old[0].*", "old0.money", false}, {"**x", "yyx", true}, {"*x", "xy", false},
	} {
		if got := glob(c.pattern, c.s); got != c.want {
			t.Errorf("glob(%q, %q) = %v", c.pattern, c.s, got)
		}
	}
}

func TestDiffRefusesOtherMoments(t *testing.T) {
	a, b, c := &World{Head: Head{Seed: 1}}, &World{Head: Head{Seed: 2}}, &World{Head: Head{Seed: 1, Point: Point{Tick: 5}}}
	for _, other := range []*World{b, c} {
		if _, err := Compare(hold(t, a), hold(t, other), DiffOptions{}); err == nil {
			t.Errorf("%+v compared with %+v", a.Head, other.Head)
		}
		if _, err := Compare(hold(t, a), hold(t, other), DiffOptions{Force: true}); err != nil {
			t.Error(err)
		}
	}
}

func TestStaleCacheAndHistory(t *testing.T) {
	cached := func(v uint64, history byte) State {
		c := NewColumn("Grid", "cell", U64, 0)
		c.AppendUint(v)
		w := &World{Tables: []Table{{Label: "Grid", Class: Cache, Keys: Keys{A: []uint64{1}}, Columns: []Column{c}}}}
		w.History[0] = history
		return hold(t, w)
	}
	d, err := Compare(cached(1, 1), cached(2, 1), DiffOptions{})
	if err != nil || !d.StaleCache() || !d.Diverged() || d.RootsDiffer() {
		t.Errorf("stale cache: %+v, %v", d, err)
	}
	d, err = Compare(cached(1, 1), cached(1, 2), DiffOptions{})
	if err != nil || !d.HistoriesDiffer() || !d.Diverged() || d.RootsDiffer() || d.StaleCache() {
		t.Errorf("histories: %+v, %v", d, err)
	}
}

// TestDiffReadsOnlyWhatDiffers changes one value and one row in one of 16
// tables and counts the bytes.
func TestDiffReadsOnlyWhatDiffers(t *testing.T) {
	a, b := bigWorld(16, 60000), bigWorld(16, 60000)
	b.Tables[3].Columns[0].Data[8*31000]++
	size := int64(0)
	read := func(w *World) *File {
		bytes := encode(t, w, WriteOptions{Plain: true})
		size += int64(len(bytes))
		return open(t, bytes)
	}
	fa, fb := read(a), read(b)
	d, err := Compare(fa, fb, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Tables) != 1 || d.Tables[0].Label != "T03" || d.Tables[0].Changed() != 1 {
		t.Fatalf("%+v", d.Tables)
	}
	if got := fa.BytesRead() + fb.BytesRead(); got > size/100 {
		// The differing block and its keys are read on top of 1 %.
		blocks := int64(3 * 8 * 3 * meanBlockRows)
		if got > size/100+blocks {
			t.Errorf("%d of %d bytes read", got, size)
		}
	}
}

func TestChangedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{U8, U16, U32, U64, F64, String}).Draw(t, "type")
		a, b := NewColumn("A", "b", typ, 0), NewColumn("A", "b", typ, 0)
		var want []int32
		add := func(c *Column, v uint64) {
			if typ == String {
				c.AppendString(fmt.Sprint(v))
			} else {
				c.AppendUint(v)
			}
		}
		for i := range rapid.IntRange(0, 2000).Draw(t, "rows") {
			v := uint64(i % 200)
			add(&a, v)
			if i%7 == 3 && i%500 < 250 {
				want = append(want, int32(i))
				v++
			}
			add(&b, v)
		}
		if got := ChangedRows(nil, &a, &b); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// A bound on all that is kept leaves the counts as they are, and each table that
// differs its share.
func TestTotal(t *testing.T) {
	world := func(shift int64) *World {
		w := &World{Head: Head{Seed: 1}}
		for n, rows := range []int{2, 400, 400, 400} {
			c := NewColumn("Health", "hp", I32, 0)
			table := Table{Label: fmt.Sprint("A", n)}
			for i := range rows {
				c.AppendInt(int64(i) + shift)
				table.Keys.A = append(table.Keys.A, uint64(i+1)+uint64(shift)*uint64(i/200)*1000)
			}
			table.Columns = []Column{c}
			w.Tables = append(w.Tables, table)
		}
		return w
	}
	var states [2]State
	for i := range states {
		s, err := Hold(world(int64(i)))
		if err != nil {
			t.Fatal(err)
		}
		states[i] = s
	}
	compare := func(opts DiffOptions) *Diff {
		d, err := Compare(states[0], states[1], opts)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	all := compare(DiffOptions{Limit: -1})
	if n := all.LeftOut(); n != 0 {
		t.Errorf("%d left out without a limit", n)
	}
	for _, limit := range []int{-1, 150} {
		d := compare(DiffOptions{Limit: limit, Total: 302})
		kept := 0
		for i := range d.Tables {
			x, y := &d.Tables[i], &all.Tables[i]
			if n := int(x.Kept()); i > 0 && n != 100 || i == 0 && n != 2 {
				t.Errorf("limit %d: %d kept of table %s", limit, n, x.Label)
			}
			kept += int(x.Kept())
			if x.OnlyACount != y.OnlyACount || x.OnlyBCount != y.OnlyBCount || x.Changed() != y.Changed() {
				t.Errorf("limit %d: table %s counts %d, %d and %d", limit, x.Label, x.OnlyACount, x.OnlyBCount, x.Changed())
			}
			if len(x.Changes) < 2 || !reflect.DeepEqual(x.Changes, y.Changes[:len(x.Changes)]) {
				t.Errorf("limit %d: changes kept of table %s are not the first ones", limit, x.Label)
			}
		}
		if want := uint64(2 + 3*(200+2*200) - kept); d.LeftOut() != want {
			t.Errorf("limit %d: %d left out, expected %d", limit, d.LeftOut(), want)
		}
	}
}
