package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// python is the example in Python. The test is skipped where there is no interpreter.
func python(t *testing.T) *scripted {
	t.Helper()
	needTool(t, "python3")
	path := func(elements ...string) string {
		p, err := filepath.Abs(filepath.Join(elements...))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	return &scripted{
		command: []string{"python3", path("python", "skirmish.py")},
		vectors: []string{"python3", path("testdata", "vectors.py")},
		dir:     "python", game: "skirmish.py",
		run: func(t *testing.T, dir string) []string { return []string{"python3", filepath.Join(dir, "skirmish.py")} },
	}
}

func TestPython(t *testing.T) {
	whole(t)
	python(t).plays(t)
}

func TestPythonVectors(t *testing.T) {
	thorough(t)
	python(t).writesVectors(t)
}

func TestPythonReads(t *testing.T) {
	thorough(t)
	python(t).reads(t)
}

func TestPythonRefusesNonsense(t *testing.T) {
	thorough(t)
	s := python(t)
	bounded := s.command
	if runtime.GOOS == "linux" {
		bounded = append([]string{"sh", "-c", `ulimit -v 400000; exec "$0" "$@"`}, s.command...)
	}
	s.refusesNonsense(t, bounded)
}

func TestPythonMistakes(t *testing.T) {
	thorough(t)
	python(t).findsMistakes(t, []mistake{
		{"a save forgets a field", "rng, self.serial, *rest = struct.unpack_from", "rng, _, *rest = struct.unpack_from", "WRONG  save and restore", []string{"--rollback", "3"}, "DIVERGED  rollback"},
		{"a load leaves a cache", "        self.grid = self.count()  #", "        #", "WRONG  load", []string{"--from-each-snapshot"}, "DIVERGED  from-each-snapshot"},
		{"hashes of strings differ", "owner, health=120", "owner, health=hash('tank') % 99 + 1", "WRONG  ", []string{"--dual"}, "DIVERGED"},
		{"a session leaves something", "Random(session.seed), 0, [0, 0]", "Random(session.seed), self.serial, [0, 0]", "WRONG  start again", nil, ""},
		{"a cache is not updated", "            self.count_in(u, -1)\n", "", "WRONG  caches", []string{"--check-caches"}, "DIVERGED  check-caches"},
		{"a test draws", "return self.ordered(order) is not None", "return self.rng.draw(2) + 1 and self.ordered(order) is not None", "WRONG  test", []string{"--check-purity"}, "DIVERGED  check-purity"},
		{"a clock", "self.rng.draw(u.cooldown)\n", "self.rng.draw(u.cooldown) + __import__('time').perf_counter_ns() // 100 % 2\n", "WRONG  same run twice", []string{"--dual"}, "DIVERGED  dual"},
		{"a prediction stays", "        self.step(tick, orders)\n        self.restore(before)\n", "        self.step(tick, orders)\n", "WRONG  predict", nil, ""},
		{"a load forgets a field", "health, cooldown, owner, True, target", "health, 0, owner, True, target", "WRONG  load", []string{"--from-each-snapshot"}, "DIVERGED  from-each-snapshot"},
		{"the state lacks a field", "[u.cooldown for u in units]", "[0 for u in units]", "WRONG  recorded hashes", []string{}, "DIVERGED"},
	})
}

// TestPythonHunt: orders that are made up as the game tells them show its fault, and a game without it has none.
func TestPythonHunt(t *testing.T) {
	thorough(t)
	s := python(t)
	out := run(t, 0, "hunt", "--sim", sim(s.command), "--seed", "3", "--ticks", "32")
	wants(t, out, "IN SYNC", "of 3 kinds", "checksum 1, dual 1, serialize 1, rollback 1, predict 1, check-purity 1, check-caches 1")
	out = run(t, 1, "hunt", "--sim", sim(s.command, "--fault", "10"), "--modes", "check-caches", "--ticks", "160", "--seed", "2", "--max-replays", "4")
	wants(t, out, "check-caches, stale cache Grid", "3 archetypes with rows, of 3")
}

// TestPythonCrash: an exception of the game ends the replay, with its name, and its traceback
// goes to the log.
func TestPythonCrash(t *testing.T) {
	thorough(t)
	s := python(t)
	recorded, _ := playScript(t, s.command, "--ticks", "100")
	source, err := os.ReadFile("python/skirmish.py")
	if err != nil {
		t.Fatal(err)
	}
	for what, how := range map[string]string{
		"ZeroDivisionError: ":                 "1 // (tick - 37)",
		"in tick 37: it exited with status 5": "tick == 37 and os._exit(5)",
		"IN SYNC":                             "print('what a game prints')",
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("python")); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(source), "        if number == 0:\n", "        "+how+"\n        if number == 0:\n", 1)
		if err := os.WriteFile(filepath.Join(dir, "skirmish.py"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		path, err := desynctool()
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, exit := execute(t, nil, path, "replay", filepath.Join(recorded, "host"), "--sim", sim(s.run(t, dir)))
		wants(t, stdout+stderr, what)
		if want := 2; what != "IN SYNC" && exit != want {
			t.Errorf("%s: exit status %d, expected %d", how, exit, want)
		}
	}
}

func peerPython(t *testing.T) []string {
	needTool(t, "python3")
	return []string{"python3", "-B", filepath.Join("testdata", "peer.py")} // without files next to the sources
}

// TestPythonCells: the sum of many cells at once is the one of each, at the edges of the blocks and with absent values.
func TestPythonCells(t *testing.T) {
	needTool(t, "python3")
	const script = `
import desynctool_flight as f
from desynctool import Type
for n in (0, 1, 15, 16, 17, 512, 1023, 1024, 1025, 2050):
    keys = list(range(n))
    t = f._Tab("Unit", 1, None, 0)
    for type, of in ((Type.U64, lambda i: (i + 1) * 0x9E3779B97F4A7C15 & f._U64), (Type.U64, lambda i: f._U64), (Type.U8, lambda i: 0),
                     (Type.I32, lambda i: None if i % 3 == 0 else i), (Type.STRING, lambda i: b"x" * (i % 20))):
        c = f._Col("A", "b", type, 0, None)
        values = [of(i) for i in keys]
        want = sum(c.cell(t.row(key), v) for key, v in zip(keys, values))
        assert (c.cells(t, keys, values) - want) & f._U64 == 0, (n, type)
    assert f._cells([f._U64] * n, [f._U64] * n) == n * f._cells([f._U64], [f._U64]), n
    t.rows.clear()
    assert (c.cells(t, keys, values) - want) & f._U64 == 0, n
`
	cmd := exec.CommandContext(t.Context(), "python3", "-B", "-c", script)
	cmd.Dir = "python"
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestPythonFlight: the recorder computes the example of docs/exchange.md.
func TestPythonFlight(t *testing.T) {
	thorough(t)
	page, err := os.ReadFile("../exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	command := peerPython(t)
	for _, seed := range []string{"1", "2"} { // and rebuilds the states that it keeps
		if out, stderr, exit := execute(t, nil, command[0], append(command[1:], "ring", seed)...); exit != 0 {
			t.Errorf("exit status %d\n%s%s", exit, out, stderr)
		}
	}
	out, stderr, exit := execute(t, nil, command[0], append(command[1:], "example")...)
	if exit != 0 || out == "" {
		t.Fatalf("exit status %d\n%s", exit, stderr)
	}
	for _, line := range strings.Split(out, "\n") {
		if !strings.Contains(string(page), line+"\n") {
			t.Errorf("the page does not contain %s", line)
		}
	}
}
