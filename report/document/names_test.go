package document_test

import (
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/report/document"
)

// TestNamesOf compares the rules with what the engines' own functions return, tick by tick.
func TestNamesOf(t *testing.T) {
	for _, c := range []struct {
		engine   string
		name     func(uint64) string
		from, to uint64
		rule     bool
	}{
		{"OpenTTD", openttd.TickName, 52704502, 52725740, true},
		{"OpenTTD from a day's first tick", openttd.TickName, 74 * 1000, 74*1000 + 500, true},
		{"Warzone 2100", warzone.TickName, 1, 680, true},
		{"Widelands", widelands.TickName, 0, 162304, true},
		{"0 A.D.", func(n uint64) string { return fmt.Sprintf("turn %d", n) }, 0, 232, true},
		{"two ticks", func(n uint64) string { return fmt.Sprintf("turn %d", n) }, 7, 8, true},
		{"numbers", func(n uint64) string { return fmt.Sprint(n) }, 0, 100, false},
		{"no names", func(uint64) string { return "" }, 0, 100, false},
		{"one name for all", func(uint64) string { return "an unknown tick" }, 0, 100, false},
		{"no rule", func(n uint64) string { return fmt.Sprintf("step %d", n*n) }, 0, 100, false},
		{"a rule for a part", func(n uint64) string { return fmt.Sprintf("step %d", n+n/90) }, 0, 100, false},
		{"one tick", openttd.TickName, 5, 5, false},
		{"the last number", func(n uint64) string { return fmt.Sprintf("turn %d", n) }, 1<<64 - 10, 1<<64 - 1, true},
	} {
		rule := document.NamesOf(c.name, c.from, c.to)
		if rule == nil {
			if c.rule {
				t.Errorf("%s: no rule", c.engine)
			}
			continue
		}
		if !c.rule {
			t.Errorf("%s: the rule %+v", c.engine, rule)
		}
		for tick := c.from; ; tick++ {
			if got := rule.Name(tick); got != c.name(tick) {
				t.Fatalf("%s: tick %d is called %q, expected %q", c.engine, tick, got, c.name(tick))
			}
			if tick == c.to {
				break
			}
		}
		if got := rule.Name(c.to + 1); got != "" && c.to+1 > c.to {
			t.Errorf("%s: a tick after the last is called %q", c.engine, got)
		}
	}
}

func TestNamesAt(t *testing.T) {
	turns := []document.PointWord{{Point: 23, Native: "after turn 22"}, {Point: 25, Native: "after turn 24"}, {Point: 40, Native: "after turn 39"}}
	rule := document.NamesAt(turns)
	for point, want := range map[uint64]string{22: "", 23: "after turn 22", 24: "after turn 23", 40: "after turn 39", 41: ""} {
		if got := rule.Name(point); got != want {
			t.Errorf("state point %d is called %q, expected %q", point, got, want)
		}
	}
	turns[2].Native = "after turn 38"
	for _, none := range [][]document.PointWord{nil, turns[:1], turns, {{Point: 1, Native: "the end"}, {Point: 2, Native: "the end"}}, {{Point: 5, Native: "frame 1"}, {Point: 5, Native: "frame 2"}}} {
		if rule := document.NamesAt(none); rule != nil {
			t.Errorf("%v: the rule %+v", none, rule)
		}
	}
}
