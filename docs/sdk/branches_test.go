package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestBranches: a build of the game in C that records its branches leads to the line of its mistake, which hides in a
// cache for some ticks before any state differs.
func TestBranches(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the recorder needs an ELF system")
	}
	needTool(t, "gcc")
	dir := t.TempDir()
	recorder := filepath.Join(dir, "recorder.c")
	if err := os.WriteFile(recorder, []byte("#define DESYNCTOOL_BRANCHES_IMPLEMENTATION\n#include \"desynctool_branches.h\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	game := filepath.Join(dir, "game")
	for _, args := range [][]string{
		{"-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2", "-I", "c", "-c", recorder, "-o", game + "-recorder.o"},
		{"-std=c99", "-g", "-O1", "-DSKIRMISH_BRANCHES", "-fsanitize-coverage=trace-pc", "-c", "c/skirmish.c", "-o", game + ".o"},
		{game + ".o", game + "-recorder.o", "-o", game, "-lpthread"},
	} {
		if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %q: %v\n%s", args, err, out)
		}
	}
	session, _ := play(t, game, "--fault", faultTick)
	sound, own := "exec:"+game+" serve", "exec:"+game+" serve --fault "+faultTick
	run(t, 0, "sim", "check", "--log", filepath.Join(session, "host", "order-log.bin"), "--", game, "serve")
	text := run(t, 1, "replay", filepath.Join(session, "host"), "--sim", sound, "--against", own, "--branches", "--source", "c")
	for _, want := range []string{"the builds go different ways in fire (skirmish.c:", "if (g->tick < g->fault) g->s.grid[cell(at)]--;", "until then, what differs is in no state"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}

	// A triage does the same; every format names the line.
	triage := []string{"triage", session, "--sim", sound, "--own", own, "--branches", "--source", "c"}
	for format, want := range map[string]string{
		"text":     "equal branches, the builds go different ways in fire",
		"json":     `"file": "skirmish.c"`,
		"html":     "if (g-&gt;tick &lt; g-&gt;fault) g-&gt;s.grid[cell(at)]--;",
		"comment":  "the builds go different ways in fire (skirmish.c:",
		"markdown": "### Line of code",
		"sarif":    `"uri": "skirmish.c"`,
		"junit":    "the builds go different ways in fire (skirmish.c:",
	} {
		if text := run(t, 1, append(triage, "--format", format)...); !strings.Contains(text, want) {
			t.Errorf("triage --format %s: expected %q in\n%s", format, want, text)
		}
	}
	if text := run(t, 1, append(triage, "--format", "json")...); !strings.Contains(text, `"level": "code"`) {
		t.Errorf("no fingerprint by the line:\n%s", text)
	}
	if text := run(t, 1, "triage", session, "--sim", sound, "--own", sound, "--branches"); !strings.Contains(text, "comes to the same states as") {
		t.Errorf("the sound build as the peer's own:\n%s", text)
	}

	effort.Whole(t)
	needTool(t, "gdb")
	text = run(t, 1, "replay", filepath.Join(session, "host"), "--sim", sound, "--against", own, "--writes", "--source", "c")
	if strings.Contains(text, "gdb steps it") {
		t.Skip("the processor reports no change of watched memory")
	}
	for _, want := range []string{"after 0 equal writes, the builds write different values in move (skirmish.c:", "Position.x from ", "u->x = toward(u->x, u->goal_x, pace)"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
	text = run(t, 1, "replay", filepath.Join(session, "host"), "--sim", sound, "--against", own, "--branches", "--source", "no-such-folder")
	for _, want := range []string{"the builds go different ways in fire (skirmish.c:", "the folder of sources: "} {
		if !strings.Contains(text, want) {
			t.Errorf("without sources: expected %q in\n%s", want, text)
		}
	}
}

// TestBranchesRust: the same of the game in Rust.
func TestBranchesRust(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the recorder needs an ELF system")
	}
	effort.Whole(t)
	needTool(t, "rustc")
	dir := t.TempDir()
	recorder, game := filepath.Join(dir, "recorder.c"), filepath.Join(dir, "game")
	if err := os.WriteFile(recorder, []byte("#define DESYNCTOOL_BRANCHES_IMPLEMENTATION\n#include \"desynctool_branches.h\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"gcc", "-std=c99", "-O2", "-I", "c", "-c", recorder, "-o", game + ".o"},
		{
			"rustc", "--edition", "2021", "-D", "warnings", "-g", "-C", "opt-level=1", "--cfg", "desynctool_branches", "-C", "passes=sancov-module",
			"-C", "llvm-args=-sanitizer-coverage-level=3", "-C", "llvm-args=-sanitizer-coverage-trace-pc-guard", "-C", "link-arg=" + game + ".o", "-o", game, "rust/skirmish.rs",
		},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	session, _ := play(t, game, "--fault", faultTick)
	sound, own := "exec:"+game+" serve", "exec:"+game+" serve --fault "+faultTick
	text := run(t, 1, "replay", filepath.Join(session, "host"), "--sim", sound, "--against", own, "--branches", "--source", "rust")
	for _, want := range []string{"the builds go different ways in fire (skirmish.rs:", "if self.tick < self.fault {"} {
		if !strings.Contains(text, want) {
			t.Errorf("expected %q in\n%s", want, text)
		}
	}
}
