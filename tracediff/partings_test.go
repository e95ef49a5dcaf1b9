package tracediff

import (
	"fmt"
	"strings"
	"testing"
)

func replaceTick(s, tick string) string { return strings.ReplaceAll(s, "tick=5", tick) }

// TestPartingEndsEqual: whether the traces of a tick agree again at its end, by hand.
func TestPartingEndsEqual(t *testing.T) {
	for _, test := range []struct {
		name, other string // of tick 5, with the lines A, B/Infantry, C
		equal       bool
	}{
		{"to the end", "tick=5 system=A sum=01\ntick=5 system=B scope=Infantry sum=02\ntick=5 system=C sum=ff\n", false},
		{"the whole heals", "tick=5 system=A sum=ff\ntick=5 system=B scope=Infantry sum=ff\ntick=5 system=C sum=03\n", true},
		{"a part heals with the whole", "tick=5 system=A sum=01\ntick=5 system=B scope=Infantry sum=ff\ntick=5 system=C sum=03\n", true},
		{"a part is lacking", "tick=5 system=A sum=01\ntick=5 system=C sum=03\n", true},
	} {
		var a, b string
		for i := range 40 {
			tick := "tick=" + string(rune('0'+i/10)) + string(rune('0'+i%10))
			lines := tick + " system=A sum=01\n" + tick + " system=B scope=Infantry sum=02\n" + tick + " system=C sum=03\n"
			a += lines
			if i == 25 {
				b += replaceTick(test.other, "tick=25")
			} else {
				b += lines
			}
		}
		res, err := Compare(openAll(t, a, b), Options{})
		if err != nil || len(res.Partings) != 1 {
			t.Fatalf("%s: %+v, %v", test.name, res, err)
		}
		if s := res.Partings[0]; s.Passing != test.equal || s.First.Number != 25 || s.Last.Number != 25 || s.HasAgain == test.equal || s.Good.Number != 24 {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
}

// TestPartingOfOneAway: a peer that had diverged and is then away has not come back to the others, which agree all the
// while; it has in the first tick that it and they have in common and agree in.
func TestPartingOfOneAway(t *testing.T) {
	var away, left, others string
	for i := range 40 {
		line := fmt.Sprintf("tick=%d system=A sum=01\n", i)
		others += line
		if i == 10 {
			line = strings.Replace(line, "01", "02", 1)
		}
		if i <= 10 || i >= 20 {
			away += line
		}
		if i <= 10 {
			left += line
		}
	}
	res, err := Compare(openAll(t, away, others, others), Options{})
	if err != nil || len(res.Partings) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	if p := res.Partings[0]; p.First.Number != 10 || p.Last.Number != 10 || !p.HasAgain || p.Again.Number != 20 || res.EqualFrom.Number != 20 {
		t.Errorf("away up to 20: %+v, equal from %v", p, res.EqualFrom)
	}
	res, err = Compare(openAll(t, left, others, others), Options{})
	if err != nil || len(res.Partings) != 1 || res.Partings[0].HasAgain {
		t.Errorf("gone for good: %+v, %v", res, err)
	}
}

// TestPartingOfOthers: the last tick with equal traces before a run is one in which the traces were there that differ in
// it, by themselves or by a third that is equal to both.
func TestPartingOfOthers(t *testing.T) {
	ticks := func(from, to, wrong int) (s string) {
		for i := from; i <= to; i++ {
			s += fmt.Sprintf("tick=%d system=A sum=%02x\n", i, i+i/wrong*100)
		}
		return s
	}
	for _, c := range []struct {
		traces []string
		good   int // -1 for none
	}{
		{[]string{ticks(0, 9, 99), ticks(0, 3, 99), ticks(4, 9, 2)}, -1},
		{[]string{ticks(0, 9, 99), ticks(0, 3, 99), ticks(0, 9, 4)}, 3},
		{[]string{ticks(2, 9, 99), ticks(0, 2, 99), ticks(0, 1, 4) + ticks(4, 9, 4)}, 1},
		{[]string{ticks(2, 9, 99), ticks(1, 2, 99), ticks(0, 0, 4) + ticks(4, 9, 4)}, -1},
	} {
		res, err := Compare(openAll(t, c.traces...), Options{})
		if err != nil || len(res.Partings) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		p, b := res.Partings[0], res.Bracket
		if p.First.Number != 4 || p.HasGood != (c.good >= 0) || p.HasGood && int(p.Good.Number) != c.good || b.HasGood != p.HasGood || b.Good != p.Good {
			t.Errorf("expected %d: %+v, %+v", c.good, p, b)
		}
	}
}

// TestPartingOfGuesses: a guess that was not confirmed is not compared, and its peer is not known to be equal to the others
// again, which agree all the while. Guesses of an earlier pass do not take the places of confirmed checkpoints.
func TestPartingOfGuesses(t *testing.T) {
	trace := func(apart bool, more string) (s string) {
		for i := range 40 {
			line := fmt.Sprintf("tick=%d system=A sum=%02x\n", i, i)
			if apart && i >= 10 {
				line = strings.Replace(line, "sum=", "sum=9", 1)
			}
			if i == 20 && more != "" {
				line = strings.ReplaceAll(more, "LINE", strings.TrimSuffix(line, "\n"))
			}
			s += line + fmt.Sprintf("tick=%d system=B scope=x sum=01\n", i)
		}
		return s
	}
	for name, more := range map[string]string{
		"a guess": "LINE phase=predicted\n",
		"a tick that was simulated three times": "tick=20 system=A sum=aa phase=predicted\ntick=20 system=A sum=bb phase=predicted\n" +
			"tick=21 system=A sum=cc phase=predicted\nevent=restore tick=20\nLINE\n",
	} {
		res, err := Compare(openAll(t, trace(true, more), trace(false, ""), trace(false, "")), Options{Rollback: 16})
		if err != nil || res.First == nil || res.First.Tick.Number != 10 {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		if p := res.Partings; len(p) != 1 || p[0].HasAgain || p[0].Last.Number != 39 || res.Missing > 0 {
			t.Errorf("%s: partings %+v, %d missing", name, p, res.Missing)
		}
	}
	// two peers: the last equal tick is one in which both were compared
	guess := "LINE phase=predicted\n"
	late := strings.ReplaceAll(trace(false, guess), "tick=21 system=A sum=15", "tick=21 system=A sum=99")
	res, err := Compare(openAll(t, late, trace(false, "")), Options{Rollback: 16})
	if err != nil || res.Bracket == nil || res.Bracket.Good.Number != 19 || res.Bracket.Bad.Number != 21 {
		t.Errorf("after a guess: %+v, %v", res.Bracket, err)
	}
}

// TestPartingOfOtherScopes: peers that have no scope in common in a tick are not known to be equal again in it.
func TestPartingOfOtherScopes(t *testing.T) {
	trace := func(scope string, from int) (s string) {
		for i := range 30 {
			at, sum := "x", i
			if i >= from {
				sum += 100
			}
			if i > 12 {
				at = scope
			}
			s += fmt.Sprintf("tick=%d system=A scope=%s sum=%02x\n", i, at, sum)
		}
		return s
	}
	res, err := Compare(openAll(t, trace("y", 10), trace("z", 99)), Options{})
	if err != nil || len(res.Partings) != 1 || res.Partings[0].First.Number != 10 || res.Partings[0].HasAgain {
		t.Errorf("%+v, %v", res, err)
	}
	if res, err = Compare(openAll(t, trace("y", 99), trace("z", 99)), Options{}); err != nil || res.First != nil && res.First.Kind == Changed {
		t.Errorf("equal: %+v, %v", res, err)
	}
}
