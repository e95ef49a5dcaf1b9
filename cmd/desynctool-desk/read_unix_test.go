//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/desynctool/desynctool/archive/archivetest"
)

// costly is a bundle that takes as much as it may: two states that unpack to two thousand times their size.
func costly(t *testing.T) []byte {
	var files []archivetest.Entry
	for peer := range 2 {
		content := fmt.Appendf(nil, `{"tick": 1, "a": [%d%s]}`, peer, strings.Repeat(",0", 2<<20))
		files = append(files, archivetest.Entry{Name: fmt.Sprintf("p%d/state_1.json", peer), Content: content})
	}
	return archivetest.Zip(t, zip.Deflate, files)
}

// TestBundlesAreBounded: a bundle takes no more processor time and memory in a desk than limits cpu and heap allow a
// command, and is set aside at that; the bundles beside it have their reports.
func TestBundlesAreBounded(t *testing.T) {
	dir := t.TempDir()
	bundles := filepath.Join(dir, "bundles")
	put := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bundles, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(bundles, 0o755); err != nil {
		t.Fatal(err)
	}
	put("b.zip", costly(t))
	for _, name := range []string{"a", "c"} {
		put(name+".zip", archivetest.Zip(t, zip.Deflate, []archivetest.Entry{
			{Name: "p0/a.log", Content: []byte("tick 1 checksum 1\ntick 2 checksum 1\n")}, {Name: "p1/a.log", Content: []byte("tick 1 checksum 1\ntick 2 checksum " + name + "2\n")},
		}))
	}
	// run returns what a process needed, with those that it started.
	run := func(status int, args ...string) (out string, cpu time.Duration, rss int64) {
		t.Helper()
		cmd := exec.Command("desynctool-desk", args...) // of TestMain
		var text bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &text
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Errorf("%q: status %d, expected %d: %s", args, got, status, text.Bytes())
		}
		return text.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), peak(cmd.ProcessState)
	}
	const mostCPU, mostMemory = 5 * time.Second, 512 << 20
	for _, c := range []struct {
		limit  string
		cpu    time.Duration
		memory int64
		queue  bool
	}{{"cpu=200ms", 2 * time.Second, mostMemory, false}, {"heap=4MiB", mostCPU, 300 << 20, false}, {"heap=4MiB", mostCPU, 300 << 20, true}} {
		store := filepath.Join(dir, c.limit+fmt.Sprint(c.queue))
		add := []string{"add", bundles, "--each", "--store", store, "--jobs", "1", "--keep-names", "--limit", c.limit}
		if c.queue {
			run(0, append(add, "--queue")...)
			add = append([]string{"work", "--until-empty"}, add[3:]...)
		}
		out, cpu, memory := run(3, add...)
		t.Logf("%s: %v, %d MiB", c.limit, cpu, memory>>20)
		if name, _, _ := strings.Cut(c.limit, "="); !strings.Contains(out, "limit "+name+" is reached") {
			t.Errorf("%s: %s", c.limit, out)
		}
		if cpu > c.cpu || memory > c.memory {
			t.Errorf("%s: %v and %d MiB, expected at most %v and %d MiB", c.limit, cpu, memory>>20, c.cpu, c.memory>>20)
		}
		if list, _, _ := run(0, "list", "--store", store, "--reports"); strings.Count(list, "diverged") != 2 {
			t.Errorf("%s: %s", c.limit, list)
		}
	}
}

// peak is the most memory that a process had, or one that it waited for.
func peak(s *os.ProcessState) int64 {
	n := int64(s.SysUsage().(*syscall.Rusage).Maxrss)
	if runtime.GOOS == "darwin" {
		return n // bytes there
	}
	return n << 10
}
