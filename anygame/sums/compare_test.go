package sums_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// TestCompare: logs of peers in sync have no difference, whatever else each has between its checkpoints, where it
// begins and ends, and how often it predicted wrongly. A value that differs is found in its tick. The result is the same
// where records are held back, and read for each log by itself.
func TestCompare(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(16, 60).Draw(t, "ticks")
		seed, alike := rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "alike")
		chance := rand.New(rand.NewPCG(seed, 0))
		truth := make([]uint32, n)
		for i := range truth {
			truth[i] = uint32(i+1) * 2654435761 * uint32(i+7)
		}
		scopes := rapid.SampledFrom([][]string{{""}, {"", "physics ", "ai "}}).Draw(t, "scopes")
		rollbacks := rapid.SampledFrom([]int{2, 9, 1000}).Draw(t, "rollbacks")
		bad := rapid.IntRange(-1, n-1).Draw(t, "bad tick")
		var traces, held []*tracediff.Trace
		var logs [2]string
		first, last := 0, n
		guessed := n // first tick that may be a guess at the end of a log
		for peer := range 2 {
			var log strings.Builder
			from, to := rapid.IntRange(0, 5).Draw(t, "from"), n-rapid.IntRange(0, 5).Draw(t, "to")
			if alike {
				from, chance = 0, rand.New(rand.NewPCG(seed, 0))
			}
			first, last = max(first, from), min(last, to)
			line := func(tick int, flip uint32) {
				for range chance.IntN(3) {
					log.WriteString([]string{"ping 33 ms\n", "player 3 sold 5 units for 1200\n", "GC 12345678 bytes\n"}[chance.IntN(3)])
				}
				for i, scope := range scopes {
					prefix := []string{"[1:02] INFO ", "[1:03.5] DEBUG net ", "WARN "}[chance.IntN(3)]
					fmt.Fprintf(&log, "%stick %d %shash %08x\n", prefix, tick, scope, truth[tick]^flip^uint32(i)*0x9e3779b9)
				}
			}
			for tick := from; tick < to; tick++ {
				flip := uint32(0)
				if peer == 1 && tick == bad {
					flip = 0x1000
				}
				if chance.IntN(rollbacks) == 0 && tick+3 < to && (bad < tick || bad > tick+3) {
					for ahead := range 3 {
						line(tick+ahead, 0xff00)
					}
					guessed = min(guessed, to-16)
					log.WriteString([]string{"rollback to the tick before\n", ""}[chance.IntN(2)])
				}
				line(tick, flip)
			}
			path := filepath.Join(folder, fmt.Sprintf("peer%d.log", peer))
			if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			logs[peer] = log.String()
			p := sums.Learn([]byte(log.String()), path)
			if p == nil {
				t.Fatalf("not learned:\n%s", log.String())
			}
			f := p.Format()
			list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			traces, held = append(traces, list[0]), append(held, openHeld(t, path, f))
		}
		result, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		usual, err := tracediff.Compare(held, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := asText(result), asText(usual); got != want {
			t.Fatalf("%s\nwhere records are held back:\n%s\n%s\n%s", got, want, logs[0], logs[1])
		}
		switch {
		case bad < first || bad >= last:
			if result.First != nil {
				t.Fatalf("in sync: %+v\n%s\n%s", result.First, logs[0], logs[1])
			}
		case result.First == nil && bad >= guessed:
		case result.First == nil || result.First.Tick.Number != uint64(bad):
			t.Fatalf("tick %d: %+v\n%s\n%s", bad, result.First, logs[0], logs[1])
		}
		for _, f := range result.Findings {
			t.Errorf("%+v", f)
		}
	})
}

// openLog writes a log into a folder, and opens it.
func openLog(t interface{ Fatal(...any) }, folder string, text []byte, f tracediff.Format) *tracediff.Trace {
	path := filepath.Join(folder, "game.log")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

// openHeld opens a log whose records are held back in any case.
func openHeld(t interface{ Fatal(...any) }, path string, f tracediff.Format) *tracediff.Trace {
	read := f.Read
	f.Read = func(r io.Reader, name string, peer int) (tracediff.Source, error) {
		s, err := read(r, name, peer)
		return struct{ tracediff.Source }{s}, err
	}
	list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// TestStraight: where records are not held back, and one log is read for both, the result is the same: if a log goes back
// after the end of the other one, if only the first difference is wanted, and if the logs are equal up to the middle of a
// tick with several lines, or of a rollback.
func TestStraight(t *testing.T) {
	folder := t.TempDir()
	ticks := func(from, to, lines int, wrong ...int) (out string) {
		for tick := from; tick < to; tick++ {
			for i := range lines {
				sum := uint32(1000*tick+i+7) * 2654435761
				if slices.Contains(wrong, 10*tick+i) {
					sum++
				}
				out += fmt.Sprintf("frame %d checksum %08x\n", tick, sum)
			}
		}
		return out
	}
	const back = "rolling back\n"
	for i, one := range []struct {
		name string
		logs []string
		want int // tick, -1 for no difference
	}{
		{"after the end", []string{ticks(0, 31, 1), ticks(0, 33, 1, 290, 300) + back + ticks(29, 40, 1)}, -1},
		{"before the end", []string{ticks(0, 70, 1), ticks(0, 33, 1, 290, 300) + back + ticks(29, 70, 1)}, -1},
		{"the first", []string{ticks(0, 200, 1), ticks(0, 33, 1, 290, 300) + back + ticks(29, 200, 1, 990)}, 99},
		{"in a tick", []string{ticks(0, 60, 3), ticks(0, 60, 3, 402)}, 40},
		{"in a rollback", []string{ticks(0, 33, 2, 320) + back + ticks(32, 90, 2), ticks(0, 33, 2, 320) + back + ticks(32, 90, 2, 321, 501)}, 32},
		{"another session", []string{ticks(0, 400, 1) + ticks(0, 90, 1), ticks(0, 400, 1) + ticks(0, 90, 1, 700)}, 70},
		{"three peers", []string{ticks(0, 300, 2), ticks(0, 300, 2, 2501), ticks(0, 300, 2, 2100)}, 210},
		{"three peers, one stops", []string{ticks(0, 50, 1), ticks(0, 300, 1, 2700), ticks(0, 300, 1)}, 270},
		{"three peers, one goes back", []string{ticks(0, 90, 1), ticks(0, 33, 1, 300) + back + ticks(30, 90, 1), ticks(0, 90, 1, 880)}, 88},
		{"ends of lines", []string{strings.ReplaceAll(ticks(0, 99, 1), "\n", "\r\n"), strings.ReplaceAll(ticks(0, 50, 1), "\n", "\r\n") + ticks(50, 99, 1, 800)}, 80},
	} {
		var traces, held []*tracediff.Trace
		for peer, log := range one.logs {
			path := filepath.Join(folder, fmt.Sprintf("%d-%d.log", i, peer))
			if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
				t.Fatal(err)
			}
			f := sums.Learn([]byte(log), path).Format()
			list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			traces, held = append(traces, list[0]), append(held, openHeld(t, path, f))
		}
		for _, first := range []bool{false, true} {
			result, err := tracediff.Compare(traces, tracediff.Options{FirstOnly: first})
			if err != nil {
				t.Fatal(err)
			}
			usual, err := tracediff.Compare(held, tracediff.Options{FirstOnly: first})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := asText(result), asText(usual); got != want {
				t.Errorf("%s: %s\nwhere records are held back:\n%s", one.name, got, want)
			}
			if got := result.First; (got == nil) != (one.want < 0) || got != nil && got.Tick.Number != uint64(one.want) {
				t.Errorf("%s: %+v, want tick %d", one.name, got, one.want)
			}
		}
	}
}

// asText returns what a comparison found.
func asText(r *tracediff.Result) string {
	out := fmt.Sprintf("%+v", []any{
		r.Changed, r.Missing, r.Unsure, r.Partings, r.Groups, r.LastDiffering, r.LastCompared, r.EqualFrom, r.Findings, r.Differences, r.Cascade, r.Uncompared,
	})
	if r.First != nil {
		out += fmt.Sprintf("%+v %+v %+v", *r.First, *r.Bracket, r.Context)
	}
	for _, i := range r.Traces {
		out += fmt.Sprintln(i.First, i.Last, i.Gaps, i.Kept, i.Epochs, i.Trouble)
	}
	return out
}

// TestEndsInGuesses: the log of a peer that is gone ends in ticks that it guessed, and so does the part of a log before a
// gap. They are not compared if the log shows rollbacks. What differs before them is found, and so are lines that are
// called confirmed.
func TestEndsInGuesses(t *testing.T) {
	const all, back, gone = 80, 20, 60
	folder := t.TempDir()
	for _, one := range []struct {
		name          string
		rolls         bool
		word          string
		bad, at, next int // ticks from bad on differ, up to at; then the log goes on with the tick next
		want          int // -1 for no difference
	}{
		{"a peer is gone", true, "", 53, gone, all, -1},
		{"a gap", true, "", 53, gone, 79, -1},
		{"another session", true, "", 53, gone, 0, -1},
		{"no rollback in the log", false, "", 53, gone, all, 53},
		{"it differs before", true, "", 30, gone, all, 30},
		{"it is confirmed", true, " confirmed", 53, gone, all, 53},
	} {
		var traces []*tracediff.Trace
		for peer := range 2 {
			var log strings.Builder
			line := func(tick int, flip uint32) {
				fmt.Fprintf(&log, "frame %d hash %08x%s\n", tick, uint32(tick+1)*2654435761*uint32(tick+7)^flip, one.word)
			}
			for tick := range all {
				switch {
				case one.rolls && tick == back:
					for ahead := range 4 {
						line(tick+ahead, 0xff00)
					}
					log.WriteString("rollback\n")
				case peer == 1 && tick >= one.at && (tick < one.next || one.next == 0):
					continue
				}
				flip := uint32(0)
				if peer == 1 && tick >= one.bad && tick < one.at {
					flip = 0x1000
				}
				line(tick, flip)
			}
			if peer == 1 && one.next == 0 {
				for tick := range 20 {
					line(tick, 0)
				}
			}
			path := filepath.Join(folder, fmt.Sprintf("peer%d.log", peer))
			if err := os.WriteFile(path, []byte(log.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			p := sums.Learn([]byte(log.String()), path)
			if p == nil {
				t.Fatalf("not learned:\n%s", log.String())
			}
			f := p.Format()
			list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			traces = append(traces, list[0])
		}
		result, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		if result.First != nil {
			got = int(result.First.Tick.Number)
		}
		if got != one.want {
			t.Errorf("%s: tick %d, expected %d", one.name, got, one.want)
		}
		if unknown := result.Incomplete(); unknown != (one.want < 0) {
			t.Errorf("%s: incomplete is %t", one.name, unknown)
		}
	}
}

// TestOtherPeer: a pattern that was learned from one peer's log reads another peer's log.
func TestOtherPeer(t *testing.T) {
	p := sums.Learn([]byte("[1] tick 5 hash aaaa0001 units 3\n[2] tick 6 hash baaa0001 units 3\n[3] tick 7 hash caaa0001 units 4\n"), "a")
	if p == nil {
		t.Fatal("not learned")
	}
	const other = "INFO net: tick 5 hash 12345678\nloading\nINFO net: tick 6 hash BAAA0001 late\n"
	source, err := p.Format().Read(strings.NewReader(other), "b", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pairs(source), "5 12345678\n6 baaa0001\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestLostLines: what only one log has is no difference, in the first ticks and later, and the first difference is in a
// tick that both have. The checksums around the lost ticks decide if they are one or two, or at most as many as those after them.
func TestLostLines(t *testing.T) {
	const all = 40
	for _, one := range []struct {
		name         string
		lacks        [2][]int
		bad, differs int // -1 for none
		incomplete   bool
	}{
		{"first ticks", [2][]int{{3, 6}, {4, 6}}, -1, -1, false},
		{"many ticks", [2][]int{{3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33}, {4, 8, 13, 16, 20, 25, 28, 32, 34}}, -1, -1, true},
		{"later ticks", [2][]int{{20, 23, 24}, {21, 22, 29}}, -1, -1, false},
		{"three ticks", [2][]int{{20, 21, 22}, {}}, -1, -1, false},
		{"three of the last ticks", [2][]int{{30, 31, 32}, {}}, -1, -1, true},
		{"more ticks than after them", [2][]int{{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}, {}}, -1, -1, true},
		{"difference after lost lines", [2][]int{{2}, {4, 9}}, 11, 11, true},
		{"difference in lost lines", [2][]int{{18}, {20}}, 18, 19, false},
	} {
		folder := t.TempDir()
		var traces []*tracediff.Trace
		for peer, lacks := range one.lacks {
			var log strings.Builder
			for tick := 1; tick < all; tick++ {
				sum := uint32(tick+1) * 2654435761 * uint32(tick+7)
				if peer == 1 && one.bad >= 0 && tick >= one.bad {
					sum ^= 0x1000
				}
				if !slices.Contains(lacks, tick) {
					fmt.Fprintf(&log, "<sync frame=\"%d\" crc=\"%08x\"/>\n", tick, sum)
				}
			}
			traces = append(traces, open(t, filepath.Join(folder, fmt.Sprintf("peer%d.log", peer)), log.String()))
		}
		result, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := -1
		if result.First != nil {
			got = int(result.First.Tick.Number)
		}
		if got != one.differs || result.Missing > 0 || result.Incomplete() != one.incomplete {
			t.Errorf("%s: first difference in tick %d, expected %d; %d missing, incomplete: %t, expected %t",
				one.name, got, one.differs, result.Missing, result.Incomplete(), one.incomplete)
		}
	}
}

// open writes a log and opens it as a trace.
func open(t *testing.T, path, log string) *tracediff.Trace {
	t.Helper()
	if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	p := sums.Learn([]byte(log), path)
	if p == nil {
		t.Fatalf("not learned:\n%s", log)
	}
	f := p.Format()
	list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}
