package snapshot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type pair struct{ a, b Value }

func tallyOf(rows []pair) *Tally {
	t := &Tally{}
	for _, r := range rows {
		t.Add(r.a, r.b)
	}
	return t
}

func ints(typ Type, values ...int64) []pair {
	var out []pair
	for i := 0; i < len(values); i += 2 {
		out = append(out, pair{parsed(typ, fmt.Sprint(values[i])), parsed(typ, fmt.Sprint(values[i+1]))})
	}
	return out
}

func parsed(typ Type, text string) Value {
	v, err := ParseValue(typ, 1000, text)
	if err != nil {
		panic(err)
	}
	if typ != Fixed {
		v.Scale = 0
	}
	return v
}

func texts(typ Type, values ...string) []pair {
	var out []pair
	for i := 0; i < len(values); i += 2 {
		out = append(out, pair{parsed(typ, values[i]), parsed(typ, values[i+1])})
	}
	return out
}

// TestPattern: planted relations are named.
func TestPattern(t *testing.T) {
	many := func(zeros, others int) (out []pair) {
		for i := range zeros {
			out = append(out, ints(I32, 0, int64(i+1))...)
		}
		for i := range others {
			out = append(out, ints(I32, int64(i+3), int64(2*i+50))...)
		}
		return out
	}
	for _, test := range []struct {
		name string
		rows []pair
		want string
	}{
		{"one row", ints(I32, 5, 9), "none"},
		{"same", ints(U8, 0, 8, 0, 200, 0, 3), "same 0=0 range 3..200"},
		{"both", texts(Bool, "true", "false", "true", "false"), "same 0=true 1=false"},
		{"text", texts(String, `"a"`, `"b"`, `"c"`, `"b"`), `same 1="b"`},
		{"mostly zero", many(18, 2), "zero 18 of 20"},
		{"three of four are zero", many(15, 5), "zero 15 of 20"},
		{"too few zeros", many(14, 6), "higher 1..52"},
		{"offset", ints(I64, 5, 2, 100, 97, math.MinInt64+3, math.MinInt64), "offset -3"},
		{"offset past 2^63", ints(U64, 0, math.MaxInt64, 1, 5), "higher 4..9223372036854775807"},
		{"no offset around", ints(U8, 0, 255, 1, 0), "swapless"},
		{"negated", ints(I16, 5, -5, -7, 7, 3, -3), "negated"},
		{"half", ints(U32, 7972, 3986, 15972, 7986), "factor 1/2"},
		{"three halves", ints(I32, -4, -6, 10, 15), "factor 3/2"},
		{"float factor", texts(F64, "0.1", "0.7", "0.3", "2.1"), "factor 7"},
		{"float offset", texts(F32, "100", "100.25", "7.5", "7.75"), "offset +0.25"},
		{"swapped", ints(I32, 5, 8, 8, 5, 2, 9, 9, 2), "swapped"},
		{"permuted", ints(I32, 5, 8, 8, 30, 30, 5), "permuted"},
		{"one bit", ints(I32, 5, 7, 8, 10, 15, 13), "bit 1"},
		{"a bit each", ints(I32, 5, 7, 8, 9, 16, 0), "one-bit"},
		{"ulps", texts(F64, "0.1", "0.10000000000000002", "3", "3.0000000000000004", "0.5", "0.4999999999999999"), "ulp 1..2"},
		{"lower", ints(I32, 5, 4, 9, 2, 40, 39), "lower -7..-1"},
		{"up and down", ints(I32, 5, 4, 2, 9, 40, 39), "none -1..+7"},
		{"absent", []pair{{Value{Type: I32, Absent: true}, parsed(I32, "4")}, {Value{Type: I32, Absent: true}, parsed(I32, "9")}}, "absent 0"},
		{"fixed", texts(Fixed, "1.5", "1.75", "2", "2.25"), "offset +0.25"},
		{"scalars", texts(Scalar, "1.5", "3", "2", "4"), "higher +1.5..+2"},
		{"scalars of one type", texts(Scalar, "1.5", "3", "2.5", "5"), "factor 2"},
		{"references", texts(Ref, "@5", "@8", "@6", "@9"), "none"},
	} {
		tally := tallyOf(test.rows)
		p := tally.Pattern()
		got := string(p.Kind)
		switch p.Kind {
		case PatternAbsent:
			got += fmt.Sprint(" ", p.Side)
		case PatternSame:
			for i, v := range p.Values {
				if v != "" {
					got += fmt.Sprintf(" %d=%s", i, v)
				} else if p.Low[i] != "" {
					got += " range " + p.Low[i] + ".." + p.High[i]
				}
			}
		case PatternZero:
			got += fmt.Sprintf(" %d of %d", p.Rows, tally.Rows)
		case PatternOffset:
			got += " " + p.Least
		case PatternFactor:
			got += " " + p.Factor
		case PatternBit:
			got += fmt.Sprint(" ", p.Bit)
		case PatternULP:
			got += fmt.Sprintf(" %d..%d", p.ULP[0], p.ULP[1])
		case PatternHigher, PatternLower, PatternNone:
			if p.Least != "" && tally.Rows > 1 {
				got += " " + p.Least + ".." + p.Most
			}
		}
		want := test.want
		if want == "swapless" {
			want = "none -1..+255"
		}
		if strings.ReplaceAll(got, "+", "") != strings.ReplaceAll(want, "+", "") {
			t.Errorf("%s: %s, expected %s", test.name, got, want)
		}
	}
}

// TestPatternHolds compares patterns of random columns, whose few values coincide often, with a search through all rows.
func TestPatternHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom([]Type{U8, I16, I64, F64}).Draw(t, "type")
		least := int64(-3)
		if typ == U8 {
			least = 0
		}
		value := rapid.Int64Range(least, 4)
		var rows []pair
		var x, y []int64
		for range rapid.IntRange(2, 6).Draw(t, "rows") {
			a, b := value.Draw(t, "a"), value.Draw(t, "b")
			if a != b {
				rows = append(rows, ints(typ, a, b)...)
				x, y = append(x, a), append(y, b)
			}
		}
		if len(rows) < 2 {
			t.Skip()
		}
		all := func(f func(a, b int64) bool) bool {
			for i := range x {
				if !f(x[i], y[i]) {
					return false
				}
			}
			return true
		}
		sorted := func(list []int64) []int64 {
			list = slices.Clone(list)
			slices.Sort(list)
			return list
		}
		swapped := func() bool {
			count := map[[2]int64]int{}
			for i := range x {
				count[[2]int64{x[i], y[i]}]++
				count[[2]int64{y[i], x[i]}]--
			}
			for _, n := range count {
				if n != 0 {
					return false
				}
			}
			return true
		}
		total := int64(0)
		for i := range x {
			total += y[i] - x[i]
		}
		want := PatternNone
		switch {
		case all(func(a, _ int64) bool { return a == x[0] }), all(func(_, b int64) bool { return b == y[0] }):
			want = PatternSame
		case all(func(a, b int64) bool { return b-a == y[0]-x[0] }):
			want = PatternOffset
		case all(func(a, b int64) bool { return a == -b }):
			want = PatternNegated
		case x[0] != 0 && y[0] != 0 && all(func(a, b int64) bool { return a != 0 && b*x[0] == a*y[0] }):
			want = PatternFactor
		case swapped():
			want = PatternSwapped
		case slices.Equal(sorted(x), sorted(y)):
			want = PatternPermuted
		case typ != F64 && len(x) > 2 && all(func(a, b int64) bool { f := uint64(a ^ b); return f&(f-1) == 0 && f == uint64(x[0]^y[0]) }):
			want = PatternBit
		case typ != F64 && len(x) > 2 && all(func(a, b int64) bool { f := uint64(a ^ b); return f&(f-1) == 0 }):
			want = PatternOneBit
		case typ != F64 && len(x) > 2 && total == 0:
			want = PatternTotal
		case all(func(a, b int64) bool { return a < b }):
			want = PatternHigher
		case all(func(a, b int64) bool { return a > b }):
			want = PatternLower
		}
		whole := tallyOf(rows)
		got := whole.Pattern()
		if got.Kind != want && !(typ == F64 && (got.Kind == PatternBit || got.Kind == PatternOneBit)) {
			t.Fatalf("%v %v: %s, expected %s", x, y, got.Kind, want)
		}
		// Halves in any order merge to the same pattern.
		cut := rapid.IntRange(0, len(rows)).Draw(t, "cut")
		left, right := tallyOf(rows[:cut]), tallyOf(rows[cut:])
		right.Merge(left)
		if merged := right.Pattern(); merged != got {
			t.Fatalf("merged %+v, expected %+v", merged, got)
		}
	})
}

// TestTallyCountsAll: the tally of a diff covers rows that the diff does not keep.
func TestTallyCountsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := genWorld(t)
		b := altered(t, a)
		x, y := hold(t, a), hold(t, b)
		all, err := Compare(x, y, DiffOptions{Force: true, Limit: -1})
		if err != nil {
			t.Skip()
		}
		few, err := Compare(x, y, DiffOptions{Force: true, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range all.Tables {
			table := &all.Tables[i]
			rows := map[Key]bool{}
			for _, c := range table.Changes {
				rows[c.Key] = true
			}
			if n := uint64(len(rows)); n != table.ChangedRows || n != few.Tables[i].ChangedRows {
				t.Fatalf("%d and %d changed rows of %s, expected %d", table.ChangedRows, few.Tables[i].ChangedRows, table.Label, n)
			}
			for k := range table.Columns {
				col := &table.Columns[k]
				var want Tally
				for _, c := range table.Changes {
					if c.Component == col.Component && c.Field == col.Field && c.Excerpt == nil {
						want.Add(c.A, c.B)
					}
				}
				if want.Rows != col.Rows {
					continue // a long value is kept in part
				}
				if col.typ == Scalar {
					continue // changes have its values as other types
				}
				if got, other := col.Pattern(), few.Tables[i].Columns[k].Pattern(); got != want.Pattern() || other != got {
					t.Fatalf("%s.%s of %s: %+v and %+v, expected %+v", col.Component, col.Field, table.Label, got, other, want.Pattern())
				}
			}
		}
	})
}
