package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// hostile is a case of files that are right in every checksum and every rule of their format,
// and are made to cost more than they weigh.
type hostile struct {
	name string
	// size is how many of what the case is about its smallest folder has: players, lines, entries.
	size int
	// make writes n of them into an empty folder.
	make func(t testing.TB, dir string, n int)
	// commands are those that read it, without the path of the folder.
	commands []string
}

// hostileCases returns all cases.
func hostileCases() (list []hostile) {
	list = append(list, hostileLogs()...)
	list = append(list, hostileTraces()...)
	list = append(list, hostileArchives()...)
	list = append(list, hostileFolders()...)
	list = append(list, hostileEngines()...)
	list = append(list, hostileAnyGame()...)
	return list
}

// cost is what a command took.
type cost struct {
	status    int
	cpu       time.Duration
	allocated int64 // bytes in all
	memory    int64 // the most that it held, in bytes
	output    []byte
	errors    []byte
}

// patience is how long a command may take before it is taken to hang.
const patience = 60 * time.Second

// spend runs a command in a separate process.
func spend(t testing.TB, dir string, h *hostile, command string) cost {
	t.Helper()
	args := append(strings.Fields(command), dir)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "weighed", args...) // of TestMain
	sheet := filepath.Join(t.TempDir(), "sheet")
	cmd.Env = append(os.Environ(), weighedTo+"="+sheet)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s: %s: still running after %v", h.name, command, patience)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	s := cmd.ProcessState
	c := cost{status: s.ExitCode(), cpu: s.UserTime() + s.SystemTime(), output: out.Bytes(), errors: errs.Bytes()}
	text, err := os.ReadFile(sheet)
	if err == nil {
		_, err = fmt.Sscan(string(text), &c.allocated, &c.memory)
	}
	if err != nil {
		t.Fatalf("%s: %s: %v: %s", h.name, command, err, errs.Bytes())
	}
	return c
}

// weighedTo is the environment variable that names the file to which a weighed command writes what
// it took.
const weighedTo = "DESYNCTOOL_TEST_WEIGHED"

// weighed is main, and writes how many bytes it allocated in all and held at once.
func weighed() {
	cli.TuneProcess()
	status := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	held := int64(m.Sys - m.HeapReleased)
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
			fmt.Sscan(after, &held)
			held <<= 10
		}
	}
	if err := os.WriteFile(os.Getenv(weighedTo), fmt.Append(nil, m.TotalAlloc, " ", held), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 98
	}
	os.Exit(status)
}

// weight returns how many bytes the files below a folder have.
func weight(t testing.TB, dir string) (bytes int64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestHostile: whatever a file contains, a command ends with one of its statuses, has the same output twice, and at
// eight times the size allocates eight times as much, not sixty-four.
func TestHostile(t *testing.T) {
	for i, h := range hostileCases() {
		if i%effort.Long(12, 1) != 0 {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			small := max(1, effort.Long(h.size/16, h.size))
			dirs := []string{t.TempDir(), t.TempDir()}
			h.make(t, dirs[0], small)
			h.make(t, dirs[1], 8*small)
			for _, command := range h.commands[:effort.Long(1, len(h.commands))] {
				one, eight := spend(t, dirs[0], &h, command), spend(t, dirs[1], &h, command)
				for _, c := range []cost{one, eight} {
					if c.status < 0 || c.status > 3 || bytes.Contains(c.errors, []byte("goroutine ")) {
						t.Errorf("%s: status %d: %.2000s", command, c.status, c.errors)
					}
				}
				const little = 8 << 20 // that a command allocates whatever it reads
				if eight.allocated > 12*one.allocated+little {
					t.Errorf("%s: %d of them allocate %d bytes, %d allocate %d", command, small, one.allocated, 8*small, eight.allocated)
				}
				if again := spend(t, dirs[0], &h, command); !bytes.Equal(one.output, again.output) || !bytes.Equal(one.errors, again.errors) {
					t.Errorf("%s: it does not say the same twice", command)
				}
			}
		})
	}
}

// BenchmarkHostile reports the costs of each hostile case at eight times its size, from one to the other doubled: bytes
// that are given, processor time, and the most memory that is held.
func BenchmarkHostile(b *testing.B) {
	for _, h := range hostileCases() {
		for _, times := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("%s/%d", h.name, times*h.size), func(b *testing.B) {
				dir := b.TempDir()
				h.make(b, dir, times*h.size)
				given := weight(b, dir)
				for _, command := range h.commands {
					b.Run(strings.ReplaceAll(command, " ", "_"), func(b *testing.B) {
						var last cost
						for range b.N {
							last = spend(b, dir, &h, command)
						}
						b.ReportMetric(float64(given), "bytes")
						b.ReportMetric(float64(last.cpu.Milliseconds()), "cpu-ms")
						b.ReportMetric(float64(last.memory>>20), "peak-MB")
						b.ReportMetric(float64(last.allocated>>20), "alloc-MB")
						b.ReportMetric(float64(last.status), "status")
						b.ReportMetric(float64(len(last.output)), "output-bytes")
					})
				}
			})
		}
	}
}
