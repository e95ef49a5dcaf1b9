package sdk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle takes the types out of a program in TypeScript and puts it into one file that any
// Node runs.
func bundle(t *testing.T, source string) string {
	t.Helper()
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{source}, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors)+len(result.Warnings) > 0 || len(result.OutputFiles) != 1 {
		t.Fatalf("%s: %v %v", source, result.Errors, result.Warnings)
	}
	program := filepath.Join(t.TempDir(), "program.mjs")
	if err := os.WriteFile(program, result.OutputFiles[0].Contents, 0o666); err != nil {
		t.Fatal(err)
	}
	return program
}

// typescript is the example in TypeScript. The test is skipped where there is no Node.
func typescript(t *testing.T) *scripted {
	t.Helper()
	needTool(t, "node")
	return &scripted{
		command: []string{"node", bundle(t, "typescript/skirmish.ts")},
		vectors: []string{"node", bundle(t, "testdata/vectors.ts")},
		dir:     "typescript", game: "skirmish.ts",
		run: func(t *testing.T, dir string) []string {
			return []string{"node", bundle(t, filepath.Join(dir, "skirmish.ts"))}
		},
	}
}

func TestTypeScript(t *testing.T) {
	whole(t)
	typescript(t).plays(t)
}

func TestTypeScriptVectors(t *testing.T) {
	thorough(t)
	typescript(t).writesVectors(t)
}

func TestTypeScriptReads(t *testing.T) {
	thorough(t)
	typescript(t).reads(t)
}

func TestTypeScriptRefusesNonsense(t *testing.T) {
	thorough(t)
	s := typescript(t)
	s.refusesNonsense(t, []string{"node", "--max-old-space-size=96", s.command[1]})
}

func TestTypeScriptMistakes(t *testing.T) {
	thorough(t)
	typescript(t).findsMistakes(t, []mistake{
		{"a save forgets a field", "this.serial = v.getFloat64(8);", "", "WRONG  save and restore", []string{"--rollback", "3"}, "DIVERGED  rollback"},
		{"a load leaves a cache", "this.grid = this.count(); //", "//", "WRONG  load", []string{"--from-each-snapshot"}, "DIVERGED  from-each-snapshot"},
		{"a session leaves something", "        this.serial = 0;\n", "", "WRONG  start again", nil, ""},
		{"random numbers of the machine", "at.health -= u.cooldown / 2", "at.health -= Math.floor(Math.random() * 2) + u.cooldown / 2", "WRONG  same run twice", []string{"--dual"}, "DIVERGED  dual"},
		{"a cache is not updated", "            this.grid[cell(u)]!--;\n", "", "WRONG  caches", []string{"--check-caches"}, "DIVERGED  check-caches"},
		{"a test draws", "{ return this.ordered(order) !== undefined; }", "{ this.rng.draw(2); return this.ordered(order) !== undefined; }", "WRONG  test", []string{"--check-purity"}, "DIVERGED  check-purity"},
		{"a prediction stays", "        this.restore(before);\n", "        before.fill(0);\n", "WRONG  predict", nil, ""},
		{"a load forgets a field", "cooldown: fields[6] as number", "cooldown: 0", "WRONG  load", []string{"--from-each-snapshot"}, "DIVERGED  from-each-snapshot"},
		{"the state lacks a field", "units.map((u) => u.cooldown)", "units.map(() => 0)", "WRONG  recorded hashes", []string{}, "DIVERGED"},
	})
}

// TestTypeScriptCrash: an error of the game ends the replay, with its name, and its stack goes to the log; the game's
// output does not disturb.
func TestTypeScriptCrash(t *testing.T) {
	thorough(t)
	s := typescript(t)
	recorded, _ := playScript(t, s.command, "--ticks", "100")
	source, err := os.ReadFile("typescript/skirmish.ts")
	if err != nil {
		t.Fatal(err)
	}
	for what, how := range map[string]string{
		"RangeError: ran out of arrows":       `if (tick === 37) throw new RangeError("ran out of arrows");`,
		"in tick 37: it exited with status 5": "if (tick === 37) (process as any).exit(5);",
		"IN SYNC":                             `console.log("what a game prints");`,
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("typescript")); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(source), "        if (number === 0) this.obey", "        "+how+"\n        if (number === 0) this.obey", 1)
		if err := os.WriteFile(filepath.Join(dir, "skirmish.ts"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		path, err := desynctool()
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, exit := execute(t, nil, path, "replay", filepath.Join(recorded, "host"), "--sim", sim(s.run(t, dir)))
		wants(t, stdout+stderr, what)
		if what != "IN SYNC" && exit != 2 {
			t.Errorf("%s: exit status %d, expected 2", how, exit)
		}
	}
}
