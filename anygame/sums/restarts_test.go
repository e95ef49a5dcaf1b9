package sums_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// TestRestarts: the lines of one tick in several matches are not parts of a state, whatever is counted on them. The parts of a
// state that each match has are.
func TestRestarts(t *testing.T) {
	play := func(line func(match, tick int) string) string {
		var log strings.Builder
		for match, ticks := range []int{60, 90, 40} {
			fmt.Fprintf(&log, "match %d begins\n", match+1)
			for tick := range ticks {
				log.WriteString(line(match, tick))
			}
		}
		return log.String()
	}
	sum := func(match, tick, part int) uint32 {
		return uint32(tick+7)*2654435761 ^ uint32(match+1)*40503*uint32(tick+3) ^ uint32(part)*0x9e3779b9
	}
	for name, c := range map[string]struct {
		line   func(match, tick int) string
		scopes bool
	}{
		"a count": {func(match, tick int) string {
			return fmt.Sprintf("lockstep: tick=%d units=%d crc=%08x\n", tick, 10+tick*7%13+match, sum(match, tick, 0))
		}, false},
		"a word": {func(match, tick int) string {
			return fmt.Sprintf("lockstep: tick=%d weather %s crc=%08x\n", tick, []string{"rain", "sun", "fog"}[(tick/7+match)%3], sum(match, tick, 0))
		}, false},
		"parts": {func(match, tick int) string {
			return fmt.Sprintf("lockstep: tick=%d part=1 crc=%08x\nlockstep: tick=%d part=2 crc=%08x\n", tick, sum(match, tick, 1), tick, sum(match, tick, 2))
		}, true},
	} {
		log := play(c.line)
		p := sums.Learn([]byte(log), "a.log")
		if p == nil {
			t.Fatalf("%s: not learned", name)
		}
		source, err := p.Format().Read(strings.NewReader(log), "a.log", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(scopesOf(source), "x"); got != c.scopes {
			t.Errorf("%s: scopes %t, want %t", name, got, c.scopes)
		}
	}
}

// scopesOf returns an x for each checkpoint with a scope.
func scopesOf(source tracediff.Source) (out string) {
	for {
		rec, err := source.Next()
		if err != nil {
			return out
		}
		if rec.Checkpoint != nil && rec.Checkpoint.Scope != "" {
			out += "x"
		}
	}
}
