package describe_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/report/describe"
	"github.com/desynctool/desynctool/report/survey"
)

// folder writes files into a folder.
func folder(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// lines returns the lines of a page that are not comments, in one line.
func lines(page string) string {
	var out []string
	for line := range strings.Lines(page) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "  #")
		if line != "" && line[0] != '#' && !strings.HasPrefix(line, "game =") {
			out = append(out, line)
		}
	}
	return strings.Join(out, " ")
}

func TestPage(t *testing.T) {
	state := func(tick int, rest string) string {
		return fmt.Sprintf(`{"tick": %d, "units": [{"id": 1, "hp": 3}, {"id": 2, "hp": 7}]%s}`, tick, rest)
	}
	const sums = "Frame 1 checksum: 577090037\nFrame 2 checksum: 2918273645\nFrame 3 checksum: 1029384756\n"
	many := map[string]string{"s1.json": state(1, ""), "s2.json": state(2, "")}
	for i := range 120 {
		many["n"+strings.Repeat("x", i)+".txt"] = "hello\n"
	}
	for _, c := range []struct {
		name  string
		texts map[string]string
		want  string
	}{
		{"names show peers and ticks", map[string]string{"host-1.json": state(1, ""), "host-2.json": state(2, ""), "guest-1.json": state(1, ""), "guest-2.json": state(2, "")},
			`[files] states = ["*-*.json"] [names] pattern = '^(?P<peer>[A-Za-z]+)-(?P<tick>[0-9]+)\.json$' [state] [[table]] path = "units" key = "id"`},
		{"a log that is none", map[string]string{"a/net.log": sums, "b/net.log": sums, "b/old.log": "hello\n", "a/net7.log": "hello\n"},
			`[files] logs = ["net.log"] other = ["net7.log", "old.log"]`},
		{"many files that are none", many,
			`[files] states = ["s*.json"] other = ["*.txt"] [names] pattern = '^s(?P<tick>[0-9]+)\.json$' [state] [[table]] path = "units" key = "id"`},
		{"signs of globs in names", map[string]string{"s[x]'1.json": state(1, ""), "s[x]'2.json": state(2, "")},
			`[files] states = ["s\\[x]'*.json"] [names] pattern = "^s\\[x\\]'(?P<tick>[0-9]+)\\.json$" [state] [[table]] path = "units" key = "id"`},
		{"ticks and peers in the states, and random numbers", map[string]string{"all.json": `[{"turn": 1, "peer": "a", "game": {"rng": [1, 2], "u": [{"id": 1}]}}, {"turn": 2, "peer": "a", "game": {"rng": [3, 4], "u": [{"id": 1}]}}, {"turn": 1, "peer": "b", "game": {"rng": [1, 2], "u": [{"id": 1}]}}]`},
			`[files] states = ["all.json"] [state] tick = "turn" peer = "peer" rng = ["game.rng"] [[table]] path = "game.u" key = "id"`},
		{"noise", map[string]string{"a/s1.json": state(1, `, "clock": 5`), "b/s1.json": state(1, `, "clock": 6`), "a/s2.json": state(2, `, "clock": 7, "n": 1`), "b/s2.json": state(2, `, "clock": 8, "n": 2`)},
			`[files] states = ["s*.json"] [names] pattern = '^s(?P<tick>[0-9]+)\.json$' [state] noise = [ "clock", ] [[table]] path = "units" key = "id"`},
		{"nothing but noise differs", map[string]string{"a/s1.json": state(1, `, "clock": 5`), "b/s1.json": state(1, `, "clock": 6`), "a/s2.json": state(2, `, "clock": 7`), "b/s2.json": state(2, `, "clock": 8`)},
			`[files] states = ["s*.json"] [names] pattern = '^s(?P<tick>[0-9]+)\.json$' [state] noise = [ "clock", ] [[table]] path = "units" key = "id"`},
		{"kinds in one list", map[string]string{"a/s.csv": "tick,kind,id,hp\n1,unit,1,2\n1,town,1,5\n2,unit,1,2\n2,town,1,5\n"},
			`[files] states = ["s.csv"] [state] tick = "tick"`},
		{"logs and inputs", map[string]string{"a/net.log": sums, "a/in.csv": "tick,player,cmd\n1,0,go\n2,1,stop\n3,0,go\n", "a/x.txt": "hello\n"},
			`[files] logs = ["net.log"] inputs = ["in.csv"] other = ["x.txt"]`},
	} {
		guess, err := describe.New(survey.Under(files.Disk, []string{folder(t, c.texts)}, nil))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := lines(guess.Page); got != c.want {
			t.Errorf("%s:\n%s\nexpected\n%s\n\n%s", c.name, got, c.want, guess.Page)
		}
		for name := range c.texts { // each file belongs to its kind, and to no other one
			d, err := description.Parse([]byte(guess.Page), "page")
			if err != nil {
				t.Fatal(err)
			}
			fits := 0
			for kind := description.State; kind <= description.Other; kind++ {
				if slices.ContainsFunc(d.Globs(kind), func(glob string) bool { return description.Fits(glob, name) }) {
					fits++
				}
			}
			if fits != 1 {
				t.Errorf("%s: globs of %d kinds fit %s\n%s", c.name, fits, name, guess.Page)
			}
		}
	}
}

// TestLines reads logs by the patterns that their page has as comments: the ticks and checksums are those that are written.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		form string
		want string // of tick 3
	}{
		{"Frame %d checksum: %d", "3 =577090040"},
		{"[12:00:01] [sync] tick=%d hash=0x%08x players=4", "3 =0x2265b1f8"},
		{"it's turn %d, sync hash  %x now", "3 =2265b1f8"},
		{"step %d: physics %08x ai %08x rng %08x", "3 physics=2265b1f8 ai=dd9a4e07 rng=673115e8"},
	} {
		var text strings.Builder
		for tick := 1; tick < 40; tick++ {
			sum := uint32(tick) * 2654435761
			if tick == 3 {
				sum = 577090040
			}
			values := []any{tick, sum, ^sum, sum * 3}
			fmt.Fprintf(&text, c.form+"\nunit 7 moved\n", values[:strings.Count(c.form, "%")]...)
		}
		guess, err := describe.New(survey.Under(files.Disk, []string{folder(t, map[string]string{"a/net.log": text.String(), "b/net.log": text.String()})}, nil))
		if err != nil {
			t.Fatalf("%s: %v", c.form, err)
		}
		page := strings.NewReplacer("#[[line]]", "[[line]]", "#pattern", "pattern").Replace(guess.Page)
		d, err := description.Parse([]byte(page), "page")
		if err != nil {
			t.Errorf("%s: %v\n%s", c.form, err, page)
			continue
		}
		read, got := 0, ""
		var to description.Checkpoint
		for line := range strings.Lines(text.String()) {
			if ok, misfit := d.Checkpoint([]byte(strings.TrimSpace(line)), &to); misfit != "" {
				t.Errorf("%s: %s", line, misfit)
			} else if ok {
				if read++; to.Tick == 3 {
					got = fmt.Sprint(to.Tick)
					for _, s := range to.Sums {
						got += fmt.Sprintf(" %s=%s", s.Name, s.Value)
					}
				}
			}
		}
		if read != 39 || got != c.want {
			t.Errorf("%s: %d lines are read, of tick 3 %s, expected %s\n%s", c.form, read, got, c.want, page)
		}
	}
}

func TestNothing(t *testing.T) {
	if _, err := describe.New(survey.Under(files.Disk, []string{folder(t, map[string]string{"a.txt": "hello\n"})}, nil)); !errors.Is(err, frame.ErrLacking) {
		t.Error(err)
	}
	if _, err := describe.New(survey.Under(files.Disk, []string{folder(t, map[string]string{"order-log.bin": "\x89DOL\r\n\x1a\nx"})}, nil)); err == nil || !strings.Contains(err.Error(), "has a known format") {
		t.Error(err)
	}
}
