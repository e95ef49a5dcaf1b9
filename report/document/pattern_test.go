package document

import (
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestPatternWords: each pattern in a table and in a sentence.
func TestPatternWords(t *testing.T) {
	value := func(typ snapshot.Type, text string) snapshot.Value {
		v, err := snapshot.ParseValue(typ, 0, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	tally := func(typ snapshot.Type, pairs ...string) *snapshot.Tally {
		out := &snapshot.Tally{}
		for i := 0; i < len(pairs); i += 2 {
			out.Add(value(typ, pairs[i]), value(typ, pairs[i+1]))
		}
		return out
	}
	var zeros []string
	for i := range 20 {
		zeros = append(zeros, fmt.Sprint(max(0, i-18)), fmt.Sprint(100+i*i))
	}
	names := [2]string{"host", "client"}
	for _, test := range []struct {
		tally        *snapshot.Tally
		text, clause string
	}{
		{tally(snapshot.U8, "0", "8", "0", "200"), "0 on host in all, 8 to 200 on client", "is 0 on host for 2 entities of Tank (8 to 200 on client)"},
		{tally(snapshot.Bool, "true", "false", "true", "false"), "true on host and false on client in all", "is true on host and false on client for 2 entities of Tank"},
		{tally(snapshot.U32, zeros...), "0 on host in 19 of 20, 100 to 461 on client", "is 0 on host for 19 of 20 entities of Tank (100 to 461 on client)"},
		{tally(snapshot.I32, "5", "9", "-2", "2"), "4 more on client in all", "is 4 more on client for 2 entities of Tank"},
		{tally(snapshot.I32, "9", "5", "2", "-2"), "4 less on client in all", "is 4 less on client for 2 entities of Tank"},
		{tally(snapshot.I32, "9", "-9", "2", "-2"), "the other sign on client in all", "has the other sign on client for 2 entities of Tank"},
		{tally(snapshot.I32, "8", "4", "6", "3"), "1/2 as much on client as on host in all", "is 1/2 as much on client as on host for 2 entities of Tank"},
		{tally(snapshot.I32, "8", "24", "6", "18"), "3 times as much on client as on host in all", "is 3 times as much on client as on host for 2 entities of Tank"},
		{tally(snapshot.I32, "8", "4", "4", "8"), "swapped in pairs", "is swapped in pairs among 2 entities of Tank"},
		{tally(snapshot.I32, "8", "4", "4", "7", "7", "8"), "the same values, in other rows", "has the same values, in other rows, for 3 entities of Tank"},
		{tally(snapshot.I32, "1", "5", "8", "12", "6", "2"), "bit 2 differs in all", "differs in bit 2 for 3 entities of Tank"},
		{tally(snapshot.I32, "1", "5", "8", "9", "6", "4"), "one bit differs in each", "differs in one bit each for 3 entities of Tank"},
		{tally(snapshot.F64, "0.1", "0.10000000000000002", "3", "3.000000000000001"), "1 to 2 ulps apart in all", "differs by 1 to 2 ulps for 2 entities of Tank"},
		{tally(snapshot.I32, "1", "5", "8", "9"), "higher on client in all, by 1 to 4", "is higher on client for 2 entities of Tank, by 1 to 4"},
		{tally(snapshot.F64, "9.1234567891234", "1", "8", "3.5"), "lower on client in all, by 4.5 to 8.12346", "is lower on client for 2 entities of Tank, by 4.5 to 8.12346"},
		{tally(snapshot.I32, "1", "5", "8", "2"), "6 less to 4 more on client", "differs for 2 entities of Tank (6 less to 4 more on client)"},
		{tally(snapshot.I32, "1", "6", "8", "4", "3", "2"), "the same total, 4 less to 5 more on client", "differs for 3 entities of Tank, with the same total on both"},
		{tally(snapshot.Ref, "@1", "@5", "@8", "@2"), "", "differs for 2 entities of Tank"},
		{tally(snapshot.String, `"a"`, `"\x1b[2J"`, `"b"`, `"\x1b[2J"`), `"\x1b[2J" on client in all`, `is "\x1b[2J" on client for 2 entities of Tank`},
	} {
		p := PatternOf(test.tally, names)
		f := FieldSummary{Component: "Weapon", Field: "ready", Archetypes: []string{"Tank"}, Values: test.tally.Rows, Pattern: p}
		if got := p.Text(names, f.Values); got != test.text {
			t.Errorf("%q, expected %q", got, test.text)
		}
		if got := f.Clause(names, ""); got != "Weapon.ready "+test.clause {
			t.Errorf("%q, expected %q", got, test.clause)
		}
	}
	if PatternOf(tally(snapshot.I32, "1", "2"), names).Text(names, 1) != "" {
		t.Error("one value has a pattern")
	}
	whole := FieldSummary{Component: "Weapon", Field: "ready", Archetypes: []string{"Tank"}, Values: 2, Of: 2, Pattern: PatternOf(tally(snapshot.I32, "1", "2", "3", "4"), names)}
	for of, want := range map[uint64]string{2: "all 2 entities", 9: "2 of 9 entities"} {
		if whole.Of = of; whole.Clause(names, "") != "Weapon.ready is 1 more on client for "+want+" of Tank" {
			t.Error(whole.Clause(names, ""))
		}
	}
	several := FieldSummary{Component: "Weapon", Field: "ready", Archetypes: []string{"Tank", "Ship", "Jet"}, Values: 2, Pattern: PatternOf(tally(snapshot.Ref, "@1", "@5", "@8", "@2"), names)}
	if got := several.Clause(names, "") + "; " + several.Where(2); got != "Weapon.ready differs for 2 entities of 3 archetypes; Tank, Ship and 1 more" {
		t.Error(got)
	}
}
