//go:build unix

package cli

import (
	"os"
	"syscall"
)

// replaceProcess runs another program in this process. It returns only if that fails.
func replaceProcess(path string, argv, environment []string) error {
	return &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, argv, environment)}
}

// statusOf returns the exit status of a process, as in a shell: 128 plus the number of the signal that ended it.
func statusOf(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
