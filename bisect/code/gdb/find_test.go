package gdb

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

const sdk = "../../../docs/sdk/c"

// sdkObject compiles the SDK once: programs of the test differ only in the game.
var sdkObject = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sdk-")
	if err != nil {
		return "", err
	}
	sdkDir = dir
	file, object := filepath.Join(dir, "sdk.c"), filepath.Join(dir, "sdk.o")
	if err := os.WriteFile(file, []byte("#define DESYNCTOOL_IMPLEMENTATION\n#include \"desynctool.h\"\n"), 0o600); err != nil {
		return "", err
	}
	if out, err := exec.Command("gcc", "-std=c99", "-g", "-I", sdk, "-c", "-o", object, file).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return object, nil
})

var sdkDir string // of the object

func TestMain(m *testing.M) {
	status := m.Run()
	_ = os.RemoveAll(sdkDir)
	os.Exit(status)
}

// edit is a change of the source of the game.
type edit struct{ old, new string }

// built compiles the small game of the SDK with edits, and returns the program, and the line of the last edit.
func built(t *testing.T, compiler string, flags []string, edits ...edit) (program string, line int) {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("it is tried on Linux, on amd64")
	}
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip("there is no gdb")
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip("there is no " + compiler)
	}
	b, err := os.ReadFile(filepath.Join(sdk, "skirmish.c"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, e := range edits {
		before, after, ok := strings.Cut(text, e.old)
		if !ok {
			t.Fatalf("skirmish.c does not have %q", e.old)
		}
		line = 1 + strings.Count(before, "\n") + strings.Count(e.new[:max(0, strings.Index(e.new, "/*HERE*/"))], "\n")
		text = before + e.new + after
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "skirmish.c")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "skirmish")
	include, err := filepath.Abs(sdk)
	if err != nil {
		t.Fatal(err)
	}
	object, err := sdkObject()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-std=c99", "-g", "-DDESYNCTOOL_IMPLEMENTED", "-include", "stdio.h", "-include", "stdlib.h", "-include", "string.h",
		"-I", include, "-o", program, source, object}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program, line
}

// under returns a build for Find.
func under(command ...string) Program {
	name := strings.Join(command, " ")
	return Program{name, func(under func(*exec.Cmd) (func(error), error), request time.Duration) (*bisect.Sim, error) {
		return extsim.New(context.Background(), name, command, extsim.Options{Transport: extsim.Unix, Under: under, Timeout: request})
	}}
}

// played lets a program play a session, and returns the order log of its host.
func played(t *testing.T, program string) *orderlog.Log {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	if out, err := exec.Command(program, "record", dir, "--ticks", "200").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	log, err := orderlog.ReadFile(filepath.Join(dir, "host", "order-log.bin"))
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// departs returns the tick in which two programs depart.
func departs(t *testing.T, log *orderlog.Log, a, b []string) uint64 {
	t.Helper()
	var sims [2]*bisect.Sim
	for i, p := range [][]string{a, b} {
		var err error
		if sims[i], err = extsim.New(context.Background(), p[0], p, extsim.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	trial, err := bisect.Try(log, sims[0], bisect.TrialOptions{Mode: bisect.Against, Against: sims[1]})
	if err != nil {
		t.Fatal(err)
	}
	tick, ok := trial.Tick()
	if !ok {
		t.Fatal("the builds do not depart")
	}
	return tick
}

// TestFind: the line that writes the value which differs is named, with both values and the calls.
func TestFind(t *testing.T) {
	program, _ := built(t, "gcc", nil)
	log := played(t, program)
	tick := departs(t, log, []string{program, "serve"}, []string{program, "serve", "--fault", "100"})
	f, err := Find(log, [2]Program{under(program, "serve"), under(program, "serve", "--fault", "100")}, tick, Options{Watching: 15 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	reported(t, f)
	line := lineOf(t, "u->x = toward(")
	for i, b := range f.Builds {
		if b.First == nil || b.First.At.Function != "move" || b.First.At.Line != line || b.First.Old == b.First.New {
			t.Errorf("build %d writes %+v, expected a write in move in line %d", i, b.First, line)
		}
	}
	if f.System != "Movement" || f.Equal != 0 || f.Builds[0].First.New == f.Builds[1].First.New || len(f.Notes) > 0 {
		t.Errorf("%+v", f)
	}
	if got := f.Builds[0].First.Stack.String(); !strings.HasPrefix(got, fmt.Sprintf("move (skirmish.c:%d) ← next (", line)) {
		t.Errorf("stack %s", got)
	}
}

// reported skips a test on a machine whose processor takes watchpoints and reports no change: gdb steps there.
func reported(t *testing.T, f *Finding) {
	t.Helper()
	if len(f.Notes) > 0 && strings.Contains(f.Notes[0], "gdb steps it") {
		if !strings.Contains(strings.Join(f.Notes, "\n"), "only the first ") && f.Builds[0].First == nil && f.Builds[1].First == nil {
			t.Errorf("gdb stepped both builds to the end of the tick, and saw no write: %+v", f)
		}
		t.Skip("the processor reports no change of watched memory")
	}
}

// TestDebug: a person gets a debugger that stops at the write which differs.
func TestDebug(t *testing.T) {
	effort.Whole(t)
	program, _ := built(t, "gcc", nil)
	log := played(t, program)
	tick := departs(t, log, []string{program, "serve"}, []string{program, "serve", "--fault", "100"})
	at := fmt.Sprintf("in tick %d, before Movement plays", tick)
	for _, c := range []struct {
		debugger Debugger
		commands string
		want     []string
	}{
		{GDB, "continue\nbacktrace 1\nkill\nquit\n", []string{at, "Position.x\n", "atchpoint 1: *(", "New value = ", " move (g="}},
		{LLDB, "watchpoint list\nthread backtrace\nprocess kill\nquit\n", []string{at, "Position.x\n", "Watchpoint 1: addr = 0x", "type = w", "stop reason = signal SIGINT", "skirmish`"}},
	} {
		t.Run(string(c.debugger), func(t *testing.T) {
			if _, err := exec.LookPath(string(c.debugger)); err != nil {
				t.Skip("there is no " + c.debugger)
			}
			dir := t.TempDir()
			typed, printed := filepath.Join(dir, "in"), filepath.Join(dir, "out")
			if err := os.WriteFile(typed, []byte(c.commands), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := os.Open(typed)
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := os.Create(printed)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := Debug(log, [2]Program{under(program, "serve"), under(program, "serve", "--fault", "100")}, tick, c.debugger, Options{}, Terminal{In: in, Out: out, Err: out}); err != nil {
				t.Error(err)
			}
			b, err := os.ReadFile(printed)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(string(b), want) {
					t.Errorf("%q is not in\n%s", want, b)
				}
			}
		})
	}
}

// TestMistakes: of many mistakes, compilers and flags the line is found, or nothing is said.
func TestMistakes(t *testing.T) {
	effort.Whole(t)
	fire := "at->health -= (int32_t)(u->cooldown / 2 + draw(&g->s.rng, u->cooldown));"
	float := edit{fire, "volatile float a = 1.1f * (float)(u->id % 1000), b = 1.3f + (float)(at->id % 1000), c = a * b;\n        at->health -= (int32_t)((a * b - c) * 1e5f) + 3; /*HERE*/"}
	for name, m := range map[string]struct {
		common   []edit // of both builds
		mistake  []edit
		function string
		sound    []string // flags
		wrong    []string
	}{
		"constant":      {mistake: []edit{{fire, strings.Replace(fire, "/ 2", "/ 3 /*HERE*/", 1)}}, function: "fire"},
		"cooldown":      {mistake: []edit{{"? 10 : 30;", "? 11 /*HERE*/ : 30;"}}, function: "fire"},
		"off by one":    {mistake: []edit{{"if (u->alive && u->cooldown) u->cooldown--;", "if (u->alive && u->cooldown > 1) u->cooldown--;"}}, function: "fire"},
		"one draw more": {mistake: []edit{{"at->alive = 0, g->s.kills[u->owner]++;", "at->alive = 0, g->s.kills[u->owner]++;\n        g->s.rng = g->s.rng * 3 + 1; /*HERE*/"}}, function: "fire"},
		"kills":         {mistake: []edit{{"g->s.kills[u->owner]++;", "g->s.kills[0]++;"}}, function: "fire"},
		"spawned":       {mistake: []edit{{"u->health = type == TANK ? 120 : 40;", "u->health = type == TANK ? 120 : s->serial > 40 ? 41 : 40; /*HERE*/"}}, function: "spawn"},
		"fma": {common: []edit{float}, function: "fire",
			sound: []string{"-ffp-contract=off"}, wrong: []string{"-mfma", "-ffp-contract=fast"}},
		"uninitialized": {mistake: []edit{{fire, "int junk[4];\n        if (u->id == 1) junk[1] = 0;\n        at->health -= (int32_t)(u->cooldown / 2 + draw(&g->s.rng, u->cooldown)) + (junk[1] & 1 ? 1 : 2); /*HERE*/"}}, function: "fire"},
	} {
		for c, compiler := range []string{"gcc", "clang"} {
			for k, flags := range [][2]string{{"-O0", "-O0"}, {"-O2", "-O2"}, {"-O0", "-O2"}} {
				if name == "fma" && flags[1] == "-O0" || !effort.Turn(3*c+k+len(name), 6) {
					continue // without -O the compiler does not contract
				}
				t.Run(fmt.Sprint(name, compiler, flags), func(t *testing.T) {
					sound, at := built(t, compiler, append([]string{flags[0]}, m.sound...), m.common...)
					wrong, line := built(t, compiler, append([]string{flags[1]}, m.wrong...), append(m.common, m.mistake...)...)
					if m.mistake == nil {
						line = at
					}
					log := played(t, sound)
					tick := departs(t, log, []string{sound, "serve"}, []string{wrong, "serve"})
					f, err := Find(log, [2]Program{under(sound, "serve"), under(wrong, "serve")}, tick, Options{})
					if err != nil {
						t.Fatal(err)
					}
					reported(t, f)
					w := f.Builds[1].First
					if w == nil {
						w = f.Builds[0].First
					}
					for _, b := range f.Builds {
						if b.First != nil {
							t.Logf("%s: %s = %s to %s, %s", b.Name, f.Fields[b.First.Field], b.First.Old, b.First.New, b.First.Stack)
						}
					}
					if w == nil || w.At.Function != m.function || w.At.Line != line {
						t.Errorf("the write is %+v, expected one in %s in line %d", w, m.function, line)
					}
				})
			}
		}
	}
}

func ExampleField() {
	fmt.Println(Field{Archetype: "Infantry", Key: snapshot.Key{A: 7}, Column: "Health.points"})
	fmt.Println(Field{})
	// Output:
	// Infantry 7 Health.points
	// RNG
}

// lineOf returns the line of the game that has a text.
func lineOf(t *testing.T, text string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sdk, "skirmish.c"))
	if err != nil {
		t.Fatal(err)
	}
	before, _, ok := strings.Cut(string(b), text)
	if !ok {
		t.Fatalf("skirmish.c does not have %q", text)
	}
	return 1 + strings.Count(before, "\n")
}
