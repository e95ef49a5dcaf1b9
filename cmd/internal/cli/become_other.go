//go:build !unix

package cli

import (
	"errors"
	"os"
)

// replaceProcess has this process run another program, which this system cannot.
func replaceProcess(string, []string, []string) error { return errors.ErrUnsupported }

// statusOf returns the exit status of a process.
func statusOf(s *os.ProcessState) int { return s.ExitCode() }
