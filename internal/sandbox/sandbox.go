// Package sandbox takes from the running process, for good, what it does not need to read a few
// files: other files, the network, other processes, more memory and time than it may use.
//
// What holds depends on the system, and Enter says it:
//
//	           files, network    system calls    memory          processor, files written
//	Linux      Landlock          seccomp         RLIMIT_AS       limits of the process
//	macOS      –                 –               –               limits of the process
//	others     –                 –               –               –
//
// Landlock comes from github.com/landlock-lsm/go-landlock. The filter of system calls is ours, for amd64 and arm64: the
// libraries that write such filters bring the calls of all architectures, and make tables of them at every start.
package sandbox

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Limits are those of one process.
type Limits struct {
	// Memory is how many bytes of address space the process may take, beyond what it has when
	// it enters. The heap is collected harder from seven eighths of it on.
	Memory int64
	// Wall is how long it may run. The process itself is held to as much processor time of each
	// of its processors; whoever started it ends it after that time.
	Wall time.Duration
	// Files is how many files it may have open at once.
	Files int
	// Written is how many bytes a file may have that it writes, where the system cannot deny writing.
	Written int64
}

// Defaults returns the limits of a process that reads the evidence of one match.
func Defaults() Limits {
	return Limits{Memory: 4 << 30, Wall: 10 * time.Minute, Files: 1024, Written: 4 << 30}
}

// Rules are what a process may do besides using what it has open. The zero value allows nothing.
type Rules struct {
	// Read are files that may be read, and folders in which all may be. No file may be written.
	Read []string
	// Code says that the process makes machine code and runs it.
	Code   bool
	Limits Limits
}

// State is what holds for a process.
type State struct {
	Holds   []string `json:"holds"`   // in a few words each
	Missing []string `json:"missing"` // what the system cannot do, and what that leaves open
}

// means are what a system has to restrict a process; nil for what it lacks.
type means struct {
	// limit sets the limits of the process but for memory, which is limitMemory's.
	limit, limitMemory func(Limits) error
	// files returns what restricts the files, in a few words.
	files func(Rules) (string, error)
	calls func(Rules) error
}

// errLacking is why a system has no means.
var errLacking = errors.New("this system has none")

// Enter restricts the process, all of its threads. It must be called before anything is opened that
// is not trusted, and cannot be undone.
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
	note(name, err, "files beside the evidence can be read and written")
	note("seccomp", with(m.calls, r), "the network and other processes can be reached")
	return s
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
