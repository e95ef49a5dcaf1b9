package sums_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// TestValuesOfFewLines: values count where one log has seldom lines, repeats some or has a gap, and a line that only one of two
// logs has among others may be a difference.
func TestValuesOfFewLines(t *testing.T) {
	log := func(has func(tick int) int) []byte {
		var out strings.Builder
		hp := 900
		for tick := range 120 {
			hp += tick*tick*7%13 - 6
			for range has(tick) {
				fmt.Fprintf(&out, "t=%d hp=%d\n", tick, hp)
			}
		}
		return []byte(out.String())
	}
	all := func(int) int { return 1 }
	seldom := func(tick int) int { return (tick + 3) % 4 / 3 }
	for _, c := range []struct {
		name        string
		first, then []byte
		whole       bool
	}{
		{"every tick", log(all), log(all), true},
		{"every fourth", log(all), log(seldom), true},
		{"a gap", log(all), log(func(tick int) int { return min(1, max(0, tick-70)+max(0, 50-tick)) }), true},
		{"twice", log(all), log(func(tick int) int { return 1 + tick%17/16 }), true},
		{"events", log(func(tick int) int { return tick * tick % 5 % 2 }), log(func(tick int) int { return tick * tick % 5 % 2 * min(1, max(tick-61, 61-tick)) }), false},
	} {
		v := sums.LearnValues([][]byte{c.first, c.then})
		if v == nil {
			t.Errorf("%s: no values", c.name)
			continue
		}
		source, err := v.Format().Read(bytes.NewReader(c.first), "first", 0)
		if err != nil {
			t.Fatal(err)
		}
		if whole := !source.Dialect().Partial; whole != c.whole {
			t.Errorf("%s: whole is %t", c.name, whole)
		}
	}
}
