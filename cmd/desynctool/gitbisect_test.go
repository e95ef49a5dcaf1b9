package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// TestWhichCommitPage: what docs/which-commit.md shows is what the transcript prints.
func TestWhichCommitPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "which-commit.md"))
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "script", "which_commit.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, output, _ := strings.Cut(string(script), "\n-- found --\n")
	output, _, found := strings.Cut(output, "\n  what was tested\n")
	if !found || !strings.Contains(string(page), output+"```\n") {
		t.Error("docs/which-commit.md does not show what the transcript has as found")
	}
	command := regexp.MustCompile(`git bisect run desynctool --git-bisect-run replay \S+ --sim exec:./sim.sh --expect `)
	for _, text := range []string{string(page), string(script)} {
		if !command.MatchString(text) {
			t.Errorf("no %v", command)
		}
	}
}

// A search that was killed, at whatever moment, leaves a repository that is as it was once the same
// command has come to its end, which finds the same.
func TestKilledBisectGit(t *testing.T) {
	effort.Whole(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	repo := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", ".")
	for n := range 12 {
		sum := "0a"
		if n >= 7 {
			sum = "0b"
		}
		text := fmt.Sprintf("tick=1 sum=%s\ntick=2 sum=0c\n", sum)
		for name, content := range map[string]string{"state.trace": text, "number": fmt.Sprint(n)} {
			if err := os.WriteFile(filepath.Join(repo, name), []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		git("add", ".")
		git("commit", "-q", "-m", fmt.Sprint("change ", n))
		git("tag", fmt.Sprint("c", n))
	}
	v := newVictim(t, []int{1}, "bisect", "--repo", repo, "--git", "c0..c11", "--build", "cp state.trace built", "--run", "cp built {out}")
	before := contents(t, repo)
	kills := 0
	for range kill.Times() {
		if ended := v.kill(); !ended {
			kills++
		}
	}
	cmd := v.command()
	out, _ := cmd.Output()
	if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(string(out), "change 7\n") {
		t.Errorf("after %d kills it ends with %d\n%s", kills, status, out)
	}
	if names := differs(contents(t, repo), before); len(names) > 0 {
		t.Errorf("after %d kills %q are not as they were", kills, names)
	}
	if list := git("worktree", "list"); strings.Count(list, "\n") != 1 {
		t.Errorf("after %d kills there are\n%s", kills, list)
	}
	if kills == 0 {
		t.Error("nothing was killed")
	}
}
