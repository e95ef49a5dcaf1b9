package sums_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// playedMatch writes a match of some ticks. From bad on the checksums are others.
func playedMatch(seed, ticks, bad int) (out string) {
	for tick := 4; tick <= ticks; tick += 4 {
		sum := uint32(tick*tick*7919+seed*104729) * 2654435761
		if tick >= bad {
			sum ^= 0x70f1
		}
		out += fmt.Sprintf("[net] step %d crc=%08x\n", tick, sum)
	}
	return out + "[lobby] back\n"
}

// TestAlign: matches are compared with the same matches of other logs, whatever was missed before them.
func TestAlign(t *testing.T) {
	const never = 1 << 20
	first, second, third := playedMatch(1, 900, never), playedMatch(2, 800, never), playedMatch(3, 700, never)
	both := first + second
	for _, c := range []struct {
		name string
		logs []string
		want string
	}{
		{"all have all", []string{both, both, both}, ""},
		{"one missed the first", []string{both, both, second}, ""},
		{"one missed the first, and is the first log", []string{second, both}, ""},
		{"one missed the second", []string{first + second + third, first + third}, ""},
		{"one began in the middle of the second", []string{both, second[len(second)/2:]}, ""},
		{"one has another match only", []string{both, third}, ""},
		{"two have other matches", []string{both, third, playedMatch(4, 400, never)}, ""},
		{"the second differs", []string{both, playedMatch(2, 800, 404)}, "404 of epoch 1"},
		{"the first differs, and one missed it", []string{both, playedMatch(1, 900, 600) + second, second}, "600"},
		{"the second differs at once", []string{both, first + playedMatch(2, 800, 0)}, "4 of epoch 1"},
		{"both differ at once", []string{both, playedMatch(5, 900, never) + playedMatch(6, 800, never)}, "4"},
	} {
		var samples []sums.Sample
		for _, log := range c.logs {
			p := sums.Learn([]byte(log), "x")
			if p == nil || p.Restarts() != (strings.Count(log, "back") > 1) {
				t.Fatalf("%s: %v", c.name, p)
			}
			samples = append(samples, sums.Sample{Pattern: p, Text: []byte(log)})
		}
		sums.Align(samples)
		r := comparedLogs(t, samples)
		got := ""
		if r.First != nil {
			got = r.First.Tick.String()
		}
		if got != c.want {
			t.Errorf("%s: differs at %q, expected %q", c.name, got, c.want)
		}
	}
}

// shortMatch writes a match of few ticks, which begin again with 1 in the next one.
func shortMatch(id string, seed, ticks, bad int) string {
	out := ""
	if id != "" {
		out = "[lobby] Match " + id + " started with 2 players\n"
	}
	for tick := 1; tick <= ticks; tick++ {
		sum := uint32(tick*tick*7919+seed*104729) * 2654435761
		if tick >= bad {
			sum ^= 0x70f1
		}
		out += fmt.Sprintf("[net] round %d, turn %d crc=%08x\n", seed, tick, sum)
	}
	return out
}

// TestShortMatches: matches of few ticks are matches, and no rollbacks, and have the names that the log gives them.
func TestShortMatches(t *testing.T) {
	const never = 1 << 20
	first, second, third := shortMatch("a7f0", 1, 40, never), shortMatch("b3e9", 2, 30, never), shortMatch("c551", 3, 50, never)
	for _, c := range []struct {
		name string
		logs []string
		want string
	}{
		{"all have all", []string{first + second + third, first + second + third}, ""},
		{"one missed the first", []string{second + third, first + second + third}, ""},
		{"one missed the first, and the last differs", []string{second + third, first + second + shortMatch("c551", 3, 50, 20)}, "turn 20 of match c551"},
		{"the second differs at once", []string{first + second, first + shortMatch("b3e9", 2, 30, 0)}, "turn 1 of match b3e9"},
		{"without ids", []string{shortMatch("", 1, 40, never) + shortMatch("", 2, 30, never), shortMatch("", 1, 40, never) + shortMatch("", 2, 30, 7)}, "turn 7 of match 2"},
		{"without ids, and one missed the first", []string{shortMatch("", 1, 40, never) + shortMatch("", 2, 30, never) + shortMatch("", 3, 60, never), shortMatch("", 2, 30, never) + shortMatch("", 3, 60, 33)}, "turn 33 of match 3"},
	} {
		var samples []sums.Sample
		for _, log := range c.logs {
			samples = append(samples, sums.Sample{Pattern: sums.Learn([]byte(log), "x"), Text: []byte(log)})
		}
		if !sums.Align(samples) {
			t.Errorf("%s: no matches", c.name)
		}
		r := comparedLogs(t, samples)
		got := ""
		if r.First != nil {
			got = r.TickText(r.First.Tick)
		}
		if got != c.want {
			t.Errorf("%s: differs at %q, expected %q", c.name, got, c.want)
		}
	}
}

// comparedLogs compares logs with their patterns.
func comparedLogs(t *testing.T, samples []sums.Sample) *tracediff.Result {
	t.Helper()
	var traces []*tracediff.Trace
	for _, s := range samples {
		traces = append(traces, openLog(t, t.TempDir(), s.Text, s.Pattern.Format()))
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
