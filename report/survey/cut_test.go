package survey_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// rowsOf writes units that each consist of one text with an id and hit points.
func rowsOf(head, unit string, ids ...int) string {
	var out strings.Builder
	out.WriteString(head)
	for _, id := range ids {
		out.WriteString(strings.NewReplacer("#", fmt.Sprint(id), "$", fmt.Sprint(id*7%40)).Replace(unit))
	}
	return out.String()
}

// open are notations in which a file may end after any row.
var open = map[string]struct{ head, unit string }{
	"csv":          {"id,hp,x\n", "#,$,1.5\n"},
	"csv by field": {"kind,id,field,value\n", "unit,#,hp,$\nunit,#,x,1.5\n"},
	"json lines":   {"", "{\"id\": #, \"hp\": $, \"x\": 1.5}\n"},
	"yaml":         {"rain: 3\nunits:\n", "  - id: #\n    hp: $\n    x: 1.5\n"},
	"toml":         {"rain = 3\n", "[[units]]\nid = #\nhp = $\nx = 1.5\n"},
	"ini":          {"[world]\nrain=3\n", "[unit_#]\nhp=$\nx=1.5\n"},
	"textproto":    {"rain: 3\n", "units {\n  id: #\n  hp: $\n  x: 1.5\n}\n"},
	"paths":        {"rain = 3\n", "units.#.hp = $\nunits.#.x = 1.5\n"},
	"columns":      {"world 0 rain 3\n", "unit # hp $\nunit # x 1.5\n"},
	"indented":     {"rain: 3\n", "unit ##\n  hp = $\n  x = 1.5\n"},
}

// compare compares the states of two peers in the second of three dumps. It returns the outcome: differ, equal, or unknown.
func compare(t *testing.T, texts map[string]string) string {
	t.Helper()
	return compareAt(t, texts, "a", "b")
}

// compareAt is compare for the peers at two paths.
func compareAt(t *testing.T, texts map[string]string, at ...string) string {
	t.Helper()
	dir := write(t, texts)
	all, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	known := formats.SnapshotsOf(all.Formats())
	var sides [2]snapshot.State
	for i, peer := range at {
		sets, err := snapshot.Find(files.Disk, filepath.Join(dir, peer), known)
		if err != nil || len(sets) != 1 {
			t.Fatal(sets, err)
		}
		for _, e := range sets[0].Entries {
			if e.Point.Tick == 20 {
				if sides[i], err = e.Open(); err != nil {
					return "unknown"
				}
			}
		}
		if sides[i] == nil {
			return "unknown"
		}
	}
	d, err := snapshot.Compare(sides[0], sides[1], snapshot.DiffOptions{})
	switch {
	case err != nil:
		t.Fatal(err)
	case d.Diverged():
		return "differ"
	case !snapshot.Alike(&sides[0].Info().Head, &sides[1].Info().Head):
		return "unknown"
	}
	return "equal"
}

// session returns the dumps of two peers. One peer has other content in the second and the third.
func session(ext string, whole, second, third string) map[string]string {
	out := map[string]string{}
	for peer, texts := range map[string][]string{"a": {whole, whole, whole}, "b": {whole, second, third}} {
		for i, text := range texts {
			out[fmt.Sprintf("%s/s_%d%s", peer, 10*(i+1), ext)] = text
		}
	}
	return out
}

// TestCutBetweenRows: a file that is cut after any of its lines does not differ from the whole one. One that lacks a row in
// the middle does, and so does one that lacks the last row in two dumps, or has another number of rows.
func TestCutBetweenRows(t *testing.T) {
	for name, n := range open {
		t.Run(name, func(t *testing.T) {
			whole := rowsOf(n.head, n.unit, 3, 4, 5, 6, 7, 9)
			if got := compare(t, session(".txt", whole, whole, whole)); got != "equal" {
				t.Fatalf("equal files: %s", got)
			}
			cuts := 0
			for i := range whole {
				if i < len(n.head)/2 || whole[i] != '\n' || i+1 == len(whole) {
					continue
				}
				if cuts++; cuts%effort.Of(3, 1) != 0 {
					continue
				}
				if got := compare(t, session(".txt", whole, whole[:i+1], whole)); got != "unknown" && (got != "equal" || i+1 > len(n.head)) {
					t.Errorf("cut: %s\n%s", got, whole[:i+1])
				}
			}
			middle := rowsOf(n.head, n.unit, 3, 4, 6, 7, 9)
			if got := compare(t, session(".txt", whole, middle, whole)); got != "differ" {
				t.Errorf("without a row in the middle: %s", got)
			}
			last := rowsOf(n.head, n.unit, 3, 4, 5, 6, 7)
			if got := compare(t, session(".txt", whole, last, last)); got != "differ" {
				t.Errorf("without the last row in two dumps: %s", got)
			}
			if got := compare(t, session(".txt", whole, last, strings.Replace(last, "1.5", "2.5", 1))); got != "unknown" {
				t.Errorf("without the last row, and then another value: %s", got)
			}
			if strings.Contains(n.head, "rain") {
				if got := compare(t, session(".txt", whole, strings.Replace(last, "3", "2", 1), whole)); got != "differ" {
					t.Errorf("without the last row, with another number before it: %s", got)
				}
			}
		})
	}
}

// TestCutOrder: a file with rows in another order may be cut if it lacks some of them.
func TestCutOrder(t *testing.T) {
	n := open["csv"]
	whole := rowsOf(n.head, n.unit, 3, 4, 5, 6, 7, 9)
	for _, c := range []struct {
		ids  []int
		want string
	}{
		{[]int{9, 7, 6, 5, 4, 3}, "equal"},
		{[]int{9, 7, 6, 5}, "unknown"},
		{[]int{3, 4, 6, 7, 9}, "differ"},
	} {
		if got := compare(t, session(".csv", whole, rowsOf(n.head, n.unit, c.ids...), whole)); got != c.want {
			t.Errorf("%v: %s, expected %s", c.ids, got, c.want)
		}
	}
}

// TestCutLast: only the last state of a file that has several may be cut.
func TestCutLast(t *testing.T) {
	head := "tick,id,hp\n10,3,1\n10,4,1\n10,5,4\n10,6,4\n"
	whole := rowsOf(head, "20,#,$\n", 3, 4, 5, 6)
	for text, want := range map[string]string{
		rowsOf(head, "20,#,$\n", 3, 4, 5): "unknown",
		whole:                             "equal",
		rowsOf(head, "20,#,$\n", 3, 4, 6): "differ",
		rowsOf(head, "20,#,$\n", 3, 4, 5) + "30,3,21\n": "differ",
	} {
		more := ""
		if text == whole || strings.Contains(text, "\n30") {
			more = "30,3,21\n"
		}
		if got := compare(t, map[string]string{"a/s.csv": whole + more, "b/s.csv": text}); got != want {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
		if got := compareAt(t, map[string]string{"rank1.csv": whole + more, "rank2.csv": text}, "rank1.csv", "rank2.csv"); got != want {
			t.Errorf("in one folder, %q: %s, expected %s", text, got, want)
		}
	}
}

// TestCutNoise: noise before the end does not show that a file is whole.
func TestCutNoise(t *testing.T) {
	whole := rowsOf("saved_at = 7:10:20\nrain = 3\n", "units.#.hp = $\nunits.#.x = 1.5\n", 3, 4, 5, 6)
	last := rowsOf("saved_at = 12:10:23\nrain = 3\n", "units.#.hp = $\nunits.#.x = 1.5\n", 3, 4, 5, 6)
	texts := session(".txt", whole, "", strings.Replace(last, "1.5", "2.5", 1))
	texts["b/s_10.txt"] = last
	for text, want := range map[string]string{
		last: "equal",
		rowsOf("saved_at = 12:10:23\nrain = 3\n", "units.#.hp = $\nunits.#.x = 1.5\n", 3, 4, 5): "unknown",
		rowsOf("saved_at = 12:10:23\nrain = 3\n", "units.#.hp = $\nunits.#.x = 1.5\n", 3, 4, 6): "differ",
	} {
		texts["b/s_20.txt"] = text
		if got := compare(t, texts); got != want {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
	}
}

// TestCutTable: of a state with a file for each table, one file may be cut.
func TestCutTable(t *testing.T) {
	units, towns := "id,hp\n1,3\n2,7\n3,4\n", "id,gold\n1,30\n2,70\n"
	for _, c := range []struct{ units, towns, want string }{
		{units, towns, "equal"},
		{"id,hp\n1,3\n2,7\n", towns, "unknown"},
		{units, "id,gold\n1,30\n", "unknown"},
		{"id,hp\n1,3\n3,4\n", "id,gold\n1,30\n", "differ"},
	} {
		texts := map[string]string{}
		for tick := 10; tick <= 30; tick += 10 {
			for _, peer := range []string{"a", "b"} {
				texts[fmt.Sprintf("%s/units_%d.csv", peer, tick)], texts[fmt.Sprintf("%s/towns_%d.csv", peer, tick)] = units, towns
			}
		}
		texts["b/units_20.csv"], texts["b/towns_20.csv"] = c.units, c.towns
		if got := compare(t, texts); got != c.want {
			t.Errorf("%q and %q: %s, expected %s", c.units, c.towns, got, c.want)
		}
	}
}

// TestLinesWithoutTick: in a file of states with ticks, lines without a tick are no states.
func TestLinesWithoutTick(t *testing.T) {
	texts := map[string]string{}
	for i, peer := range []string{"a", "b"} {
		text := ""
		for tick := 10; tick <= 40; tick += 10 {
			text += fmt.Sprintf("{\"chunk\": %d, \"meshed\": %d}\n{\"tick\": %d, \"units\": [{\"id\": 1, \"hp\": %d}, {\"id\": 2, \"hp\": 7}]}\n", 3*i+tick, tick, tick, 90-tick)
		}
		texts[peer+"/states.jsonl"] = text
	}
	if got := compare(t, texts); got != "equal" {
		t.Errorf("other lines differ: %s, expected equal", got)
	}
	dir := write(t, texts)
	all, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := snapshot.Find(files.Disk, filepath.Join(dir, "a"), formats.SnapshotsOf(all.Formats()))
	if err != nil || len(sets) != 1 || len(sets[0].Entries) != 4 {
		t.Errorf("%d sets, %v, expected 4 states", len(sets), err)
	}
}

// TestLogOfStates: states at the ends of a log's lines are states, with the number before them as the tick.
func TestLogOfStates(t *testing.T) {
	for hp, want := range map[int]string{0: "equal", 1: "differ"} {
		texts := map[string]string{}
		for i, peer := range []string{"a", "b"} {
			text := ""
			for tick := 10; tick <= 40; tick += 10 {
				text += fmt.Sprintf("12:0%d:0%d INFO net ping %d\n12:00:%02d DEBUG sim - after turn %d: World{units=[", i, i, 17*i+tick, tick, tick)
				for id := range 5 {
					text += fmt.Sprintf("Unit{id=%d, hp=%d, kind=scout}, ", id, 90-tick+hp*i*(tick/20))
				}
				text += "Unit{id=9, hp=1, kind=fort}], gold=5}\n"
			}
			texts[peer+"/game.log"] = text
		}
		if got := compare(t, texts); got != want {
			t.Errorf("%s, expected %s", got, want)
		}
	}
}

// TestTornRow reads the states before a row that is cut, whether its line ends or not. A row with too few cells elsewhere is damage.
func TestTornRow(t *testing.T) {
	table := func(end string) string {
		var out strings.Builder
		out.WriteString("takt;hp;gold\n")
		for tick := range 12 {
			fmt.Fprintf(&out, "%d;9;%d\n", 3*tick, 5*tick)
		}
		return out.String() + end
	}
	for end, want := range map[string]int{"": 24, "36;9": 24, "36;9\n": 24, "36;9\r\n": 24, "36;9\n39;9;5\n": 12} {
		list := found(t, write(t, map[string]string{"a/s.csv": table(""), "b/s.csv": table(end)}))
		if len(list) != want {
			t.Errorf("%q: %d states, expected %d", end, len(list), want)
		}
	}
}
