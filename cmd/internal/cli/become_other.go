//go:build !unix

package cli

import (
	"errors"
	"os"
)

// replaceProcess would run another program in this process. This system does not support it.
func replaceProcess(string, []string, []string) error { return errors.ErrUnsupported }

// statusOf returns the exit status of a process.
func statusOf(s *os.ProcessState) int { return s.ExitCode() }
