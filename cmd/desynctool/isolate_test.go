package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/isolate"
)

// hostileReader is a process that reads for --isolate and dies of the match that HOSTILE names, 0 for the
// list or the only one; of others it reports as it should.
func hostileReader() {
	bad := os.Getenv("HOSTILE")
	dies := func(match int) {
		if fmt.Sprint(match) == bad {
			panic("a crafted file")
		}
	}
	w := answering()
	err := isolate.Serve(os.Stdin, os.Stdout, cli.ErrInterrupted,
		func(a *isolate.Asked) *isolate.Answer { dies(a.Match); return w.First(a) },
		func(match int) *isolate.Answer { dies(match); return w.Other(match) }, w.Copy)
	if err != nil {
		os.Exit(2)
	}
	os.Exit(0)
}

// withoutMissing leaves out what the system cannot restrict.
func withoutMissing(stderr string) string {
	var kept []string
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "warning: --isolate: here is missing: ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// runHostile runs a command line with evidence that a hostile process reads.
func runHostile(t *testing.T, match string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := fresh()
	p.Reader.Process = func() (*exec.Cmd, error) {
		cmd := exec.Command("hostile-reader") // of TestMain
		cmd.Env = append(os.Environ(), "HOSTILE="+match)
		return cmd, nil
	}
	status = cli.Run(p, args, strings.NewReader(""), &out, &errs)
	return status, out.String(), withoutMissing(errs.String())
}

// TestHostileMatch: a match is inconclusive if its files end the process that reads them, whatever the format, and the
// others are judged as ever.
func TestHostileMatch(t *testing.T) {
	effort.Whole(t)
	const path = "../../testdata/openttd"
	var plain bytes.Buffer
	if status := run([]string{"triage", path}, nil, &plain, io.Discard); status != 1 {
		t.Fatal(status)
	}
	want := strings.Split(plain.String(), "\n")
	for _, bad := range effort.Of([]int{3}, []int{1, 3, 6}) {
		status, stdout, stderr := runHostile(t, fmt.Sprint(bad), "triage", path, "--isolate")
		got := strings.Split(stdout, "\n")
		if status != 1 || stderr != "" || len(got) != len(want) {
			t.Fatalf("match %d: exit status %d\n%s%s", bad, status, stdout, stderr)
		}
		of := 0
		for i, line := range got {
			number, rest, _ := strings.Cut(line, "  ")
			switch {
			case number == fmt.Sprint(bad):
				of++
				text := fmt.Sprintf("match %d of %s: the isolated process ended without an answer (exit status 2): panic: a crafted file", bad, path)
				if !strings.HasPrefix(rest, "INCONCLUSIVE  OpenTTD  seed ") || !strings.HasSuffix(rest, text) {
					t.Errorf("match %d: %s", bad, line)
				}
			case i > 1 && len(number) == 1 && strings.Fields(line)[1] != strings.Fields(want[i])[1]:
				t.Errorf("match %d is bad: %s\nwant %s", bad, line, want[i])
			}
		}
		if of != 1 {
			t.Errorf("match %d has %d lines\n%s", bad, of, stdout)
		}
	}
	for _, format := range []string{"json", "markdown", "junit", "sarif", "github"} {
		status, stdout, stderr := runHostile(t, "2", "triage", path, "--isolate", "--format", format)
		if status != 1 || stderr != "" || !strings.Contains(stdout, "match 2 of ") || !strings.Contains(stdout, "a crafted file") {
			t.Errorf("--format %s: exit status %d\n%s%s", format, status, stdout, stderr)
		}
	}
}

// TestHostileBundle: of evidence that ends the process there is a report in every format, which names it.
func TestHostileBundle(t *testing.T) {
	const path = "../../testdata/openttd/rng_poke"
	for _, format := range []string{"text", "json", "html", "markdown", "comment", "junit", "sarif", "github"} {
		status, stdout, stderr := runHostile(t, "0", "triage", path, "--isolate", "--format", format)
		if status != 3 || stderr != "" || !strings.Contains(stdout, "the isolated process ended without an answer") || !strings.Contains(stdout, "rng") {
			t.Errorf("--format %s: exit status %d\n%s%s", format, status, stdout, stderr)
		}
		if format == "json" {
			clitest.Leave([]byte(stdout), []string{"in", t.Name()})
		}
	}
	status, stdout, _ := runHostile(t, "0", "triage", path, "--isolate", "--redact")
	if status != 3 || strings.Contains(stdout, "rng_poke") || strings.Contains(stdout, "crafted") {
		t.Errorf("--redact: exit status %d\n%s", status, stdout)
	}
	if status, stdout, _ = runHostile(t, "0", "triage", path, "--isolate", "--fail-on", "diverged"); status != 0 {
		t.Errorf("--fail-on diverged: exit status %d\n%s", status, stdout)
	}
	status, stdout, stderr := runHostile(t, "", "triage", path, "--isolate")
	if status != 1 || !strings.HasPrefix(stdout, "DIVERGED  client and server diverged") {
		t.Errorf("not hostile: exit status %d\n%s%s", status, stdout, stderr)
	}
}

// TestIsolatedIsTheSame: the output does not depend on --isolate, in any format.
func TestIsolatedIsTheSame(t *testing.T) {
	all, err := filepath.Glob("../../testdata/*/*")
	if err != nil || len(all) < 80 {
		t.Fatal(len(all), err)
	}
	folders, err := filepath.Glob("../../testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	all = append(all, folders...)
	few := []string{"../../testdata/spring/silent_health", "../../testdata/factorio/desync-report-new.zip", "../../testdata/ggpo", "../../testdata/pastes/post-unified.md", "../../testdata/merkle"}
	for _, path := range effort.Long(few, all) {
		var ended [2]string
		for i, isolate := range [][]string{nil, {"--isolate"}} {
			dir := t.TempDir()
			args := append([]string{"triage", path, "--format", "text", "--all"}, isolate...)
			formats := []string{"json", "markdown", "junit", "sarif", "github"}
			if stat, err := os.Stat(path); err == nil && !stat.IsDir() || len(strings.Split(path, "/")) > 4 {
				formats = append(formats, "html", "comment")
			}
			for _, format := range formats {
				args = append(args, "--format", format+"="+filepath.Join(dir, format))
			}
			var stdout, stderr bytes.Buffer
			status := run(args, strings.NewReader(""), &stdout, &stderr)
			ended[i] = fmt.Sprintf("exit status %d\n%s\n%s\n", status, &stdout, withoutMissing(stderr.String()))
			for _, format := range formats {
				b, err := os.ReadFile(filepath.Join(dir, format))
				if err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
				ended[i] += format + "\n" + string(b)
			}
		}
		if ended[0] != ended[1] {
			t.Errorf("%s: without --isolate\n%.2000s\nwith it\n%.2000s", path, ended[0], ended[1])
		}
	}
}

// TestLinksOut: a link that leads out of the folder that was given is not followed and is named, with --isolate and
// without.
func TestLinksOut(t *testing.T) {
	dir := t.TempDir()
	given := filepath.Join(dir, "given")
	for _, peer := range []string{"client", "server"} {
		if err := os.CopyFS(filepath.Join(dir, peer), os.DirFS("../../testdata/openttd/rng_poke/"+peer)); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(given, peer), 0o777); err != nil {
			t.Fatal(err)
		}
		names, err := os.ReadDir(filepath.Join(dir, peer))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.Symlink(filepath.Join("..", "..", peer, name.Name()), filepath.Join(given, peer, name.Name())); err != nil {
				t.Skip("no links here")
			}
		}
	}
	for _, isolate := range []string{"--color=never", "--isolate=require"} {
		var stdout, stderr bytes.Buffer
		status := run([]string{"triage", given, isolate}, nil, &stdout, &stderr)
		if strings.Contains(stderr.String(), "here is missing") {
			t.Skip(stderr.String())
		}
		all := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
		if status == 1 || status == 0 || !strings.Contains(all, "a link that leads out of the folders that were given, which is not followed") {
			t.Errorf("%s: exit status %d\n%s", isolate, status, all)
		}
	}
	for _, paths := range [][]string{{given, filepath.Join(dir, "client"), filepath.Join(dir, "server")}, {dir}} { // links within
		if status := run(append([]string{"triage"}, paths...), nil, io.Discard, io.Discard); status != 1 {
			t.Errorf("%q: exit status %d", paths, status)
		}
	}
}

// TestIsolatedNames: paths reach the process as they are, also those that are not UTF-8.
func TestIsolatedNames(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for peer, name := range map[string]string{"client": "c\xffx; $(y)", "server": "s\n@7"} {
		path := filepath.Join(dir, name)
		if err := os.CopyFS(path, os.DirFS("../../testdata/openttd/rng_poke/"+peer)); err != nil {
			t.Skip("no such names here")
		}
		paths = append(paths, path)
	}
	var ended [2]string
	for i, isolate := range [][]string{nil, {"--isolate"}} {
		for _, format := range []string{"json", "text"} {
			var stdout bytes.Buffer
			args := append([]string{"triage", "--format", format}, isolate...)
			if status := run(append(args, paths...), nil, &stdout, io.Discard); status != 1 {
				t.Errorf("%q: exit status %d", args, status)
			}
			ended[i] += stdout.String()
		}
	}
	if ended[0] != ended[1] {
		t.Errorf("without --isolate\n%s\nwith it\n%s", ended[0], ended[1])
	}
}
