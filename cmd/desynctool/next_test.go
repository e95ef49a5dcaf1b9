package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// nextInText finds the next steps in texts of commands other than triage.
var nextInText = regexp.MustCompile(`(?m)^ *next +(desynctool .*)$`)

// nextCommands runs a command in JSON and as text, and returns the commands that its output recommends next.
func nextCommands(t *testing.T, args ...string) (list []string) {
	t.Helper()
	var stdout bytes.Buffer
	run(args, strings.NewReader(""), &stdout, io.Discard)
	for _, m := range nextInText.FindAllStringSubmatch(stdout.String(), -1) {
		list = append(list, m[1])
	}
	if args[0] != "triage" {
		return list
	}
	stdout.Reset()
	run(append(args, "--format", "json"), strings.NewReader(""), &stdout, io.Discard)
	type steps struct {
		Next   []string
		Causes []struct{ Confirm string }
	}
	text := stdout.Bytes()
	if !bytes.HasPrefix(text, []byte("[")) {
		text = append(append([]byte("["), text...), ']')
	}
	var reports []steps
	if err := json.Unmarshal(text, &reports); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	for _, r := range reports {
		for _, c := range r.Causes {
			r.Next = append(r.Next, c.Confirm)
		}
		for _, line := range r.Next {
			if strings.HasPrefix(line, "desynctool ") {
				list = append(list, line)
			}
		}
	}
	return list
}

// runsInShell has a shell run a line, and fails if it is not taken, or the command refuses it for another reason than
// that a game is not installed.
func runsInShell(t *testing.T, shell, line string) {
	t.Helper()
	cmd := exec.Command(shell, "-c", line)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	status := cmd.ProcessState.ExitCode()
	if status == 2 && strings.Contains(line, " --sim ") && strings.Contains(stderr.String(), " is not here: none of ") {
		return
	}
	if status != 0 && status != 1 && status != 3 {
		t.Errorf("%s\nends with %d: %s", line, status, &stderr)
	}
}

// TestNextCommands runs every command that the reports on the corpus recommend next.
func TestNextCommands(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	var cases []string
	for _, pattern := range []string{"testdata/*", "testdata/*/*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if stat, err := os.Stat(path); err == nil && stat.IsDir() {
				cases = append(cases, path)
			}
		}
	}
	if len(cases) < 60 {
		t.Fatalf("only %d folders", len(cases))
	}
	every, seen, ran := effort.Of(60, 1), map[string]bool{}, 0
	for i, path := range cases {
		if i%every != 0 {
			continue
		}
		for _, command := range []string{"triage", "doctor", "bisect"} {
			for _, line := range nextCommands(t, command, path) {
				if !seen[line] {
					seen[line] = true
					ran++
					runsInShell(t, "sh", line)
				}
			}
		}
	}
	if ran < effort.Of(2, 5) {
		t.Errorf("only %d commands to run next", ran)
	}
	t.Logf("%d commands of %d folders", ran, len(cases)/every)
}

// TestNextCommandsOfOddPaths checks that names of folders stay names when a person pastes the next step into a shell.
func TestNextCommandsOfOddPaths(t *testing.T) {
	effort.Whole(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash, which knows $'…'")
	}
	t.Chdir(t.TempDir())
	if status := run([]string{"record", "-o", "s", "--ticks", "60", "--entities", "200", "--snapshot-every", "30", "--fault", "rng-leak@20:client"}, nil, io.Discard, io.Discard); status != 0 {
		t.Fatalf("record ends with %d", status)
	}
	before := "s"
	for n, dir := range []string{"a; touch pwned #", "$(touch pwned)", "it's `touch pwned`", "two  words  # and more", "a!b", "-x", "~", "*", "new\nline", "\x1b[31mred", "\xff", "a\\b", "'\"", "{a,b}", "a=b", "host"} {
		if n%effort.Of(4, 1) != 0 {
			continue
		}
		if err := os.Rename(before, dir); err != nil {
			t.Fatal(err)
		}
		before = dir
		given := document.PathArgument(dir)
		ran := 0
		for _, args := range [][]string{{"triage", given}, {"triage", given, "--sim", "builtin"}, {"bisect", given}, {"bisect", given + "/host", given + "/client"}, {"doctor", given}} {
			for _, line := range nextCommands(t, args...) {
				ran++
				runsInShell(t, bash, line)
			}
		}
		if ran < 3 {
			t.Errorf("%q: only %d commands", dir, ran)
		}
		left, err := os.ReadDir(".")
		if err != nil || len(left) != 1 {
			t.Fatalf("%q: the commands left %v, %v", dir, left, err)
		}
	}
}
