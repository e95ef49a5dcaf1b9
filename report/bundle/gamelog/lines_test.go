package gamelog

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/textsearch"
)

// TestLines holds reading in which telling texts are looked for in many lines at once against one
// in which every line is taken for telling.
func TestLines(t *testing.T) {
	parts := []string{
		"[t=00:00:02.378195]", "[f=0000012] ", "[f=-000001] ", "12:00:01 ", "39.267 ", "[12:00:00] ", "[main/ERROR] ", "[ WARN ]", "info: ", "warning: ", "error   |14:10:49: ", "<p class=\"error\">", "</p>",
		"Error: ", "error: ", "ValueError: ", "Error", "FATAL ERROR: ", "LogNet: ", "E0102 15:04:05.000000 12345 file.cc:10] ", "UnityEngine.Debug:LogError", "Initialize engine version: 1",
		"Assert in ", "Assertion failed", "assertion failed", "ASSERTION FAILED", "Assertion `", "assertion `", "assert", "Segmentation fault", "segmentation fault", "Access violation", "default", "Unhandled exception",
		"System.IO.IOException: ", "Exception", "panicked at", "panic: ", "SIGSEGV", "SIGABRT", "Failed to ", "failed to ", "Could not ", "Couldn't ", "Cannot ", "Can't ", "Unable to ", "Missing ",
		"; Factorio ", "UpdateTick (12) ", "updateTick(4294967295)", "turn 12 ", "Beat: 7", "\x1b[31m", "\x1b", "\r", " ", "\t", "load ", "unit 12", "é", "\x00", strings.Repeat("x", 300), strings.Repeat("y", maxLine),
	}
	for _, m := range messages {
		parts = append(parts, m, m[1:], m[:len(m)-1])
	}
	part := rapid.OneOf(rapid.SampledFrom(parts), rapid.SampledFrom(parts[:22]), rapid.StringMatching(`[a-zE:. ]{0,6}`), rapid.Just("\n"))
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for range rapid.IntRange(0, 40).Draw(t, "parts") {
			text.WriteString(part.Draw(t, "part"))
		}
		begin := rapid.SampledFrom([]int64{0, headLines}).Draw(t, "lines before")
		if begin > 0 { // lines that begin as others did
			first := text.String()
			for range 3 {
				first = strings.Map(func(c rune) rune {
					if c >= '0' && c <= '9' {
						return '0' + (c-'0'+3)%10
					}
					return c
				}, first)
				text.WriteString(first)
			}
		}
		opts := Options{Claim: begin + rapid.Int64Range(0, 9).Draw(t, "claim"), Split: Split{Known: rapid.Bool().Draw(t, "known"), Number: 10}}
		var both [2]*Log
		for i := range both {
			r := &reader{opts: opts, all: i == 1, logger: &noLogger, log: &Log{Name: "x", Lines: begin, keys: map[uint64]int64{}, byKey: map[uint64]*Entry{}}}
			if err := r.run(strings.NewReader(text.String())); err != nil {
				t.Fatal(err)
			}
			r.end()
			both[i] = r.log
		}
		if d := cmp.Diff(both[1], both[0], cmp.AllowUnexported(Log{}, Entry{}, Options{}, Split{}), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%q:\n%s", text.String(), d)
		}
		told += len(both[0].Entries)
	})
	if told == 0 {
		t.Fatal("no line was kept")
	}
}

// TestOpenings: a line is only taken for one like others if it begins with the same bytes, whatever its letters are where
// openings are looked up.
func TestOpenings(t *testing.T) {
	for _, c := range []struct{ ordinary, warning string }{
		{"[12:00:01] [main/INFO]: unit 12 moved", "[12:00:01] [main/WARN]: unit 12 moved"},
		{"[12:00:01] [INFO ] unit 12 moved", "[12:00:01] [ERROR] unit 12 moved"},
		{"2023-01-01T00:00:00.000Z  INFO bevy: unit 12 moved", "2023-01-01T00:00:00.000Z  WARN bevy: unit 12 moved"},
		{"info    |14:10:49: unit 12 moved", "warning |14:10:49: unit 12 moved"},
	} {
		for _, changed := range []string{"12", "moved"} { // a number, which leaves the shape as it is, or a word
			log := &Log{Name: "x", Lines: headLines, keys: map[uint64]int64{}, byKey: map[uint64]*Entry{}}
			r := &reader{logger: &noLogger, log: log}
			text := strings.Repeat(c.ordinary+"\n", 3) + strings.Replace(c.warning, changed, strings.Repeat("7", len(changed)), 1) + "\n" + c.ordinary + "\n"
			if err := r.run(strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			if len(log.Entries) != 1 || log.Entries[0].Before.First != headLines+4 {
				t.Errorf("%s: %d entries, expected 1 of line 4", text, len(log.Entries))
			}
		}
	}
}

// TestTelling: whether a line has a telling text is the same for all lines of a shape.
func TestTelling(t *testing.T) {
	for _, s := range tellingTexts() {
		if !textsearch.IsPlain(s) {
			t.Errorf("%q may be a part of a number", s)
		}
	}
}

// TestServes reads logs again with a split that should change nothing.
func TestServes(t *testing.T) {
	var text bytes.Buffer
	for i := range 30 {
		fmt.Fprintf(&text, "[f=%07d] Error: unit %c\n", i, 'a'+i%26)
	}
	read := func(opts Options) *Log {
		log, err := Read(bytes.NewReader(text.Bytes()), "x", opts)
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	served := 0
	rapid.Check(t, func(t *rapid.T) {
		options := rapid.Custom(func(t *rapid.T) Options {
			return Options{Claim: rapid.Int64Range(0, 2).Draw(t, "claim"), Split: Split{Known: rapid.Bool().Draw(t, "known"), Unit: rapid.SampledFrom([]string{"", "frame", "turn"}).Draw(t, "unit"), Number: rapid.Uint64Range(25, 33).Draw(t, "number")}}
		})
		a, b := options.Draw(t, "a"), options.Draw(t, "b")
		log := read(a)
		if !log.Serves(b) {
			return
		}
		served++
		if d := cmp.Diff(read(b), log, cmp.AllowUnexported(Log{}, Entry{}), cmpopts.IgnoreFields(Log{}, "opts")); d != "" {
			t.Fatalf("%+v serves %+v:\n%s", a, b, d)
		}
	})
	if served == 0 {
		t.Fatal("none serves")
	}
}
