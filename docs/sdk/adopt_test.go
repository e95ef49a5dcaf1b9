package sdk_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/check"
)

// adoptPage is docs/adopt.md.
func adoptPage(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "adopt.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAdoptCode: each block of code in docs/adopt.md is a part of the program that it names, apart from the indentation.
func TestAdoptCode(t *testing.T) {
	blocks := regexp.MustCompile("(?s)\n```(c|csharp|rust) (\\S+)\n(.*?)\n```\n").FindAllStringSubmatch(adoptPage(t), -1)
	if len(blocks) < 10 {
		t.Fatalf("only %d blocks of code", len(blocks))
	}
	for _, m := range blocks {
		b, err := os.ReadFile(filepath.Join(m[1], "carts", m[2]))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc([]int{0, 4, 8, 12, 16}, func(columns int) bool {
			return strings.Contains(string(b), indented(m[3], columns)+"\n")
		}) {
			t.Errorf("%s does not contain\n%s", m[2], m[3])
		}
	}
}

// indented returns lines with some spaces before each.
func indented(lines string, columns int) string {
	space := strings.Repeat(" ", columns)
	return space + strings.ReplaceAll(lines, "\n", "\n"+space)
}

// steps returns the state of each step of a triage, and its text.
func steps(t *testing.T, args ...string) map[string]string {
	t.Helper()
	var doc struct {
		Ladder []struct{ Step, State, Found string }
	}
	if err := json.Unmarshal([]byte(run(t, 1, append([]string{"triage", "--format", "json"}, args...)...)), &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range doc.Ladder {
		out[s.Step] = s.State + " " + s.Found
	}
	return out
}

// levels plays the levels of docs/adopt.md, and compares the answers of triage with the page.
func levels(t *testing.T, dir string, program func(level string) []string) {
	t.Helper()
	play := func(level string) string {
		s := filepath.Join(dir, "s"+level)
		for _, peer := range []string{"host", "client"} {
			if err := os.MkdirAll(filepath.Join(s, peer), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		command := append(program(level), s)
		if _, stderr, exit := execute(t, nil, command[0], command[1:]...); exit != 0 {
			t.Fatalf("level %s: exit status %d: %s", level, exit, stderr)
		}
		wants(t, run(t, 0, "check", s), "CONFORMS")
		return s
	}
	expect := func(level string, got, want map[string]string) { begins(t, level, got, want) }
	tick := map[string]string{"inputs": "equal", "tick": "found 60"}
	levelZero(t, dir, program("0"))
	one, two, three := play("1"), play("2"), play("3")
	expect("1", steps(t, one), map[string]string{"inputs": "equal", "bracket": "found", "tick": "found 60", "system": "open", "field": "open"})
	expect("2", steps(t, two), map[string]string{"inputs": tick["inputs"], "tick": tick["tick"], "system": "open", "archetype": "found RNG", "field": "found RNG.state"})
	expect("3", steps(t, three), map[string]string{"inputs": tick["inputs"], "tick": tick["tick"], "system": "found Wind", "archetype": "found RNG"})

	four := program("4")
	sim := "exec:" + strings.Join(four, " ")
	wants(t, run(t, 1, "triage", three, "--sim", sim), "Wrong: client, which departs from a replay of the orders.")
	wants(t, run(t, 0, append([]string{"sim", "check", "--log", filepath.Join(three, "host"), "--"}, four...)...), "CONFORMS", "ok     recorded hashes")
}

func begins(t *testing.T, level string, got, want map[string]string) {
	t.Helper()
	for step, begin := range want {
		if !strings.HasPrefix(got[step], begin) {
			t.Errorf("level %s: %s is %q, expected %q", level, step, got[step], begin)
		}
	}
}

// levelZero plays the game with a flight recorder: the page has its text, and triage finds the same in what it leaves.
func levelZero(t *testing.T, dir string, program []string) {
	t.Helper()
	s := filepath.Join(dir, "s0")
	out, stderr, exit := execute(t, nil, program[0], append(program[1:], s)...)
	if exit != 0 || !strings.Contains(adoptPage(t), "```\n"+out+"```\n") {
		t.Errorf("level 0: exit status %d, %s: docs/adopt.md has not\n%s", exit, stderr, out)
	}
	begins(t, "0", steps(t, s), map[string]string{"tick": "found 60", "system": "found Wind", "archetype": "found RNG", "field": "found RNG.state"})
}

// TestAdoptRust builds and runs the flight recorder in Rust of docs/adopt.md.
func TestAdoptRust(t *testing.T) {
	thorough(t)
	levelZero(t, t.TempDir(), []string{compileRust(t, "rust/carts/level0.rs")})
}

// TestAdoptC builds and runs the C programs of docs/adopt.md.
func TestAdoptC(t *testing.T) {
	effort.Whole(t)
	needTool(t, "cc")
	dir := t.TempDir()
	levels(t, dir, func(level string) []string {
		path := filepath.Join(dir, "level"+level)
		out, err := exec.Command("cc", "-std=c99", effort.Of("-O0", "-O2"), "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-variable", "-Werror", "-I", "c", "-o", path, filepath.Join("c", "carts", "level"+level+".c")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return []string{path}
	})
}

// TestAdoptCSharp builds and runs the C# programs of docs/adopt.md.
func TestAdoptCSharp(t *testing.T) {
	whole(t)
	needTool(t, "mcs")
	needTool(t, "mono")
	dir, code := t.TempDir(), filepath.Join("csharp", "carts")
	levels(t, dir, func(level string) []string {
		path := filepath.Join(dir, "Level"+level)
		args := []string{"-out:" + path + ".exe", filepath.Join(code, "Level"+level+".cs"), filepath.Join(code, "Game.cs"), filepath.Join(code, "State.cs"), filepath.Join("csharp", "Desynctool.cs")}
		if level == "0" {
			args = append(args, filepath.Join("csharp", "DesynctoolFlight.cs"))
		}
		if out, err := exec.Command("mcs", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return []string{"mono", path + ".exe"}
	})
}

// TestAdoptRules: the rules that docs/adopt.md names are checked.
func TestAdoptRules(t *testing.T) {
	checked := map[string]bool{}
	for _, r := range check.Rules() {
		checked[r.ID] = r.Unchecked == ""
	}
	_, section, _ := strings.Cut(adoptPage(t), "\n## Check your writer\n")
	found := 0
	for _, m := range regexp.MustCompile("`((?:frame|order|hash|snap|trace|text|report|folder|record)-[a-z0-9-]+)`").FindAllStringSubmatch(section, -1) {
		if found++; !checked[m[1]] {
			t.Errorf("there is no rule %s that is checked", m[1])
		}
	}
	if found < 20 {
		t.Errorf("only %d rules are named", found)
	}
}

// TestAdoptSame: the C and the C# of docs/adopt.md write the same hashes.
func TestAdoptSame(t *testing.T) {
	thorough(t)
	needTool(t, "cc")
	needTool(t, "mcs")
	needTool(t, "mono")
	dir, other, code := t.TempDir(), t.TempDir(), filepath.Join("csharp", "carts")
	for _, build := range [][]string{
		{"cc", "-std=c99", "-O2", "-I", "c", "-o", filepath.Join(dir, "level2"), filepath.Join("c", "carts", "level2.c")},
		{"mcs", "-out:" + filepath.Join(other, "Level2.exe"), filepath.Join(code, "Level2.cs"), filepath.Join(code, "Game.cs"), filepath.Join(code, "State.cs"), filepath.Join("csharp", "Desynctool.cs")},
	} {
		if out, err := exec.Command(build[0], build[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, play := range [][]string{{filepath.Join(dir, "level2"), filepath.Join(dir, "s")}, {"mono", filepath.Join(other, "Level2.exe"), filepath.Join(other, "s")}} {
		if _, stderr, exit := execute(t, nil, play[0], play[1:]...); exit != 0 {
			t.Fatal(stderr)
		}
	}
	for _, peer := range []string{"host", "client"} {
		name := filepath.Join("s", peer, "order-log.bin")
		a, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(other, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is not the same", name)
		}
	}
}
