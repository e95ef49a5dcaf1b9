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
