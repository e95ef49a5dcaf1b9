package sums_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// lines returns a log with a value at each tick. The values of machine 0 and of another machine are the same from a tick on.
func lines(form string, machine, same int) []byte {
	var out strings.Builder
	for tick := range 40 {
		value := uint32(tick+1) * 2654435761
		if tick < same {
			value += uint32(machine) * 40503
		}
		fmt.Fprintf(&out, form+"\n", tick, value)
	}
	return []byte(out.String())
}

// TestConfirm takes values that are never the same for checksums only if there is a word for one.
func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		form string
		same int
		kept bool
	}{
		{"async load finished at step %d: %08x", 40, false},
		{"async load finished at step %d: %08x", 39, true},
		{"async load finished at step %d: %08x", 0, true},
		{"step %d state hash %08x", 40, true},
		{"step %d: %08x", 40, true},
		{"frame %d predicted %08x", 0, false},
	} {
		var samples []sums.Sample
		for machine := range 2 {
			text := lines(c.form, machine, c.same)
			if p := sums.Learn(text, "x.log"); p != nil {
				samples = append(samples, sums.Sample{Pattern: p, Text: text})
			}
		}
		sums.Confirm(samples)
		for _, s := range samples {
			if kept := s.Pattern != nil; kept != c.kept {
				t.Errorf("%s, the same from %d on: kept is %v", c.form, c.same, kept)
			}
		}
		if len(samples) == 0 && c.kept {
			t.Errorf("%s: nothing is learned", c.form)
		}
	}
}

// TestVague takes no unnamed values for checksums where other lines have a word for one, however many of them there are.
func TestVague(t *testing.T) {
	text := append(lines("async load finished at step %d: %08x", 0, 0), lines("CRC for frame #%d is %08x", 1, 40)...)
	p := sums.Learn(text, "x.log")
	if p == nil {
		t.Fatal("nothing is learned")
	}
	if got, want := p.Title(), `tick is the number at "frame", checksum is "CRC"`; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}
