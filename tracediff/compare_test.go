package tracediff

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// openAll opens texts, named a, b and so on.
func openAll(t testing.TB, texts ...string) []*Trace {
	t.Helper()
	var list []*Trace
	for i, text := range texts {
		list = append(list, open(t, string(rune('a'+i))+".txt", []byte(text))...)
	}
	return list
}

// summary is the whole of a result, one fact a line.
func summary(res *Result) string {
	var b strings.Builder
	if d := res.First; d != nil {
		fmt.Fprintf(&b, "first %s tick %s %s/%s#%d", d.Kind, d.Tick, d.System, d.Scope, d.Occurrence)
		for _, v := range d.Values {
			if !v.Present {
				b.WriteString(" absent")
				continue
			}
			fmt.Fprintf(&b, " %s:", v.Pos)
			for _, s := range v.Sums {
				fmt.Fprintf(&b, "%s=%s,", s.Name, s.Value)
			}
		}
		fmt.Fprintf(&b, "\nbracket %+v exact %t\n", *res.Bracket, res.Bracket.Exact())
	}
	if res.Changed+res.Missing > 0 {
		fmt.Fprintf(&b, "changed %d missing %d last %s of %s\n", res.Changed, res.Missing, res.LastDiffering, res.LastCompared)
	}
	for _, c := range res.Cascade {
		fmt.Fprintf(&b, "cascade %s/%s tick %s to %s: %d\n", c.System, c.Scope, c.Tick, c.Last, c.Count)
	}
	for _, g := range res.Groups {
		fmt.Fprintf(&b, "groups %s %v\n", g.Tick, g.Groups)
	}
	for _, f := range res.Findings {
		fmt.Fprintf(&b, "finding %s trace %d tick %s %s player %d, %s against %s: %s, expected %s\n", f.Kind, f.Trace, f.Tick, f.System, f.Player, f.Pos, f.Before, f.Got, f.Expected)
	}
	for _, n := range res.Noticed {
		fmt.Fprintf(&b, "schedule %s noticed %t at %s late %d open %t\n", n.Schedule.Name, n.Noticed, n.Tick, n.Late, n.Open)
	}
	for _, u := range res.Untraced {
		fmt.Fprintf(&b, "untraced %s/%s in %v: %d\n", u.System, u.Scope, u.Traces, u.Count)
	}
	for i, t := range res.Traces {
		for _, g := range t.Gaps {
			fmt.Fprintf(&b, "gap of trace %d ticks %s to %s\n", i, g.First, g.Last)
		}
		if t.Rollback != nil {
			fmt.Fprintf(&b, "rollback %d %+v\n", i, *t.Rollback)
		}
	}
	for _, w := range res.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	return b.String()
}

// check compares in all ways of reading and checks that they have one summary.
func check(t *testing.T, list []*Trace, opts Options, want string) *Result {
	t.Helper()
	var last *Result
	for _, z := range []sizes{usual, tiny} {
		for _, mapped := range []bool{true, false} {
			res, err := compare(list, opts, z, mapped)
			if err != nil {
				t.Fatal(err)
			}
			got := summary(res)
			for _, tr := range list { // names in warnings without their folders
				got = strings.ReplaceAll(got, filepath.Dir(tr.path(t))+string(filepath.Separator), "")
			}
			if got != want {
				t.Errorf("result is\n%s\nexpected\n%s", got, want)
				return res
			}
			last = res
		}
	}
	return last
}

func (tr *Trace) path(t *testing.T) string {
	r, err := tr.open(opening{names: new(names), sizes: usual})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.name
}

// ticks writes lines for ticks from..to, with %d for the tick.
func ticksOf(from, to, step int, lines ...string) string {
	var b strings.Builder
	for tick := from; tick <= to; tick += step {
		for _, line := range lines {
			b.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(tick)) + "\n")
		}
	}
	return b.String()
}

// ticksAt is a trace of one system at some ticks.
func ticksAt(ticks ...int) string {
	var b strings.Builder
	for _, n := range ticks {
		fmt.Fprintf(&b, "tick=%d system=Move sum=aa%d\n", n, n)
	}
	return b.String()
}

func TestCompare(t *testing.T) {
	const move, fight = "tick=%d system=Move n=4 sum=aa%d", "tick=%d system=Fight scope=Health sum=bb%d"
	whole := ticksOf(0, 30, 1, move, fight) + "%end\n"
	for _, test := range []struct {
		name  string
		texts []string
		opts  Options
		want  string
	}{
		{name: "equal", texts: []string{whole, whole}, want: ""},
		{name: "same sum otherwise written", texts: []string{"tick=1 sum=0xABCD\n", "tick=1 sum=abcd\n"}, want: ""},
		{name: "changed sum", texts: []string{whole, strings.Replace(whole, "sum=bb20", "sum=bc20", 1)},
			want: "first changed tick 20 Fight/Health#0 line 42:=bb20, line 42:=bc20,\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 1 missing 0 last 20 of 30\n" +
				"cascade Fight/Health tick 20 to 20: 1\ngroups 20 [[0] [1]]\ngroups 21 [[0 1]]\n"},
		{name: "changed count", texts: []string{whole, strings.Replace(whole, "n=4 sum=aa20", "n=5 sum=aa20", 1)},
			want: "first changed tick 20 Move/#0 line 41:=aa20, line 41:=aa20,\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 1 missing 0 last 20 of 30\n" +
				"cascade Move/ tick 20 to 20: 1\ngroups 20 [[0] [1]]\ngroups 21 [[0 1]]\n"},
		{name: "one of several sums", texts: []string{"tick=1 sum=a sum.x=1 sum.y=2\ntick=2 sum=b\n", "tick=1 sum.y=3 sum=a sum.x=1\ntick=2 sum=b\n"},
			want: "first changed tick 1 /#0 line 1:=a,x=1,y=2, line 1:y=3,=a,x=1,\nbracket {Good:0 HasGood:false Bad:1} exact false\nchanged 1 missing 0 last 1 of 2\n" +
				"cascade / tick 1 to 1: 1\ngroups 1 [[0] [1]]\ngroups 2 [[0 1]]\n"},
		{name: "missing", texts: []string{whole, strings.Replace(whole, "tick=20 system=Fight scope=Health sum=bb20\n", "", 1)},
			want: "first missing tick 20 Fight/Health#0 line 42:=bb20, absent\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 0 missing 1 last 20 of 30\n" +
				"cascade Fight/Health tick 20 to 20: 1\ngroups 20 [[0] [1]]\ngroups 21 [[0 1]]\n"},
		{name: "missing before much is known", texts: []string{whole, strings.Replace(whole, "tick=2 system=Fight scope=Health sum=bb2\n", "", 1)},
			want: "first missing tick 2 Fight/Health#0 line 6:=bb2, absent\nbracket {Good:1 HasGood:true Bad:2} exact true\nchanged 0 missing 1 last 2 of 30\n" +
				"cascade Fight/Health tick 2 to 2: 1\n"},
		{name: "a whole tick missing", texts: []string{whole, strings.Replace(whole, ticksOf(20, 20, 1, move, fight), "", 1)}, want: "gap of trace 1 ticks 20 to 20\n"},
		{name: "one of few ticks missing", texts: []string{ticksOf(0, 4, 1, "tick=%d system=Move sum=aa%d"), ticksAt(0, 2, 3, 4)}, want: "gap of trace 1 ticks 1 to 1\n"},
		{name: "a tick of an event missing", texts: []string{ticksAt(0, 3, 4, 9, 11, 20, 26, 27, 33, 40, 48, 52), ticksAt(0, 3, 4, 9, 11, 20, 26, 27, 33, 48, 52)},
			want: "first missing tick 40 Move/#0 line 10:=aa40, absent\nbracket {Good:33 HasGood:true Bad:40} exact false\nchanged 0 missing 1 last 40 of 52\n" +
				"cascade Move/ tick 40 to 40: 1\n"},
		{name: "a gap and a difference", texts: []string{whole, strings.ReplaceAll(strings.Replace(whole, ticksOf(5, 15, 1, move, fight), "", 1), "sum=bb20", "sum=bc20")},
			want: "first changed tick 20 Fight/Health#0 line 42:=bb20, line 20:=bc20,\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 1 missing 0 last 20 of 30\n" +
				"cascade Fight/Health tick 20 to 20: 1\ngroups 20 [[0] [1]]\ngroups 21 [[0 1]]\ngap of trace 1 ticks 5 to 15\n"},
		{name: "inserted twin", texts: []string{whole, strings.Replace(whole, "tick=20 system=Fight", "tick=20 system=Fight scope=Health sum=ff\ntick=20 system=Fight", 1)},
			want: "first changed tick 20 Fight/Health#0 line 42:=bb20, line 42:=ff,\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 1 missing 1 last 20 of 30\n" +
				"cascade Fight/Health tick 20 to 20: 2\ngroups 20 [[0] [1]]\ngroups 21 [[0 1]]\n"},
		{name: "reordered", texts: []string{whole, strings.Replace(whole, ticksOf(20, 20, 1, move, fight), ticksOf(20, 20, 1, fight, move), 1)},
			want: "finding reordered trace 1 tick 20 Fight player 0, line 41 against line 42: Fight/Health, expected Move\n"},
		{name: "a system that one does not trace", texts: []string{whole, ticksOf(0, 30, 1, move)}, want: "untraced Fight/Health in [1]: 30\n"},
		{name: "begins later and ends earlier", texts: []string{whole, ticksOf(5, 17, 1, move, fight)}, want: ""},
		{name: "cut inside a tick", texts: []string{whole, ticksOf(0, 17, 1, move, fight) + "tick=18 system=Move n=4 sum=aa18\n"}, want: ""},
		{name: "cut inside a checksum", texts: []string{whole, ticksOf(0, 17, 1, move, fight) + "tick=18 system=Move n=4 sum=aa1"},
			want: "warning b.txt: last line has no end\n"},
		{name: "not cut", texts: []string{"tick=1 sum=aa\ntick=2 sum=bb", "tick=1 sum=aa\ntick=2 sum=bc"},
			want: "first changed tick 2 /#0 line 2:=bb, line 2:=bc,\nbracket {Good:1 HasGood:true Bad:2} exact true\nchanged 1 missing 0 last 2 of 2\n" +
				"cascade / tick 2 to 2: 1\ngroups 2 [[0] [1]]\nwarning a.txt: last line has no end\nwarning b.txt: last line has no end\n"},
		{name: "no end", texts: []string{"%desynctool trace 1\n" + whole, "%desynctool trace 1\n" + strings.TrimSuffix(whole, "%end\n")},
			want: "warning b.txt: no %end at the end\n"},
		{name: "sparse against dense", texts: []string{whole, ticksOf(0, 30, 10, move)}, want: "untraced Fight/Health in [1]: 30\n"},
		{name: "sparse, different", texts: []string{ticksOf(0, 3000, 500, move), ticksOf(0, 1000, 500, move) + ticksOf(1500, 3000, 500, fight, "tick=%d system=Move n=4 sum=ff")},
			opts: Options{Schedules: []Schedule{{Name: "relay", Early: 30, Normal: 120, Late: 300, EarlyTicks: 900, LateFrom: 2000}, {Name: "each 700", Every: 700}, {Name: "each"}}},
			want: "first changed tick 1500 Move/#0 line 4:=aa1500, line 5:=ff,\nbracket {Good:1000 HasGood:true Bad:1500} exact false\nchanged 4 missing 0 last 3000 of 3000\n" +
				"cascade Move/ tick 1500 to 3000: 4\ngroups 1500 [[0] [1]]\nschedule relay noticed true at 1560 late 60 open false\n" +
				"schedule each 700 noticed true at 2100 late 600 open false\nschedule each noticed true at 1500 late 0 open false\nuntraced Fight/Health in [0]: 3\n"},
		{name: "noticed after the end, or not at all", texts: []string{ticksOf(0, 10, 1, move), ticksOf(0, 7, 1, move) + ticksOf(8, 10, 1, "tick=%d system=Move sum=0")},
			opts: Options{Schedules: []Schedule{{Name: "100", Every: 100}, {Name: "9", Every: 9}}},
			want: "first changed tick 8 Move/#0 line 9:=aa8, line 9:=0,\nbracket {Good:7 HasGood:true Bad:8} exact true\nchanged 3 missing 0 last 10 of 10\n" +
				"cascade Move/ tick 8 to 10: 3\ngroups 8 [[0] [1]]\nschedule 100 noticed false at 100 late 92 open true\nschedule 9 noticed true at 9 late 1 open false\n"},
		{name: "three peers", texts: []string{whole, strings.Replace(whole, "sum=bb20", "sum=bc20", 1), strings.Replace(strings.Replace(whole, "sum=bb20", "sum=bc20", 1), "sum=aa22", "sum=aa", 1)},
			want: "first changed tick 20 Fight/Health#0 line 42:=bb20, line 42:=bc20, line 42:=bc20,\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 2 missing 0 last 22 of 30\n" +
				"cascade Fight/Health tick 20 to 20: 1\ncascade Move/ tick 22 to 22: 1\ngroups 20 [[0] [1 2]]\ngroups 21 [[0 1 2]]\ngroups 22 [[0 1] [2]]\ngroups 23 [[0 1 2]]\n"},
		{name: "a third that has other ticks", texts: []string{whole, strings.Replace(whole, "sum=bb20", "sum=bc20", 1), ticksOf(0, 30, 10, move, fight)},
			want: "first changed tick 20 Fight/Health#0 line 42:=bb20, line 42:=bc20, line 6:=bb20,\nbracket {Good:19 HasGood:true Bad:20} exact true\nchanged 1 missing 0 last 20 of 30\n" +
				"cascade Fight/Health tick 20 to 20: 1\ngroups 20 [[0 2] [1]]\ngroups 21 [[0 1]]\ngroups 30 [[0 1 2]]\n"},
		{name: "first only", texts: []string{whole, strings.ReplaceAll(whole, "sum=bb2", "sum=bc2")}, opts: Options{FirstOnly: true},
			want: "first changed tick 2 Fight/Health#0 line 6:=bb2, line 6:=bc2,\nbracket {Good:1 HasGood:true Bad:2} exact true\nchanged 1 missing 0 last 2 of 2\n" +
				"cascade Fight/Health tick 2 to 2: 1\ngroups 2 [[0] [1]]\n"},
		{name: "limit", texts: []string{whole, strings.ReplaceAll(whole, "sum=bb2", "sum=bc2")}, opts: Options{Limit: 2},
			want: "first changed tick 2 Fight/Health#0 line 6:=bb2, line 6:=bc2,\nbracket {Good:1 HasGood:true Bad:2} exact true\nchanged 11 missing 0 last 29 of 30\n" +
				"cascade Fight/Health tick 2 to 29: 11\ngroups 2 [[0] [1]]\ngroups 30 [[0 1]]\n"},
		{name: "a damaged line is not a difference", texts: []string{whole, strings.Replace(whole, "tick=20 system=Fight", "tick=2\x00 system=Fight", 1)},
			want: "warning b.txt: 1 line is not a record: b.txt:42: \"\\x00 system=Fight scope=Health sum=bb20\", expected key=value\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, openAll(t, test.texts...), test.opts, test.want)
		})
	}
}

// Where ticks go back further than any rollback, an epoch begins.
func TestEpochs(t *testing.T) {
	const move = "tick=%d system=Move sum=aa%d"
	list := openAll(t, ticksOf(0, 400, 1, move)+ticksOf(3, 9, 1, move), ticksOf(0, 400, 1, move)+ticksOf(3, 5, 1, move)+ticksOf(6, 9, 1, "tick=%d system=Move sum=ff"))
	for _, z := range []sizes{usual, tiny} {
		res, err := compare(list, Options{}, z, true)
		if err != nil {
			t.Fatal(err)
		}
		if res.First == nil || res.First.Tick != (Tick{1, 6}) || res.Bracket.Good != (Tick{1, 5}) || res.Changed != 4 || res.LastCompared != (Tick{1, 9}) {
			t.Errorf("result is\n%s, expected tick 6 of epoch 1", summary(res))
		}
		if len(res.Warnings) == 0 || !strings.Contains(res.Warnings[0], "a state that was loaded, epoch 1") {
			t.Errorf("warnings are %q", res.Warnings)
		}
	}
}

func TestRollback(t *testing.T) {
	const (
		move = "tick=%d system=Move sum=aa%d"
		pred = "tick=%d system=Move phase=predicted sum=pp%d"
		good = "tick=%d system=Move phase=predicted sum=aa%d"
	)
	// Ticks 4 and 5 were predicted, 5 wrongly; both were simulated again.
	rolled := ticksOf(0, 3, 1, move) + "event=save tick=4 sum=s4\n" + ticksOf(4, 4, 1, good) + ticksOf(5, 5, 1, pred) +
		"event=restore tick=4 at=6 sum=s4\nevent=resimulate tick=4 to=5\n" + ticksOf(4, 9, 1, move)
	const stats = "{Rollbacks:1 Deepest:2 Predicted:2 Mispredictions:1 Unconfirmed:0 Confirmed:10 GuessedInputs:0 WrongInputs:0 BeyondWindow:0 ConfirmedTwice:0 ConfirmedChange:0}\n"
	const none = "{Rollbacks:0 Deepest:0 Predicted:0 Mispredictions:0 Unconfirmed:0 Confirmed:10 GuessedInputs:0 WrongInputs:0 BeyondWindow:0 ConfirmedTwice:0 ConfirmedChange:0}\n"
	for _, test := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"a misprediction is not a desync", []string{rolled, ticksOf(0, 9, 1, move)}, "rollback 0 " + stats + "rollback 1 " + none},
		{"confirmed otherwise", []string{rolled, strings.Replace(ticksOf(0, 9, 1, move), "sum=aa5", "sum=ab5", 1)},
			"first changed tick 5 Move/#0 line 11:=aa5, line 6:=ab5,\nbracket {Good:4 HasGood:true Bad:5} exact true\nchanged 1 missing 0 last 5 of 9\ncascade Move/ tick 5 to 5: 1\n" +
				"groups 5 [[0] [1]]\ngroups 6 [[0 1]]\nrollback 0 " + stats + "rollback 1 " + none},
		{"the last confirmed value counts", []string{ticksOf(0, 5, 1, move) + "tick=4 system=Move sum=ff\n" + ticksOf(5, 9, 1, move), strings.Replace(ticksOf(0, 9, 1, move), "sum=aa4", "sum=ff", 1)},
			"finding confirmed-changed trace 0 tick 4 Move player 0, line 7 against line 5: ff, expected aa4\n" +
				"rollback 0 {Rollbacks:1 Deepest:2 Predicted:0 Mispredictions:0 Unconfirmed:0 Confirmed:12 GuessedInputs:0 WrongInputs:0 BeyondWindow:0 ConfirmedTwice:2 ConfirmedChange:1}\nrollback 1 " + none},
		{"a restore that did not restore", []string{strings.Replace(rolled, "at=6 sum=s4", "at=6 sum=s5", 1), rolled},
			"finding restore-mismatch trace 0 tick 4  player 0, line 8 against line 5: s5, expected s4\nrollback 0 " + stats + "rollback 1 " + stats},
		{"a resimulation that ends early", []string{strings.Replace(rolled, "to=5", "to=4", 1), rolled},
			"finding resimulation-off trace 0 tick 4  player 0, line 9 against line 8: ticks 4 to 4, expected ticks 4 to 5\nrollback 0 " + stats + "rollback 1 " + stats},
		{"a resimulation that begins late", []string{strings.Replace(rolled, "event=resimulate tick=4 to=5\ntick=4 system=Move sum=aa4\n", "", 1), rolled},
			"finding resimulation-off trace 0 tick 4 Move player 0, line 9 against line 8: tick 5, expected tick 4\n" +
				"rollback 0 {Rollbacks:1 Deepest:2 Predicted:2 Mispredictions:1 Unconfirmed:1 Confirmed:9 GuessedInputs:0 WrongInputs:0 BeyondWindow:0 ConfirmedTwice:0 ConfirmedChange:0}\nrollback 1 " + stats},
		{"an input after another was confirmed", []string{"event=input tick=2 player=1 phase=predicted sum=00\nevent=input tick=2 player=1 sum=01\nevent=input tick=2 player=2 sum=02\n" + ticksOf(0, 9, 1, move) + "event=input tick=2 player=1 phase=predicted sum=00\n", rolled},
			"finding input-after-confirmed trace 0 tick 2  player 1, line 14 against line 2: 00, expected 01\n" +
				"rollback 0 {Rollbacks:0 Deepest:0 Predicted:0 Mispredictions:0 Unconfirmed:0 Confirmed:10 GuessedInputs:2 WrongInputs:1 BeyondWindow:0 ConfirmedTwice:0 ConfirmedChange:0}\nrollback 1 " + stats},
	} {
		t.Run(test.name, func(t *testing.T) {
			check(t, openAll(t, test.texts...), Options{}, test.want)
		})
	}
}

// A trace may turn out to have rollbacks only far after its start.
func TestLateRollback(t *testing.T) {
	text := ticksOf(0, 20000, 1, "tick=%d system=Move sum=aa%d") + "tick=19999 system=Move sum=ff\ntick=20000 system=Move sum=aa20000\n"
	check(t, openAll(t, text, strings.Replace(strings.Replace(text, "sum=aa19990", "sum=bb", 1), "sum=ff", "sum=fe", 1)), Options{},
		"first changed tick 19990 Move/#0 line 19991:=aa19990, line 19991:=bb,\nbracket {Good:19989 HasGood:true Bad:19990} exact true\nchanged 2 missing 0 last 19999 of 20000\n"+
			"cascade Move/ tick 19990 to 19999: 2\ngroups 19990 [[0] [1]]\ngroups 19991 [[0 1]]\ngroups 19999 [[0] [1]]\ngroups 20000 [[0 1]]\n"+
			strings.Join([]string{"finding confirmed-changed trace 0 tick 19999 Move player 0, line 20002 against line 20000: ff, expected aa19999\n",
				"finding confirmed-changed trace 1 tick 19999 Move player 0, line 20002 against line 20000: fe, expected aa19999\n"}, "")+
			"rollback 0 {Rollbacks:1 Deepest:2 Predicted:0 Mispredictions:0 Unconfirmed:0 Confirmed:20003 GuessedInputs:0 WrongInputs:0 BeyondWindow:0 ConfirmedTwice:2 ConfirmedChange:1}\n"+
			"rollback 1 {Rollbacks:1 Deepest:2 Predicted:0 Mispredictions:0 Unconfirmed:0 Confirmed:20003 GuessedInputs:0 WrongInputs:0 BeyondWindow:0 ConfirmedTwice:2 ConfirmedChange:1}\n")
}

func TestOtherGame(t *testing.T) {
	list := openAll(t, "%seed 1\n%peer \"host\"\ntick=1 sum=a\n", "%seed 2\n%build \"x\"\ntick=1 sum=a\n", "%seed 1\n%build \"y\"\ntick=1 sum=a\n")
	var mismatch *MismatchError
	if _, err := Compare(list, Options{}); !errors.As(err, &mismatch) || err.Error() != "traces cannot be compared: seeds are 1 (a) and 2 (b)" {
		t.Errorf("error is %v, expected other seeds", err)
	}
	if _, err := Compare(list[1:], Options{}); !errors.As(err, &mismatch) || mismatch.What != "seeds" {
		t.Errorf("error is %v, expected other seeds", err)
	}
	res, err := Compare(list, Options{Force: true})
	if err != nil || res.Diverged() || len(res.Warnings) != 2 {
		t.Errorf("result %+v, error %v, expected equal traces and warnings of the seeds and the builds", res, err)
	}
	list = openAll(t, "%build \"x\"\ntick=1 sum=a\n", "%build \"y\"\ntick=1 sum=a\n")
	res, err = Compare(list, Options{})
	if err != nil || res.Diverged() || len(res.Warnings) != 1 || res.Warnings[0] != `builds differ: a has "x", b has "y"` {
		t.Errorf("result %+v, error %v, expected that two builds are compared", res, err)
	}
}

func TestRealTraces(t *testing.T) {
	load := func(names ...string) (list []*Trace) {
		for _, name := range names {
			l, err := Open(files.Disk, "../testdata/trace/"+name, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, l...)
		}
		return list
	}
	for _, test := range []struct {
		files  []string
		first  uint64
		groups string
		until  uint64 // last tick that differs
	}{
		{[]string{"spring_pos_1ulp.csv"}, 601, "[{601 [[0 1] [2]]}]", 640},
		{[]string{"spring_checksum_only.csv.gz"}, 3500, "[{3500 [[0] [1] [2]]} {4097 [[0 1 2]]}]", 4096},
		{[]string{"zeroad_stock.txt", "zeroad_modded.txt"}, 17, "[{17 [[0] [1]]}]", 169},
	} {
		res, err := Compare(load(test.files...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if res.First == nil || res.First.Tick.Number != test.first || fmt.Sprint(res.Groups) != test.groups || res.LastDiffering.Number != test.until || !res.Bracket.Exact() {
			t.Errorf("%v: first %+v, groups %v, last %s; expected tick %d, groups %s, last %d", test.files, res.First, res.Groups, res.LastDiffering, test.first, test.groups, test.until)
		}
	}
}

// Binary traces, texts, compressed ones and streams compare like each other.
func TestForms(t *testing.T) {
	a := session(300)
	b := slices.Clone(a)
	b[1000].sum = "ff" + b[1000].sum[2:]
	text := "%desynctool trace 1\n" + string(textOf(b))
	encoded, err := encodeText(text)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string][]*Trace{
		"text":   open(t, "b.txt", []byte(text)),
		"binary": open(t, "b.trace", encoded),
		"zstd":   open(t, "b.zst", pack(t, "zstd", encoded)),
	}
	for name, content := range map[string]string{"text stream": text, "binary stream": string(encoded), "gzip stream": string(pack(t, "gzip", []byte(text)))} {
		if forms[name], err = Read(struct{ io.Reader }{strings.NewReader(content)}, name, ReadOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, list := range forms {
		res, err := Compare(append(open(t, "a.txt", textOf(a)), list...), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if res.First == nil || res.First.Tick.Number != 142 || res.Changed != 1 || res.Missing != 0 {
			t.Errorf("%s: first %+v, changed %d, missing %d; expected one change at tick 142", name, res.First, res.Changed, res.Missing)
		}
		if c := res.Context[1]; len(c.Lines) == 0 || !strings.Contains(c.Lines[c.At], b[1000].sum) {
			t.Errorf("%s: context is %+v", name, c)
		}
	}
}

// A file that is cut or grows while it is read is compared as far as it was
// there at both times.
func TestFileChanges(t *testing.T) {
	dir := t.TempDir()
	content := textOf(session(40000)) // 12 MB
	paths := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	var list []*Trace
	for _, p := range paths {
		if err := os.WriteFile(p, content, 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := Open(files.Disk, p, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, l...)
	}
	cut := false
	res, err := Compare(list, Options{Progress: func(done, total int64) {
		if !cut {
			cut = true
			os.Truncate(paths[1], 9_000_001)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Diverged() {
		t.Errorf("first %+v, expected equal traces", res.First)
	}
	f, err := os.OpenFile(paths[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprint(f, "tick=50000 sum=aa\n")
	if res, err = Compare(list, Options{}); err != nil || res.Diverged() {
		t.Errorf("first %+v, error %v, expected equal traces", res.First, err)
	}
}

func TestDiffContext(t *testing.T) {
	a := Context{FirstLine: 7, Lines: []string{"tick=1 sum=aa", "tick=2 sum=0011", "tick=3 sum=cc"}}
	b := Context{FirstLine: 9, Lines: []string{"tick=1 sum=aa", "tick=2 sum=0012", "extra \xff", "tick=3 sum=cc"}}
	var out strings.Builder
	for _, l := range DiffContext(&a, &b) {
		fmt.Fprintf(&out, "%c %d %d %q %v\n", l.Op, l.A, l.B, l.Text, l.Spans)
	}
	const want = `  7 9 "tick=1 sum=aa" []
- 8 0 "tick=2 sum=0011" [{14 15}]
+ 0 10 "tick=2 sum=0012" [{14 15}]
+ 0 11 "extra �" []
  9 12 "tick=3 sum=cc" []
`
	if out.String() != want {
		t.Errorf("context is\n%s, expected\n%s", out.String(), want)
	}
	// Windows of any content, and large ones, stay quick and do not fail.
	big := Context{FirstLine: 1}
	other := Context{FirstLine: 1}
	for i := range 5000 {
		big.Lines = append(big.Lines, fmt.Sprint("a", i))
		other.Lines = append(other.Lines, fmt.Sprint("b", i))
	}
	if n := len(DiffContext(&big, &other)); n != 2*maxWindow {
		t.Errorf("%d lines, expected %d", n, 2*maxWindow)
	}
}

// A difference after many windows has the right line, counted either way.
func TestFarLine(t *testing.T) {
	rows := session(effort.Of(15_000, 60_000)) // 5 or 20 MB
	a := openAll(t, string(textOf(rows)))
	for _, at := range effort.Of([]int{len(rows) * 5 / 7}, []int{len(rows) - 10, len(rows) / 2, len(rows) * 5 / 7}) {
		old := rows[at].sum
		rows[at].sum = "ff" + old[2:]
		list := append(a[:1:1], open(t, "b.txt", textOf(rows))...)
		for _, opts := range []Options{{}, {FirstOnly: true}} {
			for _, z := range []sizes{usual, tiny} {
				for _, mapped := range []bool{true, false} {
					res, err := compare(list, opts, z, mapped)
					if err != nil {
						t.Fatal(err)
					}
					if d := res.First; d == nil || d.Values[0].Pos.Line != int64(at+1) || d.Values[1].Pos.Line != int64(at+1) || d.Values[1].Sum("") != rows[at].sum {
						t.Errorf("row %d: first is %+v", at, d)
					}
				}
			}
		}
		rows[at].sum = old
	}
}
