package clitest

import (
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"bytes"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// Scripts runs the transcripts in testdata/script of a program. Each can use the project's corpus as the folder corpus,
// and these commands for files:
//
//	cut FILE N         keep the first N bytes
//	flip FILE OFFSET   flip the lowest bit of one byte
//	sub FILE RE TEXT   replace what matches a regular expression, which has to match
//	rename FILE RE TEXT replace what matches a regular expression
//	dump FILE TEXT     write the text twin of FILE to TEXT
//	await FILE N       wait until the file has N lines
//	[full] COMMAND     run the command in the whole sample only (package effort), or to update the transcript
//	status N ARG...    run the program with the arguments, and expect exit status N
func Scripts(t *testing.T, program string) {
	heedSignals()
	corpus, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	commands := map[string]func(ts *testscript.TestScript, neg bool, args []string){
		"await": await, "cut": cut, "rename": rename, "flip": flip, "sub": sub, "dump": dump,
		"status": func(ts *testscript.TestScript, neg bool, args []string) { status(ts, program, neg, args) },
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       pinned.Update(),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv(documents, os.Getenv(documents))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, ".cache")) // a module is compiled once
			// Transcripts name the corpus by a relative path.
			return os.Symlink(corpus, filepath.Join(env.WorkDir, "corpus"))
		},
		Condition: func(name string) (bool, error) {
			if name != "full" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return effort.Full() || pinned.Update(), nil
		},
		Cmds: commands,
	})
}

// heedSignals makes the programs that tests start react to signals. A program ignores a signal that was ignored when it
// was started. The test itself may have been started with ignored signals, by nohup or by a shell in the background. If
// this process handles a signal, the programs that it starts begin with the default.
func heedSignals() {
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// status runs a program and checks its exit status. Its output is in stdout and stderr as after exec.
func status(ts *testscript.TestScript, program string, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N ARG...")
	}
	want := number(ts, args[0])
	err := ts.Exec(program, args[1:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%s: %v", program, err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

// edit rewrites a file.
func edit(ts *testscript.TestScript, name string, change func(b []byte) []byte) {
	path := ts.MkAbs(name)
	b, err := os.ReadFile(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, change(b), 0o666))
}

func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE N")
	}
	edit(ts, args[0], func(b []byte) []byte { return b[:number(ts, args[1])] })
}

// sub replaces the matches of a regular expression in a file. It must match.
func sub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sub FILE REGEXP TEXT")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	edit(ts, args[0], func(b []byte) []byte {
		if !re.Match(b) {
			ts.Fatalf("%s: nothing matches %s", args[0], args[1])
		}
		return re.ReplaceAll(b, []byte(args[2]))
	})
}

// dump writes the text twin of a file to another.
func dump(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: dump FILE TEXT")
	}
	ts.Check(ts.Exec("desynctool", "dump", args[0]))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(ts.ReadFile("stdout")), 0o666))
}

func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: flip FILE OFFSET")
	}
	edit(ts, args[0], func(b []byte) []byte {
		b = bytes.Clone(b)
		b[number(ts, args[1])] ^= 1
		return b
	})
}

// await waits until a file that another process writes has n lines.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE N")
	}
	for range 1200 {
		b, _ := os.ReadFile(ts.MkAbs(args[0]))
		if bytes.Count(b, []byte{'\n'}) >= number(ts, args[1]) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s has less than %s lines after a minute", args[0], args[1])
}

// rename replaces the matches of a pattern in a file.
func rename(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rename FILE PATTERN TEXT")
	}
	edit(ts, args[0], func(b []byte) []byte {
		return regexp.MustCompile(args[1]).ReplaceAll(b, []byte(args[2]))
	})
}
