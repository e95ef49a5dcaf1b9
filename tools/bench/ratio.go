//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// process runs a program, discards its output and returns its peak memory in bytes.
func process(name string, args ...string) int64 {
	_, rss := cpuOf(0, name, args...)
	return rss
}

// cpuOf is process on a number of processors, 0 for all, and also returns the processor time in seconds. It accepts exit
// status 1, which comparing programs return for a difference, and 3, which is inconclusive.
func cpuOf(procs int, name string, args ...string) (cpu float64, rss int64) {
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = drain{}, &said, os.Environ()
	if procs > 0 {
		cmd.Env = append(cmd.Env, "GOMAXPROCS="+strconv.Itoa(procs))
	}
	err := cmd.Run()
	state := cmd.ProcessState
	if exit, ok := err.(*exec.ExitError); ok && (exit.ExitCode() == 1 || exit.ExitCode() == 3) && name != "go" {
		err = nil
	}
	if err != nil {
		panic(try.Failed("%s: %w: %s", name, err, &said))
	}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		rss = usage.Maxrss * 1024
	}
	return (state.UserTime() + state.SystemTime()).Seconds(), rss
}

// release returns free memory to the system and resets the recorded peak of this process. Linux counts that peak as the
// peak of each program that is started, too.
func release() {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // there is none on other systems
}

// drain is a writer that is not a file. Otherwise a program might detect /dev/null and skip the work.
type drain struct{}

func (drain) Write(p []byte) (int, error) { return len(p), nil }

// compare runs ours and peer alternately and prints a row with the median processor times and the median of the ratios.
func (b *bench) compare(what, goal string, rounds int, ours, peer func()) {
	var a, p, ratios []float64
	for i := range rounds + 1 {
		ta, tp := timed(ours), timed(peer)
		if i == 0 {
			continue // warm-up
		}
		a, p, ratios = append(a, ta), append(p, tp), append(ratios, ta/tp)
	}
	slices.Sort(ratios)
	fmt.Printf("| %s | %s | %s | **%.2f** (%.2f–%.2f) | %s |\n", what, seconds(median(a)), seconds(median(p)), median(ratios), ratios[0], ratios[len(ratios)-1], goal)
}

// timed returns the processor time of f in seconds, that of its programs included: other programs on the machine
// lengthen it less than the time by the clock.
func timed(f func()) float64 {
	start := spentSoFar()
	f()
	return (spentSoFar() - start).Seconds()
}

// spentSoFar returns the processor time of this process and of the programs that it ran and that ended.
func spentSoFar() (sum time.Duration) {
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.2f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}
