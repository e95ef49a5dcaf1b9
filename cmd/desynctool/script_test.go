package main

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

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

// sub replaces what matches a regular expression in a file; it has to match.
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

// await waits until a file that another process writes has so many lines.
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

// status runs desynctool in this process and checks its exit status. What it
// prints is in stdout and stderr as after exec.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N ARG...")
	}
	want := number(ts, args[0])
	err := ts.Exec("desynctool", args[1:]...)
	got := 0
	if err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("desynctool: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// rename replaces what a pattern matches in a file.
func rename(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rename FILE PATTERN TEXT")
	}
	edit(ts, args[0], func(b []byte) []byte {
		return regexp.MustCompile(args[1]).ReplaceAll(b, []byte(args[2]))
	})
}
