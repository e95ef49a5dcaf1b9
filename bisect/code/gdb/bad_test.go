package gdb

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

// fake puts a program called gdb first in the PATH.
func fake(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gdb"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

var someLog = &orderlog.Log{Name: "log", Header: orderlog.Header{Seed: 1}, Ticks: someTicks, Epochs: []orderlog.Epoch{{Ticks: someTicks}}}

var someTicks = []orderlog.Tick{{Number: 0}, {Number: 1}}

// TestNoGDB: without a gdb that can do it there is one line that helps.
func TestNoGDB(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	sh := under("/bin/sh", "-c", "exit 3")
	for _, c := range []struct{ name, script, want string }{
		{"too old", "echo \"Interpreter \\`mi3' unrecognized\" >&2; exit 1\n", "9.1 or later is needed"},
		{"not a gdb", "echo hello; exit 0\n", "9.1 or later is needed"},
		{"not allowed", "while read -r line; do n=${line%%-*}; case $line in *exec-run*) echo \"$n^error,msg=\\\"During startup program exited with code 127.\\\"\";; *gdb-exit*) exit 0;; *) echo \"$n^done\";; esac; done\n", "kernel.yama.ptrace_scope"},
		{"a script", "while read -r line; do n=${line%%-*}; case $line in *exec-run*) echo \"$n^error,msg=\\\"No executable file specified.\\\"\";; *gdb-exit*) exit 0;; *) echo \"$n^done\";; esac; done\n", "is not a program that gdb can start"},
	} {
		t.Run(c.name, func(t *testing.T) {
			fake(t, c.script)
			_, err := Find(someLog, [2]Program{sh, sh}, 1, Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, expected one line with %q", err, c.want)
			}
		})
	}
	t.Setenv("PATH", "")
	if _, err := Find(someLog, [2]Program{sh, sh}, 1, Options{}); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
}

// TestBadTargets: a program that does not do what a watch needs has one line.
func TestBadTargets(t *testing.T) {
	effort.Whole(t)
	sound, _ := built(t, "gcc", nil)
	log := played(t, sound)
	tick := departs(t, log, []string{sound, "serve"}, []string{sound, "serve", "--fault", "100"})
	good, faulty := under(sound, "serve"), under(sound, "serve", "--fault", "100")
	find := func(t *testing.T, a, b Program, tick uint64, want string) {
		t.Helper()
		f, err := Find(log, [2]Program{a, b}, tick, Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v, %v, expected one line with %q", f, err, want)
		}
	}
	changed := func(edits ...edit) Program {
		program, _ := built(t, "gcc", nil, edits...)
		return under(program, "serve")
	}
	t.Run("equal", func(t *testing.T) { find(t, good, good, tick, "come to the same state") })
	t.Run("too late", func(t *testing.T) { find(t, good, faulty, tick+1, "differ before tick") })
	t.Run("no such tick", func(t *testing.T) { find(t, good, faulty, 5000, "is in no stretch") })
	t.Run("no capability", func(t *testing.T) {
		find(t, good, changed(edit{".world = world,", ".world = world, .copies = 1,"}), tick, `capability "where"`)
	})
	t.Run("crash", func(t *testing.T) {
		find(t, good, changed(edit{"u->cooldown = u <", "if (g->tick > 90) *(volatile int *)0 = 1;\n        u->cooldown = u <"}), tick, "it gets SIGSEGV in fire (skirmish.c:")
	})
	t.Run("copies", func(t *testing.T) {
		copied := edit{"static const desync_world *world(void *user) { return &((game *)user)->world; }",
			"static game *shown;\nstatic void describe(game *g);\nstatic const desync_world *world(void *user) { if (!shown) shown = calloc(1, sizeof *shown); shown->s = ((game *)user)->s; describe(shown); return &shown->world; }"}
		program, _ := built(t, "gcc", nil, copied)
		find(t, under(program, "serve"), under(program, "serve", "--fault", "100"), tick, "copies of its values")
	})
	t.Run("script", func(t *testing.T) {
		script := filepath.Join(t.TempDir(), "game.sh")
		if err := os.WriteFile(script, []byte("#!/bin/sh\n"+sound+" serve\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		find(t, under(script), faulty, tick, "is not a program that gdb can start")
		find(t, under("/bin/sh", "-c", sound+" serve; true"), under("/bin/sh", "-c", sound+" serve --fault 100; true"), tick, "is not the one that answers")
	})
	t.Run("bounds", func(t *testing.T) {
		f, err := Find(log, [2]Program{good, faulty}, tick, Options{Most: 1, Watching: 1})
		if err != nil { // a loaded machine can take longer than the bound of a single stop
			f, err = Find(log, [2]Program{good, faulty}, tick, Options{Most: 1, Watching: 1})
		}
		if err != nil || len(f.Notes) == 0 || !strings.Contains(f.Notes[0], "writes were seen") {
			t.Errorf("%+v, %v", f, err)
		}
	})
}
