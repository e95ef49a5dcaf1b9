// Package sandbox permanently removes permissions from the running process that it does not need for reading a few
// files: other files, the network, other processes, and more memory and time than it may use.
//
// The restrictions depend on the system, and Enter reports them:
//
//	           files, network    system calls    memory          processor, files written
//	Linux      Landlock          seccomp         RLIMIT_AS       limits of the process
//	macOS      –                 –               –               limits of the process
//	others     –                 –               –               –
//
// Landlock comes from github.com/landlock-lsm/go-landlock. The filter of system calls is written here, for amd64 and
// arm64, because libraries for such filters contain the calls of all architectures, and build tables from them at every
// start.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// OutOfTime is what a process prints on stderr when it has used its processor time.
const OutOfTime = "the processor time is used up"

// Limits are the limits of one process.
type Limits struct {
	// Memory is how many bytes of address space the process may use, beyond its size when it enters. From seven eighths
	// of it on, garbage collection is more frequent.
	Memory int64
	// Heap is how many bytes of memory the process may take from the system. It ends itself at a sixteenth more; 0 is no
	// such limit.
	Heap int64
	// Wall is how long it may run. The parent process ends it after that time.
	Wall time.Duration
	// CPU is how much processor time it may use, in whole seconds rounded up; 0 is Wall for each of its processors.
	CPU time.Duration
	// Files is the maximum number of open files.
	Files int
	// Written is the maximum size in bytes of a file that it writes, if the system cannot deny writing.
	Written int64
}

// Defaults returns the limits of a process that reads the evidence of one match.
func Defaults() Limits {
	return Limits{Memory: 4 << 30, Wall: 10 * time.Minute, Files: 1024, Written: 4 << 30}
}

// Rules are permissions of a process in addition to using its open files. The zero value allows nothing.
type Rules struct {
	// Read are files that may be read, and folders whose whole content may be read. No file may be written.
	Read []string
	// Code means that the process generates machine code and runs it.
	Code   bool
	Limits Limits
}

// State lists the restrictions of a process.
type State struct {
	Holds   []string `json:"holds"`   // in a few words each
	Missing []string `json:"missing"` // restrictions that the system does not support, and what that leaves open
}

// means are a system's ways to restrict a process; nil for a missing one.
type means struct {
	// limit sets the limits of the process except memory, which limitMemory sets.
	limit, limitMemory func(Limits) error
	// files returns the name of the mechanism that restricts the files.
	files func(Rules) (string, error)
	calls func(Rules) error
}

// errLacking reports that a system does not support a restriction.
var errLacking = errors.New("this system has none")

// Enter restricts the process, with all of its threads. It must be called before any untrusted file is opened, and
// cannot be undone.
func Enter(r Rules) State { return enter(r, host()) }

func enter(r Rules, m means) State {
	s := State{Holds: []string{}, Missing: []string{}}
	note := func(what string, err error, open string) {
		if err != nil {
			s.Missing = append(s.Missing, fmt.Sprintf("%s (%v): %s", what, err, open))
			return
		}
		s.Holds = append(s.Holds, what)
	}
	soft := r.Limits.Memory - r.Limits.Memory/8
	if heap := r.Limits.Heap; heap > 0 {
		soft = min(soft, heap-heap/16)
		go func() {
			Grown(context.Background(), heap+heap/16)
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(2)
		}()
	}
	if soft > 0 && soft < debug.SetMemoryLimit(-1) {
		debug.SetMemoryLimit(soft)
	}
	note(fmt.Sprintf("%s of memory", Size(r.Limits.Memory)), with(m.limitMemory, r.Limits), "memory is only collected harder near the limit")
	note(fmt.Sprintf("%s a file written, %d open files", Size(r.Limits.Written), r.Limits.Files), with(m.limit, r.Limits), "what is written is not limited")
	name, err := "Landlock", errLacking
	if m.files != nil {
		if name, err = m.files(r); err != nil {
			name = "Landlock"
		}
	}
	note(name, err, "files next to the evidence can be read and written")
	note("seccomp", with(m.calls, r), "the network and other processes can be reached")
	return s
}

// Grown waits until the process has some bytes of memory. It returns false if running ends before.
func Grown(running context.Context, budget int64) bool {
	var stats runtime.MemStats
	for runtime.ReadMemStats(&stats); int64(stats.Sys-stats.HeapReleased) < budget; runtime.ReadMemStats(&stats) {
		select {
		case <-running.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return true
}

func with[T any](f func(T) error, arg T) error {
	if f == nil {
		return errLacking
	}
	return f(arg)
}

// Size returns a number of bytes in the largest unit that divides it.
func Size(n int64) string {
	for _, unit := range []struct {
		name  string
		shift int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if n >= 1<<unit.shift && n%(1<<unit.shift) == 0 {
			return fmt.Sprintf("%d %s", n>>unit.shift, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
