package verdict

import (
	"errors"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
)

// guiltyAt is evidence of a tick in which a simulator shows that the client is wrong.
func guiltyAt(tick uint64) Evidence {
	e := inSystem(tick, "Combat")
	point := tick + 1
	e.Bisect.Replay = &bisect.Replay{Sim: "sound", Peers: []bisect.ReplayedPeer{{Name: "client", Compared: 3, Departs: &point}, {Name: "host", Compared: 3}}}
	return e
}

func branchesAt(kind document.CodeKind, line int, consequence bool) *document.Branches {
	tick := uint64(60)
	b := &document.Branches{Kind: kind, Tick: &tick, Builds: []string{"sound", "own"}, Equal: 7, By: "branches", Consequence: consequence, StateFirst: "Move"}
	if line > 0 {
		b.At = []document.CodePlace{{Function: "hit", File: "/src/combat.c", Line: line}}
		b.Stack = []document.CodePlace{{Function: "step"}}
	}
	return b
}

func writesAt(line int) *document.Writes {
	tick := uint64(60)
	w := &document.Writes{Kind: document.CodeWrite, Tick: &tick, Equal: 2, Fields: []document.WrittenField{{Archetype: "Tank", Key: "7", Column: "Health.hp"}}}
	for i, name := range []string{"sound", "own"} {
		w.Builds = append(w.Builds, document.Writing{Name: name, First: &document.Written{CodePlace: document.CodePlace{Function: "hurt", File: "combat.c", Line: line + i}, New: name[:1]}})
	}
	return w
}

// TestCode: of the findings of two builds one counts: the branch, unless it follows from other values, else the write of
// the wrong build. It is a step of the narrowing and the finest fingerprint, and changes no other.
func TestCode(t *testing.T) {
	refused := &document.Writes{Kind: document.CodeUnknown, Why: "gdb is not installed"}
	for _, test := range []struct {
		name   string
		b      *document.Branches
		w      *document.Writes
		err    error
		kind   document.CodeKind
		state  document.RungState
		place  string
		print  string
		reason string
	}{
		{name: "a branch and a write", b: branchesAt(document.CodeBranch, 5, false), w: writesAt(9), kind: document.CodeBranch, state: document.RungFound, place: "hit (combat.c:5)", print: "hit combat.c:5"},
		{name: "a branch that follows from values", b: branchesAt(document.CodeBranch, 5, true), w: writesAt(9), kind: document.CodeWrite, state: document.RungFound, place: "hurt (combat.c:10)", print: "hurt combat.c:10"},
		{name: "the same by itself", b: branchesAt(document.CodeBranch, 5, true), kind: document.CodeBranch, state: document.RungFound, place: "hit (combat.c:5)"},
		{name: "other values and a write", b: branchesAt(document.CodeData, 0, false), w: writesAt(9), kind: document.CodeWrite, state: document.RungFound, place: "hurt (combat.c:10)", print: "hurt combat.c:10"},
		{name: "other values, and no gdb", b: branchesAt(document.CodeData, 0, false), w: refused, kind: document.CodeData, state: document.RungEqual},
		{name: "unsteady", b: branchesAt(document.CodeUnsteady, 5, false), kind: document.CodeUnsteady, state: document.RungFound, place: "hit (combat.c:5)", print: "hit combat.c:5"},
		{name: "nothing", w: refused, kind: document.CodeUnknown, state: document.RungOpen, reason: "gdb is not installed"},
		{name: "another build", err: errors.New("it is another build"), kind: document.CodeUnknown, state: document.RungOpen, reason: "it is another build"},
	} {
		e := guiltyAt(60)
		plain := conclude(t, e)
		e.Code = func(peer string, tick uint64) (*document.Branches, *document.Writes, error) {
			if peer != "client" || tick != 60 {
				t.Errorf("%s: asked for %s in tick %d", test.name, peer, tick)
			}
			return test.b, test.w, test.err
		}
		c := conclude(t, e)
		k := c.Code
		if k.Kind != test.kind || states(c)[StepCode] != test.state || test.place != "" && k.String() != test.place || !strings.Contains(k.Why, test.reason) {
			t.Errorf("%s: %+v, step %s", test.name, k, states(c)[StepCode])
		}
		last := c.Levels[len(c.Levels)-1]
		if (last.Level == document.LevelCode) != (test.print != "") || test.print != "" && last.Name != test.print {
			t.Errorf("%s: the finest fingerprint is %+v", test.name, last)
		}
		if c.Fingerprint != plain.Fingerprint {
			t.Errorf("%s: the strict fingerprint changes", test.name)
		}
	}
	e := partedIn(60, 90)
	e.Code = func(string, uint64) (*document.Branches, *document.Writes, error) {
		t.Error("a tick was played that is not known")
		return nil, nil, nil
	}
	if c := conclude(t, e); c.Code.Kind != document.CodeUnknown || !strings.Contains(c.Code.Why, "tick is not known") {
		t.Errorf("without a tick: %+v", c.Code)
	}
}

// TestCauseByCode: calls in the code that decides show one class, unless something speaks against it.
func TestCauseByCode(t *testing.T) {
	calls := func(kind document.CodeKind, names ...string) *document.Code {
		b := branchesAt(kind, 5, false)
		b.Calls = names
		return chosen(b, nil)
	}
	in := func(function string) *document.Code {
		k := calls(document.CodeUnsteady)
		k.Branches.Stack = []document.CodePlace{{Function: function}}
		return k
	}
	follows := calls(document.CodeBranch, "time")
	follows.Branches.Consequence = true
	unsteady := calls(document.CodeUnsteady, "time")
	unsteady.Branches.Consequence = true
	shown := []Cause{{Class: ThreadTiming, Standing: Shown}, {Class: WallClock, Standing: Shown}}
	for _, test := range []struct {
		name     string
		code     *document.Code
		causes   []Cause
		excluded string
		want     string // the classes
	}{
		{"a clock", calls(document.CodeUnsteady, "clock_gettime@GLIBC_2.17"), nil, "", WallClock},
		{"a clock of C++", calls(document.CodeBranch, "_ZNSt6chrono3_V212system_clock3nowEv"), nil, "", WallClock},
		{"a clock of Rust", calls(document.CodeBranch, "_ZN3std4time7Instant3now17h0123456789abcdefE"), nil, "", WallClock},
		{"the locale", calls(document.CodeBranch, "setlocale"), nil, "", Locale},
		{"a function of the game", calls(document.CodeBranch, "time_left", "clock_of"), nil, "", ""},
		{"two classes", calls(document.CodeBranch, "setlocale", "time"), nil, "", ""},
		{"a branch that follows", follows, nil, "", ""},
		{"runs of one build that follow", unsteady, nil, "", ""},
		{"a hash table", in("hashbrown::raw::RawIter<T>::next"), nil, "", IterationOrder},
		{"a game's hash table", in("game::hash_table_next"), nil, "", ""},
		{"excluded", calls(document.CodeBranch, "time"), nil, WallClock, ""},
		{"one of those that an experiment shows", calls(document.CodeUnsteady, "time"), shown, "", WallClock},
		{"none of those that an experiment shows", calls(document.CodeUnsteady, "time"), shown[:1], "", ThreadTiming},
		{"a likeness", calls(document.CodeBranch, "time"), []Cause{{Class: Float, Standing: Looks}}, "", WallClock},
	} {
		c := &Conclusion{Code: test.code, Causes: test.causes}
		if test.excluded != "" {
			c.exclude(sign(OneBit), test.excluded)
		}
		c.causeByCode()
		var got []string
		for _, cause := range c.Causes {
			got = append(got, cause.Class)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, expected %q", test.name, got, test.want)
		}
	}
}
