package sums_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
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

// TestSeldomValues: a value that differs first in a tick that one log has, after ticks that only the other one has, may have done so
// in these.
func TestSeldomValues(t *testing.T) {
	var traces []*tracediff.Trace
	var texts [][]byte
	for peer := range 2 {
		var out strings.Builder
		hp := 900
		for tick := range 200 {
			if hp += tick*tick*7%13 - 6; peer == 1 && tick == 98 {
				hp++
			}
			if peer == 0 || tick%5 == 0 {
				fmt.Fprintf(&out, "tick %d hp=%d\n", tick, hp)
			}
		}
		texts = append(texts, []byte(out.String()))
	}
	v := sums.LearnValues(texts)
	if v == nil {
		t.Fatal("no values")
	}
	for _, text := range texts {
		traces = append(traces, openLog(t, t.TempDir(), text, v.Format()))
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil || r.Bracket == nil || r.Bracket.Good.Number != 95 || r.Bracket.Bad.Number != 100 || !r.Skips() {
		t.Errorf("diverged in %+v, skips %t, %v", r.Bracket, r.Skips(), err)
	}
}

// TestOwn: of a log with the checksums of its peer and of others, which name these, the own ones are left.
func TestOwn(t *testing.T) {
	var out strings.Builder
	for tick := range 40 {
		fmt.Fprintf(&out, "{\"ev\":\"sum\",\"tick\":%d,\"crc\":\"%08x\"}\n", tick, uint32(tick+1)*2654435761)
		for _, peer := range []string{"bob", "cat"} {
			fmt.Fprintf(&out, "{\"ev\":\"got\",\"from\":%q,\"tick\":%d,\"crc\":\"%08x\"}\n", peer, tick, uint32(tick+9)*2654435761)
		}
	}
	p := sums.Learn([]byte(out.String()), "game.jsonl")
	if p == nil || p.Own() == nil {
		t.Fatal("not learned")
	}
	source, err := p.Own().Format().Read(strings.NewReader(out.String()), "game.jsonl", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(pairs(source)), "\n"); len(got) != 40 || got[1] != "1 3c6ef362" {
		t.Errorf("%d checksums, the second is %s", len(got), got[1])
	}
}

// TestSides: two sides of a message about checksums are checksums of the tick, not of a part of the state, also if they hardly change.
func TestSides(t *testing.T) {
	var out strings.Builder
	for tick := 10; tick <= 400; tick += 10 {
		sum := uint32(tick/40+1) * 2654435761
		fmt.Fprintf(&out, "time=2026-11-20T18:00:%02d.166+01:00 level=DEBUG msg=\"remote checksum\" frame=%d for_frame=%d remote=%08x local=%08x match=true\n", tick%60, tick+5+tick%3, tick, sum, sum)
	}
	for _, p := range []*sums.Pattern{sums.Learn([]byte(out.String()), "game.log"), sums.LearnAlone([]byte(out.String()))} {
		if p == nil {
			t.Fatal("not learned")
		}
		source, err := p.Format().Read(strings.NewReader(out.String()), "game.log", 0)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := source.Next(); err == nil; r, err = source.Next() {
			if n++; r.Checkpoint.Scope != "" || r.Checkpoint.Tick != uint64(10*n) {
				t.Fatalf("tick %d has the scope %q", r.Checkpoint.Tick, r.Checkpoint.Scope)
			}
		}
		if n != 40 {
			t.Errorf("%d checksums", n)
		}
	}
}

// TestHashesOfThings: numbers of things with a hash each, dump after dump, are no ticks.
func TestHashesOfThings(t *testing.T) {
	var out strings.Builder
	for dump := range 6 {
		for thing := range 40 {
			fmt.Fprintf(&out, "#%d %08x\n", thing, uint32(40*dump+thing+1)*2654435761)
		}
	}
	if p := sums.Learn([]byte(out.String()), "game.log"); p != nil {
		t.Error(p.Title())
	}
}
